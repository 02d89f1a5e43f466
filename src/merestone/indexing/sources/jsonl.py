"""Files of JSON lines, each of which is a document."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from merestone.indexing.regular_files import open_file
from merestone.indexing.sources.contents import content_hash
from merestone.indexing.sources.faults import gone, too_large
from merestone.indexing.sources.identifiers import key_identifier
from merestone.indexing.sources.patterns import Selection
from merestone.indexing.sources.records import (
    Fields,
    document_of,
    stamp_of,
    uri_of_record,
    without_key,
)
from merestone.indexing.sources.rows import duplicate_key
from merestone.types import (
    Listed,
    Listing,
    Look,
    Problem,
    RawDocument,
    SourceError,
    SourceSettings,
    Status,
)

_NAMED = 5
_MARK = b"\xef\xbb\xbf"


class RecordFileSource:
    """Each line of the file is a JSON object and a document, the value of ``key`` its id.

    A line that is no JSON object could be any document, so as long as there is one nothing of the
    source counts as gone.
    """

    def __init__(self, settings: SourceSettings) -> None:
        self._settings = settings
        self._path = Path(settings.location)
        self._selection = Selection(settings)
        self._offsets: dict[str, int] = {}

    def scan(self, look: Look) -> Listing:
        self._offsets.clear()
        documents: list[Listed] = []
        repeated: dict[str, int] = {}
        broken: list[int] = []
        keyless = 0
        with open_file(self._path) as file:
            for number, offset, line in _lines(file):
                fields = _object(line)
                if fields is None:
                    broken.append(number)
                    continue
                name = key_identifier(fields.get(self._settings.key))
                if name is None:
                    keyless += 1
                    continue
                identifier = self._settings.prefix + name
                if identifier in self._offsets:
                    repeated[name] = repeated.get(name, 1) + 1
                    continue
                self._offsets[identifier] = offset
                if self._selection.admits(name) and look.scope.holds(identifier):
                    documents.append(Listed(identifier, name, self._stamp(name, fields)))
        if repeated:
            named = [f"{key!r} ({count} times)" for key, count in repeated.items()]
            raise duplicate_key(self._settings, ", ".join(named[:_NAMED]))
        if keyless:
            problem = without_key(self._settings, keyless)
            documents.append(Listed(problem.document, "", fault=problem))
        if broken:
            problems, unlisted = (self._broken(broken),), (self._settings.prefix,)
            return Listing(self, tuple(documents), problems, unlisted)
        return Listing(self, tuple(documents))

    def read(self, listed: Listed, max_bytes: int) -> RawDocument:
        offset = self._offsets.get(listed.id)
        if offset is None:
            raise gone(listed.id)
        with open_file(self._path) as file:
            file.seek(offset)
            line = file.readline(max_bytes + 1)
        if len(line) > max_bytes:
            raise too_large(listed.id, max_bytes)
        fields = _object(line)
        if fields is None or key_identifier(fields.get(self._settings.key)) != listed.location:
            raise SourceError(
                "source-changed",
                f"{self._path} was changed after it was listed.",
                "Sync again.",
            )
        return document_of(listed.id, self.uri_of(listed), fields, self._settings)

    def uri_of(self, listed: Listed) -> str:
        return uri_of_record(self._path.as_uri(), listed.location)

    def _stamp(self, name: str, fields: Fields) -> str:
        if self._settings.updated:
            return stamp_of(fields.get(self._settings.updated))
        return f"content={content_hash(document_of(name, '', fields, self._settings))}"

    def _broken(self, numbers: list[int]) -> Problem:
        named = ", ".join(map(str, numbers[:_NAMED]))
        more = f" and {len(numbers) - _NAMED} more" if len(numbers) > _NAMED else ""
        return Problem(
            self._settings.prefix,
            Status.PARTIAL,
            "record-line-invalid",
            f"{self._path} has no JSON object in line {named}{more}.",
            "Mend the file; until then nothing that is stored of it is removed.",
        )


def _lines(file: BinaryIO) -> Iterator[tuple[int, int, bytes]]:
    """Number, from 1, byte offset and bytes of each line that is not blank."""
    offset = 0
    for number, line in enumerate(file, 1):
        start, offset = offset, offset + len(line)
        if number == 1 and line.startswith(_MARK):
            start, line = start + len(_MARK), line.removeprefix(_MARK)
        if line.strip():
            yield number, start, line


def _object(line: bytes) -> Fields | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
