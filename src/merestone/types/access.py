"""Who may read what.

A principal is a person or a group by name (``user:bob``, ``group:hr``), or ``public``, which is
everyone. What a document allows is judged in the store, before anything is ranked; see
:meth:`merestone.types.store.Store.snapshot`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol, TypeAlias

from merestone.types.document import JSON

PUBLIC: Final = "public"
"""The principal that every asker is."""

Allow: TypeAlias = tuple[tuple[str, ...], ...]
"""Lists of principals, each of which must name the asker. ``()``: nothing says who may read;
``((),)``: nobody may."""

UNSAID: Final[Allow] = ()
"""Nothing says who may read: everyone, until anything is said of any document; then nobody."""
NOBODY: Final[Allow] = ((),)

METADATA_KEY: Final = "access"
"""The key of a document's metadata (front matter, a column of a row) that says who may read."""


@dataclass(frozen=True, slots=True)
class AccessRule:
    """Who may read the documents that a pattern names. Of several that match the last decides."""

    allow: tuple[str, ...]
    """Principals; empty: nobody."""
    paths: tuple[str, ...] = ()
    """Patterns with git's rules, for the path inside the source; empty: every document."""
    source: str | None = None
    """Only documents of the source of this name; ``None``: of all."""


@dataclass(frozen=True, slots=True)
class AccessSettings:
    """Groups, rules and the external file, as the configuration has them at this moment."""

    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Name without ``group:`` → principals; a group may be a member of another."""
    rules: tuple[AccessRule, ...] = ()
    file: str | None = None
    """Absolute path of a file that says who may read which document."""
    stated_in: str = ""
    """Where the rules are written, such as the path of a configuration; empty: not known."""


@dataclass(frozen=True, slots=True)
class AccessStatement:
    """What one place says of who may read a document."""

    where: str
    """In words: which rule of which file."""
    allow: tuple[str, ...]
    """Principals; empty: nobody."""

    def to_json(self) -> dict[str, JSON]:
        return {"where": self.where, "allow": list(self.allow)}


@dataclass(frozen=True, slots=True)
class DocumentAccess:
    """Who may read a document at this moment, besides the owner, and what says so."""

    document: str
    readers: tuple[str, ...]
    """``("public",)``: everyone. Empty: nobody. Who is in a group that is named is not repeated."""
    members: Mapping[str, tuple[str, ...]]
    """Group among the readers → who is in it by today's membership, directly or not."""
    statements: tuple[AccessStatement, ...]
    """Each of them must allow. Empty: nothing names the document."""
    is_unnamed: bool = False
    """True if the document is closed because nothing names it."""
    is_waiting: bool = False
    """True if today's rules say something else than was synced: until the next sync both must
    allow."""

    def to_json(self) -> dict[str, JSON]:
        return {
            "document": self.document,
            "readers": list(self.readers),
            "members": {group: list(names) for group, names in self.members.items()},
            "statements": [statement.to_json() for statement in self.statements],
            "unnamed": self.is_unnamed,
            "waiting": self.is_waiting,
        }


class AccessPolicy(Protocol):
    """Today's rules and groups."""

    @property
    def fingerprint(self) -> str:
        """Changes when :meth:`allow` could answer differently. Members of groups are not in it."""

    @property
    def has_rules(self) -> bool:
        """True if there is a rule or an external file: then a document that neither names is
        closed."""

    def allow(self, document: str, metadata: Mapping[str, JSON]) -> Allow:
        """Who may read ``document``, by its id and its metadata."""

    def statements(
        self, document: str, metadata: Mapping[str, JSON]
    ) -> tuple[AccessStatement, ...]:
        """What :meth:`allow` is made of, and where it is written; empty: nothing names it."""

    def idle_rules(self, documents: Collection[str]) -> list[str]:
        """The rules that match none of ``documents``, in words."""

    def idle_keys(self, documents: Collection[str]) -> list[str]:
        """The keys of the external file that name none of ``documents``."""

    def principals(self, given: Iterable[str]) -> frozenset[str]:
        """``given``, the groups that they are in by today's membership, and ``public``."""


@dataclass(frozen=True, slots=True)
class Owner:
    """Reads everything."""


OWNER: Final = Owner()


@dataclass(frozen=True, slots=True)
class Asker:
    """Reads what its principals may read, by the rules that are stored and by today's."""

    policy: AccessPolicy
    principals: frozenset[str]
    """As :meth:`AccessPolicy.principals` gives them."""

    def is_admitted(self, allow: Allow) -> bool:
        """True if every list of ``allow`` names this asker. ``()`` is not judged here: whether it
        is open depends on what is said of other documents."""
        return all(not self.principals.isdisjoint(names) for names in allow)


Reader: TypeAlias = Owner | Asker
