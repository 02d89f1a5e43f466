from __future__ import annotations

import json

import pytest
from extraction.checks import attribute, check, outline, read, texts
from hypothesis import given
from hypothesis import strategies as st

from merestone.chunking.structure import CHUNKER
from merestone.extraction.csv_dialect import find_delimiter
from merestone.extraction.csv_header import is_header
from merestone.extraction.csv_rows import NO_DELIMITER, RowReader
from merestone.extraction.csv_table import MAX_CELLS
from merestone.text.tokenizers import CharacterTokenizer
from merestone.types import Block, ChunkingSettings, Document


def table(document: Document) -> Block:
    (found,) = [block for block in document.blocks if block.kind == "table"]
    return found


def grid(document: Document) -> list[list[str]]:
    rows = [block for block in document.blocks if block.kind == "table_row"]
    return [[document.text[s:e] for s, e in row.attributes["cells"]] for row in rows]


def keys(document: Document) -> list[str | None]:
    kinds = ("table_row", "record")
    return [block.attributes.get("key") for block in document.blocks if block.kind in kinds]


def codes(document: Document) -> list[str]:
    return [warning.code for warning in document.warnings]


def test_a_file_is_a_table_with_the_places_of_its_cells() -> None:
    source = 'id,text,n\r\n1,"two\r\nlines, ""quoted""", 7 \r\n\r\n2,5" pipe,\r\n'
    document = read(source, "a.csv")
    assert document.text == source
    assert table(document).attributes["columns"] == 3
    assert attribute(document, table(document), "header") == "id,text,n"
    assert texts(document, "table_row") == [
        "id,text,n",
        '1,"two\r\nlines, ""quoted""", 7',
        '2,5" pipe,',
    ]
    assert grid(document) == [
        ["id", "text", "n"],
        ["1", 'two\r\nlines, ""quoted""', "7"],
        ["2", '5" pipe', ""],
    ]
    assert keys(document) == [None, "1", "2"]
    assert codes(document) == []
    check(document, source)


@pytest.mark.parametrize(
    ("source", "delimiter"),
    [
        ("a;b\n1;2\n", ";"),
        ("a\tb\n1\t2\n", "\t"),
        ("a|b\n1|2\n", "|"),
        ("id,tags\n1,x;y\n2,x;y;z\n", ","),
        ("1,5;2,5\n3,5;4,5\n", ";"),
        ("name;price\nA, B and C;1,50\nD;2,50\n", ";"),
        ('a,b\n"x;y;z",1\n"p;q;r",2\n', ","),
        ("note\nHello, you.\nGood morning, all, and welcome.\nYes\nNo\nWell\n", "\n"),
        ("", "\n"),
        ("one\ntwo\n", "\n"),
    ],
)
def test_the_delimiter_divides_rows_into_as_many_fields_each(source: str, delimiter: str) -> None:
    assert find_delimiter(source) == delimiter


def test_tabs_divide_a_file_that_its_name_says_has_them() -> None:
    document = read("a\tb\n1,2\t3,4\n", "a.tsv")
    assert grid(document) == [["a", "b"], ["1,2", "3,4"]]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([["name", "age"], ["Ann", "31"], ["Bob", "27"]], True),
        ([["Land", "2019", "2020", "2021"], ["Peru", "1", "2", "3"]], True),
        ([["", "price"], ["0", "1.5"]], True),
        ([["first_name", "last_name"], ["Ann", "Lee"], ["Bob", "Ray"], ["Cy", "Ode"]], True),
        ([["Question", "Answer"], ["Who?", "Me."], ["When?", "Now."]], True),
        ([["Ann", "Paris"], ["Bob", "London"], ["Cy", "Rome"]], False),
        ([["1", "2"], ["3", "4"]], False),
        ([["name", "name"], ["Ann", "31"]], False),
        ([["Ann", "31"], ["Bob", "27"]], False),
        ([["Ann", "2020-01-01"], ["Bob", "2021-01-01"]], False),
        ([["yes", "text"], ["yes", "3"]], False),
        ([["name", "age"]], False),
    ],
)
def test_a_header_names_what_stands_below(rows: list[list[str]], expected: bool) -> None:
    assert is_header(rows[0], rows[1:]) is expected


def test_without_names_there_is_no_header_and_every_row_has_a_key() -> None:
    document = read("1,2.5\n2,3.5\n3,1.0\n", "a.csv")
    assert "header" not in table(document).attributes
    assert keys(document) == ["1", "2", "3"]


