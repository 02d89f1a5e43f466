from __future__ import annotations

import os
from pathlib import Path
from textwrap import dedent

import pytest
from extraction.checks import check, read, text_of, texts
from hypothesis import given
from hypothesis import strategies as st

from merestone.extraction.chat import chat_blocks
from merestone.extraction.encoding import decode
from merestone.types import Document

FOLDER = os.environ.get("MERESTONE_BENCH_DATA")


def turns(document: Document) -> list[tuple[str | None, str | None, str]]:
    """Speaker, time and last line of each turn."""
    return [
        (
            block.attributes.get("speaker"),
            block.attributes.get("time"),
            text_of(document, block).splitlines()[-1].strip(),
        )
        for block in document.blocks
        if block.kind == "record"
    ]


def chat(source: str, name: str = "a.txt") -> list[tuple[str | None, str | None, str]]:
    document = read(dedent(source), name)
    assert document.text == dedent(source)
    check(document, dedent(source))
    return turns(document)


def test_turns_begin_with_a_name() -> None:
    source = """\
        Interview of March

        Ann Lee: Did you see it?
        Bob: I did. It was late
        and dark.

        It was also cold.
        Ann Lee: And then?
        Bob: Then I left! What did you do?
        Ann Lee: Why?
        Bob: No idea.
    """
    document = read(dedent(source), "a.txt")
    assert texts(document, "paragraph") == ["Interview of March"]
    assert turns(document)[:2] == [
        ("Ann Lee", None, "Ann Lee: Did you see it?"),
        ("Bob", None, "It was also cold."),
    ]
    assert len(turns(document)) == 6
    check(document, dedent(source))


def test_roles_need_no_sentences() -> None:
    source = "User: hi\nAssistant: hello\nUser: sum 1 2\nAssistant: 3\n"
    assert [speaker for speaker, _, _ in chat(source)] == ["User", "Assistant"] * 2


