"""Words that ask and so are not looked for in an answer."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from merestone.text.analysis import terms

_FEWEST = 3
"""Other terms that must be left: ``The Who`` is a name, not a question."""

_WORDS = """
what which who whom whose when where why how did does do is are was were be been can could should
was welche welcher welches wer wem wen wessen wann wo warum wieso wie ist sind war waren wird
que quel quelle quels quelles qui quand pourquoi comment est sont était
qué cuál cuáles quién quiénes cuándo dónde cómo es son fue fueron
che quale quali chi quando dove perché come è sono era
wat welke wie wanneer waar waarom hoe zijn
qual quais quem onde porque como são foi
"""


def telling(query_terms: Sequence[str]) -> tuple[str, ...]:
    """``query_terms`` without the words that only ask, in the larger languages of Latin script;
    all of them if too few were left.

    Among candidates such words are rare, so by their weight they would find other questions.
    """
    left = tuple(term for term in query_terms if term not in _asking())
    return left if len(left) >= _FEWEST else tuple(query_terms)


@cache
def _asking() -> frozenset[str]:
    return frozenset(terms(_WORDS))
