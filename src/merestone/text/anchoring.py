"""Finding a passage again in a newer text: the same, moved, changed or gone.

A passage is named by its place in an older text, or by its own text with a little of what stood
around it: the text-position and text-quote selectors of the W3C Web Annotation Data Model (2017),
section 4.2. Where an edit map is known it is followed; what it leaves open is decided by the text
around, and what that leaves open is never decided.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, islice
from typing import NamedTuple

from merestone.text.alignment import align_texts
from merestone.text.white_space import stripped
from merestone.types import ChunkOutcome, SharedRun

_AROUND = 32
"""Code points of text around a passage that tell it from an equal one."""
_FIRM = 8
"""So many code points of a run on both sides of a passage hold it in its place."""
_TELLING = 16
"""So many code points in both texts, at edited places, are no accident."""
_LONG = 40
"""So many code points are found again only if they are the same."""
_LEAD = 0.25
"""So much better the text around has to fit, of 1 a side, than that around an equal passage."""
_MOST_TWINS = 1000
_MOST_RIVALS = 8
_WIDEST = 4096
_RUN_SHARE = 64
"""Code points of text for each run that is kept."""


class Anchoring(NamedTuple):
    """What became of a passage.

    ``same`` and ``moved`` say that its very text stands at the range, and that no other place
    could be meant. ``changed`` gives the range that took its place, or the likeliest of several
    that could be meant: someone should look. ``gone`` has no range.
    """

    outcome: ChunkOutcome
    start: int | None = None
    end: int | None = None
    score: float = 0.0
    """Share of the passage's code points that are at the range."""


_GONE = Anchoring("gone")


class _Range(NamedTuple):
    start: int
    end: int


def edits_between(old: str, new: str) -> tuple[SharedRun, ...]:
    """The edit map between two versions of a text, ascending in the old one, for :func:`anchor`.

    Every run is as long as the texts allow, up to 4,096 code points past what was aligned. So
    runs overlap where a deletion or an insertion could as well lie elsewhere, and further runs
    pair passages that occur several times in what was edited: a passage that lies wholly in two
    runs could have gone to, or come from, either.
    """
    if old == new:
        return (SharedRun(0, 0, len(old)),) if old else ()
    aligned = align_texts(old, new)
    runs = [_widened(old, new, run) for run in aligned]
    runs += _twins(old, new, aligned)
    runs += [_widened(old, new, run) for run in _repeated_lines(old, new, aligned)]
    return _kept(runs, len(old) + len(new))


def composed(first: Iterable[SharedRun], second: Sequence[SharedRun]) -> list[SharedRun]:
    """The edit map over two steps, ascending in the oldest text."""
    following = _Ranges((run.old, run.old + run.length, run) for run in second)
    found = set()
    for run in first:
        for other in following.overlapping(run.new, _new_end(run)):
            low = max(run.new, other.old)
            high = min(_new_end(run), other.old + other.length)
            if low < high:
                found.add(
                    SharedRun(run.old + low - run.new, other.new + low - other.old, high - low)
                )
    return sorted(found)


def anchor(
    quote: str | None,
    prefix: str,
    suffix: str,
    old_span: tuple[int, int] | None,
    new_text: str,
    edits: Sequence[SharedRun] | None = None,
) -> Anchoring:
    """Where the passage is in ``new_text`` that was ``quote`` between ``prefix`` and ``suffix``.

    ``old_span`` is its range in the older text and ``edits`` the map from there, as
    :func:`edits_between` and :func:`composed` give it; without them the quote has to be found by
    what stood around it. ``quote`` is ``None`` where the older text is not known any more; then
    span and edits are needed. Without a map, of passages whose surroundings are repeated with them
    one may be taken for another that is gone.
    """
    search = _Search(quote, prefix, suffix, old_span, new_text)
    if old_span is None or edits is None or (quote is not None and _length(old_span) != len(quote)):
        return search.by_text()
    return search.by_edits(edits)


