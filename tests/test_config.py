"""Settings from files, environment and flags."""

from __future__ import annotations

from pathlib import Path

import pytest

from merestone import Library, SettingsError
from merestone.config import chunking_settings, find_root, load_settings


def write(folder: Path, text: str) -> None:
    (folder / "merestone.toml").write_text(text)


def test_defaults_follow_from_the_embedder(tmp_path: Path) -> None:
    settings = load_settings(tmp_path)
    assert settings.chunking.max_tokens == 256
    assert settings.chunking.target_tokens == 204
    assert settings.chunking.min_tokens == 16
    assert settings.chunking.max_chars == 2048
    assert settings.chunking.overlap_tokens == 0
    assert [source.path for source in settings.sources] == [str(tmp_path)]


def test_flag_beats_environment_beats_project_beats_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home))
    (home / "merestone.toml").write_text(
        "[retrieval]\ncandidates = 11\n[chunking]\nmax_tokens = 101\nmin_tokens = 3\n"
    )
    write(tmp_path, "[retrieval]\ncandidates = 12\n[chunking]\nmax_tokens = 102\n")
    monkeypatch.setenv("MERESTONE_CHUNKING_MAX_TOKENS", "103")
    settings = load_settings(tmp_path)
    assert settings.retrieval.candidates == 12
    assert settings.chunking.max_tokens == 103
    assert settings.chunking.min_tokens == 3
    flagged = load_settings(tmp_path, {"chunking": {"max_tokens": 104}})
    assert flagged.chunking.max_tokens == 104
    assert flagged.chunking.min_tokens == 3


@pytest.mark.parametrize(
    ("text", "code", "hint"),
    [
        ("[chunkin]\n", "unknown-setting", "chunking"),
        ("[chunking]\nmax_token = 3\n", "unknown-setting", "max_tokens"),
        ("[[sources]]\npth = 'x'\n", "unknown-setting", "path"),
        ("[chunking]\nmax_tokens = 'many'\n", "invalid-setting", "max_tokens"),
        ("[retrieval]\ndense_weight = 2.0\n", "invalid-setting", "dense_weight"),
        ("[embedding]\nmodel = 'minilmm'\n", "unknown-plugin", "minilm"),
        ("[chunking]\nmax_tokens = 300\n", "max-tokens-too-large", "256"),
        ("[[sources]]\npath='a'\n[[sources]]\npath='b'\n", "invalid-setting", "name"),
        ("[extraction]\ndefault_encoding = 'klingon'\n", "invalid-setting", "klingon"),
        ("[extraction]\ndefault_encoding = 'rot13'\n", "invalid-setting", "rot13"),
        ("[embedding]\nthreads = 100000\n", "invalid-setting", "threads"),
        ("not toml", "config-unreadable", "merestone.toml"),
    ],
)
def test_what_is_wrong_is_told(tmp_path: Path, text: str, code: str, hint: str) -> None:
    write(tmp_path, text)
    with pytest.raises(SettingsError) as caught:
        load_settings(tmp_path)
    assert caught.value.code == code
    assert hint in str(caught.value)


def test_an_unknown_variable_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MERESTONE_CHUNKS_MAX", "3")
    with pytest.raises(SettingsError, match="MERESTONE_CHUNKS_MAX"):
        load_settings(tmp_path)


