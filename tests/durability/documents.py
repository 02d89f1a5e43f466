"""Folders of Markdown and what happens to them between two syncs."""

from __future__ import annotations

import os
import random
from pathlib import Path

WORDS = tuple(
    "anchor basin cedar delta ember fjord grove harbour inlet jetty kelp lagoon marsh nectar oasis "
    "prairie quarry ridge summit tundra upland valley willow yarrow zenith amber birch clover dune "
    "estuary fern glacier heath isle juniper knoll loam meadow".split()
)
SHARED = "## Shared\n\nThis passage stands in several documents and is to be embedded once only.\n"
OLD = 1_600_000_000
"""Seconds since 1970. A file that was written just now would be read again in any case."""

CHUNKING = {"max_tokens": 64, "target_tokens": 50, "min_tokens": 8}
SMALLER = {"max_tokens": 40, "target_tokens": 30, "min_tokens": 4}
DOCUMENTS = 26


def text(seed: int) -> str:
    """A document of two to five passages that no other seed gives; some share one."""
    draw = random.Random(seed)
    parts = [f"# Document {seed}\n"]
    for section in range(draw.randint(2, 3)):
        parts.append(f"## Section {section} of {seed}\n")
        parts.append(" ".join(draw.choices(WORDS, k=draw.randint(25, 45))) + ".\n")
    if draw.random() < 0.3:
        parts.append(SHARED)
    return "\n".join(parts)


def name(number: int) -> str:
    return f"{'abc'[number % 3]}/{number:03}.md"


def write(root: Path, document: str, content: str, seconds: int = OLD) -> None:
    """Store ``content`` under the name ``document`` with a time of change long ago."""
    path = root / document
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, "utf-8")
    os.utime(path, (seconds, seconds))


def make(root: Path) -> None:
    """The first state."""
    (root / "merestone.toml").write_text("", "utf-8")
    for number in range(DOCUMENTS):
        write(root, name(number), text(number))


def change(root: Path) -> None:
    """Edits, renames, an exchange of names, deletions and new documents."""
    for number in range(13):
        content = text(number)
        if number % 2:
            content = content.replace("Section 1", "Section one")
        else:
            first = content.index("## Section 1")
            content = content[:first] + "## New\n\n" + text(2000 + number)[-200:] + content[first:]
        write(root, name(number), content, OLD + 60)
    (root / "moved").mkdir()
    for number in range(13, 16):
        os.replace(root / name(number), root / "moved" / f"{number}.md")
    one, other = text(16), text(17)
    write(root, name(16), other, OLD + 60)
    write(root, name(17), one, OLD + 60)
    for number in range(18, 22):
        (root / name(number)).unlink()
    for number in range(DOCUMENTS, DOCUMENTS + 5):
        write(root, name(number), text(number), OLD + 60)


def words_of(root: Path) -> list[str]:
    """Every word of every document, once."""
    found: set[str] = set()
    for path in root.rglob("*.md"):
        found.update(path.read_text("utf-8").lower().split())
    return sorted(word for word in found if word.isalpha())
