"""What a report says: which questions come first, what nothing beats, what differs."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from evaluation.report_runs import Shown, random_run, run_of, texts
from hypothesis import given
from hypothesis import strategies as st

from merestone.evaluation.experiments.comparing import compare_runs
from merestone.evaluation.report import report_of, to_markdown
from merestone.evaluation.report.contents import letter, make_report
from merestone.evaluation.report.front import front
from merestone.evaluation.report.outcomes import group, ordered
from merestone.evaluation.report.words import figure, headline, percent
from merestone.evaluation.runs.values import Interval, QuestionResult, Run
from merestone.types import SettingsError


def result(id: str, full: float, coverage: float, **given: object) -> QuestionResult:
    measures = {"FullGold@1000t": full, "GoldCoverage@1000t": coverage}
    values = {"id": id, "question": f"Why {id}?", "match": "all", "gold": (), "served": {}}
    return QuestionResult(**{**values, "measures": measures, "failure": None, **given})  # type: ignore[arg-type]


def run_with(name: str, *results: QuestionResult, **given: object) -> Run:
    return run_of(results, name=name, views=("1000t",), **given)


def test_questions_that_runs_answer_differently_come_first_the_most_different_on_top() -> None:
    first = run_with(
        "one",
        result("whole", 1, 1),
        result("missed", 0, 0),
        result("lost", 1, 1),
        result("a bit", 0, 0.5),
        result("part", 0, 0.4),
    )
    second = run_with(
        "two",
        result("whole", 1, 1),
        result("missed", 0, 0),
        result("lost", 0, 0.2),
        result("a bit", 0, 0.7),
        result("part", 0, 0.4),
    )
    report = report_of([first, second])
    ids = [report.questions[place].id for place in ordered(report.questions, report.main)]
    assert ids == ["lost", "a bit", "missed", "part", "whole"]
    assert [group(report.questions[0], "1000t"), group(report.questions[2], "1000t")] == [
        "whole",
        "different",
    ]


def test_a_question_that_one_run_does_not_have_is_no_difference() -> None:
    first = run_with("one", result("both", 1, 1), result("only", 1, 1))
    second = run_with("two", result("both", 1, 1))
    report = report_of([first, second])
    assert [group(row, "1000t") for row in report.questions] == ["whole", "whole"]
    assert report.questions[1].results[1] is None


def test_questions_that_could_not_be_scored_are_kept_with_the_reason() -> None:
    report = report_of(run_with("one", result("a", 1, 1), skipped={"b": "the text is gone"}))
    assert [row.skipped for row in report.questions] == ["", "the text is gone"]
    assert "the text is gone" in to_markdown(report)


def test_questions_made_by_a_machine_are_not_counted_with_the_others() -> None:
    report = report_of(run_with("one", result("a", 1, 1), result("b", 0, 0, made=True)))
    assert headline(report) == "1 of 1 question got the whole answer within 1,000 tokens."


def test_an_answerless_question_is_whole_if_that_was_said() -> None:
    said = replace(result("a", 0, 0), measures={"NoAnswer@1000t": 1.0})
    not_said = replace(said, id="b", measures={"NoAnswer@1000t": 0.0})
    report = report_of(run_with("one", said, not_said))
    assert [group(row, "1000t") for row in report.questions] == ["whole", "missed"]


def interval(mean: float) -> Interval:
    return Interval(mean, mean, mean, 10)


@given(
    st.lists(
        st.tuples(st.floats(1, 5000), st.floats(0, 1)),
        min_size=1,
        max_size=8,
    )
)
def test_nothing_is_cheaper_and_better_than_a_point_of_the_front(
    found: list[tuple[float, float]],
) -> None:
    runs = [
        replace(
            run_with("one", result("a", 1, 1)),
            measures={"GoldCoverage@1000t": interval(quality), "Tokens@1000t": interval(tokens)},
        )
        for tokens, quality in found
    ]
    points = front(make_report(runs))
    assert len(points) == len(found)
    for point in points:
        beaten = any(
            (other.tokens <= point.tokens and other.quality.mean > point.quality.mean)
            or (other.tokens < point.tokens and other.quality.mean >= point.quality.mean)
            for other in points
        )
        assert not (point.on_front and beaten)
        if not point.on_front:
            assert beaten or any(
                other.on_front and (other.tokens, other.quality) == (point.tokens, point.quality)
                for other in points
            )


def scored(id: str, coverage: float, tokens: float) -> QuestionResult:
    plain = result(id, float(coverage == 1), coverage, content_type="pdf")
    return replace(plain, measures={**plain.measures, "Tokens@1000t": tokens})


def test_runs_of_other_questions_are_held_together_on_those_that_all_scored() -> None:
    first = run_with("one", *(scored(id, 0, 300) for id in "abcdef"), scored("z", 0.5, 300))
    second = run_with("two", scored("y", 0, 900), scored("z", 1, 400))
    report = report_of([first, second])
    assert report.warnings == (
        "The runs did not score the same questions: A 7, B 2; 1 is common to all. Verdicts and "
        "what nothing beats are of what is common to all, other figures of all that a run scored.",
    )
    points = [(point.tokens, point.quality.mean, point.quality.count) for point in front(report)]
    assert points == [(300, 0.5, 1), (400, 1.0, 1)]
    text = to_markdown(report)
    assert "\n\n1 question in common.\n\n" in text
    assert "| What nothing beats on 1 question in common |" in text
    assert re.search(r"\| type:pdf \| 2–7 \| 7.1 % .*, n = 7 \| 50.0 % .*, n = 2 \|", text)
    assert "| Missed by all that were asked | y | Why y? | – | missed |" in text
    assert "library version 3, 2 questions\n" in text


def test_where_all_were_asked_the_same_no_number_is_repeated() -> None:
    runs = [run_with(name, result("a", 0, 0), result("b", 1, 1)) for name in ("one", "two")]
    text = to_markdown(report_of(runs))
    assert "\n\n2 questions.\n\n" in text
    assert "n = " not in text
    assert "| Missed by all | a |" in text


def test_a_question_in_other_words_is_another_one() -> None:
    first = run_with("one", result("a", 1, 1), result("b", 1, 1))
    second = run_with("two", result("a", 1, 1), result("b", 0, 0, question="In other words?"))
    report = report_of([first, second])
    assert [(row.id, [bool(r) for r in row.results]) for row in report.questions] == [
        ("a", [True, True]),
        ("b", [True, False]),
        ("b", [False, True]),
    ]
    assert report.common == 1


def test_runs_without_a_question_in_common_are_refused_as_a_comparison_refuses_them() -> None:
    runs = [run_with("one", result("a", 1, 1)), run_with("two", result("b", 1, 1))]
    told = []
    for hold in (report_of, compare_runs):
        with pytest.raises(SettingsError) as caught:
            hold(runs)
        told.append((caught.value.code, str(caught.value)))
    assert told[0] == told[1]


def test_a_report_has_the_notes_of_a_comparison() -> None:
    one = run_with("one", result("a", 1, 1))
    other = replace(
        one, name="two", documents_hash="x", tokenizer="y", asker=("owner",), version="0.0.1"
    )
    notes = compare_runs([one, other]).warnings
    assert len(notes) == 4
    assert report_of([one, other]).warnings == notes


def test_runs_of_questions_that_nothing_answers_are_told_by_what_was_said() -> None:
    said = replace(result("a", 0, 0), measures={"NoAnswer@1000t": 1.0})
    not_said = replace(said, measures={"NoAnswer@1000t": 0.0})
    report = report_of([run_with("one", not_said), run_with("two", said)])
    text = to_markdown(report)
    assert "|  | NoAnswer@1000t | Against A | Verdict |" in text
    assert report.deciding(1) is not None


def test_settings_that_differ_come_first() -> None:
    shown = Shown(texts(2, 2000))
    runs = [random_run(shown, 3, name=str(size), chunk_size=size) for size in (200, 300)]
    rows = report_of(runs).settings
    assert (rows[0].key, rows[0].values) == ("chunking.max_chars", ("200", "300"))
    assert [row.key for row in rows if row.differs] == ["chunking.max_chars"]


def test_a_warning_that_all_share_is_told_once() -> None:
    both = ("Few questions.",)
    first = run_with("one", result("a", 1, 1), warnings=both)
    second = run_with("two", result("a", 1, 1), warnings=(*both, "Stale."), questions_hash="x")
    assert report_of([first, second]).warnings == (
        "Few questions.",
        "B: Stale.",
        "The runs were not asked the same questions.",
    )


def test_the_json_has_the_figures_and_no_text_of_a_document() -> None:
    shown = Shown({"a.md": "harbour " * 400})
    runs = [random_run(shown, 4, name=name, seed=seed) for seed, name in enumerate("ab")]
    report = report_of(runs)
    found = json.loads(json.dumps(report.to_json()))
    assert found["measures"]["FullGold@1000t"][1]["mean"] == (
        runs[1].measures["FullGold@1000t"].mean
    )
    assert [each["letter"] for each in found["configurations"]] == ["A", "B"]
    assert [each["id"] for each in found["questions"]] == ["q0", "q1", "q2", "q3"]
    assert "harbour" not in json.dumps(found)


def test_markdown_says_the_same_as_the_report_and_holds_its_tables_together() -> None:
    shown = Shown(texts(3, 2000))
    runs = [random_run(shown, 14, name=n, seed=s, hostile=True) for s, n in enumerate("|a")]
    report = report_of(runs)
    text = to_markdown(report)
    text.encode()
    assert figure("FullGold", runs[0].measures["FullGold@1000t"].mean) in text
    width = 0
    for line in text.splitlines():
        if not line.startswith("| "):
            width = 0
            continue
        cells = line.replace("\\\\", "").replace("\\|", "").count("|")
        assert width in (0, cells), line
        width = cells
    assert "<script" not in text.replace("\\<", "")


def test_what_is_nearly_all_is_not_told_as_all() -> None:
    assert [percent(each) for each in (0, 0.001, 0.5, 0.999, 1)] == [
        "0 %",
        "< 1 %",
        "50 %",
        "> 99 %",
        "100 %",
    ]


def test_letters_go_on_behind_z() -> None:
    assert [letter(place) for place in (0, 25, 26, 52)] == ["A", "Z", "AA", "BA"]
