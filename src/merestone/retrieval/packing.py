"""Passages that fill a token budget and never exceed it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from merestone.retrieval.duplicates import SHORT
from merestone.retrieval.expansion import Expanded, Piece
from merestone.retrieval.layout import Composer, Layout
from merestone.retrieval.passages import Passages
from merestone.text.analysis import terms
from merestone.types import JSON, Chunk, Passage, RetrievalSettings, Tokenizer

_TRIES = 20
"""Refused pieces that are tried again with exact counts, where sums of parts said too much."""
_FULL = 24
"""Refusals one after another after which the budget counts as full."""


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of a piece that was offered."""

    piece: Piece
    outcome: str
    """``in``, ``within`` (a passage held it already), ``copy`` or ``out``."""
    reason: str


@dataclass
class Filling:
    """What became of the pieces that were offered."""

    taken: list[Taken] = field(default_factory=list)
    reasons: dict[str, str] = field(default_factory=dict)
    """By chunk id, why the best of its units is not in."""
    stopped: str = "its best part stands in a better candidate"
    """Why nothing more was offered."""

    def note(self, offered: Sequence[Taken]) -> None:
        """What became of the pieces that one unit was expanded to, the widest first."""
        self.taken += offered
        refused = [each for each in offered if each.outcome in ("out", "copy")]
        if refused:
            # Of a unit that came in bare: why no more of it did. Else why not even that did.
            told = refused[-1 if len(refused) == len(offered) else 0]
            self.refuse(told.piece, told.reason)

    def refuse(self, piece: Piece, reason: str) -> None:
        self.reasons.setdefault(piece.hit.chunk.id, reason)

    def rows(self) -> list[JSON]:
        return [
            {
                "document": each.piece.document,
                "start": each.piece.start,
                "end": each.piece.end,
                "expanded": each.piece.way,
                "score": round(each.piece.hit.score, 6),
                "outcome": each.outcome,
                "reason": each.reason,
            }
            for each in self.taken
        ]


class Packing:
    """Fills budgets with the units of one ranking. What does not depend on the budget is done
    once, as far as a budget asks for it."""

    def __init__(
        self,
        expanded: Expanded,
        passages: Passages,
        tokenizer: Tokenizer,
        settings: RetrievalSettings,
        *,
        cited: bool = True,
    ) -> None:
        """Budgets are counted by ``tokenizer``; without ``cited`` the text holds no citations."""
        self._expanded = expanded
        self._passages = passages
        self._settings = settings
        self._composer = Composer(passages, tokenizer, cited=cited)

    def pack(
        self, budget: int, *, precise: bool = False
    ) -> tuple[tuple[Passage, ...], str, int, Filling]:
        """Passages, text, its tokens, and what became of each piece."""
        packer = Packer(self._composer, budget)
        filling = self._fill(packer, precise)
        made, text, tokens, withdrawn = packer.finish()
        for piece in withdrawn:
            filling.refuse(piece, "the whole text was over the budget with it")
        return tuple(map(self._passages.linked, made)), text, tokens, filling

    def _fill(self, packer: Packer, precise: bool) -> Filling:
        """Offer what the units become to ``packer``, best first. Where an expanded range does not
        fit, the bare unit may."""
        filling = Filling()
        units = self._expanded.units
        best = units[0].score if units else 0.0
        share, most = self._settings.precise_share, self._settings.precise_passages
        for place, hit in enumerate(units):
            if precise and hit.score < share * best:
                filling.stopped = f"below {share:.2f} of the best score"
                break
            if packer.is_full:
                filling.stopped = "the budget is full"
                break
            offered: list[Taken] = []
            for piece in self._expanded.pieces(place):
                offered.append(packer.offer(piece, most if precise else None))
                if offered[-1].outcome != "out":
                    break
            filling.note(offered)
        return filling


