"""Pictures as arrays: read from a file, or checked if they are arrays already.

A picture file is not trusted. Its size is checked before any pixel is decoded, because a few
kilobytes can declare gigabytes. Only common formats are tried, because an attacker may reach every
decoder. Photos are turned upright and transparent pixels shown on white, as viewers do silently:
clusters match the picture on the screen.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import IO, TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coterie.data.errors import DataError, required
from coterie.data.memory_limits import readable
from coterie.data.memory_shortage import reports_shortage
from coterie.data.options import check_whole

if TYPE_CHECKING:
    from PIL import Image

Array = NDArray[np.float64]
PictureSource = str | os.PathLike[str] | ArrayLike

DECODERS = {  # format: the module of Pillow that registers it when imported
    "PNG": "PIL.PngImagePlugin",
    "JPEG": "PIL.JpegImagePlugin",
    "GIF": "PIL.GifImagePlugin",
    "BMP": "PIL.BmpImagePlugin",
    "WEBP": "PIL.WebPImagePlugin",
    "TIFF": "PIL.TiffImagePlugin",
}
MAX_PIXELS = 64_000_000
MAX_EXPANSION = 100.0
ALWAYS_EXPANDED = 16_000_000  # pixels; a screenshot of this size may honestly compress 1000 : 1

_LARGEST_CODE = {"uint8": 255.0, "uint16": 65535.0}
_BROKEN = (OSError, ValueError, TypeError, LookupError, SyntaxError, EOFError, OverflowError)


class PictureError(DataError):
    """A picture that cannot be used; the message gives reason and remedy."""


@reports_shortage
def load_picture(
    source: PictureSource,
    max_pixels: int = MAX_PIXELS,
    *,
    max_expansion: float = MAX_EXPANSION,
) -> Array:
    """Return a picture as an array (height, width, 3): red, green, blue in [0, 1].

    Parameters
    ----------
    source : path or array
        A PNG, JPEG, GIF, BMP, WebP or TIFF file (of an animation, the first frame); or an array
        (height, width, 3), or (height, width) for grey. Arrays of 8- or 16-bit unsigned integers
        are scaled, floats must lie in [0, 1].
    max_pixels : int, default=64_000_000
        Larger pictures are refused, before they are decoded. A pixel takes 24 bytes.
    max_expansion : float, default=100.0
        A file may decode to at most this many bytes per byte stored. Pictures of up to 16 million
        pixels are not refused for this.

    Transparent pixels are shown on white, and photos are turned upright, as viewers do.
    """
    check_whole("max_pixels", max_pixels, 1, "it is the largest picture that is read")
    if isinstance(source, str | os.PathLike):
        return _load_file(os.fspath(source), max_pixels, max_expansion)
    return _check_array(source, max_pixels)


def _check_array(source: ArrayLike, max_pixels: int) -> Array:
    if hasattr(source, "getbands"):  # a Pillow image: its raw numbers may be palette indices
        raise TypeError(
            "expected a path or an array, got a Pillow image; "
            "pass numpy.asarray(image.convert('RGB'))"
        )
    if isinstance(source, np.ma.MaskedArray) and np.any(source.mask):
        raise PictureError(
            f"expected a picture without masked values, got {np.sum(source.mask)} of them; "
            "fill them first, for example with picture.filled(0)"
        )
    values = np.asarray(source)
    if values.ndim == 2:
        values = values[:, :, None]
    if values.ndim != 3 or values.shape[2] not in (1, 3) or values.size == 0:
        raise PictureError(
            "expected a picture of shape (height, width, 3), or (height, width) for grey, got "
            f"shape {np.shape(source)}; select the colours with picture[..., :3]"
        )
    _check_pixels(values.shape[1], values.shape[0], max_pixels)
    return _as_unit_interval(values)


def _as_unit_interval(values: NDArray[np.generic]) -> Array:
    """Scale (h, w, 1 or 3) to [0, 1] by its dtype; grey becomes three equal channels."""
    kind = values.dtype.name
    if kind in _LARGEST_CODE:
        picture = values.astype(np.float64)
        picture /= _LARGEST_CODE[kind]
    elif values.dtype.kind == "f":
        picture = values.astype(np.float64)
        lowest, highest = float(picture.min()), float(picture.max())
        if not (lowest >= 0.0 and highest <= 1.0):  # also true for NaN
            raise PictureError(
                f"expected colours in [0, 1], got values from {lowest:g} to {highest:g}; "
                "divide by the largest possible value, for example picture / 255"
            )
    else:
        raise PictureError(
            f"expected colours as uint8, uint16 or floats in [0, 1], got dtype {kind}; "
            "convert first, for example picture.astype('uint8') for values of 0 to 255"
        )
    return picture if picture.shape[2] == 3 else np.repeat(picture, 3, axis=2)


def _load_file(path: str, max_pixels: int, max_expansion: float) -> Array:
    required("PIL.Image", "reading picture files", "media")
    with open(path, "rb") as file, _decoder_errors(path):
        image = _open(file, path)
        width, height = image.size
        _check_pixels(width, height, max_pixels)
        _check_expansion(width * height, os.fstat(file.fileno()).st_size, max_expansion)
        return _as_unit_interval(_decode(image))


@contextmanager
def _decoder_errors(path: str) -> Iterator[None]:
    """Name the file in every error, and turn a decoder's many kinds of error into one."""
    from PIL.Image import DecompressionBombError

    try:
        yield
    except PictureError as error:
        raise PictureError(f"{path}: {error}") from None
    except DecompressionBombError as error:  # some decoders check sizes by themselves
        raise PictureError(
            f"{path}: expected a picture of moderate size, but the decoder refuses it ({error}); "
            "shrink it first"
        ) from error
    except (*_BROKEN, struct.error, zlib.error) as error:
        raise PictureError(
            f"{path}: expected a complete picture, but it cannot be decoded ({error}); "
            "open it in a viewer and save it again as PNG"
        ) from error


