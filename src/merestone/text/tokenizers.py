"""Counting and placing tokens with the very tokenizer of a model."""

from __future__ import annotations

import json
import re
import string
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from merestone.text.hashing import digest
from merestone.types import SettingsError

if TYPE_CHECKING:
    from tokenizers import Tokenizer as HuggingFaceTokenizer

_WINDOW = 16_384
"""Code points handed over at a time. The tokenizer needs about 160 bytes of memory for a byte of
text, so a large document never goes in whole."""

TIGHT_SPACES = " \t\r\n\u00a0\u1680\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
"""White space at which every tokenizer that adds up parts words. Not all of ``str.isspace``:
BERT's normaliser takes the information separators and vertical tabs for nothing at all."""

_WORDS = 4096
"""Words handed over at a time."""
_REMEMBERED = 24 << 20
"""Bytes, more or less, that pieces and their counts may take at a time."""
_OF_PIECE = 100
"""Bytes that one takes besides its characters."""

_PROBES = (
    "The quick brown fox doesn't jump over 3.14159 lazy dogs, e.g. at 12:30!",
    "  def f(x_1,\ty):\r\n\r\n    return x_1 ** 2  # café naïve ≠ \u1e9b\u0323\n",
    "snake_case CamelCase https://example.org/a/b?c=d#e <tag attr='v'> -- ... … — “q”",
    "中文。日本語 한국어 ภาษา العربية हिन्दी 👩\u200d👧 e\u0301",
    " x  y\n z \n\n w .\n. ,\n ( a ) [b]\t\u00a0c\u3000d",
)
"""What pieces are proven on before their counts are trusted."""

_HAN = (
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0002a6df\U0002a700-\U0002ceaf\U0002f800-\U0002fa1f"
)
_PUNCTUATION = re.escape(string.punctuation)
_BERT_PIECE = re.compile(rf"[^{TIGHT_SPACES}{_PUNCTUATION}{_HAN}]+|[{_PUNCTUATION}]|[{_HAN}]")
_MARKS = string.punctuation.encode()
_AS_SPACES = bytes(32 if code in b"\t\n\r" + _MARKS else code for code in range(256))
_BEFORE_SPACE = re.compile(r"(?<=\S)(?= \S)")

_Pieces = tuple[Sequence[str | bytes], int]
"""Pieces of a text, and the tokens of what is in none of them."""
_Split = Callable[[str], _Pieces]

_SURROGATES = dict.fromkeys(range(0xD800, 0xE000), "\ufffd")


