"""Which documents a run closes to everyone but the owner because nothing names them, in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from merestone.types import CONFIG_FILE, PUBLIC, UNSAID, AccessPolicy, Allow, DocumentRecord

_OPENING = (
    f'`[[access.rules]]` with `allow = ["{PUBLIC}"]` in {CONFIG_FILE}, as the first rule, opens '
    "whatever nothing else closes."
)


IDLE = (
    "Paths are those inside the source, as `merestone status --documents` lists them; a rule that "
    "matches nothing protects nothing."
)


@dataclass(slots=True)
class AccessTally:
    """Who may read the documents that a run is about, before and after it."""

    before: Mapping[str, Allow] = field(default_factory=dict)
    after: dict[str, Allow] = field(default_factory=dict)
    """Grows as documents are judged."""
    is_anything_said: bool = False
    """Before the run, of any document."""
    elsewhere: int = 0
    """Documents that the run does not look at."""
    said_elsewhere: int = 0
    """Those of them of which something is said."""

    def judge(self, record: DocumentRecord) -> None:
        """Take down who may read a document from now on."""
        if record.version:
            self.after[record.id] = record.access

    def drop(self, document: str) -> None:
        """Take down that a document is gone."""
        self.after.pop(document, None)

    def was_closed(self, document: str) -> bool:
        """True if nobody but the owner could read it."""
        allow = self.before.get(document)
        if allow is None:
            return False
        return self.is_anything_said if allow == UNSAID else () in allow


def closed_notes(tally: AccessTally, policy: AccessPolicy) -> list[str]:
    """What a person must know if documents that could be read, or are new, are closed from now on
    because nothing names them."""
    saying = sorted(document for document, allow in tally.after.items() if allow)
    if not (policy.has_rules or saying or tally.said_elsewhere):
        return []
    closed = [
        document
        for document, allow in tally.after.items()
        if not tally.was_closed(document) and _is_unnamed(document, allow, policy)
    ]
    is_first_word = not tally.is_anything_said
    rest = tally.elsewhere if is_first_word else 0
    if policy.has_rules:
        notes = [_told(closed, len(closed), "no rule of access names", tally)] if closed else []
        if rest:
            notes.append(
                f"{_documents(rest)} that this run did not look at {_are(rest)} closed to everyone "
                "but the owner until a sync of everything judges by the rules."
            )
        return notes
    count = len(closed) + rest
    if not count:
        return []
    if is_first_word and saying:
        others = f" and {len(saying) - 1:,} more say" if len(saying) > 1 else " says"
        reason = f"{saying[0]}{others} who may read it and no rule names"
    else:
        reason = "others say who may read them and nothing names"
    return [_told(closed, count, reason, tally)]


def idle_notes(tally: AccessTally, policy: AccessPolicy) -> list[str]:
    """That rules match no document: whoever wrote them means to protect some."""
    documents = tally.after
    if not documents or tally.elsewhere:
        return []
    notes = [f"{told_idle(rule)} {IDLE}" for rule in policy.idle_rules(documents)]
    keys = policy.idle_keys(documents)
    if keys:
        which = "1 key" if len(keys) == 1 else f"{len(keys):,} keys"
        notes.append(
            f"{which} of the file of access rules {'names' if len(keys) == 1 else 'name'} no "
            f"document, such as {keys[0]!r}."
        )
    return notes


def told_idle(rule: str) -> str:
    """A rule, as the policy names it, that matches nothing."""
    return f"{rule[0].upper()}{rule[1:]} matches no document."


def _is_unnamed(document: str, allow: Allow, policy: AccessPolicy) -> bool:
    if allow == UNSAID:
        return True
    # A document that no rule names is closed whatever it says itself.
    return policy.has_rules and not policy.statements(document, {})


def _told(closed: list[str], count: int, reason: str, tally: AccessTally) -> str:
    is_news = count > len(closed) or any(document in tally.before for document in closed)
    subject = closed[0] if len(closed) == count == 1 else _documents(count)
    since = " from now on" if is_news else ""
    it = "it" if count == 1 else "them"
    return (
        f"{subject} {_are(count)} closed{since} to everyone but the owner, since {reason} {it}. "
        f"If that is not meant: {_OPENING}"
    )


def _documents(count: int) -> str:
    return "1 document" if count == 1 else f"{count:,} documents"


def _are(count: int) -> str:
    return "is" if count == 1 else "are"
