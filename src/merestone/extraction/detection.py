"""Which format some bytes are in."""

from __future__ import annotations

import io
import re
import zipfile

from merestone.extraction.encoding import wide_encoding
from merestone.extraction.media_types import OCTET_STREAM, TEXT_TYPES, type_by_name

_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"II*\0", "image/tiff"),
    (b"MM\0*", "image/tiff"),
    (b"\0\0\1\0", "image/x-icon"),
    (b"\x1f\x8b", "application/gzip"),
    (b"BZh", "application/x-bzip2"),
    (b"\xfd7zXZ\0", "application/x-xz"),
    (b"\x28\xb5\x2f\xfd", "application/zstd"),
    (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (b"Rar!\x1a\x07", "application/vnd.rar"),
    (b"SQLite format 3\0", "application/vnd.sqlite3"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/x-ole-storage"),
    (b"\x7fELF", "application/x-elf"),
    (b"\xca\xfe\xba\xbe", "application/java-vm"),
    (b"\xfe\xed\xfa\xce", "application/x-mach-binary"),
    (b"\xfe\xed\xfa\xcf", "application/x-mach-binary"),
    (b"\xce\xfa\xed\xfe", "application/x-mach-binary"),
    (b"\xcf\xfa\xed\xfe", "application/x-mach-binary"),
    (b"\0asm", "application/wasm"),
    (b"{\\rtf", "application/rtf"),
    (b"%!PS", "application/postscript"),
    (b"PAR1", "application/vnd.apache.parquet"),
    (b"\x89HDF\r\n\x1a\n", "application/x-hdf5"),
    (b"OggS", "audio/ogg"),
    (b"fLaC", "audio/flac"),
    (b"ID3", "audio/mpeg"),
    (b"\x1a\x45\xdf\xa3", "video/x-matroska"),
    (b"wOFF", "font/woff"),
    (b"wOF2", "font/woff"),
    (b"\0\1\0\0\0", "font/ttf"),
    (b"MZ", "application/vnd.microsoft.portable-executable"),
    (b"BM", "image/bmp"),
)
# Magic that a text could begin with: it counts only where the bytes are no text.
_READABLE = frozenset({b"BZh", b"PAR1", b"OggS", b"fLaC", b"ID3", b"wOFF", b"wOF2", b"MZ", b"BM"})
_RIFF = {b"WEBP": "image/webp", b"WAVE": "audio/wav", b"AVI ": "video/x-msvideo"}

_OFFICE = "application/vnd.openxmlformats-officedocument."
_ZIP_FOLDERS = (
    ("word/", _OFFICE + "wordprocessingml.document"),
    ("ppt/", _OFFICE + "presentationml.presentation"),
    ("xl/", _OFFICE + "spreadsheetml.sheet"),
)

_BINARY = re.compile(rb"[\x00-\x07\x0e-\x1a\x1c-\x1f\x7f]")
_HTML = re.compile(rb"\s*(<!--.*?-->\s*)*(<!doctype\s+html|<html[\s>])", re.IGNORECASE | re.DOTALL)
_XML = re.compile(rb"\s*<\?xml[\s?]")
_PDF_HEADER_BYTES = 1024


def detect_media_type(name: str, data: bytes) -> str:
    """Media type of a file: by its first bytes, else by its name, else by whether it is text.

    What claims to be text but isn't is ``application/octet-stream``. Empty data are what the name
    says, or plain text.
    """
    by_name = type_by_name(name)
    by_magic = _type_by_magic(data)
    if by_magic is not None:
        return by_magic
    # A PDF may begin behind other bytes; a text may speak of PDFs.
    if b"%PDF-" in data[:_PDF_HEADER_BYTES] and by_name in (None, "application/pdf"):
        return "application/pdf"
    if by_name is not None and by_name not in TEXT_TYPES and by_name != OCTET_STREAM:
        return by_name
    if not is_text(data):
        return OCTET_STREAM
    if by_name is not None and by_name != OCTET_STREAM:
        return by_name
    head = data[:_PDF_HEADER_BYTES].removeprefix(b"\xef\xbb\xbf")
    if _HTML.match(head):
        return "text/html"
    return "application/xml" if _XML.match(head) else "text/plain"


def is_text(data: bytes) -> bool:
    """True if ``data`` can be the bytes of a text in some encoding.

    A text holds less than 0.1 % zero bytes, unless they are those of UTF-16 or UTF-32, and less
    than 2 % other control characters. Escape, backspace and form feed are common in texts.
    """
    if data.startswith((b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff")):
        return True
    controls = len(_BINARY.findall(data))
    if controls == 0:
        return True
    zeros = data.count(0)
    if zeros and wide_encoding(data) is not None:
        return True
    return zeros * 1000 < len(data) and controls * 50 < len(data)


def _type_by_magic(data: bytes) -> str | None:
    if data[:_PDF_HEADER_BYTES].lstrip().startswith(b"%PDF-"):
        return "application/pdf"
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _type_of_zip(data)
    if data.startswith(b"RIFF") and data[8:12] in _RIFF:
        return _RIFF[data[8:12]]
    if data[4:8] == b"ftyp" and data[:2] == b"\0\0":
        return "video/mp4"
    if data[257:262] == b"ustar":
        return "application/x-tar"
    for magic, media_type in _MAGIC:
        if data.startswith(magic) and not (magic in _READABLE and is_text(data)):
            return media_type
    return None


def _type_of_zip(data: bytes) -> str:
    """What a ZIP container holds, by its members; nothing is inflated but a short ``mimetype``."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = archive.namelist()
            if names and names[0] == "mimetype" and archive.getinfo("mimetype").file_size < 200:
                return archive.read("mimetype").decode("ascii", "replace").strip()
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, ValueError, EOFError):
        return "application/zip"
    if "[Content_Types].xml" in names:
        for folder, media_type in _ZIP_FOLDERS:
            if any(name.startswith(folder) for name in names):
                return media_type
    if "META-INF/container.xml" in names:
        return "application/epub+zip"
    return "application/zip"
