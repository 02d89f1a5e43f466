from __future__ import annotations

from itertools import pairwise

import pytest
from apsw import unicode
from hypothesis import given
from hypothesis import strategies as st

from merestone.text import sentences
from merestone.text.graphemes import grapheme_ends
from merestone.text.sentences import clause_offsets, sentence_spans, word_offsets

pieces = st.sampled_from(
    [*"aB1. !?…,;:—\n\r\t\"'()[]”«»。！「」、あア漢กเ", "Dr.", "\r\n\r\n", "z.B.", "[1]"]
    + ["\u2028", "\u2029", "\x1c", "\x85", "\u3000", "\ud800", "👍🏽", "\u0301", "\u200d", ". "]
)
texts = st.lists(pieces, max_size=40).map("".join) | st.text(max_size=40)


def parted(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text, 0, len(text))]


def cut(text: str, offsets: list[int]) -> list[str]:
    return [text[start:end] for start, end in pairwise([0, *offsets, len(text)])]


@pytest.mark.parametrize(
    "text",
    [
        "He came.| She left!| Why?| Nobody knows.",
        "Wait...| What now?| Well …| Then nothing.| It went … on.",
        # abbreviations
        "Dr. Smith met Mr. Jones vs. Prof. Lee.| They left.",
        "Use a store, e.g. SQLite, i.e. Rows.| See Fig. 3, No. 5, p. 12 and Art. IV.| End.",
        "Is it on?| No.| I said so.",
        "Das gilt z. B. Für Obst bzw. Gemüse.| Siehe S. 12, Abs. 2.| Am 3. Oktober 1990 war es.",
        "We took apples etc.| The rest stayed.",
        # initials and acronyms
        "By J. R. R. Tolkien.| And George W. Bush.| А. С. Пушкин приехал.| Он ушёл.",
        "The U.S. Army won.| He lives in the U.S.| The law is old.",
        "Then came I.| It was plan B.| We left.",
        # numbers of lists
        "1. Open the lid.| Close it.",
        "(a) Open the lid.| Close it.",
        "1.2. Scope of Work.| This is it.",
        "Step 1. Open the lid.| Close it.",
        "It is 3.14.| So be it.",
        # names and code
        "Node.js and the .NET Framework.| Call foo.Bar or x.Next().Then here.| Hello!World",
        # quotes, brackets, references
        'He said "Stop."| Then he left.| "Why?" she asked.| (He did not know.)| End.',
        "It is known.[3]| Nobody doubts it.[4][5]| End.",
        "The [...] Commission agreed.| End.",
        # lines
        "A wrapped\nline.| Next\r\none here\n\n|New paragraph\r\n \r\n|Last",
        "One\u2029|Two\u2028three",
        # other scripts
        "今日は晴れ。|明日は雨！|「はい。」と言った。|本当？|そう",
        "他来了！|“你好。”|（完。）|『好』",
        "他说……然后走了。|句子.|下一句!|完",
        "هل هذا سؤال؟| جواب۔| آخر",
        "यह है।| वह था।",
        "สวัสดีครับ ผมชื่อสมชาย",
    ],
)
def test_sentences_end_where_a_reader_ends_them(text: str) -> None:
    expected = text.replace("| ", " |").split("|")
    assert parted("".join(expected)) == expected


def test_white_space_belongs_to_the_sentence_before_and_at_first_to_the_first() -> None:
    assert parted(" \n\n One.  \n Two.\n\n\n") == [" \n\n One.  \n ", "Two.\n\n\n"]
    assert parted(" \n\n ") == [" \n\n "]
    assert parted("") == []


def test_a_range_is_cut_alone_and_in_offsets_of_the_text() -> None:
    text = "Skip this. One. Two. Skip that."
    assert sentence_spans(text, 11, 20) == [(11, 16), (16, 20)]
    assert sentence_spans(text, 5, 5) == []


def test_text_without_an_end_is_one_sentence() -> None:
    text = "word " * 1000
    assert sentence_spans(text, 0, len(text)) == [(0, 5000)]


