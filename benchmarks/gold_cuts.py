"""How many gold spans that would fit into a chunk are cut.

    python benchmarks/gold_cuts.py [--sets NAME,...] [--limits 256,400,512] [--json FILE]

For each set and each token limit: the gold spans, the share that cannot fit (its text and the
special tokens are over the limit by the bundled embedder's tokenizer), and of those that fit the
share that no chunk holds whole: by Merestone's defaults at that limit, and by the two peers of
``cuttings.py``, which always cut as their name says, on the same spans. *allowed* is a third of
what R cuts where R cuts at least 20 of them, and as many as R cuts elsewhere.

``--examples FILE`` lists up to 10 spans a set and limit that Merestone cuts although they fit, and
where.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from cuttings import DEFAULT, PEERS, Passage, cutting_of, tokenizer
from gold import GoldSet, Span, load_set, set_names

_MANY = 20
"""Where R cuts at least so many, a third of them are allowed."""
_EXAMPLES = 10
_SHOWN = 300
"""Characters of a gold span that an example shows."""


@dataclass(frozen=True)
class Row:
    """One set at one limit. Counts are of distinct gold spans."""

    name: str
    limit: int
    gold: int
    fit: int
    cut: Mapping[str, int]
    """By cutting, of those that fit."""

    @property
    def allowed(self) -> float:
        recursive = self.cut["R"]
        return recursive / 3 if recursive >= _MANY else recursive

    @property
    def held(self) -> bool:
        return self.cut[DEFAULT] <= self.allowed


class Places:
    """The ranges of a cutting, by document and in order."""

    def __init__(self, passages: Iterable[Passage]) -> None:
        self._passages: dict[str, list[Passage]] = defaultdict(list)
        for passage in passages:
            self._passages[passage.document].append(passage)

    def holds(self, span: Span) -> bool:
        """True if one passage holds the span whole."""
        name, start, end = span
        return any(p.start <= start and end <= p.end for p in self._passages[name])

    def touching(self, span: Span) -> list[Passage]:
        name, start, end = span
        return [p for p in self._passages[name] if p.start < end and start < p.end]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", help="names, by commas; all by default")
    parser.add_argument("--limits", default="256,400,512", help="tokens, by commas")
    parser.add_argument(
        "--settings", type=json.loads, default={}, help="JSON of chunking settings to change"
    )
    parser.add_argument("--work", type=Path, default=Path("build") / "gold")
    parser.add_argument("--fresh", action="store_true", help="read the documents again")
    parser.add_argument("--json", type=Path, help="file for the figures")
    parser.add_argument("--examples", type=Path, help="file for spans that are cut")
    args = parser.parse_args()
    limits = [int(limit) for limit in args.limits.split(",")]
    rows: list[Row] = []
    examples: list[str] = []
    print(_HEAD)
    for name in args.sets.split(",") if args.sets else set_names():
        gold_set = load_set(name, args.work, fresh=args.fresh)
        print(gold_set.losses, end="")
        if not gold_set.gold:
            continue
        tokens = _tokens(gold_set)
        peers = {peer: _places(gold_set, peer, {}) for peer in PEERS}
        for limit in limits:
            ours = _places(gold_set, DEFAULT, {**args.settings, "max_tokens": limit})
            fitting = [span for span in gold_set.gold if tokens[span] <= limit]
            rows.append(_row(gold_set, limit, fitting, {DEFAULT: ours, **peers}))
            print(_line(rows[-1]), flush=True)
            cut = _spread([span for span in fitting if not ours.holds(span)], _EXAMPLES)
            examples += [_example(gold_set, span, tokens[span], limit, ours) for span in cut]
    print(_summary(rows))
    if args.json:
        figures = [{**asdict(row), "allowed": row.allowed, "held": row.held} for row in rows]
        args.json.write_text(json.dumps(figures, indent=1) + "\n", "utf-8")
    if args.examples:
        args.examples.write_text("\n".join(examples) + "\n", "utf-8")


def _tokens(gold_set: GoldSet) -> dict[Span, int]:
    """Tokens of each gold span, special tokens included."""
    spans = gold_set.gold
    texts = [gold_set.views[name].document.text[start:end] for name, start, end in spans]
    counts = tokenizer().counts(texts)
    return {
        span: count + tokenizer().special_tokens for span, count in zip(spans, counts, strict=True)
    }


def _places(gold_set: GoldSet, name: str, values: Mapping[str, object]) -> Places:
    cutting = cutting_of(name, values)
    wanted = {document for document, _, _ in gold_set.gold}
    return Places(p for document in wanted for p in cutting(gold_set.views[document].document))


def _row(
    gold_set: GoldSet, limit: int, fitting: Sequence[Span], places: Mapping[str, Places]
) -> Row:
    cut = {name: sum(not place.holds(span) for span in fitting) for name, place in places.items()}
    return Row(gold_set.name, limit, len(gold_set.gold), len(fitting), cut)


_HEAD = (
    f"{'':15} {'':5} {'gold':>5} {'cannot':>13} {'':>5}   cut of those that fit\n"
    f"{'set':15} {'limit':>5} {'spans':>5} {'fit':>13} {'fit':>5} {DEFAULT:>13} {'R':>13} "
    f"{'S':>13} {'allowed':>8}"
)


def _line(row: Row) -> str:
    cut = " ".join(f"{_share(count, row.fit):>13}" for count in row.cut.values())
    return (
        f"{row.name:15} {row.limit:>5} {row.gold:>5} {_share(row.gold - row.fit, row.gold):>13} "
        f"{row.fit:>5} {cut} {row.allowed:>8.1f}  {'held' if row.held else 'MISSED'}"
    )


def _share(count: int, total: int) -> str:
    return f"{count} ({100 * count / max(1, total):.1f}%)"


def _summary(rows: Sequence[Row]) -> str:
    missed = [f"{row.name} at {row.limit}" for row in rows if not row.held]
    return f"missed: {', '.join(missed) or 'nowhere'}"


def _spread(spans: Sequence[Span], count: int) -> list[Span]:
    """At most ``count`` of the spans, from all over the set."""
    return list(spans[:: max(1, -(-len(spans) // count))])


def _example(gold_set: GoldSet, span: Span, tokens: int, limit: int, ours: Places) -> str:
    """A gold span that is cut although it fits: the cuts inside, and how it begins."""
    name, start, end = span
    document = gold_set.views[name].document
    text = document.text
    lines = [f"## {gold_set.name} at {limit}: {name} [{start}, {end}), {tokens} tokens"]
    if start >= document.body_end:
        lines.append("   outside the body")
    for passage in ours.touching(span):
        if start < passage.start:
            before, after = text[: passage.start], text[passage.start :]
            lines.append(
                f"   cut at {passage.start}: {passage.edge.reason} {passage.edge.strength:.2f}  "
                f"{before[-40:]!r} | {after[:40]!r}"
            )
    pieces = ", ".join(
        f"[{p.start}, {p.end}) {count + tokenizer().special_tokens}t"
        for p, count in zip(
            ours.touching(span),
            tokenizer().counts([text[p.start : p.end] for p in ours.touching(span)]),
            strict=True,
        )
    )
    lines.append(f"   chunks: {pieces}")
    kinds = [block for block in document.blocks if block.start < end and start < block.end]
    around = [b.kind for b in kinds if b.start <= start and end <= b.end]
    inside = [b.kind for b in kinds if not (b.start <= start and end <= b.end)]
    lines.append(f"   blocks around: {around}, touched: {inside[:12]}")
    lines.append(f"   {text[start : start + _SHOWN]!r}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
