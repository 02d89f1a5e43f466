"""A whole library as one file: ``library.db`` in a zip archive, with a manifest that says what it
is and proves that it came whole."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import stat
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, BinaryIO

from merestone.files import replacing
from merestone.storage import open_store
from merestone.storage.backup import FILE, copy_to, installing
from merestone.types import JSON, OWNER, LibrarySettings, SourceSettings, StoreError

FORMAT = 1
_MANIFEST = "manifest.json"
_MANIFEST_BYTES = 1 << 20
_BLOCK = 1 << 20
_SMALL = 64 << 20
_MOST_SQUEEZED = 100
"""What is larger than 64 MB is taken for a trap if it was packed to less than a hundredth."""
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


@dataclass(frozen=True, slots=True)
class Manifest:
    """What an archive says of the library in it."""

    schema: int
    library_version: int
    embedder: Mapping[str, JSON]
    """``name``, ``fingerprint`` and ``dimension``."""
    documents: int
    chunks: int
    bytes: int
    """Size of the library's file."""
    sha256: str
    """Of the library's file."""
    roots: Mapping[str, str]
    """Name of each source → the address of its folder, which the documents' addresses begin
    with."""
    format: int = FORMAT

    def to_json(self) -> dict[str, JSON]:
        return asdict(self)


def write_archive(settings: LibrarySettings, target: Path) -> Manifest:
    """Write the library of ``settings`` to ``target``, which appears whole or not at all.

    Raises ``OSError`` if it cannot be written. Only the owner of the files may read it.
    """
    with (
        replacing(target, private=True) as draft,
        tempfile.TemporaryDirectory(prefix=f".{target.name}.", dir=target.parent) as folder,
    ):
        copy = Path(folder) / FILE
        copy_to(Path(settings.state), copy)
        manifest = _described(copy, settings.sources)
        with zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            archive.writestr(_MANIFEST, json.dumps(manifest.to_json(), indent=2))
            archive.write(copy, FILE)
    return manifest


def read_archive(archive: Path, settings: LibrarySettings) -> Manifest:
    """Make the library in ``archive`` that of ``settings``, whose state must hold none yet.

    Nothing is written outside of the state folder. Raises ``StoreError`` if the archive is none,
    is damaged, or holds anything else.
    """
    with _opened(archive) as file, _unpacked(archive, file) as (manifest, source):
        roots = _new_roots(manifest, settings.sources)
        with installing(Path(settings.state), roots) as draft:
            _refuse_overflow(manifest, draft.parent)
            _extract(archive, source, draft, manifest)
    return manifest


def _described(copy: Path, sources: Sequence[SourceSettings]) -> Manifest:
    store = open_store(copy.parent)
    try:
        with store.snapshot(OWNER) as snapshot:
            embedder = snapshot.generation.embedder
            return Manifest(
                schema=snapshot.schema,
                library_version=snapshot.library_version,
                embedder={
                    "name": embedder.name,
                    "fingerprint": embedder.fingerprint,
                    "dimension": embedder.dimension,
                },
                documents=sum(1 for record in snapshot.records() if record.version),
                chunks=snapshot.chunk_count(),
                bytes=copy.stat().st_size,
                sha256=_hash_of(copy),
                roots={source.name: _address(source) for source in sources},
            )
    finally:
        store.close()


def _address(source: SourceSettings) -> str:
    """What the addresses of a source's documents begin with."""
    path = Path(source.path)
    return f"{path.as_uri()}/" if path.is_absolute() else ""


def _new_roots(manifest: Manifest, sources: Sequence[SourceSettings]) -> list[tuple[str, str]]:
    """Where documents of each source were, and where those of the source of that name are."""
    here = {source.name: _address(source) for source in sources}
    pairs = [(old, here.get(name, "")) for name, old in manifest.roots.items()]
    # The longest first: one source may lie in another's folder.
    return sorted(((old, new) for old, new in pairs if old and new), reverse=True)


def _hash_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def _opened(archive: Path) -> Iterator[BinaryIO]:
    try:
        file = archive.open("rb")
    except OSError as error:
        raise StoreError(
            "archive-unreadable",
            f"{archive} cannot be read: {error.strerror or error}.",
            "Name a file that `export --library` wrote.",
        ) from error
    with file:
        yield file