@given(texts, st.integers(0, 20), st.integers(0, 60))
def test_sentences_tile_the_range(text: str, start: int, length: int) -> None:
    start = min(start, len(text))
    end = min(start + length, len(text))
    spans = sentence_spans(text, start, end)
    assert "".join(text[first:last] for first, last in spans) == text[start:end]
    bounds = [start, *(last for _, last in spans)]
    assert [first for first, _ in spans] == bounds[:-1]
    assert bounds == sorted(set(bounds))
    assert {first for first, _ in spans if first > start} <= set(grapheme_ends(text, start, end))
    for first, last in spans[1:]:
        assert not text[first].isspace()
        assert text[first:last].strip()


@given(texts)
def test_a_line_end_inside_a_paragraph_cuts_as_a_space_does(text: str) -> None:
    text = " ".join(text.split())
    wrapped = text.replace(" ", "\n")
    assert sentence_spans(wrapped, 0, len(wrapped)) == sentence_spans(text, 0, len(text))


@given(texts, st.integers(0, 20), st.integers(0, 60))
def test_clauses_and_words_begin_inside_the_range_on_a_sign(
    text: str, start: int, length: int
) -> None:
    start = min(start, len(text))
    end = min(start + length, len(text))
    words = word_offsets(text, start, end)
    for offsets in (words, clause_offsets(text, start, end)):
        assert offsets == sorted(set(offsets))
        assert all(start < offset < end and not text[offset].isspace() for offset in offsets)
        assert set(offsets) <= set(grapheme_ends(text))
    after_space = {
        offset
        for offset in range(start + 1, end)
        if text[offset - 1].isspace() and text[offset].isascii() and not text[offset].isspace()
    }
    assert after_space <= set(words)


def test_clauses_begin_after_commas_colons_and_dashes() -> None:
    text = "One, two; «three», four: 4:30 – x — y—z 1,000 中文，你好、「世界」；完"
    assert cut(text, clause_offsets(text, 0, len(text))) == [
        "One, ",
        "two; ",
        "«three», ",
        "four: ",
        "4:30 – ",
        "x — ",
        "y—",
        "z 1,000 中文，",
        "你好、",
        "「世界」；",
        "完",
    ]


def test_words_begin_after_white_space_and_between_signs_of_scripts_without_spaces() -> None:
    text = "Two  words\nカタカナ「を読む」っとHello 第12章。เกมคำ x"
    assert cut(text, word_offsets(text, 0, len(text))) == [
        *("Two  ", "words\n", "カタカナ", "「を", "読", "む」", "っ", "と", "Hello "),
        *("第", "12", "章。", "เก", "ม", "คำ ", "x"),
    ]


@pytest.mark.parametrize(
    "unit",
    ["word ", ".", ". ", ". A", "A. ", ".1", "👨\u200d👩\u200d👧", "\n", "a\n ", '."', ".[1]", "…"]
    + [" ", "a." + " " * 50, "漢", "。", ",", ',"', "[(", "\u0301"],
)
def test_cost_grows_with_the_length(unit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    looked_at: list[int] = []
    is_end = sentences._is_end

    class Counting:
        @staticmethod
        def sentence_next_break(text: str, offset: int) -> int:
            after = unicode.sentence_next_break(text, offset)
            calls.append(after - offset)
            return after

    def counting_is_end(masked: str, start: int, offset: int) -> bool:
        looked_at.append(offset)
        return is_end(masked, start, offset)

    monkeypatch.setattr(sentences, "unicode", Counting)
    monkeypatch.setattr(sentences, "_is_end", counting_is_end)
    text = unit * (100_000 // len(unit))
    sentence_spans(text, 0, len(text))
    # A text of one sentence is seen to be one without looking for breaks.
    assert sum(calls) in (0, len(text))
    assert len(looked_at) <= len(calls)


@pytest.mark.parametrize("unit", ["word ", ".", "👍", "\u0301", ", ", "「", '"'])
def test_a_megabyte_of_anything_is_cut(unit: str) -> None:
    text = unit * (1_000_000 // len(unit))
    spans = sentence_spans(text, 0, len(text))
    assert spans[0][0] == 0
    assert spans[-1][1] == len(text)
    clause_offsets(text, 0, len(text))
    word_offsets(text, 0, len(text))
