"""Files of questions: what is read, refused and kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import merestone
from merestone import NotFoundError, Questions, SettingsError
from merestone.evaluation.questions import Evidence, Question
from merestone.evaluation.questions.files import write_questions
from merestone.evaluation.questions.json_form import (
    QuestionFormError,
    question_from_json,
    question_to_json,
)
from merestone.evaluation.questions.keys import key_notes

LEAVE = {
    "id": "leave",
    "question": "How long is parental leave?",
    "evidence": [
        {
            "doc": "policy.md",
            "start": 10,
            "end": 19,
            "quote": "two years",
            "prefix": "leave is ",
            "suffix": ".",
            "version": "ab12",
            "grade": 2,
            "note": "checked by Ada",
        },
        {"doc": "table.pdf", "quote": "24 months", "page": 3},
    ],
    "match": "any",
    "scope": ["policy.md"],
    "tags": ["hr"],
    "language": "en",
    "principals": ["user:bob"],
    "owner": "Ada",
}


def load(folder: Path, text: str, name: str = "questions.jsonl") -> Questions:
    path = folder / name
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    return Questions.load(path)


def refusal(folder: Path, text: str, name: str = "questions.jsonl") -> str:
    with pytest.raises(SettingsError) as error:
        load(folder, text, name)
    assert error.value.code == "invalid-questions"
    assert name in error.value.message
    assert error.value.remedy
    return error.value.message


def line(**changes: object) -> str:
    return json.dumps({"id": "q", "question": "Why?", **changes})


def evidence(**changes: object) -> str:
    return line(evidence=[{"doc": "a.md", **changes}])


def test_questions_are_part_of_the_public_surface() -> None:
    assert merestone.Questions is Questions


def test_all_that_a_line_says_is_read_and_what_means_nothing_is_kept(tmp_path: Path) -> None:
    (question,) = load(tmp_path, json.dumps(LEAVE) + "\n\n")
    assert question.match == "any"
    assert question.tags == ("hr",)
    assert question.extra == {"owner": "Ada"}
    first, second = question.evidence
    assert (first.span, first.quote, first.grade) == ((10, 19), "two years", 2)
    assert first.extra == {"note": "checked by Ada"}
    assert (second.span, second.page, second.version) == (None, 3, "")
    assert question_to_json(question) == LEAVE


def test_what_is_missing_has_its_default(tmp_path: Path) -> None:
    (question,) = load(tmp_path, '\ufeff{"question": " Why? "}')
    assert question.question == "Why?"
    assert question.evidence == ()
    assert (question.match, question.made, question.language) == ("all", False, None)
    assert question.id == load(tmp_path, '{"question": "Why?"}')[0].id
    assert set(question_to_json(question)) == {"id", "question", "evidence"}


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        ("{", "no JSON"),
        ("[]", "no JSON object"),
        (line(question=" "), "question is empty"),
        (line(question=7), "question is 7"),
        (line(match="some"), "match is 'some'"),
        (line(tags="hr"), "tags is 'hr'"),
        (line(made="yes"), "made is 'yes'"),
        (line(id=" q"), "white space"),
        (line(evidence={}), ""),
        (line(evidence=["a.md"]), "no JSON object"),
        (line(evidence=[{"quote": "x"}]), "names no document"),
        (evidence(start=3), "only one of start and end"),
        (evidence(start=9, end=3), "span 9-3"),
        (evidence(start=3, end=3), "span 3-3"),
        (evidence(start=-1, end=3), "start is -1"),
        (evidence(start=0, end=3, quote="four"), "quote has 4 characters"),
        (evidence(start=0, end=3, quote="four", coordinates="source"), "quote has 4 characters"),
        (evidence(coordinates="bytes"), "coordinates is 'bytes'"),
        (evidence(page=0), "page is 0"),
        (evidence(grade=1.5), "grade is 1.5"),
        (evidence(start=True, end=3), "start is True"),
        (evidence(quote=""), "the quote of a.md is empty"),
        (evidence(quote=" ", page=2), "the quote of a.md is empty"),
        ('{"question": "Why?", "question": "How?"}', "the key 'question' stands twice"),
        (
            '{"question": "Why?", "evidence": [{"doc": "a.md", "doc": "b.md"}]}',
            "the key 'doc' stands twice",
        ),
    ],
)
def test_a_bad_line_is_named_with_its_problem(tmp_path: Path, bad: str, problem: str) -> None:
    if not problem:
        assert load(tmp_path, bad)[0].evidence == ()
        return
    message = refusal(tmp_path, f"{line(id='first')}\n{bad}\n")
    assert "line 2: " in message
    assert problem in message


@pytest.mark.parametrize(
    ("bad", "meant", "name"),
    [
        (evidence(quot="x"), "quote", ""),
        (evidence(Quote="x"), "quote", ""),
        (evidence(pages=3), "page", ""),
        (line(evidence=[{"document": "a.md", "quote": "x"}]), "doc", ""),
        (line(evidance=[{"doc": "a.md"}]), "evidence", ""),
        ('{"id": "q", "quesiton": "Why?"}', "question", ""),
        ("question,doc,quote\nWhy?,a.md,\n", "document", ".csv"),
        ("question,document,quot\nWhy?,a.md,x\n", "quote", ".csv"),
        ("question,document,quote_text\nWhy?,a.md,x\n", "quote", ".csv"),
    ],
)
def test_a_mistyped_key_never_changes_what_answers(
    tmp_path: Path, bad: str, meant: str, name: str
) -> None:
    with pytest.raises(SettingsError) as error:
        load(tmp_path, bad, f"questions{name or '.jsonl'}")
    assert f"Did you mean {meant}?" in error.value.remedy


def test_what_means_nothing_in_evidence_and_what_looks_mistyped_is_told(tmp_path: Path) -> None:
    odd = json.dumps({"id": "a", "question": "Why?", "tag": ["x"], "owner": "Ada"})
    piece = {"doc": "a.md", "quote": "x", "prefx": "y"}
    notes = key_notes(load(tmp_path, f"{odd}\n{line(evidence=[piece])}\n"))
    assert notes == [
        "The key 'prefx' of a piece of evidence means nothing, in q. Did you mean prefix?",
        "The key 'tag' of a question means nothing, in a. Did you mean tags?",
    ]


def test_several_bad_lines_are_told_at_once(tmp_path: Path) -> None:
    message = refusal(tmp_path, "\n".join([*["{"] * 7, line()]))
    assert "line 1: " in message
    assert "line 5: " in message
    assert "and 2 more" in message


def test_two_questions_of_one_id_are_refused(tmp_path: Path) -> None:
    message = refusal(tmp_path, f"{line()}\n{line(id='other')}\n{line()}\n")
    assert "line 3" in message
    assert "line 1 too" in message
    with pytest.raises(SettingsError, match="invalid-questions"):
        Questions([Question("q", "Why?"), Question("q", "How?")])


def test_a_file_that_is_not_there_says_how_to_begin(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as error:
        Questions.load(tmp_path / "none.jsonl")
    assert error.value.code == "questions-not-found"
    assert "questions add" in error.value.remedy


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "q.jsonl").write_bytes(b"\xff\xfe{}")
    with pytest.raises(SettingsError) as error:
        Questions.load(tmp_path / "q.jsonl")
    assert error.value.code == "invalid-questions"


TABLE = """\
id,question,document,quote
a,"Who pays, and when?",faq.md,"The buyer pays.
Always."
a,,faq.md,Within 30 days.
b,Who asks?,,
,Is it free?,b.md,No.
,Is it free?,c.md,Not at all.
"""


def test_rows_of_one_id_are_one_question_with_several_pieces_of_evidence(tmp_path: Path) -> None:
    questions = load(tmp_path, TABLE, "questions.csv")
    assert [len(question.evidence) for question in questions] == [2, 0, 2]
    assert questions.by_id("a").evidence[0].quote == "The buyer pays.\nAlways."
    assert questions.by_id("a").evidence[1] == Evidence("faq.md", quote="Within 30 days.")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("id,document\n", "no column called question"),
        ("question,document,quote\nWhy?,,words\n", "line 2: the row has a quote and no document"),
        ("id,question\na,Why?\na,How?\n", "line 3: the id 'a' has another question in line 2"),
        ("question\nWhy?,b\n", "line 2: the row has more fields"),
        ("question,document,start\nWhy?,a.md,x\n", "line 2: start is 'x'"),
        ('question\n"Why?\n', "line 2: it is no CSV"),
        ('question\n\n"What\nnow?"\n"Why?\n\n', "line 5: it is no CSV"),
        ('question,document,quote\n"What\nnow?",,words\n', "line 2: the row has a quote"),
        ('"question\nWhy?\n', "line 1: it is no CSV"),
        ("", "no column called question"),
        ("question,document,document\nWhy?,a.md,b.md\n", "two columns are called document"),
        ("Question,QUESTION\nWhy?,How?\n", "two columns are called question"),
        ("id,question\na,\n", "line 2: the question is empty"),
    ],
)
def test_a_bad_row_is_named_with_its_problem(tmp_path: Path, text: str, problem: str) -> None:
    assert problem in refusal(tmp_path, text, "questions.csv")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('Question,Document,QUOTE,Owner\nWhy?,a.md,"x; y",Ada\n', "q.csv"),
        ('question;document;quote;Owner\r\nWhy?;a.md;"x; y";Ada\r\n', "q.csv"),
        ('"question"\tdocument\tquote\tOwner\nWhy?\ta.md\tx; y\tAda\n', "q.csv"),
        ('Owner;document;quote;"Question"\r\nAda;a.md;"x; y";Why?\r\n', "q.tsv"),
    ],
)
def test_tables_of_spreadsheets_are_read(tmp_path: Path, text: str, name: str) -> None:
    (question,) = load(tmp_path, text, name)
    assert (question.question, question.extra) == ("Why?", {"Owner": "Ada"})
    assert question.evidence == (Evidence("a.md", quote="x; y"),)


def test_a_column_is_known_by_its_very_name_first(tmp_path: Path) -> None:
    (question,) = load(tmp_path, "question,Question\nWhy?,How?\n", "q.csv")
    assert (question.question, question.extra) == ("Why?", {"Question": "How?"})


names = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Cf", "Zs", "Zl", "Zp")), min_size=1
)
words = st.text(st.characters(codec="utf-8", exclude_characters="\0")).filter(
    lambda text: text == "" or text.strip()
)
values = st.none() | st.booleans() | st.integers(-9, 9) | words


@st.composite
def evidences(draw: st.DrawFn, *, plain: bool) -> Evidence:
    quote = draw(words)
    start = draw(st.none() | st.integers(0, 99))
    if start is not None and not quote:
        quote = "x"
    page = draw(st.none() | st.integers(1, 9))
    is_plain = plain or not (quote or page)
    return Evidence(
        draw(names),
        start,
        None if start is None else start + len(quote),
        quote,
        prefix=draw(words),
        suffix=draw(words),
        version=draw(st.sampled_from(["", "ab12"])),
        page=page,
        grade=draw(st.integers(0, 3)),
        extra={} if is_plain else draw(st.dictionaries(st.just("note"), values)),
    )


def question_lists(*, plain: bool) -> st.SearchStrategy[list[Question]]:
    lists = st.lists(names, max_size=3).map(tuple)
    return st.lists(
        st.builds(
            Question,
            names,
            words.map(str.strip).filter(bool),
            st.lists(evidences(plain=plain), max_size=3).map(tuple),
            st.sampled_from(["all", "any"]),
            lists,
            lists,
            st.none() | names,
            st.booleans(),
            lists,
            st.just({}) if plain else st.dictionaries(st.just("note"), values),
        ),
        max_size=4,
        unique_by=lambda question: question.id,
    )


@settings(max_examples=25)
@given(question_lists(plain=False))
def test_what_is_saved_is_loaded_again(tmp_path_factory: pytest.TempPathFactory, made) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path_factory.getbasetemp() / "round.jsonl"
    Questions(made).save(path)
    assert list(Questions.load(path)) == made
    text = path.read_bytes()
    Questions.load(path).save(path)
    assert path.read_bytes() == text


@settings(max_examples=25)
@given(question_lists(plain=True))
def test_the_table_says_as_much_as_the_lines(
    tmp_path_factory: pytest.TempPathFactory, made
) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path_factory.getbasetemp() / "round.csv"
    Questions(made).save(path)
    assert list(Questions.load(path)) == made


def test_a_file_is_written_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "questions.jsonl"
    Questions([Question("q", "Why?")]).save(path)
    path.chmod(0o640)
    before = path.read_bytes()

    def fail(*_: object) -> None:
        raise OSError("no space")

    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", fail)
        with pytest.raises(SettingsError) as error:
            write_questions(path, [Question("other", "How?")])
    assert error.value.code == "file-unwritable"
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == [path.name]
    write_questions(path, [Question("other", "How?")])
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_link_to_the_file_stays_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "real.jsonl", tmp_path / "link.jsonl"
    target.write_text(line())
    link.symlink_to(target)
    Questions([Question("q", "How?")]).save(link)
    assert link.is_symlink()
    assert Questions.load(target)[0].question == "How?"


def test_half_a_surrogate_pair_survives(tmp_path: Path) -> None:
    question = Question("q", "Why \ud83d?")
    Questions([question]).save(tmp_path / "q.jsonl")
    assert list(Questions.load(tmp_path / "q.jsonl")) == [question]


@given(st.permutations([Question(str(number), "Why?") for number in range(5)]))
def test_the_hash_is_of_what_is_said_and_not_of_its_order(made: list[Question]) -> None:
    assert Questions(made).hash == Questions(sorted(made, key=lambda each: each.id)).hash
    other = [*made[:-1], Question(made[-1].id, "Why not?")]
    assert Questions(other).hash != Questions(made).hash


def test_questions_are_chosen_by_tag_id_and_maker() -> None:
    a, b = Question("a", "Why?", tags=("hr", "old")), Question("b", "How?", made=True)
    questions = Questions([a, b])
    assert list(questions.only(tags=["hr"])) == [a]
    assert list(questions.only(made=True)) == [b]
    assert list(questions.only(ids=["b"], made=False)) == []
    assert list(questions.only()) == [a, b]
    assert questions[1:] == Questions([b])
    with pytest.raises(NotFoundError, match="question-not-found"):
        questions.only(ids=["c"])
    assert questions.with_all([Question("a", "When?")])[0].question == "When?"


@settings(max_examples=25)
@given(st.recursive(values, lambda inner: st.lists(inner) | st.dictionaries(words, inner)))
def test_any_json_is_a_question_or_refused_with_words(value: object) -> None:
    for shape in (value, {"question": "Why?", "evidence": value}, {"question": value}):
        told = ""
        try:
            told = question_from_json(shape).question
        except QuestionFormError as fault:
            told = fault.problem and fault.remedy
        assert told
