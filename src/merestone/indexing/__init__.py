"""Sources to a library: scan, plan, sync, verify."""

from merestone.indexing.access import Policy, open_policy
from merestone.indexing.archive import Manifest, read_archive, write_archive
from merestone.indexing.indexer import Indexer
from merestone.indexing.pipeline import open_pipeline, raw_document, read_path
from merestone.indexing.readers import Readers
from merestone.indexing.verification import Verification, embedder_changed, examine_store

__all__ = [
    "Indexer",
    "Manifest",
    "Policy",
    "Readers",
    "Verification",
    "embedder_changed",
    "examine_store",
    "open_pipeline",
    "open_policy",
    "raw_document",
    "read_archive",
    "read_path",
    "write_archive",
]
