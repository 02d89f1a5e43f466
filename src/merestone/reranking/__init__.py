"""Ordering what was found once more, by a model that reads question and text together.

``settings.model`` is ``service:model`` for a service of
:data:`merestone.reranking.services.SERVICES`, or the name of an entry point of the group
``merestone.rerankers``, maybe with a colon and a model behind it. Nothing is asked and no weights
are read before the first question.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from merestone.reranking.ordering import Reranked, apply_reranker
from merestone.text.plugins import required_plugin

if TYPE_CHECKING:
    from merestone.types import Reranker, RerankingSettings

__all__ = ["Reranked", "apply_reranker", "open_reranker"]


def open_reranker(settings: RerankingSettings) -> Reranker | None:
    """The reranker that ``settings.model`` names; ``None`` if it names none.

    A name that is not installed is a ``SettingsError``.
    """
    if not settings.model:
        return None
    name, colon, _ = settings.model.partition(":")
    from merestone.reranking.services import SERVICES

    if colon and name in SERVICES:
        from merestone.reranking.remote import open_remote

        return open_remote(settings)
    reranker: Reranker = required_plugin("rerankers", name)(settings)
    return reranker
