"""``merestone questions``, as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from merestone import Questions
from merestone.cli.main import run

PUMP = "# Pump\n\nThe pump runs at 40 bar.\n\n## Limits\n\nERR_CONN_42 means too hot.\n"


class Shell:
    """Runs commands in a folder."""

    def __init__(self, folder: Path, capture: pytest.CaptureFixture[str]) -> None:
        self.folder, self._capture = folder, capture

    def __call__(self, *arguments: str) -> tuple[int, str, str]:
        self._capture.readouterr()
        code = run(["-C", str(self.folder), *arguments])
        out = self._capture.readouterr()
        return code, out.out, out.err

    def json(self, *arguments: str, code: int = 0) -> Any:
        found, out, err = self("questions", *arguments, "--json")
        assert found == code, err
        return json.loads(out)

    @property
    def questions(self) -> Questions:
        return Questions.load(self.folder / "questions.jsonl")


@pytest.fixture
def shell(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Shell:
    (tmp_path / "merestone.toml").write_text('[embedding]\nmodel = "hashing"\n')
    (tmp_path / "a.md").write_text(PUMP)
    made = Shell(tmp_path, capsys)
    assert made("sync")[0] == 0
    return made


def test_a_hit_becomes_the_answer_of_a_question(shell: Shell) -> None:
    hit = json.loads(shell("search", "pump bar", "--json")[1])["hits"][0]
    added = shell.json("add", "How much?", "--hit", hit["id"], "--tag", "limits", "--id", "q1")
    assert added["id"] == "q1"
    assert added["tags"] == ["limits"]
    (evidence,) = added["evidence"]
    assert evidence["quote"] == hit["text"]
    assert evidence["version"] == hit["version"]
    (shell.folder / "hit.json").write_text(json.dumps(hit))
    span = f"a.md#{hit['start']}-{hit['end']}"
    for reference in (span, str(shell.folder / "hit.json")):
        again = shell.json("add", f"By {reference}?", "--hit", reference)
        assert again["evidence"] == [evidence]
    assert len(shell.questions) == 3


def test_a_quote_must_stand_once_or_be_counted(shell: Shell) -> None:
    added = shell.json("add", "What is it?", "--doc", "a.md", "--quote", "means  too\nhot")
    assert added["evidence"][0]["quote"] == "means too hot"
    code, _, err = shell("questions", "add", "Which?", "--doc", "a.md", "--quote", "m")
    assert code == 2
    assert "stands 4 times" in err
    third = shell.json("add", "Which?", "--doc", "a.md", "--quote", "m", "--occurrence", "4")
    assert third["evidence"][0]["start"] == PUMP.index("means")
    for quote, document in (("nowhere", "a.md"), ("pump", "b.md")):
        assert shell("questions", "add", "Who?", "--doc", document, "--quote", quote)[0] == 2
    assert len(shell.questions) == 2


def test_more_evidence_goes_to_the_question_that_is_there(shell: Shell) -> None:
    shell.json("add", "What holds?", "--doc", "a.md", "--quote", "40 bar")
    shell.json("add", "What holds?", "--doc", "a.md", "--quote", "too hot", "--match", "any")
    (question,) = shell.questions
    assert [each.quote for each in question.evidence] == ["40 bar", "too hot"]
    assert question.match == "any"
    assert shell("questions", "add", "What holds?", "--answerless")[0] == 2


def test_each_of_several_quotes_becomes_evidence_and_is_shown(shell: Shell) -> None:
    quotes = ("--quote", "40 bar", "--quote", "too hot")
    code, out, _ = shell("questions", "add", "What holds?", "--doc", "a.md", *quotes)
    assert code == 0
    assert "40 bar" in out
    assert "too hot" in out
    (question,) = shell.questions
    assert [each.quote for each in question.evidence] == ["40 bar", "too hot"]


def test_a_file_of_questions_is_named_from_the_folder_of_the_command(shell: Shell) -> None:
    shell.json("add", "What holds?", "--doc", "a.md", "--quote", "40 bar", "--file", "own.jsonl")
    assert (shell.folder / "own.jsonl").is_file()
    assert shell("eval", "--file", "own.jsonl", "--budget", "100")[0] == 0


def test_what_commands_write_never_becomes_a_document(shell: Shell) -> None:
    shell.json("add", "What holds?", "--doc", "a.md", "--quote", "40 bar", "--file", "own.jsonl")
    outputs = ("--csv", "eval.csv", "--trec", "trec")
    assert shell("eval", "--file", "own.jsonl", "--budget", "100", *outputs)[0] == 0
    assert shell("report", "--markdown", "report.md")[0] == 0
    exported = shell("questions", "export", "--format", "beir", "beir", "--file", "own.jsonl")
    assert exported[0] == 0
    for written in ("own.jsonl", "eval.csv", "trec/run.txt", "report.md", "beir/corpus.jsonl"):
        assert (shell.folder / written).is_file(), written
    plan = json.loads(shell("plan", "--json")[1])
    assert plan["changes"] == []


@pytest.mark.parametrize(
    "arguments",
    [
        ("Why?", "--hit", "a.md#10-10"),
        ("", "--answerless"),
        ("Why?", "--id", "a\nb", "--answerless"),
        ("Why?", "--doc", "a.md", "--quote", ""),
    ],
)
def test_nothing_is_written_that_could_not_be_read(
    shell: Shell, arguments: tuple[str, ...]
) -> None:
    shell.json("add", "What holds?", "--doc", "a.md", "--quote", "40 bar")
    assert shell("questions", "add", *arguments)[0] == 2
    assert len(shell.questions) == 1


def test_what_answers_has_to_be_said(shell: Shell) -> None:
    assert shell("questions", "add", "Is it free?")[0] == 2
    assert shell("questions", "add", "Is it free?", "--answerless", "--doc", "a.md")[0] == 2
    assert shell("questions", "add", "Is it free?", "--quote", "x", "--answerless")[0] == 2
    assert shell.json("add", "Is it free?", "--answerless")["evidence"] == []
    assert shell.json("add", "What is it all?", "--doc", "a.md")["evidence"] == [{"doc": "a.md"}]


def test_check_finds_what_to_look_at_and_brings_the_rest_up_to_date(shell: Shell) -> None:
    shell.json("add", "How much?", "--doc", "a.md", "--quote", "runs at 40 bar")
    shell.json("add", "What is it?", "--doc", "a.md", "--quote", "ERR_CONN_42 means too hot.")
    assert shell.json("check")["evidence"] == {"same": 2}
    moved = f"Notice: revised.\n\n{PUMP}"
    (shell.folder / "a.md").write_text(moved)
    shell("sync", "--full-hash")
    before = shell.questions
    assert shell.json("check")["evidence"] == {"moved": 2}
    assert shell.questions == before
    code, out, err = shell("questions", "check", "--apply")
    assert code == 0
    assert "2 places brought up to date" in err
    assert shell.json("check")["evidence"] == {"same": 2}
    (shell.folder / "a.md").write_text(moved.replace("40 bar", "55 bar"))
    shell("sync", "--full-hash")
    code, out, _ = shell("questions", "check", "--apply")
    assert code == 1
    assert "How much?" in out
    assert "was: runs at 40 bar" in out
    assert "55 bar" in out
    assert shell.questions[0].evidence[0].quote == "runs at 40 bar"


def test_import_export_and_list(shell: Shell) -> None:
    table = "id,question,document,quote\nq,How much?,a,40 bar\nr,Who?,b.md,x\n"
    (shell.folder / "in.csv").write_text(table)
    found = shell.json("import", "in.csv", "--format", "csv", "--tag", "old", code=1)
    assert found["unmatched"] == {"b.md": 1}
    assert found["taken_for"] == {"a": ["a.md"]}
    assert found["evidence"] == {"same": 1, "no-document": 1}
    assert shell.questions.by_id("q").evidence[0].doc == "a.md"
    assert [each["id"] for each in shell.json("list", "--tag", "old")] == ["q", "r"]
    assert shell.json("list", "--made") == []
    for format, name in (("csv", "out.csv"), ("jsonl", "out.jsonl"), ("trec", "t"), ("beir", "b")):
        files = shell.json("export", name, "--format", format)["files"]
        assert all(Path(each).is_file() for each in files)
    assert shell.json("list", "--file", "out.csv") == shell.json("list")
    code, out, _ = shell("questions", "list")
    assert code == 0
    assert "q: How much?  [old]\n  a.md#" in out


def test_an_import_says_what_was_added_replaced_there_already_and_left_out(shell: Shell) -> None:
    table = "id,question,document,quote\nq,How much?,a.md,40 bar\nr,How hot?,a.md,too hot\n"
    (shell.folder / "in.csv").write_text(table)
    again = ("questions", "import", "in.csv", "--format", "csv")
    assert shell(*again)[1].startswith("2 questions added")
    (shell.folder / "in.csv").write_text(table.replace("How hot", "Too hot") + "s,Who?,b.md,x\n")
    code, out, _ = shell(*again, "--matched-only")
    assert code == 0
    assert out.startswith("0 questions added")
    assert ", 1 replaced, 1 there already.\n" in out
    assert "1 question left out, of documents that were not matched: s\n" in out
    found = shell.json("import", "in.csv", "--format", "csv", code=1)
    kinds = ("added", "replaced", "unchanged", "left_out")
    assert [found[kind] for kind in kinds] == [1, 0, 2, 0]


def test_topics_that_cannot_be_scored_are_told(shell: Shell) -> None:
    (shell.folder / "topics.tsv").write_text("1\tHow much?\n2\tWho?\n3\tWhen?\n")
    (shell.folder / "qrels.txt").write_text("1 0 a.md 1\n4 0 a.md 1\n")
    code, out, _ = shell("questions", "import", "topics.tsv", "--format", "trec")
    assert code == 0
    assert out.startswith("1 question added")
    assert "2 questions left out, without judgements: 2, 3\n" in out
    assert "1 question left out, judged and not among those asked: 4\n" in out
    assert "taken for" not in out
    (shell.folder / "qrels.txt").write_text("1 0 a 1\n")
    out = shell("questions", "import", "topics.tsv", "--format", "trec")[1]
    assert "1 name was taken for documents: a for a.md\n" in out


def test_a_scope_that_is_no_document_is_never_taken_for_one(shell: Shell) -> None:
    row = {"id": "q", "question": "How much?", "evidence": [], "scope": ["a.md; x"]}
    (shell.folder / "in.jsonl").write_text(json.dumps(row))
    assert shell.json("import", "in.jsonl", "--format", "jsonl", code=1)["taken_for"] == {}
    assert shell.questions[0].scope == ("a.md; x",)


def test_the_whole_answer_of_a_search_is_a_hit_where_it_has_one(shell: Shell) -> None:
    found = json.loads(shell("search", "pump bar", "--json")[1])
    path = shell.folder / "found.json"
    add = ("questions", "add", "How much?", "--hit", str(path))
    path.write_text(json.dumps(found | {"hits": found["hits"] * 2}))
    code, _, err = shell(*add)
    assert code == 2
    assert "one is wanted" in err
    assert "one entry of `hits`" in err
    path.write_text("{}")
    assert "it has no 'document'" in shell(*add)[2]
    path.write_text(json.dumps(found | {"hits": found["hits"][:1]}))
    assert shell(*add)[0] == 0
    assert shell.questions[0].evidence[0].quote == found["hits"][0]["text"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--answerless", "--doc", "a.md"), "--answerless says that nothing answers, and --doc"),
        (("--quote", "x"), "add --doc"),
        (("--doc", "a.md", "--occurrence", "2"), "--occurrence says which"),
        (("--doc", "a"), "Did you mean a.md?"),
        (("--doc", "a", "--quote", "40 bar"), "Did you mean a.md?"),
        (("--doc", "b", "--quote", "x"), "status --documents"),
    ],
)
def test_what_does_not_go_together_is_told_with_what_would(
    shell: Shell, arguments: tuple[str, ...], told: str
) -> None:
    code, _, err = shell("questions", "add", "Why?", *arguments)
    assert code == 2
    assert told in " ".join(err.replace("│", " ").split())


def test_an_empty_file_is_named_and_so_are_the_tokenizers(shell: Shell) -> None:
    (shell.folder / "empty.jsonl").write_text("")
    code, _, err = shell("eval", "--file", "empty.jsonl")
    assert code == 2
    assert "empty.jsonl" in err
    shell.json("add", "How much?", "--doc", "a.md", "--quote", "40 bar")
    assert "cl100k_base" in shell("eval", "--tokenizer", "nosuch")[2]


def test_check_tells_of_files_that_were_not_read_again(shell: Shell) -> None:
    shell.json("add", "How much?", "--doc", "a.md", "--quote", "40 bar")
    (shell.folder / "a.md").write_text(PUMP.replace("40 bar", "forty bar"))
    code, out, _ = shell("questions", "check")
    assert code == 0
    assert "note: Changed since the library read it: a.md." in out
    assert len(shell.json("check")["notes"]) == 1


def test_a_whole_document_as_the_answer_is_told_when_it_is_added(shell: Shell) -> None:
    assert "All of the document answers." in shell("questions", "add", "All?", "--doc", "a.md")[1]


def test_suggestions_are_shown_first_and_written_when_told(shell: Shell) -> None:
    for name in "bc":
        text = f"# Part {name}\n\nThe {name * 9} is cleaned every autumn by a trained person.\n"
        (shell.folder / f"{name}.md").write_text(text)
    shell("sync")
    code, out, err = shell("questions", "suggest", "-n", "2")
    assert code == 0
    assert "[made]" in out
    assert "easier" in err
    assert not (shell.folder / "questions.jsonl").exists()
    assert shell("questions", "suggest", "-n", "2", "--write")[0] == 0
    assert all(question.made for question in shell.questions)
    assert len(shell.json("list", "--made")) == len(shell.questions) == 2


def test_without_a_file_check_says_how_to_begin(shell: Shell) -> None:
    code, _, err = shell("questions", "check")
    assert code == 2
    assert "questions add" in err


def test_the_file_of_questions_is_no_document(shell: Shell) -> None:
    shell.json("add", "How much?", "--doc", "a.md", "--quote", "runs at 40 bar")
    assert shell("sync")[0] == 0
    hits = json.loads(shell("search", "How much?", "--json")[1])["hits"]
    assert {hit["document"] for hit in hits} <= {"a.md"}
