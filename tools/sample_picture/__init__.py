"""The parts of the sample picture; `draw_sample_picture.py` puts them together."""
