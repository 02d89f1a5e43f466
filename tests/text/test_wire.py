from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from text.building import built

from merestone.text.lines import line_starts
from merestone.text.wire import (
    document_from_json,
    document_to_json,
    structure_to_json,
    with_structure,
    without_blocks,
)
from merestone.types import (
    Block,
    BlockKind,
    Document,
    DocumentWarning,
    Layer,
    Page,
    Segments,
    Status,
    Word,
)

strings = st.text(max_size=8) | st.sampled_from(["\0", "a\udc80b", "\ud83d", "\r\n\u2028"])
optional = st.none() | strings
numbers = st.floats(allow_nan=False, allow_infinity=False, width=32)
counts = st.integers(0, 1000)
attributes = st.dictionaries(
    strings,
    st.recursive(
        st.none() | st.booleans() | st.integers() | numbers | strings,
        lambda inner: st.lists(inner, max_size=3),
        max_leaves=4,
    ),
    max_size=2,
)
blocks = st.builds(
    Block,
    st.sampled_from(get_args(BlockKind)),
    counts,
    counts,
    st.none() | st.integers(1, 6),
    st.none() | counts,
    st.sampled_from(get_args(Layer)),
    attributes,
)
words = st.builds(Word, counts, counts, counts, numbers, numbers, numbers, numbers)
pages = st.builds(
    Page,
    st.integers(1, 99),
    optional,
    numbers,
    numbers,
    st.sampled_from([0, 90]),
    counts,
    st.booleans(),
    st.lists(words, max_size=2).map(tuple),
)
documents = st.builds(
    Document,
    strings,
    st.text(st.characters(exclude_categories=()), max_size=20)
    | st.text("\ud83d\ude00a", max_size=8),
    blocks=st.lists(blocks, max_size=3).map(tuple),
    segments=built().map(lambda case: case.segments),
    pages=st.lists(pages, max_size=2).map(tuple),
    line_starts=st.just(()) | st.text("a\n\r", max_size=20).map(line_starts),
    version=strings,
    source_hash=strings,
    uri=strings,
    title=optional,
    media_type=strings,
    encoding=optional,
    language=optional,
    metadata=attributes,
    status=st.sampled_from(Status),
    warnings=st.lists(st.builds(DocumentWarning, strings, strings), max_size=2).map(tuple),
)


def sent(value: Any) -> Any:
    return json.loads(json.dumps(value).encode("ascii"))


@given(documents)
def test_a_document_comes_back_as_it_was(document: Document) -> None:
    back = document_from_json(sent(document_to_json(document)))
    assert back == document
    assert [type(item) for item in back.segments.items] == [
        type(item) for item in document.segments.items
    ]
    assert isinstance(back.status, Status)


@given(documents)
def test_a_structure_comes_back_beside_the_rest(document: Document) -> None:
    bare = Document(
        document.id,
        document.text,
        version=document.version,
        source_hash=document.source_hash,
        uri=document.uri,
        title=document.title,
        media_type=document.media_type,
        language=document.language,
        metadata=document.metadata,
    )
    assert with_structure(bare, sent(structure_to_json(document))) == document


def test_halves_of_a_surrogate_pair_stay_two_code_points_of_the_text() -> None:
    text = "a\ud83d\ude00\ude00b😀"
    document = Document("a", text, segments=Segments.identity(len(text)))
    assert document_from_json(sent(document_to_json(document))).text == text


@pytest.mark.parametrize(
    "change",
    [
        {"status": "no such status"},
        {"blocks": [["paragraph"]]},
        {"blocks": 3},
        {"segments": [[0, 1]]},
        {"pages": [[1]]},
        {"lines": ["0", 1]},
        {"warnings": [["code"]]},
    ],
)
def test_parts_of_another_shape_are_refused(change: dict[str, Any]) -> None:
    document = Document("a", "text")
    with pytest.raises((ValueError, KeyError, TypeError)):
        with_structure(document, {**structure_to_json(document), **change})


@pytest.mark.parametrize("name", ["status", "encoding", "blocks", "segments", "pages", "lines"])
def test_a_part_that_is_missing_is_refused(name: str) -> None:
    document = replace(Document("a", "text"), encoding="utf-8")
    parts = structure_to_json(document)
    del parts[name]
    with pytest.raises(KeyError):
        with_structure(document, parts)


def test_blocks_are_left_out_unread_whatever_their_attributes_are_called() -> None:
    attributes = {"segments": [[1]], "blocks": ['"blocks":['], "lines": 3}
    document = replace(
        Document("a", "one, two", segments=Segments.identity(8)),
        blocks=(Block("paragraph", 0, 8, attributes=attributes),),
        warnings=(DocumentWarning("code", 'of ,"segments":[ it'),),
    )
    for each in (document, replace(document, blocks=())):
        written = json.dumps(structure_to_json(each), separators=(",", ":")).encode()
        parts = json.loads(without_blocks(written))
        assert "blocks" not in parts
        assert with_structure(each, parts, blocks=False) == replace(document, blocks=())


def test_words_of_pages_are_left_out_with_the_blocks_and_read_where_they_once_stood() -> None:
    word = Word(0, 3, 0, 1.0, 2.0, 3.0, 4.0)
    page = Page(1, "i", 100.0, 200.0, 0, 3, words=(word,))
    document = replace(Document("a", "one"), pages=(page, Page(2, None, 1.0, 1.0, 0, 0)))
    parts = structure_to_json(document)
    written = json.dumps(parts, separators=(",", ":")).encode()
    assert with_structure(document, json.loads(written)) == document
    brief = with_structure(document, json.loads(without_blocks(written)), blocks=False)
    assert brief.pages == (replace(page, words=()), document.pages[1])
    older = {
        **parts,
        "pages": [
            [*plain, each.words] for plain, each in zip(parts["pages"], document.pages, strict=True)
        ],
    }
    del older["words"]
    assert with_structure(document, json.loads(json.dumps(older))) == document
    with pytest.raises(ValueError, match="shorter"):
        with_structure(document, {**parts, "words": [[word]]})
