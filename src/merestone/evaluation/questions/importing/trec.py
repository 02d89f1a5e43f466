"""Topics and qrels as the Text REtrieval Conference has them.

Topics are lines ``number<TAB>query``, or blocks ``<top> … </top>`` of which the title is asked.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path

from merestone.evaluation.questions.importing.faults import not_read, text_of
from merestone.evaluation.questions.importing.judgements import judged_questions, read_judgements
from merestone.evaluation.questions.importing.values import Reading
from merestone.types import SettingsError

_TOPIC = re.compile(r"<top>(.*?)</top>", re.DOTALL | re.IGNORECASE)
_NUMBER = re.compile(r"<num>\s*(?:Number:)?\s*([^\s<]+)", re.IGNORECASE)
_TITLE = re.compile(r"<title>\s*(?:Topic:)?\s*(.*?)\s*(?=<|\Z)", re.DOTALL | re.IGNORECASE)


def read_trec(path: Path, judgements: Path | None = None) -> Reading:
    """Topics that a document answers, with whole documents as evidence. ``path`` is the file of
    topics, or a folder with ``topics*`` or ``queries*`` and ``qrels*``."""
    folder = path if path.is_dir() else path.parent
    topics = _one_file(folder, ("topics*", "queries*.tsv")) if path.is_dir() else path
    grades = read_judgements(judgements or _one_file(folder, ("qrels*",)))
    return judged_questions(_topics(topics), grades)


def _topics(path: Path) -> Iterator[tuple[str, str]]:
    text = text_of(path)
    blocks = _TOPIC.findall(text)
    for block in blocks:
        number, title = _NUMBER.search(block), _TITLE.search(block)
        if number is None or title is None:
            raise not_read(path, f"a topic has no number or no title: {block.strip()[:60]!r}")
        yield number[1], html.unescape(title[1])
    for line, row in enumerate([] if blocks else text.splitlines(), 1):
        id, tab, query = row.partition("\t")
        if row.strip() and not tab:
            raise not_read(path, f"line {line} is no number and query with a tab between")
        if row.strip():
            yield id.strip(), query


def _one_file(folder: Path, patterns: tuple[str, ...]) -> Path:
    for pattern in patterns:
        found = [path for path in sorted(folder.glob(pattern)) if path.is_file()]
        if len(found) == 1:
            return found[0]
        if found:
            break
    else:
        found = []
    names = ", ".join(path.name for path in found) or "none"
    raise SettingsError(
        "questions-not-found",
        f"{folder} has not one file {' or '.join(patterns)}, but {names}.",
        "Name the file of topics itself, and the judgements with --qrels.",
    )
