"""Subtitles: WebVTT (W3C) and SubRip, one ``record`` for each cue."""

from __future__ import annotations

import re

from merestone.extraction.blocks import trimmed
from merestone.types import JSON, Block

_TIMING = re.compile(
    r"^[ \t]*(?P<time>(?:\d+:)?\d{1,2}:\d{2}[.,]\d{1,3})[ \t]*-->[ \t]*(?:\d+:)?\d{1,2}:\d{2}[.,]\d"
    r"[^\r\n]*",
    re.MULTILINE,
)
_CUE = re.compile(
    # An identifier of one line, the timing, and the lines up to a blank one.
    r"(?:^[ \t]*(?P<id>[^\s\-][^\r\n]*)(?:\r\n|\n|\r))?"
    + _TIMING.pattern
    + r"(?:(?:\r\n|\n|\r)(?![ \t]*(?:\r\n|\n|\r|\Z))[^\r\n]+)*",
    re.MULTILINE,
)
_VOICE = re.compile(r"<v(?:\.[^\s>]*)?[ \t]+(?P<speaker>[^>\r\n]{1,60})>")
_NAMED = re.compile(r"(?:>>\s*)?(?P<speaker>[^\W\d_][\w.'’ -]{0,38}?):\s")
_LEAST_CUES = 2


def cue_blocks(text: str) -> tuple[Block, ...]:
    """A ``record`` for each cue, with ``time``, its beginning, and ``speaker`` where the cue names
    one; nothing if ``text`` is no file of subtitles. Comments and styles are in no block."""
    head = text[:20].lstrip()
    if not head.startswith("WEBVTT") and not (head[:1].isdigit() and _TIMING.search(text[:200])):
        return ()
    blocks: list[Block] = []
    for match in _CUE.finditer(text):
        attributes: dict[str, JSON] = {"time": match["time"]}
        content = text[match.end("time") : match.end()].lstrip(" \t")
        said = content.partition("\n")[2] or content.partition("\r")[2]
        voice = _VOICE.search(said) or _NAMED.match(said)
        if voice is not None:
            attributes["speaker"] = voice["speaker"].strip()
        blocks.append(
            Block("record", *trimmed(text, match.start(), match.end()), attributes=attributes)
        )
    return tuple(blocks) if len(blocks) >= _LEAST_CUES else ()
