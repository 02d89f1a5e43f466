"""Plan and sync."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from indexing.conftest import Folder, open_library

from merestone import MerestoneError, SourceError
from merestone.indexing import Indexer
from merestone.types import EmbedderError, Progress, Vectors

ALPHA = "# Alpha\n\nThe alpha pump runs at 40 bar.\n"
BETA = "# Beta\n\nThe beta pump runs at 55 bar.\n"


def test_a_second_sync_embeds_nothing_and_commits_nothing(folder: Folder) -> None:
    folder.write("a.md", ALPHA)
    first = folder.library.sync()
    second = folder.library.sync()
    assert first.embedded == 1
    assert first.documents["added"] == 1
    assert second.embedded == second.tokens == 0
    assert second.documents["unchanged"] == 1
    assert not second.changes
    assert second.library_version == first.library_version


def test_each_change_is_reflected_exactly(folder: Folder) -> None:
    for name in ("edited", "renamed", "deleted", "kept"):
        folder.write(f"{name}.md", f"# {name}\n\nWords about {name} things.\n")
    folder.library.sync()
    folder.write("edited.md", "# edited\n\nOther words now.\n")
    (folder.path / "renamed.md").rename(folder.path / "moved.md")
    (folder.path / "deleted.md").unlink()
    folder.write("added.md", "# added\n\nNew words.\n")
    report = folder.library.sync()
    assert {(c.document, c.change, c.moved_from) for c in report.changes} == {
        ("edited.md", "changed", None),
        ("moved.md", "moved", "renamed.md"),
        ("deleted.md", "removed", None),
        ("added.md", "added", None),
    }
    assert report.embedded == 2
    assert set(folder.contents()) == {"edited.md", "moved.md", "added.md", "kept.md"}
    assert not folder.library.verify(every_vector=True).findings


def test_a_named_scope_never_prunes_what_lies_outside(folder: Folder) -> None:
    folder.write("notes/a.md", ALPHA)
    folder.write("notes/b.md", BETA)
    folder.library.sync()
    folder.write("notes/a.md", ALPHA.replace("40", "41"))
    (folder.path / "notes/b.md").unlink()
    report = folder.library.sync(["notes/a.md"])
    assert report.documents["changed"] == 1
    assert report.documents["removed"] == 0
    assert set(folder.contents()) == {"notes/a.md", "notes/b.md"}
    assert folder.library.search("beta pump", mode="lexical").hits
    assert folder.library.sync().documents["removed"] == 1
    assert set(folder.contents()) == {"notes/a.md"}


def test_a_named_path_that_is_gone_is_removed(folder: Folder) -> None:
    folder.write("notes/a.md", ALPHA)
    folder.write("other.md", BETA)
    folder.library.sync()
    (folder.path / "notes/a.md").unlink()
    assert folder.library.sync(["notes/a.md"]).documents["removed"] == 1
    assert set(folder.contents()) == {"other.md"}


def test_a_name_is_not_a_prefix_of_another(folder: Folder) -> None:
    folder.write("guide/a.md", ALPHA)
    folder.write("guide-old/b.md", BETA)
    folder.library.sync()
    (folder.path / "guide-old/b.md").unlink()
    (folder.path / "guide-old").rmdir()
    assert folder.library.sync(["guide"]).documents["removed"] == 0


def test_an_unknown_path_is_an_error_and_changes_nothing(folder: Folder) -> None:
    folder.write("a.md", ALPHA)
    folder.library.sync()
    with pytest.raises(SourceError, match="nowhere"):
        folder.library.sync(["nowhere.md"])
    assert set(folder.contents()) == {"a.md"}


def test_a_missing_source_prunes_nothing(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text(ALPHA)
    (tmp_path / "merestone.toml").write_text('[[sources]]\npath = "docs"\n')
    with open_library(tmp_path) as library:
        library.sync()
        (tmp_path / "docs").rename(tmp_path / "away")
        with pytest.raises(SourceError, match="docs"):
            library.sync()
        assert library.status().documents == {"ok": 1}


def test_a_large_deletion_wants_a_word_of_consent(folder: Folder) -> None:
    for number in range(9):
        folder.write(f"{number}.md", f"# Part {number}\n\nWords {number}.\n")
    folder.library.sync()
    for number in range(3):
        (folder.path / f"{number}.md").unlink()
    with pytest.raises(SourceError) as caught:
        folder.library.sync()
    assert caught.value.code == "large-deletion"
    assert len(folder.contents()) == 9
    assert folder.library.sync(allow_deletions=True).documents["removed"] == 3


def test_identical_texts_are_embedded_once(folder: Folder) -> None:
    for name in ("a", "b", "c"):
        folder.write(f"{name}.md", ALPHA)
    assert folder.library.sync().embedded == 1
    assert len(folder.contents()) == 3
    (folder.path / "a.md").unlink()
    folder.library.sync()
    (hit,) = folder.library.search("alpha pump", mode="lexical").hits
    assert (hit.chunk.document, hit.also) == ("b.md", (f"c.md#0-{len(ALPHA.rstrip())}",))


def test_a_lost_cache_costs_no_embedding_of_what_is_stored(folder: Folder) -> None:
    folder.write("a.md", ALPHA)
    folder.library.sync()
    folder.library.close()
    for path in (folder.path / ".merestone").glob("embeddings.db*"):
        path.unlink()
    (folder.path / "a.md").rename(folder.path / "b.md")
    folder.library = open_library(folder.path)
    report = folder.library.sync()
    assert report.documents["moved"] == 1
    assert report.embedded == 0


def test_a_touched_file_is_unchanged(folder: Folder) -> None:
    folder.write("a.md", ALPHA)
    folder.library.sync()
    os.utime(folder.path / "a.md", (1, 1))
    report = folder.library.sync()
    assert report.documents["unchanged"] == 1
    assert not report.changes


def test_a_same_size_edit_with_the_old_time_is_found(folder: Folder) -> None:
    folder.write("a.md", ALPHA)
    folder.library.sync()
    status = (folder.path / "a.md").stat()
    folder.write("a.md", ALPHA.replace("40", "41"))
    os.utime(folder.path / "a.md", ns=(status.st_atime_ns, status.st_mtime_ns))
    assert folder.library.sync(full_hash=True).documents["changed"] == 1


def test_two_files_that_swap_names_swap_texts(folder: Folder) -> None:
    folder.write("a.md", ALPHA)
    folder.write("b.md", BETA)
    folder.library.sync()
    folder.write("a.md", BETA)
    folder.write("b.md", ALPHA)
    report = folder.library.sync()
    assert report.documents["changed"] == 2
    assert report.embedded == 0
    hit = folder.library.search("alpha", mode="lexical").hits[0]
    assert hit.chunk.document == "b.md"


def test_a_changed_setting_reaches_unchanged_files(folder: Folder) -> None:
    folder.write("a.md", "# A\n\n" + "\n\n".join(f"Paragraph {n} has words." for n in range(30)))
    folder.library.sync()
    before = folder.contents()
    folder.library.close()
    folder.library = open_library(folder.path, chunking={"max_tokens": 40})
    assert folder.library.sync().documents["changed"] == 1
    assert len(folder.contents()["a.md"]) > len(before["a.md"])
    assert not folder.library.verify().findings


def test_a_removed_document_stays_out_until_it_is_named(folder: Folder) -> None:
    folder.write("a.md", ALPHA)
    folder.write("b.md", BETA)
    folder.library.sync()
    folder.library.remove(["a.md"])
    assert set(folder.contents()) == {"b.md"}
    folder.library.sync()
    assert set(folder.contents()) == {"b.md"}
    folder.library.sync(["a.md"])
    assert set(folder.contents()) == {"a.md", "b.md"}
    folder.library.sync()
    assert set(folder.contents()) == {"a.md", "b.md"}


def test_ignore_files_have_gits_rules(folder: Folder) -> None:
    folder.write(".merestoneignore", "*.log\ndrafts/\n!keep.log\n")
    folder.write("sub/.merestoneignore", "/only-here.md\n")
    for name in (
        "a.md",
        "x.log",
        "keep.log",
        "drafts/d.md",
        "sub/only-here.md",
        "sub/deep/only-here.md",
        ".hidden/h.md",
    ):
        folder.write(name, f"Words of {name}.\n")
    folder.library.sync()
    assert set(folder.contents()) == {"a.md", "keep.log", "sub/deep/only-here.md"}


class Refusing:
    """An embedder that refuses texts with a certain word."""

    def __init__(self, inner: object, word: str) -> None:
        self._inner = inner
        self._word = word

    def __getattr__(self, name: str) -> object:
        return getattr(self._inner, name)

    def embed_passages(self, texts: list[str]) -> Vectors:
        if any(self._word in text for text in texts):
            raise EmbedderError("refused", "The endpoint timed out.", "Try again.")
        return self._inner.embed_passages(texts)  # type: ignore[attr-defined,no-any-return]


def test_a_document_that_cannot_be_embedded_keeps_its_old_version(folder: Folder) -> None:
    folder.write("policy.md", "# Refunds\n\nThe refund window is 14 days.\n")
    folder.write("other.md", "# Other\n\nOffice hours are nine to five.\n")
    library = folder.library
    library.sync()
    folder.write("policy.md", "# Refunds\n\nThe refund window is 30 days.\n")
    folder.write("other.md", "# Other\n\nOffice hours are ten to six.\n")
    refusing = Refusing(library.embedder, "refund")
    policy = library._policy()
    indexer = Indexer(library.settings, library._store, refusing, library._cache, policy)  # type: ignore[arg-type]
    report = indexer.sync()
    assert report.documents["failed"] == 1
    assert report.documents["changed"] == 1
    assert report.retry
    assert report.problems[0].document == "policy.md"
    assert "14 days" in library.search("refund window", mode="lexical").hits[0].chunk.text
    assert "ten to six" in library.search("office hours", mode="lexical").hits[0].chunk.text
    again = library.sync()
    assert again.documents["changed"] == 1
    assert "30 days" in library.search("refund window", mode="lexical").hits[0].chunk.text
    assert not library.verify().findings


def test_a_renamed_document_that_cannot_be_embedded_is_not_lost(folder: Folder) -> None:
    folder.write("old.md", "# Refunds\n\nThe refund window is 14 days.\n")
    folder.write("other.md", "# Other\n\nOffice hours are nine to five.\n")
    library = folder.library
    library.sync()
    (folder.path / "old.md").rename(folder.path / "new.md")
    library.close()
    folder.library = library = open_library(
        folder.path, chunking={"max_tokens": 6, "min_tokens": 2}
    )
    refusing = Refusing(library.embedder, "refund")
    policy = library._policy()
    indexer = Indexer(library.settings, library._store, refusing, library._cache, policy)  # type: ignore[arg-type]
    assert indexer.sync().documents["failed"] == 1
    assert "14 days" in library.search("refund window", mode="lexical").hits[0].chunk.text
    assert library.sync().documents["moved"] == 1
    hits = library.search("refund window", mode="lexical").hits
    assert {hit.chunk.document for hit in hits} == {"new.md"}


def test_an_interrupted_sync_leaves_a_whole_index_and_goes_on(folder: Folder) -> None:
    for number in range(70):
        folder.write(f"{number:03}.md", f"# Part {number}\n\nWords number {number}.\n")

    def interrupt(progress: Progress) -> None:
        if progress.stage == "read" and progress.done >= 64:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        folder.library.sync(progress=interrupt)
    assert not folder.library.verify().findings
    stored = len(folder.contents())
    assert stored == 64
    report = folder.library.sync()
    assert report.embedded == 70 - stored
    assert report.documents["unchanged"] == stored


@pytest.mark.parametrize(
    ("name", "data", "status", "code"),
    [
        ("empty.md", b"", "empty", "empty-document"),
        ("blank.txt", b" \n\n", "empty", "empty-document"),
        ("picture.md", b"\x89PNG\r\n\x1a\n" + bytes(200), "unsupported", "unsupported-format"),
        ("noise.txt", bytes(range(256)) * 40, "unsupported", "unsupported-format"),
    ],
)
def test_a_file_without_text_is_told_and_the_others_go_on(
    folder: Folder, name: str, data: bytes, status: str, code: str
) -> None:
    folder.write("good.md", ALPHA)
    folder.write(name, data)
    report = folder.library.sync()
    (problem,) = report.problems
    assert (problem.document, problem.status, problem.code) == (name, status, code)
    assert name in problem.message
    assert problem.remedy
    assert folder.library.search("alpha pump", mode="lexical").hits
    again = folder.library.sync()
    assert not again.retry
    assert not again.changes


def test_a_known_failure_is_tried_again_when_the_bytes_change(folder: Folder) -> None:
    folder.write("a.md", b"\x89PNG\r\n\x1a\n" + bytes(200))
    assert folder.library.sync().retry
    folder.write("a.md", ALPHA)
    report = folder.library.sync()
    assert report.documents["added"] == 1
    assert not report.problems


def test_a_file_that_becomes_unreadable_keeps_its_old_version(folder: Folder) -> None:
    folder.write("a.md", ALPHA)
    folder.library.sync()
    folder.write("a.md", b"\x89PNG\r\n\x1a\n" + bytes(200))
    report = folder.library.sync()
    assert report.documents["failed"] == 1
    assert folder.library.search("alpha pump", mode="lexical").hits
    assert not folder.library.sync().retry


def test_a_failure_says_which_version_is_served_and_goes_with_its_document(folder: Folder) -> None:
    folder.write("a.md", "# A\n\nWords.\n")
    folder.write("b.md", bytes(range(256)))
    folder.library.sync()
    folder.write("a.md", bytes(range(256)) * 2)
    folder.library.sync(full_hash=True)
    status = folder.library.status()
    messages = {problem.document: problem.message for problem in status.problems}
    assert re.search(r"Its version of \d{4}-\d\d-\d\d is still served\.$", messages["a.md"])
    assert "still served" not in messages["b.md"]
    assert (status.documents["ok"], status.outdated) == (1, 1)
    (folder.path / "b.md").unlink()
    for report in (folder.library.plan(), folder.library.sync()):
        assert [(c.document, c.change) for c in report.changes] == [("b.md", "removed")]
        assert (report.documents["unchanged"], report.failed_before) == (0, 1)


def test_a_plan_makes_nothing_and_says_what_costs_nothing(folder: Folder) -> None:
    text = "# A\n\n" + "Some words that are here. " * 60
    folder.write("a.md", text)
    (change,) = folder.library.plan().changes
    assert change.to_embed == change.counts.added > 1
    assert [path.name for path in folder.path.iterdir()] == ["a.md"]
    folder.library.sync()
    assert (folder.path / ".merestone").stat().st_mode & 0o777 == 0o700
    (folder.path / "a.md").rename(folder.path / "b.md")
    folder.write("c.md", text)
    changes = {each.document: each for each in folder.library.plan().changes}
    assert changes["b.md"].moved_from == "a.md"
    assert [changes[name].to_embed for name in ("b.md", "c.md")] == [0, 0]


def test_a_document_over_the_size_limit_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "big.txt").write_text("words " * 1000)
    (tmp_path / "good.md").write_text(ALPHA)
    with open_library(tmp_path, extraction={"max_document_bytes": 1000}) as library:
        report = library.sync()
    assert [(p.document, p.status) for p in report.problems] == [("big.txt", "too_large")]


@pytest.mark.skipif(sys.platform != "linux", reason="file names are text there")
def test_names_that_are_no_text_meet_in_no_id(folder: Folder) -> None:
    names = [b"bad\xff.md", b"bad%FF.md", b"bad%25FF.md", b"a%20b.md"]
    for number, name in enumerate(names):
        with open(os.path.join(os.fsencode(folder.path), name), "wb") as file:
            file.write(b"Words of file %d." % number)
    folder.library.sync()
    assert set(folder.contents()) == {"bad%FF.md", "bad%25FF.md", "bad%2525FF.md", "a%20b.md"}
    assert not folder.library.sync(full_hash=True).changes


def test_an_unreadable_ignore_file_lets_nothing_in_and_prunes_nothing(folder: Folder) -> None:
    folder.write("sub/.merestoneignore", "private/\n")
    folder.write("sub/private/secret.md", "secret words")
    folder.write("sub/open.md", "open words")
    folder.library.sync()
    assert set(folder.contents()) == {"sub/open.md"}
    (folder.path / "sub/.merestoneignore").unlink()
    (folder.path / "sub/.merestoneignore").symlink_to("nowhere")
    report = folder.library.sync()
    assert report.documents["failed"] == 1
    assert set(folder.contents()) == {"sub/open.md"}


def test_an_ignore_file_may_begin_with_a_mark(folder: Folder) -> None:
    folder.write(".merestoneignore", b"\xef\xbb\xbfa.md\r\n")
    folder.write("a.md", ALPHA)
    folder.write("b.md", BETA)
    folder.library.sync()
    assert set(folder.contents()) == {"b.md"}


def test_verify_tells_of_another_embedder(folder: Folder) -> None:
    folder.write("a.md", ALPHA)
    folder.library.sync()
    folder.library.close()
    folder.library = open_library(folder.path, embedding={"model": "minilm"})
    codes = {finding.code for finding in folder.library.verify().findings}
    assert "embedder-changed" in codes


def test_a_document_in_another_language_is_found_by_its_words(folder: Folder) -> None:
    folder.write("a.html", '<html lang="de"><body><p>Die Verordnungen gelten.</p></body></html>')
    folder.library.sync()
    assert folder.library.search("Verordnungen gelten", mode="lexical").hits


_NAMES = st.sampled_from(["a.md", "b.md", "c/d.md", "c/e.md", "f.txt"])
_TEXTS = st.sampled_from(
    [ALPHA, BETA, "plain words", "", "# T\n\n" + "many words here. " * 60, "Zürich 日本 👩‍👩‍👧"]
)
_STEPS = st.lists(
    st.tuples(
        st.sampled_from(["write", "delete", "rename", "sync", "part"]), _NAMES, _NAMES, _TEXTS
    ),
    max_size=12,
)


@given(_STEPS)
@settings(max_examples=25)
def test_after_any_changes_the_library_equals_a_fresh_build(
    steps: list[tuple[str, str, str, str]],
) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Folder(Path(place))
        embedded: set[str] = set()
        for action, name, other, text in [*steps, ("sync", "", "", "")]:
            path = folder.path / name
            if action == "write":
                folder.write(name, text)
            elif action == "delete":
                path.unlink(missing_ok=True)
            elif action == "rename" and path.exists() and name != other:
                (folder.path / other).parent.mkdir(parents=True, exist_ok=True)
                path.rename(folder.path / other)
            elif action == "sync" or (action == "part" and path.exists()):
                scope = [str(path)] if action == "part" else []
                planned = folder.library.plan(scope, full_hash=True)
                done = folder.library.sync(scope, full_hash=True, allow_deletions=True)
                assert planned.documents == done.documents
                assert planned.chunks == done.chunks
                assert planned.embedded == done.embedded
                assert planned.tokens == done.tokens
                with folder.library.snapshot() as snapshot:
                    held = {value for _, _, value in snapshot.numbers()}
                assert done.embedded <= len(held - embedded)
                embedded |= held
        assert not folder.library.verify(every_vector=True).findings
        again = folder.library.sync(full_hash=True)
        assert again.embedded == 0
        assert not again.changes
        with tempfile.TemporaryDirectory() as state:
            fresh = Folder(folder.path)
            object.__setattr__(fresh.library.settings, "state", state)
            library = type(fresh.library)(fresh.library.settings)
            library.sync(full_hash=True)
            fresh.library = library
            assert fresh.contents() == folder.contents()
            _compare_searches(fresh, folder)
            library.close()
        folder.library.close()


def _compare_searches(one: Folder, other: Folder) -> None:
    for query in ("alpha pump", "words", "Zürich"):
        for mode in ("lexical", "dense"):
            found = [
                {hit.chunk.id: hit.score for hit in f.library.search(query, k=50, mode=mode).hits}
                for f in (one, other)
            ]
            assert found[0].keys() == found[1].keys()
            np.testing.assert_allclose(
                [found[0][key] for key in sorted(found[0])],
                [found[1][key] for key in sorted(found[0])],
                atol=2e-3,
            )


def test_a_part_cannot_be_synced_with_another_embedder(folder: Folder) -> None:
    folder.write("a.md", ALPHA)
    folder.library.sync()
    with open_library(folder.path, embedding={"model": "minilm"}) as other:
        for action in (other.plan, other.sync):
            with pytest.raises(MerestoneError) as caught:
                action([folder.path / "a.md"])
            assert caught.value.code == "embedder-changed"


def test_a_closed_library_says_so(folder: Folder) -> None:
    folder.write("a.md", ALPHA)
    folder.library.sync()
    folder.library.close()
    folder.library.close()
    for action in (folder.library.status, folder.library.sync, folder.library.plan):
        with pytest.raises(MerestoneError) as caught:
            action()
        assert caught.value.code == "library-closed"


@pytest.mark.skipif(os.name == "nt", reason="the time of change is that of creation")
def test_an_edit_that_hides_its_time_is_noticed(folder: Folder) -> None:
    folder.write("a.md", ALPHA)
    path = folder.path / "a.md"
    os.utime(path, (1_600_000_000, 1_600_000_000))
    folder.library.sync()
    os.utime(path, (1_600_000_000, 1_600_000_000))
    folder.write("a.md", ALPHA.replace("pump", "lamp"))
    os.utime(path, (1_600_000_000, 1_600_000_000))
    assert folder.library.sync().documents["changed"] == 1