def test_rows_have_no_key_where_the_first_column_repeats_or_is_prose() -> None:
    assert keys(read("city,n\nRome,1\nRome,2\n", "a.csv")) == [None] * 3
    prose = "A sentence that is too long to be the key of anything as it goes on and on and on"
    assert keys(read(f"text,n\n{prose},1\nB,2\n", "a.csv")) == [None] * 3


def test_lines_before_and_behind_the_table_are_paragraphs() -> None:
    source = "Sales report\nFor 2024\n\nid,item,price\n1,tea,3.5\n2,milk,1.2\n\nSource: the shop\n"
    document = read(source, "a.csv")
    assert texts(document, "paragraph") == ["Sales report\nFor 2024", "Source: the shop"]
    assert attribute(document, table(document), "header") == "id,item,price"
    assert codes(document) == []
    check(document, source)


def test_rows_of_other_width_are_kept_and_told() -> None:
    source = "id,item,price\n1,tea\n2,milk,1.2\n3,a,b,c,d\n4,oil,2.2\n"
    document = read(source, "a.csv")
    assert [len(row) for row in grid(document)] == [3, 2, 3, 5, 3]
    (warning,) = document.warnings
    assert warning.code == "csv-ragged"
    assert "2 of 5" in warning.message
    assert "line 2" in warning.message


def test_a_quote_that_is_never_closed_takes_no_other_row_in() -> None:
    document = read('a,b\n1,"open\n2,x\n3,y\n', "a.csv")
    assert texts(document, "table_row") == ["a,b", '1,"open', "2,x", "3,y"]
    assert codes(document) == ["csv-quote-open"]
    behind = read('id,b\n1,"open\n2,"x, y"\n3,"p\nq"\n', "a.csv")
    assert texts(behind, "table_row") == ["id,b", '1,"open', '2,"x, y"', '3,"p\nq"']


def test_a_quote_inside_a_quoted_field_ends_it_only_before_a_delimiter() -> None:
    document = read('id,said\n1,"He said "no, never" to me"\n2,"a \\"b\\" c"\n', "a.csv")
    assert grid(document)[1:] == [["1", 'He said "no, never" to me'], ["2", 'a \\"b\\" c']]


def test_a_byte_order_mark_is_no_part_of_the_first_name() -> None:
    document = read(b"\xef\xbb\xbfid;n\n1;2\n", "a.csv")
    assert grid(document) == [["id", "n"], ["1", "2"]]
    assert document.lines_of(0, 4) == (1, 1)
    check(document, "\ufeffid;n\n1;2\n")


