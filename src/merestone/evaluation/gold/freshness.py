"""Whether the files that questions are about are still those that the library read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from merestone.evaluation.questions.values import Question
from merestone.indexing.regular_files import open_file
from merestone.indexing.sources.folders import changed_ns
from merestone.text.hashing import digest
from merestone.types import DocumentRecord, Snapshot, SourceSettings

STALE = "Changed since the library read it: "
"""What the note begins with: it is about a moment, not about what was asked."""
_NAMED = 5
"""Documents that are named at most."""


def freshness_notes(
    snapshot: Snapshot, questions: Iterable[Question], sources: Sequence[SourceSettings]
) -> list[str]:
    """A note if files that answer were changed or removed after the library read them: it knows
    only the text before. Only the folders of ``sources`` are looked into, and a file is read only
    where its time changed and its size did not."""
    folders = [Path(source.path) for source in sources if source.path]
    names = dict.fromkeys(evidence.doc for each in questions for evidence in each.evidence)
    records = filter(None, map(snapshot.record, names))
    stale = [record.id for record in records if _is_stale(record, folders)]
    if not stale:
        return []
    more = f" and {len(stale) - _NAMED} more" if len(stale) > _NAMED else ""
    return [
        f"{STALE}{', '.join(stale[:_NAMED])}{more}. What is asked and "
        "told here is the text before. Run `merestone sync` first."
    ]


def _is_stale(record: DocumentRecord, folders: Sequence[Path]) -> bool:
    path = _file_of(record)
    if path is None or not any(path.is_relative_to(folder) for folder in folders):
        return False
    try:
        status = path.stat()
        if (changed_ns(status), status.st_size) == (record.mtime_ns, record.size):
            return False
        if status.st_size != record.size:
            return True
        with open_file(str(path)) as file:
            return digest(file.read()) != record.source_hash
    except FileNotFoundError:
        return path.parent.is_dir()
    except OSError:
        return False


def _file_of(record: DocumentRecord) -> Path | None:
    """The file that a document is; ``None`` if it is a part of one, stands elsewhere, or could not
    be read as it was last."""
    uri = urlsplit(record.uri)
    is_part = bool(uri.fragment or uri.query)
    if uri.scheme != "file" or is_part or record.stamp or record.problem or not record.version:
        return None
    return Path(url2pathname(uri.path))
