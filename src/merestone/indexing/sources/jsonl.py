"""Files of JSON lines, each of which is a document."""

from __future__ import annotations

from collections.abc import Set
from pathlib import Path

from merestone.indexing.regular_files import open_file
from merestone.indexing.sources.contents import content_hash
from merestone.indexing.sources.faults import gone, problem_of, too_large
from merestone.indexing.sources.identifiers import key_identifier
from merestone.indexing.sources.keys import KeyedRecords
from merestone.indexing.sources.patterns import Selection
from merestone.indexing.sources.record_lines import (
    RecordLine,
    first_members,
    object_in,
    record_lines,
)
from merestone.indexing.sources.records import Fields, document_of, form_of, stamp_of, uri_of_record
from merestone.types import (
    Listed,
    Listing,
    Look,
    Problem,
    RawDocument,
    SettingsError,
    SourceError,
    SourceSettings,
    Status,
)

_NAMED = 5


class RecordFileSource:
    """Each line of the file is a JSON object and a document, the value of ``key`` its id.

    A line that is no JSON object could be any document, so as long as there is one nothing of the
    source counts as gone. So could one with more bytes than a document may have, of which only as
    many are read, if its key is not among them.
    """

    def __init__(self, settings: SourceSettings) -> None:
        self._settings = settings
        self._path = Path(settings.location)
        self._form = form_of(settings, self._path.as_uri())
        self._selection = Selection(settings)
        self._offsets: dict[str, int] = {}

    def scan(self, look: Look) -> Listing:
        records = KeyedRecords[int](self._settings, self._selection, look.scope)
        documents: list[Listed] = []
        broken: list[int] = []
        nameless: list[int] = []
        seen: set[str] = set()
        with open_file(self._path) as file:
            for line in record_lines(file, look.max_bytes):
                fields = object_in(line.data) if line.is_whole else first_members(line.data)
                if fields is not None and line.is_whole:
                    seen.update(fields)
                if fields is None:
                    broken.append(line.number)
                elif not line.is_whole and self._settings.key not in fields:
                    nameless.append(line.number)
                elif admitted := records.admit(fields.get(self._settings.key), line.offset):
                    documents.append(self._listed(*admitted, fields, line, look.max_bytes))
        if seen:
            self._check_names(seen)
        found = records.whole(documents)
        self._offsets = records.places
        problems = (*self._broken(broken), *self._nameless(nameless, look.max_bytes))
        return Listing(self, found, problems, (self._settings.prefix,) if problems else ())

    def _check_names(self, seen: Set[str]) -> None:
        """Refuse settings that no record has anything for: each document would be empty."""
        wanted = [self._settings.text, (self._settings.updated,) if self._settings.updated else ()]
        for names in wanted:
            if names and seen.isdisjoint(names):
                raise SettingsError(
                    "invalid-query",
                    f"No record of {self._settings.place} has {' or '.join(names)}.",
                    f"They have {', '.join(sorted(seen)[:_NAMED])}.",
                )

    def read(self, listed: Listed, max_bytes: int) -> RawDocument:
        offset = self._offsets.get(listed.id)
        if offset is None:
            raise gone(listed.id)
        with open_file(self._path) as file:
            file.seek(offset)
            line = file.readline(max_bytes + 1)
        if len(line) > max_bytes:
            raise too_large(listed.id, max_bytes)
        fields = object_in(line)
        if fields is None or key_identifier(fields.get(self._settings.key)) != listed.location:
            raise SourceError(
                "source-changed",
                f"{self._path} was changed after it was listed.",
                "Sync again.",
            )
        return document_of(listed.id, self.uri_of(listed), fields, self._settings)

    def uri_of(self, listed: Listed) -> str:
        return uri_of_record(self._path.as_uri(), listed.location)

    def _listed(
        self, identifier: str, name: str, fields: Fields, line: RecordLine, max_bytes: int
    ) -> Listed:
        if not line.is_whole:
            fault = problem_of(identifier, too_large(identifier, max_bytes, line.size))
            return Listed(identifier, name, f"line={line.digest}", fault=fault)
        if self._settings.updated:
            return Listed(
                identifier, name, stamp_of(fields.get(self._settings.updated), self._form)
            )
        content = content_hash(document_of(name, "", fields, self._settings))
        return Listed(identifier, name, f"content={content}")

    def _broken(self, numbers: list[int]) -> list[Problem]:
        if not numbers:
            return []
        return [
            Problem(
                self._settings.prefix,
                Status.PARTIAL,
                "record-line-invalid",
                f"{self._path} has no JSON object in line {_named(numbers)}.",
                "Mend the file; until then nothing that is stored of it is removed.",
            )
        ]

    def _nameless(self, numbers: list[int], max_bytes: int) -> list[Problem]:
        if not numbers:
            return []
        return [
            Problem(
                self._settings.prefix,
                Status.PARTIAL,
                "record-line-too-large",
                f"{self._path} has more than {max_bytes} bytes in line {_named(numbers)}, and "
                f"no {self._settings.key} within them.",
                f"Write {self._settings.key} first, split the record, or raise max_document_bytes "
                "in [extraction]; until then nothing that is stored of the file is removed.",
            )
        ]


def _named(numbers: list[int]) -> str:
    more = f" and {len(numbers) - _NAMED} more" if len(numbers) > _NAMED else ""
    return ", ".join(map(str, numbers[:_NAMED])) + more
