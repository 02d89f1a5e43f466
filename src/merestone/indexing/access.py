"""Today's rules: who may read a document, and which groups an asker is in."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from merestone.indexing.access_file import FileState, read_access_file
from merestone.indexing.access_patterns import Pattern, Place, compiled, place_of
from merestone.indexing.principals import (
    GROUP,
    closure,
    is_name,
    is_principal,
    memberships,
    stated_principals,
)
from merestone.text.hashing import canonical_json, digest
from merestone.types import (
    JSON,
    METADATA_KEY,
    NOBODY,
    AccessRule,
    AccessSettings,
    AccessStatement,
    Allow,
    Finding,
    SettingsError,
    SourceSettings,
)

_REVISION = "1"
"""Raised when the same rules come to mean something else."""

_OWN_WORD = f"`{METADATA_KEY}` in its front matter or row"
_Rules = tuple[tuple[Pattern, AccessStatement], ...]


@dataclass(frozen=True, slots=True)
class Policy:
    """An :class:`~merestone.types.access.AccessPolicy` of rules, external file and metadata."""

    fingerprint: str
    has_rules: bool
    finding: Finding | None
    """What is wrong with the external file, if anything is."""
    _sources: tuple[str, ...]
    _rules: _Rules
    """Last first."""
    _file: FileState | None
    _path: str
    """Of the external file."""
    _memberships: tuple[Mapping[str, Sequence[str]], ...]

    def allow(self, document: str, metadata: Mapping[str, JSON]) -> Allow:
        """Who may read ``document``: one list for each kind of rule that names it."""
        found = self.statements(document, metadata)
        if not found and self.has_rules:
            return NOBODY
        return tuple(statement.allow for statement in found)

    def statements(
        self, document: str, metadata: Mapping[str, JSON]
    ) -> tuple[AccessStatement, ...]:
        """What :meth:`allow` is made of, and where it is written; empty: nothing names it."""
        found: list[AccessStatement] = []
        if self.has_rules:
            if self._file is not None and self._file.taken is None:
                return (AccessStatement(f"{self._path}, which never was complete", ()),)
            place = place_of(document, self._sources)
            found = list(self._stated(place)) if place else []
            if not found:
                return ()
        if METADATA_KEY in metadata:
            names = stated_principals(metadata[METADATA_KEY]) or ()
            found.append(AccessStatement(_OWN_WORD, names))
        return tuple(found)

    def _stated(self, place: Place) -> Iterable[AccessStatement]:
        for pattern, statement in self._rules:
            if pattern.matches(place):
                yield statement
                break
        if self._file is not None and self._file.taken is not None:
            listed = self._file.taken.stated(place)
            if listed is not None:
                key, names = listed
                yield AccessStatement(f"documents[{key!r}] in {self._path}", names)

    def idle_rules(self, documents: Collection[str]) -> list[str]:
        """The rules that match none of ``documents``, in words."""
        places = self._places(documents)
        return [
            statement.where
            for pattern, statement in reversed(self._rules)
            if not any(pattern.matches(place) for place in places)
        ]

    def idle_keys(self, documents: Collection[str]) -> list[str]:
        """The keys of the external file that name none of ``documents``."""
        if self._file is None or self._file.taken is None:
            return []
        return self._file.taken.idle(self._places(documents))

    def _places(self, documents: Iterable[str]) -> list[Place]:
        return [place for each in documents if (place := place_of(each, self._sources))]

    def known_members(self) -> frozenset[str]:
        """Everyone who is a member of a group."""
        return frozenset(name for table in self._memberships for name in table)

    def principals(self, given: Iterable[str]) -> frozenset[str]:
        """``given``, the groups that they are in by today's membership, and ``public``.

        Raises ``SettingsError`` for what is no principal; one that is unknown is as good as none.
        """
        names = [given] if isinstance(given, str) else list(given)
        for name in names:
            _check_principal(name, "The asker")
        return closure(names, self._memberships)


def open_policy(
    settings: AccessSettings, sources: Iterable[SourceSettings], state: str | Path
) -> Policy:
    """The policy of this moment. ``state`` is the folder that keeps the last complete file.

    Raises ``SettingsError`` for principals, groups, sources or patterns that can't be.
    """
    names = tuple(source.name for source in sources)
    rules = _compiled_rules(settings.rules, names, settings.stated_in)
    _check_groups(settings.groups)
    file = read_access_file(settings.file, Path(state), names) if settings.file else None
    tables: list[Mapping[str, Sequence[str]]] = [memberships(settings.groups)]
    if file is not None and file.taken is not None:
        tables.append(file.taken.memberships)
    return Policy(
        fingerprint=_fingerprint(settings.rules, names, file),
        has_rules=bool(rules) or file is not None,
        finding=file.finding if file else None,
        _sources=names,
        _rules=rules,
        _file=file,
        _path=settings.file or "",
        _memberships=tuple(tables),
    )


def _fingerprint(
    rules: tuple[AccessRule, ...], sources: tuple[str, ...], file: FileState | None
) -> str:
    listed = "" if file is None else file.taken.fingerprint if file.taken else "none"
    if not rules and not listed:
        # Without rules the sources' names mean nothing.
        return digest(_REVISION)
    stated = [[list(rule.paths), rule.source, list(rule.allow)] for rule in rules]
    return digest(_REVISION, canonical_json([stated, list(sources)]), listed)


@lru_cache(maxsize=16)
def _compiled_rules(
    rules: tuple[AccessRule, ...], sources: tuple[str, ...], stated_in: str
) -> _Rules:
    """Patterns and what the rules say, last first."""
    return tuple(
        _compiled_rule(number, rules[number], sources, stated_in)
        for number in reversed(range(len(rules)))
    )


def _compiled_rule(
    number: int, rule: AccessRule, sources: tuple[str, ...], stated_in: str
) -> tuple[Pattern, AccessStatement]:
    where = f"access.rules[{number}]"
    for name in rule.allow:
        _check_principal(name, f"{where}.allow")
    if rule.source is not None and rule.source not in sources:
        raise SettingsError(
            "unknown-source",
            f"{where} is for the source {rule.source!r}, which there is not.",
            f"Name one of {', '.join(map(repr, sources))}, or leave `source` out.",
        )
    try:
        spec = compiled(rule.paths) if rule.paths else None
    except ValueError as error:
        raise SettingsError(
            "invalid-pattern",
            f"{where}.paths holds a pattern that cannot be: {error}.",
            "Mend it; a rule that never matches would protect nothing.",
        ) from error
    return Pattern(spec, rule.source), AccessStatement(_told(number, rule, stated_in), rule.allow)


def _told(number: int, rule: AccessRule, stated_in: str) -> str:
    """A rule by its place in its file, and what it is for."""
    parts = [f"paths {', '.join(rule.paths)}"] if rule.paths else []
    parts += [f"source {rule.source}"] if rule.source is not None else []
    where = stated_in or "the settings"
    return f"rule {number + 1} of access.rules in {where} ({'; '.join(parts) or 'every document'})"


def _check_groups(groups: Mapping[str, Sequence[str]]) -> None:
    for name, members in groups.items():
        if not is_name(name) or name.startswith(GROUP):
            raise SettingsError(
                "invalid-principal",
                f"access.groups has {name!r}, which is no name of a group.",
                f"Give the name alone, such as hr; as a principal it is {GROUP}hr.",
            )
        for member in members:
            _check_principal(member, f"access.groups.{name}")


def _check_principal(value: object, where: str) -> None:
    if not is_principal(value):
        raise SettingsError(
            "invalid-principal",
            f"{where} has {value!r}, which is no principal.",
            'Write "public" or kind:name, such as user:bob or group:hr.',
        )