def test_a_large_table_has_rows_without_cells() -> None:
    source = "id,n\n" + "".join(f"{n},{n}\n" for n in range(MAX_CELLS // 2 + 1))
    document = read(source, "a.csv")
    assert len(document.blocks) == MAX_CELLS // 2 + 3
    assert not any("cells" in block.attributes for block in document.blocks)
    assert keys(document)[-1] == str(MAX_CELLS // 2)
    assert codes(document) == []


def test_chunks_are_whole_rows_and_have_the_header_as_context() -> None:
    source = "id,colour,shape\n" + "".join(f"{n},blue {n},round {n}\n" for n in range(60))
    document = read(source, "a.csv")
    settings = ChunkingSettings(max_tokens=150, target_tokens=120, max_chars=400)
    chunks = CHUNKER.cut(document, settings, CharacterTokenizer()).chunks
    assert len(chunks) > 5
    lines = source.splitlines()
    for chunk in chunks:
        assert set(chunk.text.split("\n")) <= {*lines, ""}
        if chunk.ordinal:
            assert [(span.role, span.text) for span in chunk.context] == [
                ("table_header", "id,colour,shape")
            ]


def test_each_line_is_a_record_with_its_key() -> None:
    source = (
        '{"id": 12345678901234567890, "a": "x, \\"y"}\n\n{"name": " n ", "id": ""}\n[1]\n"s"\n'
        '{"id": {"x": 1}, "url": "http://a"}\r\n{"key": "\\ud83d"}'
    )
    document = read(source, "a.jsonl")
    assert len(texts(document, "record")) == 6
    assert keys(document) == ["12345678901234567890", "n", None, None, "http://a", "\ufffd"]
    assert codes(document) == []
    check(document, source)


def test_a_line_that_is_no_json_is_kept_and_told() -> None:
    deep = "[" * 200_000
    source = f'{{"id": 1}}\n{{"id": "bro\n{deep}\n{{"id": 3}}\n'
    document = read(source, "a.jsonl")
    assert texts(document, "record") == source.split("\n")[:-1]
    assert keys(document) == ["1", None, None, "3"]
    (warning,) = document.warnings
    assert warning.code == "json-line-invalid"
    assert "2 of 4 lines" in warning.message
    assert "line 2" in warning.message


def test_objects_of_an_array_are_records_with_exact_places() -> None:
    source = '[\n  {"id": "a", "t": "} ] ,"},\n  {"id": "b", "o": {"p": [{}]}}\n]\n'
    document = read(source, "a.json")
    assert texts(document, "record") == [
        '{"id": "a", "t": "} ] ,"}',
        '{"id": "b", "o": {"p": [{}]}}',
    ]
    assert keys(document) == ["a", "b"]
    assert outline(document)[0] == ("code", source.strip())
    assert codes(document) == []
    check(document, source)


@pytest.mark.parametrize("end", ["", ', {"id": ', ', 5, {"id": 3}]', "] x"])
def test_what_follows_the_last_object_that_can_be_read_is_text(end: str) -> None:
    source = '[{"id": 1}, {"id": 2}' + end
    document = read(source, "a.json")
    assert keys(document) == ["1", "2"]
    assert codes(document) == ["json-cut-short"]
    check(document, source)


def test_other_json_is_code() -> None:
    for source in ('{"a": 1}', "[1, 2]", "[]", "[" * 200_000, '[{"a":' * 100_000, "x"):
        document = read(source, "a.json")
        assert outline(document) == [("code", source)]
        assert document.blocks[0].attributes == {"language": "json"}


def test_json_lines_are_known_by_any_name() -> None:
    document = read('{"id": 1}\n{"id": 2}\n', "a.json")
    assert keys(document) == ["1", "2"]


def test_turns_of_a_chat_have_speakers() -> None:
    turns = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": [{"type": "text", "text": "Hello"}], "timestamp": 17},
        {"from": "human", "value": "Hm"},
        {"role": "admin", "id": "r1"},
    ]
    document = read(json.dumps(turns), "a.json")
    records = [block.attributes for block in document.blocks if block.kind == "record"]
    assert records == [
        {"speaker": "user"},
        {"speaker": "assistant", "time": "17"},
        {"speaker": "human"},
        {"key": "r1"},
    ]


PIECES = [
    '"', '""', ",", ";", "\t", "|", "\n", "\r\n", "\r", "\n\n", " ", "a", "b c", "12", "2020-01-01",
    "name", "id", "é", "🎉", "\u2028", "\u00a0", '"x, y"', '"x\ny"', "{", "}", "[", "]", ":",
    '{"id": 1}', '{"role": "user", "content": "x"}', "\\", '[{"id": 2},',
]  # fmt: skip
SOURCES = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)


@given(SOURCES, st.sampled_from(["a.csv", "a.tsv", "a.jsonl", "a.json"]))
def test_any_text_keeps_the_invariants(source: str, name: str) -> None:
    document = read(source, name)
    assert document.text == source
    assert document.segments.is_identity
    check(document, source)
    for block in document.blocks:
        for start, end in block.attributes.get("cells", ()):
            assert block.start <= start <= end <= block.end


@given(SOURCES, st.sampled_from([",", "\t", ";", NO_DELIMITER]))
def test_rows_are_the_same_with_and_without_their_cells(source: str, delimiter: str) -> None:
    whole = list(RowReader(source, delimiter, max_cells=10_000))
    skimmed = list(RowReader(source, delimiter, max_cells=-1))
    assert [row._replace(cells=row.cells[:1]) for row in whole] == skimmed
    assert all(len(row.cells) == row.fields for row in whole)


CELLS = st.text(st.sampled_from('ab1 ",;\n'), max_size=8)


@given(st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=6))
def test_what_is_quoted_by_the_rules_is_read_back(rows: list[tuple[str, ...]]) -> None:
    given = [["x" + cell for cell in row] for row in rows]
    source = "\r\n".join(
        "\t".join('"' + cell.replace('"', '""') + '"' for cell in row) for row in given
    )
    found = [[cell.replace('""', '"') for cell in row] for row in grid(read(source, "a.tsv"))]
    assert found == [[cell.rstrip() for cell in row] for row in given]
