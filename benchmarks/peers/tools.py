"""The chunkers, each behind the same two steps: prepare a text, cut what was prepared."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import entry_points
from typing import Any

from peers.units import MissingError, Unit, bert, bert_file, cl100k

os.environ.setdefault("HAYSTACK_TELEMETRY_ENABLED", "False")
os.environ.setdefault("HF_HUB_OFFLINE", "1")


@dataclass(frozen=True)
class Piece:
    """A chunk as its tool reports it."""

    text: str
    start: int | None
    end: int | None
    shown: str
    """What an embedder is given: the text, and whatever the tool adds to it."""


@dataclass(frozen=True)
class Cutter:
    """A tool set to one limit. It may keep what it has counted, so each run gets a new one."""

    cut: Callable[[Any], Any]
    pieces: Callable[[Any], Sequence[Piece]]
    """Chunks of what ``cut`` returned; not part of what is timed."""
    prepare: Callable[[str], Any] = str
    """Makes of a text what ``cut`` takes: for a tool that reads before it cuts. A bare text is
    taken as well."""
    special: bool = False
    """True if the tool promises its limit with the model's special tokens counted."""


@dataclass(frozen=True)
class Tool:
    """A chunker that can be set to a limit."""

    name: str
    modules: tuple[str, ...]
    """Imported before anything is measured."""
    make: Callable[[Unit, str], Cutter]
    """A cutter for a unit and a suffix of file names; :class:`MissingError` if it has none."""
    reads: bool = False
    """True if :attr:`Cutter.prepare` does work."""

    def load(self) -> None:
        for module in self.modules:
            importlib.import_module(module)


def tools() -> dict[str, Tool]:
    """By name; of Merestone one for each strategy that cuts any text."""
    found = [*_merestone_tools()]
    for name, module, make in (
        ("semantic-text-splitter", "semantic_text_splitter", _semantic_text_splitter),
        ("langchain recursive", "langchain_text_splitters", _langchain),
        ("langchain language", "langchain_text_splitters", _langchain_language),
        ("llama_index sentence", "llama_index.core.node_parser", _llama_index),
        ("chonkie recursive", "chonkie", _chonkie),
        ("haystack recursive", "haystack.components.preprocessors", _haystack),
        ("semchunk", "semchunk", _semchunk),
    ):
        found.append(Tool(name, (module,), make))
    return {tool.name: tool for tool in found}


def _merestone_tools() -> list[Tool]:
    from merestone.chunking.registry import chunkers
    from merestone.types import ChunkingSettings

    default, installed = ChunkingSettings().strategy, chunkers()
    if default not in installed:
        default = "structure"
    others = [name for name in ("recursive", "fixed") if name in installed and name != default]
    # Strategies and readers are loaded when first used, which must not count as their work.
    groups = ("merestone.chunkers", "merestone.extractors")
    modules = sorted({point.module for group in groups for point in entry_points(group=group)})
    return [
        Tool(
            "merestone" if strategy == default else f"merestone {strategy}",
            ("merestone.library", *modules),
            partial(_merestone, strategy),
            reads=True,
        )
        for strategy in [default, *others]
    ]


def _merestone(strategy: str, unit: Unit, suffix: str) -> Cutter:
    import merestone
    from merestone.chunking.render import render
    from merestone.extraction.reading import read_document
    from merestone.text.tokenizer_names import tokenizer_named
    from merestone.types import RawDocument

    names = {"chars": "characters", "bert": bert_file(), "cl100k": "cl100k_base"}
    options: dict[str, Any] = {
        "max_tokens": unit.limit,
        "strategy": strategy,
        "tokenizer": tokenizer_named(names[unit.name]),
    }
    if unit.name == "chars":
        options["max_chars"] = unit.limit
    # The tokenizer's file is read when it first counts; the others' is read before.
    options["tokenizer"].counts(["a"])

    return Cutter(
        cut=lambda document: merestone.chunk(document, **options),
        pieces=lambda chunks: [Piece(c.text, c.start, c.end, render(c)) for c in chunks],
        # In this process: the start of a worker, where a format has one, is not the reading.
        prepare=lambda text: read_document(RawDocument(f"text{suffix}", text.encode())),
        special=True,
    )


def _plain(texts: Sequence[tuple[int | None, str]]) -> list[Piece]:
    """Pieces of tools that tell a start and a text."""
    return [
        Piece(text, start, None if start is None else start + len(text), text)
        for start, text in texts
    ]


