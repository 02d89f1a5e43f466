"""What each code of an error, a finding or a status means.

A test holds this list and the codes that the package uses together.
"""

from __future__ import annotations

from difflib import get_close_matches

from merestone.types.errors import NotFoundError

CODES: dict[str, str] = {
    # Settings and wrong use
    "config-exists": "`init` found a merestone.toml and did not overwrite it. Edit the file, or "
    "remove it and run `init` again.",
    "config-unreadable": "A configuration file is not valid TOML, or may not be read. The message "
    "names the file and the place of the fault.",
    "empty-query": "A search needs words. White space alone asks for nothing.",
    "invalid-budget": "A context needs a budget of at least one token.",
    "invalid-chunk-size": "Sizes that can't be met together, such as a target above the limit or "
    "an overlap of more than half a chunk. The message names the setting.",
    "invalid-citation": "A file that was given as a reference does not hold a citation. It needs "
    "the keys document, version, start and end, as every hit has them.",
    "invalid-filter": "The text of a filter can't be read. The message says at which character.",
    "invalid-k": "A search has to ask for at least one hit.",
    "invalid-pattern": "A pattern of a source or an ignore file is not one that git would take.",
    "invalid-setting": "A setting has a value of the wrong type or out of its range.",
    "invalid-window": "Windows need a whole size of at least 1 and an overlap from 0 to size - 1.",
    "max-tokens-too-large": "Chunks would be longer than what the embedder reads; the rest of each "
    "would never be embedded. Lower chunking.max_tokens.",
    "max-tokens-too-small": "The limit has no room for the special tokens, or for a single "
    "character that takes several tokens. Raise it.",
    "no-configuration": "Neither the folder nor any above it holds a merestone.toml. `merestone "
    "init` writes one.",
    "tokenizer-unreadable": "The file is not a tokenizer.json of the Hugging Face format.",
    "unknown-mode": "A search runs in the mode hybrid, dense or lexical.",
    "unknown-plugin": "No strategy, embedder or reader of that name is installed. The message "
    "lists those that are.",
    "unknown-setting": "A configuration file or a MERESTONE_ variable has a key that no setting "
    "has. The message gives the nearest one.",
    "broken-plugin": "A plugin is installed but fails to load. Its package has to be mended or "
    "removed; the log says why.",
    # Sources
    "file-unreadable": "The system does not let the file be read, or it vanished. It is tried "
    "again by the next sync; what is stored stays.",
    "file-unwritable": "The file that an export should go to can't be written.",
    "large-deletion": "More than 30 % of the documents, and more than two, are gone from the "
    "sources: perhaps a folder is not mounted. Nothing was changed. Sync with --allow-deletions "
    "if it is right.",
    "path-is-folder": "A file was wanted and a folder was named.",
    "path-not-found": "A path does not exist, or is in no source and no known document.",
    # Finding things
    "reference-not-found": "No chunk, document or span is known under the reference.",
    "span-not-found": "The document is known, but has no such range of characters.",
    "version-not-found": "The document is known, but its text has changed since that version.",
    # Verification
    "count-differs": "The tokens that a chunk says it has are not those that its tokenizer counts.",
    "cut-differs": "Cutting the stored text again gives other chunks than those stored.",
    "embedder-changed": "The stored vectors are of another embedder than the configured one. "
    "Vectors of two embedders never meet in a search; set the embedder back, or remove "
    ".merestone/library.db and sync again.",
    "not-synced": "A document was cut with other settings than the configured ones. Sync.",
    "over-limit": "A chunk's embedder input is longer than max_tokens.",
    "read-differs": "Reading the source again gives another text than the one stored, although the "
    "bytes are the same.",
    "slice-differs": "A chunk's text is not what stands in the document at its place.",
    "store-inconsistent": "Rows, lexical index and vectors disagree, or the file is damaged.",
    "text-missing": "A document has a record, but no stored text.",
    "text-uncovered": "A character of a document's body is in no chunk and in no dropped range.",
    "vector-differs": "A stored vector is not the one that the chunk's text gives.",
}


def explain(code: str) -> str:
    """The meaning of ``code``; ``NotFoundError``, with the nearest code, for an unknown one."""
    if code in CODES:
        return CODES[code]
    near = get_close_matches(code, CODES, 1)
    hint = f"Did you mean {near[0]}? " if near else ""
    raise NotFoundError(
        "unknown-code",
        f"There is no code {code!r}.",
        f"{hint}Codes stand in square brackets at the end of a message.",
    )
