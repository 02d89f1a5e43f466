"""Bytes to text: which encoding, who says so, and how many bytes could not be read."""

from __future__ import annotations

import codecs
import re
import threading
from dataclasses import dataclass
from typing import Literal

from merestone.types import DocumentWarning, Status

EncodingSource = Literal["mark", "declaration", "zero bytes", "utf-8", "default", "detector"]

# The longest marks first: UTF-32's begins with UTF-16's.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

# A label stands for the superset that documents with it are really in (WHATWG Encoding Standard,
# section 4.2).
_SUPERSETS = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "latin-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "shift_jis": "cp932",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "hz": "gb18030",
    "euc_kr": "cp949",
    "johab": "johab",
    "big5": "big5hkscs",
}

# Codecs that turn bytes into other things than a text's characters, or that no document is in.
_NOT_TEXT = re.compile(
    "base64|bz2|hex|quopri|uu|zlib|rot.?13|idna|punycode|(?:raw.)?unicode.escape|undefined|mbcs|oem"
    "|utf.7"
)

# Encodings by Python's names, in which few bytes that are in another one are a text.
_MULTIBYTE = re.compile(
    r"cp932|cp949|cp950|johab|hz|gb\w+|big5\w*|euc_\w+|iso2022_\w+|shift_jis\w*|utf_\w+"
)

# Encodings of Latin letters in one byte each, cp1252 itself left out.
_OTHER_LATIN = re.compile(
    r"cp(?:037|273|437|500|775|85[0278]|86[0135]|1026|1140|125[0478])|iso8859_(?:[2349]|1[03456])"
    r"|latin_1|hp_roman8|mac_(?:croatian|iceland|latin2|roman|romanian|turkish)"
)

# Signs of cp1252 that do not stand between two letters of a text that is in cp1252.
_SIGN_IN_WORD = re.compile("[^\\W\\d_][¡¢£¤¥¦§¨©«¬®¯°±²³´µ¶¸¹º»¼½¾¿×÷‚ƒ„…†‡ˆ‰‹›“”•˜™€][^\\W\\d_]")

_SAMPLE_BYTES = 200_000
_PARITY_BYTES = 1 << 16
_SURROGATE = re.compile("[\ud800-\udfff]")
# Begins at line starts only: a search from every place of a long line takes the square of it.
_NON_ASCII_LINE = re.compile(rb"(?<![^\n])[^\n]*[\x80-\xff][^\n]*\n?")
_UTF8_SEQUENCE = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
)


@dataclass(frozen=True, slots=True)
class Decoded:
    """A text and how it was read from its bytes. It holds no lone surrogate and no mark."""

    text: str
    encoding: str
    source: EncodingSource
    """Who decided."""
    replaced: int
    """Bytes that stand for nothing in the encoding; each run of them became U+FFFD."""
    confident: bool
    """False if a detector chose among encodings in which nearly any bytes are some text."""
    bom: bool
    """True if the bytes began with a byte order mark, which is one character of the source."""

    @property
    def mark(self) -> int:
        """Characters of the source before the text: 1 behind a byte order mark, else 0."""
        return int(self.bom)

    @property
    def status(self) -> Status:
        return Status.PARTIAL if self.replaced else Status.OK

    @property
    def warnings(self) -> tuple[DocumentWarning, ...]:
        """What a reader of the text should know about its decoding."""
        found = []
        if self.replaced:
            count = f"{self.replaced} byte{'' if self.replaced == 1 else 's'}"
            found.append(
                DocumentWarning(
                    "undecodable-bytes",
                    f"{count} could not be read as {self.encoding} and became U+FFFD.",
                )
            )
        if not self.confident:
            found.append(
                DocumentWarning(
                    "uncertain-encoding",
                    f"The encoding was guessed: {self.encoding}. Accented letters may be wrong; "
                    "set extraction.default_encoding if you know it.",
                )
            )
        return tuple(found)


def decode(data: bytes, *, declared: str | None = None, default: str | None = None) -> Decoded:
    """Read ``data`` as text.

    The first of these that can decide does: a byte order mark; ``declared`` (by transport, XML or
    HTML); the places of zero bytes, which give UTF-16 and UTF-32 away and come before UTF-8
    because ASCII in UTF-16 is valid UTF-8 too; UTF-8, strict, over all bytes; ``default``; UTF-8
    with single errors; a detector. An encoding name that Python doesn't know counts as absent.
    """
    for mark, name in _MARKS:
        if data.startswith(mark):
            return _read(data[len(mark) :], name, "mark", bom=True)
    label = codec_name(declared)
    if label is not None:
        found = _as_declared(data, label)
        if found is not None:
            return found
    wide = wide_encoding(data)
    if wide is not None:
        return _read(data, wide, "zero bytes")
    try:
        return Decoded(data.decode("utf-8"), "utf-8", "utf-8", 0, True, False)
    except UnicodeDecodeError:
        pass
    label = codec_name(default)
    if label is not None:
        return _read(data, label, "default")
    if _is_damaged_utf8(data):
        return _read(data, "utf-8", "utf-8")
    return _as_detected(data)


