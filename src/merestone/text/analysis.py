"""The terms of a text: one analyser for what is indexed, what is asked, and the focus.

A term is a lower case word without accents, stemmed by its language. An identifier gives itself,
whole, and its parts. Parts and wholes of letters alone are stemmed too, so that ``userIds`` and
``userids`` are one term; with marks or digits in them they stay. Scripts without spaces give pairs
of neighbouring signs. No word is left out as too common: that is the ranking's business.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from itertools import chain, pairwise

import Stemmer

from merestone.text.graphemes import grapheme_ends
from merestone.text.scripts import HAN_AND_KANA, HANGUL, MARKS, SOUTHEAST_ASIAN, script_of
from merestone.text.scripts import detect_script as detect_script

REVISION = 1
"""Raised when the terms of any text change, so that an index made before is made again."""

MAX_TERM = 64
"""A longer term is cut to its first 64 code points."""

_CACHED_PIECE = 40
_CACHE_SIZE = 1 << 16
_PARTS_KEPT = 1 << 14

_STEMMERS = {
    "ar": ("arabic", "arabic"),
    "ca": ("catalan", "latin"),
    "cs": ("czech", "latin"),
    "da": ("danish", "latin"),
    "de": ("german", "latin"),
    "el": ("greek", "greek"),
    "en": ("english", "latin"),
    "eo": ("esperanto", "latin"),
    "es": ("spanish", "latin"),
    "et": ("estonian", "latin"),
    "eu": ("basque", "latin"),
    "fa": ("persian", "arabic"),
    "fi": ("finnish", "latin"),
    "fr": ("french", "latin"),
    "ga": ("irish", "latin"),
    "hi": ("hindi", "devanagari"),
    "hu": ("hungarian", "latin"),
    "hy": ("armenian", "armenian"),
    "id": ("indonesian", "latin"),
    "it": ("italian", "latin"),
    "lt": ("lithuanian", "latin"),
    "nb": ("norwegian", "latin"),
    "ne": ("nepali", "devanagari"),
    "nl": ("dutch", "latin"),
    "nn": ("norwegian", "latin"),
    "no": ("norwegian", "latin"),
    "pl": ("polish", "latin"),
    "pt": ("portuguese", "latin"),
    "ro": ("romanian", "latin"),
    "ru": ("russian", "cyrillic"),
    "sr": ("serbian", "latin"),
    "st": ("sesotho", "latin"),
    "sv": ("swedish", "latin"),
    "ta": ("tamil", "tamil"),
    "tr": ("turkish", "latin"),
    "yi": ("yiddish", "hebrew"),
}
"""Language code → name of its Snowball stemmer and the script that it reads."""

_NAMES = {name: code for code, (name, _) in _STEMMERS.items() if code not in ("nb", "nn")}


def terms(text: str, language: str | None = None) -> list[str]:
    """Terms of ``text`` in order, with repetitions. No term holds white space or controls.

    ``language`` is a code such as ``"de"`` or ``"de-AT"``, or an English name. It stems the words
    of its own script. Of the rest, words of ASCII letters are stemmed as English and, where no
    language is known, Greek and Cyrillic words as Greek and Russian; others stay as they are.
    Accents are removed before stemming, so a word gives the same term typed without them.
    """
    code = _language_code(language)
    pieces = text.split()
    return list(chain.from_iterable(map(_memory(code).__getitem__, pieces)))


def query_terms(text: str, language: str | None = None) -> list[str]:
    """The different terms of ``text``, each at its first place."""
    return list(dict.fromkeys(terms(text, language)))


def is_identifier(query: str) -> bool:
    """True if ``query`` is one token that is looked up rather than understood.

    Such a token has a digit, ``_``, ``.``, ``::`` or ``--`` in it, or a capital behind a small
    letter or before one. Quotes, brackets and punctuation around it don't count, nor does text in
    a script without spaces.
    """
    pieces = query.split()
    if len(pieces) != 1:
        return False
    prepared = _prepared(pieces[0])
    runs = list(_runs(prepared))
    if not any(map(str.isalnum, prepared)) or any(run.lastgroup != "word" for run in runs):
        return False
    token = prepared[runs[0].start() : runs[-1].end()]
    return _IDENTIFIER.search(token) is not None or any(
        _is_camel(word) for word in _WEAK_MARKS.split(token)
    )


# What a run is. Each quantifier is possessive or parted from the next by its class, so that the
# time is linear in whatever text.

_JOINTS = r".\-/\\:@#+&=%~?$"
_ENDS_C_SHARP = r"(?<=[A-Za-z])(?<!\w[A-Za-z])\#(?![\w\#])"


def _run_pattern(word: str) -> str:
    """Pattern of a word or identifier whose characters match ``word``."""
    inner = rf"(?:[{_JOINTS}]{{1,4}}{word})"
    return rf"""
        (?P<word>
            (?:(?<![\w.\-/])(?:--?|[./])(?={word}))?  # --no-cache, .NET, /etc
            {word}
            (?: {inner}
              | '{word}
              | (?<=\d),(?=\d{{3}}(?!\d)){word}  # 1,000
              | \[{word}{inner}*\]  # error[E0277]
            )*
            (?:\+\+(?![\w+])|{_ENDS_C_SHARP})?
        )
    """


_CJK = HAN_AND_KANA + HANGUL
_EMOJI = (
    "\u231a\u231b\u23e9-\u23f3\u23f8-\u23fa\u2600-\u27bf\u2b05-\u2b07\u2b1b\u2b1c\u2b50\u2b55"
    "\U0001f000-\U0001f1e5\U0001f200-\U0001f3fa\U0001f400-\U0001faff"
)
_FLAG = "[\U0001f1e6-\U0001f1ff]"
_WORD = rf"(?:(?![{_CJK}{SOUTHEAST_ASIAN}])[\w{MARKS}])++"

_ASCII_RUN = re.compile(_run_pattern(r"\w++"), re.VERBOSE | re.ASCII)
_RUN = rf"""
    {_run_pattern(_WORD)}
    | (?P<cjk>[{_CJK}]+)
    | (?P<clusters>[{SOUTHEAST_ASIAN}]+)
    | (?P<emoji>{_FLAG}{_FLAG}?|[{_EMOJI}])
