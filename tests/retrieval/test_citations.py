"""Citations for people, for programs, and as links."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

import pytest
from extraction.pdf_files import PageFile, write_pdf
from hypothesis import given
from hypothesis import strategies as st

from merestone import Citation, Library, NotFoundError, SettingsError
from merestone.cli.main import run
from merestone.retrieval.links import link_to, local_path, text_directive, with_directive

PLAIN = Citation(
    document="policies/leave.md",
    version="ab12",
    title="Leave policy",
    heading_path=("Leave policy", "Carry-over"),
    pages=(12,),
    lines=(120, 131),
    start=10,
    end=20,
    quote="some words",
    prefix="",
    suffix="",
    uri="file:///srv/policies/leave.md",
    edition="3",
)


@pytest.mark.parametrize(
    ("changes", "label"),
    [
        ({}, "Leave policy v3, § Carry-over, p. 12, lines 120–131"),
        ({"edition": ""}, "Leave policy, § Carry-over, p. 12, lines 120–131"),
        ({"edition": "draft", "pages": ()}, "Leave policy draft, § Carry-over, lines 120–131"),
        (
            {"title": "Leave policy V3", "pages": (1, 3)},
            "Leave policy V3, § Leave policy > Carry-over, pp. 1–3, lines 120–131",
        ),
        ({"title": None, "heading_path": (), "pages": (), "lines": (4, 4), "edition": "v2"},
         "policies/leave.md v2, line 4"),
        ({"heading_path": ("Leave policy",), "pages": (), "lines": None}, "Leave policy v3"),
    ],
)  # fmt: skip
def test_for_people(changes: dict[str, object], label: str) -> None:
    assert replace(PLAIN, **changes).label == label  # type: ignore[arg-type]


def test_as_a_web_annotation() -> None:
    annotation = PLAIN.to_annotation()
    target = annotation["target"]
    assert (annotation["type"], target["type"]) == ("Annotation", "SpecificResource")
    assert target["source"] == "file:///srv/policies/leave.md"
    kinds = {each["type"]: each for each in target["selector"]}
    assert kinds["TextPositionSelector"] == {"type": "TextPositionSelector", "start": 10, "end": 20}
    assert kinds["TextQuoteSelector"]["exact"] == "some words"
    assert kinds["FragmentSelector"]["value"] == "page=12"
    assert kinds["FragmentSelector"]["refinedBy"] == kinds["TextQuoteSelector"]
    assert annotation == PLAIN.to_annotation()
    assert annotation["id"] != replace(PLAIN, start=11).to_annotation()["id"]
    assert json.loads(json.dumps(annotation)) == annotation
    assert replace(PLAIN, uri="").to_annotation()["target"]["source"].startswith("urn:merestone:")


TEXT = (
    "Alpha beta gamma delta.\n\n- Costs - of, this & that rise quickly\n\n"
    "Alpha beta gamma delta.\n\n" + "The last paragraph is much longer than the others here. " * 6
)


@pytest.mark.parametrize(
    ("quote", "expected"),
    [
        (
            "Costs - of, this & that rise quickly",
            "text=Costs%20%2D%20of%2C%20this%20%26%20that%20rise%20quickly",
        ),
        (
            "- Costs - of, this & that rise quickly",
            "text=Costs%20%2D%20of%2C%20this%20%26%20that%20rise%20quickly",
        ),
        ("Costs", "text=Alpha%20beta%20gamma%20delta.-,Costs,-%2D%20of%2C%20this%20%26"),
        (
            "Costs - of, this & that rise quickly\n\nAlpha beta gamma delta.",
            "text=Costs%20%2D%20of%2C%20this%20%26%20that%20rise,Alpha%20beta%20gamma%20delta.",
        ),
        ("\n\n", ""),
    ],
)
def test_text_fragments(quote: str, expected: str) -> None:
    start = TEXT.index(quote)
    found = text_directive(quote, TEXT, start, start + len(quote))
    assert unquote(found) == unquote(expected)
    assert found == expected


def test_a_quote_that_stands_above_too_is_given_with_what_is_before_it() -> None:
    quote = "Alpha beta gamma delta."
    first = text_directive(quote, TEXT, 0, len(quote))
    again = TEXT.rindex(quote)
    second = text_directive(quote, TEXT, again, again + len(quote))
    assert first == "text=Alpha%20beta%20gamma%20delta."
    assert unquote(second) == (
        "text=& that rise quickly-,Alpha beta gamma delta.,-The last paragraph is"
    )


def test_a_long_quote_is_named_by_both_ends() -> None:
    start = TEXT.index("The last")
    found = text_directive(TEXT[start:], TEXT, start, len(TEXT))
    assert unquote(found) == (
        "text=The last paragraph is much longer than,is much longer than the others here."
    )


@given(st.text(max_size=40), st.text(max_size=30), st.text(max_size=30))
def test_no_text_breaks_the_directive(quote: str, before: str, after: str) -> None:
    text = before + quote + after
    found = text_directive(quote, text, len(before), len(before) + len(quote))
    assert found.isascii()
    if not found:
        return
    assert found.startswith("text=")
    parts = found.removeprefix("text=").split(",")
    assert 1 <= len(parts) <= 4
    for part in parts:
        assert "-" not in part.strip("-")
        assert not set(part) & set("&#? ")


def test_links_by_kind() -> None:
    web = replace(PLAIN, uri="https://example.org/a?b=1#part", start=0, end=24, quote=TEXT[:24])
    assert link_to(web, "text/html", TEXT) == (
        "https://example.org/a?b=1#part:~:text=Alpha%20beta%20gamma%20delta."
    )
    assert link_to(web, "application/pdf", TEXT) == "https://example.org/a?b=1#page=12"
    paper = replace(PLAIN, uri="file:///srv/a%20b.pdf")
    assert link_to(paper, "application/pdf", TEXT) == "file:///srv/a%20b.pdf#page=12"
    assert link_to(replace(paper, pages=()), "application/pdf", "") == "file:///srv/a%20b.pdf"
    assert link_to(PLAIN, "text/markdown", TEXT) == "/srv/policies/leave.md:120"
    assert link_to(replace(PLAIN, lines=None), "text/x-rst", TEXT) == "/srv/policies/leave.md"
    editor = "vscode://file{path}:{line}"
    spaced = replace(PLAIN, uri="file:///srv/a%20b.md")
    assert link_to(spaced, "text/markdown", TEXT, editor) == "vscode://file/srv/a%20b.md:120"
    record = replace(PLAIN, uri="file:///srv/a.jsonl#7")
    assert link_to(record, "text/plain", TEXT) == "file:///srv/a.jsonl#7"
    assert link_to(replace(PLAIN, uri=""), "text/plain", TEXT) == ""
    assert with_directive("http://a/b", "") == "http://a/b"
    assert local_path("file:///C:/a%20b.md") == "C:/a b.md"


@pytest.fixture
def library(tmp_path: Path) -> Library:
    page = PageFile()
    page.lines(72, 700, "Damage must be reported within seven days.")
    (tmp_path / "terms.pdf").write_bytes(write_pdf(page))
    (tmp_path / "leave.md").write_text(
        "---\ntitle: Leave\nversion: 3\n---\n\n# Leave\n\n## Carry-over\n\n"
        "Eight days may be kept.\n"
    )
    (tmp_path / "merestone.toml").write_text('[embedding]\nmodel = "hashing"\n')
    opened = Library.open(tmp_path)
    opened.sync()
    return opened


def test_hits_and_passages_have_labels_and_links(library: Library) -> None:
    with library:
        hit = library.search("eight days kept").hits[0].citation
        assert hit.label.startswith("Leave v3")
        assert hit.link == f"{library.settings.root}/leave.md:{hit.lines[0]}"  # type: ignore[index]
        assert hit.uri == (Path(library.settings.root) / "leave.md").as_uri()
        passage = library.context("damage reported", budget=60).passages[0].citation
        assert passage.link == (Path(library.settings.root) / "terms.pdf").as_uri() + "#page=1"
        assert {"uri", "edition", "label", "link"} <= set(passage.to_json())


def test_an_annotation_is_resolved_and_shown(
    library: Library, capsys: pytest.CaptureFixture[str]
) -> None:
    root = Path(library.settings.root)
    with library:
        citation = library.context("eight days kept", budget=20).passages[0].citation
        annotation = citation.to_annotation()
        found = library.resolve(annotation)
        assert (found.outcome, found.start, found.text) == ("same", citation.start, citation.quote)
        assert library.show(annotation)["text"] == citation.quote
        (root / "note.json").write_text(json.dumps(annotation))
        text = (root / "leave.md").read_text()
        (root / "leave.md").write_text(text.replace("## Carry", "One more line.\n\n## Carry"))
        library.sync()
        moved = library.resolve(annotation)
        assert (moved.outcome, moved.text) == ("moved", citation.quote)
    assert run(["-C", str(root), "resolve", str(root / "note.json")]) == 0
    assert capsys.readouterr().out.startswith("moved: leave.md#")


def test_an_annotation_of_another_program_is_found_by_its_source_and_quote(
    library: Library,
) -> None:
    source = (Path(library.settings.root) / "leave.md").as_uri()
    quote = {"type": "TextQuoteSelector", "exact": "Eight days", "prefix": "\n"}
    position = {"type": "TextPositionSelector", "start": 0, "end": 3}
    with library:
        for selector in (quote, [quote], {"type": "RangeSelector", "refinedBy": quote}):
            found = library.resolve({"target": {"source": source, "selector": selector}})
            assert (found.document, found.outcome, found.text) == ("leave.md", "same", "Eight days")
        both = {"target": [{"source": {"id": f"{source}#x"}, "selector": [position]}]}
        assert library.show(both)["text"] == "---"
        with pytest.raises(NotFoundError):
            library.resolve({"target": {"source": "http://nowhere", "selector": quote}})
        for wrong in (
            {"target": "http://a"},
            {"target": {"source": source}},
            {"target": {"source": source, "selector": {"type": "TextQuoteSelector"}}},
            {"target": {"source": source, "selector": {**position, "start": "x"}}},
            {"target": []},
        ):
            with pytest.raises(SettingsError) as caught:
                library.resolve(wrong)  # type: ignore[arg-type]
            assert caught.value.code == "invalid-citation"