def _open(file: IO[bytes], path: str) -> Image.Image:
    """Read the header only.

    Pillow's own `open` would try forty formats and judge large pictures by a limit of the whole
    process; asking six decoders one by one keeps both decisions here.
    """
    from PIL import Image

    start = file.read(16)
    for name, module in DECODERS.items():
        import_module(module)
        factory, accepts = Image.OPEN[name]
        if accepts is not None and accepts(start) is True:
            file.seek(0)
            return factory(file, path)
    raise PictureError(
        f"expected a picture in one of the formats {', '.join(DECODERS)}, got a file that starts "
        f"with {start!r}; save it in one of these formats first"
    )


def _check_pixels(width: int, height: int, max_pixels: int) -> None:
    if width * height > max_pixels:
        raise PictureError(
            f"expected at most {max_pixels:,} pixels, got {width} x {height} = "
            f"{width * height:,}; shrink the picture, or pass max_pixels={width * height} "
            f"to allow it ({readable(24 * width * height)} of memory)"
        )


def _check_expansion(pixels: int, stored: int, max_expansion: float) -> None:
    ratio = 3 * pixels / max(stored, 1)
    if pixels > ALWAYS_EXPANDED and ratio > max_expansion:
        raise PictureError(
            f"expected at most {max_expansion:g} decoded bytes per byte of the file, got "
            f"{ratio:,.0f}, as in a file made to exhaust memory; if you trust it, "
            f"pass max_expansion={int(ratio) + 1}"
        )


def _decode(image: Image.Image) -> NDArray[np.generic]:
    """Return the pixels as an array (h, w, 1 or 3) whose dtype tells their range."""
    from PIL import Image, ImageOps

    image = ImageOps.exif_transpose(image)
    if image.mode.startswith("I;16"):  # converting to RGB would cut these off at 255
        return np.asarray(image).astype(np.uint16)[:, :, None]
    if image.mode in ("I", "F"):
        raise PictureError(
            f"expected 8 or 16 bits per channel, got 32 (mode {image.mode!r}), whose value for "
            "white is not known; save it with 8 or 16 bits"
        )
    if image.has_transparency_data:
        white = Image.new("RGBA", image.size, "white")
        image = Image.alpha_composite(white, image.convert("RGBA"))
    return np.asarray(image.convert("RGB"))
