"""The configuration that ``init`` writes."""

from __future__ import annotations

from merestone.types import CONTENT_TYPES


def starter(name_of_embedder: str, strategies: list[str], formats: list[str]) -> str:
    """A first ``merestone.toml`` that shows what this installation can do."""
    return f"""\
# What to index, and how. Every key is optional; the values shown are the defaults.
# Formats read here: {", ".join(formats)}.

[[sources]]
path = "."            # relative to this file
# include = ["docs/**"]      # patterns with git's rules
# exclude = ["drafts/"]

[chunking]
strategy = "auto"     # by content type; installed: {", ".join(strategies)}
# max_tokens = 256       # hard limit of what the embedder reads for one chunk
# target_tokens = 204
# min_tokens = 16
# overlap_tokens = 0

# [chunking.types.code]  # settings of one content type: {", ".join(CONTENT_TYPES)}
# max_tokens = 256

[embedding]
model = "{name_of_embedder}"         # runs here, without network

[retrieval]
# dense_weight = 0.5     # 0: words only, 1: meaning only
# candidates = 100
# expand = "structure"   # what a sentence becomes: none, window:2, neighbours:1, section, parent
"""