def _semantic_text_splitter(unit: Unit, suffix: str) -> Cutter:
    import semantic_text_splitter as peer

    first: tuple[Any, ...] = ()
    kind: Any = peer.TextSplitter
    if suffix == ".md":
        kind = peer.MarkdownSplitter
    elif suffix == ".py":
        import tree_sitter_python

        kind, first = peer.CodeSplitter, (tree_sitter_python.language(),)
    if unit.name == "chars":
        splitter = kind(*first, unit.limit)
    elif unit.name == "bert":
        splitter = kind.from_huggingface_tokenizer(*first, bert(), unit.limit)
    else:
        splitter = kind.from_tiktoken_model(*first, "gpt-4", unit.limit)
    return Cutter(splitter.chunk_indices, _plain)


def _length(unit: Unit) -> Callable[[str], int]:
    """Counts one text, for tools that ask for a function."""
    if unit.name == "chars":
        return len
    if unit.name == "bert":
        tokenizer = bert()
        return lambda text: len(tokenizer.encode(text, add_special_tokens=False))
    encoding = cl100k()
    return lambda text: len(encoding.encode_ordinary(text))


def _langchain_pieces(documents: Any) -> list[Piece]:
    return _plain([(d.metadata["start_index"], d.page_content) for d in documents])


def _langchain(unit: Unit, suffix: str) -> Cutter:
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    splitter = RecursiveCharacterTextSplitter(
        chunk_size=unit.limit,
        chunk_overlap=0,
        length_function=_length(unit),
        add_start_index=True,
    )
    return Cutter(lambda text: splitter.create_documents([text]), _langchain_pieces)


def _langchain_language(unit: Unit, suffix: str) -> Cutter:
    from langchain_text_splitters import Language, RecursiveCharacterTextSplitter

    languages = {".md": Language.MARKDOWN, ".py": Language.PYTHON}
    if suffix not in languages:
        raise MissingError("no separators for this kind of text")
    splitter = RecursiveCharacterTextSplitter.from_language(
        languages[suffix],
        chunk_size=unit.limit,
        chunk_overlap=0,
        length_function=_length(unit),
        add_start_index=True,
    )
    return Cutter(lambda text: splitter.create_documents([text]), _langchain_pieces)


def _llama_index(unit: Unit, suffix: str) -> Cutter:
    from llama_index.core import Document
    from llama_index.core.node_parser import SentenceSplitter

    if unit.name == "chars":
        tokenize: Callable[[str], Any] = list
    elif unit.name == "bert":
        tokenizer = bert()

        def tokenize(text: str) -> Any:
            return tokenizer.encode(text, add_special_tokens=False).ids
    else:
        tokenize = cl100k().encode_ordinary
    splitter = SentenceSplitter(chunk_size=unit.limit, chunk_overlap=0, tokenizer=tokenize)
    return Cutter(
        lambda text: splitter.get_nodes_from_documents([Document(text=text)]),
        lambda nodes: [Piece(n.text, n.start_char_idx, n.end_char_idx, n.text) for n in nodes],
    )


def _chonkie(unit: Unit, suffix: str) -> Cutter:
    from chonkie import RecursiveChunker

    counters: dict[str, Callable[[], Any]] = {
        "chars": lambda: "character",
        "bert": bert,
        "cl100k": cl100k,
    }
    chunker = RecursiveChunker(tokenizer=counters[unit.name](), chunk_size=unit.limit)
    return Cutter(
        chunker.chunk,
        lambda chunks: [Piece(c.text, c.start_index, c.end_index, c.text) for c in chunks],
    )


def _haystack(unit: Unit, suffix: str) -> Cutter:
    from haystack import Document
    from haystack.components.preprocessors import RecursiveDocumentSplitter

    if unit.name == "bert":
        raise MissingError(
            "counts by o200k_base; another that decodes to the same text can be put in"
        )
    splitter = RecursiveDocumentSplitter(
        split_length=unit.limit,
        split_overlap=0,
        split_unit="char" if unit.name == "chars" else "token",
        separators=["\n\n", "\n", " "],
    )
    if unit.name == "cl100k":
        splitter.tiktoken_tokenizer = cl100k()
        splitter._is_warmed_up = True
    else:
        splitter.warm_up()
    return Cutter(
        lambda text: splitter.run([Document(content=text)])["documents"],
        lambda found: _plain([(d.meta["split_idx_start"], d.content) for d in found]),
    )


def _semchunk(unit: Unit, suffix: str) -> Cutter:
    from semchunk import chunkerify

    counters: dict[str, Callable[[], Any]] = {
        # A function of its own each time: counts are remembered by function.
        "chars": lambda: lambda text: len(text),
        "bert": bert,
        "cl100k": cl100k,
    }
    chunker = chunkerify(counters[unit.name](), unit.limit)

    def pieces(found: Any) -> list[Piece]:
        return [Piece(text, start, end, text) for text, (start, end) in zip(*found, strict=True)]

    return Cutter(lambda text: chunker(text, offsets=True), pieces)
