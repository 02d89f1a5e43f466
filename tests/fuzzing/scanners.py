"""What is fuzzed: each scanner with its seeds, and what must hold of whatever it is given."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType

from chunking.invariants import check_cutting
from chunking.trees import any_tree
from extraction.checks import check

from merestone import recursive_chunks, windows
from merestone.chunking import chunkers, cut
from merestone.embedding import open_embedder
from merestone.embedding.hashing import HashingEmbedder
from merestone.extraction import read_document
from merestone.extraction.encoding import decode
from merestone.text.graphemes import grapheme_boundary_before, grapheme_ends
from merestone.text.sentences import clause_offsets, sentence_spans, word_offsets
from merestone.text.tokenizers import CharacterTokenizer, WordTokenizer
from merestone.text.words import is_inside_word
from merestone.types import (
    CONTEXT_ROLES,
    ChunkingSettings,
    Document,
    EmbeddingSettings,
    ExtractionError,
    ExtractionSettings,
    RawDocument,
    SettingsError,
    Tokenizer,
)

DATA = Path(__file__).parents[1] / "data"
HANDBOOK = Path(__file__).parents[2] / "examples"
_LIMITS = ExtractionSettings()
_MOST_SEEDS = 40
_SEED_BYTES = 200_000
_REFUSED = frozenset({"max-tokens-too-small"})
"""Codes with which a strategy may refuse settings that were drawn by chance."""
_FAULTS = frozenset({"extractor-failed", "document-needs-memory"})
"""Codes with which no reader may refuse a small file."""


@dataclass(frozen=True, slots=True)
class Scanner:
    """One scanner: ``check`` raises if something does not hold of an input.

    Its second argument seeds what else is drawn by chance, such as settings.
    """

    check: Callable[[bytes, int], None]
    patterns: tuple[str, ...]
    """Of files that inputs are made of, under the folder of test data, of examples, and of shared
    data."""
    written: tuple[str, ...] = ()
    """More of them, with what the files lack."""

    def seeds(self, shared: Path | None = None) -> list[bytes]:
        """What inputs are made of; of ``shared`` data a part only."""
        found = [text.encode("utf-8", "surrogatepass") for text in self.written]
        for folder in (DATA, HANDBOOK, shared):
            if folder is not None:
                found += _read_files(folder, self.patterns)
        return found


def _read_files(folder: Path, patterns: Sequence[str]) -> Iterator[bytes]:
    for pattern in patterns:
        paths = [path for path in sorted(folder.glob(pattern)) if path.is_file()]
        for path in paths[:: max(1, len(paths) // _MOST_SEEDS)]:
            yield path.read_bytes()[:_SEED_BYTES]


def settings_for(draw: random.Random) -> ChunkingSettings:
    """Settings of any strategy, sizes that can be met.

    Kept inputs have a seed of their own: whoever changes this changes what they show.
    """
    limit = draw.choice((8, 12, 20, 40, 40, 100, 100, 256))
    target = draw.randint(1, limit)
    overlap = draw.choice((0, 0, draw.randrange(limit // 2 - 1)))
    chars = draw.choice((1, 5, 20, 80, 80, 300, 300, 2048, 2048))
    roles = draw.sample(CONTEXT_ROLES, draw.randrange(len(CONTEXT_ROLES) + 1))
    return ChunkingSettings(
        strategy=draw.choice(chunkers()),
        max_tokens=limit,
        target_tokens=target,
        min_tokens=draw.randint(0, min(target, 16)),
        overlap_tokens=overlap,
        max_chars=chars,
        overlap_chars=0 if overlap else draw.choice((0, 0, draw.randint(0, chars // 2))),
        torn_overlap_tokens=draw.choice((0, draw.randrange(limit // 2 - 1))),
        context=tuple(roles),
        group=draw.choice((None, None, 1, 3)),
        separators=draw.choice((("\n\n", "\n", " ", ""), (". ", ","), ("",), ("\r", "|", "a"))),
        semantic_weight=draw.choice((0.0, 0.0, 0.5)),
    )


@cache
def tokenizers() -> tuple[Tokenizer, ...]:
    """One that adds up, one that does not, and the bundled one."""
    bundled = open_embedder(EmbeddingSettings()).tokenizer
    return WordTokenizer(), CharacterTokenizer(), bundled


@cache
def _embedder() -> HashingEmbedder:
    return HashingEmbedder(EmbeddingSettings(on_overlong="window"))


def check_cut(document: Document, seed: int) -> None:
    """Cut ``document`` with settings drawn from ``seed``, and check the cutting."""
    draw = random.Random(seed)
    settings, tokenizer = settings_for(draw), draw.choice(tokenizers())
    try:
        cutting = cut(document, settings, tokenizer, _embedder())
    except SettingsError as error:
        if error.code in _REFUSED:
            return
        raise
    check_cutting(document, cutting, settings, tokenizer)


def _check_format(name: str, is_source: bool, data: bytes, seed: int) -> None:
    """Read and cut a file; ``is_source``: its text is the decoded file itself."""
    try:
        document = read_document(RawDocument(name, data), _LIMITS)
    except ExtractionError as error:
        if error.code in _FAULTS:
            raise
        return
    decoded = decode(data)
    source = ("\ufeff" if decoded.bom else "") + decoded.text
    if is_source and document.encoding == decoded.encoding:
        assert document.text == decoded.text
        check(document, source)
    else:
        check(document)
    check_cut(document, seed)


def _text(data: bytes) -> str:
    """Text that holds lone surrogates where ``data`` is no UTF-8."""
    return data.decode("utf-8", "surrogateescape")


def _check_chunkers(data: bytes, seed: int) -> None:
    check_cut(any_tree(_text(data), seed), seed)


def _check_plain_functions(data: bytes, seed: int) -> None:
    text, draw = _text(data), random.Random(seed)
    size = draw.choice((1, 2, 7, 50, 1000))
    overlap = draw.randrange(size)
    separators = draw.choice((("\n\n", "\n", " ", ""), (". ", " "), ("",), ("a", "\r", "")))
    found = recursive_chunks(text, size, overlap, separators)
    for chunk in found:
        assert text[chunk["start"] : chunk["end"]] == chunk["text"]
        assert chunk["text"].strip()
        assert len(chunk["text"]) <= size or "" not in separators
    starts = [chunk["start"] for chunk in found]
    assert starts == sorted(set(starts))
    end = 0
    for chunk in found:
        assert not text[end : chunk["start"]].strip()
        assert chunk["end"] >= end
        end = chunk["end"]
    assert not text[end:].strip()
    for window in windows(text, size, overlap):
        assert text[window["start"] : window["end"]] == window["text"]


def _check_sentences(data: bytes, seed: int) -> None:
    text, draw = _text(data), random.Random(seed)
    first = draw.choice((0, draw.randint(0, len(text))))
    last = draw.choice((len(text), draw.randint(first, len(text))))
    spans = sentence_spans(text, first, last)
    assert [low for low, _ in spans] == [first, *(high for _, high in spans[:-1])][: len(spans)]
    assert all(low < high for low, high in spans)
    assert (spans[-1][1] if spans else first) == last
    for offsets in (clause_offsets(text, first, last), word_offsets(text, first, last)):
        assert offsets == sorted(set(offsets))
        assert all(first < offset < last for offset in offsets)


def _check_graphemes(data: bytes, seed: int) -> None:
    text, draw = _text(data), random.Random(seed)
    ends = [0, *grapheme_ends(text)]
    assert ends[-1] == len(text)
    assert all(low < high for low, high in pairwise(ends))
    for _ in range(20):
        offset = draw.randint(0, len(text))
        boundary = grapheme_boundary_before(text, offset)
        assert 0 <= boundary <= offset
        assert is_inside_word(text, offset) in (True, False)
    for tokenizer in tokenizers():
        starts = list(tokenizer.starts(text))
        assert starts == sorted(starts)
        # Longer texts are handed over in windows, which part a word that is longer still.
        assert len(text) > 16_000 or len(starts) == tokenizer.counts([text])[0]


_CHATS = (
    "Ann: Did you see it?\nBob: I did. It was late\nand dark.\n\nAnn: And then?\nBob: I left!\n",
    "[12/03/2024, 09:15:02] Ann: one\n[12/03/2024, 09:16:40] Bob: two\nstill two\n",
    "12:01 <ann> hello\n12:02 <bob> hi\n12:02 * ann waves\n12:03 <ann> bye\n",
    "2024-03-12 09:15 Ann\none\n\n2024-03-12 09:16 Bob\ntwo\n",
)
_SUBTITLES = (
    "WEBVTT\n\n00:01.000 --> 00:04.000\n<v Ann>One.\n\n00:05.000 --> 00:09.000\n- Two.\n- Three.\n",
    "1\n00:00:01,000 --> 00:00:04,000\nOne.\n\n2\n00:00:05,000 --> 00:00:09,000\n<i>Two.</i>\n",
)
_NOTEBOOK = (
    '{"cells": [{"cell_type": "markdown", "metadata": {}, "source": ["# One\\n", "two"]}, '
    '{"cell_type": "code", "execution_count": 1, "metadata": {}, "source": "x = 1\\nx", '
    '"outputs": [{"output_type": "stream", "name": "stdout", "text": ["a\\n"]}, '
    '{"output_type": "error", "ename": "E", "evalue": "v", "traceback": ["t"]}]}], '
    '"metadata": {"kernelspec": {"language": "python"}}, "nbformat": 4, "nbformat_minor": 5}',
)
_MARKDOWN = (
    "---\ntitle: A\n---\n\n# One #\n\ntext *a* `b` [c](d)\n\n- x\n  1. y\n\n     z\n\n> q\n\n"
    "| a | b |\n|---|:-:|\n| 1 | 2 |\n\n```py\n# x\n```\n\n~~~\ny\n~~~\n\nTerm\n: means\n\n"
    "Two\n===\n\n[^1]: note\n\n<div>\n<p>x</p>\n</div>\n\n$$\nx\n$$\n\n***\n",
    ":::note\nx\n:::\n\n!!! tip\n    y\n\n{{< a >}}\n\n<Tabs>\n<Tab>\nz\n</Tab>\n</Tabs>\n\n"
    "export const a = 1\n\n:::{admonition} b\nc\n:::\n\n```{note}\nd\n```\n",
)
_RST = (
    "=====\nTitle\n=====\n\nPart\n----\n\n:field: x\n\n- a\n- b\n\n1. c\n\n.. note:: d\n\n   e\n\n"
    ".. code-block:: py\n   :linenos:\n\n   f = 1\n\n+---+---+\n| a | b |\n+===+===+\n| c | d |\n"
    "+---+---+\n\n=== ===\na   b\n=== ===\nc   d\n=== ===\n\ng::\n\n    h\n\n.. [1] note\n\n"
    "term\n   means\n\n| line\n| block\n\n.. |x| replace:: y\n\n.. comment\n\n-o  option\n",
)
_HTML = (
    "<!doctype html><title>t</title><h1>a</h1><p>b <b>c</b> d<br>e<ul><li>f<li>g<ol><li>h</ol>"
    "</ul><table><caption>i</caption><thead><tr><th>j<th>k</thead><tr><td rowspan=2>l<td>m<tr>"
    "<td>n</table><pre><code class=language-py>o = 1\n</code></pre><dl><dt>p<dd>q</dl>"
    "<nav>r</nav><script>s</script><!-- t --><svg><text>u</text></svg><details><summary>v"
    "</summary>w</details><template>x</template><math><mi>y</mi></math>&amp;&#0;&nosuch;",
)
_RECORDS = (
    'id,name,note\n1,a,"b, c"\n2,"d\ne","f ""g"""\n3,,\n',
    "id;name;note\r\n1;a;b\r\n2;c;d\r\n",
    "# comment\nid\tname\n1\ta\n2\tb\n",
)
_LINES = (
    '{"id": 1, "text": "a\\u00e9\\ud800"}\n{"id": 2, "text": null}\n\n[1, {"a": []}]\n"x"\n{bad\n',
)
_PROSE = (
    "NAME\n     a - b\n\nSYNOPSIS\n     a [-c] d\n\nOPTIONS\n     -c, --cc   e\n             f\n\n"
    "     g:\n\n         1. h\n         2. i\n",
    "Dr. A. said: “No!” Yes… e.g. this; that—and 3.5. 東京。大阪！ ภาษาไทย ไม่มี. \ud800 (a) [3] b?\n"
    "\x0cNext page.\n\n  - item one\n  - item two\n",
    'Traceback (most recent call last):\n  File "a", line 1\n\nKey: value\nOther: value\n',
)