class _Search:
    """One passage that is looked for in one text."""

    def __init__(
        self,
        quote: str | None,
        prefix: str,
        suffix: str,
        old_span: tuple[int, int] | None,
        text: str,
    ) -> None:
        self._quote = quote
        self._prefix, self._suffix = prefix, suffix
        self._span = _Range(*old_span) if old_span else None
        self._text = text

    def by_edits(self, edits: Sequence[SharedRun]) -> Anchoring:
        """Follow the edit map."""
        assert self._span is not None
        covering = [run for run in edits if _holds(run, self._span)]
        if not covering:
            return self._by_parts(edits, self._span)
        images = sorted({run.new + self._span.start - run.old for run in covering})
        at = images[0]
        found = self._text[at : at + _length(self._span)]
        if self._quote is not None and found != self._quote:
            # The map is of another text than the quote.
            return self.by_text()
        self._quote = found
        run = max(covering, key=lambda run: run.length)
        claims = _Claims(edits, self._span, self._text)
        if len(images) > 1 or claims.is_claimed(at, len(found)):
            # Several places could be meant, or several passages could have come to this one.
            return self._to_be_seen(max(images, key=self._fit))
        if self._is_torn(edits, run):
            return self._to_be_seen(at)
        others = [place for place in self._occurrences() if place != at]
        if claims.is_firm(run, at, len(found)) and not any(
            self._is_like(run, at, place)
            for place in others
            if not claims.is_claimed(place, len(found))
        ):
            return self._at(at)
        if not self._prefix and not self._suffix:
            self._prefix = self._text[max(run.new, at - _AROUND) : at]
            self._suffix = self._text[at + len(found) : _new_end(run)][:_AROUND]
        is_long = run.length >= min(_TELLING, len(self._text))
        if (is_long and not others) or self._is_alone(at, others, claims):
            return self._at(at)
        return self._to_be_seen(at)

    def _is_torn(self, edits: Sequence[SharedRun], run: SharedRun) -> bool:
        """True if much of what ``run`` says went to one place could as well be at another."""
        span = _Range(run.old, run.old + run.length)
        rest = [other for other in edits if other.old - other.new != run.old - run.new]
        parts = _parts(rest, span)
        if 3 * sum(part.length for part in parts) > run.length:
            return True
        # What took its place may be what is left of it, and this only a copy.
        place = self._between([other for other in edits if other != run], span)
        if place is None or _overlap(_Range(*place), _Range(run.new, _new_end(run))):
            return False
        text = self._text[run.new : _new_end(run)]
        left = align_texts(text, self._text[slice(*place)])
        return 3 * sum(part.length for part in left) > run.length

    def _is_like(self, run: SharedRun, at: int, place: int) -> bool:
        """True if nothing in ``run`` tells the passage ``at`` from the equal one at ``place``."""
        back, ahead = at - run.new, _new_end(run) - at
        return (
            _common_back(self._text, at, self._text, place, back + 1) > back - _FIRM
            and _common_ahead(self._text, at, self._text, place, ahead + 1) > ahead - _FIRM
        )

    def by_text(self) -> Anchoring:
        """Find the quote by what stood around it."""
        if not self._quote or not self._quote.strip():
            return _GONE
        places = self._occurrences()
        if not places:
            return self._by_likeness()
        fits = sorted((self._fit(place), -place) for place in places)
        best, place = fits[-1][0], -fits[-1][1]
        second = fits[-2][0] if len(fits) > 1 else 0.0
        # Both sides, since a passage that has an equal one often has it under an equal line.
        if min(self._fits(place)) >= 0.5 and best - second >= _LEAD:
            return self._at(place)
        return self._to_be_seen(place)

    def _by_likeness(self) -> Anchoring:
        """The range that the quote became, if it can be told; never more than likely."""
        assert self._quote is not None
        known = self._prefix + self._quote + self._suffix
        span = _Range(len(self._prefix), len(self._prefix) + len(self._quote))
        edits = edits_between(known, self._text)
        return self._replaced([run for run in edits if run.length >= _TELLING], span)

    def _by_parts(self, edits: Sequence[SharedRun], span: _Range) -> Anchoring:
        """The passage is in no run as a whole."""
        found = self._replaced(edits, span)
        if self._quote is None or not self._quote.strip():
            return found
        claims = _Claims(edits, span, self._text)
        places = self._occurrences()
        free = [place for place in places if not claims.is_claimed(place, len(self._quote))]
        if len(free) == 1:
            is_near = found.start is not None and _overlap(
                _Range(found.start, found.end or 0), _Range(free[0], free[0] + len(self._quote))
            )
            is_told = len(self._quote) >= _LONG or max(self._fits(free[0])) >= 0.5
            if is_told and (is_near or len(places) == 1):
                return self._at(free[0])
        if free:
            return self._to_be_seen(max(free, key=self._fit))
        if found.outcome == "gone":
            # A passage that was moved and edited is in no run.
            like = self._by_likeness()
            if like.start is not None and like.end is not None and like.score >= 0.5:
                is_known = claims.is_claimed(like.start, like.end - like.start)
                return found if is_known else like
        return found

    def _is_alone(self, at: int, others: Iterable[int], claims: _Claims) -> bool:
        """True if the text around says which of equal passages is meant."""
        assert self._quote is not None
        own = self._fit(at)
        rivals = (
            self._fit(place)
            for place in others
            if not claims.is_claimed_firmly(place, len(self._quote))
        )
        return max(self._fits(at)) >= 0.5 and all(own - fit >= _LEAD for fit in rivals)

    def _replaced(self, edits: Sequence[SharedRun], span: _Range) -> Anchoring:
        """The range that took the place of a passage of which no or not every part is left."""
        parts = _parts(edits, span)
        size = max(1, _length(span))
        shared = sum(part.length for part in parts) / size
        if parts and (shared >= 1 / 3 or max(part.length for part in parts) >= _LONG):
            group = _heaviest_group(parts, size)
            start, end = self._reach(edits, span, group)
        else:
            between = self._between(edits, span)
            if between is None:
                return _GONE
            start, end = between
            shared = 0.0
        start, end = stripped(self._text, start, end)
        return Anchoring("changed", start, end, min(1.0, shared)) if start < end else _GONE

    def _reach(
        self, edits: Sequence[SharedRun], span: _Range, group: Sequence[SharedRun]
    ) -> tuple[int, int]:
        """From the first to the last of ``group``, and where the passage's own beginning or end
        was rewritten, up to what is known to come from elsewhere."""
        first, last = group[0], group[-1]
        start, end = first.new, last.new + last.length
        lost = first.old - span.start
        if lost > 0:
            known = max((_new_end(run) for run in edits if _new_end(run) <= start), default=0)
            start = known if start - known <= _room(lost) else start
        lost = span.end - (last.old + last.length)
        if lost > 0:
            known = min((run.new for run in edits if run.new >= end), default=len(self._text))
            end = known if known - end <= _room(lost) else end
        return start, end

    def _between(self, edits: Sequence[SharedRun], span: _Range) -> tuple[int, int] | None:
        """What stands now between the neighbours of a passage of which nothing is left."""
        near = [run for run in edits if run.length >= _FIRM]
        before = [run for run in near if run.old < span.start]
        after = [run for run in near if run.old + run.length > span.end]
        left = max(before, key=lambda run: (run.old + run.length, run.length), default=None)
        right = min(after, key=lambda run: (run.old, -run.length), default=None)
        # Runs may reach into the passage, where that begins or ends like what took its place.
        start = left.new + min(left.length, span.start - left.old) if left else 0
        end = right.new + max(0, span.end - right.old) if right else len(self._text)
        lost = (right.old if right else span.end) - (left.old + left.length if left else 0)
        room = _room(_length(span))
        is_bounded = (left or span.start < _FIRM) and (left or right)
        if not is_bounded or start >= end or end - start > room or lost > room:
            return None
        return start, end

    def _occurrences(self) -> list[int]:
        """Where the quote stands, overlapping ones included; not more than a thousand."""
        assert self._quote is not None
        return list(islice(_places(self._text, self._quote, 0, len(self._text)), _MOST_TWINS))

    def _fit(self, place: int) -> float:
        return sum(self._fits(place))

    def _fits(self, place: int) -> tuple[float, float]:
        """How much of the prefix stands before, and of the suffix behind: 0 to 1 each."""
        assert self._quote is not None
        end = place + len(self._quote)
        ahead = _common_back(self._prefix, len(self._prefix), self._text, place, _AROUND)
        behind = _common_ahead(self._suffix, 0, self._text, end, _AROUND)
        return (
            _share(ahead, len(self._prefix), ahead == place),
            _share(behind, len(self._suffix), end + behind == len(self._text)),
        )

    def _at(self, place: int) -> Anchoring:
        assert self._quote is not None
        is_same = self._span is not None and self._span.start == place
        return Anchoring("same" if is_same else "moved", place, place + len(self._quote), 1.0)

    def _to_be_seen(self, place: int) -> Anchoring:
        """The text is there, but it may be another of its kind."""
        assert self._quote is not None
        return Anchoring("changed", place, place + len(self._quote), 1.0)


