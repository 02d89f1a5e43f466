"""Draft questions: by rules, and by a model behind an endpoint."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from embedding.service import FakeTime, Request, Response, serve
from evaluation.desk import Desk

from merestone import SettingsError
from merestone.evaluation.questions import Question
from merestone.evaluation.questions.suggesting import Suggestion, suggest_questions
from merestone.evaluation.questions.writer import QuestionWriter
from merestone.retrying import Timing
from merestone.types import SuggestSettings, content_type

GUIDE = """\
# Heat pump

## How to bleed the radiator

Turn the valve at the top of the radiator with the key until water comes out of it.

## Overview

This is what the following pages are about, in short and for everybody.

## Why does the display stay dark?

The fuse behind the front panel has blown and has to be replaced by a trained person.

## 3.2 Antifreeze

The circuit outdoors is filled with ethylene glycol; the refractometer shows its concentration.
"""
CODE = '''\
def drain_queue(queue: list[int]) -> int:
    """Send everything in the queue, and say how many were confirmed by the server."""
    return len(queue)
'''
GERMAN = """\
# W\u00e4rmepumpe

## Wartung

Der Filter der Anlage ist jedes Jahr im Herbst zu reinigen, bevor die Heizperiode beginnt.
"""


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = Desk(tmp_path)
    yield made
    made.library.close()


def suggest(desk: Desk, **options: object) -> Suggestion:
    with desk.library.snapshot() as snapshot:
        return suggest_questions(snapshot, **options)  # type: ignore[arg-type]


def asked(made: Suggestion) -> dict[str, str]:
    """Quote by question."""
    return {question.question: question.evidence[0].quote for question in made.questions}


def test_headings_ask_what_the_text_under_them_answers(desk: Desk) -> None:
    desk.write({"guide.md": GUIDE})
    # Of passages that overlap one is asked for, by chance.
    found = {q: quote for seed in range(9) for q, quote in asked(suggest(desk, seed=seed)).items()}
    assert found["How do I bleed the radiator?"].startswith("Turn the valve")
    assert found["Why does the display stay dark?"].endswith("trained person.")
    assert found["Heat pump: what is said about Antifreeze?"].startswith("The circuit outdoors")
    assert not any("Overview" in question for question in found)


def test_names_in_code_and_rare_words_of_sentences_are_asked_for(desk: Desk) -> None:
    desk.write({"queue.py": CODE, "anlage.md": GERMAN, "guide.md": GUIDE})
    found = asked(suggest(desk, count=50))
    assert found["What does the function drain_queue do?"].startswith("def drain_queue")
    keywords = [question for question, quote in found.items() if "ethylene" in quote]
    assert keywords
    assert all(question.endswith("?") for question in keywords)
    # Whole questions only in a language whose grammar the rules know.
    german = [question for question, quote in found.items() if "Filter" in quote]
    assert german
    assert not any(question.endswith("?") for question in german)


@pytest.mark.parametrize(
    ("sentence", "question"),
    [
        (
            "The daily allowance in Basel is sixty francs for every night of the journey.",
            "What is said about the daily allowance in Basel?",
        ),
        (
            "Ethylene glycol has to be handed in at the depot behind the boiler house.",
            "What is said about Ethylene glycol?",
        ),
        ("Customers get an estimate before anything is repaired in the workshop of Lyon.", ""),
        ("When it is cold the valve is opened by hand before the pump starts again.", ""),
        ("This is of no use to anybody who has read the manual of the boiler.", ""),
        ("However well insulated, pipes outdoors freeze where nobody drains them in time.", ""),
    ],
)
def test_of_a_sentence_its_subject_is_asked_for_where_that_is_plain(
    desk: Desk, sentence: str, question: str
) -> None:
    desk.write({"a.txt": f"{sentence}\n"})
    (asked_for,) = asked(suggest(desk))
    if question:
        assert asked_for == question
    else:
        assert "?" not in asked_for
    is_bare = not question
    assert any("no question yet" in note for note in suggest(desk).notes) == is_bare


def test_every_question_is_marked_as_made_and_stands_where_it_says(
    desk: Desk, handbook: Path
) -> None:
    paths = [
        path
        for path in sorted(handbook.rglob("*"))
        if path.suffix in (".md", ".html", ".py", ".txt")
    ]
    desk.write({path.name: path.read_bytes() for path in paths[::2]})
    made = suggest(desk, count=12)
    assert len(made.questions) == 12
    assert "easier" in made.notes[0]
    assert all(question.made for question in made.questions)
    assert len({question.id for question in made.questions}) == 12
    assert desk.check(made.questions).counts == {"same": 12}
    with desk.library.snapshot() as snapshot:
        types = {record.id: content_type(record.media_type) for record in snapshot.records()}
    by_document = Counter(question.evidence[0].doc for question in made.questions)
    assert set(by_document) == set(types)
    assert max(by_document.values()) <= 12 // len(types) + 2
    assert {types[document] for document in by_document} == set(types.values())


def test_a_seed_gives_the_same_and_what_is_known_is_not_made_again(desk: Desk) -> None:
    desk.write({"guide.md": GUIDE, "queue.py": CODE})
    made = suggest(desk, count=4, seed=3)
    assert suggest(desk, count=4, seed=3) == made
    others = suggest(desk, count=50, existing=made.questions)
    assert not {q.question for q in made.questions} & {q.question for q in others.questions}


def test_nothing_is_suggested_of_what_the_asker_may_not_read(tmp_path: Path) -> None:
    rules = [{"allow": ["public"]}, {"paths": ["hr/"], "allow": ["user:bob"]}]
    desk = Desk(tmp_path, access={"rules": rules})
    desk.write({"hr/a.md": GUIDE.replace("Heat", "Secret"), "b.md": GERMAN})
    made = suggest(desk, count=50)
    desk.library.close()
    assert {question.evidence[0].doc for question in made.questions} == {"b.md"}


def chat(content: object) -> Response:
    return Response(body={"choices": [{"message": {"role": "assistant", "content": content}}]})


def written(desk: Desk, respond: object, **settings: str) -> tuple[Suggestion, list[Request]]:
    """What is made with a model that answers so."""
    with serve(respond) as service:  # type: ignore[arg-type]
        time = FakeTime()
        writer = QuestionWriter(
            SuggestSettings(f"{service.url}/v1", "small", **settings),
            Timing(time.clock, time.sleep),
        )
        made = suggest(desk, count=3, writer=writer)
        writer.close()
        return made, service.requests


def test_a_model_words_questions_about_the_same_passages(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SUGGEST_KEY", "s3cret")
    desk.write({"guide.md": GUIDE})
    answers = iter(
        ["Question: Is it\u2019s dark, what now?", '<think>Hm.</think>\n"Who?"\n', "3. What?"]
    )
    made, requests = written(desk, lambda _: chat(next(answers)), api_key_env="SUGGEST_KEY")
    assert [q.question for q in made.questions] == [
        "Is it\u2019s dark, what now?",
        "Who?",
        "3. What?",
    ]
    assert {q.extra["made_by"] for q in made.questions} == {"model"}
    assert all(question.made for question in made.questions)
    for question, request in zip(made.questions, requests, strict=True):
        assert request.path == "/v1/chat/completions"
        assert request.headers.get("Authorization") == "Bearer s3cret"
        assert request.body["model"] == "small"
        assert question.evidence[0].quote in request.body["messages"][1]["content"]
    by_rules = suggest(desk, count=3)
    assert [q.evidence for q in made.questions] == [q.evidence for q in by_rules.questions]


@pytest.mark.parametrize(
    "response",
    [
        chat(""),
        chat(None),
        chat("x" * 400),
        Response(body={"choices": []}),
        Response(body=[]),
        Response(400, {"error": {"message": "filtered"}}),
    ],
)
def test_where_a_model_gives_no_question_rules_do(desk: Desk, response: Response) -> None:
    desk.write({"guide.md": GUIDE})
    made, requests = written(desk, lambda _: response)
    assert len(made.questions) == len(requests) == 3
    assert asked(made) == asked(suggest(desk, count=3))


def test_a_service_that_is_down_is_given_up_and_told(desk: Desk) -> None:
    desk.write({"guide.md": GUIDE})
    made, requests = written(desk, lambda _: Response(503, {"error": "too busy"}))
    assert len(made.questions) == 3
    assert len(requests) <= 4
    assert "too busy" in made.notes[-1]


def test_a_service_that_refuses_is_an_error(desk: Desk) -> None:
    desk.write({"guide.md": GUIDE})
    with pytest.raises(SettingsError) as error:
        written(desk, lambda _: Response(401, {"error": {"message": "no such key"}}))
    assert error.value.code == "suggest-refused"
    assert "no such key" in error.value.message


@pytest.mark.parametrize("settings", [SuggestSettings("http://x/v1"), SuggestSettings("", "small")])
def test_half_a_configuration_is_refused(settings: SuggestSettings) -> None:
    with pytest.raises(SettingsError) as error:
        QuestionWriter(settings)
    assert error.value.code == "suggest-not-configured"


def test_a_library_without_texts_suggests_nothing(desk: Desk) -> None:
    desk.write({"empty.md": ""})
    assert suggest(desk).questions == ()
    assert suggest(desk, existing=[Question("q", "Why?")]).questions == ()
