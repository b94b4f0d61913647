"""Files of every kind, and toy sets, as rows that can be clustered.

`read.py` is the front door; begin there. It finds the kind of a file and calls its reader in
`tables/`, `media/` or `text.py`. Every reader gives the record of `dataset.py`, asks
`memory_limits.py` before it allocates, and raises the errors of `errors.py`. Nothing here knows of
estimators.
"""

from coterie.data.dataset import Dataset, Origin
from coterie.data.errors import DataError, DataWarning
from coterie.data.media.audio import Segment, Sound, read_sound
from coterie.data.media.images import PictureError, load_picture
from coterie.data.media.patches import Patches, image_patches
from coterie.data.media.pixels import Pixels, image_pixels
from coterie.data.media.video import Frames, read_video, video_frames
from coterie.data.read import read, read_picture
from coterie.data.scaling import Scaling
from coterie.data.tables import TableRows, read_table
from coterie.data.text import Texts, read_texts
from coterie.data.toy import (
    blobs,
    circles,
    moons,
    paper_non_convex,
    paper_round,
    sample_picture,
    sample_picture_path,
)

__all__ = [
    "DataError",
    "DataWarning",
    "Dataset",
    "Frames",
    "Origin",
    "Patches",
    "PictureError",
    "Pixels",
    "Scaling",
    "Segment",
    "Sound",
    "TableRows",
    "Texts",
    "blobs",
    "circles",
    "image_patches",
    "image_pixels",
    "load_picture",
    "moons",
    "paper_non_convex",
    "paper_round",
    "read",
    "read_picture",
    "read_sound",
    "read_table",
    "read_texts",
    "read_video",
    "sample_picture",
    "sample_picture_path",
    "video_frames",
]
