"""The systems that are compared, by name."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import cast

from indexers.rows import System


class MissingError(Exception):
    """A system whose package is not installed."""


@dataclass(frozen=True, slots=True)
class Entry:
    """Where a system's adapter is."""

    name: str
    module: str
    attribute: str
    """Makes the system of a folder of files. State goes into a folder beside it."""
    packages: tuple[str, ...]
    scoped: bool = False
    """True if it can be given some of the files without forgetting the others."""

    def require(self) -> None:
        """Raise :class:`MissingError` without the packages."""
        for package in self.packages:
            try:
                metadata.version(package)
            except metadata.PackageNotFoundError:
                raise MissingError(f"{package} is not installed") from None

    def load(self) -> Callable[[Path], System]:
        """The maker; everything is imported."""
        self.require()
        found = getattr(importlib.import_module(f"indexers.{self.module}"), self.attribute)
        return cast("Callable[[Path], System]", found)

    def versions(self) -> str:
        """The packages with their versions."""
        return ", ".join(f"{package} {metadata.version(package)}" for package in self.packages)


_LANGCHAIN = ("langchain-core", "langchain-classic", "langchain-text-splitters")

SYSTEMS = (
    Entry("Merestone", "merestone_library", "MerestoneSystem", ("merestone",), scoped=True),
    Entry(
        "LangChain index, incremental", "langchain_index", "incremental", _LANGCHAIN, scoped=True
    ),
    Entry("LangChain, full + cache + force", "langchain_index", "full", _LANGCHAIN),
    Entry(
        "LlamaIndex, upserts",
        "llama_index_pipeline",
        "upserts",
        ("llama-index-core",),
        scoped=True,
    ),
    Entry(
        "LlamaIndex, upserts and delete",
        "llama_index_pipeline",
        "upserts_and_delete",
        ("llama-index-core",),
    ),
    Entry("CocoIndex", "cocoindex_app", "CocoIndexSystem", ("cocoindex",)),
)