def test_wrapped_turns_stand_between_blank_lines() -> None:
    long = "It went on for a while and\nthen for a while longer and\nthen it came to an end"
    source = f"ANN: {long}.\n\nBOB: {long}?\n\nANN: {long}.\n\nBOB: {long}.\n\nANN: {long}?\n"
    assert [speaker for speaker, _, _ in chat(source)] == ["ANN", "BOB", "ANN", "BOB", "ANN"]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            """\
            [12:03] Ann: one
            [12:03:10] Bob Ray: two
            more
            [2024-03-12 12:04] Ann: three
            [12:05 PM] Bob Ray: four
            """,
            [
                ("Ann", "12:03", "[12:03] Ann: one"),
                ("Bob Ray", "12:03:10", "more"),
                ("Ann", "2024-03-12 12:04", "[2024-03-12 12:04] Ann: three"),
                ("Bob Ray", "12:05 PM", "[12:05 PM] Bob Ray: four"),
            ],
        ),
        (
            """\
            12/03/2024, 09:15 - Messages are end-to-end encrypted.
            12/03/2024, 09:15 - Ann: one
            and more
            12/03/2024, 9:16\u202fPM - +44 7700 900123: two
            13.03.24, 09:17 - Ann: <Media omitted>
            """,
            [
                (
                    None,
                    "12/03/2024, 09:15",
                    "12/03/2024, 09:15 - Messages are end-to-end encrypted.",
                ),
                ("Ann", "12/03/2024, 09:15", "and more"),
                (
                    "+44 7700 900123",
                    "12/03/2024, 9:16\u202fPM",
                    "12/03/2024, 9:16\u202fPM - +44 7700 900123: two",
                ),
                ("Ann", "13.03.24, 09:17", "13.03.24, 09:17 - Ann: <Media omitted>"),
            ],
        ),
        (
            """\
            \u200e[12/03/2024, 09:15:22] Ann: one
            [12/03/2024, 09:15:23] Bob: two
            [12/03/2024, 09:15:24] Ann: three
            [12/03/2024, 09:15:25] Bob: four
            """,
            [
                ("Ann", "12/03/2024, 09:15:22", "\u200e[12/03/2024, 09:15:22] Ann: one"),
                ("Bob", "12/03/2024, 09:15:23", "[12/03/2024, 09:15:23] Bob: two"),
                ("Ann", "12/03/2024, 09:15:24", "[12/03/2024, 09:15:24] Ann: three"),
                ("Bob", "12/03/2024, 09:15:25", "[12/03/2024, 09:15:25] Bob: four"),
            ],
        ),
        (
            """\
            [12:03] *** ann_ has joined
            [12:04] <ann_> one
            [12:05] <@bob> two: three
            [12:06] <ann_> four
            """,
            [
                (None, "12:03", "[12:03] *** ann_ has joined"),
                ("ann_", "12:04", "[12:04] <ann_> one"),
                ("bob", "12:05", "[12:05] <@bob> two: three"),
                ("ann_", "12:06", "[12:06] <ann_> four"),
            ],
        ),
        (
            """\
            <ann> one
            <bob> two
            <ann> three
            <bob> four
            """,
            [
                ("ann", None, "<ann> one"),
                ("bob", None, "<bob> two"),
                ("ann", None, "<ann> three"),
                ("bob", None, "<bob> four"),
            ],
        ),
        (
            """\
            Ann Lee  9:15 AM
            one

            still one
            Bob  9:16 AM
            two
            Ann Lee  Today at 9:17 AM
            three
            Bob — 12/03/2024 9:18 AM
            four
            """,
            [
                ("Ann Lee", "9:15 AM", "still one"),
                ("Bob", "9:16 AM", "two"),
                ("Ann Lee", "Today at 9:17 AM", "three"),
                ("Bob", "12/03/2024 9:18 AM", "four"),
            ],
        ),
        (
            """\
            Speaker 1 (00:03):
            one
            Speaker 2 (00:05):
            two
            Speaker 1 (00:07):
            three
            Speaker 2 (01:00:09):
            four
            """,
            [
                ("Speaker 1", "00:03", "one"),
                ("Speaker 2", "00:05", "two"),
                ("Speaker 1", "00:07", "three"),
                ("Speaker 2", "01:00:09", "four"),
            ],
        ),
        (
            """\
            09:15:22 From Ann Lee to Everyone: one
            09:15:23 From Bob to Everyone: two
            09:15:24 From Ann Lee to Everyone: three
            09:15:25 From Bob to Ann Lee: four
            """,
            [
                ("Ann Lee", "09:15:22", "09:15:22 From Ann Lee to Everyone: one"),
                ("Bob", "09:15:23", "09:15:23 From Bob to Everyone: two"),
                ("Ann Lee", "09:15:24", "09:15:24 From Ann Lee to Everyone: three"),
                ("Bob", "09:15:25", "09:15:25 From Bob to Ann Lee: four"),
            ],
        ),
    ],
    ids=["bracketed", "whatsapp", "whatsapp-ios", "irc", "nicks", "slack", "timed-names", "zoom"],
)
def test_turns_have_the_speaker_and_time_of_their_style(
    source: str, expected: list[tuple[str | None, str | None, str]]
) -> None:
    assert chat(source) == expected


WEBVTT = """\
WEBVTT - a talk

NOTE made by hand

intro
00:01.000 --> 00:04.000 align:start
<v Ann Lee>Hello,
everyone.</v>

00:00:05.000 --> 00:00:06.500
Bob: Hi.

00:00:07.000 --> 00:00:08.000
and goodbye
"""


def test_cues_of_subtitles_are_records() -> None:
    for name in ("a.vtt", "a.txt"):
        document = read(WEBVTT, name)
        assert texts(document, "paragraph") == ["WEBVTT - a talk", "NOTE made by hand"]
        assert turns(document) == [
            ("Ann Lee", "00:01.000", "everyone.</v>"),
            ("Bob", "00:00:05.000", "Bob: Hi."),
            (None, "00:00:07.000", "and goodbye"),
        ]
        assert texts(document, "record")[0].startswith("intro\n00:01.000")
        check(document, WEBVTT)
    subrip = "1\r\n00:00:01,000 --> 00:00:02,000\r\nOne\r\n\r\n2\r\n00:00:03,000 --> "
    subrip += "00:00:04,000\r\nTwo\r\nlines\r\n"
    assert [time for _, time, _ in chat(subrip, "a.srt")] == ["00:00:01,000", "00:00:03,000"]