"""

_IDENTIFIER = re.compile(r"[\d_.]|::|--")
_VERSION = re.compile(r"[vV]\d+(?:\.\d+)+(?:[.\-+]\w+)*")
_CONTRACTION = re.compile(r"(?<=\w)'(?:s|re|ve|ll|d|m|(t))$", re.IGNORECASE)

_STRONG_MARKS = re.compile(r"[/\\:@&=%~?$\[\],]+")
_STOPS = re.compile(r"\.+")
_WEAK_MARKS = re.compile(rf"[{_JOINTS}\[\],'_]+")
_UNSTEMMED = re.compile(rf"[{_JOINTS}\[\]'_\d]")


@cache
def _any_run() -> re.Pattern[str]:
    """Compiled when first needed: that takes longer than the rest of this module's import."""
    return re.compile(_RUN, re.VERBOSE)


def _runs(prepared: str) -> Iterator[re.Match[str]]:
    return (_ASCII_RUN if prepared.isascii() else _any_run()).finditer(prepared)


class _Memory(dict[str, tuple[str, ...]]):
    """Terms of pieces in one language. A plain look-up, since each word of a text makes one."""

    def __init__(self, code: str) -> None:
        super().__init__()
        self._code = code

    def __missing__(self, piece: str) -> tuple[str, ...]:
        found = tuple(_piece_terms(piece, self._code))
        if len(piece) <= _CACHED_PIECE:
            # Words come by their frequency: what is common is back at once.
            if len(self) >= _CACHE_SIZE:
                self.clear()
            self[piece] = found
        return found


@cache
def _memory(code: str) -> _Memory:
    return _Memory(code)


_OPENING, _CLOSING = "([{<\"'`*,;:!?|=@$%&~^#+\\", ")]}>\"'`*,;:!?|=@$%&~^.-/\\"
"""What may stand around a word and is no part of a run of ASCII characters there."""


