"""Questions from and for other tools."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from evaluation.desk import Desk

from merestone import Questions, SettingsError
from merestone.evaluation.questions import Evidence, Question
from merestone.evaluation.questions.exporting import export_questions, trec_name
from merestone.evaluation.questions.importing import FORMATS, Import, import_questions
from merestone.evaluation.questions.importing.matching import DocumentNames
from merestone.types import DocumentRecord

PUMP = "# Pump\n\nThe pump runs at 40 bar. It was built in Kiel in 1911 by two sisters.\n"
VALVE = "# Valve\n\nThe valve is of brass. Close it before the pump is opened for inspection.\n"


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    (tmp_path / "docs").mkdir()
    made = Desk(tmp_path / "docs")
    made.write({"guide/pump.md": PUMP, "valve.md": VALVE})
    yield made
    made.library.close()


def read(desk: Desk, format: str, path: Path, **options: object) -> Import:
    with desk.library.snapshot() as snapshot:
        return import_questions(path, format, snapshot=snapshot, **options)  # type: ignore[arg-type]


def lines(path: Path, *rows: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        "".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows)
    )
    return path


def texts(desk: Desk, question: Question) -> list[str]:
    return [
        desk.text(each.doc)[slice(*each.span)] if each.span else each.doc
        for each in question.evidence
    ]


def names(*records: DocumentRecord) -> DocumentNames:
    return DocumentNames(records)


@pytest.mark.parametrize(
    ("name", "id"),
    [
        ("guide/pump.md", "guide/pump.md"),
        ("pump.md", "guide/pump.md"),
        ("pump", "guide/pump.md"),
        ("pump.txt", None),
        ("pump.v2", None),
        ("pump.md; x", None),
        ("corpus/guide/pump.md", None),
        ("other:guide/pump.md", None),
        ("guide/pump", "guide/pump.md"),
        ("./guide\\pump.md", "guide/pump.md"),
        ("guide%2Fpump.md", "guide/pump.md"),
        ("4983", "facts:4983"),
        ("7", None),
        ("release-1.2", "release-1.2.md"),
        ("The_great-valve", "x/1.md"),
        ("settings.json", None),
        ("a.md", None),
        ("two/a.md", "two/a.md"),
        ("ump.md", None),
        ("", None),
    ],
)
def test_a_name_is_matched_to_the_one_document_that_it_can_mean(name: str, id: str | None) -> None:
    known = names(
        DocumentRecord("guide/pump.md"),
        DocumentRecord("facts:4983"),
        DocumentRecord("one/a.md"),
        DocumentRecord("two/a.md"),
        DocumentRecord("x/1.md", title="The Great Valve"),
        DocumentRecord("x/2.md", title="settings.json"),
        DocumentRecord("facts:7.5"),
        DocumentRecord("release-1.2.md"),
    )
    assert known.match(name) == id


def test_beir(desk: Desk, tmp_path: Path) -> None:
    folder = tmp_path / "beir"
    lines(folder / "queries.jsonl", *({"_id": id, "text": f"{id}?"} for id in "abc"))
    lines(folder / "corpus.jsonl")
    lines(folder / "qrels" / "train.tsv", "query-id\tcorpus-id\tscore", "c\tpump\t1")
    lines(
        folder / "qrels" / "test.tsv",
        "query-id\tcorpus-id\tscore",
        "a\tpump\t2",
        "a\tvalve\t0",
        "b\tnone\t1",
        "b\tpump\t1",
    )
    found = read(desk, "beir", folder)
    a, b = found.questions
    assert (a.question, a.match) == ("a?", "any")
    assert [(each.doc, each.grade) for each in a.evidence] == [
        ("guide/pump.md", 2),
        ("valve.md", 0),
    ]
    assert found.unmatched == {"none": 1}
    assert found.taken_for == {"pump": ["guide/pump.md"], "valve": ["valve.md"]}
    assert found.left_out == {"without judgements": ["c"]}
    assert found.check
    assert found.check.counts == {"same": 3, "no-document": 1}
    (only,) = read(desk, "beir", folder, matched_only=True).questions
    assert only.id == "a"
    (c,) = read(desk, "beir", folder, judgements=folder / "qrels" / "train.tsv").questions
    assert c.id == "c"
    assert b.id == "b"


def test_trec_topics_as_lines_and_as_blocks(desk: Desk, tmp_path: Path) -> None:
    folder = tmp_path / "trec"
    judged = ("401 0 pump.md 1", "401 0 valve.md -1", "402 0 valve.md 0", "409 0 valve.md 1")
    lines(folder / "qrels.txt", *judged, "404 0 valve.md 1")
    asked = ("401\tWho  built it?", "402\tWhat else?", "403\tAnd?", "404\t ")
    lines(folder / "topics.tsv", *asked)
    found = read(desk, "trec", folder)
    (question,) = found.questions
    assert found.left_out == {
        "with no judgement above 0": ["402"],
        "without judgements": ["403"],
        "without words": ["404"],
        "judged and not among those asked": ["409"],
    }
    assert found.to_json()["left_out"] == 4
    assert (question.id, question.question) == ("401", "Who built it?")
    assert [(each.doc, each.grade) for each in question.evidence] == [
        ("guide/pump.md", 1),
        ("valve.md", 0),
    ]
    (folder / "topics.tsv").unlink()
    block = "<top>\n<num> Number: 401\n<title> pumps &amp; Kiel\n\n<desc> Description:\nx\n</top>\n"
    (folder / "topics.301").write_text(block)
    (question,) = read(desk, "trec", folder / "topics.301").questions
    assert question.question == "pumps & Kiel"


def test_squad_gives_the_sentences_that_hold_an_answer(desk: Desk, tmp_path: Path) -> None:
    context = "The pump runs at 40 bar. It was built in Kiel in 1911 by two sisters."
    rows = [
        {"id": "a", "question": "Where?", "answers": [{"text": "Kiel", "answer_start": 41}] * 2},
        {"id": "b", "question": "Who?", "answers": [], "is_impossible": True},
        # Counted in other units: the answer stands once.
        {"id": "c", "question": "When?", "answers": [{"text": "1911", "answer_start": 7}]},
    ]
    nested = {"data": [{"title": "Machines", "paragraphs": [{"context": context, "qas": rows}]}]}
    found = read(desk, "squad", lines(tmp_path / "squad.json", nested))
    a, b, c = found.questions
    sentence = "It was built in Kiel in 1911 by two sisters."
    assert texts(desk, a) == texts(desk, c) == [sentence]
    assert b.evidence == ()
    assert a.extra == {"answers": ["Kiel"]}
    assert not found.unmatched
    flat = [
        {
            "id": "d",
            "title": "pump",
            "context": context,
            "question": "How much?",
            "answers": {"text": ["40 bar", "two sisters"], "answer_start": [17, 57]},
        }
    ]
    (d,) = read(desk, "squad", lines(tmp_path / "flat.jsonl", *flat)).questions
    assert d.match == "any"
    assert texts(desk, d) == ["The pump runs at 40 bar.", sentence]
    lost = {
        **flat[0],
        "title": "none",
        "context": "Nobody has this text, here or elsewhere.",
        "id": "e",
        "answers": {"text": ["text"], "answer_start": [16]},
    }
    assert read(desk, "squad", lines(tmp_path / "lost.jsonl", lost)).unmatched == {"none": 1}


def test_chroma(desk: Desk, tmp_path: Path) -> None:
    path = tmp_path / "questions_df.csv"
    start = VALVE.index("Close")
    references = [
        {"content": VALVE[start : start + 20], "start_index": start, "end_index": start + 20}
    ]
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["question", "references", "corpus_id"])
        writer.writerow(["What first?", json.dumps(references), "valve"])
    (question,) = read(desk, "chroma", tmp_path).questions
    assert texts(desk, question) == ["Close it before the "]
    assert question.tags == ("valve",)


def test_sets_are_of_the_source_and_keep_what_else_they_say(desk: Desk, tmp_path: Path) -> None:
    row = {
        "id": "a",
        "question": "Where?",
        "evidence": [{"doc": "pump.md", "start": 9, "end": 17, "quote": PUMP[9:17]}],
        "label": "fact",
        "lang": "en",
        "context": [{"doc": "pump.md", "start": 0, "end": 3}],
    }
    path = lines(tmp_path / "set" / "questions.jsonl", row)
    (raw,) = import_questions(path.parent, "set").questions
    assert raw.evidence[0].coordinates == "source"
    (question,) = read(desk, "set", path.parent).questions
    assert (question.tags, question.language) == (("fact",), "en")
    assert question.extra == {"context": row["context"]}
    (evidence,) = question.evidence
    assert (evidence.doc, evidence.coordinates) == ("guide/pump.md", "text")
    assert evidence.version


@pytest.mark.parametrize(
    ("format", "content"),
    [
        ("beir", "[]"),
        ("trec", "401 no tab"),
        ("squad", "{"),
        ("squad", '{"data": [1]}'),
        ("chroma", "a,b\n"),
        ("chroma", "question,references,corpus_id\nx,nothing,y\n"),
        ("set", "{"),
        ("csv", "a,b\n"),
    ],
)
def test_what_is_of_another_form_is_refused_with_words(
    desk: Desk, tmp_path: Path, format: str, content: str
) -> None:
    folder = tmp_path / "in"
    lines(folder / "qrels.txt", "1 0 a 1")
    lines(folder / "qrels" / "test.tsv", "1\ta\t1")
    name = {"beir": "queries.jsonl", "csv": "q.csv"}.get(format, "q.txt")
    path = lines(folder / name, content)
    with pytest.raises(SettingsError) as error:
        import_questions(folder if format == "beir" else path, format)
    assert error.value.code == "invalid-questions"
    assert name in error.value.message


@pytest.mark.parametrize("format", FORMATS)
def test_a_path_that_is_not_there_is_told(tmp_path: Path, format: str) -> None:
    with pytest.raises(SettingsError) as error:
        import_questions(tmp_path / "none", format)
    assert error.value.code == "questions-not-found"


def kept(desk: Desk) -> Questions:
    return Questions(
        [
            Question("a b", "Who built\nit?", (desk.evidence("guide/pump.md", "two sisters"),)),
            Question("c", "What first?", (Evidence("valve.md", grade=2), Evidence("valve.md"))),
            Question("d", "Is it free?"),
        ]
    )


def export(desk: Desk, format: str, target: Path) -> list[Path]:
    with desk.library.snapshot() as snapshot:
        return export_questions(kept(desk), format, target, snapshot)


def test_trec_is_written_and_read_again(desk: Desk, tmp_path: Path) -> None:
    topics, qrels = export(desk, "trec", tmp_path / "out")
    assert topics.read_text() == "a%20b\tWho built it?\nc\tWhat first?\nd\tIs it free?\n"
    assert qrels.read_text() == "a%20b 0 guide/pump.md 1\nc 0 valve.md 2\n"
    again = read(desk, "trec", tmp_path / "out")
    assert [[each.doc for each in question.evidence] for question in again.questions] == [
        ["guide/pump.md"],
        ["valve.md"],
    ]


def test_no_name_breaks_the_columns_of_trec() -> None:
    assert trec_name("my notes\u00a0100%\t.md") == "my%20notes%C2%A0100%25%09.md"
    assert names(DocumentRecord("my notes.md")).match(trec_name("my notes.md")) == "my notes.md"


def test_beir_is_written_with_the_documents_that_the_asker_may_read(
    desk: Desk, tmp_path: Path
) -> None:
    export(desk, "beir", tmp_path / "out")
    corpus = [json.loads(line) for line in (tmp_path / "out" / "corpus.jsonl").open()]
    assert {row["_id"]: row["text"] for row in corpus} == {"guide/pump.md": PUMP, "valve.md": VALVE}
    again = read(desk, "beir", tmp_path / "out")
    assert [question.id for question in again.questions] == ["a b", "c"]
    with pytest.raises(SettingsError, match="export-needs-library"):
        export_questions(kept(desk), "beir", tmp_path / "out")


@pytest.mark.parametrize("format", ["csv", "jsonl"])
def test_own_forms_are_written_and_read_again(desk: Desk, tmp_path: Path, format: str) -> None:
    (path,) = export(desk, format, tmp_path / f"out.{format}")
    assert import_questions(path, format).questions.hash == Questions.load(path).hash
    assert list(Questions.load(path))[1:] == list(kept(desk))[1:]


def test_unknown_formats_are_named(tmp_path: Path) -> None:
    for act in (import_questions, lambda path, form: export_questions(Questions(), form, path)):
        with pytest.raises(SettingsError) as error:
            act(tmp_path, "xml")  # type: ignore[operator]
        assert error.value.code == "unknown-format"


def test_every_reference_of_chromas_questions_is_found(tmp_path: Path, bench_data: Path) -> None:
    folder = bench_data / "eval" / "chroma"
    small = ("state_of_the_union.md", "chatlogs.md", "wikitexts.md")
    desk = Desk(tmp_path, chunking={"strategy": "fixed"})
    desk.write({name: (folder / "corpora" / name).read_bytes() for name in small})
    found = read(desk, "chroma", folder)
    desk.library.close()
    assert len(found.questions) == 472
    assert found.check
    # The two large corpora are not in this library.
    assert found.unmatched == {"pubmed": 195, "finance": 143}
    assert found.check.counts == {"same": 108 + 95 + 249, "no-document": 195 + 143}


@pytest.mark.ci
@pytest.mark.parametrize(
    ("name", "certain"), [("fin_tatqa", 199), ("multi_xquad", 345), ("id_postgres", 300)]
)
def test_all_evidence_of_whole_sets_is_found(
    tmp_path: Path, bench_data: Path, name: str, certain: int
) -> None:
    folder = bench_data / "eval" / name
    source = json.dumps(str(folder / "documents"))
    (tmp_path / "merestone.toml").write_text(f"[[sources]]\npath = {source}\n")
    desk = Desk(tmp_path, chunking={"strategy": "fixed"})
    desk.write({})
    found = read(desk, "set", folder)
    again = desk.check(found.questions)
    desk.library.close()
    assert found.check
    assert found.check.counts == {"same": certain}
    assert again.counts == {"same": certain}


@pytest.mark.ci
def test_quotes_on_pages_of_real_filings_are_found(tmp_path: Path, bench_data: Path) -> None:
    folder = bench_data / "eval" / "fin_bench"
    smallest = sorted((folder / "documents").iterdir(), key=lambda path: path.stat().st_size)[:5]
    # However slow the machine is.
    limits: dict[str, object] = {"worker_cpu_seconds": 1200, "worker_wall_seconds": 3600}
    desk = Desk(tmp_path, chunking={"strategy": "fixed"}, extraction=limits)
    desk.write({path.name: path.read_bytes() for path in smallest})
    found = read(desk, "set", folder, matched_only=True)
    again = desk.check(found.questions)
    desk.library.close()
    assert len(found.questions) >= 5
    assert not found.check or not found.check.to_review
    assert again.counts.keys() == {"same"}
