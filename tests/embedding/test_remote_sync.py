"""A library whose embedder is a service that misbehaves, from files to answers."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from embedding.service import WIDTH, Request, Response, Service, openai, serve, unit, vector

from merestone import Library
from merestone.types import SyncReport

NUMBERS = ("one", "two", "three", "four", "five")


def open_library(path: Path, service: Service, **changes: object) -> Library:
    embedding: dict[str, Any] = {
        "model": "openai:toy",
        "url": service.url,
        "max_tokens": 200,
        "tokenizer": "characters",
        "dimension": 0,
        **changes,
    }
    return Library.open(path, embedding=embedding)


def write(path: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (path / name).write_text(text)


def stored(library: Library) -> dict[str, np.ndarray]:
    """Vectors as they are kept, by the chunk's own text."""
    with library.snapshot(as_owner=True) as snapshot:
        numbers = [number for number, *_ in snapshot.numbers()]
        vectors = snapshot.vectors(numbers)
        return {chunk.text: vectors[n] for n, chunk in snapshot.by_number(numbers).items()}


def check_stored(library: Library, model: int = 0) -> None:
    """Every chunk has the vector of its own text, whatever the service did."""
    kept = stored(library)
    assert kept
    for text, found in kept.items():
        assert float(found @ unit(text, WIDTH, model)) > 0.999, text


def failed(report: SyncReport) -> dict[str, str]:
    return {problem.document: problem.code for problem in report.problems}


FILES = {f"{name}.txt": f"Topic number {name} is explained here." for name in NUMBERS}


def drop_third(data: list[dict[str, Any]]) -> Any:
    return [{**item, "index": n} for n, item in enumerate(data[:2] + data[3:])]


VARIANTS: dict[str, Callable[[list[dict[str, Any]]], Any]] = {
    "one short": drop_third,
    "one short, with indexes of its own": lambda data: data[:2] + data[3:],
    "another order with an index": lambda data: data[::-1],
    "one of the wrong length": lambda data: [*data[:4], {**data[4], "embedding": [1.0]}, *data[5:]],
    "one with NaN": lambda d: [{**d[0], "embedding": [float("nan")] * WIDTH}, *d[1:]],
}


@pytest.mark.parametrize("variant", [*VARIANTS, "an error and no list"])
def test_spoilt_batches_shift_nothing_and_lose_nothing(tmp_path: Path, variant: str) -> None:
    """As in a service that leaves out one answer of a batch, and only then."""

    def respond(request: Request) -> Response:
        answer = openai(request.texts)
        if len(request.texts) >= len(NUMBERS):
            if variant not in VARIANTS:
                return Response(200, {"error": {"message": "overloaded"}})
            answer.body["data"] = VARIANTS[variant](answer.body["data"])
        return answer

    write(tmp_path, FILES)
    with serve(respond) as service, open_library(tmp_path, service) as library:
        report = library.sync()
        assert report.documents["added"] == 5
        assert failed(report) == {}
        assert report.embedded == 5
        check_stored(library)
        assert len(service.requests) <= 12
        hits = library.search("Topic number four is explained here.", mode="dense").hits
        assert hits[0].chunk.document == "four.txt"


def test_a_poisonous_text_costs_its_own_document_only(tmp_path: Path) -> None:
    poison = "Topic number three is explained here."
    cured = False

    def respond(request: Request) -> Response:
        if poison in request.texts and not cured:
            return Response(400, {"error": "token out of range"})
        return openai(request.texts)

    write(tmp_path, FILES)
    with serve(respond) as service, open_library(tmp_path, service) as library:
        report = library.sync()
        assert failed(report) == {"three.txt": "text-refused"}
        assert "token out of range" in report.problems[0].message
        assert report.retry
        assert report.documents == {
            "added": 4,
            "changed": 0,
            "moved": 0,
            "access": 0,
            "removed": 0,
            "unchanged": 0,
            "failed": 1,
        }
        check_stored(library)
        # One batch of six, halved to one; nothing is sent again for the other documents.
        assert len(service.requests) <= 10
        assert max(service.texts.count(text) for text in service.texts) <= 5
        cured = True
        before = len(service.texts)
        report = library.sync()
        assert failed(report) == {}
        assert report.documents["added"] == 1
        assert report.embedded == 1
        # The text and the canary.
        assert len(service.texts) - before == 2
        check_stored(library)
        assert len(stored(library)) == 5


def test_a_changed_document_that_cannot_be_embedded_stays_in_its_old_version(
    tmp_path: Path,
) -> None:
    def respond(request: Request) -> Response:
        if any("poison" in text for text in request.texts):
            return Response(422, {"error": "no"})
        return openai(request.texts)

    write(tmp_path, FILES)
    with serve(respond) as service, open_library(tmp_path, service) as library:
        library.sync()
        write(tmp_path, {"two.txt": "This is poison.", "six.txt": "A sixth topic."})
        report = library.sync()
        assert failed(report) == {"two.txt": "text-refused"}
        assert set(stored(library)) == {*FILES.values(), "A sixth topic."}
        check_stored(library)