def without_surrogates(text: str) -> str:
    """``text`` with each lone surrogate replaced by U+FFFD, so that UTF-8 can hold it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.translate(_SURROGATES)
    return text


def _splitter(description: Mapping[str, object]) -> _Split | None:
    """A function that cuts a text where the tokenizer parts it in any case."""
    kind = _pre_tokenizers(description)
    if kind == ["BertPreTokenizer"]:
        return _bert_pieces
    if kind and kind[-1] in ("ByteLevel", "Metaspace") and set(kind[:-1]) <= {"Split", "Digits"}:
        return _pieces_before_spaces
    return None


def _pre_tokenizers(description: Mapping[str, object]) -> list[str]:
    part = description.get("pre_tokenizer")
    if not isinstance(part, dict):
        return []
    parts = part.get("pretokenizers") if part.get("type") == "Sequence" else [part]
    return [str(each.get("type")) for each in parts] if isinstance(parts, list) else []


class FileTokenizer:
    """A tokenizer described by a ``tokenizer.json`` of the Hugging Face format.

    Truncation and padding that the file may switch on are switched off: they would make every
    count wrong without a word. The file is read when the first count is asked for.
    """

    def __init__(self, path: Path, data: bytes) -> None:
        self._path = path
        self._data = data

    @classmethod
    def from_file(cls, path: str | Path) -> FileTokenizer:
        """Take the tokenizer at ``path``; a missing or broken file is a ``SettingsError``."""
        path = Path(path)
        try:
            data = path.read_bytes()
            known = isinstance(json.loads(data), dict)
        except (OSError, ValueError, RecursionError):
            known = False
        if not known:
            raise _unreadable(f"{path} is not a tokenizer.json that can be read.")
        return cls(path, data)

    @cached_property
    def _tokenizer(self) -> HuggingFaceTokenizer:
        from tokenizers import Tokenizer

        try:
            tokenizer = Tokenizer.from_buffer(self._data)
        except Exception as error:
            raise _unreadable(f"{self._path} is JSON, but not a tokenizer: {error}.") from error
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return tokenizer

    @cached_property
    def _description(self) -> dict[str, object]:
        loaded: dict[str, object] = json.loads(self._data)
        return loaded

    @property
    def name(self) -> str:
        return self._path.stem if self._path.stem != "tokenizer" else self._path.parent.name

    @cached_property
    def fingerprint(self) -> str:
        described = {
            key: value
            for key, value in self._description.items()
            if key not in ("truncation", "padding")
        }
        return digest("tokenizer", json.dumps(described, sort_keys=True))

    @cached_property
    def special_tokens(self) -> int:
        return self._tokenizer.num_special_tokens_to_add(False)

    @cached_property
    def adds_up(self) -> bool:
        # BERT's pre-tokenizer parts at white space and forgets it, so that no token depends on
        # what stands on the other side. (Line ends and space separators, that is: its normaliser
        # drops other controls.) Byte-level models glue the space to the word behind it.
        return _pre_tokenizers(self._description) == ["BertPreTokenizer"]

    @cached_property
    def _memory(self) -> PieceCounts | None:
        """Counts of pieces that add up; ``None`` for tokenizers of whose pieces nothing is known.

        Words repeat, so that remembered counts are several times as fast as the tokenizer.
        """
        split = _splitter(self._description)
        if split is None:
            return None
        tokens = self._description.get("added_tokens")
        given = tokens if isinstance(tokens, list) else []
        added = [str(token["content"]) for token in given if token.get("content")]
        count = self._count_words if self.adds_up else self._count_each
        memory = PieceCounts(split, count, added)
        # What is known of the tokenizer is read from its description: proven before it is used.
        agrees = [memory.counts([probe]) for probe in _PROBES] == [
            self._count_each([probe]) for probe in _PROBES
        ]
        return memory if agrees else None

    def counts(self, texts: Sequence[str]) -> list[int]:
        if self._memory is not None:
            return self._memory.counts(texts)
        return self._count_each(texts)

    def _count_words(self, words: Sequence[str]) -> list[int]:
        """As :meth:`_count_each` for many short texts that would be parted anyway: as words of one
        text they need neither threads nor an encoding each."""
        found: list[int] = []
        for first in range(0, len(words), _WORDS):
            clean = [without_surrogates(word) for word in words[first : first + _WORDS]]
            encoding = self._tokenizer.encode(clean, is_pretokenized=True, add_special_tokens=False)
            counts = Counter(encoding.word_ids)
            found += [counts[index] for index in range(len(clean))]
        return found

    def _count_each(self, texts: Sequence[str]) -> list[int]:
        found: list[int] = []
        for batch in _batches(texts):
            clean = [without_surrogates(text) for text in batch]
            encodings = self._tokenizer.encode_batch_fast(clean, add_special_tokens=False)
            found.extend(len(encoding) for encoding in encodings)
        return found

    def starts(self, text: str) -> array[int]:
        found = array("q")
        clean = without_surrogates(text)
        for start, end in line_windows(clean):
            encoding = self._tokenizer.encode(clean[start:end], add_special_tokens=False)
            found.extend(start + offset for offset, _ in encoding.offsets)
        return found

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """Token ids of each text, special tokens included, nothing truncated."""
        found: list[list[int]] = []
        for batch in _batches(texts):
            clean = [without_surrogates(text) for text in batch]
            found.extend(encoding.ids for encoding in self._tokenizer.encode_batch_fast(clean))
        return found

    def encode_placed(self, text: str) -> tuple[array[int], array[int], array[int]]:
        """Token ids of a text of any length without special tokens, and where each token begins
        and ends. Read in windows cut behind line ends, as :meth:`starts` reads it."""
        ids, starts, ends = array("q"), array("q"), array("q")
        clean = without_surrogates(text)
        for begin, stop in line_windows(clean):
            encoding = self._tokenizer.encode(clean[begin:stop], add_special_tokens=False)
            ids.extend(encoding.ids)
            starts.extend(begin + start for start, _ in encoding.offsets)
            ends.extend(begin + end for _, end in encoding.offsets)
        return ids, starts, ends

    @cached_property
    def special_ids(self) -> tuple[list[int], list[int]]:
        """Special tokens before and behind each input."""
        encoding = self._tokenizer.encode("a")
        own = [place for place, mark in enumerate(encoding.special_tokens_mask) if not mark]
        first, last = (own[0], own[-1] + 1) if own else (len(encoding.ids), len(encoding.ids))
        return list(encoding.ids[:first]), list(encoding.ids[last:])


class PieceCounts:
    """Counts of texts as sums of the remembered counts of their pieces.

    ``split`` cuts a text where the counts of both sides add up; ``count`` counts pieces that are
    not known yet. A text that holds one of ``whole``, which a tokenizer looks for before it parts
    anything, is counted as it is.
    """

    def __init__(
        self,
        split: _Split,
        count: Callable[[Sequence[str]], list[int]],
        whole: Sequence[str],
    ) -> None:
        self._split = split
        self._count = count
        self._whole = tuple(whole)
        self._known: dict[str | bytes, int] = {}
        self._size = 0

    def counts(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text."""
        split = [self._parts(text) for text in texts]
        known = self._known
        found: list[int] = []
        later: list[int] = []
        unknown: set[str | bytes] = set()
        for index, (pieces, more) in enumerate(split):
            try:
                found.append(more + sum(map(known.__getitem__, pieces)))
            except KeyError:
                found.append(0)
                later.append(index)
                unknown.update(pieces)
        if later:
            self._learn(known, list(unknown.difference(known)))
            for index in later:
                pieces, more = split[index]
                found[index] = more + sum(map(known.__getitem__, pieces))
            if self._size > _REMEMBERED:
                self._known, self._size = {}, 0
        return found

    def _learn(self, known: dict[str | bytes, int], pieces: Sequence[str | bytes]) -> None:
        written = [piece if isinstance(piece, str) else piece.decode() for piece in pieces]
        known.update(zip(pieces, self._count(written), strict=True))
        self._size += sum(map(len, pieces)) + _OF_PIECE * len(pieces)

    def _parts(self, text: str) -> _Pieces:
        for token in self._whole:
            if token in text:
                return [text], 0
        return self._split(text)


