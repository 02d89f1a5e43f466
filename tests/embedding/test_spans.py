from __future__ import annotations

from bisect import bisect_left
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from embedding import encoder_reference
from embedding.model_folders import WORDS, Weights, describe, make_folder, tokenizer, write_pooling
from hypothesis import given, settings
from hypothesis import strategies as st

from merestone.embedding import open_embedder
from merestone.embedding.embedder import BertEmbedder, TokenEmbedder
from merestone.embedding.spans import plan_spans
from merestone.types import EmbeddingSettings, SettingsError, SpanEmbedder

LONG = " ".join(WORDS[number % 20] for number in range(90))
LIMIT = 22


def open_folder(folder: Path, **changes: object) -> TokenEmbedder:
    made = open_embedder(EmbeddingSettings(model=str(folder), threads=1, **changes))  # type: ignore[arg-type]
    assert isinstance(made, TokenEmbedder)
    return made


@pytest.fixture(scope="module", params=["bert", "mpnet"])
def model(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, Path, Weights]:
    folder = tmp_path_factory.mktemp(request.param) / "model"
    return request.param, folder, make_folder(folder, request.param)


def directly(
    kind: str, weights: Weights, text: str, before: str = ""
) -> tuple[list[tuple[int, int]], np.ndarray]:
    """Places and vectors of the text's own tokens, read in one piece."""
    encoding = tokenizer(kind).encode(before + text)
    vectors = encoder_reference.token_vectors(weights, describe(kind), encoding.ids)
    own = [
        number
        for number, (start, end) in enumerate(encoding.offsets)
        if end > len(before) and not encoding.special_tokens_mask[number]
    ]
    places = [
        (encoding.offsets[n][0] - len(before), encoding.offsets[n][1] - len(before)) for n in own
    ]
    return places, vectors[own]


def unit(vector: np.ndarray) -> np.ndarray:
    return vector / np.linalg.norm(vector)


@pytest.mark.parametrize("template", ["{text}", "passage: {text}", "query: {text} !"])
def test_a_span_is_the_mean_of_its_token_vectors(
    model: tuple[str, Path, Weights], template: str
) -> None:
    kind, folder, weights = model
    text = "the river flows past the old mill . what is deep ?"
    spans = [(0, 15), (10, 33), (36, len(text)), (0, len(text))]
    before, behind = template.split("{text}")
    encoding = tokenizer(kind).encode(before + text + behind)
    vectors = encoder_reference.token_vectors(weights, describe(kind), encoding.ids)
    found = open_folder(folder, passage_template=template).embed_spans(text, spans)
    for (start, end), vector in zip(spans, found, strict=True):
        own = [
            number
            for number, (first, last) in enumerate(encoding.offsets)
            if start <= first - len(before) < end and last > first
        ]
        assert own
        assert np.abs(vector - unit(vectors[own].mean(axis=0))).max() < 1e-5


def test_whole_text_as_one_span_lacks_only_the_special_tokens(
    model: tuple[str, Path, Weights],
) -> None:
    kind, folder, weights = model
    text = "people cross it in boats"
    _, vectors = directly(kind, weights, text)
    found = open_folder(folder).embed_spans(text, [(0, len(text))])[0]
    assert np.abs(found - unit(vectors.mean(axis=0))).max() < 1e-5


