"""Random edits of a text by which it is known where each code point of it went."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

_PARAGRAPH = re.compile(r"\S[\s\S]*?(?=\n[ \t]*\n|\Z)")
_SENTENCE = re.compile(r"[^\s.!?][^.!?\n]*[.!?]")
_PASSAGES = (
    _PARAGRAPH,
    _SENTENCE,
    re.compile(r"\w+(?:\W+\w+){2,9}"),
    re.compile(r"\w+\W+\w+"),
)
_WORDS = "valve pump seal the operator pressure is gauge of bolt and torque 40 never".split()


class Piece(NamedTuple):
    """A stretch of the new text; ``origin`` is where it stood in the old one, if it did, and
    ``copied`` what it is a copy of."""

    text: str
    origin: int | None
    copied: int | None = None


@dataclass
class Edited:
    """A text that is being edited."""

    old: str
    chance: random.Random
    pieces: list[Piece] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.pieces = [Piece(self.old, 0)]

    @property
    def text(self) -> str:
        return "".join(piece.text for piece in self.pieces)

    def take(self, start: int, end: int) -> list[Piece]:
        """Cut a range of the present text out."""
        before, rest = _split(self.pieces, start)
        taken, after = _split(rest, end - start)
        self.pieces = before + after
        return taken

    def put(self, at: int, pieces: list[Piece]) -> None:
        """Put pieces into the present text."""
        before, after = _split(self.pieces, at)
        self.pieces = before + pieces + after

    def copy(self, start: int, end: int) -> list[Piece]:
        """Copies of a range of the present text."""
        taken = self.take(start, end)
        self.put(start, taken)
        return [Piece(piece.text, None, piece.origin) for piece in taken]

    def write(self, at: int, text: str) -> None:
        self.put(at, [Piece(text, None)])

    def places(self, start: int, end: int) -> list[tuple[int, int, int]]:
        """(new start, old start, length) of what is left of a range of the old text."""
        found = []
        at = 0
        for text, origin, _ in self.pieces:
            if origin is not None:
                low, high = max(origin, start), min(origin + len(text), end)
                if low < high:
                    new = at + low - origin
                    if (
                        found
                        and found[-1][0] + found[-1][2] == new
                        and (found[-1][1] + found[-1][2] == low)
                    ):
                        last = found.pop()
                        found.append((last[0], last[1], last[2] + high - low))
                    else:
                        found.append((new, low, high - low))
            at += len(text)
        return found

    def paragraph(self) -> tuple[int, int]:
        """A paragraph of the present text with the blank line behind it."""
        return self.choose(_PARAGRAPH)

    def choose(self, pattern: re.Pattern[str]) -> tuple[int, int]:
        text = self.text
        found = [match.span() for match in pattern.finditer(text)]
        return self.chance.choice(found) if found else (0, len(text))


def _split(pieces: list[Piece], at: int) -> tuple[list[Piece], list[Piece]]:
    before: list[Piece] = []
    for index, piece in enumerate(pieces):
        if len(piece.text) > at:
            text, origin, copied = piece
            tail = Piece(
                text[at:],
                None if origin is None else origin + at,
                None if copied is None else copied + at,
            )
            head = [piece._replace(text=text[:at])] if at else []
            return before + head, [tail, *pieces[index + 1 :]]
        before.append(piece)
        at -= len(piece.text)
    return before, []


def words(chance: random.Random, low: int, high: int) -> str:
    return " ".join(chance.choice(_WORDS) for _ in range(chance.randint(low, high)))


def insert_paragraph(edited: Edited) -> None:
    edited.write(edited.paragraph()[0], words(edited.chance, 5, 30) + ".\n\n")


def delete_paragraph(edited: Edited) -> None:
    start, end = edited.paragraph()
    edited.take(start, end + 2)


def replace_paragraph(edited: Edited) -> None:
    start, end = edited.paragraph()
    edited.take(start, end)
    edited.write(start, words(edited.chance, 5, 30) + ".")


def move_paragraph(edited: Edited) -> None:
    start, end = edited.paragraph()
    taken = edited.take(start, end)
    edited.take(start, start + 2)
    edited.put(edited.paragraph()[0], [*taken, Piece("\n\n", None)])


def copy_paragraph(edited: Edited) -> None:
    start, end = edited.paragraph()
    copied = edited.copy(start, end)
    edited.put(edited.paragraph()[0], [*copied, Piece("\n\n", None)])


def change_words(edited: Edited) -> None:
    start, end = edited.choose(re.compile(r"\w+"))
    kind = edited.chance.randrange(3)
    if kind:
        edited.take(start, end)
    if kind != 1:
        edited.write(start, words(edited.chance, 1, 3) + ("" if kind else " "))


def delete_sentence(edited: Edited) -> None:
    start, end = edited.choose(_SENTENCE)
    edited.take(start, end)


def move_sentence(edited: Edited) -> None:
    start, end = edited.choose(_SENTENCE)
    taken = edited.take(start, end)
    edited.put(edited.choose(_SENTENCE)[0], [*taken, Piece(" ", None)])


ANYWHERE: tuple[Callable[[Edited], None], ...] = (
    insert_paragraph,
    delete_paragraph,
    replace_paragraph,
    move_paragraph,
    copy_paragraph,
    change_words,
    change_words,
    delete_sentence,
    move_sentence,
)


class Trial(NamedTuple):
    """A passage of a text that was edited."""

    start: int
    end: int
    edited: Edited

    @property
    def quote(self) -> str:
        return self.edited.old[self.start : self.end]

    @property
    def prefix(self) -> str:
        return self.edited.old[max(0, self.start - 32) : self.start]

    @property
    def suffix(self) -> str:
        return self.edited.old[self.end : self.end + 32]

    def truth(self) -> tuple[int, int] | None:
        """Where the passage is now, if nothing in it was touched."""
        places = self.edited.places(self.start, self.end)
        if len(places) == 1 and places[0][2] == self.end - self.start:
            return places[0][0], places[0][0] + places[0][2]
        return None

    def left(self) -> float:
        """Share of the passage that is left."""
        places = self.edited.places(self.start, self.end)
        return sum(length for *_, length in places) / (self.end - self.start)


def trial(text: str, chance: random.Random, *, twins: bool) -> Trial:
    """Choose a passage, with ``twins`` one that often has an equal one or is only a few words, and
    edit it and what is around it."""
    if twins and chance.random() < 0.4:
        edited = Edited(text, chance)
        copy_paragraph(edited)
        text = edited.text
        (twin,) = [piece.text for piece in edited.pieces if piece.copied is not None]
        places = [match.start() for match in re.finditer(re.escape(twin.strip()), text)]
        start = chance.choice(places)
        around = (start, start + len(twin.strip()))
    else:
        found = [match.span() for match in _PARAGRAPH.finditer(text)]
        around = chance.choice([(low, high) for low, high in found if twins or high - low >= 20])
    inner = text[slice(*around)]
    pattern = chance.choice(_PASSAGES if twins else _PASSAGES[:2])
    found = [match.span() for match in pattern.finditer(inner)]
    if not twins:
        # What someone would cite: not a mark such as `</table>`.
        found = [(low, high) for low, high in found if high - low >= 20]
    low, high = chance.choice(found or [(0, len(inner))])
    start, end = around[0] + low, around[0] + high
    edited = Edited(text, chance)
    for _ in range(chance.randint(0, 3)):
        chance.choice(ANYWHERE)(edited)
    if chance.random() < 0.7:
        _edit_at(edited, chance.choice(edited.places(start, end) or [(0, 0, 0)])[0], chance)
    for _ in range(chance.randint(0, 3)):
        chance.choice(ANYWHERE)(edited)
    return Trial(start, end, edited)


def _edit_at(edited: Edited, at: int, chance: random.Random) -> None:
    """Edit the paragraph at a place, or right beside it."""
    text = edited.text
    spans = [match.span() for match in _PARAGRAPH.finditer(text)]
    start, end = next(((a, b) for a, b in spans if a <= at < b), (0, 0))
    if start == end:
        return
    match chance.randrange(8):
        case 0:
            edited.take(start, end + 2)
        case 1:
            taken = edited.take(start, end)
            edited.put(edited.paragraph()[0], [*taken, Piece("\n\n", None)])
        case 2:
            copied = edited.copy(start, end)
            edited.put(edited.paragraph()[0], [*copied, Piece("\n\n", None)])
        case 3:
            edited.take(start, end)
            edited.write(start, words(chance, 5, 30) + ".")
        case 4:
            place = chance.randint(start, end)
            edited.write(place, words(chance, 1, 3))
        case 5:
            place = chance.randint(start, end)
            edited.take(place, place + chance.randint(1, 30))
        case 6:
            edited.write(start, words(chance, 5, 30) + ".\n\n")
        case _:
            edited.write(end, " " + words(chance, 5, 30) + ".")


def is_as_good(trial: Trial, place: int) -> bool:
    """True if the text itself speaks at least as much for ``place`` as for where the passage
    really went. A deletion beside an equal passage, a copy put where the passage was deleted, a
    copy of which the original was deleted: nobody could tell."""
    old, new = trial.edited.old, trial.edited.text
    own = _reach(old, trial.start, new, place)
    truth = trial.truth()
    if truth:
        other = _reach(old, trial.start, new, truth[0])
        twins = [match.start() for match in re.finditer(f"(?={re.escape(trial.quote)})", old)]
        rivals = [_reach(old, twin, new, truth[0]) for twin in twins if twin != trial.start]
        return _is_beyond(own, other) or any(_is_beyond(rival, other) for rival in rivals)
    at = place
    for piece in trial.edited.pieces:
        if at < len(piece.text):
            break
        at -= len(piece.text)
    if piece.origin is not None:
        other = _reach(old, piece.origin + at, new, place)
        return _is_beyond(own, other)
    is_copy = own[0] >= at and own[1] >= len(piece.text) - at
    is_restored = own[0] >= at + 8 or own[1] >= len(piece.text) - at + 8
    return is_restored or (is_copy and piece.copied is not None)


def is_ambiguous(trial: Trial) -> bool:
    """True if at another place, too, stands the passage with more of what was on one side of it:
    beside a copy of itself, it could be either."""
    truth, new = trial.truth(), trial.edited.text
    if truth is None:
        return False
    own = _reach(trial.edited.old, trial.start, new, truth[0])
    for match in re.finditer(f"(?={re.escape(trial.quote)})", new):
        other = _reach(trial.edited.old, trial.start, new, match.start())
        if match.start() != truth[0] and (other[0] > own[0] or other[1] > own[1]):
            return True
    return False


def _is_beyond(one: tuple[int, int], other: tuple[int, int]) -> bool:
    # A few code points, such as a full stop and a blank line, say nothing.
    return one[0] + 4 >= other[0] and one[1] + 4 >= other[1]


def _reach(old: str, at: int, new: str, there: int) -> tuple[int, int]:
    """How far the texts are equal before and behind two places."""
    back = 0
    while min(at, there) > back and old[at - back - 1] == new[there - back - 1]:
        back += 1
    ahead = 0
    while (
        max(at - len(old), there - len(new)) + ahead < 0 and old[at + ahead] == new[there + ahead]
    ):
        ahead += 1
    return back, ahead