def test_a_service_that_goes_away_fails_every_document_quickly(tmp_path: Path) -> None:
    goes = False

    def respond(request: Request) -> Response:
        if goes:
            return Response(429, {"error": "quota used up"}, {"Retry-After": "100000"})
        return openai(request.texts)

    write(tmp_path, FILES)
    with serve(respond) as service, open_library(tmp_path, service) as library:
        library.sync()
        goes = True
        write(tmp_path, {f"new-{number}.txt": f"New text {number}." for number in range(40)})
        before = len(service.requests)
        report = library.sync()
        assert set(failed(report).values()) == {"service-unavailable"}
        assert "quota used up" in report.problems[0].message
        assert len(report.problems) == 40
        assert report.retry
        assert len(service.requests) - before <= 6
        assert set(stored(library)) == set(FILES.values())
        goes = False
    with serve(respond) as service, open_library(tmp_path, service) as library:
        assert library.sync().documents["added"] == 40
        check_stored(library)


def test_a_silently_changed_model_is_noticed_and_everything_embedded_anew(tmp_path: Path) -> None:
    model = 0

    def respond(request: Request) -> Response:
        data = [
            {"index": n, "embedding": vector(text, WIDTH, model)}
            for n, text in enumerate(request.texts)
        ]
        return Response(body={"data": data})

    write(tmp_path, FILES)
    with serve(respond) as service, open_library(tmp_path, service) as library:
        library.sync()
        check_stored(library, model=0)
        model = 1
        write(tmp_path, {"six.txt": "A sixth topic."})
        report = library.sync()
        assert failed(report) == {}
        assert report.embedded == 6
        check_stored(library, model=1)
        assert len(stored(library)) == 6


def test_an_address_may_change_without_anything_being_embedded_again(tmp_path: Path) -> None:
    def respond(request: Request) -> Response:
        return openai(request.texts)

    write(tmp_path, FILES)
    with serve(respond) as service, open_library(tmp_path, service) as library:
        library.sync()
    with serve(respond) as service, open_library(tmp_path, service) as library:
        assert library.sync().embedded == 0
        assert library.search("Topic number two", mode="dense").hits
        assert service.texts == ["Topic number two"]


def test_words_are_searched_without_the_service_or_its_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOY_KEY", "secret")
    write(tmp_path, FILES)
    with serve(lambda request: openai(request.texts)) as service:
        with open_library(tmp_path, service, api_key_env="TOY_KEY") as library:
            library.sync()
        state = (tmp_path / ".merestone" / "library.db").read_bytes()
        assert b"secret" not in state
        monkeypatch.delenv("TOY_KEY")
        with open_library(tmp_path, service, api_key_env="TOY_KEY") as library:
            before = len(service.requests)
            assert library.search("four", mode="lexical").hits[0].chunk.document == "four.txt"
            assert len(service.requests) == before


LIMIT = 120
LONG = {
    "long.txt": "word " * 75 + "The release code is MAPLE.",
    "cjk.txt": "漢字" * 140 + "合言葉は楓です。",
    "wall.txt": "x" * 400,
}


def pairs_of_letters(text: str) -> list[float]:
    """A toy of meaning: which pairs of letters a text has, by hash."""
    found = np.zeros(512)
    for pair in re.findall(r"(?=(\w\w))", text.lower()):
        found[hash_of(pair)] += 1
    found = np.minimum(found, 1)
    found[0] = 0.01
    return [float(value) for value in found]


def hash_of(pair: str) -> int:
    return 1 + (ord(pair[0]) * 131 + ord(pair[1])) % 511


@pytest.mark.parametrize("refuses", [False, True])
def test_no_chunk_is_longer_than_the_model_reads(tmp_path: Path, refuses: bool) -> None:
    """A model that reads 120 characters, prefix included, and either cuts the rest off without a
    word or refuses it."""
    too_long: list[str] = []

    def respond(request: Request) -> Response:
        texts = request.texts
        too_long.extend(text for text in texts if len(text) > LIMIT)
        if refuses and any(len(text) > LIMIT for text in texts):
            return Response(400, {"error": "input too long"})
        data = [
            {"index": n, "embedding": pairs_of_letters(text[:LIMIT])}
            for n, text in enumerate(texts)
        ]
        return Response(body={"data": data})

    write(tmp_path, LONG)
    with (
        serve(respond) as service,
        open_library(
            tmp_path, service, max_tokens=LIMIT, passage_template="passage: {text}"
        ) as library,
    ):
        report = library.sync()
        assert failed(report) == {}
        assert too_long == []
        kept = stored(library)
        assert all(len("passage: " + text) <= LIMIT for text in kept)
        assert sum(text.count("x") for text in kept if set(text) == {"x"}) == 400
        for query, answer in {"release code": "MAPLE", "合言葉は": "楓"}.items():
            hits = library.search(query, k=3, mode="dense").hits
            assert any(answer in hit.chunk.text for hit in hits)
