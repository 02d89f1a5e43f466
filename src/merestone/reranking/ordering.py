"""What a reranker's scores do to a ranking."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from merestone.types import Reranker, RerankerError

_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True)
class Reranked:
    """A new order of the items that were given."""

    order: tuple[int, ...]
    """Their places before, best first; each exactly once."""
    scores: tuple[float | None, ...]
    """By place before: the reranker's score; ``None`` for what it was not asked about, or what it
    could not score."""
    notes: tuple[str, ...] = ()
    """What a person should know, such as why the order stayed."""

    @property
    def ranks(self) -> dict[int, int]:
        """Rank by the reranker, from 1, by place before; of those that it scored."""
        scored = [place for place in self.order if self.scores[place] is not None]
        return {place: rank for rank, place in enumerate(scored, 1)}


def apply_reranker(
    reranker: Reranker,
    query: str,
    items: Sequence[_Item],
    text_of: Callable[[_Item], str],
    top: int,
) -> Reranked:
    """Order the first ``top`` of ``items``, which come best first, by ``reranker``.

    Equal scores keep their order, and so do those behind ``top``, which stay behind. What could
    not be scored stands behind what was. A reranker that fails changes nothing, which a note
    says: an answer in the order before is better than none.
    """
    asked = range(min(top, len(items)))
    scores: list[float | None] = [None] * len(items)
    if not asked:
        return Reranked((), ())
    try:
        given = reranker.rerank(query, [text_of(items[place]) for place in asked])
        if len(given) != len(asked):
            raise RerankerError(
                "unusable-scores",
                f"{reranker.name} gave {len(given)} scores for {len(asked)} texts.",
                "Report it to the author of the reranker.",
            )
    except RerankerError as error:
        note = f"Not reranked: {error.message} [{error.code}]"
        return Reranked(tuple(range(len(items))), tuple(scores), (note,))
    scores[: len(asked)] = given
    scored = sorted(
        (place for place in asked if scores[place] is not None),
        key=lambda place: (-(scores[place] or 0.0), place),
    )
    unscored = [place for place in asked if scores[place] is None]
    notes = (f"{len(unscored)} of {len(asked)} could not be reranked.",) if unscored else ()
    rest = range(len(asked), len(items))
    return Reranked((*scored, *unscored, *rest), tuple(scores), notes)
