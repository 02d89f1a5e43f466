"""Making the record of a run: under what it was made, what it cost, what to beware of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from statistics import mean, median

from merestone import __version__
from merestone.evaluation.gold.notes import question_notes
from merestone.evaluation.measures.spans import at
from merestone.evaluation.questions.values import Questions
from merestone.evaluation.runs.cautions import cautions
from merestone.evaluation.runs.grouping import grouped, mean_documents, mean_measures
from merestone.evaluation.runs.scoring import Scored
from merestone.evaluation.runs.serving import Desk
from merestone.evaluation.runs.values import SEARCH, QuestionResult, Run, people_first
from merestone.evaluation.runs.views import Views
from merestone.indexing import open_pipeline
from merestone.library import Library
from merestone.text.hashing import canonical_json, digest
from merestone.types import JSON, LibrarySettings, Snapshot

_TABLES = ("extraction", "chunking", "embedding", "retrieval", "reranking")
_PASSING = frozenset({"free", "log"})
"""Parts of a library's files that tell when it was last written, not what it holds."""


def run_id(
    library: Library,
    desks: Mapping[tuple[str, ...], Desk],
    questions: Questions,
    views: Views,
    asker: tuple[str, ...],
    where: JSON,
) -> str:
    """Hash of all that decides the outcome of a run, known before anything is asked."""
    own = desks[()]
    decides: list[JSON] = [
        questions.hash,
        [[list(who), state_hash(desk.snapshot)] for who, desk in sorted(desks.items())],
        dict(effective_settings(library.settings)),
        _embedder(own),
        own.tokenizer.fingerprint,
        list(views.names),
        own.mode,
        list(asker),
        where,
        __version__,
    ]
    return digest("run", canonical_json(decides))


def record_run(
    library: Library,
    desks: Mapping[tuple[str, ...], Desk],
    questions: Questions,
    views: Views,
    scored: Scored,
    asker: tuple[str, ...],
    id: str,
    name: str,
) -> Run:
    """The run of ``questions`` at ``desks``, whose ``id`` is that of :func:`run_id`."""
    own = desks[()]
    results = tuple(scored.results)
    groups = grouped(results)
    costs = _costs(own.snapshot, people_first(results), scored, views)
    return Run(
        id=id,
        name=name,
        # Of two runs in one second the later one is the last.
        time=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        library_version=own.snapshot.library_version,
        questions_hash=questions.hash,
        documents_hash=documents_hash(own.snapshot),
        settings=effective_settings(library.settings),
        embedder=_embedder(own),
        tokenizer=own.tokenizer.name,
        measures=mean_measures([result for result in results if not result.made]),
        groups={group: mean_measures(members) for group, members in groups.items()},
        costs=costs,
        results=results,
        skipped=scored.skipped,
        warnings=(
            *state_notes(library, own.snapshot, questions),
            *cautions(results, scored, views.main, costs),
        ),
        views=views.names,
        main=views.main,
        mode=own.mode,
        asker=asker,
        version=__version__,
        documents=mean_documents(people_first(results)),
    )


def state_notes(library: Library, snapshot: Snapshot, questions: Questions) -> tuple[str, ...]:
    """What to beware of that is known before anything is asked."""
    return (
        *_stale(library, snapshot),
        *question_notes(snapshot, questions, library.settings.sources),
    )


def _embedder(desk: Desk) -> dict[str, JSON]:
    return {
        "name": desk.embedder.name,
        "fingerprint": desk.snapshot.generation.embedder.fingerprint,
        "dimension": desk.embedder.dimension,
    }


def effective_settings(settings: LibrarySettings) -> dict[str, JSON]:
    """The tables that decide what is served, as JSON."""
    return {table: _plain(asdict(getattr(settings, table))) for table in _TABLES}


def _plain(value: object) -> JSON:
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    assert value is None or isinstance(value, str | int | float)
    return value


def documents_hash(snapshot: Snapshot) -> str:
    """Of ids and versions of the documents that ``snapshot`` shows."""
    return digest("documents", *(f"{each.id}\n{each.version}" for each in snapshot.records()))


def state_hash(snapshot: Snapshot) -> str:
    """Of all that is searched: the documents, their chunks and what was embedded for each."""
    chunks = sorted((chunk, given) for _, chunk, given in snapshot.numbers())
    return digest("state", documents_hash(snapshot), *(f"{a}\n{b}" for a, b in chunks))


def _stale(library: Library, snapshot: Snapshot) -> list[str]:
    """What was measured may not be what the settings say: that takes a sync."""
    with open_pipeline(library.settings, library.embedder) as pipeline:
        records = [record for record in snapshot.records() if record.pipeline]
        stale = sum(each.pipeline != pipeline.fingerprint(each.media_type) for each in records)
    if not stale:
        return []
    return [
        f"{stale} of {len(records)} documents were read, cut or embedded by other settings than "
        "those of now: run `merestone sync` to measure these."
    ]


def _costs(
    snapshot: Snapshot, results: Sequence[QuestionResult], scored: Scored, views: Views
) -> dict[str, float]:
    costs: dict[str, float] = {
        "documents": len(snapshot.document_ids()),
        "chunks": snapshot.chunk_count(),
        **_stored_tokens(snapshot),
    }
    if not snapshot.is_limited:
        parts = snapshot.bytes().items()
        costs["index_bytes"] = sum(size for part, size in parts if part not in _PASSING)
    if results:
        main = SEARCH if views.main in map(str, views.ks) else views.main
        costs["passages_per_question"] = mean(len(each.served[main]) for each in results)
        for view in views.names:
            tokens = [each.measures.get(at("Tokens", view)) for each in results]
            known = [count for count in tokens if count is not None]
            if known:
                costs[f"tokens_retrieved@{view}"] = mean(known)
        costs["seconds_per_question"] = median(scored.seconds)
    return costs


def _stored_tokens(snapshot: Snapshot) -> dict[str, float]:
    """Tokens of all embedder inputs, and of those that differ, by the embedder's tokenizer."""
    stored, distinct = 0, {}
    for document in snapshot.document_ids():
        inputs = snapshot.inputs(document)
        for chunk in snapshot.chunks_of(document):
            stored += chunk.tokens
            distinct[inputs[chunk.id]] = chunk.tokens
    return {"tokens_stored": stored, "tokens_to_embed": sum(distinct.values())}
