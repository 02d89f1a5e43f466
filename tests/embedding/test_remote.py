from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from embedding.service import FakeTime, Request, Response, Service, openai, serve, unit, vector
from hypothesis import example, given, settings
from hypothesis import strategies as st

from merestone.embedding.remote import RemoteEmbedder, open_remote
from merestone.embedding.services import SERVICES
from merestone.retrying import Timing
from merestone.types import EmbedderError, EmbeddingSettings, SettingsError

TEXTS = [f"Topic number {number} is explained here." for number in range(8)]
KEY = "sk-very-secret-0123456789"


def good(request: Request) -> Response:
    return openai(request.texts)


def open_at(service: Service, time: FakeTime | None = None, **changes: object) -> RemoteEmbedder:
    time = time or FakeTime()
    values: dict[str, object] = {
        "model": "openai:toy",
        "url": service.url,
        "max_tokens": 200,
        "tokenizer": "characters",
        "timeout_seconds": 5,
        **changes,
    }
    timing = Timing(time.clock, time.sleep, time.clock)
    return open_remote(EmbeddingSettings(**values), timing)  # type: ignore[arg-type]


def check(embedder: RemoteEmbedder, texts: list[str]) -> None:
    """Every text has its own vector."""
    vectors = embedder.embed_passages(texts)
    assert vectors.dtype == np.float32
    assert np.abs(vectors - np.stack([unit(text) for text in texts])).max() < 1e-6


def test_texts_get_their_vectors_in_one_request() -> None:
    with serve(good) as service:
        embedder = open_at(service)
        check(embedder, TEXTS)
        assert [request.path for request in service.requests] == ["/embeddings"]
        body = service.requests[0].body
        assert body["model"] == "toy"
        assert body["encoding_format"] == "float"
        assert embedder.dimension == 8
        assert embedder.usage.texts == 8
        assert embedder.usage.tokens == sum(map(len, TEXTS))


def test_dimension_is_asked_for_once_if_nobody_knows_it() -> None:
    with serve(good) as service:
        embedder = open_at(service)
        assert embedder.dimension == embedder.dimension == 8
        assert len(service.requests) == 1


def shuffled(request: Request) -> Response:
    answer = openai(request.texts)
    answer.body["data"].reverse()
    return answer


def without_indexes(request: Request) -> Response:
    return openai(request.texts, data=[{"embedding": vector(text)} for text in request.texts])


@pytest.mark.parametrize("respond", [shuffled, without_indexes])
def test_index_decides_where_there_is_one(respond: Callable[[Request], Response]) -> None:
    with serve(respond) as service:
        check(open_at(service), TEXTS)
        assert len(service.requests) == 1


def whole_batches_broken(change: Callable[[list[dict[str, object]]], object]) -> object:
    """A service that spoils the answer to every batch of more than three."""

    def respond(request: Request) -> Response:
        answer = openai(request.texts)
        if len(request.texts) > 3:
            answer.body["data"] = change(answer.body["data"])
        return answer

    return respond


def drop_third(data: list[dict[str, object]]) -> object:
    return data[:2] + data[3:]


def drop_third_and_renumber(data: list[dict[str, object]]) -> object:
    left = data[:2] + data[3:]
    return [{**item, "index": place} for place, item in enumerate(left)]


def repeat_an_index(data: list[dict[str, object]]) -> object:
    return [*data[:-1], {**data[-1], "index": 0}]


def leave_an_index_out(data: list[dict[str, object]]) -> object:
    return [{"embedding": data[0]["embedding"]}, *data[1:]]


@pytest.mark.parametrize(
    "change",
    [
        drop_third,
        drop_third_and_renumber,
        repeat_an_index,
        leave_an_index_out,
        lambda data: data + data[:1],
        lambda data: [],
        lambda data: None,
        lambda data: {"data": data},
        lambda data: [
            {**item, "embedding": [1.0] * (place + 1)} for place, item in enumerate(data)
        ],
        lambda data: [{**item, "embedding": "AAAA"} for item in data],
    ],
)
def test_answers_that_cannot_be_trusted_are_asked_for_in_parts(
    change: Callable[[list[dict[str, object]]], object],
) -> None:
    with serve(whole_batches_broken(change)) as service:  # type: ignore[arg-type]
        check(open_at(service), TEXTS)
        # The batch twice, then its halves of four twice each, then four of two.
        assert len(service.requests) <= 10