def test_the_root_is_found_from_below(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    assert find_root(tmp_path / "a" / "b") != tmp_path
    (tmp_path / "pyproject.toml").write_text("[tool.merestone.chunking]\nmax_tokens = 99\n")
    assert find_root(tmp_path / "a" / "b") == tmp_path
    assert load_settings(tmp_path).chunking.max_tokens == 99


def test_settings_in_two_files_of_a_folder_are_refused(tmp_path: Path) -> None:
    (tmp_path / "merestone.toml").write_text("")
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    load_settings(tmp_path)
    (tmp_path / "pyproject.toml").write_text("[tool.merestone.access]\ngroups = {}\n")
    with pytest.raises(SettingsError, match=r"pyproject\.toml both hold settings"):
        load_settings(tmp_path)


def test_profiles_of_layers_are_merged_and_upper_layers_win(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    user = tmp_path / "user"
    user.mkdir()
    (user / "merestone.toml").write_text("[chunking.types.code]\nmax_tokens = 40\n")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(user))
    project = tmp_path / "project"
    project.mkdir()
    (project / "merestone.toml").write_text(
        "[chunking.types.markdown]\nmax_tokens = 100\n[chunking.types.code]\ngroup = 2\n"
    )
    types = load_settings(project).chunking.types
    assert (types["code"].max_tokens, types["code"].group) == (40, 2)
    assert types["markdown"].max_tokens == 100
    monkeypatch.setenv("MERESTONE_CHUNKING_MAX_TOKENS", "30")
    types = load_settings(project).chunking.types
    assert {profile.max_tokens for profile in types.values()} == {30}
    flags = {"chunking": {"types": {"code": {"max_tokens": 60}}}}
    types = load_settings(project, flags).chunking.types
    assert types["code"].max_tokens == 60
    assert types["markdown"].max_tokens == 30


@pytest.mark.parametrize(
    ("chunking", "named"),
    [
        ({"max_tokens": 5}, "chunking.max_tokens = 5"),
        ({"target_tokens": 5}, "chunking.target_tokens = 5"),
        ({"max_chars": 5}, "chunking.max_chars = 5"),
        ({"types": {"code": {"max_tokens": 5}}}, "chunking.types.code.max_tokens = 5"),
        ({"max_tokens": 30, "min_tokens": 40}, "chunking.max_tokens = 30"),
    ],
)
def test_a_size_that_would_cut_every_few_words_is_refused_unless_it_is_meant(
    tmp_path: Path, chunking: dict[str, object], named: str
) -> None:
    with pytest.raises(SettingsError, match="invalid-chunk-size") as error:
        load_settings(tmp_path, None, {"chunking": chunking})
    assert error.value.message.startswith(named)
    meant = {"chunking": {"min_tokens": 2, **chunking}}
    if "min_tokens" not in chunking:
        assert load_settings(tmp_path, meant).chunking.min_tokens == 2


def test_plain_text_has_a_smaller_target_unless_one_is_given() -> None:
    assert chunking_settings({}, 256).types["text"].target_tokens == 184
    assert chunking_settings({"target_tokens": 100}, 256).types == {}
    given = chunking_settings({"types": {"text": {"target_tokens": 90}}}, 256)
    assert given.types["text"].target_tokens == 90


def test_the_questions_are_no_document_of_the_library_that_they_ask(tmp_path: Path) -> None:
    (tmp_path / "asked [1]").mkdir()
    names = ["asked [1]/q*.jsonl", "asked [1]/qs.jsonl", "evaluation-baseline.json", "guide.md"]
    for name in names:
        (tmp_path / name).write_text('{"text": "Some words."}\n', "utf-8")
    tables = {"embedding": {"model": "hashing"}, "evaluation": {"questions": names[0]}}
    with Library.open(tmp_path, **tables) as library:
        library.sync()
        with library.snapshot() as snapshot:
            assert snapshot.document_ids() == ["asked [1]/qs.jsonl", "guide.md"]


def test_tables_that_are_lists_may_be_given_in_the_call(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# Valve\n\nClose it.", "utf-8")
    (tmp_path / "b.md").write_text("# Pump", "utf-8")
    given = {"embedding": {"model": "hashing"}, "sources": [{"path": "docs"}]}
    with Library.open(tmp_path, **given) as library:
        library.sync()
        assert [document.id for document in library.documents()] == ["a.md"]


@pytest.mark.parametrize(
    ("table", "value"), [("sources", 5), ("chunking", [1]), ("retrieval", "x")]
)
def test_a_table_of_another_kind_is_named(tmp_path: Path, table: str, value: object) -> None:
    with pytest.raises(SettingsError, match=f"the call has {table}"):
        load_settings(tmp_path, {table: value})  # type: ignore[dict-item]


@pytest.mark.parametrize(
    "lines",
    [
        '[[sources]]\npath = "a"\n[[sources]]\npath = "b"',
        '[[sources]]\npath = "a"\nrobots = true',
        '[[sources]]\nurls = ["no address"]',
        "[[sources]]\nurls = []\noptions = { timeout = -1 }",
        '[[sources]]\nlist = "list.txt"\nhosts = ["a/b"]',
        '[[sources]]\nsqlite = "base.db"',
    ],
)
def test_a_fault_of_a_source_names_the_file_that_it_is_in(tmp_path: Path, lines: str) -> None:
    write(tmp_path, lines)
    with pytest.raises(SettingsError) as caught:
        load_settings(tmp_path)
    assert caught.value.message.startswith(f"In {tmp_path / 'merestone.toml'}: ")
    with pytest.raises(SettingsError, match="In the call: "):
        load_settings(tmp_path, {"sources": [{"urls": ["no address"]}]})
