"""LangChain's ``index()`` with its record manager and in-memory vector store.

Files are read as documents with their name as source and cut by RecursiveCharacterTextSplitter
with an overlap of a fifth.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from langchain_classic.embeddings import CacheBackedEmbeddings
from langchain_classic.indexes import SQLRecordManager
from langchain_classic.storage import LocalFileStore
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.indexing import index
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_text_splitters import RecursiveCharacterTextSplitter

from indexers.embedder import NamedEmbedder
from indexers.rows import Place, StoredRow, files_in

_CHARACTERS = 3
"""To a token of the limit: then chunks are as long as Merestone's, which keep below theirs."""


class _Bridge(Embeddings):
    def __init__(self, embedder: NamedEmbedder) -> None:
        self._embedder = embedder

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return self._embedder.embed(texts)

    def embed_query(self, text: str) -> list[float]:
        return self._embedder.embed([text])[0]


class LangChainSystem:
    """``full``: clean up in full, with a cache of embeddings by the embedder's name, and every
    document given to the store each time; else incrementally. The state lies beside the folder."""

    def __init__(self, folder: Path, *, full: bool) -> None:
        self._folder = folder
        self._full = full
        state = folder.with_name(f"{folder.name}-state")
        state.mkdir()
        self._cache = LocalFileStore(state / "cache")
        self._records = SQLRecordManager("files", db_url=f"sqlite:///{state / 'records.db'}")
        self._records.create_schema()
        self._rows: dict[str, dict[str, object]] = {}

    def sync(self, size: int, embedder: NamedEmbedder, only: Sequence[str] = ()) -> None:
        embeddings: Embeddings = _Bridge(embedder)
        if self._full:
            embeddings = CacheBackedEmbeddings.from_bytes_store(
                embeddings, self._cache, namespace=embedder.name, key_encoder="sha256"
            )
        # The store as it would be opened with another embedder: with the rows that it has.
        store = InMemoryVectorStore(embeddings)
        store.store = self._rows
        index(
            self._chunks(size, only),
            self._records,
            store,
            cleanup="full" if self._full else "incremental",
            source_id_key="source",
            force_update=self._full,
            key_encoder="sha256",
        )

    def rows(self) -> list[StoredRow]:
        return [
            StoredRow(row["metadata"]["source"], row["text"], row["vector"])
            for row in self._rows.values()
        ]

    def wanted(self, size: int) -> list[Place]:
        return [Place(chunk.metadata["source"], chunk.page_content) for chunk in self._chunks(size)]

    def _chunks(self, size: int, only: Sequence[str] = ()) -> list[Document]:
        characters = size * _CHARACTERS
        splitter = RecursiveCharacterTextSplitter(
            chunk_size=characters, chunk_overlap=characters // 5
        )
        documents = [
            Document(path.read_text("utf-8"), metadata={"source": name})
            for name, path in files_in(self._folder, only)
        ]
        return splitter.split_documents(documents)


def incremental(folder: Path) -> LangChainSystem:
    return LangChainSystem(folder, full=False)


def full(folder: Path) -> LangChainSystem:
    return LangChainSystem(folder, full=True)
