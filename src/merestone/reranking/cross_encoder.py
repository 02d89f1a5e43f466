"""Cross-encoders by the package Sentence Transformers: the extra ``sentence-transformers``."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cached_property
from math import isfinite
from typing import Any

from merestone.text.hashing import digest
from merestone.types import RerankerError, RerankingSettings, SettingsError

_BATCH = 32


def open_reranker(settings: RerankingSettings) -> CrossEncoderReranker:
    """The model behind the colon of ``settings.model``: a folder, or a name that the package
    knows how to find. Loads nothing yet."""
    _, _, model = settings.model.partition(":")
    if not model:
        raise SettingsError(
            "reranker-needs-model",
            f"reranking.model = {settings.model!r} names no model.",
            'Write it like "sentence-transformers:cross-encoder/ms-marco-MiniLM-L6-v2".',
        )
    return CrossEncoderReranker(settings, model)


class CrossEncoderReranker:
    """Scores by a cross-encoder that runs here, with torch. May be used by several threads."""

    def __init__(self, settings: RerankingSettings, model: str) -> None:
        self.name = settings.model
        self.fingerprint = digest("reranker", settings.model)
        self._path = model
        self._batch = settings.batch or _BATCH
        self._lock = threading.Lock()

    @cached_property
    def _model(self) -> Any:
        try:
            from sentence_transformers import CrossEncoder
        except ImportError as error:
            raise SettingsError(
                "extra-missing",
                f"{self.name} needs a package that is not installed.",
                "Install it: pip install 'merestone[sentence-transformers]'.",
            ) from error
        return CrossEncoder(self._path)

    def rerank(self, query: str, texts: Sequence[str]) -> list[float | None]:
        """See :class:`merestone.types.Reranker`. Texts beyond the model's limit are cut by it."""
        if not texts:
            return []
        with self._lock:
            given = self._model.predict(
                [(query, text) for text in texts], batch_size=self._batch, show_progress_bar=False
            )
        scores = [float(score) for score in given]
        if len(scores) != len(texts) or not any(map(isfinite, scores)):
            raise RerankerError(
                "unusable-scores",
                f"{self.name} gave {len(scores)} scores for {len(texts)} texts, or none that is a "
                "finite number.",
                "Report it to the author of the model.",
            )
        return [score if isfinite(score) else None for score in scores]
