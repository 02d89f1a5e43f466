"""The texts that are cut."""

from __future__ import annotations

import os
import re
import sysconfig
from dataclasses import dataclass
from pathlib import Path

MODULES = """
    argparse ast bisect calendar cmd collections/__init__ configparser contextlib csv dataclasses
    difflib enum fractions functools getopt glob heapq ipaddress json/decoder json/encoder
    logging/__init__ pathlib pickle pprint random selectors shutil statistics string subprocess
    textwrap threading tokenize traceback typing unittest/case urllib/parse weakref
""".split()
"""Of the standard library of the interpreter that runs; those that it lacks are left out."""

_CHAPTER = re.compile(r"^(CHAPTER \d+\.|Epilogue|ETYMOLOGY|EXTRACTS).*\r?\n", re.MULTILINE)
_PARAGRAPH_END = re.compile(r"(?:\r?\n){2,}")

INSERTED = (
    "One short paragraph was added here.",
    "A paragraph was added at the top. It says nothing that the rest refers to, and it is as long "
    "as a remark that an editor puts before a page usually is, that is two sentences or so.",
    "This note was put before everything else. " * 14,
)
"""What is put at the top of a document, one a document in turn, to see which chunks change."""


@dataclass(frozen=True)
class Sample:
    """Texts of one kind."""

    name: str
    suffix: str
    """Of the files' names: how a reader that asks for it knows the format."""
    texts: tuple[str, ...]
    edited: tuple[tuple[str, str], ...] = ()
    """Texts without and with a paragraph at the top."""

    @property
    def bytes(self) -> int:
        return sum(len(text.encode()) for text in self.texts)

    def joined(self, limit: int) -> str:
        """The texts as one, about ``limit`` bytes at most."""
        text = "\n\n".join(self.texts)
        return text[: limit * len(text) // max(limit, len(text.encode()))]


def data_folder() -> Path:
    """Where the sample texts lie."""
    if "MERESTONE_BENCH_DATA" not in os.environ:
        raise SystemExit("MERESTONE_BENCH_DATA must name the folder that holds samples/.")
    return Path(os.environ["MERESTONE_BENCH_DATA"])


def samples(share: int) -> dict[str, Sample]:
    """Samples by name; one of ``share`` texts, or of a text the first part of that share."""
    return {
        sample.name: sample
        for sample in (
            _markdown("md", share),
            _markdown("zh", share),
            _novel(share),
            _python(share),
            Sample("graphemes", ".txt", (graphemes(120_000 // share),)),
        )
    }


def _markdown(name: str, share: int) -> Sample:
    paths = sorted((data_folder() / "samples" / name).glob("*.md"))[::share]
    texts = tuple(path.read_bytes().decode("utf-8-sig") for path in paths)
    edited = tuple(
        (text, _with_paragraph(text, INSERTED[index % len(INSERTED)]))
        for index, text in enumerate(texts[:: 1 if share > 1 else 4])
    )
    return Sample(name, ".md", texts, edited)


def _with_paragraph(text: str, paragraph: str) -> str:
    at = front_matter_end(text)
    return f"{text[:at]}{paragraph}\n\n{text[at:]}"


def front_matter_end(text: str) -> int:
    """Where the text behind a YAML front matter begins; 0 without one."""
    found = re.match(r"---[ \t]*\r?\n(?:.*\r?\n)*?---[ \t]*(?:\r?\n)+", text)
    return found.end() if found else 0


def _novel(share: int) -> Sample:
    path = data_folder() / "samples" / "novel" / "2701-0.txt"
    text = path.read_bytes().decode("utf-8-sig")
    text = text[: len(text) // share]
    parts = _parts(_CHAPTER.sub("", text), 60_000)[1:9]
    edited = tuple(
        (part, f"{INSERTED[index % len(INSERTED)]}\r\n\r\n{part}")
        for index, part in enumerate(parts)
    )
    return Sample("novel", ".txt", (text,), edited)


def _parts(text: str, size: int) -> list[str]:
    """``text`` in parts of about ``size`` characters, parted between paragraphs."""
    parts, start = [], 0
    for end in _PARAGRAPH_END.finditer(text):
        if end.end() - start >= size:
            parts.append(text[start : end.end()])
            start = end.end()
    return parts


def _python(share: int) -> Sample:
    library = Path(sysconfig.get_path("stdlib"))
    paths = [library / f"{module}.py" for module in MODULES]
    data = [path.read_bytes() for path in paths if path.is_file()]
    return Sample("python", ".py", tuple(item.decode() for item in data[::share]))


def graphemes(size: int) -> str:
    """About ``size`` code points of writing in which a reader's character is several of them,
    a paragraph a kind, with no space inside it."""
    kinds = (
        "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466",
        "\U0001f469\U0001f3fd\u200d\U0001f680\U0001f44d\U0001f3ff",
        "\U0001f1e9\U0001f1ea\U0001f1eb\U0001f1f7\U0001f1ef\U0001f1f5",
        "1\ufe0f\u20e3\u2764\ufe0f\u200d\U0001f525",
        "क्षत्रियाणां",
        "நிக்கொள்ளும்",
        "กำลังน้ำใส่",
        "\u1112\u1161\u11ab\u1100\u1173\u11af",
        "z\u0351\u036b\u0343\u0489a\u0308\u0323l\u0334\u0322g\u0353\u0301o\u0348\u0300",
        "မြန်မာဘာသာ",
    )
    return "\n\n".join(kind * (size // len(kinds) // len(kind)) for kind in kinds) + "\n"


def odd_texts() -> dict[str, str]:
    """Strings that a chunker should survive."""
    return {
        "empty": "",
        "blank": " \n\t\r\n\u3000 \n",
        "NUL": "a\0b " * 500,
        "surrogate": "a text with \ud800 half a pair. " * 100,
        "two halves": "\udc00\ud83d " * 900,
        "CR only": "line of text\r" * 400,
        "U+2028": "a sentence.\u2028Another.\u2029" * 200,
        "BOM inside": "\ufeffword " * 500,
        "controls": "".join(map(chr, range(1, 32))) * 100,
        "noncharacter": "\uffff\ufdd0\U0010ffff " * 500,
        "marks only": "\u0301" * 5000,
        "bidi": "\u202e\u2067txet\u2069\u202c " * 400,
        "long word": "x" * 50_000,
        "special token": "[CLS] <|endoftext|> [SEP] <|im_start|> " * 200,
        "fence open": "```\n" * 2000,
        "tabs": "\t" * 5000 + "end",
        "quotes": ">" * 3000 + " deep",
    }
