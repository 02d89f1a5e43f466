"""Which sides a question is asked of: by meaning, by words, or both."""

from __future__ import annotations

from typing import Literal

from merestone.embedding.scripts import foreign_to, knows_query
from merestone.text.analysis import is_identifier
from merestone.types import Embedder

Mode = Literal["hybrid", "dense", "lexical"]


def choose_sides(embedder: Embedder, query: str, mode: Mode) -> tuple[Mode, tuple[str, ...]]:
    """What ``mode`` comes to for ``query``, and notes that say why.

    ``hybrid`` gives up the dense side where it can only do harm: for an identifier, and for a
    question in a script that the embedder was not trained for. What was asked for by name is done.
    """
    if mode == "hybrid":
        if is_identifier(query.strip()):
            return "lexical", ("The query is an identifier: only words were searched.",)
        reason = knows_query(embedder, query)
        return ("lexical", (reason,)) if reason else (mode, ())
    foreign = foreign_to(embedder, query) if mode == "dense" else None
    if foreign is None:
        return mode, ()
    return mode, (f"{foreign}: what was found by meaning says little. Words would find more.",)
