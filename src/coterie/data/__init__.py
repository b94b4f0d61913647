"""What people have: pictures, as rows of numbers that can be clustered."""

from coterie.data.images import PictureError, load_picture
from coterie.data.patches import Patches, image_patches
from coterie.data.samples import sample_picture, sample_picture_path

__all__ = [
    "Patches",
    "PictureError",
    "image_patches",
    "load_picture",
    "sample_picture",
    "sample_picture_path",
]