@pytest.mark.parametrize(
    "bad",
    [
        [1.0] * 7,
        [1.0] * 9,
        [float("nan"), *[1.0] * 7],
        [float("inf"), *[1.0] * 7],
        [0.0] * 8,
        [None, *[1.0] * 7],
        ["x"] * 8,
        [[1.0]] * 8,
        [],
        None,
        {"float": [1.0] * 8},
    ],
)
def test_one_unusable_vector_is_asked_for_alone(bad: object) -> None:
    def respond(request: Request) -> Response:
        answer = openai(request.texts)
        if len(request.texts) > 1:
            answer.body["data"][4]["embedding"] = bad
        return answer

    with serve(respond) as service:
        check(open_at(service), TEXTS)
        assert [len(request.texts) for request in service.requests] == [8, 1]
        assert service.requests[1].texts == [TEXTS[4]]


def test_error_in_an_answer_that_calls_itself_good_is_told() -> None:
    with serve(lambda _: Response(body={"error": {"message": "model is loading"}})) as service:
        with pytest.raises(EmbedderError, match="model is loading") as caught:
            open_at(service).embed_passages(TEXTS)
        assert caught.value.code == "unusable-vectors"
        assert len(service.requests) <= 20


def test_too_many_requests_are_waited_for_as_long_as_the_service_says() -> None:
    def respond(request: Request) -> Response:
        if request.number < 3:
            return Response(429, {"error": "slow down"}, {"Retry-After": "7"})
        return openai(request.texts)

    time = FakeTime()
    with serve(respond) as service:
        check(open_at(service, time), TEXTS)
        assert time.slept == [7, 7]
        assert len(service.requests) == 3


def test_a_date_is_a_time_to_wait_until() -> None:
    def respond(request: Request) -> Response:
        if request.number == 1:
            return Response(503, {}, {"Retry-After": "Thu, 01 Jan 1970 00:17:00 GMT"})
        return openai(request.texts)

    time = FakeTime(now=1000)
    with serve(respond) as service:
        check(open_at(service, time), TEXTS)
    assert time.slept == [20]


@pytest.mark.parametrize("wait", ["3600", "Fri, 02 Jan 1970 00:00:00 GMT"])
def test_nobody_waits_for_an_hour(wait: str) -> None:
    time = FakeTime()
    with serve(lambda _: Response(429, {}, {"Retry-After": wait})) as service:
        with pytest.raises(EmbedderError, match="left alone for") as caught:
            open_at(service, time).embed_passages(TEXTS)
        assert caught.value.code == "service-unavailable"
        assert len(service.requests) == 1
    assert time.slept == []


def test_a_header_that_says_nothing_is_not_obeyed() -> None:
    def respond(request: Request) -> Response:
        if request.number == 1:
            return Response(429, {}, {"Retry-After": "soon"})
        return openai(request.texts)

    time = FakeTime()
    with serve(respond) as service:
        check(open_at(service, time), TEXTS)
    assert len(time.slept) == 1
    assert time.slept[0] < 1


def test_patience_with_too_many_requests_ends() -> None:
    time = FakeTime()
    with serve(lambda _: Response(429, {"error": "quota"})) as service:
        with pytest.raises(EmbedderError, match="429") as caught:
            open_at(service, time).embed_passages(TEXTS)
        assert caught.value.code == "service-unavailable"
        assert len(service.requests) == 4
    assert 1 < sum(time.slept) < 10


def test_an_error_inside_the_service_passes() -> None:
    def respond(request: Request) -> Response:
        return Response(500, {"error": "oops"}) if request.number == 1 else openai(request.texts)

    with serve(respond) as service:
        check(open_at(service), TEXTS)
        assert len(service.requests) == 2


