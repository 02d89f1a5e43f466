"""Sources to a library: scan, plan, sync, verify."""

from merestone.indexing.indexer import Indexer
from merestone.indexing.pipeline import Pipeline, raw_document, read_path
from merestone.indexing.verification import Verification

__all__ = ["Indexer", "Pipeline", "Verification", "raw_document", "read_path"]
