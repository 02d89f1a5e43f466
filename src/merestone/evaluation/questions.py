"""Questions whose answers are spans of documents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from merestone.types import JSON

Match = Literal["all", "any"]
Coordinates = Literal["text", "source"]


@dataclass(frozen=True, slots=True)
class Evidence:
    """A passage that answers, or is part of an answer.

    With ``start`` and ``end`` the quote is what stands there; without them the quote says where
    it is. ``quote``, ``prefix`` and ``suffix`` are the text-quote selector of the W3C Web
    Annotation Data Model (2017), section 4.2.4.
    """

    doc: str
    """The document's id in the library. Empty ``quote`` and no span: the document as a whole."""
    start: int | None = None
    """In code points."""
    end: int | None = None
    quote: str = ""
    prefix: str = ""
    suffix: str = ""
    version: str = ""
    """Of the document that the span was taken in; empty: not known."""
    page: int | None = None
    """From 1."""
    coordinates: Coordinates = "text"
    """``text``: of ``Document.text``; ``source``: of the file decoded as text."""
    grade: int = 1
    """How good the answer is, for measures that know degrees; 0: judged and of no use."""


@dataclass(frozen=True, slots=True)
class Question:
    """One question with its gold."""

    id: str
    question: str
    evidence: tuple[Evidence, ...] = ()
    """Empty: nothing in the library answers it, and saying so is right."""
    match: Match = "all"
    """``all``: a full answer needs every span; ``any``: each alone answers."""
    scope: tuple[str, ...] = ()
    """Documents that the search is limited to; empty: all."""
    tags: tuple[str, ...] = ()
    language: str | None = None
    made: bool = False
    """True: written by a machine. Such questions are easier than real ones and scored apart."""
    principals: tuple[str, ...] = ()
    """Who asks; empty: whoever runs the evaluation."""
    extra: Mapping[str, JSON] = field(default_factory=dict)
    """Keys of the file that mean nothing here; they are kept."""
