"""``merestone questions``."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

import click

from merestone.cli.export import writable_target
from merestone.cli.questions_told import (
    told_added,
    told_check,
    told_import,
    told_questions,
    told_suggestion,
)
from merestone.cli.session import (
    amount,
    answer,
    asked,
    asker_options,
    json_option,
    open_library,
)
from merestone.config import note_written
from merestone.evaluation.gold.checking import check_questions
from merestone.evaluation.gold.notes import question_notes
from merestone.evaluation.questions.changing import change_questions
from merestone.evaluation.questions.exporting import EXPORTS, exported_files, without_judgement
from merestone.evaluation.questions.importing import FORMATS, import_questions
from merestone.evaluation.questions.json_form import (
    QuestionFormError,
    question_from_json,
    question_to_json,
)
from merestone.evaluation.questions.merging import merging_of
from merestone.evaluation.questions.selection import cited_evidence, quoted_evidence
from merestone.evaluation.questions.suggesting import suggest_questions
from merestone.evaluation.questions.values import Evidence, Question, Questions, question_id
from merestone.evaluation.questions.writer import QuestionWriter
from merestone.files import write_text
from merestone.library import Library
from merestone.types import SettingsError, Snapshot

FINDINGS = 1
_file_option = click.option(
    "--file",
    type=click.Path(path_type=Path),
    help="The file of questions; else evaluation.questions of the configuration.",
)


@click.group("questions")
def command() -> None:
    """Keep questions with their answers, to measure with: `eval`, `compare` and `tune` ask them.

    They are lines of a file in your repository. Answers are spans of documents, so they survive
    another cutting, and `check` follows them through edits.
    """


@command.command("add")
@click.argument("question")
@click.option(
    "--hit",
    "hits",
    metavar="REF",
    multiple=True,
    help="A passage that answers: a chunk id, document#start-end, a document, or the JSON file of "
    "a citation. May be repeated.",
)
@click.option("--doc", metavar="ID", help="The document that --quote is of; alone: all of it.")
@click.option(
    "--quote",
    "quotes",
    metavar="TEXT",
    multiple=True,
    help="Words of the document that answer. May be repeated.",
)
@click.option("--occurrence", type=click.IntRange(1), help="Which place, if the quote has several.")
@click.option("--answerless", is_flag=True, help="Nothing in the library answers it.")
@click.option("--tag", "tags", multiple=True, help="A word to group it by; may be repeated.")
@click.option(
    "--match",
    type=click.Choice(["all", "any"]),
    default=None,
    help="Whether a full answer needs every passage, or each alone answers.",
)
@click.option("--id", "id", metavar="ID", help="Its name; else made of the question.")
@_file_option
@asker_options
@json_option
@click.pass_obj
def add(
    directory: Path,
    question: str,
    hits: tuple[str, ...],
    doc: str | None,
    quotes: tuple[str, ...],
    occurrence: int | None,
    answerless: bool,
    tags: tuple[str, ...],
    match: str | None,
    id: str | None,
    file: Path | None,
    principals: tuple[str, ...],
    as_owner: bool,
    as_json: bool,
) -> None:
    """Add QUESTION with the passages that answer it; passages are added to one that is there."""
    _require_one_answer(hits, doc, quotes, answerless)
    if occurrence and not quotes:
        raise click.UsageError("--occurrence says which place of a --quote: give one.")
    with open_library(directory) as library:
        path = _path(library, directory, file)
        with _snapshot(library, principals, as_owner) as snapshot:
            found = [asked(hit, lambda each: cited_evidence(snapshot, each)) for hit in hits]
            if doc and quotes:
                found += [quoted_evidence(snapshot, doc, each, occurrence) for each in quotes]
            elif doc:
                found.append(cited_evidence(snapshot, doc))
    own_id = id or question_id(question)

    def added(questions: Questions) -> Questions:
        made = _with_evidence(questions, own_id, question, found)
        made = replace(made, tags=tuple(dict.fromkeys((*made.tags, *tags))))
        if match:
            made = replace(made, match="any" if match == "any" else "all")
        _require_readable(made)
        return questions.with_all([made])

    made = change_questions(path, added).by_id(own_id)
    answer(question_to_json(made), as_json, lambda: told_added(made, path))


@command.command("check")
@click.option("--apply", "is_applied", is_flag=True, help="Write what is certain into the file.")
@_file_option
@asker_options
@json_option
@click.pass_obj
def check(
    directory: Path,
    is_applied: bool,
    file: Path | None,
    principals: tuple[str, ...],
    as_owner: bool,
    as_json: bool,
) -> int:
    """Say where each answer stands now: same, moved, changed or gone. Exit code 1 if someone
    should look at one."""
    with open_library(directory) as library:
        path = _path(library, directory, file)
        questions = Questions.load(path)
        with _snapshot(library, principals, as_owner) as snapshot:
            notes = question_notes(snapshot, questions, library.settings.sources)
            report = replace(check_questions(snapshot, questions), notes=notes)
    if is_applied and report.moves:
        change_questions(path, report.applied)
        click.echo(f"{amount(report.moves, 'place')} brought up to date in {path}.", err=True)
    answer(report, as_json, lambda: told_check(report, is_applied))
    return FINDINGS if report.to_review else 0


@command.command("import")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--format", "format", type=click.Choice(list(FORMATS)), required=True)
@click.option(
    "--qrels",
    type=click.Path(path_type=Path),
    help="The file of judgements, where it is apart (beir, trec).",
)
@click.option("--tag", "tags", multiple=True, help="A word to group them by; may be repeated.")
@click.option("--matched-only", is_flag=True, help="Leave out questions about other documents.")
@_file_option
@asker_options
@json_option
@click.pass_obj
def import_(
    directory: Path,
    path: Path,
    format: str,
    qrels: Path | None,
    tags: tuple[str, ...],
    matched_only: bool,
    file: Path | None,
    principals: tuple[str, ...],
    as_owner: bool,
    as_json: bool,
) -> int:
    """Add the questions of PATH, a file or folder of another tool. Documents are matched by their
    names, answers are found in their text. Exit code 1 if something was not, documents that
    --matched-only leaves out apart."""
    with open_library(directory) as library:
        target = _path(library, directory, file)
        with _snapshot(library, principals, as_owner) as snapshot:
            found = import_questions(
                directory / path,
                format,
                snapshot=snapshot,
                judgements=directory / qrels if qrels else None,
                matched_only=matched_only,
            )
    tagged = [replace(q, tags=tuple(dict.fromkeys((*q.tags, *tags)))) for q in found.questions]
    before: list[Questions] = []

    def merged(questions: Questions) -> Questions:
        before.append(questions)
        return questions.with_all(tagged)

    change_questions(target, merged)
    kept = merging_of(before[-1], tagged)
    shape = found.to_json() | kept.to_json()
    answer(shape, as_json, lambda: told_import(found, kept, target))
    is_lost = bool(found.unmatched) and not matched_only
    return FINDINGS if is_lost or (found.check and found.check.to_review) else 0


@command.command("export")
@click.argument("target", type=click.Path(path_type=Path))
@click.option("--format", "format", type=click.Choice(list(EXPORTS)), required=True)
@_file_option
@asker_options
@json_option
@click.pass_obj
def export(
    directory: Path,
    target: Path,
    format: str,
    file: Path | None,
    principals: tuple[str, ...],
    as_owner: bool,
    as_json: bool,
) -> None:
    """Write the questions for another tool, to the file or (trec, beir) into the folder TARGET."""
    with open_library(directory) as library:
        source = _path(library, directory, file)
        questions = Questions.load(source)
        place = directory / target
        with _snapshot(library, principals, as_owner) as snapshot:
            files = exported_files(questions, format, place, snapshot)
        for path in files:
            writable_target(path, library, besides=[source])
        note_written(library.settings.state, *files)
        for path, text in files.items():
            write_text(path, text)
    unjudged = without_judgement(questions, format)
    if unjudged:
        verb = "has" if unjudged == 1 else "have"
        click.echo(
            f"{amount(unjudged, 'question')} that nothing answers {verb} no line among the "
            "judgements, so that tools that go by these pass over them.",
            err=True,
        )
    shape = {
        "questions": len(questions),
        "without_judgement": unjudged,
        "files": [str(path) for path in files],
    }
    answer(shape, as_json, lambda: "\n".join(map(str, files)))


@command.command("suggest")
@click.option("--count", "-n", default=20, show_default=True, type=click.IntRange(1, 10_000))
@click.option("--seed", default=0, show_default=True, help="Another one gives other passages.")
@click.option("--rules", is_flag=True, help="Without the model of evaluation.suggest.")
@click.option("--write", "is_written", is_flag=True, help="Add them to the file of questions.")
@_file_option
@asker_options
@json_option
@click.pass_obj
def suggest(
    directory: Path,
    count: int,
    seed: int,
    rules: bool,
    is_written: bool,
    file: Path | None,
    principals: tuple[str, ...],
    as_owner: bool,
    as_json: bool,
) -> None:
    """Draft questions from headings, definitions and key sentences, or by the model that
    evaluation.suggest names. They are easier than real ones, and marked as made."""
    with open_library(directory) as library:
        path = _path(library, directory, file)
        questions = _known(path)
        writer = None if rules else _writer(library)
        try:
            with _snapshot(library, principals, as_owner) as snapshot:
                made = suggest_questions(
                    snapshot, count=count, seed=seed, existing=questions, writer=writer
                )
        finally:
            if writer:
                writer.close()
    for note in made.notes:
        click.echo(note, err=True)
    if is_written and made.questions:
        change_questions(path, lambda now: _with_drafts(now, made.questions))
        click.echo(f"{amount(len(made.questions), 'question')} added to {path}.", err=True)
    answer(made, as_json, lambda: told_suggestion(made))


@command.command("list")
@click.option("--tag", "tags", multiple=True, help="Only questions with this tag.")
@click.option("--made/--asked", "made", default=None, help="Only those of a machine, or of people.")
@_file_option
@json_option
@click.pass_obj
def list_(
    directory: Path, tags: tuple[str, ...], made: bool | None, file: Path | None, as_json: bool
) -> None:
    """List the questions."""
    with open_library(directory) as library:
        questions = Questions.load(_path(library, directory, file)).only(tags=tags, made=made)
    shapes = [question_to_json(question) for question in questions]
    answer(shapes, as_json, lambda: told_questions(questions))


def _require_one_answer(
    hits: tuple[str, ...], doc: str | None, quotes: tuple[str, ...], answerless: bool
) -> None:
    """Raise ``UsageError`` unless the options say in one way what answers."""
    if answerless and (hits or doc or quotes):
        named = [("--hit", hits), ("--doc", doc), ("--quote", quotes)]
        given = " and ".join(option for option, value in named if value)
        raise click.UsageError(
            f"--answerless says that nothing answers, and {given} what does: leave one out."
        )
    if quotes and not doc:
        raise click.UsageError("--quote needs the document that it is of: add --doc.")
    if not (answerless or hits or doc):
        raise click.UsageError("Say what answers: --hit, --doc with --quote, or --answerless.")
    if not all(quote.strip() for quote in quotes):
        raise click.UsageError("--quote is empty.")


def _snapshot(
    library: Library, principals: tuple[str, ...], as_owner: bool
) -> AbstractContextManager[Snapshot]:
    return library.snapshot(principals=principals or None, as_owner=as_owner)


def _path(library: Library, directory: Path, file: Path | None) -> Path:
    if file is None:
        return Path(library.settings.evaluation.questions)
    note_written(library.settings.state, directory / file)
    return directory / file


def _known(path: Path) -> Questions:
    """The questions that are there already."""
    return Questions.load(path) if path.exists() else Questions()


def _with_drafts(questions: Questions, drafts: Sequence[Question]) -> Questions:
    """What someone wrote meanwhile stays, where a draft has the same words."""
    known = {question.id for question in questions}
    return questions.with_all(draft for draft in drafts if draft.id not in known)


def _require_readable(question: Question) -> None:
    """Raise ``SettingsError`` for what could not be read again, before anything is written."""
    try:
        question_from_json(question_to_json(question))
    except QuestionFormError as error:
        raise SettingsError(
            "invalid-questions", f"The question can't be kept: {error.problem}.", error.remedy
        ) from error


def _with_evidence(questions: Questions, id: str, text: str, evidence: list[Evidence]) -> Question:
    """The question of that id with further evidence, or a new one."""
    known = next((question for question in questions if question.id == id), None)
    if known is None:
        return Question(id, text.strip(), tuple(evidence))
    if known.question != text.strip() or not (evidence and known.evidence):
        raise SettingsError(
            "question-exists",
            f"There is a question with the id {id!r}: {known.question}",
            "Give another --id, or edit the file.",
        )
    new = [each for each in evidence if each not in known.evidence]
    return replace(known, evidence=(*known.evidence, *new))


def _writer(library: Library) -> QuestionWriter | None:
    settings = library.settings.evaluation.suggest
    if not settings.url and not settings.model:
        return None
    writer = QuestionWriter(settings)
    click.echo(f"Passages go to {writer.place}, which words the questions.", err=True)
    return writer