class Packer:
    """Takes pieces in the order of their rank, as far as they fit.

    Counts of parts are summed on the way; the end is counted whole, and the last pieces give way
    should the sum have said too little.
    """

    def __init__(self, composer: Composer, budget: int) -> None:
        self._composer = composer
        self._budget = budget
        self._layout = composer.empty
        self._states: list[tuple[Piece, Layout]] = []
        """Each piece that was taken, and what was there before it."""
        self._refused: list[Piece] = []
        self._refusals = 0

    @property
    def is_full(self) -> bool:
        """True if nothing fitted for so long that nothing else is likely to."""
        return self._refusals >= _FULL

    def offer(self, piece: Piece, most: int | None = None) -> Taken:
        """Take ``piece`` in if the whole stays within the budget and ``most`` passages."""
        before = self._layout
        document, start, end = piece.document, piece.start, piece.end
        for number, each in enumerate(before.packed, 1):
            span = each.span
            if span.document == document and span.start <= start and end <= span.end:
                return Taken(piece, "within", f"part of passage {number}")
        copied = self._with_copy(piece)
        if copied is not None:
            return copied
        layout = self._composer.joined(before, piece)
        if most is not None and len(layout.packed) > max(most, len(before.packed)):
            return Taken(piece, "out", f"there are {most} passages already")
        if layout.tokens > self._budget:
            self._refusals += 1
            self._refused.append(piece)
            needed, left = layout.tokens - before.tokens, self._budget - before.tokens
            return Taken(piece, "out", self._lacking(piece, needed, left))
        self._refusals = 0
        self._states.append((piece, before))
        self._layout = layout
        return Taken(piece, "in", "")

    def _lacking(self, piece: Piece, needed: int, left: int) -> str:
        """Why ``piece`` does not fit, in words."""
        around = "" if piece.way == "unit" else " with what is around it"
        if needed > self._budget:
            room = f"more than the whole budget of {self._budget}"
        else:
            room = f"{max(0, left)} of the budget {'is' if left == 1 else 'are'} left"
        return f"its next part needs {needed} tokens{around}, {room}"

    def finish(self) -> tuple[tuple[Passage, ...], str, int, list[Piece]]:
        """The passages, the text, its tokens, and the pieces that had to give way again."""
        withdrawn: list[Piece] = []
        text, tokens = self._composer.whole(self._layout)
        while tokens > self._budget:
            piece, self._layout = self._states.pop()
            withdrawn.append(piece)
            text, tokens = self._composer.whole(self._layout)
        if not withdrawn and tokens < self._layout.tokens:
            text, tokens = self._retry(text, tokens)
        text, tokens = self._close(text, tokens)
        return self._composer.passages(self._layout), text, tokens, withdrawn

    def _retry(self, text: str, tokens: int) -> tuple[str, int]:
        for piece in self._refused[:_TRIES]:
            layout = self._composer.joined(self._layout, piece)
            tried, count = self._composer.whole(layout)
            if count <= self._budget:
                self._layout, text, tokens = layout, tried, count
        return text, tokens

    def _close(self, text: str, tokens: int) -> tuple[str, int]:
        """Leave off ends that announce what is not there."""
        layout = self._composer.closed(self._layout)
        if layout is self._layout:
            return text, tokens
        tried, count = self._composer.whole(layout)
        if count > self._budget:
            return text, tokens
        self._layout = layout
        return tried, count

    def _with_copy(self, piece: Piece) -> Taken | None:
        """The answer to a bare unit whose very words a passage holds as a unit: that passage
        names it. Few words may be the same and mean something else."""
        if piece.way != "unit":
            return None
        text = self._composer.text(piece)
        for at, packed in enumerate(self._layout.packed):
            if text in packed.sayings and not _is_short(text):
                self._layout = self._composer.named(self._layout, at, piece)
                return Taken(piece, "copy", f"passage {at + 1} says the same")
        return None


def _is_short(text: str) -> bool:
    """True if two places may hold the text by chance."""
    return len(terms(text)) < SHORT


def fully_held(chunk: Chunk, passages: Iterable[Passage]) -> bool | None:
    """True if a passage holds all of ``chunk``, False if a part of it, ``None`` if nothing."""
    found = None
    for passage in passages:
        if passage.document == chunk.document and (
            passage.start < chunk.end and chunk.start < passage.end
        ):
            if passage.start <= chunk.start and chunk.end <= passage.end:
                return True
            found = False
    return found