NO_CHATS = {
    "prose": "He said: Who is it?\nShe said: It is me.\n\nThen they left. It was late.\n" * 9,
    "notes": "Note: read this.\nWarning: hot?\nNote: and this.\nWarning: cold.\n" * 3,
    "questions": "Q: Who is it?\nA: It is me.\n\n" * 5,
    "questions-de": "Anliegen: Wer ist es?\nBescheid: Ich bin es.\n\n" * 5,
    "fields": "Name: Ann?\nAge: Old.\nCity: Rome.\n\n" * 5,
    "forms": "Alpha: Is it?\nBeta: It is.\nGamma: It was?\n\n" * 5,
    "mail": "From: Ann Lee\nTo: Bob Ray\nSubject: Why?\nDate: today\n\nHello, Bob.\n",
    "settings": "host: a\nport: 1\nhost: b\nport: 2\nhost: c\nport: 3\n",
    "yaml": "- Name: a?\n  Port: 1.\n- Name: b?\n  Port: 2.\n" * 3,
    "log": "[12:03] ERROR: a\n[12:04] INFO: b\n[12:05] ERROR: c\n[12:06] INFO: d\n",
    "log-dates": "2024-01-01 12:00:00 INFO a: b\n2024-01-01 12:00:01 WARN a: c\n" * 4,
    "syslog": "Jan 12 12:00:01 host sshd[1]: a\nJan 12 12:00:02 host cron[2]: b\n" * 3,
    "programme": "Breakfast  8:00 AM\neggs\nLunch  12:30 PM\nsoup\nTea  4:00 PM\nDinner  7:00 PM\n",
    "verses": "1:10 And God said: Let there be.\n1:11 And it was so.\n1:12 And the earth.\n" * 3,
    "markup": "<li> one\n<p> two\n<li> three\n<p> four</p>\n" * 2,
    "labels": "Paris: It is large.\nRome: It is old.\nOslo: Is it cold?\nBern: It is small.\n",
    "few": "Ann: Who?\nBob: Me.\nAnn: Oh.\n",
    "one": "Ann: Who?\nAnn: Me.\nAnn: Oh.\nAnn: Well.\n",
    "quoted": "A long report that goes on.\n" * 30 + "Ann: Who?\nBob: Me.\nAnn: I?\nBob: No.\n",
    "licence": "Copyright: 2020 Ann\nLicense: MIT\nCopyright: 2021 Bob\nLicense: BSD\n" * 2,
    "code": "case A:\n  x = 1;\ndefault:\n  y = 2?\ncase A:\n  x();\ndefault:\n  y();\n",
}


@pytest.mark.parametrize("name", NO_CHATS)
def test_other_texts_are_no_chats(name: str) -> None:
    assert chat_blocks(NO_CHATS[name]) == ()


@pytest.mark.skipif(FOLDER is None, reason="MERESTONE_BENCH_DATA is not set")
def test_no_text_of_other_kinds_is_taken_for_a_chat() -> None:
    folder = Path(FOLDER or "/")
    paths = [
        *folder.glob("eval/*/documents/**/*.txt"),
        *folder.glob("samples/novel/*.txt"),
        *folder.glob("corpus/txt/*.txt"),
    ]
    assert len(paths) > 100
    assert [path for path in paths if chat_blocks(decode(path.read_bytes()).text)] == []


PIECES = [
    "Ann: ", "Bob: ", "User: ", "[12:03] ", "12/03/2024, 09:15 - ", "<ann> ", "Ann  9:15 AM",
    "hello?", "Yes.", "\n", "\r\n", "\n\n", "\r", "WEBVTT\n\n", "00:01.000 --> 00:02.000\n", "1\n",
    "<v Ann>", "\u200e", " ", "\t", "é🎉", "\u2028", ":", "：",
]  # fmt: skip
SOURCES = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)


@given(SOURCES, st.sampled_from(["a.txt", "a.vtt", "a.srt"]))
def test_any_text_keeps_the_invariants(source: str, name: str) -> None:
    document = read(source, name)
    assert document.text == source
    check(document, source)
