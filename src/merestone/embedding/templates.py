"""What a model wants to be written around a text, such as ``passage: ``."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from merestone.text.hashing import digest
from merestone.types import SettingsError, Tokenizer

PLAIN = "{text}"


def check_template(template: str, setting: str) -> str:
    """``template``, if it has one place for the text; else a ``SettingsError``."""
    if template.count(PLAIN) != 1:
        raise SettingsError(
            "bad-template",
            f"embedding.{setting} = {template!r} does not have {PLAIN} once.",
            f'Write it like "passage: {PLAIN}".',
        )
    return template


def fill(template: str, text: str) -> str:
    """The text as the model reads it."""
    return template.replace(PLAIN, text)


def around(template: str) -> tuple[str, str]:
    """What stands before and behind the text."""
    before, _, behind = template.partition(PLAIN)
    return before, behind


class TemplatedTokenizer:
    """A tokenizer that counts what the template adds to each input among the special tokens, so
    that whoever cuts by it leaves room."""

    def __init__(self, tokenizer: Tokenizer, template: str) -> None:
        self._tokenizer = tokenizer
        self._template = template

    @property
    def name(self) -> str:
        return self._tokenizer.name

    @cached_property
    def fingerprint(self) -> str:
        return digest("templated", self._tokenizer.fingerprint, self._template)

    @cached_property
    def special_tokens(self) -> int:
        added = sum(self._tokenizer.counts([part for part in around(self._template) if part]))
        # Where counts don't add up, the two ends of the text may join their neighbours otherwise.
        return self._tokenizer.special_tokens + added + (0 if self._tokenizer.adds_up else 2)

    @property
    def adds_up(self) -> bool:
        return self._tokenizer.adds_up

    def counts(self, texts: Sequence[str]) -> list[int]:
        return self._tokenizer.counts(texts)

    def starts(self, text: str) -> Sequence[int]:
        return self._tokenizer.starts(text)


def with_template(tokenizer: Tokenizer, template: str) -> Tokenizer:
    """``tokenizer``, counting what ``template`` adds."""
    return tokenizer if template == PLAIN else TemplatedTokenizer(tokenizer, template)
