"""Configurations and runs are held against the first of them, question by question."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from merestone import Configuration, Library, SettingsError, compare, compare_runs, evaluate
from merestone.cli.comparisons import told_comparison
from merestone.cli.evaluations import told_change
from merestone.cli.main import run as command
from merestone.evaluation.experiments.advice import advice
from merestone.evaluation.experiments.comparing import comparison_of
from merestone.evaluation.experiments.configurations import (
    distinct,
    one_at_a_time,
    parse_choices,
    parse_configuration,
    read_configurations,
)
from merestone.evaluation.gold.values import GoldSpan
from merestone.evaluation.questions import Evidence, Question
from merestone.evaluation.questions.files import write_questions
from merestone.evaluation.runs.gate import judge
from merestone.evaluation.runs.grouping import grouped, mean_measures
from merestone.evaluation.runs.values import QuestionResult, Run
from merestone.types import JSON, GateSettings

NAMES = "amber birch cedar delta ember fjord grove heron ivory juniper".split()


def page(number: int) -> str:
    parts = [f"# {NAMES[number]} house"]
    for at, name in enumerate(NAMES):
        parts += [
            f"## The {name} room",
            f"In the {NAMES[number]} house the {name} room is opened at {at + 5} each day. "
            f"Whoever wants to see it asks the keeper. The keeper of the {name} room has its key. "
            "Nothing may be carried away, and lamps are put out at night.",
        ]
    return "\n\n".join(parts) + "\n"


def answer(number: int, name: str) -> Question:
    text = page(number)
    quote = f"In the {NAMES[number]} house the {name} room is opened at {NAMES.index(name) + 5}"
    start = text.index(quote)
    return Question(
        id=f"{NAMES[number]}-{name}",
        question=f"When is the {name} room of the {NAMES[number]} house opened?",
        evidence=(Evidence(f"{NAMES[number]}.md", start, start + len(quote), quote),),
        tags=("early",) if NAMES.index(name) < 5 else ("late",),
    )


QUESTIONS = [answer(number, name) for number in range(3) for name in NAMES[1:7]]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    root = tmp_path_factory.mktemp("houses")
    for number in range(6):
        (root / f"{NAMES[number]}.md").write_text(page(number), "utf-8")
    (root / "merestone.toml").write_text('[embedding]\nmodel = "hashing"\n', "utf-8")
    write_questions(root / ".questions.jsonl", QUESTIONS)
    with Library.open(root) as library:
        library.sync()
        yield library


def result(number: int, value: float, **changes: object) -> QuestionResult:
    measures = {"GoldCoverage@100t": value, "FullGold@100t": float(value == 1), "Tokens@100t": 90.0}
    made = QuestionResult(f"q{number}", f"Question {number}?", "all", (), {}, measures, None)
    return replace(made, **changes)  # type: ignore[arg-type]


def run_of(name: str, results: Sequence[QuestionResult]) -> Run:
    people = [each for each in results if not each.made]
    return Run(
        id=f"{name}-id",
        name=name,
        time="2026-01-01T00:00:00Z",
        library_version=1,
        questions_hash="q",
        documents_hash="d",
        settings={},
        embedder={},
        tokenizer="words",
        measures=mean_measures(people),
        groups={key: mean_measures(own) for key, own in grouped(results).items()},
        costs={"chunks": 10},
        results=tuple(results),
        views=("100t",),
        main="100t",
    )


def test_the_first_comparison_answers_its_three_questions(library: Library) -> None:
    comparison = compare(library, None, QUESTIONS, budgets=[80])
    assert comparison.names == ("default", "fixed windows")
    assert comparison.measures[0] == "GoldCoverage@80t"
    assert {"Hit@5", "FullGold@5", "Duplication@5"} <= set(comparison.measures)
    assert comparison.embedded[0] == 0 < comparison.embedded[1]
    duplication = comparison.contrast(1, "Duplication@5")
    assert duplication is not None
    assert duplication.difference.mean > 0
    assert duplication.verdict.kind == "worse"
    told = told_comparison(comparison)
    for words in ("Do the right passages appear?", "Are they complete?", "Is context duplicated?"):
        assert words in told
    assert "B is worse" in told
    shape = comparison.to_json()
    assert json.loads(json.dumps(shape)) == shape
    assert len({each.documents_hash for each in comparison.runs}) == 1
    version = library.status().library_version
    assert comparison.library_version == version
    assert {each.library_version for each in comparison.runs} == {version}


def test_what_was_asked_already_is_taken_from_its_kept_run(
    library: Library, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = library.settings.root
    asked = ["--file", f"{root}/.questions.jsonl", "--budget", "90", "-k", "3"]
    assert command(["-C", root, "eval", *asked, "--json"]) == 0
    run = json.loads(capsys.readouterr().out)
    assert command(["-C", root, "compare", *asked]) == 0
    out, err = capsys.readouterr()
    assert "Cut and embedded apart, as far as that was not done before: fixed windows; each" in err
    advised = out.rpartition("\n\n")[2]
    assert advised.startswith(("Keep ", "Take "))
    # The second time neither of the two is asked again.
    monkeypatch.setattr("merestone.evaluation.runs.evaluating.Scoring", None)
    assert command(["-C", root, "compare", *asked, "--json"]) == 0
    shape = json.loads(capsys.readouterr().out)
    assert shape["advice"].split()[:2] == advised.split()[:2]
    first = shape["configurations"][0]
    assert (first["run"], first["name"]) == (run["run"], "default")
    means = [each["measures"]["GoldCoverage@90t"]["mean"] for each in (first, run)]
    assert means[0] == means[1]
    assert command(["-C", root, "report", "--list", "--json"]) == 0
    listed = [each["run"] for each in json.loads(capsys.readouterr().out)]
    assert listed.count(run["run"]) == 1


def test_where_history_decides_what_answers_a_kept_run_is_not_taken(tmp_path: Path) -> None:
    path, before = tmp_path / "a.md", "The gate code is 4711.\n"
    with Library.open(tmp_path, embedding={"model": "hashing"}) as library:
        path.write_text(f"Be careful.\n\n{before}", "utf-8")
        library.sync()
        old = library.documents()[0].version
        path.write_text(before, "utf-8")
        library.sync()
        now = library.documents()[0].version
        taken = []
        for version in (old, now):
            asked = [
                Question("q", "What is the gate code?", (Evidence("a.md", 0, 22, version=version),))
            ]
            first = evaluate(library, asked, k=1, budgets=[50])
            notes = ("Changed since the library read it: a.md.", "A note that lasts.")
            marked = replace(first, library_version=999, warnings=notes)
            again = evaluate(library, asked, k=1, budgets=[50], kept=lambda _, run=marked: run)
            taken.append(again.library_version == 999)
    assert taken == [False, True]
    # What was true of the moment is not repeated.
    assert notes[1] in again.warnings
    assert notes[0] not in again.warnings


ALL = [1.0] * 30
HALF = [1.0] * 15 + [0.0] * 15


@pytest.mark.parametrize(
    ("first", "others", "words"),
    [
        (HALF, [ALL], "Take B. Write into your configuration, and run `merestone sync`: a.b=1"),
        (HALF, [ALL, [1.0] * 28 + [0.0] * 2], "Take B. Better too, by less: C. Write into"),
        (ALL, [HALF], "Keep what you have: nothing that was tried is as good."),
        (ALL * 20, [ALL * 20], "Keep what you have, or take what costs less: B is as good as it."),
        (ALL, [[0.0, 0.0, *ALL[2:]]], "Keep what you have: 30 questions cannot tell more. Add ab"),
        ([0.5] * 15, [[0.45, 0.55, 0.5] * 5], "Keep what you have: 15 questions cannot tell more"),
    ],
)
def test_a_comparison_says_what_to_do(
    first: list[float], others: list[list[float]], words: str
) -> None:
    runs = [
        run_of(str(column), [result(number, value) for number, value in enumerate(values)])
        for column, values in enumerate([first, *others])
    ]
    changed = [Configuration(str(n), {"chunking": {"b": n}}) for n in range(1, len(runs))]
    comparison = comparison_of(
        runs, ["GoldCoverage@100t"], configurations=(Configuration("default"), *changed)
    )
    told = advice(comparison, "ABC").replace("chunking.", "a.")
    assert told.startswith(words)
    assert advice(replace(comparison, configurations=()), "ABC").startswith(("Take B", "Keep A"))


def test_what_a_configuration_gives_is_what_such_a_library_gives(
    library: Library, tmp_path: Path
) -> None:
    small = {"chunking": {"max_tokens": 48}, "retrieval": {"dense_weight": 0.2}}
    comparison = compare(
        library, [Configuration("as it is"), Configuration("small", small)], QUESTIONS, budgets=[80]
    )
    for path in Path(library.settings.root).glob("*.md"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    with Library.open(tmp_path, embedding={"model": "hashing"}, **small) as twin:
        twin.sync()
        for each in comparison.runs[1].results:
            served = [
                (passage.document, passage.start, passage.end)
                for passage in twin.context(each.question, budget=80).passages
            ]
            assert [(s.document, s.start, s.end) for s in each.served["80t"]] == served


def test_a_better_run_is_told_from_one_that_only_looks_so() -> None:
    before = run_of("before", [result(n, (n % 4) / 4) for n in range(60)])
    after = run_of("after", [result(n, min(1.0, (n % 4) / 4 + 0.25)) for n in range(60)])
    luck = run_of("luck", [result(n, (n % 4) / 4 + (0.2, -0.2)[n % 2]) for n in range(60)])
    comparison = compare_runs([before, after, luck])
    better, unknown = (comparison.contrast(column, "GoldCoverage@100t") for column in (1, 2))
    assert better is not None
    assert unknown is not None
    assert better.verdict.kind == "better"
    assert better.difference.mean == pytest.approx(0.25)
    assert better.difference.comparisons == 2
    assert unknown.verdict.kind == "cannot tell"
    assert unknown.verdict.needed is not None
    assert unknown.verdict.needed > 60
    assert comparison.contrast(1, "Tokens@100t").difference.mean == 0  # type: ignore[union-attr]


def test_an_interval_without_nothing_alone_is_no_verdict_and_that_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "100")

    def told(lost: int) -> str:
        runs = [
            run_of(name, [result(number, float(number >= few)) for number in range(18)])
            for name, few in (("one", 0), ("two", lost))
        ]
        return told_comparison(compare_runs(runs, measures=["GoldCoverage@100t"]))

    # A paragraph may be broken anywhere.
    in_both = " ".join(told(4).split())
    assert in_both.count("Better or worse takes both") == 2  # In the verdict, below the table.
    assert "Better or worse takes both" not in " ".join(told(6).split())
    same = told(0)
    (row,) = [line for line in same.splitlines() if line.startswith("GoldCoverage@100t")]
    assert row.split()[5:8] == ["+0.0", "the", "same"]


def test_questions_that_differ_come_first() -> None:
    before = run_of("before", [result(0, 1.0), result(1, 0.0), result(2, 0.5), result(3, 0.0)])
    after = run_of("after", [result(0, 1.0), result(1, 1.0), result(2, 0.6), result(3, 0.2)])
    rows = compare_runs([before, after]).matrix
    assert [row.id for row in rows] == ["q1", "q3", "q2", "q0"]
    assert [row.outcomes for row in rows] == [
        ("missed", "whole"),
        ("missed", "part"),
        ("part", "part"),
        ("whole", "whole"),
    ]
    assert [row.is_different for row in rows] == [True, True, False, False]


def test_only_questions_that_all_runs_scored_count() -> None:
    before = run_of("before", [result(n, float(n < 6)) for n in range(12)])
    after = run_of("after", [result(n, 1.0) for n in range(6, 20)])
    comparison = compare_runs([before, after])
    contrast = comparison.contrast(1, "GoldCoverage@100t")
    assert contrast is not None
    assert contrast.difference.count == 6
    means = [run.measures["GoldCoverage@100t"].mean for run in comparison.runs]
    assert means == [0.0, 1.0]
    assert len(comparison.matrix) == 6
    assert any("not score the same questions" in warning for warning in comparison.warnings)


def test_questions_whose_answers_were_edited_are_left_out() -> None:
    def asked(value: float, edited: int, start: int) -> list[QuestionResult]:
        gold = {n: (GoldSpan("a.md", start if n < edited else 0, 20),) for n in range(12)}
        return [result(n, value if n < edited else 0.5, gold=gold[n]) for n in range(12)]

    before, after = run_of("before", asked(1.0, 6, 1)), run_of("after", asked(0.0, 6, 5))
    after = replace(after, questions_hash="edited")
    comparison = compare_runs([before, after])
    contrast = comparison.contrast(1, "GoldCoverage@100t")
    assert contrast is not None
    assert (contrast.difference.count, contrast.difference.mean) == (6, 0)
    assert any("6 are common to all" in warning for warning in comparison.warnings)
    # In other documents answers stand elsewhere: all count, and that is said.
    moved = compare_runs([before, replace(after, documents_hash="another")])
    assert any("were edited between the runs" in warning for warning in moved.warnings)
    told = " ".join(told_change(before, after).split())
    assert "Of 12 questions 6 were asked then in the same words" in told


def test_the_same_run_again_is_told_as_such() -> None:
    run = run_of("one", [result(n, 0.5) for n in range(12)])
    comparison = compare_runs([run, replace(run, name="two")])
    told = " ".join(told_comparison(comparison).split())
    assert "Changes nothing: its settings are those of A." in told
    assert told.endswith("Keep A: what was tried changes nothing.")


def test_what_to_beware_of_is_in_the_json_too() -> None:
    run = replace(run_of("one", [result(n, 0.5) for n in range(12)]), warnings=("Too few.",))
    assert compare_runs([run, run_of("two", run.results)]).to_json()["warnings"] == ["Too few."]


def test_questions_that_nothing_answers_are_compared_too() -> None:
    def run(name: str, told: float) -> Run:
        silent = [result(n, 0.0, measures={"NoAnswer@100t": told}) for n in range(12, 20)]
        return run_of(name, [result(n, 0.5) for n in range(12)] + silent)

    comparison = compare_runs([run("a", 1.0), run("b", 0.0)])
    assert comparison.measures[0] == "GoldCoverage@100t"
    found = comparison.contrast(1, "NoAnswer@100t")
    assert found is not None
    assert found.verdict.kind == "worse"
    report = judge(run("b", 0.0), run("a", 1.0), GateSettings())
    assert report.passes
    assert any("of 8 questions that nothing answers fewer are told so" in n for n in report.notes)


def test_runs_without_a_question_in_common_are_refused() -> None:
    one = run_of("one", [result(n, 1.0) for n in range(12)])
    reworded = run_of("reworded", [result(n, 1.0, question="Another?") for n in range(12)])
    with pytest.raises(SettingsError, match="no question in common"):
        compare_runs([one, reworded])


def test_runs_of_questions_that_nothing_answers_are_compared_by_what_was_said() -> None:
    def silent(name: str, value: float) -> Run:
        return run_of(name, [result(n, 0.0, measures={"NoAnswer@100t": value}) for n in range(12)])

    comparison = compare_runs([silent("a", 0.0), silent("b", 1.0)])
    assert comparison.measures == ("NoAnswer@100t",)


def test_questions_that_were_made_do_not_decide() -> None:
    def results(made: float) -> list[QuestionResult]:
        people = [result(n, 0.5, content_type="markdown") for n in range(30)]
        return people + [result(n, made, made=True) for n in range(30, 60)]

    comparison = compare_runs([run_of("a", results(0.0)), run_of("b", results(1.0))])
    whole = comparison.contrast(1, "GoldCoverage@100t")
    made = comparison.contrast(1, "GoldCoverage@100t", "made:true")
    assert whole is not None
    assert made is not None
    assert (whole.difference.count, whole.difference.mean) == (30, 0)
    assert made.verdict.kind == "better"


def test_groups_are_corrected_for_their_number() -> None:
    def results(gain: float) -> list[QuestionResult]:
        return [
            result(n, 0.4 + (gain if n % 3 == 0 else 0), tags=(f"tag{n % 3}",)) for n in range(60)
        ]

    comparison = compare_runs([run_of("a", results(0.0)), run_of("b", results(0.3))])
    assert comparison.groups == ("tag:tag0", "tag:tag1", "tag:tag2")
    found = [comparison.contrast(1, "GoldCoverage@100t", group) for group in comparison.groups]
    assert next(each.verdict.kind for each in found if each) == "better"
    assert all(each.difference.comparisons == 3 for each in found if each)


def test_runs_of_other_documents_are_compared_with_a_warning() -> None:
    one = run_of("one", [result(n, 0.5) for n in range(10)])
    other = replace(one, name="other", documents_hash="another")
    assert any("same state" in warning for warning in compare_runs([one, other]).warnings)


def test_a_measure_that_no_run_has_is_refused() -> None:
    one = run_of("one", [result(n, 0.5) for n in range(10)])
    with pytest.raises(SettingsError) as caught:
        compare_runs([one, one], measures=["Recall@7"])
    assert caught.value.code == "unknown-measure"
    assert "GoldCoverage@100t" in caught.value.remedy
    with pytest.raises(SettingsError) as caught:
        compare_runs([one])
    assert caught.value.code == "nothing-to-compare"


@pytest.mark.parametrize(
    ("text", "name", "tables"),
    [
        (
            "chunking.max_tokens=128",
            "chunking.max_tokens=128",
            {"chunking": {"max_tokens": 128}},
        ),
        (
            "small one: chunking.max_tokens=128 retrieval.focus=false",
            "small one",
            {"chunking": {"max_tokens": 128}, "retrieval": {"focus": False}},
        ),
        ("a: retrieval.expand=window:2", "a", {"retrieval": {"expand": "window:2"}}),
        (
            "retrieval.expand=window:2",
            "retrieval.expand=window:2",
            {"retrieval": {"expand": "window:2"}},
        ),
        (
            'x: chunking.context=["title", "heading"] chunking.types.code.max_tokens=64',
            "x",
            {"chunking": {"context": ["title", "heading"], "types": {"code": {"max_tokens": 64}}}},
        ),
        ("x: chunking.target_tokens=default", "x", {"chunking": {"target_tokens": None}}),
    ],
)
def test_a_configuration_is_read_from_a_line(text: str, name: str, tables: JSON) -> None:
    found = parse_configuration(text)
    assert (found.name, found.tables) == (name, tables)
    assert parse_configuration(found.words).tables == tables


@pytest.mark.parametrize(
    "text", ["", "small:", "max_tokens=3", "sources.path=x", "chunking.max_tokens", "= 3"]
)
def test_what_is_no_configuration_is_refused(text: str) -> None:
    with pytest.raises(SettingsError) as caught:
        parse_configuration(text)
    assert caught.value.code == "invalid-configuration"


def test_choices_are_read_with_their_lists() -> None:
    assert parse_choices("chunking.max_tokens=128,256") == ("chunking.max_tokens", [128, 256])
    key, values = parse_choices('chunking.context=[],["title","heading"],default')
    assert (key, values) == ("chunking.context", [[], ["title", "heading"], None])


def test_configurations_are_read_from_files(tmp_path: Path) -> None:
    toml = tmp_path / "tried.toml"
    toml.write_text(
        '[[configurations]]\nname = "small"\n[configurations.chunking]\nmax_tokens = 64\n'
        "[[configurations]]\n[configurations.retrieval]\nfocus = false\n",
        "utf-8",
    )
    found = read_configurations(toml)
    assert [each.name for each in found] == ["small", "tried 2"]
    js = tmp_path / "tried.json"
    js.write_text(json.dumps([{"name": "small", "chunking": {"max_tokens": 64}}]), "utf-8")
    assert read_configurations(js)[0].fingerprint == found[0].fingerprint
    for bad in (
        "[[configurations]]\nname = 3\n",
        "x = 1\n",
        "[[configurations]]\nsources = 1\n",
        "[",
    ):
        toml.write_text(bad, "utf-8")
        with pytest.raises(SettingsError) as caught:
            read_configurations(toml)
        assert caught.value.code == "invalid-configuration"


def test_the_same_change_is_tried_once() -> None:
    twice = [
        parse_configuration("a: retrieval.focus=false"),
        *one_at_a_time([("retrieval.focus", [False, True])]),
    ]
    assert [each.name for each in distinct(twice)] == ["a", "retrieval.focus=true"]
    names = [Configuration("x", {"retrieval": {"mmr": value}}) for value in (0.1, 0.2)]
    assert [each.name for each in distinct(names)] == ["x", "x (2)"]


def test_the_command_tells_tables_of_one_variable(
    library: Library, capsys: pytest.CaptureFixture[str]
) -> None:
    root = library.settings.root
    arguments = ["-C", root, "compare", "--file", f"{root}/.questions.jsonl", "--budget", "80"]
    assert command([*arguments, "--one-at-a-time", "retrieval.focus=true,false", "--json"]) == 0
    shape = json.loads(capsys.readouterr().out)
    assert [each["name"] for each in shape["configurations"]] == [
        "default",
        "retrieval.focus=true",
        "retrieval.focus=false",
    ]
    assert shape["tables"] == {"retrieval.focus": [1, 2]}
    runs = [each["run"][:12] for each in shape["configurations"]]
    assert command(["-C", root, "compare", runs[0], runs[2], "--measure", "FullGold@80t"]) == 0
    out = capsys.readouterr().out
    assert "What decides: FullGold@80t" in out
    assert command(["-C", root, "compare", runs[0], "--grid", "retrieval.focus=false"]) == 2
    assert "ambiguous-comparison" in capsys.readouterr().err


def test_an_answer_that_is_called_none_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("The gate code is 4711.\n", "utf-8")
    (answer,) = (Evidence("a.md", quote="The gate code is 4711."),)
    asked = [
        Question("code", "What is the gate code?", (answer,)),
        Question("ship", "Zebra quantum?", (answer,)),
        Question("none", "Zebra harpsichord?", ()),
    ]
    with Library.open(tmp_path, embedding={"model": "hashing"}) as library:
        library.sync()
        warnings = evaluate(library, asked, k=1, budgets=[50], mode="lexical").warnings
    (told,) = [each for each in warnings if "nothing here seems" in each.lower()]
    assert told == (
        "Of 2 questions with an answer 1 were told that nothing here seems to answer them: ship."
    )
