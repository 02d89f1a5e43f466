from __future__ import annotations

import gzip
import io
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from merestone.extraction import detect_media_type
from merestone.extraction.detection import is_text

OFFICE = "application/vnd.openxmlformats-officedocument."


def zip_of(*names: str, **contents: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name in names:
            archive.writestr(name, contents.get(name, "x"))
    return file.getvalue()


@pytest.mark.parametrize(
    ("name", "media_type"),
    [
        ("guide/intro.md", "text/markdown"),
        ("Intro.MDX", "text/markdown"),
        ("page.htm", "text/html"),
        ("a.py", "text/x-python"),
        ("a.ts", "text/typescript"),
        ("a.cpp", "text/x-c++"),
        ("data.csv", "text/csv"),
        ("data.tsv", "text/tab-separated-values"),
        ("data.jsonl", "application/jsonl"),
        ("index.rst", "text/x-rst"),
        ("book.ipynb", "application/x-ipynb+json"),
        ("settings.toml", "application/toml"),
        ("compose.yml", "application/yaml"),
        ("mail.eml", "message/rfc822"),
        ("Makefile", "text/x-makefile"),
        ("docker/Dockerfile", "text/x-dockerfile"),
        ("README", "text/plain"),
        (".hidden", "text/plain"),
        ("notes.unknown", "text/plain"),
    ],
)
def test_text_is_what_its_name_says(name: str, media_type: str) -> None:
    assert detect_media_type(name, b"some words\n") == media_type
    assert detect_media_type(name, b"") == media_type


@pytest.mark.parametrize(
    ("data", "media_type"),
    [
        (b"\x89PNG\r\n\x1a\n....", "image/png"),
        (b"\xff\xd8\xff\xe0..JFIF", "image/jpeg"),
        (b"GIF89a....", "image/gif"),
        (b"\x7fELF\x02\x01", "application/x-elf"),
        (b"SQLite format 3\0....", "application/vnd.sqlite3"),
        (b"\xca\xfe\xba\xbe\0\0\0\x34", "application/java-vm"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1....", "application/x-ole-storage"),
        (gzip.compress(b"text", mtime=0), "application/gzip"),
        (b"RIFF....WEBPVP8 ", "image/webp"),
        (b"%PDF-1.7\n", "application/pdf"),
        (zip_of("[Content_Types].xml", "word/document.xml"), OFFICE + "wordprocessingml.document"),
        (
            zip_of("[Content_Types].xml", "ppt/presentation.xml"),
            OFFICE + "presentationml.presentation",
        ),
        (zip_of("[Content_Types].xml", "xl/workbook.xml"), OFFICE + "spreadsheetml.sheet"),
        (zip_of("mimetype", mimetype="application/epub+zip"), "application/epub+zip"),
        (zip_of("a.txt"), "application/zip"),
        (zip_of("a.txt")[:30], "application/zip"),
    ],
)
def test_magic_bytes_overrule_the_name(data: bytes, media_type: str) -> None:
    for name in ("notes.md", "notes.txt", "notes", "notes.pdf", "notes.docx"):
        assert detect_media_type(name, data) == media_type


def test_words_that_look_like_magic_are_words() -> None:
    assert detect_media_type("BMW.txt", b"BMW cars and MZ motorcycles") == "text/plain"
    assert detect_media_type("mz.txt", b"MZ motorcycles are old") == "text/plain"
    assert detect_media_type("program.txt", b"MZ\x90\0\x03\0\0\0") == (
        "application/vnd.microsoft.portable-executable"
    )


def test_binary_in_disguise_is_not_text() -> None:
    assert detect_media_type("notes.md", bytes(range(32)) * 20) == "application/octet-stream"
    assert detect_media_type("notes", b"ab\0cd") == "application/octet-stream"
    assert detect_media_type("code.py", b"\0" * 100) == "application/octet-stream"


def test_a_zero_in_a_thousand_letters_does_not_make_text_binary() -> None:
    assert is_text(b"a" * 2000 + b"\0" + b"a" * 2000)
    assert not is_text(b"a" * 500 + b"\0" + b"a" * 300)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32-le", "cp932"])
def test_text_in_wide_encodings_is_text(encoding: str) -> None:
    data = "Some words, and 日本語 too.\n".encode(encoding)
    assert detect_media_type("notes.md", data) == "text/markdown"


def test_terminal_output_is_text() -> None:
    assert is_text(b"\x1b[31mred\x1b[0m\x1b[1mbold\x1b[0m N\x08NA\x08A\x0c\n")


def test_a_page_without_a_name_is_html() -> None:
    assert detect_media_type("index", b"\n<!-- x -->\n<!DOCTYPE html><p>x") == "text/html"
    assert detect_media_type("page", b"\xef\xbb\xbf<HTML lang=en>") == "text/html"
    assert detect_media_type("feed", b"<?xml version='1.0'?><rss/>") == "application/xml"


@given(st.binary(max_size=300), st.sampled_from(["a", "a.md", "a.pdf", "", "a.", "."]))
def test_any_bytes_have_a_media_type(data: bytes, name: str) -> None:
    assert "/" in detect_media_type(name, data)


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), max_size=80))
def test_text_without_control_characters_is_text(text: str) -> None:
    assert is_text(text.encode())
    assert is_text(text.encode("utf-16"))


def test_a_text_that_speaks_of_pdfs_is_none() -> None:
    script = b'HEADER = b"%PDF-1.7"\n'
    assert detect_media_type("make.py", script) == "text/x-python"
    assert detect_media_type("make.md", script) == "text/markdown"
    assert detect_media_type("junk.pdf", b"<html></html>\n%PDF-1.7\n") == "application/pdf"
    assert detect_media_type("renamed.txt", b"\n%PDF-1.7\n") == "application/pdf"
