"""Rerankers behind an HTTP endpoint, with the same care as embedders: answers are paired by index
and checked, what fails is halved, patience is bounded."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

from merestone.embedding.failures import Failures, Told
from merestone.embedding.http import (
    Client,
    UnacceptedError,
    UnavailableError,
    Usage,
    join_url,
)
from merestone.embedding.pairing import UnpairedError, pair
from merestone.embedding.parting import NothingWorksError, PartedCall
from merestone.reranking.services import SERVICES, RerankingService
from merestone.retrying import Timing
from merestone.text.hashing import digest
from merestone.types import JSON, RerankerError, RerankingSettings, SettingsError

_FAILURES = Failures(
    RerankerError,
    unavailable=Told("reranker-unavailable", "Ask again once it answers, or leave it out."),
    refused=Told(
        "reranker-refused",
        "Check reranking.model, reranking.url and the key that reranking.api_key_env names.",
    ),
    unusable=Told("unusable-scores", "See what the service logs."),
)


def open_remote(settings: RerankingSettings, timing: Timing | None = None) -> RemoteReranker:
    """The reranker that ``settings.model`` names as ``service:model``. Asks nothing yet."""
    name, _, model = settings.model.partition(":")
    service = SERVICES[name]
    if service.model and not model:
        raise SettingsError(
            "reranker-needs-model",
            f"reranking.model = {settings.model!r} names a service and no model.",
            f'Write it like "{name}:name-of-the-model".',
        )
    client = Client(
        join_url(settings.url or service.url, service.path),
        settings.api_key_env or ("" if settings.url else service.key_env),
        settings.timeout_seconds,
        timing or Timing(),
    )
    return RemoteReranker(client, service, model, settings)


class RemoteReranker:
    """Scores by a service. May be used by several threads."""

    def __init__(
        self, client: Client, service: RerankingService, model: str, settings: RerankingSettings
    ) -> None:
        self.name = settings.model
        self.fingerprint = digest("reranker", settings.model, "" if model else client.place)
        self._client = client
        self._service = service
        self._model = model
        self._batch = settings.batch or service.batch

    @property
    def usage(self) -> Usage:
        """Requests and texts since it was opened."""
        return self._client.usage

    def close(self) -> None:
        """Let go of connections."""
        self._client.close()

    def rerank(self, query: str, texts: Sequence[str]) -> list[float | None]:
        """See :class:`merestone.types.Reranker`."""

        def ask(places: Sequence[int], tries: int | None) -> Exception | None:
            return self._ask(query, texts, call.found, places, tries)

        call = PartedCall[float](ask, [None] * len(texts))
        start = 0
        while start < len(texts):
            places = range(start, min(len(texts), start + self._batch))
            start += len(places)
            try:
                call.run(places)
            except NothingWorksError as error:
                raise _FAILURES.told(error.problem) from error
            if call.accepted:
                self._batch = min(self._batch, call.accepted)
        if texts and all(score is None for score in call.found):
            raise _FAILURES.told(UnpairedError(next(iter(call.failed.values()))))
        return call.found

    def _ask(
        self,
        query: str,
        texts: Sequence[str],
        found: list[float | None],
        places: Sequence[int],
        tries: int | None,
    ) -> Exception | None:
        """One answer for ``places``, as :class:`PartedCall` wants it."""
        service = self._service
        asked = [texts[place] for place in places]
        body: dict[str, JSON] = {service.query: query, service.texts: asked, **service.always}
        if service.model:
            body[service.model] = self._model
        if service.count:
            body[service.count] = len(asked)
        try:
            answer = _FAILURES.ask(self._client, body, len(asked), tries)
        except (UnacceptedError, UnavailableError) as error:
            return error
        try:
            items = pair(answer, service.answers, service.index, len(asked), what="scores")
        except UnpairedError as error:
            return UnpairedError(f"{self._client.place} {error}")
        for place, item in zip(places, items, strict=True):
            score = item.get(service.score) if isinstance(item, dict) else None
            if isinstance(score, int | float) and not isinstance(score, bool) and isfinite(score):
                found[place] = float(score)
        if all(found[place] is not None for place in places):
            return None
        return UnpairedError(f"{self._client.place} gave a score that is no finite number")
