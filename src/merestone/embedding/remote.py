"""Embedders behind an HTTP endpoint: one client, and the differences of services as data.

A batch that fails is halved until what fails is found, so that one text that a service cannot
stomach costs itself alone. What the rest gave is kept for a while: who asks again, document by
document, pays nothing twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from merestone.embedding.failures import Failures, Told
from merestone.embedding.http import (
    Client,
    UnacceptedError,
    UnavailableError,
    Usage,
    join_url,
)
from merestone.embedding.named_tokenizers import embedder_tokenizer
from merestone.embedding.overlong import beginning
from merestone.embedding.pairing import UnpairedError, dig, pair, usable_vectors
from merestone.embedding.parting import NothingWorksError, PartedCall
from merestone.embedding.rescued import RescuedVectors
from merestone.embedding.services import SERVICES, EmbeddingService, KnownModel, known_model
from merestone.embedding.templates import PLAIN
from merestone.embedding.text_embedder import TextEmbedder, TextLimits
from merestone.retrying import Timing
from merestone.types import JSON, EmbedderError, EmbeddingSettings, SettingsError, Vectors

_PROBE = "How long are your vectors?"

_FAILURES = Failures(
    EmbedderError,
    unavailable=Told("service-unavailable", "Sync again once it answers; nothing is lost."),
    refused=Told(
        "service-refused",
        "Check embedding.model, embedding.url and the key that embedding.api_key_env names.",
    ),
    unusable=Told(
        "unusable-vectors",
        "See what the service logs, and whether embedding.dimension is what the model gives; "
        "nothing of this batch was stored.",
    ),
)


def open_remote(settings: EmbeddingSettings, timing: Timing | None = None) -> RemoteEmbedder:
    """The embedder that ``settings.model`` names as ``service:model``. Asks nothing yet."""
    service_name, _, model = settings.model.partition(":")
    service = SERVICES[service_name]
    if service.model and not model:
        raise SettingsError(
            "embedder-needs-model",
            f"embedding.model = {settings.model!r} names a service and no model.",
            f'Write it like "{service_name}:name-of-the-model".',
        )
    known = known_model(model)
    url = join_url(settings.url or service.url, service.path)
    variable = settings.api_key_env or ("" if settings.url else service.key_env)
    client = Client(
        url,
        variable,
        settings.timeout_seconds,
        timing or Timing(),
    )
    identity: dict[str, JSON] = {
        "service": service_name,
        # One that serves a single model is known by its address alone.
        "model": model or client.place,
    }
    remote = RemoteModel(client, service, model, settings, known)
    return RemoteEmbedder(settings, identity, remote, _limits(settings, service, known))


def _limits(
    settings: EmbeddingSettings, service: EmbeddingService, known: KnownModel | None
) -> TextLimits:
    limit = settings.max_tokens or (known.max_tokens if known else 0)
    tokenizer = settings.tokenizer or (known.tokenizer if known else "")
    if not limit or not tokenizer:
        lacking = [
            name for name, value in (("max_tokens", limit), ("tokenizer", tokenizer)) if not value
        ]
        raise SettingsError(
            "embedder-needs-limit",
            f"Of the model {settings.model} it is not known how much it reads: "
            f"{' and '.join(f'embedding.{name}' for name in lacking)} must say it.",
            "max_tokens stands on the model's card; tokenizer is the path of its tokenizer.json, "
            "an encoding such as cl100k_base, or `characters`, which counts rather too many.",
        )
    passage, query = settings.passage_template, settings.query_template
    return TextLimits(
        max_tokens=limit,
        tokenizer=embedder_tokenizer(tokenizer),
        passage_template=(known.passage_template if known else PLAIN)
        if passage is None
        else passage,
        query_template=(known.query_template if known else PLAIN) if query is None else query,
        batch_tokens=service.batch_tokens,
        scripts=frozenset(settings.scripts) or (known.scripts if known else None),
    )


class RemoteEmbedder(TextEmbedder):
    """A :class:`TextEmbedder` that says what it cost."""

    def __init__(
        self,
        settings: EmbeddingSettings,
        identity: JSON,
        model: RemoteModel,
        limits: TextLimits,
    ) -> None:
        super().__init__(settings.model, identity, model, limits, settings)
        self._remote = model
        self.price_per_million_tokens = settings.price_per_million_tokens

    @property
    def usage(self) -> Usage:
        """Requests, texts and tokens since it was opened."""
        return self._remote.usage

    def close(self) -> None:
        """Let go of connections."""
        self._remote.close()


class RemoteModel:
    """Texts to vectors by a service. May be used by several threads."""

    def __init__(
        self,
        client: Client,
        service: EmbeddingService,
        model: str,
        settings: EmbeddingSettings,
        known: KnownModel | None,
    ) -> None:
        self._client = client
        self._service = service
        self._model = model
        self._dimension = settings.dimension
        self._batch = settings.batch or service.batch
        self._width: int | None = None
        if settings.dimension and service.dimension:
            self._width = settings.dimension
        elif known and not settings.dimension:
            self._width = known.dimension
        self._rescued = RescuedVectors(client.timing)

    @property
    def batch(self) -> int:
        return self._batch

    @property
    def usage(self) -> Usage:
        return self._client.usage

    @property
    def width(self) -> int:
        """Asks the service, once, if it is not known."""
        if self._width is None:
            self.encode([_PROBE], is_query=False)
        assert self._width is not None
        return self._width

    def close(self) -> None:
        self._client.close()

    def keep(self, texts: Sequence[str], vectors: Vectors) -> None:
        """Have these ready should they be asked for again soon."""
        for text, vector in zip(texts, vectors, strict=True):
            self._rescued.keep(text, vector)

    def encode(self, texts: Sequence[str], *, is_query: bool) -> Vectors:
        """See :class:`~merestone.embedding.text_embedder.TextModel`. A text that alone fails is
        named in the error; the vectors of all others are kept for who asks again."""

        def ask(places: Sequence[int], tries: int | None) -> Exception | None:
            return self._ask(texts, is_query, call.found, places, tries)

        call = PartedCall[Vectors](ask, [None] * len(texts))
        if not is_query:
            for place, text in enumerate(texts):
                call.found[place] = self._rescued.take(text)
        missing = [place for place, vector in enumerate(call.found) if vector is None]
        try:
            if missing:
                call.run(missing)
            if call.failed:
                raise _text_failed(texts, call.failed, min(call.failed))
        except NothingWorksError as error:
            raise _FAILURES.told(error.problem) from error
        except EmbedderError:
            if not is_query:
                self._rescue(texts, call)
            raise
        if call.accepted:
            self._batch = min(self._batch, call.accepted)
        return np.stack([vector for vector in call.found if vector is not None])

    def _rescue(self, texts: Sequence[str], call: PartedCall[Vectors]) -> None:
        """Keep what was found, and what is known to fail."""
        for place, vector in enumerate(call.found):
            if vector is not None:
                self._rescued.keep(texts[place], vector)
        for place in call.failed:
            self._rescued.keep(texts[place], _text_failed(texts, call.failed, place))

    def _ask(
        self,
        texts: Sequence[str],
        is_query: bool,
        found: list[Vectors | None],
        places: Sequence[int],
        tries: int | None,
    ) -> Exception | None:
        """One answer for ``places``, as :class:`PartedCall` wants it."""
        asked = [texts[place] for place in places]
        try:
            body = self._body(asked, is_query)
            answer = _FAILURES.ask(self._client, body, len(asked), tries)
        except (UnacceptedError, UnavailableError) as error:
            return error
        try:
            items = pair(answer, self._service.answers, self._service.index, len(asked))
            vectors = usable_vectors(items, self._service.vector, self._width)
        except UnpairedError as error:
            return UnpairedError(f"{self._client.place} {error}")
        for place, vector in zip(places, vectors, strict=True):
            if vector is not None:
                found[place] = vector
                self._width = len(vector)
        tokens = dig(answer, self._service.tokens)
        if isinstance(tokens, int):
            self._client.usage.tokens += tokens
        if all(vector is not None for vector in vectors):
            return None
        return UnpairedError(
            f"{self._client.place} gave a vector that is not {self._width or 'some'} finite "
            "numbers other than zeros"
        )

    def _body(self, texts: Sequence[str], is_query: bool) -> dict[str, JSON]:
        service = self._service
        body: dict[str, JSON] = {service.texts: list(texts), **service.always}
        if service.model:
            body[service.model] = self._model
        if service.dimension and self._dimension:
            body[service.dimension] = self._dimension
        if service.purpose:
            key, passage, query = service.purpose
            body[key] = query if is_query else passage
        return body


def _text_failed(texts: Sequence[str], failed: Mapping[int, str], place: int) -> EmbedderError:
    others = len(failed) - 1
    return EmbedderError(
        "text-refused",
        f"A text cannot be embedded, even alone: {beginning(texts[place])!r}. {failed[place]}."
        + (f" So it is with {others} more of the {len(texts)} sent with it." if others else ""),
        "Change the text or leave its document out; the others are not affected.",
    )
