"""Content types: the few kinds of documents that are cut differently."""

from __future__ import annotations

from types import MappingProxyType

CONTENT_TYPES = (
    "markdown",
    "rst",
    "html",
    "pdf",
    "office",
    "text",
    "code",
    "data",
    "records",
    "notebook",
)
"""Names for profiles in the configuration. ``data`` is JSON, YAML and their like; ``records`` are
tables and JSON lines; ``text`` is everything that says no more of itself."""

_OFFICE = "application/vnd.o"

_BY_MEDIA_TYPE = MappingProxyType(
    {
        "text/markdown": "markdown",
        "text/x-rst": "rst",
        "text/html": "html",
        "application/xhtml+xml": "html",
        "application/epub+zip": "html",
        "application/pdf": "pdf",
        "text/plain": "text",
        "message/rfc822": "text",
        "text/x-log": "text",
        "text/csv": "records",
        "text/tab-separated-values": "records",
        "application/jsonl": "records",
        "application/x-ipynb+json": "notebook",
        "text/x-ini": "data",
    }
)


def bare_type(media_type: str) -> str:
    """The media type in lower case, without parameters such as ``charset``."""
    return media_type.partition(";")[0].strip().lower()


def content_type(media_type: str) -> str:
    """The content type of a media type, parameters such as ``charset`` ignored."""
    bare = bare_type(media_type)
    if bare in _BY_MEDIA_TYPE:
        return _BY_MEDIA_TYPE[bare]
    if bare.startswith(_OFFICE):
        return "office"
    if bare.startswith("text/"):
        return "code"
    return "data" if bare.startswith(("application/", "image/svg")) else "text"
