"""The structures that a hit may be widened to, and the symbols that a chunk is of."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from merestone.types import JSON, Block, Document

Around = tuple[str, int, int]
"""Kind, start and end of a structure."""

_KINDS = {
    "definition": "definition",
    "symbol": "definition",
    "table": "table",
    "record": "entry",
    "footnote": "entry",
}


class Structures:
    """For each block of one document the innermost structure and the symbols around it."""

    def __init__(self, document: Document) -> None:
        self._blocks: Sequence[Block] = document.blocks

    def of(self, block: int | None) -> Around | None:
        """The innermost structure around ``block``, itself included; ``None``: its section."""
        return None if block is None else self._around[block]

    @cached_property
    def _around(self) -> list[Around | None]:
        found: list[Around | None] = []
        for block in self._blocks:
            kind = _KINDS.get(block.kind)
            if kind is not None:
                found.append((kind, block.start, block.end))
            else:
                found.append(None if block.parent is None else found[block.parent])
        return found

    @cached_property
    def _symbols(self) -> list[tuple[int, ...]]:
        """For each block the symbols around it, outermost first, itself included."""
        found: list[tuple[int, ...]] = []
        for index, block in enumerate(self._blocks):
            above = found[block.parent] if block.parent is not None else ()
            found.append((*above, index) if block.kind == "symbol" else above)
        return found

    @cached_property
    def _has_symbols(self) -> bool:
        return any(block.kind == "symbol" for block in self._blocks)

    def symbols(self, blocks: Sequence[int]) -> dict[str, JSON]:
        """``symbol`` and ``symbol_kind`` of the innermost symbol around all of ``blocks``; of more
        than one within it, their names as ``symbols``."""
        if not self._has_symbols:
            return {}
        chains = [self._symbols[index] for index in blocks]
        common = 0
        while all(len(chain) > common for chain in chains) and (
            len({chain[common] for chain in chains}) == 1
        ):
            common += 1
        found: dict[str, JSON] = {}
        if common:
            around = chains[0][:common]
            found["symbol"] = self._name(around)
            found["symbol_kind"] = self._blocks[around[-1]].attributes.get("symbol_kind", "")
        inside = dict.fromkeys(chain[: common + 1] for chain in chains if len(chain) > common)
        if inside:
            found["symbols"] = [self._name(chain) for chain in inside]
        return found

    def _name(self, chain: Sequence[int]) -> str:
        return ".".join(str(self._blocks[index].attributes.get("name", "")) for index in chain)
