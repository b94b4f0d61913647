"""The sample picture that comes with Coterie, so that every example runs without a download."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from coterie.data.images import load_picture


def sample_picture() -> NDArray[np.float64]:
    """Return our drawing of a mountain lake, (320, 480, 3), red, green, blue in [0, 1]."""
    return load_picture(sample_picture_path())


def sample_picture_path() -> Path:
    """Return where the sample picture is stored; it is a JPEG file of about 65 KB."""
    return Path(__file__).parent / "pictures" / "lake.jpg"