def test_a_service_that_only_fails_costs_little_and_says_why() -> None:
    time = FakeTime()
    with serve(lambda _: Response(500, {"error": "out of memory"})) as service:
        embedder = open_at(service, time)
        with pytest.raises(EmbedderError, match="out of memory") as caught:
            embedder.embed_passages([f"text {number}" for number in range(64)])
        assert caught.value.code == "service-unavailable"
        # The batch four times, each half on the way to three single texts twice.
        assert len(service.requests) <= 4 + 2 * 9
        assert len(service.texts) <= 64 * 4 + 2 * 2 * 64
        before = len(service.requests)
        for number in range(100):
            with pytest.raises(EmbedderError, match="out of memory"):
                embedder.embed_passages([f"text {number}"])
        # Left alone by then: a run over many documents does not knock for each.
        assert len(service.requests) - before <= 4 + 4 + 3
    assert sum(time.slept) < 60


def test_a_service_that_was_left_alone_is_asked_again_later() -> None:
    works = threading.Event()

    def respond(request: Request) -> Response:
        return openai(request.texts) if works.is_set() else Response(503, {})

    time = FakeTime()
    with serve(respond) as service:
        embedder = open_at(service, time)
        for text in TEXTS:
            with pytest.raises(EmbedderError):
                embedder.embed_passages([text])
        works.set()
        with pytest.raises(EmbedderError, match="left alone"):
            embedder.embed_passages(TEXTS)
        time.now += 31
        check(embedder, TEXTS)
        check(embedder, TEXTS)


def test_a_service_that_is_not_there_is_named() -> None:
    with serve(good) as service:
        embedder = open_at(service)
    with pytest.raises(
        EmbedderError, match=r"http://127\.0\.0\.1:\d+/embeddings cannot be reached"
    ):
        embedder.embed_passages(TEXTS)


def test_a_slow_service_is_given_up() -> None:
    never = threading.Event()

    def respond(request: Request) -> Response:
        if len(request.texts) > 4:
            return Response(body={}, wait=never)
        return openai(request.texts)

    with serve(respond) as service:
        embedder = open_at(service, timeout_seconds=0.3)
        check(embedder, TEXTS)
        assert [len(request.texts) for request in service.requests] == [8] * 4 + [4, 4]
        never.set()


def test_a_service_whose_answer_drips_is_given_up() -> None:
    with serve(lambda request: replace(openai(request.texts), drips=0.02)) as service:
        embedder = open_at(service, timeout_seconds=0.1)
        with pytest.raises(EmbedderError, match=r"did not answer within 0\.2 s, twice its timeout"):
            embedder.embed_passages(["a"])


def test_a_cut_connection_is_tried_again() -> None:
    def respond(request: Request) -> Response:
        answer = openai(request.texts)
        return Response(body=answer.body, cut=40) if request.number < 3 else answer

    with serve(respond) as service:
        check(open_at(service), TEXTS)
        assert len(service.requests) == 3


def test_an_answer_that_is_no_json_is_tried_again() -> None:
    def respond(request: Request) -> Response:
        return Response(raw=b"<html>") if request.number == 1 else openai(request.texts)

    with serve(respond) as service:
        check(open_at(service), TEXTS)


