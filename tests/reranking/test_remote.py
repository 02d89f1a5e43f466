from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from embedding.service import FakeTime, Request, Response, Service, serve

from merestone.reranking import apply_reranker
from merestone.reranking.remote import RemoteReranker, open_remote
from merestone.reranking.services import SERVICES
from merestone.retrying import Timing
from merestone.types import RerankerError, RerankingSettings, SettingsError

TEXTS = [f"passage {number}" for number in (3, 1, 4, 15, 9, 2, 6)]
KEY = "secret-key-42"


def score(text: str) -> float:
    return float(text.split()[-1]) / 20


def answer(name: str, texts: list[str], **changes: Any) -> Any:
    """A good answer of a service, best first as they give them."""
    shape = SERVICES[name]
    items = [{"index": place, shape.score: score(text)} for place, text in enumerate(texts)]
    items.sort(key=lambda item: -item[shape.score])
    return {shape.answers[0]: items} if shape.answers else items


def good(request: Request) -> Response:
    return Response(body=answer("cohere", request.texts))


def open_at(service: Service, **changes: object) -> RemoteReranker:
    time = FakeTime()
    values: dict[str, object] = {
        "model": "cohere:toy",
        "url": service.url,
        "timeout_seconds": 5,
        **changes,
    }
    return open_remote(RerankingSettings(**values), Timing(time.clock, time.sleep, time.clock))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", sorted(SERVICES))
def test_every_service_is_spoken_to_in_its_own_shape(name: str) -> None:
    shape = SERVICES[name]
    with serve(lambda request: Response(body=answer(name, request.texts))) as service:
        reranker = open_at(service, model=f"{name}:toy" if shape.model else f"{name}:")
        assert reranker.rerank("why?", TEXTS) == [score(text) for text in TEXTS]
        request = service.requests[0]
        assert request.path == shape.path
        assert request.body[shape.query] == "why?"
        if shape.model:
            assert request.body[shape.model] == "toy"
        if shape.count:
            assert request.body[shape.count] == len(TEXTS)


def test_the_best_come_first() -> None:
    with serve(good) as service:
        found = apply_reranker(open_at(service), "why?", TEXTS, str, 5)
    assert [TEXTS[place] for place in found.order] == [
        "passage 15",
        "passage 9",
        "passage 4",
        "passage 3",
        "passage 1",
        "passage 2",
        "passage 6",
    ]


def test_batches_are_no_larger_than_told() -> None:
    with serve(good) as service:
        assert open_at(service, batch=3).rerank("q", TEXTS) == [score(text) for text in TEXTS]
        assert [len(request.texts) for request in service.requests] == [3, 3, 1]


def spoilt(change: Callable[[list[dict[str, Any]]], Any]) -> Callable[[Request], Response]:
    """Answers to more than three texts are spoilt."""

    def respond(request: Request) -> Response:
        body = answer("cohere", request.texts)
        if len(request.texts) > 3:
            body["results"] = change(body["results"])
        return Response(body=body)

    return respond


@pytest.mark.parametrize(
    "change",
    [
        lambda items: items[1:],
        lambda items: [{**item, "index": place} for place, item in enumerate(items[1:])],
        lambda items: [*items[1:], items[1]],
        lambda items: [{**item, "index": item["index"] + 1} for item in items],
        lambda items: None,
        lambda items: [{**item, "relevance_score": float("nan")} for item in items],
        lambda items: [{**items[0], "relevance_score": None}, *items[1:]],
        lambda items: [{**items[0], "relevance_score": "high"}, *items[1:]],
    ],
)
def test_no_score_goes_to_another_text(change: Callable[[list[dict[str, Any]]], Any]) -> None:
    with serve(spoilt(change)) as service:
        assert open_at(service).rerank("q", TEXTS) == [score(text) for text in TEXTS]
        assert len(service.requests) <= 12


def test_a_text_that_cannot_be_scored_is_left_without() -> None:
    def respond(request: Request) -> Response:
        if TEXTS[2] in request.texts:
            return Response(422, {"error": "too long"})
        return good(request)

    with serve(respond) as service:
        scores = open_at(service).rerank("q", TEXTS)
        assert scores[2] is None
        assert [s for s in scores if s is not None] == [score(t) for t in TEXTS if t != TEXTS[2]]
        found = apply_reranker(open_at(service), "q", TEXTS, str, 7)
        assert found.order[-1] == 2
        assert found.notes == ("1 of 7 could not be reranked.",)


@pytest.mark.parametrize(
    ("response", "code", "most"),
    [
        (Response(401, {"message": f"{KEY} is no key"}), "reranker-refused", 1),
        (Response(429, {}, {"Retry-After": "900"}), "reranker-unavailable", 1),
        (Response(503, {}), "reranker-unavailable", 4),
        (Response(500, {}), "reranker-unavailable", 20),
        (Response(400, {"error": "unknown model"}), "reranker-refused", 12),
        (Response(200, {"error": "loading"}), "unusable-scores", 20),
        (Response(200, answer("cohere", TEXTS), cut=20), "reranker-unavailable", 20),
    ],
)
def test_a_service_that_fails_is_told_and_costs_little(
    monkeypatch: pytest.MonkeyPatch, response: Response, code: str, most: int
) -> None:
    monkeypatch.setenv("TOY_KEY", KEY)
    with serve(lambda _: response) as service:
        with pytest.raises(RerankerError) as caught:
            open_at(service, api_key_env="TOY_KEY").rerank("q", TEXTS)
        assert service.requests[0].headers["Authorization"] == f"Bearer {KEY}"
        assert caught.value.code == code
        assert KEY not in str(caught.value)
        assert len(service.requests) <= most


def test_nothing_is_asked_about_nothing() -> None:
    with serve(good) as service:
        assert open_at(service).rerank("q", []) == []
        assert service.requests == []


def test_a_service_without_a_model_is_refused() -> None:
    with pytest.raises(SettingsError) as caught:
        open_remote(RerankingSettings(model="cohere:"))
    assert caught.value.code == "reranker-needs-model"