_CODE_EXTENSIONS = (
    "py js jsx ts tsx java go rs c h cpp cs rb php sh kt scala swift lua sql yaml toml json css "
    "xml ini tex vue diff"
).split()

_FORMATS: Mapping[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    "markdown": ("a.md", ("**/*.md",), _MARKDOWN),
    "mdx": ("a.mdx", ("**/*.mdx", "samples/md/*.md"), _MARKDOWN),
    "rst": ("a.rst", ("**/*.rst",), _RST),
    "html": ("a.html", ("**/*.html",), _HTML),
    "csv": ("a.csv", ("**/*.csv",), _RECORDS),
    "tsv": ("a.tsv", ("**/*.csv",), _RECORDS),
    "jsonl": ("a.jsonl", ("corpus/jsonl/*",), _LINES),
    "notebook": ("a.ipynb", ("**/*.ipynb",), _NOTEBOOK),
    "chat": ("a.txt", (), _CHATS),
    "vtt": ("a.vtt", (), _SUBTITLES),
    "srt": ("a.srt", (), _SUBTITLES),
    "plain": ("a.txt", ("**/*.txt",), _PROSE),
    "unnamed": ("a", ("corpus/*/*", "chunk_cases/*", "code/*"), _PROSE),
    **{
        f"code.{extension}": (f"a.{extension}", (f"**/*.{extension}", "code/*"), ())
        for extension in _CODE_EXTENSIONS
    },
}
_WRITTEN_ANEW = frozenset({"html", "notebook", "unnamed"})
"""Formats whose text is not the decoded file itself, or not in each case."""

SCANNERS: Mapping[str, Scanner] = MappingProxyType(
    {
        **{
            name: Scanner(partial(_check_format, file, name not in _WRITTEN_ANEW), *rest)
            for name, (file, *rest) in _FORMATS.items()
        },
        "sentences": Scanner(_check_sentences, ("**/*.txt",), _PROSE),
        "graphemes": Scanner(_check_graphemes, ("**/chunk_cases/**/*.txt",), _PROSE),
        "chunkers": Scanner(_check_chunkers, ("**/*.md", "**/*.txt", "code/*"), _PROSE),
        "recursive": Scanner(_check_plain_functions, ("**/*.txt",), _PROSE),
    }
)
