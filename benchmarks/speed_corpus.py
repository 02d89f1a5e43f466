"""A large library of real texts for benchmarks of speed, and real questions to it.

Texts are the Markdown, HTML, plain text and Python of the English evaluation sets and of
``samples/md``, in as many copies as are needed. In each copy but the first, a fifth of the words of
a document are replaced by other words of it, so that lengths, structure and the frequencies of
terms stay as they are and no passage is there twice.

Vectors are **synthetic**: 384 numbers hashed from the words of a passage, so that passages that
share words are near each other. A question costs what the bundled model costs for it, and is then
searched by the hashed vector of its words.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import count, islice
from pathlib import Path

import numpy as np

from merestone import Library
from merestone.embedding import open_embedder
from merestone.types import Embedder, EmbeddingSettings, LibrarySettings, SourceSettings, Vectors

SETS = (
    "code_py",
    "contracts_cuad",
    "contracts_nli",
    "faq_medquad",
    "fin_tatqa",
    "id_node",
    "id_postgres",
    "sci_evinf",
    "tech_man",
    "tech_pydocs",
    "wiki_en",
)
DIMENSION = 384
_SUFFIXES = frozenset({".md", ".html", ".txt", ".py"})
_WORD = re.compile(r"[^\W\d_]{4,}")
_ANY_WORD = re.compile(r"\w+")
_REPLACED = 0.2
_BATCH = 200
"""Documents between two looks at how many chunks there are."""


class CostedEmbedder:
    """The bundled model as far as questions and tokens go; hashed vectors otherwise."""

    name = "hashed words, 384 dimensions (synthetic)"
    fingerprint = "benchmark-hashed-384"
    dimension = DIMENSION

    def __init__(self) -> None:
        self._model: Embedder = open_embedder(EmbeddingSettings(threads=1))
        self.max_tokens = self._model.max_tokens
        self.tokenizer = self._model.tokenizer

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return np.stack([hashed(text) for text in texts])

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        self._model.embed_queries(texts)
        return self.embed_passages(texts)


def hashed(text: str) -> Vectors:
    """The unit vector of a text: the mean of a random direction for each distinct word."""
    words = {word.lower() for word in _ANY_WORD.findall(text)} or {""}
    total: Vectors = np.sum([_direction(word) for word in words], axis=0, dtype=np.float32)
    return total / np.linalg.norm(total)


@lru_cache(maxsize=200_000)
def _direction(word: str) -> Vectors:
    seed = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "little")
    return np.random.default_rng(seed).standard_normal(DIMENSION, dtype=np.float32)


def open_library(work: Path, data: Path, chunks: int) -> Library:
    """A library of at least so many chunks below ``work``, which is kept for the next time."""
    root = work / f"library-{chunks}"
    documents = root / "documents"
    documents.mkdir(parents=True, exist_ok=True)
    settings = LibrarySettings(
        str(root), str(root / ".merestone"), (SourceSettings(str(documents)),)
    )
    library = Library.open(root, settings=settings)
    library.__dict__["embedder"] = CostedEmbedder()
    texts = _texts(data)
    while not library._store.exists() or library.status(as_owner=True).chunks < chunks:
        for name, text in islice(texts, _BATCH):
            path = documents / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8", newline="")
        library.sync()
    return library


def _texts(data: Path) -> Iterator[tuple[str, str]]:
    """Names and texts: the documents once as they are, then with other words, without end."""
    files = [path for name in SETS for path in (data / "eval" / name / "documents").rglob("*")]
    files += list((data / "samples" / "md").rglob("*.md"))
    files = [path for path in files if path.suffix in _SUFFIXES and path.is_file()]
    files.sort()
    random.Random(1).shuffle(files)
    for copy in count():
        for path in files:
            yield f"{copy}/{path.relative_to(data).as_posix()}", _varied(path, copy)


def _varied(path: Path, copy: int) -> str:
    text = path.read_text("utf-8")
    if not copy:
        return text
    drawn = random.Random(f"{path.name} {copy}")
    words = _WORD.findall(text)
    return _WORD.sub(
        lambda match: drawn.choice(words) if drawn.random() < _REPLACED else match[0], text
    )


def questions(data: Path, number: int) -> list[str]:
    """Questions of the sets, the same number of each."""
    found: list[str] = []
    for name in SETS:
        lines = (data / "eval" / name / "questions.jsonl").read_text("utf-8").splitlines()
        drawn = random.Random(name).sample(lines, min(len(lines), -(-number // len(SETS))))
        found += [json.loads(line)["question"] for line in drawn]
    random.Random(2).shuffle(found)
    return found[:number]
