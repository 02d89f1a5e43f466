from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from merestone.extraction.encoding import codec_name, decode
from merestone.types import Status

LATIN = "Zürich café – “quotes” naïve\nGröße 5 €, ñandú\n" * 3
JAPANESE = "これは日本語の文書です。改行もあります。\n" * 5
CHINESE = "这是一个中文文档,用于测试编码检测。\n" * 5
RUSSIAN = "Это русский текст, который нужно определить.\n" * 5


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (LATIN, "cp1252"),
        (LATIN.replace("–", "-").translate({0x201C: 34, 0x201D: 34, 0x20AC: 69}), "latin-1"),
        (LATIN, "utf-8-sig"),
        (LATIN, "utf-16"),
        (LATIN, "utf-16-be"),
        (LATIN, "utf-32-le"),
        ("plain ASCII in UTF-16 is valid UTF-8 too\n", "utf-16-le"),
        (JAPANESE, "cp932"),
        (JAPANESE, "euc_jp"),
        (CHINESE, "gb18030"),
        (RUSSIAN, "koi8_r"),
        ("a" * 70_000 + "é", "utf-8"),
    ],
)
def test_reads_text_in_its_encoding(text: str, encoding: str) -> None:
    decoded = decode(text.encode(encoding))
    assert decoded.text == text
    assert decoded.replaced == 0
    assert decoded.bom == (encoding in ("utf-8-sig", "utf-16"))


def test_polish_is_not_taken_for_western_european() -> None:
    polish = "Każdy człowiek posiada wszystkie prawa i wolności zawarte w Deklaracji. " * 4
    assert decode(polish.encode("cp1250")).text == polish


def test_a_mark_overrules_a_declaration() -> None:
    decoded = decode(LATIN.encode("utf-16"), declared="utf-8")
    assert decoded.text == LATIN
    assert decoded.source == "mark"


def test_a_declaration_overrules_utf8() -> None:
    decoded = decode(b"caf\xc3\xa9", declared="windows-1252")
    assert decoded.text == "cafÃ©"


def test_a_declaration_that_the_bytes_refute_is_left_aside() -> None:
    assert decode("日本語です".encode(), declared="shift_jis").text == "日本語です"
    assert decode(LATIN.encode("cp1252"), declared="utf-8").encoding == "cp1252"
    assert decode(b"<meta charset=utf-16>", declared="utf-16").encoding == "utf-8"


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("ISO-8859-1", "cp1252"),
        ("shift_jis", "cp932"),
        ("GB2312", "gb18030"),
        ("UTF8", "utf-8"),
        ("rot13", None),
        ("base64", None),
        ("unicode_escape", None),
        ("no-such-encoding", None),
        ("a\0b", None),
        ("", None),
    ],
)
def test_labels_stand_for_what_documents_are_in(label: str, name: str | None) -> None:
    assert codec_name(label) == name


def test_the_default_is_taken_where_utf8_fails() -> None:
    decoded = decode("Łódź".encode("cp1250"), default="cp1250")
    assert decoded.text == "Łódź"
    assert decoded.confident


def test_single_bad_bytes_of_utf8_are_replaced_and_counted() -> None:
    decoded = decode("überall größere Häuser ".encode() * 20 + b"\xff\xfe end \x80")
    assert decoded.encoding == "utf-8"
    assert decoded.replaced == 3
    assert decoded.text.endswith("\ufffd\ufffd end \ufffd")
    assert decoded.status is Status.PARTIAL
    assert "3 bytes" in decoded.warnings[0].message


def test_a_guess_among_single_byte_encodings_is_uncertain() -> None:
    decoded = decode(LATIN.encode("cp1252"))
    assert not decoded.confident
    assert [warning.code for warning in decoded.warnings] == ["uncertain-encoding"]
    assert decode(JAPANESE.encode("cp932")).warnings == ()


@given(st.binary(max_size=200))
def test_any_bytes_give_text_without_surrogates(data: bytes) -> None:
    decoded = decode(data)
    decoded.text.encode("utf-8")
    assert decode(data) == decoded


@given(st.text(st.characters(codec="utf-8"), max_size=60), st.sampled_from(["utf-8", "utf-16"]))
def test_marked_text_comes_back(text: str, encoding: str) -> None:
    # A mark of UTF-16 and a NUL behind it are the mark of UTF-32.
    assume(not text.startswith("\0"))
    data = text.encode("utf-8-sig" if encoding == "utf-8" else encoding)
    assert decode(data).text == text


def test_a_long_line_costs_time_linear_in_its_length() -> None:
    """What takes the square of it does not end."""
    text = LATIN + "x" * 400_000
    assert decode(text.encode("cp1252")).text == text
