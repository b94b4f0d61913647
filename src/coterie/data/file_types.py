"""Kinds of files by their first bytes, and formats by their extensions."""

from __future__ import annotations

from pathlib import Path

from coterie.data.errors import DataError

GZIP = b"\x1f\x8b"
# Offset, bytes, kind. RIFF holds several kinds, which later bytes tell; so does Ogg, see below.
FIRST_BYTES = (
    (0, b"\x89PNG", "picture"),
    (0, b"\xff\xd8\xff", "picture"),
    (0, b"GIF8", "picture"),
    (0, b"BM", "picture"),
    (0, b"II*\0", "picture"),
    (0, b"MM\0*", "picture"),
    (8, b"WEBP", "picture"),
    (8, b"WAVE", "sound"),
    (0, b"fLaC", "sound"),
    (8, b"AVI ", "video"),
    (4, b"ftyp", "video"),
    (0, b"\x1a\x45\xdf\xa3", "video"),
    (0, b"PAR1", "table"),
    (0, b"ARROW1", "table"),
    (0, b"FEA1", "table"),
    (0, b"\x93NUMPY", "table"),
    (0, b"PK\x03\x04", "table"),
    (0, b"PK\x05\x06", "table"),
    (0, GZIP, "table"),
)
LOOKED_AT = 256  # bytes
_OLDER_VIDEO = (b"moov", b"mdat", b"wide", b"free")  # at 4, if the name agrees: they are words
_OLDER_NAMES = (".mp4", ".mov", ".m4v")
MODEL = b"COTERIE"  # of coterie.models
_BEFORE_JSON = b"\xef\xbb\xbf \t\r\n"
UTF_16 = (b"\xff\xfe", b"\xfe\xff")

# Of each extension: the format, and the first bytes of its files.
EXTENSIONS = {
    ".parquet": ("Parquet", "PAR1"),
    ".pq": ("Parquet", "PAR1"),
    ".arrow": ("an Arrow file", "ARROW1"),
    ".feather": ("a Feather file", "ARROW1"),
    ".npy": ("an NPY file", "\\x93NUMPY"),
    ".npz": ("an NPZ file", "PK"),
    ".json": ("JSON lines or an array of objects", "{ or [{"),
    ".jsonl": ("JSON lines", "{"),
    ".ndjson": ("JSON lines", "{"),
    ".png": ("a PNG picture", "\\x89PNG"),
    ".jpg": ("a JPEG picture", "\\xff\\xd8"),
    ".jpeg": ("a JPEG picture", "\\xff\\xd8"),
    ".gif": ("a GIF picture", "GIF8"),
    ".bmp": ("a BMP picture", "BM"),
    ".webp": ("a WebP picture", "RIFF....WEBP"),
    ".tif": ("a TIFF picture", "II* or MM*"),
    ".tiff": ("a TIFF picture", "II* or MM*"),
    ".wav": ("a WAV file", "RIFF....WAVE"),
    ".flac": ("a FLAC file", "fLaC"),
    ".ogg": ("an Ogg file", "OggS"),
    ".oga": ("an Ogg file", "OggS"),
    ".ogv": ("an Ogg file", "OggS"),
    ".mp4": ("an MP4 video", "....ftyp"),
    ".m4v": ("an MP4 video", "....ftyp"),
    ".mov": ("a MOV video", "....ftyp"),
    ".mkv": ("an MKV video", "\\x1aE\\xdf\\xa3"),
    ".webm": ("a WebM video", "\\x1aE\\xdf\\xa3"),
    ".avi": ("an AVI video", "RIFF....AVI"),
}


