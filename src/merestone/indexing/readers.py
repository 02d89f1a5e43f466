"""Who may read each document at this moment: what was synced and today's rules, taken together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property

from merestone.indexing.access import Policy
from merestone.indexing.closing import IDLE, told_idle
from merestone.indexing.principals import GROUP
from merestone.types import (
    NOBODY,
    PUBLIC,
    UNSAID,
    AccessStatement,
    Allow,
    DocumentAccess,
    DocumentRecord,
    Finding,
)

_SYNCED = "what the last sync took down"


class Readers:
    """The readers of documents, as the store will judge them: by the rules that are stored with
    each document and, where they have changed since, by today's as well."""

    def __init__(
        self, records: Iterable[DocumentRecord], judged_by: str | None, policy: Policy
    ) -> None:
        """``records`` are all that there are; ``judged_by`` is the fingerprint of the rules that
        they were synced by."""
        self._policy = policy
        self._records = {record.id: record for record in records}
        stored = {record.id: record.access for record in self._records.values()}
        self._judgements = [stored]
        if judged_by != policy.fingerprint:
            records = self._records.values()
            self._judgements.append(
                {each.id: policy.allow(each.id, each.metadata) for each in records}
            )
        self._is_open = [not any(each.values()) for each in self._judgements]
        """By judgement: true if nothing is said of any document."""
        self._today = self._judgements[-1]
        self._known: dict[Allow, tuple[str, ...]] = {}
        self._groups: dict[str, frozenset[str]] = {}

    @property
    def has_restrictions(self) -> bool:
        """True if anything is said of who may read."""
        return self._policy.has_rules or not all(self._is_open)

    def of(self, document: str) -> DocumentAccess:
        """Who may read ``document``, which must be one of the records, and what says so."""
        record = self._records[document]
        lists = self._lists(document)
        readers = self._readers(lists)
        statements = self._policy.statements(document, record.metadata)
        is_waiting = len(self._judgements) > 1 and record.access != self._today[document]
        if is_waiting:
            statements += tuple(AccessStatement(_SYNCED, names) for names in record.access)
        groups = [name for name in readers if name.startswith(GROUP)]
        members = {group: self._members(group) for group in groups}
        return DocumentAccess(
            document, readers, members, statements, self._is_unnamed(record), is_waiting
        )

    def all(self) -> list[DocumentAccess]:
        """Those of every document that can be read, by id."""
        return [self.of(name) for name, record in self._records.items() if record.version]

    def unnamed(self) -> int:
        """How many documents are closed to all but the owner because nothing names them."""
        readable = (record for record in self._records.values() if record.version)
        return sum(map(self._is_unnamed, readable))

    def idle_rules(self) -> list[Finding]:
        """Rules that match no document: they protect nothing."""
        documents = [name for name, record in self._records.items() if record.version]
        return [
            Finding("access-rule-idle", None, told_idle(rule), IDLE)
            for rule in self._policy.idle_rules(documents)
        ]

    def _is_unnamed(self, record: DocumentRecord) -> bool:
        allow = self._today[record.id]
        if allow == UNSAID:
            return not self._is_open[-1]
        return allow == NOBODY and not self._policy.statements(record.id, record.metadata)

    def _lists(self, document: str) -> Allow:
        """Lists of principals, each of which must name who may read."""
        found: Allow = ()
        for allowed, is_open in zip(self._judgements, self._is_open, strict=True):
            allow = allowed[document]
            if allow == UNSAID and not is_open:
                return NOBODY
            found += allow
        return found

    def _readers(self, lists: Allow) -> tuple[str, ...]:
        if not lists:
            return (PUBLIC,)
        if lists not in self._known:
            named = {PUBLIC} | {name for names in lists for name in names}
            admitted = {
                name
                for name in named | self._policy.known_members()
                if all(not self._closure(name).isdisjoint(names) for names in lists)
            }
            is_for_all = PUBLIC in admitted
            self._known[lists] = (PUBLIC,) if is_for_all else self._without_members(admitted)
        return self._known[lists]

    def _without_members(self, admitted: set[str]) -> tuple[str, ...]:
        """Those who are in no other group that is admitted; of groups that hold each other the
        first one."""
        return tuple(
            sorted(
                name
                for name in admitted
                if all(
                    name in self._closure(group) and name < group
                    for group in (self._closure(name) & admitted) - {name}
                )
            )
        )

    def _closure(self, name: str) -> frozenset[str]:
        if name not in self._groups:
            self._groups[name] = self._policy.principals([name])
        return self._groups[name]

    def _members(self, group: str) -> tuple[str, ...]:
        return self._members_by_group.get(group, ())

    @cached_property
    def _members_by_group(self) -> Mapping[str, tuple[str, ...]]:
        found: dict[str, list[str]] = {}
        for name in sorted(self._policy.known_members()):
            for group in self._closure(name) - {name, PUBLIC}:
                found.setdefault(group, []).append(name)
        return {group: tuple(names) for group, names in found.items()}
