"""Files that ``fsspec`` can open: object stores, archives, other machines. Extra ``remote``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from math import isfinite
from typing import Any
from urllib.parse import urlsplit

from merestone.indexing.sources.faults import gone, too_large, unreachable
from merestone.indexing.sources.identifiers import key_identifier
from merestone.indexing.sources.patterns import Selection
from merestone.types import (
    JSON,
    Listed,
    Listing,
    Look,
    MerestoneError,
    RawDocument,
    SettingsError,
    SourceError,
    SourceSettings,
)
from merestone.types.sources import LATEST_NS

_TAGS = (
    "ETag",
    "etag",
    "e_tag",
    "md5Hash",
    "md5",
    "content_md5",
    "sha256",
    "crc32c",
    "CRC",
    "generation",
    "version_id",
)
"""Keys under which file systems tell what changes with the contents, best first."""
_TIMES = ("mtime", "LastModified", "last_modified", "updated", "modified")


class RemoteSource:
    """Every file below a URL that the patterns let through. Names that begin with a dot are left
    out. Options are those of the file system; its environment variables count too."""

    def __init__(self, settings: SourceSettings) -> None:
        self._settings = settings
        self._selection = Selection(settings)
        self._system, self._root = _open(settings)

    def scan(self, look: Look) -> Listing:
        with self._told(self._settings.place):
            self._system.invalidate_cache()
            if not self._system.exists(self._root):
                raise SourceError(
                    "path-not-found",
                    f"There is nothing at {self._settings.place}.",
                    "Mend the URL in merestone.toml; nothing that is stored was touched.",
                )
            documents = sorted(self._files(look), key=lambda listed: listed.id)
        return Listing(self, tuple(documents))

    def read(self, listed: Listed, max_bytes: int) -> RawDocument:
        with self._told(listed.id):
            try:
                with self._system.open(listed.location, "rb") as file:
                    data = bytes(file.read(max_bytes + 1))
            except FileNotFoundError as error:
                raise gone(listed.id) from error
        if len(data) > max_bytes:
            raise too_large(listed.id, max_bytes)
        return RawDocument(listed.id, data, self.uri_of(listed))

    def uri_of(self, listed: Listed) -> str:
        return str(self._system.unstrip_protocol(listed.location))

    def _files(self, look: Look) -> Iterator[Listed]:
        if self._system.isfile(self._root):
            name = self._root.rpartition("/")[2]
            yield from self._file(name, self._system.info(self._root), look)
            return
        # Folder by folder: fsspec's own ``walk`` and ``find`` take a folder deeper down that can't
        # be listed for an empty one, and its documents would count as gone.
        pending = [(self._root, "")]
        while pending:
            folder, inside = pending.pop()
            for info in self._system.ls(folder, detail=True):
                path = str(info["name"]).rstrip("/")
                base = path.rpartition("/")[2]
                # Some stores list a folder as an empty file in itself.
                if not base or base.startswith(".") or path.strip("/") == folder.strip("/"):
                    continue
                name = f"{inside}/{base}" if inside else base
                if info["type"] == "directory":
                    if self._enters(name, info):
                        pending.append((path, name))
                else:
                    yield from self._file(name, info, look)

    def _enters(self, name: str, info: Mapping[str, Any]) -> bool:
        return not info.get("islink") and not self._selection.excludes(name + "/")

    def _file(self, name: str, info: Mapping[str, Any], look: Look) -> Iterator[Listed]:
        identifier = key_identifier(name)
        if identifier is None or info.get("type") != "file" or not self._selection.admits(name):
            return
        if look.scope.holds(self._settings.prefix + identifier):
            size = info.get("size")
            yield Listed(
                self._settings.prefix + identifier,
                str(info["name"]),
                stamp=_stamp(info),
                mtime_ns=_written(info),
                size=size if isinstance(size, int) else 0,
            )

    @contextmanager
    def _told(self, what: str) -> Iterator[None]:
        """Errors of any file system as those of a source, without the options' values."""
        try:
            yield
        except MerestoneError:
            raise
        except Exception as error:
            reason = hide(f"{type(error).__name__}: {error}", self._settings.options)
            raise unreachable(what, reason) from None


def _open(settings: SourceSettings) -> tuple[Any, str]:
    try:
        from fsspec.core import url_to_fs
    except ImportError as error:
        raise SettingsError(
            "extra-missing",
            f"The source {settings.place} needs a package that is not installed.",
            "Install it: pip install 'merestone[remote]'.",
        ) from error
    try:
        system, root = url_to_fs(settings.location, **settings.options)
        return system, str(root)
    except ImportError as error:
        scheme = urlsplit(settings.location).scheme
        raise SettingsError(
            "extra-missing",
            f"URLs of {scheme} need a package that is not installed: {error}.",
            "Install what the message names.",
        ) from error
    except (ValueError, TypeError) as error:
        reason = hide(str(error), settings.options)
        raise SettingsError(
            "invalid-setting",
            f"The source {settings.place} cannot be opened: {reason}.",
            "Mend its URL or its options.",
        ) from None
    except Exception as error:
        # Opening may reach out: an archive is fetched.
        reason = hide(f"{type(error).__name__}: {error}", settings.options)
        raise unreachable(settings.place, reason) from None


def hide(text: str, options: Mapping[str, JSON]) -> str:
    """``text`` with ``…`` for each value of ``options`` that could be a secret."""
    for value in options.values():
        if isinstance(value, Mapping):
            text = hide(text, value)
        elif isinstance(value, str) and value:
            text = text.replace(value, "…")
    return text


def _stamp(info: Mapping[str, Any]) -> str:
    for key in _TAGS:
        value = info.get(key)
        if value is not None and value != "":
            return f"{key.lower()}={value}, size={info.get('size')}"
    return ""


def _written(info: Mapping[str, Any]) -> int:
    """Nanoseconds since 1970; 0 where the file system doesn't say."""
    for key in _TIMES:
        value = info.get(key)
        if isinstance(value, datetime):
            moment = value if value.tzinfo else value.replace(tzinfo=UTC)
            return min(int(moment.timestamp() * 1e9), LATEST_NS)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return min(int(value * 1e9), LATEST_NS) if isfinite(value) else 0
    return 0