class _Ranges:
    """Runs by a range of each, which may overlap."""

    def __init__(self, ranges: Iterable[tuple[int, int, SharedRun]]) -> None:
        found = sorted(ranges)
        self._runs = [run for *_, run in found]
        self._starts = [start for start, *_ in found]
        self._reach = list(accumulate((end for _, end, _ in found), max))
        """The farthest end of all up to each."""

    def overlapping(self, start: int, end: int) -> Sequence[SharedRun]:
        """Runs whose range has a code point in common with the given one, and some that have
        not if longer ones are before them."""
        first = bisect_right(self._reach, start)
        return self._runs[first : bisect_left(self._starts, end)]


class _Claims:
    """Which places of the new text are known to come from elsewhere than one span."""

    def __init__(self, edits: Sequence[SharedRun], span: _Range, text: str) -> None:
        self._span, self._text = span, text
        self._runs = _Ranges((run.new, _new_end(run), run) for run in edits)

    def is_claimed(self, place: int, length: int) -> bool:
        """True if another passage could have come to be this one."""
        return any(True for _ in self._claims(place, length))

    def is_claimed_firmly(self, place: int, length: int) -> bool:
        """True if another passage has come to be this one."""
        return any(self.is_firm(run, place, length) for run in self._claims(place, length))

    def is_firm(self, run: SharedRun, place: int, length: int) -> bool:
        """True if the run goes on before and behind the place."""
        ahead, behind = place - run.new, _new_end(run) - place - length
        return (ahead >= _FIRM or place == ahead) and (
            behind >= _FIRM or place + length + behind == len(self._text)
        )

    def _claims(self, place: int, length: int) -> Iterator[SharedRun]:
        for run in self._runs.overlapping(place, place + length):
            is_held = run.new <= place and place + length <= _new_end(run)
            if is_held and run.old + place - run.new != self._span.start:
                yield run