def _piece_terms(piece: str, code: str) -> list[str]:
    """Terms of a piece of text without white space."""
    if piece.isascii():
        word = piece.lstrip(_OPENING).rstrip(_CLOSING)
        if word.isalpha() and not _is_camel(word):
            return [_stem(word.lower()[:MAX_TERM], code)]
        if word.isdigit():
            return [word[:MAX_TERM]]
    found: list[str] = []
    for run in _runs(_prepared(piece)):
        kind, content = run.lastgroup, run[0]
        if kind == "word":
            found.extend(_word_terms(content, code))
        elif kind == "cjk":
            found.extend(_pairs(content))
        elif kind == "clusters":
            found.extend(_pairs(_clusters(content)))
        else:
            found.append(content)
    return found


def _pairs(signs: Sequence[str]) -> list[str]:
    """Each two neighbours as one term; a sign that stands alone is a term itself."""
    if len(signs) == 1:
        return [signs[0][:MAX_TERM]]
    return [(left + right)[:MAX_TERM] for left, right in pairwise(signs)]


def _clusters(run: str) -> list[str]:
    return [run[start:end] for start, end in pairwise([0, *grapheme_ends(run)])]


# Characters

_DROPPED = re.compile(
    "[\u00ad\u034f\u0591-\u05bd\u05bf\u05c1\u05c2\u061c\u0640\u064b-\u0652\u0670\u180b-\u180e\u200c-\u200f\u202a-\u202e\u2060-\u206f\u20e3\ufe00-\ufe0f"
    "\ufeff\U0001f3fb-\U0001f3ff\U000e0000-\U000e01ef©®™℠]+"
)
"""What does not change a word: hyphens that may show, joiners, directions, variants, skin tones,
vowel points of Hebrew and Arabic."""

