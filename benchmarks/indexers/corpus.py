"""Folders of made-up Markdown, the same on every machine."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterator
from pathlib import Path

_LETTERS = "etaoinshrdlucmfwyp"
_KNOWN_WORDS = 20_000
_NEW_WORDS = 0.03
"""Share of words that stand nowhere else, as names and numbers do in texts of any size."""
_FOLDER = 100
_AGE_S = 3600
"""Files look this old: a file that was written just now has to be read to be judged."""


def write_files(folder: Path, count: int, size: int) -> None:
    """``count`` files of about ``size`` bytes, a hundred in each folder."""
    then = time.time() - _AGE_S
    paragraphs = _paragraphs()
    for number in range(count):
        path = folder / f"{number // _FOLDER:04}" / f"{number:06}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        parts = [f"# Document {number}"]
        length = 0
        while length < size:
            # A heading at every fifth paragraph, as in a page of documentation.
            if len(parts) % 6 == 5:
                parts.append(f"## Part {len(parts)}")
            parts.append(next(paragraphs))
            length += len(parts[-1])
        path.write_text("\n\n".join(parts) + "\n", "utf-8")
        os.utime(path, (then, then))


def _paragraphs() -> Iterator[str]:
    chance = random.Random(1)
    known = [_word(chance) for _ in range(_KNOWN_WORDS)]
    while True:
        sentences = []
        for _ in range(chance.randint(2, 6)):
            words = chance.choices(known, k=chance.randint(6, 18))
            words = [_word(chance) if chance.random() < _NEW_WORDS else word for word in words]
            sentences.append(" ".join(words).capitalize() + ".")
        yield " ".join(sentences)


def _word(chance: random.Random) -> str:
    return "".join(chance.choices(_LETTERS, k=chance.randint(2, 10)))
