"""Draft questions from what a document says of itself: headings, terms, names, key sentences.

Plain rules, no model. Such questions share words with their answers, as real ones often don't.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from merestone.evaluation.questions.rarity import Rarity
from merestone.text.sentences import sentence_spans
from merestone.text.white_space import stripped
from merestone.types import Block, Document

Rule = Literal["heading", "definition", "symbol", "sentence"]

_SHORTEST, _LONGEST = 40, 1500
"""Code points of an answer."""
_PROSE = frozenset({"paragraph", "list_item", "record", "table_row"})
_WORDS_IN_SENTENCE = range(8, 41)
_KEYWORDS = 5
_FEWEST_KEYWORDS = 3

_GENERAL = frozenset(
    "introduction overview summary notes note references contents index examples example usage "
    "description license licence changelog contributing acknowledgements abstract background "
    "conclusion conclusions discussion methods results appendix details synopsis options see also "
    "table of contents further reading external links author authors history".split()
)
"""Words of headings that stand in any document; a heading of nothing else asks nothing."""
_NUMBERING = re.compile(
    r"^(?:(?:chapter|section|part|step)\s+)?[\divxlc]+(?:\.\d+)*[.):]?\s+", re.I
)
_MARKS = re.compile(r"[`*]{1,3}(?=\S)|(?<=\S)[`*]{1,3}|\[([^\]]*)\]\([^)]*\)|[¶#]+\s*$")
_ASKING = re.compile(r"(?:what|why|when|where|who|which|how|can|does|do|is|are|should)\b", re.I)
_HOW_TO = re.compile(r"how to\s+(?=\S)", re.I)
_DOING = re.compile(r"[a-z]{2,}ing\b\s+\S", re.I)
_ENGLISH = frozenset("the of and to in is that for it with as be on are this by an or not".split())
_ENGLISH_SHARE = 0.15
_LOOKED_AT = 500


class Draft(NamedTuple):
    """A question that ``document.text[start:end]`` answers."""

    question: str
    start: int
    end: int
    rule: Rule


def drafts_of(document: Document, rarity: Rarity) -> Iterator[Draft]:
    """All drafts of a document. Whole questions in English texts, keywords in others."""
    is_english = _is_english(document)
    body = [block for block in document.blocks if block.layer == "body"]
    yield from _of_headings(document, body, is_english)
    for block in body:
        if block.kind == "definition" and "term" in block.attributes:
            yield from _of_term(document, block, is_english)
        elif block.kind == "symbol" and block.attributes.get("name"):
            yield from _of_symbol(document, block, is_english)
    for block in body:
        if block.kind in _PROSE:
            yield from _of_sentences(document, block, rarity)


def passages_of(document: Document) -> Iterator[str]:
    """The pieces of text among which words are rare or not."""
    for block in document.blocks:
        if block.layer == "body" and block.kind in (
            "paragraph",
            "list_item",
            "record",
            "table_row",
        ):
            yield document.text[block.start : block.end]


def _of_headings(document: Document, body: list[Block], is_english: bool) -> Iterator[Draft]:
    headings = [block for block in body if block.kind == "heading"]
    above: list[tuple[int, str]] = []
    for number, block in enumerate(headings):
        level = block.level or 1
        above = [(other, words) for other, words in above if other < level]
        low, high = block.attributes.get("content") or (block.start, block.end)
        words = _plain(document.text[low:high])
        place = above[-1][1] if above else _plain(document.title or "")
        above.append((level, words))
        following = headings[number + 1].start if number + 1 < len(headings) else document.body_end
        answer = _answer(document, body, block.end, following)
        question = _asked(words, place, is_english)
        if answer and question:
            yield Draft(question, *answer, "heading")


def _asked(heading: str, place: str, is_english: bool) -> str:
    """The question that a heading answers; empty if it says too little."""
    words = re.findall(r"\w+", heading.casefold())
    if not words or all(word in _GENERAL or word.isdigit() for word in words):
        return ""
    if heading.endswith(("?", "\uff1f", "\u061f")):
        return heading
    if is_english and (match := _HOW_TO.match(heading)):
        return f"How do I {_lowered(heading[match.end() :])}?"
    if is_english and _ASKING.match(heading):
        return f"{heading}?"
    if is_english and _DOING.match(heading):
        return f"What should I know about {_lowered(heading)}?"
    if place and place.casefold() not in heading.casefold():
        return f"{place}: {heading}"
    return heading if len(words) > 1 else ""


def _answer(document: Document, body: list[Block], start: int, end: int) -> tuple[int, int] | None:
    """The text of a section up to its first subheading: whole blocks, as far as not too long."""
    start, end = stripped(document.text, start, max(start, end))
    if end - start > _LONGEST:
        ends = [block.end for block in body if start < block.end <= start + _LONGEST]
        start, end = stripped(document.text, start, max(ends, default=start))
    return (start, end) if end - start >= _SHORTEST else None


def _of_term(document: Document, block: Block, is_english: bool) -> Iterator[Draft]:
    low, high = block.attributes["term"]
    term = _plain(document.text[low:high])
    start, end = stripped(document.text, block.start, block.end)
    if term and _SHORTEST <= end - start <= _LONGEST:
        title = _plain(document.title or "")
        asked = f"What is {term}?" if is_english else f"{title} {term}".strip()
        yield Draft(asked, start, end, "definition")


def _of_symbol(document: Document, block: Block, is_english: bool) -> Iterator[Draft]:
    name = str(block.attributes["name"])
    start, end = stripped(document.text, block.start, block.end)
    if name.strip("_") and _SHORTEST <= end - start <= _LONGEST:
        kind = str(block.attributes.get("symbol_kind") or "")
        yield Draft(f"What does the {kind} {name} do?".replace("  ", " "), start, end, "symbol")


def _of_sentences(document: Document, block: Block, rarity: Rarity) -> Iterator[Draft]:
    """Of a block's sentences the most telling, asked for by its rarest words."""
    best: tuple[float, str, int, int] | None = None
    for low, high in sentence_spans(document.text, block.start, block.end):
        start, end = stripped(document.text, low, high)
        sentence = document.text[start:end]
        is_spaced = " " in sentence
        if (is_spaced and len(sentence.split()) not in _WORDS_IN_SENTENCE) or end - start < 20:
            continue
        keywords = rarity.keywords(sentence, _KEYWORDS)
        if len(keywords) < _FEWEST_KEYWORDS or end - start > _LONGEST:
            continue
        weight = rarity.weight(keywords)
        if best is None or weight > best[0]:
            best = weight, " ".join(word for word, _ in keywords), start, end
    if best:
        _, question, start, end = best
        yield Draft(question, start, end, "sentence")


def _plain(words: str) -> str:
    """A heading without its marks and numbers, on one line."""
    bare = _MARKS.sub(lambda match: match[1] or "", " ".join(words.split()))
    return _NUMBERING.sub("", bare).strip(" :.\u2014-")


def _lowered(words: str) -> str:
    """The first letter small, but for names and abbreviations."""
    first = words.split()[0] if words.split() else ""
    is_word = first[1:].islower() or len(first) == 1
    return words[:1].lower() + words[1:] if is_word else words


def _is_english(document: Document) -> bool:
    if document.language:
        return document.language.lower().split("-")[0] in ("en", "english")
    words = re.findall(r"[^\W\d_]+", document.text[: 8 * _LOOKED_AT])[:_LOOKED_AT]
    shared = sum(word.lower() in _ENGLISH for word in words)
    return bool(words) and shared / len(words) >= _ENGLISH_SHARE