def codec_name(label: str | None) -> str | None:
    """Python's name of the encoding that documents labelled so are in; ``None`` if unknown."""
    if not label:
        return None
    try:
        name = codecs.lookup(label.strip().strip("\"'")).name
    except (LookupError, ValueError):
        return None
    if _NOT_TEXT.fullmatch(name):
        return None
    return _SUPERSETS.get(name, name)


_LEAST_WIDE_BYTES = 16
"""In less, where zero bytes stand proves nothing."""


def wide_encoding(data: bytes) -> str | None:
    """UTF-16 or UTF-32 without a mark, by where the zero bytes stand; ``None`` if it is neither.

    In a text with spaces, digits or Latin letters many characters have zero high bytes, while
    their low bytes are never zero.
    """
    sample = data[:_PARITY_BYTES]
    if len(sample) < _LEAST_WIDE_BYTES or len(data) % 2 or b"\0" not in sample:
        return None
    places = [sample[place::4].count(0) / len(sample[place::4]) for place in range(4)]
    for name, low, high in (("utf-32-le", 0, 3), ("utf-32-be", 3, 0)):
        middle = 2 if low == 0 else 1
        if places[high] > 0.99 and places[middle] > 0.9 and places[low] < 0.02:
            return name if _decodes(data, name) else None
    even, odd = (places[0] + places[2]) / 2, (places[1] + places[3]) / 2
    if odd > 0.2 and even < 0.02 and _decodes(data, "utf-16-le"):
        return "utf-16-le"
    if even > 0.2 and odd < 0.02 and _decodes(data, "utf-16-be"):
        return "utf-16-be"
    return None


def _decodes(data: bytes, name: str) -> bool:
    """True if ``data`` are without error in this encoding."""
    try:
        data.decode(name)
    except UnicodeDecodeError:
        return False
    return True


class _Counter(threading.local):
    """Counts the bytes that the current thread's decoding replaces."""

    replaced = 0

    def __call__(self, error: UnicodeError) -> tuple[str, int]:
        if not isinstance(error, UnicodeDecodeError):
            raise error
        self.replaced += error.end - error.start
        return "\ufffd", error.end


_counter = _Counter()
codecs.register_error("merestone.count", _counter)


def _read(data: bytes, name: str, source: EncodingSource, *, bom: bool = False) -> Decoded:
    _counter.replaced = 0
    text = data.decode(name, "merestone.count")
    text, surrogates = _SURROGATE.subn("\ufffd", text)
    confident = source != "detector" or bool(_MULTIBYTE.fullmatch(name.replace("-", "_")))
    return Decoded(text, name, source, _counter.replaced + surrogates, confident, bom)


def _as_declared(data: bytes, name: str) -> Decoded | None:
    """``data`` as declared, or ``None`` if the bytes show that the declaration is wrong."""
    if name.startswith(("utf-16", "utf_16", "utf-32", "utf_32")):
        # A declaration that could be read as ASCII was not written in these.
        return None
    found = _read(data, name, "declaration")
    if found.replaced == 0:
        return found
    if name == "utf-8":
        return found if _is_damaged_utf8(data) else None
    return None if _decodes(data, "utf-8") else found


def _is_damaged_utf8(data: bytes) -> bool:
    """True if far more of the non-ASCII bytes are UTF-8 sequences than are not.

    Other encodings hit a valid sequence now and then, hardly ever several times in a row.
    """
    sequences = _UTF8_SEQUENCE.findall(data)
    valid = sum(map(len, sequences))
    high = len(data) - len(data.translate(None, bytes(range(0x80, 0x100))))
    return valid > 8 * (high - valid)


def _as_detected(data: bytes) -> Decoded:
    from charset_normalizer import from_bytes

    sample = _telling_sample(data)
    best = from_bytes(sample).best()
    verdict = best.encoding if best is not None else "cp1252"
    if _OTHER_LATIN.fullmatch(verdict) and _reads_as_cp1252(sample):
        verdict = "cp1252"
    return _read(data, codec_name(verdict) or "cp1252", "detector")


def _telling_sample(data: bytes) -> bytes:
    """The lines that are not pure ASCII, which alone tell encodings apart, up to 200 kB."""
    lines: list[bytes] = []
    size = 0
    for match in _NON_ASCII_LINE.finditer(data):
        lines.append(match[0][: _SAMPLE_BYTES - size])
        size += len(lines[-1])
        if size >= _SAMPLE_BYTES:
            break
    return b"".join(lines)


def _reads_as_cp1252(sample: bytes) -> bool:
    try:
        text = sample.decode("cp1252")
    except UnicodeDecodeError:
        return False
    return _SIGN_IN_WORD.search(text) is None