def _length(span: tuple[int, int]) -> int:
    return span[1] - span[0]


def _new_end(run: SharedRun) -> int:
    return run.new + run.length


def _holds(run: SharedRun, span: _Range) -> bool:
    return run.old <= span.start and span.end <= run.old + run.length


def _overlap(one: _Range, other: _Range) -> bool:
    return one.start < other.end and other.start < one.end


def _room(size: int) -> int:
    """How long a text may be that took the place of one of ``size`` code points."""
    return 4 * size + 200


def _share(found: int, wanted: int, is_edge: bool) -> float:
    """Share of the text around that was found; little of it is enough only at an edge."""
    if found == wanted and (is_edge or wanted >= _AROUND):
        return 1.0
    return min(1.0, found / _AROUND)


def _parts(edits: Iterable[SharedRun], span: _Range) -> list[SharedRun]:
    """What is left of a span, the longest first come, no code point twice; ascending."""
    clipped = []
    for run in edits:
        low, high = max(run.old, span.start), min(run.old + run.length, span.end)
        if low < high:
            clipped.append(SharedRun(low, run.new + low - run.old, high - low))
    parts: list[SharedRun] = []
    for run in sorted(clipped, key=lambda run: (-run.length, run)):
        old, new = _Range(run.old, run.old + run.length), _Range(run.new, _new_end(run))
        if not any(
            _overlap(old, _Range(part.old, part.old + part.length))
            or _overlap(new, _Range(part.new, _new_end(part)))
            for part in parts
        ):
            parts.append(run)
    return sorted(parts)


def _heaviest_group(parts: Sequence[SharedRun], size: int) -> Sequence[SharedRun]:
    """The most of ``parts`` that still stand in order and near each other."""
    groups: list[list[SharedRun]] = []
    for part in parts:
        last = groups[-1][-1] if groups else None
        if last and 0 <= part.new - _new_end(last) <= _room(size):
            groups[-1].append(part)
        else:
            groups.append([part])
    return max(groups, key=lambda group: sum(part.length for part in group))


def _widened(old: str, new: str, run: SharedRun) -> SharedRun:
    """``run`` with what is equal before and behind it."""
    back = _common_back(old, run.old, new, run.new, _WIDEST)
    ahead = _common_ahead(old, run.old + run.length, new, _new_end(run), _WIDEST)
    return SharedRun(run.old - back, run.new - back, run.length + back + ahead)


