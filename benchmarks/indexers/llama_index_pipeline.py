"""LlamaIndex's ``IngestionPipeline`` with docstore, cache and its simple vector store.

Files are read as documents with their name as id, which no embedder input shows, and cut by
SentenceSplitter with an overlap of a fifth.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from llama_index.core import Document
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.ingestion import DocstoreStrategy, IngestionCache, IngestionPipeline
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.schema import BaseNode, MetadataMode
from llama_index.core.storage.docstore import SimpleDocumentStore
from llama_index.core.vector_stores import SimpleVectorStore
from pydantic import PrivateAttr

from indexers.embedder import NamedEmbedder
from indexers.rows import Place, StoredRow, files_in


class _Bridge(BaseEmbedding):
    _embedder: NamedEmbedder = PrivateAttr()

    def __init__(self, embedder: NamedEmbedder) -> None:
        super().__init__(model_name=embedder.name)
        self._embedder = embedder

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return self._embedder.embed(texts)

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._embedder.embed([text])[0]

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)


class _Store(SimpleVectorStore):
    """The simple store keeps no texts; this one can be asked for them."""

    _texts: dict[str, str] = PrivateAttr(default_factory=dict)

    def add(self, nodes: Sequence[BaseNode], **add_kwargs: Any) -> list[str]:
        for node in nodes:
            self._texts[node.node_id] = _input(node)
        return super().add(nodes, **add_kwargs)

    def rows(self) -> list[StoredRow]:
        return [
            StoredRow(self.data.text_id_to_ref_doc_id[identifier], self._texts[identifier], vector)
            for identifier, vector in self.data.embedding_dict.items()
        ]


class LlamaIndexSystem:
    """The pipeline is made anew for each run, around stores that stay."""

    def __init__(self, folder: Path, strategy: DocstoreStrategy) -> None:
        self._folder = folder
        self._strategy = strategy
        self._documents = SimpleDocumentStore()
        self._cache = IngestionCache()
        self._store = _Store()

    def sync(self, size: int, embedder: NamedEmbedder, only: Sequence[str] = ()) -> None:
        pipeline = IngestionPipeline(
            transformations=[_splitter(size), _Bridge(embedder)],
            docstore=self._documents,
            docstore_strategy=self._strategy,
            vector_store=self._store,
            cache=self._cache,
        )
        pipeline.run(documents=self._read(only))

    def rows(self) -> list[StoredRow]:
        return self._store.rows()

    def wanted(self, size: int) -> list[Place]:
        nodes = _splitter(size).get_nodes_from_documents(self._read())
        return [Place(node.ref_doc_id or "", _input(node)) for node in nodes]

    def _read(self, only: Sequence[str] = ()) -> list[Document]:
        return [
            Document(text=path.read_text("utf-8"), id_=name)
            for name, path in files_in(self._folder, only)
        ]


def _splitter(size: int) -> SentenceSplitter:
    # Then chunks are about as long as Merestone's, which keep below their limit.
    tokens = size * 3 // 4
    return SentenceSplitter(chunk_size=tokens, chunk_overlap=tokens // 5)


def _input(node: BaseNode) -> str:
    return str(node.get_content(metadata_mode=MetadataMode.EMBED))


def upserts(folder: Path) -> LlamaIndexSystem:
    return LlamaIndexSystem(folder, DocstoreStrategy.UPSERTS)


def upserts_and_delete(folder: Path) -> LlamaIndexSystem:
    return LlamaIndexSystem(folder, DocstoreStrategy.UPSERTS_AND_DELETE)
