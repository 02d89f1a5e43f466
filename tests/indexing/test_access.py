"""The policy: rules, the external file, front matter, groups, and when they are read."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from merestone import Library, NotFoundError, SettingsError
from merestone.config import load_settings
from merestone.indexing.access import Policy, open_policy
from merestone.indexing.access_file import COPY
from merestone.indexing.principals import stated_principals
from merestone.types import (
    JSON,
    NOBODY,
    UNSAID,
    AccessRule,
    AccessSettings,
    SourceSettings,
)

BOB, ANNE, HR, ALL = "user:bob", "user:anne", "group:hr", "public"


def policy(
    *rules: AccessRule,
    sources: tuple[str, ...] = ("",),
    file: Path | None = None,
    state: Path = Path("nowhere"),
    **groups: list[str],
) -> Policy:
    settings = AccessSettings(
        groups={name: tuple(members) for name, members in groups.items()},
        rules=rules,
        file=None if file is None else str(file),
    )
    return open_policy(settings, [SourceSettings("/", name) for name in sources], state)


def rule(allow: str, *paths: str, source: str | None = None) -> AccessRule:
    return AccessRule(tuple(allow.split()), paths, source)


def test_nothing_said_is_unsaid() -> None:
    assert policy().allow("a.md", {}) == UNSAID
    assert not policy().has_rules


def test_of_several_rules_the_last_that_matches_decides() -> None:
    found = policy(rule(ALL), rule(HR, "hr/"), rule(BOB, "hr/bob.md"), rule("", "*.key"))
    assert found.allow("a.md", {}) == ((ALL,),)
    assert found.allow("hr/x.md", {}) == ((HR,),)
    assert found.allow("hr/bob.md", {}) == ((BOB,),)
    assert found.allow("hr/bob.key", {}) == NOBODY


def test_patterns_follow_git_inside_the_source() -> None:
    found = policy(
        rule(ALL, "**"),
        rule(HR, "/hr/**", "!/hr/open.md"),
        sources=("handbook", "notes"),
    )
    assert found.allow("handbook:hr/x.md", {}) == ((HR,),)
    assert found.allow("handbook:hr/open.md", {}) == ((ALL,),)
    assert found.allow("notes:de/hr/x.md", {}) == ((ALL,),)


def test_a_rule_can_be_for_one_source() -> None:
    found = policy(rule(ALL, source="a"), rule(HR, "x/", source="a:b"), sources=("a", "a:b"))
    assert found.allow("a:x/y.md", {}) == ((ALL,),)
    assert found.allow("a:b:x/y.md", {}) == ((HR,),)
    assert found.allow("a:b:y.md", {}) == NOBODY


def test_a_document_of_no_known_source_is_closed() -> None:
    found = policy(rule(ALL), sources=("new",))
    assert found.allow("old:a.md", {}) == NOBODY
    assert found.allow("a.md", {"access": [ALL]}) == NOBODY


@pytest.mark.parametrize("name", ["hr/a\nb.md", "hr/\n", "x\ny/hr/z.md", "hr/ü.md", "hr/\udc80"])
def test_no_name_slips_through_a_pattern(name: str) -> None:
    assert policy(rule(ALL), rule("", "hr/")).allow(name, {}) == NOBODY


def test_a_pattern_does_not_match_a_name_with_a_line_end_behind() -> None:
    found = policy(rule("", "**"), rule(ALL, "open.md"))
    assert found.allow("open.md", {}) == ((ALL,),)
    assert found.allow("open.md\n", {}) == NOBODY


def test_names_are_exact() -> None:
    found = policy(rule(BOB, "a.md"), hr=["user:Bob"])
    assert found.allow("A.md", {}) == NOBODY
    assert found.principals([BOB]) == {BOB, ALL}
    assert found.principals(["user:Bob"]) == {"user:Bob", HR, ALL}


def test_a_document_that_no_rule_names_is_closed_whatever_it_says_itself() -> None:
    found = policy(rule(HR, "hr/"))
    assert found.allow("a.md", {"access": [ALL]}) == NOBODY
    assert found.allow("hr/a.md", {"access": [BOB]}) == ((HR,), (BOB,))


@pytest.mark.parametrize(
    "value",
    [None, 5, True, {}, {"user": "bob"}, "", " ", "bob", "user:", ":bob", "user: bob", "user:bob ",
     [None], [BOB, 5], [[BOB]], ["everyone"], ["Public"], "[", "[5]", '["user:bob"', "user:b\nx"],
)  # fmt: skip
def test_what_is_no_list_of_principals_is_nobody(value: JSON) -> None:
    assert policy().allow("a.md", {"access": value}) == NOBODY


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ([], ()),
        (BOB, (BOB,)),
        (ALL, (ALL,)),
        ([BOB, HR], (BOB, HR)),
        ('["user:bob", "public"]', (BOB, ALL)),
        ("[]", ()),
        ("ldap:cn=Bob B,dc=x", ("ldap:cn=Bob B,dc=x",)),
    ],
)
def test_a_document_says_who_may_read_it(value: JSON, expected: tuple[str, ...]) -> None:
    assert policy().allow("a.md", {"access": value}) == (expected,)


@given(st.recursive(st.none() | st.integers() | st.text(), st.lists, max_leaves=5))
def test_any_metadata_is_read_as_principals_or_not_at_all(value: JSON) -> None:
    found = stated_principals(value)
    assert found is None or all(name == ALL or ":" in name for name in found)


def test_groups_may_be_members_of_groups_and_of_themselves() -> None:
    found = policy(
        hr=[BOB, "group:board"], board=[ANNE, "group:hr"], self=["group:self"], all=[ALL]
    )
    everyone = {ALL, "group:all"}
    assert found.principals([]) == everyone
    assert found.principals([ANNE]) == {ANNE, HR, "group:board", *everyone}
    assert found.principals(["user:new", "group:self"]) == {"user:new", "group:self", *everyone}


NAMES = st.sampled_from("abcd")
GROUPS = st.dictionaries(NAMES, st.lists(st.builds("group:{}".format, NAMES) | st.just(BOB)))


@given(GROUPS, st.sets(st.builds("group:{}".format, NAMES) | st.just(BOB)))
def test_the_groups_of_an_asker_are_the_least_set_that_is_closed(
    groups: dict[str, list[str]], asker: set[str]
) -> None:
    expected = {ALL, *asker}
    for _ in range(len(groups) + 1):
        expected |= {f"group:{name}" for name, who in groups.items() if expected & set(who)}
    assert policy(**groups).principals(asker) == expected


@pytest.mark.parametrize(
    "settings",
    [
        AccessSettings(rules=(rule("bob"),)),
        AccessSettings(rules=(AccessRule(("user:",)),)),
        AccessSettings(groups={"hr": ("everyone",)}),
        AccessSettings(groups={"group:hr": (BOB,)}),
        AccessSettings(groups={"": (BOB,)}),
        AccessSettings(rules=(rule(BOB, source="nowhere"),)),
        AccessSettings(rules=(rule(BOB, "# hr/**"),)),
        AccessSettings(rules=(rule(BOB, ""),)),
        AccessSettings(rules=(rule(BOB, "hr/", "[a"),)),
        AccessSettings(rules=(rule(BOB, "!hr/"),)),
        AccessSettings(rules=(rule(BOB, "!"),)),
    ],
)
def test_rules_that_could_not_protect_are_refused(settings: AccessSettings) -> None:
    with pytest.raises(SettingsError):
        open_policy(settings, [SourceSettings("/")], "nowhere")


def test_who_is_no_principal_cannot_ask() -> None:
    for name in ("bob", "", "user:", "group: hr"):
        with pytest.raises(SettingsError, match="invalid-principal"):
            policy().principals([name])


def test_the_fingerprint_changes_with_rules_and_not_with_members(tmp_path: Path) -> None:
    rules = [
        (),
        (rule(ALL),),
        (rule(ALL, "a"),),
        (rule(ALL, "a", "b"),),
        (rule(ALL, source=""),),
        (rule(ALL, "a"), rule(BOB)),
        (rule(BOB), rule(ALL, "a")),
    ]
    found = {policy(*each).fingerprint for each in rules}
    assert len(found) == len(rules)
    assert policy(hr=[BOB]).fingerprint == policy(hr=[ANNE]).fingerprint == policy().fingerprint
    assert policy(rule(ALL), sources=("a",)).fingerprint not in found
    lists: list[dict[str, JSON]] = [
        {"documents": {"a": [BOB]}},
        {"documents": {"a": [BOB], "*": [ALL]}},
        {"documents": {"*": [ALL], "a": [BOB]}},
    ]
    for each in lists:
        file = write(tmp_path / "acl.json", complete=True, **each)
        found.add(policy(file=file).fingerprint)
    assert len(found) == len(rules) + len(lists)
    same = write(tmp_path / "acl.json", complete=True, groups={"hr": [BOB]}, **lists[-1])
    assert policy(file=same).fingerprint in found


# The external file


def write(path: Path, **value: JSON) -> Path:
    path.write_text(json.dumps(value))
    return path


def test_a_key_of_the_file_is_a_path_a_folder_or_a_pattern(tmp_path: Path) -> None:
    file = write(
        tmp_path / "acl.json",
        complete=True,
        documents={
            "**": [ALL],
            "hr": [HR],
            "readme.md": [ANNE],
            "b:notes.md": [BOB],
            "b:*.key": [],
            "a[1].md": [BOB],
            "de/": [ANNE],
        },
    )
    found = policy(file=file, sources=("a", "b"))
    expected = {
        "a:x.md": ALL,
        "a:hr/x/y.md": HR,
        "a:de/hr/x.md": ANNE,
        "a:readme.md": ANNE,
        "a:x/readme.md": ALL,
        "b:notes.md": BOB,
        "a:notes.md": ALL,
        "a:a[1].md": BOB,
        "a:x.key": ALL,
    }
    assert {name: found.allow(name, {}) for name in expected} == {
        name: ((who,),) for name, who in expected.items()
    }
    assert found.allow("b:hr/x.key", {}) == NOBODY


def test_the_last_key_that_matches_decides(tmp_path: Path) -> None:
    file = write(tmp_path / "acl.json", complete=True, documents={"a.md": [BOB], "*": [ALL]})
    assert policy(file=file).allow("a.md", {}) == ((ALL,),)
    file = write(tmp_path / "acl.json", complete=True, documents={"*": [ALL], "a.md": [BOB]})
    assert policy(file=file).allow("a.md", {}) == ((BOB,),)


def test_every_kind_that_names_a_document_must_allow(tmp_path: Path) -> None:
    file = write(tmp_path / "acl.json", complete=True, documents={"a.md": [BOB], "c.md": [BOB]})
    found = policy(rule(HR, "a.md", "b.md"), file=file)
    assert found.allow("a.md", {"access": [ALL]}) == ((HR,), (BOB,), (ALL,))
    assert found.allow("b.md", {}) == ((HR,),)
    assert found.allow("c.md", {}) == ((BOB,),)
    assert found.allow("d.md", {"access": [ALL]}) == NOBODY


INCOMPLETE = [
    b"",
    b"[]",
    b"{",
    b'{"documents": {"a.md": ["public"]}}',
    b'{"complete": false, "documents": {"a.md": ["public"]}}',
    b'{"complete": "true", "documents": {"a.md": ["public"]}}',
    b'{"complete": 1, "documents": {"a.md": ["public"]}}',
    b'{"complete": true, "document": {"a.md": ["public"]}}',
    b'{"complete": true, "documents": [["a.md", "public"]]}',
    b'{"complete": true, "documents": {"a.md": "public"}}',
    b'{"complete": true, "documents": {"a.md": ["everyone"]}}',
    b'{"complete": true, "documents": {"a.md": ["public"], "a.md": []}}',
    b'{"complete": true, "documents": {"": ["public"]}}',
    b'{"complete": true, "documents": {"!a*": ["public"]}}',
    b'{"complete": true, "documents": {"[a": ["public"]}}',
    b'{"complete": true, "groups": {"hr": ["user:"]}, "documents": {"a.md": ["public"]}}',
    b'{"complete": true, "groups": {" hr": []}, "documents": {"a.md": ["public"]}}',
    b'{"complete": true, "documents": {"a.md": ["public"]}}'[:-1],
    b"\xff" + b'{"complete": true, "documents": {"a.md": ["public"]}}',
    b"[" * 100_000,
]


@pytest.mark.parametrize("data", INCOMPLETE, ids=range(len(INCOMPLETE)))
def test_a_file_that_is_not_complete_is_not_taken(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "acl.json"
    file.write_bytes(data)
    found = policy(rule(ALL), file=file, state=tmp_path / "state")
    assert found.finding is not None
    assert found.finding.code == "access-file-incomplete"
    assert found.allow("a.md", {"access": [ALL]}) == NOBODY


@pytest.mark.parametrize("data", [*INCOMPLETE, None], ids=range(len(INCOMPLETE) + 1))
def test_the_last_complete_file_goes_on(tmp_path: Path, data: bytes | None) -> None:
    file = write(
        tmp_path / "acl.json", complete=True, groups={"hr": [BOB]}, documents={"a.md": [HR]}
    )
    before = policy(file=file, state=tmp_path, hr=[ANNE])
    assert before.finding is None
    if data is None:
        file.unlink()
    else:
        file.write_bytes(data)
    after = policy(file=file, state=tmp_path / "other")
    assert after.allow("a.md", {}) == NOBODY
    copied = policy(file=tmp_path / "gone.json", state=tmp_path, hr=[ANNE])
    assert copied.finding is not None
    assert copied.fingerprint == before.fingerprint
    assert copied.allow("a.md", {}) == before.allow("a.md", {}) == ((HR,),)
    for who in (BOB, ANNE):
        assert copied.principals([who]) == before.principals([who]) == {who, HR, ALL}


def test_a_file_of_groups_alone_is_complete_too(tmp_path: Path) -> None:
    file = write(tmp_path / "acl.json", complete=True, groups={"hr": [BOB]})
    found = policy(rule(HR), file=file, state=tmp_path)
    assert found.finding is None
    assert found.allow("a.md", {}) == ((HR,),)
    assert HR in found.principals([BOB])


def test_a_copy_that_was_damaged_lets_nobody_in(tmp_path: Path) -> None:
    file = write(tmp_path / "acl.json", complete=True, documents={"a.md": [ALL]})
    state = tmp_path / "state"
    state.mkdir()
    policy(file=file, state=state)
    (state / COPY).write_bytes((state / COPY).read_bytes()[:-2])
    file.unlink()
    assert policy(file=file, state=state).allow("a.md", {}) == NOBODY


def test_a_copy_that_cannot_be_kept_is_told(tmp_path: Path) -> None:
    file = write(tmp_path / "acl.json", complete=True, documents={"a.md": [ALL]})
    (tmp_path / "state" / COPY).mkdir(parents=True)
    found = policy(file=file, state=tmp_path / "state")
    assert found.finding is not None
    assert found.finding.code == "access-copy-unwritable"
    assert found.allow("a.md", {}) == ((ALL,),)
    assert os.listdir(tmp_path / "state") == [COPY]


# The library


class Site:
    """A folder with two documents, its configuration, and a library that stays open."""

    def __init__(self, path: Path) -> None:
        self.path = path
        (path / "hr").mkdir()
        self.write("hr/pay.md", "# Pay\n\nThe pay of the pilots is ZEBRA.\n")
        self.write("open.md", "# Menu\n\nThe menu of the canteen is on the wall.\n")
        self.configure("")
        self.library = Library.open(path)

    def write(self, name: str, text: str) -> None:
        (self.path / name).write_text(text)

    def configure(self, access: str) -> None:
        self.write("merestone.toml", f'[embedding]\nmodel = "hashing"\n{access}')

    def seen(self, *principals: str) -> set[str]:
        found = self.library.search("ZEBRA menu pay", principals=principals)
        return {hit.citation.document for hit in found.hits}


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    made = Site(tmp_path)
    yield made
    made.library.close()


RULES = """
[access]
groups = {hr = ["user:bob"]}
[[access.rules]]
allow = ["public"]
[[access.rules]]
paths = ["hr/"]
allow = ["group:hr"]
"""


def test_a_rule_that_is_taken_away_is_in_force_before_the_sync(site: Site) -> None:
    site.library.sync()
    assert site.seen() == {"hr/pay.md", "open.md"}
    site.configure(RULES)
    assert site.seen() == {"open.md"}
    assert site.seen(BOB) == {"hr/pay.md", "open.md"}


def test_a_new_permission_waits_for_the_sync_and_a_member_does_not(site: Site) -> None:
    site.configure(RULES)
    site.library.sync()
    site.configure(RULES.replace('["group:hr"]', '["group:hr", "user:anne"]'))
    assert site.seen(ANNE) == {"open.md"}
    report = site.library.sync()
    assert report.embedded == 0
    assert site.seen(ANNE) == {"hr/pay.md", "open.md"}
    site.configure(RULES.replace('["user:bob"]', '["user:carl"]'))
    assert site.seen("user:carl") == {"hr/pay.md", "open.md"}
    assert site.seen(BOB) == {"open.md"}


def test_revoked_from_all_means_nobody(site: Site) -> None:
    site.library.sync()
    site.configure("[access]\n[[access.rules]]\nallow = []\n")
    assert site.seen() == site.seen(BOB) == set()
    site.library.sync()
    assert site.seen() == site.seen(BOB) == set()
    owner = site.library.search("ZEBRA", as_owner=True)
    assert owner.hits


@pytest.mark.parametrize("text", ["", None, "[access", "[acces]\n", "[access]\nrules = 5\n"])
def test_a_configuration_that_cannot_be_read_is_not_one_without_rules(
    site: Site, text: str | None
) -> None:
    site.configure(RULES)
    site.library.sync()
    if text is None:
        (site.path / "merestone.toml").unlink()
    else:
        site.write("merestone.toml", text)
    if text == "":
        # Read and without rules: what was synced is in force until the next sync.
        assert site.seen() == {"open.md"}
        return
    with pytest.raises(SettingsError):
        site.seen()


def test_a_broken_pyproject_with_our_table_is_told(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.merestone.access]\nrules = [\n")
    with pytest.raises(SettingsError, match="config-unreadable"):
        load_settings(tmp_path)
    (tmp_path / "pyproject.toml").write_text("[tool.other]\nrules = [\n")
    assert load_settings(tmp_path).access == AccessSettings()


def test_a_project_file_may_move_to_another_place(site: Site) -> None:
    table = '[tool.merestone.embedding]\nmodel = "hashing"\n'
    site.library.sync()
    site.write("pyproject.toml", table + RULES.replace("access", "tool.merestone.access"))
    (site.path / "merestone.toml").unlink()
    assert site.seen() == {"open.md"}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("[access]\nrule = []\n", "unknown-setting"),
        ('[[access.rules]]\nallow = ["public"]\npath = ["x"]\n', "unknown-setting"),
        ('[[access.rules]]\npaths = ["x"]\n', "invalid-setting"),
        ('[[access.rules]]\nallow = "public"\n', "invalid-setting"),
        ('[access]\nfile = ""\n', "invalid-setting"),
        ('[[access.rules]]\nallow = ["bob"]\n', "invalid-principal"),
        ('[[access.rules]]\nsource = "x"\nallow = ["public"]\n', "unknown-source"),
        ('[access]\ngroups = {hr = ["bob"]}\n', "invalid-principal"),
    ],
)
def test_wrong_rules_are_told_when_the_library_is_opened(
    tmp_path: Path, text: str, code: str
) -> None:
    (tmp_path / "merestone.toml").write_text(text)
    with pytest.raises(SettingsError, match=code):
        Library.open(tmp_path)


def test_settings_given_in_python_stay(tmp_path: Path) -> None:
    site = Site(tmp_path)
    site.configure(RULES)
    with Library.open(tmp_path, settings=load_settings(tmp_path)) as library:
        library.sync()
        site.configure("")
        hits = library.search("ZEBRA menu").hits
        assert {hit.citation.document for hit in hits} == {"open.md"}
    site.library.close()


def test_front_matter_closes_what_says_nothing(site: Site) -> None:
    site.write("mine.md", "---\naccess: user:bob\n---\n\nThe ZEBRA is mine.\n")
    site.library.sync()
    assert site.seen() == set()
    assert site.seen(BOB) == {"mine.md"}


def test_front_matter_that_names_no_principals_is_told(site: Site) -> None:
    site.write("mine.md", "---\naccess:\n---\n\nThe ZEBRA is mine.\n")
    report = site.library.sync()
    assert [problem.code for problem in report.problems] == ["access-unreadable"]
    assert not report.retry
    assert site.seen(BOB) == set()
    status = site.library.status(as_owner=True)
    assert [problem.document for problem in status.problems] == ["mine.md"]
    assert not site.library.status(principals=[BOB]).problems


def test_an_incomplete_file_is_told_to_the_owner(site: Site) -> None:
    acl = site.path / "acl.json"
    site.write(".merestoneignore", "acl.json\n")
    site.configure('[access]\nfile = "acl.json"\n')
    report = site.library.sync()
    assert [problem.code for problem in report.problems] == ["access-file-incomplete"]
    assert report.retry
    assert site.seen(BOB) == set()
    write(acl, complete=True, documents={"hr/**": [BOB], "open.md": [ALL]})
    assert not site.library.sync().problems
    assert site.seen(BOB) == {"hr/pay.md", "open.md"}
    acl.write_text("{")
    assert site.seen(BOB) == {"hr/pay.md", "open.md"}
    assert [p.code for p in site.library.plan().problems] == ["access-file-incomplete"]
    status = site.library.status(as_owner=True)
    assert [problem.code for problem in status.problems] == ["access-file-incomplete"]
    assert not site.library.status().problems
    found = site.library.doctor(as_owner=True).findings
    assert "access-file-incomplete" in {finding.code for finding in found}


def test_a_rule_that_matches_no_document_is_told(site: Site) -> None:
    site.library.sync()
    site.configure(
        '[access]\nfile = "acl.json"\n[[access.rules]]\nallow = ["public"]\n'
        '[[access.rules]]\npaths = ["docs/hr/**"]\nallow = ["group:hr"]\n'
    )
    site.write(".merestoneignore", "acl.json\n")
    names: dict[str, list[str]] = {"**": [ALL], "HR": [BOB], "hr": [ALL], "*.pdf": [BOB]}
    write(site.path / "acl.json", complete=True, documents=names)
    for report in (site.library.plan(), site.library.sync()):
        told = [note for note in report.notes if "names no" in note or "matches no" in note]
        assert len(told) == 1
        assert told[0].startswith("Rule 2 of access.rules in ")
        assert "docs/hr/**" in told[0]
        (keys,) = [note for note in report.notes if "name no document" in note]
        assert keys.startswith("2 keys of the file of access rules name no document, such as 'HR'")
    assert not site.library.sync().notes
    codes = [finding.code for finding in site.library.doctor(as_owner=True).findings]
    assert codes == ["access-rule-idle"]
    site.configure(RULES)
    assert not site.library.sync().notes
    assert not site.library.doctor(as_owner=True).findings


def test_what_looks_at_everything_is_the_owners(site: Site) -> None:
    site.library.sync()
    site.library.verify()
    site.library.doctor()
    assert site.library.export(io.StringIO()) == 2
    site.library.require_owner(principals=[BOB])
    site.configure(RULES)
    for call in (
        site.library.verify,
        site.library.doctor,
        lambda: site.library.export(io.StringIO()),
        site.library.require_owner,
    ):
        with pytest.raises(SettingsError, match="owner-only"):
            call()
    assert not site.library.verify(as_owner=True).findings
    assert site.library.export(io.StringIO(), as_owner=True) == 2
    status = site.library.status()
    assert (status.documents, status.chunks, status.bytes) == ({"ok": 1}, 1, {})
    assert site.library.status(as_owner=True).bytes


def test_one_asks_as_the_owner_or_as_someone(site: Site) -> None:
    site.library.sync()
    for principals in ([BOB], []):
        with pytest.raises(SettingsError, match="ambiguous-asker"):
            site.library.search("menu", principals=principals, as_owner=True)
    assert site.library.search("menu", principals=BOB).hits


def test_what_may_not_be_read_is_not_there(site: Site) -> None:
    site.configure(RULES)
    site.library.sync()
    hit = site.library.search("ZEBRA", principals=[BOB]).hits[0]
    names = ["hr/pay.md", "hr/pay.md#0-3", "hr/pay.md#0-99999", "hr/pay.md#0-3@0000"]
    for name, unknown in [
        *((name, name.replace("hr/pay", "hr/nix")) for name in names),
        (hit.chunk.id, "0" * 32),
    ]:
        assert answer(site.library, name, unknown) == answer(site.library, unknown, unknown)


def answer(library: Library, name: str, known_as: str) -> tuple[str, str, str]:
    with pytest.raises(NotFoundError) as caught:
        library.show(name)
    error = caught.value
    return error.code, error.message.replace(name, known_as), error.remedy


def test_a_secret_is_told_on_no_path(tmp_path: Path) -> None:
    acl = {"open.md": [ALL], "secret.md": [BOB]}
    write(tmp_path / "acl.json", complete=True, documents=acl)
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "open.md").write_text("# Open\n\nThe canteen menu is published on Friday.\n")
    secret = "# Secret plan\n\nCode word ZEBRA-7731 starts the move on Friday.\n"
    (docs / "secret.md").write_text(secret)
    tables: dict[str, dict[str, JSON]] = {"embedding": {"model": "hashing"}}
    (tmp_path / "merestone.toml").write_text(
        '[[sources]]\npath = "docs"\n[access]\nfile = "acl.json"\n'
    )
    with Library.open(tmp_path, **tables) as library:
        library.sync()
        for asker in (["user:alice"], None):
            for mode in ("hybrid", "lexical", "dense"):
                found = library.search(
                    "ZEBRA-7731", k=9, mode=mode, explain=True, principals=asker
                ).to_json()
                found.pop("query")
                found["trace"] = [{**stage, "terms": ()} for stage in found.get("trace", ())]
                told = json.dumps(found)
                assert not any(word in told for word in ("7731", "Secret plan", "secret.md"))
            assert library.status(principals=asker).documents == {"ok": 1}
            with pytest.raises(NotFoundError):
                library.show("secret.md", principals=asker)
        assert library.search("ZEBRA-7731", principals=[BOB]).hits[0].citation.document == (
            "secret.md"
        )
        assert library.show("secret.md", principals=[BOB])["text"] == secret
        assert library.status(principals=[BOB]).documents == {"ok": 2}


def test_a_sync_without_the_file_that_held_the_rules_opens_nothing(tmp_path: Path) -> None:
    (tmp_path / "pay.md").write_text("# Pay\n\nThe pay of pilots.\n")
    file = tmp_path / "merestone.toml"
    file.write_text('[[access.rules]]\nallow = ["user:ann"]\n')
    embedding = {"model": "hashing"}
    with Library.open(tmp_path, embedding=embedding) as library:
        library.sync()
    file.unlink()
    with Library.open(tmp_path, embedding=embedding) as library:
        with pytest.raises(SettingsError) as caught:
            library.sync()
        assert caught.value.code == "config-unreadable"
        assert library.search("pay").hits == ()
    file.write_text("")
    with Library.open(tmp_path, embedding=embedding) as library:
        library.sync()
        assert library.search("pay").hits


def test_a_rule_for_an_empty_list_of_paths_is_refused(tmp_path: Path) -> None:
    (tmp_path / "merestone.toml").write_text('[[access.rules]]\npaths = []\nallow = ["public"]\n')
    with pytest.raises(SettingsError) as caught:
        load_settings(tmp_path)
    assert caught.value.code == "invalid-setting"


@pytest.mark.parametrize("path", ["./hr/**", "../hr/", "./hr"])
def test_a_path_that_begins_with_dots_would_protect_nothing(tmp_path: Path, path: str) -> None:
    source = (SourceSettings(str(tmp_path)),)
    with pytest.raises(SettingsError) as caught:
        open_policy(AccessSettings(rules=(AccessRule((), ("hr/", path)),)), source, tmp_path)
    assert caught.value.code == "invalid-pattern"
    file = tmp_path / "acl.json"
    file.write_text(json.dumps({"complete": True, "documents": {"**": ["public"], path: []}}))
    found = open_policy(AccessSettings(file=str(file)), source, tmp_path)
    assert found.finding is not None
    assert found.finding.code == "access-file-incomplete"


def test_rules_that_come_back_close_what_a_sync_of_a_part_opened_meanwhile(tmp_path: Path) -> None:
    closed = '[[access.rules]]\nallow = ["public"]\n[[access.rules]]\npaths = ["hr/"]\nallow = []\n'
    file = tmp_path / "merestone.toml"
    pay = tmp_path / "hr" / "pay.md"
    pay.parent.mkdir()
    pay.write_text("# Pay\n\nThe pay of pilots.\n")
    embedding = {"model": "hashing"}
    file.write_text(closed)
    with Library.open(tmp_path, embedding=embedding) as library:
        library.sync()
        file.write_text('[[access.rules]]\nallow = ["public"]\n')
        pay.write_text("# Pay\n\nThe new pay of pilots.\n")
        library.sync([pay])
        assert library.search("pay").hits
        file.write_text(closed)
        assert library.search("pay").hits == ()
        assert library.sync().documents["access"] == 1
        assert library.search("pay").hits == ()
