"""The smallest libraries that questions can be asked of."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from merestone import Library
from merestone.evaluation.questions import Evidence, Question

LEAVE = """# Leave

Every employee has twenty-five days of leave a year.

## Carrying over

Up to five unused days are carried over, and expire at the end of March.

## Sickness

Days of sickness with a certificate do not count as leave.
"""
TRAVEL = """# Travel

Trains are booked two weeks ahead through the travel desk.

## Allowance

The daily allowance in Basel is sixty francs, and needs no receipts.
"""
HANDBOOK = {"leave.md": LEAVE, "travel.md": TRAVEL}


def small_library(
    root: Path, documents: Mapping[str, str] = HANDBOOK, **tables: Mapping[str, Any]
) -> Library:
    """A synced library of ``documents`` in ``root``, by the hashing embedder."""
    for name, text in documents.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    library = Library.open(root, **{"embedding": {"model": "hashing"}, **tables})
    library.sync()
    return library


def many_documents() -> dict[str, str]:
    """More than there are candidates, and a third of them copies of one."""
    words = ["leave", "days", "trains", "expire", "unused", "desk", "francs", "basel"]
    texts = dict(HANDBOOK)
    copied = (
        "# Copy\n\nThe same sentence stands in several places of the handbook, word for word, and "
        "says nothing new to anyone who has read it before.\n"
    )
    for number in range(72):
        about = " ".join(words[(number * step) % len(words)] for step in (1, 3, 5))
        note = f"# Note {number}\n\nA note on {about}, number {number}.\n"
        texts[f"note{number:02}.md"] = note if number % 3 else copied
    return texts


def asking(id_: str, question: str, *quotes: tuple[str, str], **other: Any) -> Question:
    """A question answered by ``quotes``: a document and words of it."""
    return Question(
        id_, question, tuple(Evidence(doc, quote=quote) for doc, quote in quotes), **other
    )


CARRY = asking("carry", "When do unused days of leave expire?", ("leave.md", "end of March"))
TRAINS = asking("trains", "How early are trains booked?", ("travel.md", "two weeks ahead"))
NOTHING = asking("nothing", "What is the capital of France?")
