"""What comes before and after the documents of a sync: rules, removals, the flip, tidying up."""

from __future__ import annotations

from merestone.indexing.run import Run
from merestone.indexing.setup import Setup
from merestone.types import Change, Delete, Touch, Writer


def doubt_rules(setup: Setup, writer: Writer) -> bool:
    """Say that documents are about to be judged by other rules than the rest; true if they are.
    A run of a part, or one that is interrupted, leaves both; should the former rules come back,
    what it has opened must not pass for judged by them."""
    judged_by = rules_before(setup)
    if judged_by not in (None, setup.policy.fingerprint):
        writer.note_access_rules(None)
    return judged_by != setup.policy.fingerprint


def rules_before(setup: Setup) -> str | None:
    """Fingerprint of the rules that all documents were judged by, if it is known."""
    with setup.everything() as answering:
        return answering.access_rules() if answering else None


def complete(setup: Setup, writer: Writer, run: Run, *, is_whole: bool, allow_losses: bool) -> None:
    """What comes after the documents: removals, the flip, housekeeping."""
    final: list[Change] = [Touch(record) for record in run.difference.touched]
    final += [Touch(record) for record in run.reclassified]
    for record, chunks in run.removed:
        run.remove(record, chunks)
        final.append(Delete(record.id))
    if final:
        writer.apply(final)
    if run.supply.canary and not run.supply.identity.canary:
        writer.note_canary(run.supply.canary)
    is_answering = not run.is_making or _flip(setup, writer, run, allow_losses)
    if is_whole and is_answering:
        writer.note_access_rules(setup.policy.fingerprint)
        writer.drop_others()
    if run.changes:
        writer.maintain()
    writer.refresh_index()


def _flip(setup: Setup, writer: Writer, run: Run, allow_losses: bool) -> bool:
    """Let the new generation answer, unless that would lose a document."""
    with setup.everything(writer.generation.number) as made, setup.everything() as old:
        built = {record.id for record in made.records() if record.version} if made else set()
        gone = {record.id for record, _ in run.removed}
        gone |= {todo.moved_from.id for todo in run.difference.todo if todo.moved_from}
        held = [record.id for record in old.records() if record.version] if old else []
    lost = [document for document in held if document not in built | gone]
    if lost and not allow_losses:
        run.retry = True
        run.notes.append(
            f"{len(lost)} documents could not be taken over to the new embedder, such as "
            f"{lost[0]}; the old one goes on answering. Sync again, or sync with "
            "--allow-deletions to do without them."
        )
        return False
    writer.flip()
    return True