_ALIKE = str.maketrans({"’": "'", "ʼ": "'", "‘": "'", "＇": "'", "\u2010": "-", "\u2011": "-"})
_UNDECOMPOSED = str.maketrans(
    {"æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "ħ": "h", "ı": "i", "ł": "l", "ŧ": "t"}
    | {"þ": "th"}
)
_ACCENTS = re.compile("([A-Za-z\u00c0-\u024f\u0370-\u03ff\u1e00-\u1fff])[\u0300-\u036f]+")
_CYRILLIC_ACCENTS = re.compile("(?<=е)\u0308[\u0300\u0301]*|(?<=[\u0400-\u04ff])[\u0300\u0301]+")

_MAX_MARKS = 30
"""Marks on one sign, as in the Stream-Safe Text Format of UAX #15; more only cost time."""


def _prepared(piece: str) -> str:
    """``piece`` in its compatibility form, without what can't be seen."""
    if piece.isascii():
        return piece
    cleaned = _DROPPED.sub("", piece).translate(_ALIKE)
    normal = unicodedata.normalize("NFKC", _with_few_marks(cleaned))
    # The compatibility form parts the vowel AM of Thai and Lao, which is one sign.
    return normal.replace("\u0e4d\u0e32", "\u0e33").replace("\u0ecd\u0eb2", "\u0eb3")


def _with_few_marks(text: str) -> str:
    """Normalising sorts the marks of a sign, which takes the square of their number."""
    if len(text) <= 2 * _MAX_MARKS:
        return text
    kept: list[str] = []
    marks = 0
    for character in text:
        marks = marks + 1 if unicodedata.combining(character) else 0
        if marks <= _MAX_MARKS:
            kept.append(character)
    return "".join(kept)


def _folded(word: str) -> str:
    """Lower case without accents. Marks that make another letter (й, ガ, Indic vowels) stay."""
    if word.isascii():
        return word.lower()
    decomposed = unicodedata.normalize("NFD", word.casefold().translate(_UNDECOMPOSED))
    plain = _CYRILLIC_ACCENTS.sub("", _ACCENTS.sub(r"\1", decomposed))
    return unicodedata.normalize("NFC", plain)


# Words and identifiers


def _word_terms(run: str, code: str) -> list[str]:
    """The run as a whole, then its parts from the largest to the words."""
    word = _CONTRACTION.sub(r"\1", run) if "'" in run else run
    if word.isalpha() and not _is_camel(word):
        return [_term(word, code)]
    parts: list[str] = []
    _collect_parts(word, 0, parts)
    if _VERSION.fullmatch(word):
        parts.append(word[1:])
    return [_term(part, code) for part in parts if any(map(str.isalnum, part))]


def _collect_parts(token: str, level: int, parts: list[str]) -> None:
    """``token``, and what it falls into at path marks, affixes, stops, other marks, capitals."""
    parts.append(token)
    if token.isalnum():
        level = _CAPITALS  # without marks only capitals part it
    for index in range(level, len(_SPLITS)):
        smaller = _SPLITS[index](token)
        if smaller != [token]:
            for part in smaller:
                _collect_parts(part, index + 1, parts)
            return


def _split_paths(token: str) -> list[str]:
    return [part for part in _STRONG_MARKS.split(token) if part]


def _strip_affixes(token: str) -> list[str]:
    return [part for part in [token.strip("-+.#'")] if part]


def _split_stops(token: str) -> list[str]:
    return [part for part in _STOPS.split(token) if part]


def _split_words(token: str) -> list[str]:
    return [part for part in _WEAK_MARKS.split(token) if part]


def _split_capitals(word: str) -> list[str]:
    """``getUserById`` → get, User, By, Id; ``HTTPServer2`` → HTTP, Server, 2."""
    if not _is_camel(word):
        return [word]
    cuts = [0]
    for index in range(1, len(word)):
        last, this, following = word[index - 1], word[index], word[index + 1 : index + 2]
        if (
            this.isupper() and (last.islower() or (last.isupper() and following.islower()))
        ) or this.isdigit() != last.isdigit():
            cuts.append(index)
    cuts.append(len(word))
    return [word[start:end] for start, end in pairwise(cuts)]


_SPLITS = (_split_paths, _strip_affixes, _split_stops, _split_words, _split_capitals)
_CAPITALS = _SPLITS.index(_split_capitals)


def _is_camel(word: str) -> bool:
    """True for small letters and inner capitals, but not for plurals of acronyms (``URLs``)."""
    if word.islower() or word.isupper() or word[1:].islower():
        return False
    if word[-1:] == "s" and word[:-1].isupper():
        return False
    return any(map(str.isupper, word[1:])) and any(map(str.islower, word))


@lru_cache(maxsize=_PARTS_KEPT)
def _term(part: str, code: str) -> str:
    """A part as a term. The same parts come in many identifiers."""
    folded = _folded(part.replace(",", ""))[:MAX_TERM]
    if folded.isalpha() or not _UNSTEMMED.search(folded):
        return _stem(folded, code)
    return folded


# Stems

_local = threading.local()


def _language_code(language: str | None) -> str:
    """Key of :data:`_STEMMERS`; ``"?"`` for a language without a stemmer, ``""`` for none."""
    if not language:
        return ""
    name = language.strip().lower().replace("_", "-").split("-")[0]
    code = _NAMES.get(name, name)
    return code if code in _STEMMERS else "?"


def _stem(word: str, code: str) -> str:
    if not word:
        return word
    name = _stemmer_name("" if word.isascii() else script_of(word[0]), code)
    return str(_stemmer(name).stemWord(word)) or word if name else word


@lru_cache(maxsize=1024)
def _stemmer_name(script: str, code: str) -> str:
    """Stemmer of a word's script, which is ``""`` for ASCII; ``""`` if it stays as it is."""
    if code in _STEMMERS and _STEMMERS[code][1] == (script or "latin"):
        return _STEMMERS[code][0]
    if not script:
        return "english"
    return "" if code else {"greek": "greek", "cyrillic": "russian"}.get(script, "")


def _stemmer(name: str) -> Stemmer.Stemmer:
    """A stemmer of this thread: one object must not be used by two at once."""
    stemmers: dict[str, Stemmer.Stemmer] = _local.__dict__
    if name not in stemmers:
        # Words are cached with their piece; the stemmer's own cache would only take memory.
        stemmers[name] = Stemmer.Stemmer(name, 0)
    return stemmers[name]