# Kinds of files that are often given and not read: offset, first bytes, kind, remedy.
UNSUPPORTED = (
    (0, b"%PDF", "a PDF document", "save its table as CSV"),
    (0, b"SQLite format 3", "an SQLite database", "write one of its tables as CSV"),
    (0, b"\x89HDF", "an HDF5 file", "write the array as NPY, or the table as Parquet"),
    (0, b"\xd0\xcf\x11\xe0", "an old Excel or Word file", "save the sheet as CSV"),
    (30, b"[Content_Types].xml", "an Excel or Word file", "save the sheet as CSV"),
    (30, b"mimetype", "an OpenDocument file", "save the sheet as CSV"),
    (0, b"\x80\x04", "a pickle, which could run code", "write Parquet or NPY instead"),
    (0, b"\x80\x05", "a pickle, which could run code", "write Parquet or NPY instead"),
    (0, b"ID3", "an MP3", "convert it, for example with: ffmpeg -i sound.mp3 sound.wav"),
    (0, b"\xff\xfb", "an MP3", "convert it, for example with: ffmpeg -i sound.mp3 sound.wav"),
)


def check_supported(start: bytes) -> None:
    """Raise if a file is of a known kind that is not read."""
    for offset, begin, what, remedy in UNSUPPORTED:
        if start[offset:].startswith(begin):
            raise DataError(
                f"expected a table, picture, video, sound or text, got {what}; {remedy}"
            )


def first_bytes(path: Path) -> bytes:
    """Return the first bytes of a file."""
    with path.open("rb") as file:
        return file.read(LOOKED_AT)


def kind_by_first_bytes(path: Path, start: bytes) -> str | None:
    """Return the kind of data by the first bytes of a file; None for texts."""
    if start.startswith(b"OggS"):
        return "video" if b"theora" in start or path.suffix.lower() == ".ogv" else "sound"
    if start[4:8] in _OLDER_VIDEO and path.suffix.lower() in _OLDER_NAMES:
        return "video"
    for offset, begin, kind in FIRST_BYTES:
        text_like = begin == b"BM" and start[6:10] != b"\0\0\0\0"  # a text may begin with BM
        if start[offset:].startswith(begin) and not text_like:
            return kind
    return None


def is_json(start: bytes) -> bool:
    """Return True if a text begins as JSON lines do."""
    return start.lstrip(_BEFORE_JSON).startswith(b"{")


def is_json_array(start: bytes) -> bool:
    """Return True if a text begins as an array of objects does."""
    bare = start.lstrip(_BEFORE_JSON)
    return bare.startswith(b"[") and bare[1:].lstrip(_BEFORE_JSON).startswith(b"{")


def is_delimited(path: Path, start: bytes) -> bool:
    """Return True for a text of cells, also gzipped: for files of no other beginning."""
    if start.startswith(GZIP):
        return True
    return not (kind_by_first_bytes(path, start) or is_json(start) or is_json_array(start))


def check_extension(path: Path, start: bytes) -> None:
    """Raise if a name has the extension of a format, and the file begins like no known one."""
    ending = path.suffix.lower()
    known = kind_by_first_bytes(path, start) or is_json(start) or is_json_array(start)
    if ending not in EXTENSIONS or known:
        return
    promised, begin = EXTENSIONS[ending]
    if not start:
        raise DataError(f"expected {promised}, got an empty file; check the path")
    if "JSON" in promised and start.lstrip(_BEFORE_JSON).startswith(b"["):
        raise DataError(
            f"expected {promised}, got an array of something else; write every row as an object, "
            'as in {"x": 1.5, "y": 2}'
        )
    raise DataError(
        f"expected {promised}, as the name ends in {ending}, but the file does not begin with "
        f"{begin}: it begins with {start[:12]!r}; it is damaged, or something else: get it again, "
        "or give it the right name"
    )


def check_is_text(path: Path, start: bytes, where: str = "") -> None:
    """Raise if the file is no text by its first bytes, or a text in UTF-16."""
    kind = kind_by_first_bytes(path, start)
    if kind is not None:
        raise DataError(
            f"expected text, got a {kind}{where}, as its first bytes say ({start[:6]!r}); "
            f"pass kind={kind!r}, or give another file"
        )
    if start.startswith(UTF_16):
        raise DataError(
            f"expected text in UTF-8, got UTF-16{where}; "
            "save it again as UTF-8, for example with: iconv -f utf16 -t utf8"
        )
