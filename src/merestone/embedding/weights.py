"""Reading the weights of a model out of a safetensors file."""

from __future__ import annotations

import json
import mmap
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Tensor: TypeAlias = "NDArray[Any]"

SCALE = ".scale"
"""The scales of the int8 matrix ``name`` are the tensor ``name.scale``."""

_TYPES: dict[str, np.dtype[Any]] = {
    "F32": np.dtype("<f4"),
    "F16": np.dtype("<f2"),
    "BF16": np.dtype("<u2"),
    "I64": np.dtype("<i8"),
    "I8": np.dtype("i1"),
}
"""bfloat16, which numpy does not have, is read as the 16 bits that it is."""


def read_tensors(path: Path) -> dict[str, Tensor]:
    """The tensors of a safetensors file by name, as views of the mapped file.

    Raises ``OSError`` if it cannot be opened; ``ValueError`` or ``KeyError`` if it is not such a
    file, or holds other types than those of 32 and 16 bit floats and integers.
    """
    with path.open("rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    length = int.from_bytes(mapped[:8], "little")
    header = json.loads(mapped[8 : 8 + length])
    if not isinstance(header, dict):
        raise ValueError(f"{path} has no table of tensors")
    tensors: dict[str, Tensor] = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        start, end = entry["data_offsets"]
        kind = _TYPES[entry["dtype"]]
        flat = np.frombuffer(mapped, kind, (end - start) // kind.itemsize, 8 + length + start)
        tensors[name] = flat.reshape(entry["shape"])
    return tensors


def as_floats(tensor: Tensor) -> NDArray[np.float32]:
    """Values as float32: of 16 bits that stand for a bfloat16, which is the upper half of one,
    and of any other float."""
    if tensor.dtype == np.dtype("<u2"):
        upper = tensor.astype(np.uint32) << 16
        return upper.view(np.float32)
    return np.asarray(tensor, np.float32)


def restore(stored: Mapping[str, Tensor], as_stored: Collection[str]) -> dict[str, Tensor]:
    """Every int8 matrix times its scales in float32, all other tensors as they are.

    Matrices named in ``as_stored`` stay int8 and keep their scales beside them.
    """
    quantised = [name for name in stored if name + SCALE in stored and name not in as_stored]
    restored = {
        name: tensor
        for name, tensor in stored.items()
        if name not in quantised and name.removesuffix(SCALE) not in quantised
    }
    # One large block: freed, it goes back to the system at once, whereas many blocks of a few
    # megabytes stay with the process as holes in its heap.
    block = np.empty(sum(stored[name].size for name in quantised), np.float32)
    end = 0
    for name in quantised:
        start, end = end, end + stored[name].size
        matrix = block[start:end].reshape(stored[name].shape)
        np.multiply(stored[name], stored[name + SCALE], out=matrix)
        restored[name] = matrix
    return restored
