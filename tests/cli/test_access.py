"""Who may read what, as the owner is told: closed documents, readers, and what an import closes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from merestone import Library
from merestone.cli.main import run

Told = Callable[..., str]
PUBLIC_RULE = '[[access.rules]]\nallow = ["public"]\n'


def configure(folder: Path, access: str = "") -> None:
    (folder / "merestone.toml").write_text(f'[embedding]\nmodel = "hashing"\n{access}')


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    (home / "hr").mkdir(parents=True)
    configure(home)
    for name in ("a.md", "b.md", "c.md", "hr/pay.md"):
        (home / name).write_text(f"# Title\n\nThe words of {name} are here.\n")
    return home


@pytest.fixture
def told(folder: Path, capsys: pytest.CaptureFixture[str]) -> Told:
    def tell(*arguments: str, code: int = 0) -> str:
        capsys.readouterr()
        assert run(["-C", str(folder), *arguments]) == code
        out = capsys.readouterr()
        return out.err if code else out.out

    return tell


def state_access(folder: Path, name: str, access: str) -> None:
    path = folder / name
    path.write_text(f"---\naccess: {access}\n---\n\n{path.read_text()}")


def test_what_front_matter_closes_all_around_it_is_told(folder: Path, told: Told) -> None:
    told("sync")
    state_access(folder, "b.md", '["user:bob"]')
    wanted = (
        "3 documents are closed from now on to everyone but the owner, since b.md says who may "
        "read it and no rule names them."
    )
    for verb in (["plan"], ["sync", "--dry-run"], ["sync"]):
        assert wanted in told(*verb), verb
    assert "closed" not in told("sync")
    assert "Only the owner reads 3 documents" in told("status", "--as-owner")
    assert json.loads(told("status", "--json"))["unnamed"] == 0
    doctor = told("doctor", "--as-owner")
    assert "access rules: True" in doctor
    assert "documents that no rule names: 3" in doctor
    configure(folder, PUBLIC_RULE)
    assert "closed" not in told("sync")
    assert "Only the owner" not in told("status", "--as-owner")
    assert json.loads(told("status", "--json"))["documents"] == {"ok": 3}


def test_a_first_sync_tells_what_is_closed_from_the_start(folder: Path, told: Told) -> None:
    state_access(folder, "b.md", "user:bob")
    assert "3 documents are closed to everyone but the owner" in told("sync")
    (folder / "d.md").write_text("# More\n")
    assert "d.md is closed to everyone but the owner, since others say" in told("sync")


def test_rules_that_name_only_some_are_told_to_close_the_rest(folder: Path, told: Told) -> None:
    told("sync")
    configure(folder, '[[access.rules]]\npaths = ["hr/"]\nallow = ["user:bob"]\n')
    wanted = "3 documents are closed from now on to everyone but the owner, since no rule"
    assert wanted in told("plan")
    assert wanted in told("sync")
    (folder / "a.md").rename(folder / "d.md")
    assert "closed" not in told("sync")
    (folder / "hr" / "pay.md").rename(folder / "pay.md")
    assert "pay.md is closed from now on" in told("sync")


def test_a_sync_of_a_part_tells_what_its_first_rule_closes_elsewhere(
    folder: Path, told: Told
) -> None:
    told("sync")
    configure(folder, PUBLIC_RULE)
    part = str(folder / "a.md")
    wanted = "3 documents that this run did not look at are closed to everyone but the owner"
    assert wanted in told("plan", part)
    assert wanted in told("sync", part)
    assert json.loads(told("status", "--json"))["documents"] == {"ok": 1}
    assert "closed" not in told("sync")
    assert json.loads(told("status", "--json"))["documents"] == {"ok": 4}


def test_front_matter_synced_alone_tells_what_it_closes_elsewhere(folder: Path, told: Told) -> None:
    told("sync")
    state_access(folder, "b.md", "user:bob")
    part = str(folder / "b.md")
    assert "3 documents are closed from now on" in told("sync", part)
    (folder / "b.md").write_text("# Open again\n")
    assert "closed" not in told("sync", part)


def test_readers_are_told_with_what_says_so(folder: Path, told: Told) -> None:
    told("sync")
    assert told("access", "a.md") == "a.md: everyone\n"
    state_access(folder, "hr/pay.md", '["group:hr", "user:anne"]')
    rules = (
        '[access]\ngroups = {hr = ["user:bob", "group:board"], board = ["user:eve", "user:anne"]}\n'
        '[[access.rules]]\npaths = ["/*.md", "!/c.md"]\nallow = ["public"]\n'
        '[[access.rules]]\npaths = ["hr/"]\nallow = ["group:board", "user:bob"]\n'
    )
    configure(folder, rules)
    told("sync")
    listed = told("access", "--as-owner").splitlines()
    assert listed == [
        "a.md  everyone",
        "b.md  everyone",
        "c.md  only the owner, since nothing names it",
        "hr/pay.md  group:board, user:bob",
    ]
    lines = told("access", "hr/pay.md", "--as-owner").splitlines()
    file = folder / "merestone.toml"
    assert lines == [
        "hr/pay.md: group:board, user:bob",
        "  in group:board: user:anne, user:eve",
        f"  rule 2 of access.rules in {file} (paths hr/): group:board, user:bob",
        "  `access` in its front matter or row: group:hr, user:anne",
        "  Each of these must allow.",
    ]
    configure(folder, rules.replace('["public"]', '["user:eve"]'))
    assert "b.md  user:eve; a sync is due" in told("access", "--as-owner")


def test_a_key_of_the_file_of_rules_is_named(folder: Path, told: Told) -> None:
    acl = folder.parent / "acl.json"
    acl.write_text('{"complete": true, "documents": {"**": ["public"], "hr": ["user:bob"]}}')
    configure(folder, '[access]\nfile = "../acl.json"\n')
    told("sync")
    (found,) = json.loads(told("access", "hr/pay.md", "--as-owner", "--json"))
    assert found["statements"] == [{"where": f"documents['hr'] in {acl}", "allow": ["user:bob"]}]
    assert found["readers"] == ["user:bob"]


def test_readers_are_the_owners_to_know(folder: Path, told: Told) -> None:
    state_access(folder, "b.md", "user:bob")
    told("sync")
    refused = {told("access", name, code=2) for name in ("a.md", "b.md", "none.md")}
    assert len(refused) == 1
    assert "[owner-only]" in refused.pop()
    assert "[reference-not-found]" in told("access", "none.md", "--as-owner", code=2)


def test_groups_that_hold_each_other_are_told_once(folder: Path) -> None:
    groups = 'groups = {one = ["group:two"], two = ["group:one"]}\n'
    configure(folder, f'[access]\n{groups}[[access.rules]]\nallow = ["group:one"]\n')
    with Library.open(folder) as library:
        library.sync()
        (found,) = library.access("a.md", as_owner=True)
    assert found.readers == ("group:one",)


def test_what_a_document_was_read_with_is_no_status(folder: Path, told: Told) -> None:
    state_access(folder, "b.md", "bob")
    for verb in (["sync"], ["status", "--as-owner"]):
        assert "  note: b.md says who may read it, but not as a list" in told(*verb)
    assert "b.md" not in told("status", "--failed", "--as-owner")


def test_an_import_tells_what_it_closes(folder: Path, told: Told) -> None:
    state_access(folder, "b.md", "user:bob")
    configure(folder, PUBLIC_RULE)
    told("sync")
    archive, there = folder.parent / "out.zip", folder.parent / "there"
    told("export", "--library", str(archive), "--as-owner")
    found = told("import", str(archive), str(there))
    assert "3 of 4 documents answer nobody but the owner here." in found
    assert "Bring the library's own merestone.toml along" in found
    configured = folder.parent / "configured"
    configured.mkdir()
    configure(configured, PUBLIC_RULE)
    assert len(told("import", str(archive), str(configured)).splitlines()) == 1