@contextmanager
def _unpacked(archive: Path, file: BinaryIO) -> Iterator[tuple[Manifest, IO[bytes]]]:
    """The manifest, and the library's file to be read."""
    try:
        with zipfile.ZipFile(file) as opened:
            members = _members(archive, opened)
            manifest = _manifest(archive, opened.read(members[_MANIFEST]))
            if members[FILE].file_size != manifest.bytes:
                raise _damaged(archive, "the size of the library is another than it should be")
            with opened.open(members[FILE]) as source:
                yield manifest, source
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError) as error:
        raise _damaged(archive, str(error)) from error


def _members(archive: Path, opened: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    """Exactly the two files that belong there; their names are never used as paths."""
    found = opened.infolist()
    names = sorted(member.filename for member in found)
    if names != sorted((FILE, _MANIFEST)):
        other = next((name for name in names if name not in (FILE, _MANIFEST)), None)
        raise _foreign(archive, f"it holds {other!r}" if other else "parts are missing or double")
    for member in found:
        kind = stat.S_IFMT(member.external_attr >> 16)
        if kind not in (0, stat.S_IFREG) or member.flag_bits & 1:
            raise _foreign(archive, f"{member.filename} is no plain file")
        if member.compress_type not in _METHODS:
            raise _foreign(archive, f"{member.filename} is packed in a way that is not ours")
        is_squeezed = member.file_size > _MOST_SQUEEZED * max(1, member.compress_size)
        is_large = member.file_size > (_SMALL if member.filename == FILE else _MANIFEST_BYTES)
        if is_large and (is_squeezed or member.filename == _MANIFEST):
            raise _foreign(
                archive, f"{member.filename} would be unpacked to {member.file_size:,} bytes"
            )
    return {member.filename: member for member in found}


def _manifest(archive: Path, data: bytes) -> Manifest:
    try:
        value = json.loads(data)
        number = value["format"]
        if isinstance(number, int) and number > FORMAT:
            raise StoreError(
                "archive-too-new",
                f"A newer Merestone wrote {archive}: it has format {number}, this version knows "
                f"{FORMAT}.",
                "Update Merestone, or export the library again with this version.",
            )
        manifest = Manifest(**value)
        checks = (
            (manifest.bytes, int),
            (manifest.sha256, str),
            (manifest.roots, dict),
            (manifest.embedder, dict),
        )
        if not all(isinstance(part, kind) for part, kind in checks):
            raise TypeError("a value has another type")
        if not all(isinstance(root, str) for root in manifest.roots.values()):
            raise TypeError("a root is no text")
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise _foreign(archive, f"its manifest cannot be read ({error})") from error
    return manifest


def _refuse_overflow(manifest: Manifest, folder: Path) -> None:
    free = shutil.disk_usage(folder).free
    if manifest.bytes > free:
        raise StoreError(
            "disk-full",
            f"The library takes {manifest.bytes:,} bytes; {free:,} are free in {folder}.",
            "Make room, or name a folder on another disk.",
        )


def _extract(archive: Path, source: IO[bytes], draft: Path, manifest: Manifest) -> None:
    """Write the library's file, not a byte more than was announced."""
    hasher = hashlib.sha256()
    left = manifest.bytes
    with suppress(FileNotFoundError):
        draft.unlink()
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
        while block := source.read(_BLOCK):
            left -= len(block)
            if left < 0:
                break
            hasher.update(block)
            out.write(block)
    if left or hasher.hexdigest() != manifest.sha256:
        raise _damaged(archive, "the library in it is not the one that was written")


def _damaged(archive: Path, reason: str) -> StoreError:
    return StoreError(
        "archive-damaged",
        f"{archive} did not come whole, or is no archive: {reason}.",
        "Copy it again, or export the library again. Nothing was imported.",
    )


def _foreign(archive: Path, reason: str) -> StoreError:
    return StoreError(
        "not-an-archive",
        f"{archive} is no archive of a library: {reason}.",
        "Name a file that `export --library` wrote. Nothing was imported.",
    )
