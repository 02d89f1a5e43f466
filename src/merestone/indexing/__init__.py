"""Sources to a library: scan, plan, sync, verify."""

from merestone.indexing.indexer import Indexer
from merestone.indexing.pipeline import open_pipeline, raw_document, read_path
from merestone.indexing.verification import Verification, embedder_changed, examine_store

__all__ = [
    "Indexer",
    "Verification",
    "embedder_changed",
    "examine_store",
    "open_pipeline",
    "raw_document",
    "read_path",
]