@pytest.mark.parametrize("status", [400, 413, 422, 500])
@example(poisonous={0})
@example(poisonous={30, 31})
@given(poisonous=st.sets(st.integers(0, 31), min_size=1, max_size=2))
@settings(max_examples=5, deadline=None)
def test_poisonous_texts_are_found_and_nothing_else_is_lost(
    status: int, poisonous: set[int]
) -> None:
    texts = [f"text number {number} of many" for number in range(32)]
    bad = {texts[number] for number in poisonous}

    def respond(request: Request) -> Response:
        if bad & set(request.texts):
            return Response(status, {"error": "cannot stomach this"})
        return openai(request.texts)

    with serve(respond) as service:
        embedder = open_at(service)
        with pytest.raises(EmbedderError, match="cannot stomach this") as caught:
            embedder.embed_passages(texts)
        assert caught.value.code == "text-refused"
        assert any(text in caught.value.message for text in bad)
        # Halving: the batch, and two requests a level for each bad text, each at most twice.
        assert len(service.requests) <= 4 + 2 * 5 * 2 * len(bad)
        before = len(service.requests)
        for text in texts:
            if text in bad:
                with pytest.raises(EmbedderError, match=f"{text}'"):
                    embedder.embed_passages([text])
            else:
                check(embedder, [text])
        # What was paid for once is there, and what is known to fail is not asked for again.
        assert len(service.requests) == before


def test_what_was_rescued_is_handed_out_once_and_not_for_long() -> None:
    poison = threading.Event()
    poison.set()

    def respond(request: Request) -> Response:
        if TEXTS[3] in request.texts and poison.is_set():
            return Response(400, {})
        return openai(request.texts)

    time = FakeTime()
    with serve(respond) as service:
        embedder = open_at(service, time)
        with pytest.raises(EmbedderError):
            embedder.embed_passages(TEXTS)
        poison.clear()
        time.now += 1000
        before = len(service.requests)
        check(embedder, TEXTS)
        assert len(service.requests) == before + 1


def test_batches_before_the_one_that_fails_are_kept() -> None:
    def respond(request: Request) -> Response:
        return Response(400, {}) if "a" in request.texts else openai(request.texts)

    with serve(respond) as service:
        embedder = open_at(service, batch=4)
        texts = [*TEXTS, "a"]
        with pytest.raises(EmbedderError):
            embedder.embed_passages(texts)
        before = len(service.requests)
        check(embedder, TEXTS)
        assert len(service.requests) == before


def test_a_service_that_takes_smaller_batches_is_given_smaller_ones() -> None:
    def respond(request: Request) -> Response:
        return Response(413, {}) if len(request.texts) > 2 else openai(request.texts)

    with serve(respond) as service:
        embedder = open_at(service)
        check(embedder, TEXTS)
        before = len(service.requests)
        check(embedder, TEXTS)
        assert [len(request.texts) for request in service.requests[before:]] == [2, 2, 2, 2]


@pytest.mark.parametrize("status", [401, 403, 404, 301])
def test_what_will_never_be_answered_is_asked_once(status: int) -> None:
    with serve(lambda _: Response(status, {"error": {"message": "no such model"}})) as service:
        with pytest.raises(EmbedderError, match="no such model") as caught:
            open_at(service).embed_passages(TEXTS)
        assert caught.value.code == "service-refused"
        assert len(service.requests) == 1


def test_a_request_that_is_wrong_for_every_text_ends_soon() -> None:
    texts = [f"text {number}" for number in range(64)]
    with serve(lambda _: Response(400, {"error": "unknown field dimensions"})) as service:
        with pytest.raises(EmbedderError, match="unknown field dimensions") as caught:
            open_at(service).embed_passages(texts)
        assert caught.value.code == "service-refused"
        assert len(service.requests) <= 12


