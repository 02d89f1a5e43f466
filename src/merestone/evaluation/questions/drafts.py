"""Draft questions from what a document says of itself: headings, terms, names, key sentences.

Plain rules, no model. Such questions share words with their answers, as real ones often don't.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise
from typing import Literal, NamedTuple

from merestone.evaluation.questions.rarity import Rarity
from merestone.text.sentences import sentence_spans
from merestone.text.white_space import stripped
from merestone.types import Block, Document

Rule = Literal["heading", "definition", "symbol", "sentence", "topic", "words"]
"""``topic`` is a heading and ``words`` are words of a sentence, where no question could be made of
them: someone has to."""
UNWORDED: frozenset[Rule] = frozenset({"topic", "words"})

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
_QUESTION_MARKS = ("?", "\uff1f", "\u061f")
_ASKING = re.compile(r"(?:what|why|when|where|who|which|how|can|does|do|is|are|should)\b", re.I)
_HOW_TO = re.compile(r"how to\s+(?=\S)", re.I)
_TASK = re.compile(
    r"(?:add|build|change|check|choose|clean|close|configure|connect|create|define|delete|deploy|"
    r"disable|download|enable|export|find|get|import|install|make|move|open|prepare|read|remove|"
    r"replace|report|restore|run|save|send|set|start|stop|test|turn|update|upgrade|use|verify|"
    r"write)\s+(?:up\s+|off\s+|on\s+)?(?:an?|the|your|all|new)\s+\S",
    re.I,
)
_SUBJECT = re.compile(
    r"((?:(?:the|an?)\s)?(?:[\w'.-]+\s){0,5}?[\w'-]+)\s"
    r"(?:is|are|was|were|has|have|had|can|may|must|should|will|would|means|contains|provides|"
    r"requires|needs|allows|supports|uses|becomes|remains)\b",
    re.I,
)
"""What a sentence that begins so is about: up to six words and an article."""
_POINTING = frozenset(
    "this these that those it its they there here he she we you i one some such both each all "
    "if when where while what which who how why in on at by for from with to of as and but or so "
    "not no after before although because since then also however".split()
)
"""Words that begin no name of a thing, or point to one that was named before."""
_ARTICLES = frozenset({"a", "an", "the"})
_PREPOSITIONS = frozenset("of in on at by for from with to into over under".split())
_WHENEVER = re.compile(
    r"when\s+(?!(?:do|does|did|is|are|was|were|can|may|must|should|will)\b)", re.I
)
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
    small = _SmallWords(document.text)
    yield from _of_headings(document, body, small if is_english else None)
    for block in body:
        if block.kind == "definition" and "term" in block.attributes:
            yield from _of_term(document, block, is_english)
        elif block.kind == "symbol" and block.attributes.get("name"):
            yield from _of_symbol(document, block, is_english)
    for block in body:
        if block.kind in _PROSE:
            yield from _of_sentences(document, block, rarity, small if is_english else None)


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


def _of_headings(
    document: Document, body: list[Block], english: _SmallWords | None
) -> Iterator[Draft]:
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
        question = _asked(words, place, english)
        if answer and question:
            is_bare = not question.endswith(_QUESTION_MARKS)
            yield Draft(question, *answer, "topic" if is_bare else "heading")


class _SmallWords:
    """Tells words from names: what a text writes small somewhere is no name."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def _small(self) -> frozenset[str]:
        return frozenset(re.findall(r"\b[a-z]+\b", self._text))

    def lowered(self, words: str) -> str:
        """``words`` with a small first letter, if they don't begin with a name."""
        first = re.match(r"[^\W\d_]+", words)
        if first is None or first[0].lower() not in self._small or not first[0][1:].islower():
            return words
        return words[:1].lower() + words[1:]


def _asked(heading: str, place: str, english: _SmallWords | None) -> str:
    """The question that a heading answers; empty if it says too little."""
    words = re.findall(r"\w+", heading.casefold())
    if not words or all(word in _GENERAL or word.isdigit() for word in words):
        return ""
    if heading.endswith(_QUESTION_MARKS):
        return heading
    is_placed = bool(place) and place.casefold() not in heading.casefold()
    if english:
        return _asked_in_english(heading, place if is_placed else "", len(words), english)
    if is_placed:
        return f"{place}: {heading}"
    return heading if len(words) > 1 else ""


def _asked_in_english(heading: str, place: str, words: int, small: _SmallWords) -> str:
    if match := _HOW_TO.match(heading):
        return f"How do I {small.lowered(heading[match.end() :])}?"
    if _WHENEVER.match(heading):
        return f"What happens {heading[:1].lower()}{heading[1:]}?"
    if _ASKING.match(heading):
        return f"{heading}?"
    if _TASK.match(heading):
        return f"How do I {heading[:1].lower()}{heading[1:]}?"
    if _DOING.match(heading):
        return f"What should I know about {small.lowered(heading)}?"
    if place:
        return f"{place}: what is said about {small.lowered(heading)}?"
    return f"What is said about {small.lowered(heading)}?" if words > 1 else ""


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


def _of_sentences(
    document: Document, block: Block, rarity: Rarity, english: _SmallWords | None
) -> Iterator[Draft]:
    """Of a block's sentences the most telling: what it says of its subject, or where that is not
    plain, its rarest words."""
    best: tuple[bool, float, str, int, int] | None = None
    for low, high in sentence_spans(document.text, block.start, block.end):
        start, end = stripped(document.text, low, high)
        sentence = document.text[start:end]
        is_spaced = " " in sentence
        if (is_spaced and len(sentence.split()) not in _WORDS_IN_SENTENCE) or end - start < 20:
            continue
        keywords = rarity.keywords(sentence, _KEYWORDS)
        if len(keywords) < _FEWEST_KEYWORDS or end - start > _LONGEST:
            continue
        told = [word for word, _ in keywords]
        subject = _subject(sentence, told, english) if english else ""
        asked = f"What is said about {subject}?" if subject else " ".join(told)
        found = (bool(subject), rarity.weight(keywords), asked, start, end)
        if best is None or found[:2] > best[:2]:
            best = found
    if best:
        is_question, _, question, start, end = best
        yield Draft(question, start, end, "sentence" if is_question else "words")


def _subject(sentence: str, keywords: list[str], small: _SmallWords) -> str:
    """What a sentence is about, if it begins with that and it is told by a rare word; else
    nothing."""
    match = _SUBJECT.match(sentence)
    words = match[1].split() if match else []
    if not words or not set(words).intersection(keywords):
        return ""
    if any(word.casefold() in _POINTING for word in words[:2]) or "." in words[-1]:
        return ""
    pairs = pairwise(word.casefold() for word in words)
    if any(word in _ARTICLES and before not in _PREPOSITIONS for before, word in pairs):
        # A verb stands between: "Customers get an estimate".
        return ""
    return small.lowered(" ".join(words))


def _plain(words: str) -> str:
    """A heading without its marks and numbers, on one line."""
    bare = _MARKS.sub(lambda match: match[1] or "", " ".join(words.split()))
    return _NUMBERING.sub("", bare).strip(" :.\u2014-")


def _is_english(document: Document) -> bool:
    if document.language:
        return document.language.lower().split("-")[0] in ("en", "english")
    words = re.findall(r"[^\W\d_]+", document.text[: 8 * _LOOKED_AT])[:_LOOKED_AT]
    shared = sum(word.lower() in _ENGLISH for word in words)
    return bool(words) and shared / len(words) >= _ENGLISH_SHARE
