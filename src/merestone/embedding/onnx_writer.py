"""Writing an ONNX graph without the package ``onnx``, whose protobuf runtime is large.

Only what :mod:`merestone.embedding.encoder_graph` needs of the format
(https://github.com/onnx/onnx/blob/main/onnx/onnx.proto): every number beside ``_field`` is a field
number from there.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

FLOAT, INT32, INT64 = 1, 6, 7
"""Types of the values of a tensor."""

_IR_VERSION = 8
_OPSET = 17
_FUSED_DOMAIN = "com.microsoft"
_FLOAT_ATTRIBUTE, _INT_ATTRIBUTE = 1, 2
_EXTERNAL = 1


class GraphWriter:
    """Nodes in the order in which they were added, and the constants that they name."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._nodes: list[bytes] = []
        self._constants: dict[str, bytes] = {}
        self._inputs: list[bytes] = []
        self._outputs: list[bytes] = []

    def take(self, name: str, kind: int, shape: Sequence[int | str]) -> str:
        """Declare an input; a size that varies has a name."""
        self._inputs.append(_value(name, kind, shape))
        return name

    def give(self, name: str, shape: Sequence[int | str]) -> None:
        """Declare a float32 output."""
        self._outputs.append(_value(name, FLOAT, shape))

    def constant(self, name: str, *shape: int) -> str:
        """Declare a float32 weight, whose values are handed in when the graph is opened."""
        place = _bytes(1, b"location") + _bytes(2, b"weights")
        self._constants[name] = (
            b"".join(_number(1, size) for size in shape)
            + _number(2, FLOAT)
            + _bytes(8, name.encode())
            + _bytes(13, place)
            + _number(14, _EXTERNAL)
        )
        return name

    def integers(self, name: str, values: Sequence[int]) -> str:
        """A list of int64 that is part of the graph."""
        self._constants[name] = (
            _number(1, len(values))
            + _number(2, INT64)
            + _bytes(8, name.encode())
            + _bytes(9, struct.pack(f"<{len(values)}q", *values))
        )
        return name

    def add(
        self,
        operator: str,
        inputs: Sequence[str],
        *,
        output: str = "",
        fused: bool = False,
        lists: dict[str, Sequence[int]] | None = None,
        **attributes: float | int,
    ) -> str:
        """Append a node and return the name of its output."""
        output = output or f"n{len(self._nodes)}"
        parts = [_bytes(1, name.encode()) for name in inputs]
        parts += [_bytes(2, output.encode()), _bytes(4, operator.encode())]
        parts += [_bytes(5, _attribute(name, value)) for name, value in attributes.items()]
        parts += [_bytes(5, _int_list(name, values)) for name, values in (lists or {}).items()]
        if fused:
            parts.append(_bytes(7, _FUSED_DOMAIN.encode()))
        self._nodes.append(b"".join(parts))
        return output

    def written(self) -> bytes:
        """The model as a file would hold it."""
        graph = (
            b"".join(_bytes(1, node) for node in self._nodes)
            + _bytes(2, self._name.encode())
            + b"".join(_bytes(5, constant) for constant in self._constants.values())
            + b"".join(_bytes(11, each) for each in self._inputs)
            + b"".join(_bytes(12, each) for each in self._outputs)
        )
        return (
            _number(1, _IR_VERSION)
            + _bytes(7, graph)
            + _bytes(8, _bytes(1, b"") + _number(2, _OPSET))
            + _bytes(8, _bytes(1, _FUSED_DOMAIN.encode()) + _number(2, 1))
        )


def _attribute(name: str, value: float | int) -> bytes:
    if isinstance(value, int):
        return _bytes(1, name.encode()) + _number(3, value) + _number(20, _INT_ATTRIBUTE)
    packed = _key(2, 5) + struct.pack("<f", value)
    return _bytes(1, name.encode()) + packed + _number(20, _FLOAT_ATTRIBUTE)


def _int_list(name: str, values: Sequence[int]) -> bytes:
    listed = b"".join(_number(8, value) for value in values)
    return _bytes(1, name.encode()) + listed + _number(20, 7)


def _value(name: str, kind: int, shape: Sequence[int | str]) -> bytes:
    sizes = [
        _number(1, size) if isinstance(size, int) else _bytes(2, size.encode()) for size in shape
    ]
    dimensions = b"".join(_bytes(1, size) for size in sizes)
    tensor = _number(1, kind) + _bytes(2, dimensions)
    return _bytes(1, name.encode()) + _bytes(2, _bytes(1, tensor))


def _key(field: int, wire: int) -> bytes:
    return _varint(field << 3 | wire)


def _number(field: int, value: int) -> bytes:
    return _key(field, 0) + _varint(value & 0xFFFF_FFFF_FFFF_FFFF)


def _bytes(field: int, value: bytes) -> bytes:
    return _key(field, 2) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    """Seven bits a byte, lowest first; the highest bit says that more follow."""
    written = bytearray()
    while value > 0x7F:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    written.append(value)
    return bytes(written)