def test_the_key_is_sent_and_never_shown(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("TOY_KEY", KEY)
    caplog.set_level(logging.DEBUG)
    with serve(lambda r: Response(401, {"error": f"{KEY} is wrong"})) as service:
        embedder = open_at(service, api_key_env="TOY_KEY")
        fingerprint = embedder.fingerprint
        with pytest.raises(EmbedderError) as caught:
            embedder.embed_passages(TEXTS)
        assert service.requests[0].headers["Authorization"] == f"Bearer {KEY}"
    assert "*** is wrong" in str(caught.value)
    shown = [str(caught.value), repr(caught.value), caplog.text, repr(vars(embedder))]
    shown.append(repr(vars(embedder._remote)))
    assert not any(KEY in text for text in shown)
    monkeypatch.setenv("TOY_KEY", "another")
    assert open_at(service, api_key_env="TOY_KEY").fingerprint == fingerprint


def test_a_key_that_is_not_set_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TOY_KEY", raising=False)
    with serve(good) as service:
        embedder = open_at(service, api_key_env="TOY_KEY")
        with pytest.raises(SettingsError, match="TOY_KEY") as caught:
            embedder.embed_passages(TEXTS)
        assert caught.value.code == "api-key-missing"
        assert service.requests == []


def test_the_usual_key_goes_to_the_usual_address_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with serve(good) as service:
        check(open_at(service), TEXTS)
        assert "Authorization" not in service.requests[0].headers


@pytest.mark.parametrize(
    "url", ["localhost:11434", "ftp://host/v1", f"http://user:{KEY}@host/v1", f"http://h/?k={KEY}"]
)
def test_addresses_that_cannot_be_or_hold_a_key_are_refused(url: str) -> None:
    with pytest.raises(SettingsError) as caught:
        open_remote(EmbeddingSettings(model="openai:text-embedding-3-small", url=url))
    assert caught.value.code == "bad-service-url"
    assert KEY not in str(caught.value)


def test_a_model_of_which_nothing_is_known_has_to_be_described() -> None:
    with pytest.raises(SettingsError, match=r"embedding\.max_tokens and embedding\.tokenizer") as e:
        open_remote(EmbeddingSettings(model="ollama:something-new"))
    assert e.value.code == "embedder-needs-limit"


def test_a_service_without_a_model_is_refused() -> None:
    with pytest.raises(SettingsError, match="name-of-the-model") as caught:
        open_remote(EmbeddingSettings(model="openai:"))
    assert caught.value.code == "embedder-needs-model"


def test_known_models_bring_their_limits_and_templates() -> None:
    embedder = open_remote(EmbeddingSettings(model="ollama:nomic-embed-text:latest"))
    assert embedder.dimension == 768
    assert embedder.max_tokens == 2048
    assert embedder.scripts == {"latin"}
    assert embedder.tokenizer.special_tokens == 2 + 4


SHAPES = {
    "openai": lambda texts: openai(texts).body,
    "vllm": lambda texts: openai(texts).body,
    "jina": lambda texts: openai(texts).body,
    "voyage": lambda texts: openai(texts).body,
    "ollama": lambda texts: {"embeddings": [vector(text) for text in texts]},
    "tei": lambda texts: [vector(text) for text in texts],
    "cohere": lambda texts: {
        "embeddings": {"float": [vector(text) for text in texts]},
        "meta": {"billed_units": {"input_tokens": 5}},
    },
}


@pytest.mark.parametrize("name", sorted(SERVICES))
def test_every_service_is_spoken_to_in_its_own_shape(name: str) -> None:
    shape = SERVICES[name]
    with serve(lambda request: Response(body=SHAPES[name](request.texts))) as service:
        embedder = open_at(service, model=f"{name}:toy" if shape.model else f"{name}:")
        check(embedder, TEXTS)
        embedder.embed_queries(["a question"])
        passages, question = service.requests[0], service.requests[-1]
        assert passages.path == shape.path
        assert set(shape.always.items() if name != "cohere" else ()) <= {
            (key, value) for key, value in passages.body.items() if not isinstance(value, list)
        }
        if shape.purpose:
            key, passage, query = shape.purpose
            assert passages.body[key] == passage
            assert question.body[key] == query


def test_no_service_is_allowed_to_cut_silently() -> None:
    silent = {"ollama": "truncate", "tei": "truncate", "jina": "truncate", "voyage": "truncation"}
    for name, key in silent.items():
        assert SERVICES[name].always[key] is False
    assert SERVICES["cohere"].always["truncate"] == "NONE"


def test_templates_are_filled_and_counted() -> None:
    with serve(good) as service:
        embedder = open_at(
            service,
            passage_template="passage: {text}",
            query_template="query: {text}",
            max_tokens=30,
        )
        vectors = embedder.embed_passages(["x" * 21])
        assert service.texts == ["passage: " + "x" * 21]
        assert np.abs(vectors[0] - unit(service.texts[0])).max() < 1e-6
        assert embedder.embed_queries(["why"]) @ unit("query: why") == pytest.approx(1, abs=1e-5)
        with pytest.raises(EmbedderError) as caught:
            embedder.embed_passages(["x" * 22])
        assert caught.value.code == "input-too-long"


def test_overlong_texts_are_windowed_or_cut_as_told() -> None:
    text = "".join(chr(97 + number % 26) for number in range(100))
    with serve(good) as service:
        windowed = open_at(service, max_tokens=40, on_overlong="window")
        vectors = windowed.embed_passages([text])
        parts = service.texts
        assert all(len(part) <= 40 for part in parts)
        assert {text[place] for place in range(100)} <= set("".join(parts))
        mean = np.mean([unit(part) for part in parts], axis=0)
        assert np.abs(vectors[0] - mean / np.linalg.norm(mean)).max() < 1e-5
        cut = open_at(service, max_tokens=40, on_overlong="truncate")
        assert np.abs(cut.embed_passages([text])[0] - unit(text[:40])).max() < 1e-6


def test_vectors_are_cut_here_where_the_service_cannot() -> None:
    with serve(lambda request: Response(body=[vector(t) for t in request.texts])) as service:
        found = open_at(service, model="tei:", dimension=3).embed_passages(TEXTS)
        assert "dimensions" not in service.requests[0].body
    expected = np.stack([vector(text)[:3] for text in TEXTS])
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    assert np.abs(found - expected).max() < 1e-6


def test_a_service_that_ignores_the_wanted_dimension_is_noticed() -> None:
    with serve(good) as service:
        with pytest.raises(EmbedderError) as caught:
            open_at(service, dimension=4).embed_passages(TEXTS)
        assert service.requests[0].body["dimensions"] == 4
        assert caught.value.code == "unusable-vectors"
        assert len(service.requests) <= 20


def test_the_fingerprint_is_that_of_the_model_and_not_of_its_place() -> None:
    def fingerprint(**changes: object) -> str:
        values: dict[str, object] = {"model": "openai:toy", "max_tokens": 9, "tokenizer": "words"}
        return open_remote(EmbeddingSettings(**{**values, **changes})).fingerprint  # type: ignore[arg-type]

    same = fingerprint()
    assert same == fingerprint(url="http://elsewhere:1/v1", batch=3, timeout_seconds=9)
    others = [
        fingerprint(model="openai:other"),
        fingerprint(model="vllm:toy"),
        fingerprint(dimension=4),
        fingerprint(passage_template="p: {text}"),
        fingerprint(query_template="q: {text}"),
        fingerprint(on_overlong="window"),
    ]
    assert len({same, *others}) == 7
    assert fingerprint(model="tei:", url="http://a") != fingerprint(model="tei:", url="http://b")


def test_late_chunking_is_refused() -> None:
    with pytest.raises(SettingsError) as caught:
        open_remote(
            EmbeddingSettings(model="openai:text-embedding-3-small", tokenizer="words", mode="late")
        )
    assert caught.value.code == "late-needs-token-vectors"


@given(
    texts=st.lists(st.text(min_size=1, max_size=12), min_size=1, max_size=20, unique=True),
    broken=st.integers(0, 5),
    batch=st.integers(1, 8),
)
@settings(max_examples=20, deadline=None)
def test_nothing_shifts_however_the_service_behaves(
    texts: list[str], broken: int, batch: int
) -> None:
    changes = [
        drop_third_and_renumber,
        repeat_an_index,
        lambda data: list(reversed(data)),
        lambda data: data[1:],
        lambda data: [{**data[0], "embedding": [float("nan")] * 8}, *data[1:]],
        lambda data: data,
    ]
    with serve(whole_batches_broken(changes[broken])) as service:  # type: ignore[arg-type]
        check(open_at(service, batch=batch), texts)