def _bert_pieces(text: str) -> _Pieces:
    """BERT makes a word of each ideograph and of each ASCII punctuation mark, which is one token
    at most and at least."""
    if not text.isascii():
        return _BERT_PIECE.findall(text), 0
    data = text.encode()
    return data.translate(_AS_SPACES).split(b" "), len(data) - len(data.translate(None, _MARKS))


def _pieces_before_spaces(text: str) -> _Pieces:
    """Byte-level and similar tokenizers glue a space to the word behind it."""
    return _BEFORE_SPACE.split(text), 0


class WordTokenizer:
    """One token for each run of characters other than white space: a stand-in that needs no file.

    It serves tests and rough budgets. Models count differently.
    """

    name = "words"
    special_tokens = 0
    adds_up = True

    @property
    def fingerprint(self) -> str:
        return digest("tokenizer", "words")

    def counts(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) for text in texts]

    def starts(self, text: str) -> array[int]:
        found = array("q")
        inside = False
        for offset, character in enumerate(text):
            if character.isspace():
                inside = False
            elif not inside:
                found.append(offset)
                inside = True
        return found


class CharacterTokenizer:
    """One token for each code point: for limits in characters, and for tests."""

    name = "characters"
    special_tokens = 0
    adds_up = False

    @property
    def fingerprint(self) -> str:
        return digest("tokenizer", "characters")

    def counts(self, texts: Sequence[str]) -> list[int]:
        return [len(text) for text in texts]

    def starts(self, text: str) -> array[int]:
        return array("q", range(len(text)))


def _unreadable(message: str) -> SettingsError:
    remedy = "Name the tokenizer.json file of the model that will read the text."
    return SettingsError("tokenizer-unreadable", message, remedy)


def _batches(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    """Groups of texts of bounded size together."""
    first, size = 0, 0
    for index, text in enumerate(texts):
        if size and size + len(text) > 16 * _WINDOW:
            yield texts[first:index]
            first, size = index, 0
        size += len(text)
    if first < len(texts):
        yield texts[first:]


def line_windows(text: str) -> Iterator[tuple[int, int]]:
    """Ranges that tile ``text``, cut behind line ends where there are any, else behind spaces."""
    start = 0
    while start < len(text):
        end = min(len(text), start + _WINDOW)
        if end < len(text):
            for separator in ("\n", "\r", " "):
                found = text.rfind(separator, start, end)
                if found > start:
                    end = found + 1
                    break
        yield start, end
        start = end
