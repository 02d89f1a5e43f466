"""Which writing system a character belongs to, as ranges of Unicode blocks.

The constants are the inside of a character class for :mod:`re`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter

HAN_AND_KANA = (
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303c\u3041-\u3096\u3099\u309a"
    "\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
)
"""Written without spaces; one sign often is a word."""

HANGUL = "\u1100-\u11ff\u3131-\u318e\ua960-\ua97c\uac00-\ud7a3\ud7b0-\ud7fb"
"""Written with spaces, but with particles that stick to their words."""

SOUTHEAST_ASIAN = (
    "\u0e01-\u0e3a\u0e40-\u0e4e"  # Thai
    "\u0e81-\u0ecd\u0edc-\u0edf"  # Lao
    "\u1000-\u103f\u1050-\u109f"  # Myanmar
    "\u1780-\u17d3\u17d7\u17dc\u17dd"  # Khmer
)
"""Written without spaces; a word is several signs. Digits and punctuation are left out."""

MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1-\u05c2\u05c4-\u05c5\u05c7\u0610-\u061a"
    "\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u0711-\u07f3\u07fd\u0816-\u082d"
    "\u0859-\u085b\u0898-\u08e1\u08e3-\u0963\u0981-\u09e3\u09fe-\u0a75\u0a81-\u0ae3\u0afa-\u0b63"
    "\u0b82-\u0bd7\u0c00-\u0c63\u0c81-\u0c83\u0cbc-\u0d4d\u0d57-\u0d63\u0d81-\u0df3\u0f18\u0f19"
    "\u0f35\u0f37\u0f39\u0f3e-\u0f84\u0f86-\u0fbc\u0fc6\u135d-\u135f\u1712-\u1734\u1752-\u1773"
    "\u180b-\u180d\u180f-\u193b\u1a17-\u1a1b\u1a55-\u1a7f\u1ab0-\u1b44\u1b6b-\u1b73\u1b80-\u1bf3"
    "\u1c24-\u1c37\u1cd0-\u1cd2\u1cd4-\u1dff\u2cef-\u2cf1\u2d7f-\u2dff\u302a-\u302f\ua66f-\ua672"
    "\ua674-\ua67d\ua69e-\ua6f1\ua802-\ua827\ua82c\ua880-\ua8c5\ua8e0-\ua8f1\ua8ff-\ua92d"
    "\ua947-\ua953\ua980-\ua9c0\ua9e5-\uaa4d\uaa7b-\uaac1\uaaeb-\uaaef\uaaf5\uaaf6\uabe3-\uabea"
    "\uabec\uabed\ufb1e\ufe20-\ufe2f\U00010a01-\U00010a3f\U00011000-\U00011046"
    "\U00011070-\U000110ba\U000110c2\U00011100-\U00011134\U00011145-\U00011173"
    "\U00011180-\U000111c0\U000111c9-\U000111cc\U000111ce\U000111cf\U0001122c-\U00011237"
    "\U0001123e\U000112df-\U00011446\U0001145e-\U000114c3\U000115af-\U000115c0"
    "\U000115dc-\U00011640\U000116ab-\U000116b7\U0001171d-\U0001172b\U0001182c-\U0001183a"
    "\U0001e000-\U0001e136\U0001e8d0-\U0001e94a"
)
r"""Vowel signs and accents, which ``\w`` leaves out although words are written with them.

From the Unicode general categories Mn, Mc and Me; ranges with nothing but letters between them
are joined. Variation selectors and enclosing marks of symbols are left out.
"""

_SAMPLE_PIECES = 8
_SAMPLE_PIECE = 512

_BLOCKS = """
    0000 latin  0370 greek  0400 cyrillic  0530 armenian  0590 hebrew  0600 arabic  0700 other
    0750 arabic  0780 other  0870 arabic  0900 devanagari  0980 bengali  0A00 gurmukhi
    0A80 gujarati  0B00 odia  0B80 tamil  0C00 telugu  0C80 kannada  0D00 malayalam  0D80 sinhala
    0E00 thai  0E80 lao  0F00 tibetan  1000 myanmar  10A0 georgian  1100 hangul  1200 ethiopic
    13A0 other  1780 khmer  1800 other  1C80 cyrillic  1C90 georgian  1CC0 other  1D00 latin
    1F00 greek  2000 latin  2C00 other  2C60 latin  2C80 other  2DE0 cyrillic  2E00 other
    2E80 cjk  3131 hangul  3190 cjk  A000 other  A640 cyrillic  A6A0 other  A720 latin  A800 other
    A960 hangul  A980 other  AB30 latin  AB70 other  AC00 hangul  D800 other  F900 cjk  FB00 latin
    FB13 armenian  FB1D hebrew  FB50 arabic  FE00 other  FE70 arabic  FF00 latin  FF66 cjk
    FFA0 hangul  FFDD other  1D400 latin  1D800 other  20000 cjk  32400 other
""".split()
"""First code point of a row of blocks, and the script of its letters."""
_BLOCK_STARTS = [int(start, 16) for start in _BLOCKS[::2]]
_BLOCK_SCRIPTS = _BLOCKS[1::2]


def script_of(character: str) -> str:
    """Script of a letter, by its block: ``latin``, ``cjk`` (Han and kana), ``hangul`` …"""
    return _BLOCK_SCRIPTS[bisect_right(_BLOCK_STARTS, ord(character)) - 1]


def detect_script(text: str) -> str:
    """Script of most letters of ``text``, or ``"none"`` if it has no letters.

    Looks at 8 pieces of 512 code points spread evenly over a longer text. Of scripts with equal
    shares the first by name is given.
    """
    shares = script_shares(text)
    return min(shares, key=lambda script: (-shares[script], script), default="none")


def script_shares(text: str) -> dict[str, float]:
    """Share of each script among the letters of ``text``, looked at as :func:`detect_script`
    does; empty if it has no letters."""
    counts: Counter[str] = Counter()
    for character, count in Counter(_sample(text)).items():
        if character.isalpha():
            counts[script_of(character)] += count
    return {script: count / counts.total() for script, count in counts.items()}


def _sample(text: str) -> str:
    if len(text) <= _SAMPLE_PIECES * _SAMPLE_PIECE:
        return text
    last = len(text) - _SAMPLE_PIECE
    starts = (last * index // (_SAMPLE_PIECES - 1) for index in range(_SAMPLE_PIECES))
    return "".join(text[start : start + _SAMPLE_PIECE] for start in starts)