def _twins(old: str, new: str, runs: Sequence[SharedRun]) -> Iterator[SharedRun]:
    """Runs that pair the end or the beginning of a run with an equal passage in what was edited
    next to it: an edit there could have taken either of them."""
    for text, is_old in ((old, True), (new, False)):
        sides = [(run.old if is_old else run.new, run) for run in runs]
        sides.sort()
        ends = [0, *(place + run.length for place, run in sides)]
        starts = [*(place for place, _ in sides), len(text)]
        for index, (low, high) in enumerate(zip(ends, starts, strict=True)):
            if high - low < _TELLING:
                continue
            found: list[tuple[SharedRun, int, int, int]] = []
            if index:
                place, run = sides[index - 1]
                found += _of_tail(text, place, run, low, high)
            if index < len(sides):
                place, run = sides[index]
                found += _of_head(text, place, run, low, high)
            for run, offset, twin, length in found:
                if is_old:
                    yield SharedRun(twin, run.new + offset, length)
                else:
                    yield SharedRun(run.old + offset, twin, length)


def _of_tail(
    text: str, place: int, run: SharedRun, low: int, high: int
) -> Iterator[tuple[SharedRun, int, int, int]]:
    """(run, offset in it, place of the twin, length) for equals of its end in the edited range."""
    seed = min(_TELLING, run.length)
    end = place + run.length
    if seed < _FIRM:
        return
    for at in islice(_places(text, text[end - seed : end], low, high), _MOST_RIVALS):
        most = min(run.length - seed, at - low)
        length = seed + _common_back(text, end - seed, text, at, most)
        yield run, run.length - length, at + seed - length, length


def _of_head(
    text: str, place: int, run: SharedRun, low: int, high: int
) -> Iterator[tuple[SharedRun, int, int, int]]:
    seed = min(_TELLING, run.length)
    if seed < _FIRM:
        return
    for at in islice(_places(text, text[place : place + seed], low, high), _MOST_RIVALS):
        most = min(run.length, high - at) - seed
        length = seed + _common_ahead(text, place + seed, text, at + seed, most)
        yield run, 0, at, length


def _repeated_lines(old: str, new: str, runs: Sequence[SharedRun]) -> Iterator[SharedRun]:
    """Runs that pair lines that occur several times in what was edited of either text."""
    here = _lines(old, sorted((run.old, run.length) for run in runs))
    there = _lines(new, sorted((run.new, run.length) for run in runs))
    for line, places in here.items():
        for at in islice(places, _MOST_RIVALS):
            for other in islice(there.get(line, ()), _MOST_RIVALS):
                yield SharedRun(at, other, len(line))


def _lines(text: str, taken: Sequence[tuple[int, int]]) -> dict[str, list[int]]:
    """Where long enough lines outside of the taken ranges begin."""
    found: dict[str, list[int]] = defaultdict(list)
    at = 0
    for start, length in (*taken, (len(text), 0)):
        for line in text[at:start].splitlines(keepends=True):
            bare = line.strip()
            if len(bare) >= _TELLING:
                found[bare].append(at + len(line) - len(line.lstrip()))
            at += len(line)
        at = start + length
    return found


def _kept(runs: Iterable[SharedRun], size: int) -> tuple[SharedRun, ...]:
    """The runs, ascending; of very many short ones, as after a rewriting, the longest."""
    found = sorted(set(runs))
    most = 64 + size // _RUN_SHARE
    if len(found) > most:
        found = sorted(sorted(found, key=lambda run: -run.length)[:most])
    return tuple(found)


def _places(text: str, part: str, low: int, high: int) -> Iterator[int]:
    at = text.find(part, low, high)
    while at >= 0 and part:
        yield at
        at = text.find(part, at + 1, high)


def _common_ahead(one: str, at: int, other: str, there: int, most: int) -> int:
    """How many code points from ``at`` and ``there`` on are equal, up to ``most``."""
    most = min(most, len(one) - at, len(other) - there)
    low, step = 0, 8
    while low < most:
        size = min(step, most - low)
        if one[at + low : at + low + size] == other[there + low : there + low + size]:
            low += size
            step *= 2
        else:
            most, step = low + size - 1, max(1, size // 2)
    return low


def _common_back(one: str, at: int, other: str, there: int, most: int) -> int:
    """How many code points before ``at`` and ``there`` are equal, up to ``most``."""
    most = min(most, at, there)
    low, step = 0, 8
    while low < most:
        size = min(step, most - low)
        if one[at - low - size : at - low] == other[there - low - size : there - low]:
            low += size
            step *= 2
        else:
            most, step = low + size - 1, max(1, size // 2)
    return low
