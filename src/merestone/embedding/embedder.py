"""An embedder that works on token ids: limits, templates, windows and batches around a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from merestone.embedding.batching import checked, cut_batches, encode_in_batches, gather
from merestone.embedding.bert import BertEncoder, adapted, identity, read_config
from merestone.embedding.model import Description, TokenIds, TokenModel, check_dimension
from merestone.embedding.overlong import check_settings, input_too_long, windows
from merestone.embedding.pooling import shortened
from merestone.embedding.spans import SpanPlan, SpanSums, plan_spans
from merestone.embedding.templates import around, fill, with_template
from merestone.text.hashing import canonical_json, digest
from merestone.types import (
    EmbedderError,
    EmbeddingSettings,
    ProgressCallback,
    SettingsError,
    Tokenizer,
    Vectors,
)

_REVISION = 1
"""Raised when the same model and text give another vector."""

_TOKENISED = 256
"""Texts tokenised at a time: lists of Python integers are far larger than arrays."""


@dataclass(frozen=True, slots=True)
class _Placed:
    """A filled template in tokens: what stands before, in and behind the text."""

    before: TokenIds
    own: TokenIds
    behind: TokenIds
    starts: list[int]
    """Code point of the text at which each of its own tokens begins."""


class TokenEmbedder:
    """Texts to unit vectors with a model that runs here, on token ids.

    Making one reads only what describes the model; the tokenizer and the weights are read when
    they are needed first. It may be used by several threads.
    """

    def __init__(
        self,
        name: str,
        kind: str,
        described: Description,
        model: TokenModel,
        settings: EmbeddingSettings,
    ) -> None:
        """``kind`` names the runtime in the fingerprint. ``described`` is adapted already."""
        check_settings(settings)
        self.name = name
        self.dimension = check_dimension(settings.dimension, described.width)
        self.max_tokens = described.max_tokens
        self.scripts = described.scripts
        """Writing systems that the model was trained for; ``None``: unknown."""
        self._kind = kind
        self._described = described
        self._model = model
        self._on_overlong = settings.on_overlong
        self._batch_tokens = settings.batch_tokens
        self._mode = settings.mode
        if settings.mode != "plain" or settings.units:
            self._require_mean()

    @cached_property
    def fingerprint(self) -> str:
        parts = [self._kind, str(_REVISION), canonical_json(self._described.identity)]
        if self._on_overlong != "error":
            parts.append(self._on_overlong)
        if self.dimension != self._described.width:
            parts.append(f"dimension {self.dimension}")
        if self._mode != "plain":
            parts.append(self._mode)
        return digest(*parts)

    @cached_property
    def tokenizer(self) -> Tokenizer:
        """Counts as the model reads: a template counts among the special tokens."""
        return with_template(self._model.tokenizer, self._described.passage_template)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """float32 of shape ``(len(texts), dimension)``; row i belongs to text i.

        A text beyond ``max_tokens`` is an ``EmbedderError`` before anything is embedded, or is
        truncated or windowed if the settings say so.
        """
        return gather(self.embed_batches(texts), len(texts), self.dimension)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """As :meth:`embed_passages`; but a query beyond the limit is always windowed, since who
        asks can hardly cut it better."""
        inputs = self._inputs(texts, self._described.query_template, "window")
        return gather(self._encoded(inputs), len(texts), self.dimension)

    def embed_batches(
        self, texts: Sequence[str], progress: ProgressCallback | None = None
    ) -> Iterator[tuple[list[int], Vectors]]:
        """Passages batch by batch: indexes into ``texts`` and their vectors, as soon as they are
        ready and not in the order of ``texts``.

        All texts are tokenised, and judged by the limit, before the first batch is embedded.
        ``progress`` is called after each batch with the texts and tokens done so far.
        """
        inputs = self._inputs(texts, self._described.passage_template, self._on_overlong)
        yield from self._encoded(inputs, progress)

    def span_keys(self, text: str, spans: Sequence[tuple[int, int]]) -> list[str]:
        """See :class:`merestone.types.SpanEmbedder`."""
        placed, plan = self._planned(text, spans)
        return plan.keys(placed.own.astype(np.int64))

    def embed_spans(self, text: str, spans: Sequence[tuple[int, int]]) -> Vectors:
        """See :class:`merestone.types.SpanEmbedder`. Windows that no span needs are not read."""
        self._require_mean()
        placed, plan = self._planned(text, spans)
        sums = SpanSums(plan, self._described.width)
        used = plan.used()
        rows = [self._row(placed, *plan.windows[number]) for number in used]
        first, _ = self._specials
        skipped = len(first) + len(placed.before)
        for batch in cut_batches([len(row) for row in rows], self._batch_tokens):
            encoded = self._model.encode_tokens([rows[place] for place in batch])
            for place, vectors in zip(batch, encoded, strict=True):
                start, end = plan.windows[used[place]]
                sums.take(used[place], vectors[skipped : skipped + end - start])
        means = sums.means()
        empty = [span for span, runs in enumerate(plan.runs) if not runs]
        if empty:
            # A text without tokens, such as control characters alone: what the model makes of
            # its special tokens.
            means[empty] = self._model.encode([self._row(placed, 0, 0)], "mean")[0]
        vectors = shortened(means, self.dimension)
        return checked(vectors, (len(spans), self.dimension))

    def embed_units(
        self, texts: Sequence[str], units: Sequence[Sequence[tuple[int, int]]]
    ) -> tuple[Vectors, list[Vectors]]:
        """See :class:`merestone.types.SpanEmbedder`."""
        self._require_mean()
        first, _ = self._specials
        placed = [self._placed(text) for text in texts]
        rows = [self._row(each, 0, len(each.own)) for each in placed]
        for text, row in zip(texts, rows, strict=True):
            if len(row) > self.max_tokens:
                raise input_too_long(text, len(row), self.max_tokens)
        whole = np.empty((len(texts), self._described.width), np.float32)
        parts: list[Vectors] = [np.empty((0, self.dimension), np.float32) for _ in texts]
        for batch in cut_batches([len(row) for row in rows], self._batch_tokens):
            encoded = self._model.encode_tokens([rows[place] for place in batch])
            for place, vectors in zip(batch, encoded, strict=True):
                whole[place] = vectors.mean(axis=0)
                if not units[place]:
                    continue
                own = placed[place]
                plan = plan_spans(own.starts, units[place], max(1, len(own.own)))
                sums = SpanSums(plan, self._described.width)
                if own.own.size:
                    skipped = len(first) + len(own.before)
                    sums.take(0, vectors[skipped : skipped + len(own.own)])
                    parts[place] = shortened(sums.means(), self.dimension)
                else:
                    alone = shortened(whole[place : place + 1], self.dimension)
                    parts[place] = np.repeat(alone, len(units[place]), axis=0)
        vectors = checked(shortened(whole, self.dimension), (len(texts), self.dimension))
        return vectors, parts

    def _require_mean(self) -> None:
        if self._described.pooling != "mean":
            raise SettingsError(
                "late-needs-mean-pooling",
                f"{self.name} pools by {self._described.pooling!r}: its token vectors were not "
                "trained to be averaged, so parts of a text have none.",
                'Leave embedding.mode = "plain" and embedding.units = false.',
            )

    def _planned(self, text: str, spans: Sequence[tuple[int, int]]) -> tuple[_Placed, SpanPlan]:
        placed = self._placed(text)
        first, last = self._specials
        around_it = len(first) + len(placed.before) + len(placed.behind) + len(last)
        size = self.max_tokens - around_it
        if size < 1:
            raise EmbedderError(
                "input-too-long",
                f"The template alone fills the limit of {self.max_tokens} tokens.",
                "Shorten embedding.passage_template.",
            )
        return placed, plan_spans(placed.starts, spans, size)

    @cached_property
    def _specials(self) -> tuple[TokenIds, TokenIds]:
        first, last = self._model.tokenizer.special_ids
        return np.array(first, np.int32), np.array(last, np.int32)

    def _placed(self, text: str, template: str | None = None) -> _Placed:
        """``text`` in its template, token by token. A token across a border is the text's."""
        template = self._described.passage_template if template is None else template
        filled = fill(template, text)
        ids, starts, ends = self._model.tokenizer.encode_placed(filled)
        before, _ = around(template)
        own = range(len(before), len(before) + len(text))
        first, last = 0, len(ids)
        while first < last and ends[first] <= own.start and before:
            first += 1
        while last > first and starts[last - 1] >= own.stop and own.stop < len(filled):
            last -= 1
        whole = np.array(ids, np.int32)
        return _Placed(
            whole[:first],
            whole[first:last],
            whole[last:],
            [max(0, start - own.start) for start in starts[first:last]],
        )

    def _row(self, placed: _Placed, start: int, end: int) -> TokenIds:
        """Own tokens ``start`` to ``end`` as an input of the model."""
        first, last = self._specials
        row: TokenIds = np.concatenate(
            [first, placed.before, placed.own[start:end], placed.behind, last]
        )
        return row

    def _encoded(
        self, inputs: list[list[TokenIds]], progress: ProgressCallback | None = None
    ) -> Iterator[tuple[list[int], Vectors]]:
        batches = encode_in_batches(inputs, self._encode, self._batch_tokens, progress)
        for indexes, vectors in batches:
            yield indexes, checked(vectors, (len(indexes), self.dimension))

    def _encode(self, rows: Sequence[TokenIds]) -> Vectors:
        pooled = self._model.encode(rows, self._described.pooling)
        return shortened(pooled, self.dimension)

    def _inputs(
        self, texts: Sequence[str], template: str, on_overlong: str
    ) -> list[list[TokenIds]]:
        """Rows of token ids of each text: one, or its windows."""
        inputs: list[list[TokenIds]] = []
        for start in range(0, len(texts), _TOKENISED):
            part = texts[start : start + _TOKENISED]
            filled = [fill(template, text) for text in part]
            for text, ids in zip(part, self._model.tokenizer.encode_batch(filled), strict=True):
                row = np.array(ids, np.int32)
                if len(row) <= self.max_tokens:
                    inputs.append([row])
                elif on_overlong == "error":
                    raise input_too_long(text, len(row), self.max_tokens)
                else:
                    cut = self._cut(text, template)
                    inputs.append(cut[:1] if on_overlong == "truncate" else cut)
        return inputs

    def _cut(self, text: str, template: str) -> list[TokenIds]:
        """Parts of ``text`` within the limit, each in the template and with special tokens."""
        placed = self._placed(text, template)
        around_it = len(self._row(placed, 0, 0))
        places = windows(len(placed.own), max(1, self.max_tokens - around_it))
        return [self._row(placed, start, end) for start, end in places]


class BertEmbedder(TokenEmbedder):
    """A model folder of Merestone's own form, as :mod:`merestone.embedding.bert` reads it."""

    def __init__(
        self,
        name: str,
        folder: Path,
        settings: EmbeddingSettings,
        scripts: frozenset[str] | None = None,
    ) -> None:
        check_settings(settings)
        given = read_config(folder)
        described = Description(
            identity={},
            width=given.dimension,
            max_tokens=given.max_tokens,
            positions=max(given.max_tokens, given.positions),
            pooling=given.pooling,
            passage_template=given.passage_template,
            query_template=given.query_template,
            scripts=scripts,
        ).adapted(settings)
        config = adapted(given, described)
        described = described.with_identity(identity(config))
        model = BertEncoder(folder, config, settings.threads)
        super().__init__(name, "bert", described, model, settings)
