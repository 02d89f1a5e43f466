"""Where documents come from: folders, object stores, pages, rows and records."""

from merestone.indexing.sources.contents import content_hash
from merestone.indexing.sources.faults import problem_of, too_large, unreadable
from merestone.indexing.sources.identifiers import page_identifier, path_identifier, portable_name
from merestone.indexing.sources.listing import list_source, list_sources, open_source, read
from merestone.indexing.sources.patterns import GIT_IGNORE_FILE, IGNORE_FILE
from merestone.indexing.sources.scope import scope_of
from merestone.indexing.sources.stored import StoredSource
from merestone.types import Listed, Listing, Look, Scope, Source

__all__ = [
    "GIT_IGNORE_FILE",
    "IGNORE_FILE",
    "Listed",
    "Listing",
    "Look",
    "Scope",
    "Source",
    "StoredSource",
    "content_hash",
    "list_source",
    "list_sources",
    "open_source",
    "page_identifier",
    "path_identifier",
    "portable_name",
    "problem_of",
    "read",
    "scope_of",
    "too_large",
    "unreadable",
]
