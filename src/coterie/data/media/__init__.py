"""Pictures, sounds and videos as rows: files decoded, and patches or pixels made of them.

Begin with `images.py`, which reads a picture, and `patches.py`, which makes rows of it; `pixels.py`
does the same pixel by pixel, `video.py` frame by frame, `audio.py` for sound. Decoders (Pillow,
soundfile, av) are imported only when a file is read. This folder uses `data/dataset.py`,
`data/errors.py` and the memory limits beside them.
"""
