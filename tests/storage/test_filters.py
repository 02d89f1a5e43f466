"""A filter lets through what its words say, and nothing in it is read as SQL."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Mapping
from typing import Any, Literal
from unicodedata import normalize

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from storage.building import put, vector, writing

from merestone.storage.engine import SQLiteStore
from merestone.storage.filters import BUILT_IN
from merestone.types import (
    OWNER,
    AllOf,
    AnyOf,
    Comparison,
    DocumentRecord,
    Filter,
    NoneOf,
    SettingsError,
    Status,
    Touch,
    field,
)

Operator = Literal["=", "!=", "<", "<=", ">", ">=", "in", "like", "between"]

DOCUMENTS: dict[str, dict[str, Any]] = {
    "docs/install.md": {
        "title": "Install",
        "language": "en",
        "media_type": "text/markdown",
        "metadata": {
            "tags": ["setup", "linux", 7],
            "created": "2024-03-01",
            "year": 2024,
            "draft": False,
            "author": {"name": "Ann", "age": 41},
            "dc.creator": "Bob",
        },
    },
    "docs/guide/use.md": {
        "title": None,
        "language": "de",
        "media_type": "text/markdown",
        "metadata": {
            "tags": "linux",
            "created": "2025-01-15",
            "year": 2025.5,
            "draft": True,
            "status": "final",
            "größe": 3,
        },
    },
    "a[1].txt": {
        "title": 'It\'s "quoted" *',
        "language": None,
        "media_type": "text/plain",
        "metadata": {"year": "2024", "none": None, "tags": [], "nested": {"a": {"b": [1, 2]}}},
    },
    "2024": {"title": "2024", "media_type": "text/plain", "metadata": {}},
}


@pytest.fixture(scope="module")
def filtered(tmp_path_factory: pytest.TempPathFactory) -> SQLiteStore:
    store = SQLiteStore(tmp_path_factory.mktemp("filters"))
    with writing(store) as writer:
        writer.apply([put(name, ["word"], **fields) for name, fields in DOCUMENTS.items()])
        record = DocumentRecord("broken.pdf", status=Status.CRASHED, media_type="application/pdf")
        writer.apply([Touch(record)])
    return store


def passes(store: SQLiteStore, where: Filter) -> set[str]:
    with store.snapshot(OWNER) as snapshot:
        lexical = snapshot.by_number([hit.number for hit in snapshot.lexical(["word"], 99, where)])
        dense = snapshot.by_number([hit.number for hit in snapshot.dense(vector("q"), 99, where)])
    assert lexical == dense
    return {chunk.document for chunk in lexical.values()}


INSTALL, USE, ODD, YEAR = DOCUMENTS


@pytest.mark.parametrize(
    ("field", "operator", "value", "expected"),
    [
        ("document", "=", INSTALL, {INSTALL}),
        ("document", "!=", INSTALL, {USE, ODD, YEAR}),
        ("document", "in", [USE, ODD, "unknown"], {USE, ODD}),
        ("document", "in", [], set()),
        ("document", "like", "docs/*", {INSTALL, USE}),
        ("document", "like", "docs/**", {INSTALL, USE}),
        ("document", "like", "docs/**/*.md", {INSTALL, USE}),
        ("document", "like", "docs/*.md", {INSTALL}),
        ("document", "like", "docs/*/*.md", {USE}),
        ("document", "like", "*.md", {INSTALL, USE}),
        ("document", "like", "/*.md", set()),
        ("document", "like", "guide/", {USE}),
        ("document", "like", "use.md/", set()),
        ("document", "like", "guide/*", set()),
        ("document", "like", "**/guide/*", {USE}),
        ("document", "like", "", set()),
        ("path", "like", "docs/guide/**", {USE}),
        ("path", "=", YEAR, {YEAR}),
        ("source", "!=", None, set()),
        ("document", "like", "a[1].txt", {ODD}),
        ("document", "like", "a?1].*", {ODD}),
        ("document", "like", "DOCS/*", set()),
        ("document", "like", "****", {INSTALL, USE, ODD, YEAR}),
        ("document", "<", "a", {YEAR}),
        ("document", "=", 2024, {YEAR}),
        ("title", "=", "Install", {INSTALL}),
        ("title", "=", None, {USE}),
        ("title", "!=", None, {INSTALL, ODD, YEAR}),
        ("title", "!=", "Install", {USE, ODD, YEAR}),
        ("title", "=", 'It\'s "quoted" *', {ODD}),
        ("title", "in", ["Install", None], {INSTALL, USE}),
        ("title", "=", True, set()),
        ("language", "=", "en", {INSTALL}),
        ("language", ">=", "de", {INSTALL, USE}),
        ("media_type", "like", "text/mark*", {INSTALL, USE}),
        ("status", "=", "ok", {INSTALL, USE, ODD, YEAR}),
        ("metadata.status", "=", "final", {USE}),
        ("tags", "=", "linux", {INSTALL, USE}),
        ("tags", "!=", "linux", {ODD, YEAR}),
        ("tags", "in", ["setup", "other"], {INSTALL}),
        ("tags", "in", [7], {INSTALL}),
        ("tags", "=", "7", {INSTALL}),
        ("tags", "between", [5, 9], {INSTALL}),
        ("tags", "like", "set*", {INSTALL}),
        ("created", ">", "2024-12-31", {USE}),
        ("created", "<=", "2024-03-01", {INSTALL}),
        ("created", "!=", "2024-03-01", {USE, ODD, YEAR}),
        ("year", "=", 2024, {INSTALL, ODD}),
        ("year", "=", 2024.0, {INSTALL, ODD}),
        ("year", "=", "2024", {INSTALL, ODD}),
        ("year", ">", 2000, {INSTALL, USE, ODD}),
        ("year", ">", 2024, {USE}),
        ("year", ">", "0", {INSTALL, USE, ODD}),
        ("year", "<", "9", {ODD}),
        ("year", "<", 10**30, {INSTALL, USE, ODD}),
        ("year", "in", [2025.5, "2024"], {INSTALL, USE, ODD}),
        ("year", "between", [2024, 2025], {INSTALL, ODD}),
        ("year", "between", [2025, 2024], set()),
        ("year", "like", "202*", {INSTALL, USE, ODD}),
        ("created", "=", 2024, {INSTALL}),
        ("created", "=", "2024-03", {INSTALL}),
        ("created", "in", ["2024-03", "2023"], {INSTALL}),
        ("created", ">", "2024-03", {USE}),
        ("created", ">=", 2024, {INSTALL, USE}),
        ("created", "between", ["2024-01-01", "2024-12-31T23:59:59Z"], {INSTALL}),
        ("modified", "=", None, {INSTALL, USE, ODD, YEAR}),
        ("content_type", "=", "markdown", {INSTALL, USE}),
        ("media_type", "=", "TEXT/Markdown", {INSTALL, USE}),
        ("draft", "=", True, {USE}),
        ("draft", "=", False, {INSTALL}),
        ("draft", "=", 1, set()),
        ("draft", ">=", True, set()),
        ("draft", "<=", True, set()),
        ("draft", "in", [True, 2], {USE}),
        ("draft", "=", "true", {USE}),
        ("author", "=", "Ann", set()),
        ("author.name", "=", "Ann", {INSTALL}),
        ("author.age", "<", 50, {INSTALL}),
        ("dc.creator", "=", "Bob", {INSTALL}),
        ("nested.a.b", "=", 2, {ODD}),
        ("nested.a", "=", None, {INSTALL, USE, YEAR}),
        ("none", "=", None, {INSTALL, USE, ODD, YEAR}),
        ("none", "!=", None, set()),
        ("year", "=", None, {YEAR}),
        ("größe", ">=", 3, {USE}),
        ("unknown", "=", "x", set()),
        ("unknown", "!=", "x", {INSTALL, USE, ODD, YEAR}),
        ("unknown", "<", 5, set()),
        ("year", "=", float("nan"), set()),
        ("year", "<", None, set()),
    ],
)
def test_a_comparison(
    filtered: SQLiteStore, field: str, operator: Operator, value: Any, expected: set[str]
) -> None:
    assert passes(filtered, Comparison(field, operator, value)) == expected


def test_words_between_comparisons(filtered: SQLiteStore) -> None:
    markdown = Comparison("media_type", "=", "text/markdown")
    german = Comparison("language", "=", "de")
    assert passes(filtered, AllOf((markdown, german))) == {USE}
    either = AnyOf((german, Comparison("year", "=", "2024")))
    assert passes(filtered, either) == {USE, ODD, INSTALL}
    assert passes(filtered, field("year") == 2025.5) == {USE}
    assert passes(filtered, NoneOf(markdown)) == {ODD, YEAR}
    assert passes(filtered, AllOf((markdown, NoneOf(german)))) == {INSTALL}
    assert passes(filtered, AllOf(())) == {INSTALL, USE, ODD, YEAR}
    assert passes(filtered, AnyOf(())) == set()


def test_very_many_parts_are_no_error(filtered: SQLiteStore) -> None:
    parts = tuple(Comparison("document", "=", f"none {n}") for n in range(3000))
    assert passes(filtered, AnyOf((*parts, Comparison("document", "=", YEAR)))) == {YEAR}
    names = [f"none {n}" for n in range(100_000)]
    assert passes(filtered, Comparison("document", "in", [*names, YEAR])) == {YEAR}


def test_a_filter_that_nests_too_deep_is_refused(filtered: SQLiteStore) -> None:
    where: Filter = Comparison("document", "=", YEAR)
    for _ in range(90):
        where = NoneOf(where)
    assert passes(filtered, where) == {YEAR}
    for _ in range(500):
        where = NoneOf(where)
    with pytest.raises(SettingsError) as error:
        passes(filtered, where)
    assert error.value.code == "filter-too-deep"


def test_more_comparisons_than_can_be_made_are_refused_in_words(filtered: SQLiteStore) -> None:
    parts = tuple(Comparison("a.b", "=", n) for n in range(6000))
    with pytest.raises(SettingsError, match="Use `in`") as error:
        passes(filtered, AnyOf(parts))
    assert error.value.code == "filter-too-large"


@pytest.mark.parametrize(
    ("operator", "value"),
    [
        ("in", "text"),
        ("in", 5),
        ("like", 5),
        ("like", "x" * 20_000),
        ("between", [1]),
        ("between", 5),
        ("=", [1]),
        ("<", {"a": 1}),
        ("~", 1),
    ],
)
def test_a_value_that_does_not_fit_its_operator_is_refused(
    filtered: SQLiteStore, operator: Operator, value: Any
) -> None:
    with pytest.raises(SettingsError, match="'year'") as error:
        passes(filtered, Comparison("year", operator, value))
    assert error.value.code == "filter-value"


ODD_TEXTS = st.text(st.characters(codec=None), max_size=6) | st.sampled_from(
    ["caf\udce9.md", "a\udce9b", "a\x00b", 'a"b', "a\\b", "[a]", "😀", "é", "\ud83d"]
)


@settings(max_examples=40)
@given(st.lists(ODD_TEXTS, min_size=2, max_size=5, unique_by=lambda text: normalize("NFC", text)))
def test_whatever_is_stored_can_be_asked_for(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str]
) -> None:
    store = SQLiteStore(tmp_path_factory.mktemp("texts"))
    with writing(store) as writer:
        writer.apply(
            [put(f"id {t}", ["word"], title=t, metadata={t: "x", "own": t}) for t in texts]
        )
    for text in texts:
        name = f"id {text}"
        others = {f"id {other}" for other in texts if other != text}
        assert passes(store, Comparison("document", "=", name)) == {name}
        assert passes(store, Comparison("document", "!=", name)) == others
        # A question mark would be any character, a star any run.
        # In the name of a document, a slash would part a folder from what is in it.
        is_folder = any(other.startswith(f"{text}/") for other in texts)
        plain = not set("*?/") & set(text) and not is_folder
        for key, value in (("document", name), ("title", text), ("own", text)):
            assert passes(store, Comparison(key, "in", [value, "none of them"])) == {name}
            if plain and value.isprintable():
                assert passes(store, Comparison(key, "like", value)) == {name}
        # A dot in the name of a field may part a key from the key inside. SQLite compares keys up
        # to a zero only.
        is_key = not text.startswith("metadata.") and text not in ("document", "title", "own")
        if is_key and not any("\0" in other for other in texts):
            assert passes(store, Comparison(f"metadata.{text}", "=", "x")) == {name}
    everything = {f"id {text}" for text in texts}
    assert passes(store, Comparison("document", "in", sorted(everything))) == everything
    assert passes(store, Comparison("document", "like", "id*")) == everything
    store.close()


def test_names_that_are_not_utf8_are_like_a_pattern_too(store: SQLiteStore) -> None:
    with writing(store) as writer:
        writer.apply([put("docs/caf\udce9.md", ["word"]), put("docs/b", ["word"])])
    assert passes(store, Comparison("document", "like", "docs/c*.md")) == {"docs/caf\udce9.md"}
    assert passes(store, Comparison("document", ">", "docs/a")) == {"docs/caf\udce9.md", "docs/b"}
    assert passes(store, Comparison("document", ">", "docs/z")) == set()


ANY_TEXT = st.text(st.characters(codec=None), max_size=10) | st.sampled_from(
    ["') OR 1=1 --", '"', "$", "$.x", "a.b", "[0]", "#", "\\", "x' --", "%", "*", "a\x00b"]
)


@given(ANY_TEXT, st.sampled_from(["=", "!=", "<", "like", "in"]), ANY_TEXT)
def test_no_field_and_no_value_is_read_as_anything_else(
    filtered: SQLiteStore, field: str, operator: Operator, value: str
) -> None:
    known = set(BUILT_IN)
    known |= {key for fields in DOCUMENTS.values() for key in fields["metadata"]}
    if field.removeprefix("metadata.").split(".")[0] in known or field in known:
        return
    where = Comparison(field, operator, [value] if operator == "in" else value)
    expected = set(DOCUMENTS) if operator == "!=" else set()
    assert passes(filtered, where) == expected


SCALARS = st.sampled_from(["a", "ab", "", 0, 1, 2, 1.5, "1", "1.50", True, False, "true", None])
VALUES = SCALARS | st.lists(SCALARS, max_size=3) | st.dictionaries(st.just("k"), SCALARS)
METADATA = st.dictionaries(st.sampled_from(["x", "y", "x.k"]), VALUES, max_size=3)
COMPARISONS = st.builds(
    Comparison,
    st.sampled_from(["x", "y", "x.k", "z"]),
    st.sampled_from(["=", "!=", "<", "<=", ">", ">="]),
    SCALARS,
) | st.builds(
    Comparison,
    st.sampled_from(["x", "y", "x.k", "z"]),
    st.just("in"),
    st.lists(SCALARS, max_size=3),
)
COMPARISONS |= st.builds(
    Comparison,
    st.sampled_from(["x", "x.k"]),
    st.just("between"),
    st.lists(SCALARS, min_size=2, max_size=2),
)
FILTERS: st.SearchStrategy[Filter] = st.recursive(
    COMPARISONS
    | st.builds(Comparison, st.just("x"), st.just("like"), st.sampled_from(["a*", "?"])),
    lambda inner: (
        st.builds(NoneOf, inner)
        | st.lists(inner, max_size=3).map(tuple).map(AllOf)
        | st.lists(inner, max_size=3).map(tuple).map(AnyOf)
    ),
    max_leaves=4,
)


def holds(metadata: Mapping[str, Any], where: Filter) -> bool:
    """The meaning of a filter, in Python."""
    match where:
        case AllOf(parts):
            return all(holds(metadata, part) for part in parts)
        case AnyOf(parts):
            return any(holds(metadata, part) for part in parts)
        case NoneOf(part):
            return not holds(metadata, part)
        case Comparison(field, "!=", value):
            return not holds(metadata, Comparison(field, "=", value))
        case Comparison(field, operator, value):
            found = [metadata.get(field)]
            head, _, tail = field.partition(".")
            if tail and isinstance(metadata.get(head), dict):
                found.append(metadata[head].get(tail))
            elif tail:
                found.append(None)
            if operator == "=" and value is None:
                return found.count(None) == len(found)
            if operator == "in":
                return any(holds(metadata, Comparison(field, "=", item)) for item in value)
            return any(compares(item, operator, value) for item in found)


def compares(found: Any, operator: str, wanted: Any) -> bool:
    items = found if isinstance(found, list) else [found]
    if operator == "like":
        texts = [
            str(item).lower() if kind(item) == "bool" else str(item)
            for item in items
            if kind(item) != "other"
        ]
        return any(re.match(fnmatch.translate(wanted), text) is not None for text in texts)
    if operator == "between":
        low, high = wanted
        return any(stands(item, ">=", low) and stands(item, "<=", high) for item in items)
    return any(stands(item, operator, wanted) for item in items)


def kind(value: Any) -> str:
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int | float):
        return "number"
    return "text" if isinstance(value, str) else "other"


def stands(item: Any, operator: str, wanted: Any) -> bool:
    kinds = {kind(item), kind(wanted)}
    if "other" in kinds:
        return False
    if "bool" in kinds:
        spelled = [str(each).lower() for each in (item, wanted)]
        return operator == "=" and spelled[0] == spelled[1]
    if kinds == {"number", "text"}:
        try:
            item, wanted = float(item), float(wanted)
        except ValueError:
            return False
    order = (item > wanted) - (item < wanted)
    return {"=": order == 0, "<": order < 0, "<=": order <= 0, ">": order > 0, ">=": order >= 0}[
        operator
    ]


@settings(max_examples=60)
@given(st.lists(METADATA, min_size=1, max_size=6), st.lists(FILTERS, min_size=1, max_size=6))
def test_filters_mean_what_they_say(
    tmp_path_factory: pytest.TempPathFactory,
    metadata: list[dict[str, Any]],
    filters: list[Filter],
) -> None:
    store = SQLiteStore(tmp_path_factory.mktemp("meaning"))
    with writing(store) as writer:
        writer.apply([put(str(n), ["word"], metadata=own) for n, own in enumerate(metadata)])
    for where in filters:
        expected = {str(n) for n, own in enumerate(metadata) if holds(own, where)}
        assert passes(store, where) == expected
    store.close()
