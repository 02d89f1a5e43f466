"""The sizes by which chunks are measured, and the tokenizers behind them."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

_CL100K_FILE = "9b5ad71b2ce5302211f9c61530b329a4922fc6a4"
"""The name under which tiktoken keeps the ranks of cl100k_base: a hash of their address."""


@dataclass(frozen=True)
class Unit:
    """A unit of size, the limit that chunks are cut to, and what counts it."""

    name: str
    limit: int
    special: int
    """Tokens that the model adds to each input."""
    counts: Callable[[Sequence[str]], list[int]]
    """Sizes of texts, without special tokens."""


class MissingError(Exception):
    """Something that this installation lacks, in words for the report."""


def bert_file() -> Path:
    """The tokenizer of the bundled embedder."""
    return Path(str(files("merestone.embedding").joinpath("models/minilm/tokenizer.json")))


@cache
def bert() -> Any:
    """The Hugging Face tokenizer of BERT, with truncation and padding off."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(bert_file()))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


@cache
def cl100k() -> Any:
    """tiktoken's cl100k_base, from its own cache or the copy that llama-index-core ships.

    Never from the network: without a copy :class:`MissingError` is raised.
    """
    spec = importlib.util.find_spec("tiktoken")
    if spec is None:
        raise MissingError("tiktoken is not installed")
    folders = [Path(os.environ[name]) for name in ("TIKTOKEN_CACHE_DIR",) if name in os.environ]
    llama = importlib.util.find_spec("llama_index.core") if _installed("llama_index") else None
    if llama and llama.origin:
        folders.append(Path(llama.origin).parent / "_static" / "tiktoken_cache")
    folder = next((folder for folder in folders if (folder / _CL100K_FILE).is_file()), None)
    if folder is None:
        raise MissingError(
            "no copy of cl100k_base: install llama-index-core or set TIKTOKEN_CACHE_DIR"
        )
    os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)
    import tiktoken

    return tiktoken.get_encoding("cl100k_base")


def _installed(name: str) -> bool:
    return importlib.util.find_spec(name) is not None


def clean(text: str) -> str:
    """``text`` with lone surrogates replaced, so that UTF-8 can hold it."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _bert_counts(texts: Sequence[str]) -> list[int]:
    found: list[int] = []
    for first in range(0, len(texts), 256):
        batch = [clean(text) for text in texts[first : first + 256]]
        encodings = bert().encode_batch_fast(batch, add_special_tokens=False)
        found.extend(len(encoding) for encoding in encodings)
    return found


def _cl100k_counts(texts: Sequence[str]) -> list[int]:
    encoding = cl100k()
    return [len(encoding.encode_ordinary(text)) for text in texts]


def units() -> dict[str, Unit]:
    """By name."""
    return {
        "chars": Unit("chars", 1000, 0, lambda texts: [len(text) for text in texts]),
        "bert": Unit("bert", 256, 2, _bert_counts),
        "cl100k": Unit("cl100k", 256, 0, _cl100k_counts),
    }
