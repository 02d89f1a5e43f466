"""Ids of documents: of paths in the manner of each system, of keys, of pages."""

from __future__ import annotations

import ntpath
import os
import posixpath
import re
from pathlib import PurePath, PureWindowsPath
from urllib.parse import urlsplit

_LIKE_A_BYTE = re.compile(rb"%(?=(?:25)*[89A-F][0-9A-F])")
_IN_NO_KEY = re.compile("[%\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_PORTS = {"http": ":80", "https": ":443"}


def portable_name(name: str) -> str:
    """A file's name as an id: ``/`` between folders, bytes that are no text as ``%XX``."""
    if name.isascii() and "%" not in name:
        return name
    # What looks like such a byte already is escaped, so that no two names meet in one id.
    raw = _LIKE_A_BYTE.sub(b"%25", os.fsencode(name))
    return "".join(
        f"%{ord(char) - 0xDC00:02X}" if 0xDC80 <= ord(char) <= 0xDCFF else char
        for char in raw.decode("utf-8", "surrogateescape")
    )


def path_identifier(path: str, root: PurePath) -> str | None:
    """The id of ``path`` inside the folder ``root``, without a source's name; ``""`` for the
    folder itself and ``None`` for what lies outside of it.

    ``path`` is absolute or relative to ``root``, in the manner of the system that ``root`` is a
    path of: only on Windows is a backslash a separator. Symbolic links are not followed.
    """
    is_windows = isinstance(root, PureWindowsPath)
    system = ntpath if is_windows else posixpath
    whole, top = (
        system.normpath(_without_long_prefix(each) if is_windows else each)
        for each in (system.join(str(root), path), str(root))
    )
    folder = top if top.endswith(system.sep) else top + system.sep
    if system.normcase(whole) == system.normcase(top):
        return ""
    if not system.normcase(whole).startswith(system.normcase(folder)):
        return None
    return portable_name(whole[len(folder) :].replace(system.sep, "/"))


def _without_long_prefix(path: str) -> str:
    r"""``\\?\C:\x`` is ``C:\x``, ``\\?\UNC\host\x`` is ``\\host\x``."""
    if path.startswith("\\\\?\\UNC\\"):
        return "\\\\" + path[8:]
    return path.removeprefix("\\\\?\\")


def key_identifier(key: object) -> str | None:
    """The id of a row or record by its key; ``None`` for a key that is none (NULL, empty).

    Characters that cannot be in an id are ``%XX``, each byte of their UTF-8; so is a slash where
    a part between slashes is empty, ``.`` or ``..``, which would not be kept apart from others.
    """
    if key is None:
        return None
    text = key.decode("utf-8", "surrogateescape") if isinstance(key, bytes) else str(key)
    if not text:
        return None
    escaped = _IN_NO_KEY.sub(lambda match: _percent(match[0]), text)
    if any(part in ("", ".", "..") for part in escaped.split("/")):
        escaped = escaped.replace("/", "%2F")
        if escaped in (".", ".."):
            escaped = escaped.replace(".", "%2E")
    return escaped


def _percent(char: str) -> str:
    # A byte that is no text is itself; another lone surrogate is its three bytes.
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:
        return f"%{code - 0xDC00:02X}"
    return "".join(f"%{byte:02X}" for byte in char.encode("utf-8", "surrogatepass"))


def page_identifier(url: str) -> str | None:
    """The id of a page: its URL without scheme, default port and fragment; ``None`` for what is no
    URL of a page (``http`` or ``https``, without user and password)."""
    try:
        parts = urlsplit(url.strip())
        is_page = parts.scheme in _PORTS and parts.hostname and "@" not in parts.netloc
        _ = parts.port  # raises for a port that is no number
    except ValueError:
        return None
    if not is_page:
        return None
    host = parts.netloc.lower().removesuffix(_PORTS[parts.scheme])
    path = "" if parts.path == "/" else parts.path
    query = f"?{parts.query}" if parts.query else ""
    return f"{host}{path}{query}"
