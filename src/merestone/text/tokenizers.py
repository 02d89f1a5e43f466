"""Counting and placing tokens with the very tokenizer of a model."""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterator, Sequence
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

_SURROGATES = dict.fromkeys(range(0xD800, 0xE000), "\ufffd")


def without_surrogates(text: str) -> str:
    """``text`` with each lone surrogate replaced by U+FFFD, so that UTF-8 can hold it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.translate(_SURROGATES)
    return text


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
        part = self._description.get("pre_tokenizer")
        return isinstance(part, dict) and part.get("type") == "BertPreTokenizer"

    def counts(self, texts: Sequence[str]) -> list[int]:
        found: list[int] = []
        for batch in _batches(texts):
            clean = [without_surrogates(text) for text in batch]
            encodings = self._tokenizer.encode_batch_fast(clean, add_special_tokens=False)
            found.extend(len(encoding) for encoding in encodings)
        return found

    def starts(self, text: str) -> array[int]:
        found = array("q")
        clean = without_surrogates(text)
        for start, end in _windows(clean):
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
    adds_up = True

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


def _windows(text: str) -> Iterator[tuple[int, int]]:
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