def test_a_text_beyond_the_limit_is_read_in_windows(model: tuple[str, Path, Weights]) -> None:
    """Each token comes from the window in whose middle it stands best, read as that window."""
    kind, folder, weights = model
    embedder = open_folder(folder, max_tokens=LIMIT)
    words = LONG.split()
    size = LIMIT - 2
    starts = [*range(0, len(words) - size, size // 2), len(words) - size]
    read = {
        start: directly(kind, weights, " ".join(words[start : start + size]))[1] for start in starts
    }

    def vector_of(word: int) -> np.ndarray:
        def margin(start: int) -> float:
            left = word - start if start else np.inf
            right = start + size - 1 - word if start + size < len(words) else np.inf
            return min(left, right)

        holding = [start for start in starts if start <= word < start + size]
        best = max(holding, key=lambda start: (margin(start), -start))
        return read[best][word - best]

    ends = np.cumsum([len(word) + 1 for word in words])
    spans, expected = [], []
    for first, last in [(0, 5), (3, 40), (8, 12), (55, 90), (0, 90), (89, 90)]:
        spans.append((int(ends[first - 1]) if first else 0, int(ends[last - 1]) - 1))
        expected.append(unit(np.mean([vector_of(word) for word in range(first, last)], axis=0)))
    found = embedder.embed_spans(LONG, spans)
    assert np.abs(found - np.stack(expected)).max() < 1e-5


def test_only_windows_that_a_span_needs_are_read(
    model: tuple[str, Path, Weights], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, folder, _ = model
    embedder = open_folder(folder, max_tokens=LIMIT)
    rows: list[int] = []
    inner = embedder._model.encode_tokens
    monkeypatch.setattr(
        embedder._model, "encode_tokens", lambda part: rows.extend(map(len, part)) or inner(part)
    )
    embedder.embed_spans(LONG, [(0, 10)])
    assert rows == [LIMIT]


def test_keys_change_with_what_the_model_reads_and_with_nothing_else(
    model: tuple[str, Path, Weights],
) -> None:
    _, folder, _ = model
    embedder = open_folder(folder, max_tokens=LIMIT)
    spans = [(0, 10), (11, 30), (200, 230)]
    keys = embedder.span_keys(LONG, spans)
    assert len(set(keys)) == 3
    assert embedder.span_keys(LONG, spans[::-1]) == keys[::-1]
    # White space is no token, so that moved offsets alone change nothing.
    assert embedder.span_keys("  " + LONG, [(a + 2, b + 2) for a, b in spans]) == keys
    changed = LONG[:-5] + "mill!"
    assert embedder.span_keys(changed, spans)[:2] == keys[:2]
    early = "fish" + LONG[3:]
    assert not set(embedder.span_keys(early, [(a + 1, b + 1) for a, b in spans])[:1]) & set(keys)


def test_spans_without_tokens_take_the_nearest(model: tuple[str, Path, Weights]) -> None:
    kind, folder, weights = model
    embedder = open_folder(folder)
    text = "  river   mill  "
    _, (river, mill) = directly(kind, weights, text)
    found = embedder.embed_spans(text, [(0, 1), (7, 9), (14, 16)])
    for vector, expected in zip(found, [river, river, mill], strict=True):
        assert np.abs(vector - unit(expected)).max() < 1e-5
    nothing = embedder.embed_spans(" \n ", [(0, 1), (1, 3)])
    assert np.isfinite(nothing).all()
    assert np.linalg.norm(nothing, axis=1) == pytest.approx(1, abs=1e-5)
    assert embedder.embed_spans("river", []).shape == (0, embedder.dimension)


def test_units_come_with_the_vector_of_their_text(model: tuple[str, Path, Weights]) -> None:
    kind, folder, weights = model
    embedder = open_folder(folder, units=True, passage_template="passage: {text}", dimension=12)
    texts = ["the river flows . people cross it", "", "a mill"]
    units = [[(0, 17), (18, 33)], [(0, 0)], []]
    whole, parts = embedder.embed_units(texts, units)
    assert np.abs(whole - embedder.embed_passages(texts)).max() < 1e-5
    places, vectors = directly(kind, weights, texts[0], "passage: ")
    for (start, end), vector in zip(units[0], parts[0], strict=True):
        own = [number for number, (first, _) in enumerate(places) if start <= first < end]
        assert np.abs(vector - unit(vectors[own].mean(axis=0)[:12])).max() < 1e-5
    assert [part.shape for part in parts] == [(2, 12), (1, 12), (0, 12)]


def test_models_that_pool_otherwise_are_refused(tmp_path: Path) -> None:
    make_folder(tmp_path / "model", "bert")
    write_pooling(tmp_path / "model", "cls")
    with pytest.raises(SettingsError) as caught:
        open_folder(tmp_path / "model", mode="late")
    assert caught.value.code == "late-needs-mean-pooling"
    with pytest.raises(SettingsError):
        open_folder(tmp_path / "model").embed_spans("river", [(0, 5)])
    with pytest.raises(SettingsError) as caught:
        open_folder(tmp_path / "model", mode="later")
    assert caught.value.code == "bad-embedding-mode"


def test_the_bundled_model_has_token_vectors_too(minilm: BertEmbedder) -> None:
    text = "A cell is the smallest unit of life. Zürich is the largest city in Switzerland."
    assert isinstance(minilm, SpanEmbedder)
    row = np.array(minilm._model.tokenizer.encode_batch([text])[0], np.int32)
    (tokens,) = minilm._model.encode_tokens([row])
    plain = minilm.embed_passages([text])[0]
    assert np.abs(unit(tokens.mean(axis=0)) - plain).max() < 1e-5
    found = minilm.embed_spans(text, [(0, 36), (37, len(text))])
    starts = list(minilm.tokenizer.starts(text))
    cut = bisect_left(starts, 37)
    assert np.abs(found[0] - unit(tokens[1 : 1 + cut].mean(axis=0))).max() < 1e-5
    assert np.abs(found[1] - unit(tokens[1 + cut : -1].mean(axis=0))).max() < 1e-5


@given(
    count=st.integers(0, 200),
    size=st.integers(1, 40),
    cuts=st.lists(st.integers(0, 450), min_size=2, max_size=8).map(sorted),
)
@settings(deadline=None)
def test_runs_tile_the_tokens_of_their_span(count: int, size: int, cuts: list[int]) -> None:
    starts = [2 * number for number in range(count)]
    spans = list(pairwise(cuts))
    plan = plan_spans(starts, spans, size)
    for (start, end), runs in zip(spans, plan.runs, strict=True):
        tokens = []
        for run in runs:
            first, last = plan.windows[run.window]
            assert 0 <= run.first < run.end <= last - first
            tokens += range(first + run.first, first + run.end)
        own = [number for number, place in enumerate(starts) if start <= place < end]
        if own or not count:
            assert tokens == own
        else:
            assert len(tokens) == 1


@given(count=st.integers(1, 300), size=st.integers(2, 40))
@settings(deadline=None)
def test_no_token_stands_near_a_border_that_it_need_not(count: int, size: int) -> None:
    plan = plan_spans(range(count), [(0, count)], size)
    for run in plan.runs[0]:
        first, last = plan.windows[run.window]
        if first:
            assert run.first >= (size - size // 2) // 2 - 1 or first + run.first >= count - size
        assert last <= count
