"""The language of ``--where``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from merestone import Library
from merestone.retrieval import parse_filter, read_filter
from merestone.retrieval.filter_text import filter_text
from merestone.types import AllOf, AnyOf, Comparison, Filter, NoneOf, SettingsError, field

ABC = (("a", 1), ("b", 2), ("c", 3))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("language = 'en'", Comparison("language", "=", "en")),
        ("year >= 2024", Comparison("year", ">=", 2024)),
        ("score<0.5", Comparison("score", "<", 0.5)),
        ("draft != true", Comparison("draft", "!=", True)),
        ("modified > 2024-05-01", Comparison("modified", ">", "2024-05-01")),
        ("document like 'guide/*'", Comparison("document", "like", "guide/*")),
        ("tag in ('a', 2)", Comparison("tag", "in", ["a", 2])),
        ('title = "a \\"b\\" c"', Comparison("title", "=", 'a "b" c')),
        ("owner.team = ops", Comparison("owner.team", "=", "ops")),
        ("tag not in (a)", NoneOf(Comparison("tag", "in", ["a"]))),
        ("title NOT LIKE 'a*'", NoneOf(Comparison("title", "like", "a*"))),
        ("year between 2020 and 2024", Comparison("year", "between", [2020, 2024])),
        ("year not between -1 and 1.5", NoneOf(Comparison("year", "between", [-1, 1.5]))),
        ("tags exists", Comparison("tags", "!=", None)),
        ("tags not exists", NoneOf(Comparison("tags", "!=", None))),
        (
            "indexed >= 2024-05-01T12:00:00+02:00",
            Comparison("indexed", ">=", "2024-05-01T12:00:00+02:00"),
        ),
        ("'two words' = 1", Comparison("two words", "=", 1)),
        ("a = 1 and (b = 2 and c = 3)", AllOf(tuple(Comparison(n, "=", v) for n, v in ABC))),
        (
            "a = 1 or b = 2 and not c = 3",
            AnyOf(
                (
                    Comparison("a", "=", 1),
                    AllOf((Comparison("b", "=", 2), NoneOf(Comparison("c", "=", 3)))),
                )
            ),
        ),
        (
            "(a = 1 OR b = 2) AND c = 3",
            AllOf(
                (
                    AnyOf((Comparison("a", "=", 1), Comparison("b", "=", 2))),
                    Comparison("c", "=", 3),
                )
            ),
        ),
    ],
)
def test_what_can_be_said(text: str, expected: object) -> None:
    assert parse_filter(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "language",
        "language =",
        "= 'en'",
        "a = 1 b = 2",
        "(a = 1",
        "a = 1)",
        "a in 1",
        "a in ()",
        "a like 3",
        "a = 'open",
        "a == 1",
        "not",
        "a = 1 and",
        "a between 1",
        "a between 1 or 2",
        "a not = 1",
        "a contains 1",
        "a exists 1",
        "a in (1",
        "a in (1,)",
        "(" * 60 + "a = 1" + ")" * 60,
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(text: str) -> None:
    with pytest.raises(SettingsError) as caught:
        parse_filter(text)
    assert caught.value.code == "invalid-filter"
    assert "character" in caught.value.message


@given(st.text(max_size=60))
def test_no_text_raises_anything_else(text: str) -> None:
    with suppress(SettingsError):
        parse_filter(text)


def test_an_error_shows_where_it_is() -> None:
    with pytest.raises(SettingsError) as caught:
        parse_filter("year >= 2024 and titel contains 'x'")
    assert "character 24" in caught.value.message
    assert "titel ⟨here⟩contains" in caught.value.message
    assert "titel = value" in caught.value.remedy


@pytest.mark.parametrize(
    ("built", "text"),
    [
        (field("year") >= 2024, "year >= 2024"),
        (field("year") == 2024, "year = 2024"),
        (field("year") != 2024, "year != 2024"),
        (field("tags").contains("x"), "tags = 'x'"),
        (field("tags").in_(["x", 2]), "tags in ('x', 2)"),
        (field("document").like("guide/*"), "document like 'guide/*'"),
        (field("year").between(1, 2), "year between 1 and 2"),
        (field("year").exists(), "year exists"),
        (~field("year").exists(), "year not exists"),
        (field("owner") == None, "owner = null"),  # noqa: E711
        (field("owner") != None, "owner != NULL"),  # noqa: E711
        (field("owner") == "null", "owner = 'null'"),
        (field("owner").in_([None, "ops"]), "owner in (null, ops)"),
        (field("created") < date(2024, 5, 1), "created < 2024-05-01"),
        (
            field("created") < datetime(2024, 5, 1, 12, tzinfo=UTC),
            "created < 2024-05-01T12:00:00+00:00",
        ),
        (
            (field("a") == 1) & (field("b") == 2) & (field("c") == 3),
            "a = 1 and b = 2 and c = 3",
        ),
        (
            (field("a") == 1) | (field("b") == 2) & ~(field("c") > 3),
            "a = 1 or b = 2 and not c > 3",
        ),
    ],
)
def test_a_filter_in_python_is_the_one_that_its_text_reads_as(built: Filter, text: str) -> None:
    assert built == parse_filter(text)


def test_a_mapping_is_a_filter_of_equal_values() -> None:
    assert read_filter({"year": 2024, "tags": ["a", "b"]}) == AllOf(
        (Comparison("year", "=", 2024), Comparison("tags", "in", ["a", "b"]))
    )
    assert read_filter({}) == AllOf(())


@pytest.mark.parametrize(
    "build",
    [
        lambda: read_filter(5),  # type: ignore[arg-type]
        lambda: read_filter([Comparison("a", "=", 1)]),  # type: ignore[arg-type]
        lambda: read_filter({"a": {"$gte": 1}}),
        lambda: read_filter({5: 1}),  # type: ignore[dict-item]
        lambda: field(""),
        lambda: field("a").in_("abc"),
        lambda: field("a") == object(),
        lambda: (field("a") == 1) & "b = 2",  # type: ignore[operator]
        lambda: (field("a") == 1) and (field("b") == 2),
        lambda: 1 < field("a") < 5,
        lambda: bool(field("a") == 1),
    ],
)
def test_what_is_no_filter_is_refused_in_words(build: Callable[[], object]) -> None:
    with pytest.raises(SettingsError) as caught:
        build()
    assert caught.value.code in ("filter-value", "filter-not-joined")


NAMES = st.sampled_from(["year", "owner.team", "two words", "a'b", "größe", "in", "5th", "Or"])
SCALARS = (
    st.text(max_size=8)
    | st.integers(-(10**12), 10**12)
    | st.booleans()
    | st.floats(-1e6, 1e6).map(lambda value: round(value, 3))
    | st.none()
    | st.sampled_from(["2024-05-01", "true", "null", "7", "\\", "a\nb", "and"])
)
COMPARISONS = (
    st.builds(Comparison, NAMES, st.sampled_from(["=", "!=", "<", "<=", ">", ">="]), SCALARS)
    | st.builds(Comparison, NAMES, st.just("in"), st.lists(SCALARS, min_size=1, max_size=3))
    | st.builds(Comparison, NAMES, st.just("between"), st.lists(SCALARS, min_size=2, max_size=2))
    | st.builds(Comparison, NAMES, st.just("like"), st.text(max_size=5))
)
FILTERS: st.SearchStrategy[Filter] = st.recursive(
    COMPARISONS,
    lambda inner: (
        inner.map(lambda part: ~part)
        | st.tuples(inner, inner).map(lambda two: two[0] & two[1])
        | st.tuples(inner, inner).map(lambda two: two[0] | two[1])
    ),
    max_leaves=6,
)


@given(FILTERS)
def test_a_filter_is_written_as_it_is_read(where: Filter) -> None:
    assert repr(parse_filter(filter_text(where))) == repr(where)


# Documents, filters and askers, against a model that knows nothing of how it is done


@dataclass(frozen=True)
class Page:
    name: str
    year: int | str | None
    tags: tuple[str, ...]
    created: str | None
    allow: str | None

    def text(self) -> str:
        lines = ["---"]
        lines += [f"year: {self.year!r}"] if self.year is not None else []
        lines += [f"tags: [{', '.join(self.tags)}]"] if self.tags else []
        lines += [f"created: {self.created}"] if self.created else []
        lines += [f'access: ["{self.allow}"]'] if self.allow else ['access: ["public"]']
        return "\n".join([*lines, "---", "", f"The pump of {self.name} has a valve."])


PAGES = st.lists(
    st.builds(
        Page,
        st.sampled_from(["a", "guide/a", "guide/b", "guide/deep/c", "other/d", "e", "f", "g"]),
        st.sampled_from([None, 2022, 2023, "2023", "2024", 2024]),
        st.sampled_from([(), ("red",), ("red", "blue"), ("green",)]),
        st.sampled_from([None, "2023-05-01", "2024-02-29", "2024-03-01T00:30:00+02:00"]),
        st.sampled_from([None, None, "user:bob", "group:hr"]),
    ),
    min_size=4,
    max_size=8,
    unique_by=lambda page: page.name,
)
Sense = Callable[[Page], bool]
SENSES: list[tuple[str, Sense]] = [
    ("year >= 2023", lambda page: page.year is not None and int(page.year) >= 2023),
    ("year = '2024'", lambda page: page.year in (2024, "2024")),
    ("tags = red", lambda page: "red" in page.tags),
    ("tags not in (red, blue)", lambda page: not {"red", "blue"} & set(page.tags)),
    ("path like 'guide/*'", lambda page: page.name.startswith("guide/")),
    ("document like 'guide/*.md'", lambda page: page.name in ("guide/a", "guide/b")),
    ("created exists", lambda page: page.created is not None),
    ("created = 2024-02-29", lambda page: page.created == "2024-02-29"),
    ("created >= 2024-03", lambda page: (page.created or "") >= "2024-03"),
    (
        "created < 2024-02-29T23:00Z",
        lambda page: (
            page.created is not None
            and (page.created < "2024-02" or page.created.startswith("2024-03"))
        ),
    ),
    ("language exists", lambda page: False),
]
SENSES_OF: st.SearchStrategy[tuple[str, Sense]] = st.recursive(
    st.sampled_from(SENSES),
    lambda inner: (
        inner.map(lambda one: (f"not ({one[0]})", lambda page: not one[1](page)))
        | st.tuples(inner, inner).map(
            lambda two: (
                f"({two[0][0]}) and ({two[1][0]})",
                lambda page: two[0][1](page) and two[1][1](page),
            )
        )
        | st.tuples(inner, inner).map(
            lambda two: (
                f"({two[0][0]}) or ({two[1][0]})",
                lambda page: two[0][1](page) or two[1][1](page),
            )
        )
    ),
    max_leaves=4,
)
ASKERS: dict[str, tuple[str, ...]] = {
    "nobody": (),
    "bob": ("user:bob",),
    "hr": ("group:hr", "user:bob"),
}


@settings(max_examples=4)
@given(PAGES, st.lists(SENSES_OF, min_size=4, max_size=8), st.sampled_from(list(ASKERS)))
def test_there_are_k_hits_whenever_there_are_k_permitted_documents(
    tmp_path_factory: pytest.TempPathFactory,
    pages: list[Page],
    senses: list[tuple[str, Sense]],
    asker: str,
) -> None:
    folder = tmp_path_factory.mktemp("filtered")
    for page in pages:
        path = folder / f"{page.name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page.text())
    with Library.open(folder, embedding={"model": "hashing"}) as library:
        library.sync()
        for text, holds in senses:
            seen = [page for page in pages if page.allow in (None, *ASKERS[asker])]
            wanted = {f"{page.name}.md" for page in seen if holds(page)}
            for mode, k in (("hybrid", 2), ("dense", 3), ("lexical", 20)):
                hits = library.search(
                    "pump valve", k=k, mode=mode, where=text, principals=ASKERS[asker]
                ).hits
                found = [hit.chunk.document for hit in hits]
                assert len(found) == min(k, len(wanted)), (text, mode)
                assert set(found) <= wanted
            context = library.context(
                "pump valve", budget=5000, where=text, principals=ASKERS[asker]
            )
            assert {passage.document for passage in context.passages} == wanted


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    folder = tmp_path_factory.mktemp("notes")
    (folder / "a.md").write_text(
        '---\nyear: 2024\nstatus: final\nowner:\n  team: ops\naccess: ["public"]\n---\n\nPumps.\n'
    )
    (folder / "b.md").write_text('---\nsalary: 5\naccess: ["user:bob"]\n---\n\nPumps.\n')
    with Library.open(folder, embedding={"model": "hashing"}) as opened:
        opened.sync()
        yield opened


def notes(library: Library, where: str, **who: Any) -> str:
    return " ".join(library.search("pumps", where=where, **who).notes)


def test_a_field_that_no_document_has_is_named_with_the_nearest(library: Library) -> None:
    assert notes(library, "year = 2024") == ""
    assert "'yaer', which no document has. Did you mean 'year'?" in notes(library, "yaer = 2024")
    assert "Did you mean 'year'?" in notes(library, "Year = 2024")
    assert "Did you mean 'owner.team'?" in notes(library, "not owner.taem = 'x'")
    assert "none of 1 documents" in notes(library, "year = 1")
    assert "metadata.status" in notes(library, "status = 'final'")
    assert "yaer" in " ".join(library.context("pumps", budget=99, where="yaer = 1").notes)


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("owner = null", {"missing", "null"}),
        ("owner != null", {"ops", "word"}),
        ("not owner exists", {"missing", "null"}),
        ("owner exists", {"ops", "word"}),
        ("owner = 'null'", {"word"}),
        ("owner in (null, ops)", {"missing", "null", "ops"}),
        ("owner < null or owner >= null or owner between null and null", set()),
        (field("owner") == None, {"missing", "null"}),  # noqa: E711
        ({"owner": None}, {"missing", "null"}),
        ({"owner": [None, "null"]}, {"missing", "null", "word"}),
    ],
)
def test_null_is_what_is_not_there_in_every_form_of_a_filter(
    where: Any, expected: set[str], tmp_path: Path
) -> None:
    fronts = {"missing": "a: 1", "null": "owner: null", "word": "owner: 'null'"}
    fronts["ops"] = "owner: ops"
    for name, front in fronts.items():
        (tmp_path / f"{name}.md").write_text(f"---\n{front}\n---\n\nPumps of {name}.\n")
    with Library.open(tmp_path, embedding={"model": "hashing"}) as opened:
        opened.sync()
        hits = opened.search("pumps", k=9, where=where).hits
    assert {hit.chunk.document.removesuffix(".md") for hit in hits} == expected


def test_a_field_of_our_own_without_values_is_not_its_own_nearest(library: Library) -> None:
    said = notes(library, "created > 2020")
    assert "'created', which no document has." in said
    assert "Did you mean" not in said
    assert "Did you mean 'created'?" in notes(library, "creatd > 2020")


def test_notes_say_nothing_of_what_the_asker_may_not_see(library: Library) -> None:
    assert "which no document has." in notes(library, "salary > 1")
    assert "salary" not in notes(library, "salari > 1")
    assert "Did you mean 'salary'?" in notes(library, "salari > 1", principals=["user:bob"])
    assert notes(library, "salary > 1", as_owner=True) == ""


def test_the_trace_tells_what_the_filter_took_out(library: Library) -> None:
    result = library.search("pumps", where="year != 2024", explain=True, as_owner=True)
    entry = result.trace[0]
    assert (entry["documents"], entry["total"], entry["text"]) == (1, 2, "year != 2024")
    assert [each["document"] for each in entry["near_misses"]] == ["a.md"]
    closed = library.search("pumps", where="year = 1", explain=True)
    assert [each["document"] for each in closed.trace[0]["near_misses"]] == ["a.md"]


def test_what_is_no_filter_and_no_asker_is_refused(library: Library) -> None:
    for ask in (
        lambda: library.search("pumps", where=5),  # type: ignore[arg-type]
        lambda: library.search("pumps", principals=5),  # type: ignore[arg-type]
        lambda: library.context("pumps", budget=9, principals={"user:bob": 1}),
        lambda: library.sync(None),  # type: ignore[arg-type]
        lambda: library.sync([5]),  # type: ignore[list-item]
    ):
        with pytest.raises(SettingsError):
            ask()


def test_a_library_of_several_sources_is_filtered_by_source_and_path(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name / "guide").mkdir(parents=True)
        (tmp_path / name / "guide" / "a.md").write_text(f"Pumps of {name}.\n")
    (tmp_path / "merestone.toml").write_text(
        "".join(f'[[sources]]\npath = "{name}"\nname = "{name}"\n' for name in ("one", "two"))
    )
    with Library.open(tmp_path, embedding={"model": "hashing"}) as library:
        library.sync()

        def found(where: str) -> set[str]:
            return {hit.chunk.document for hit in library.search("pumps", where=where).hits}

        assert found("source = one") == {"one:guide/a.md"}
        assert found("path like 'guide/*'") == {"one:guide/a.md", "two:guide/a.md"}
        assert found("document like 'guide/*'") == set()
        assert found("document like 'two:guide/**'") == {"two:guide/a.md"}


def test_a_field_alone_is_neither_true_nor_false() -> None:
    with pytest.raises(SettingsError, match="true or false"):
        _ = field("draft") and field("year") >= 2015
