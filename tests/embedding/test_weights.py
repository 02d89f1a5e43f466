from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from merestone.embedding.weights import read_tensors, restore


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """One table and one matrix of int8 with scales, and one vector."""
    floats = np.array([0.5, 0.25, 2.0, 4.0, 1.5], "<f4").tobytes()
    integers = np.array([[1, -2], [3, 4], [10, 20], [30, -40]], "i1").tobytes()
    header = {
        "__metadata__": {"format": "pt"},
        "table.scale": {"dtype": "F32", "shape": [2, 1], "data_offsets": [0, 8]},
        "matrix.scale": {"dtype": "F32", "shape": [1, 2], "data_offsets": [8, 16]},
        "bias": {"dtype": "F32", "shape": [1], "data_offsets": [16, 20]},
        "table": {"dtype": "I8", "shape": [2, 2], "data_offsets": [20, 24]},
        "matrix": {"dtype": "I8", "shape": [2, 2], "data_offsets": [24, 28]},
    }
    text = json.dumps(header).encode()
    path = tmp_path / "weights.safetensors"
    path.write_bytes(len(text).to_bytes(8, "little") + text + floats + integers)
    return path


def test_tensors_come_with_name_type_and_shape(file: Path) -> None:
    tensors = read_tensors(file)
    assert set(tensors) == {"table", "table.scale", "matrix", "matrix.scale", "bias"}
    assert tensors["matrix"].dtype == np.int8
    assert tensors["matrix"].tolist() == [[10, 20], [30, -40]]
    assert tensors["table.scale"].tolist() == [[0.5], [0.25]]


def test_matrices_are_multiplied_back_and_what_is_kept_stays(file: Path) -> None:
    restored = restore(read_tensors(file), ("table",))
    assert set(restored) == {"table", "table.scale", "matrix", "bias"}
    assert restored["matrix"].dtype == np.float32
    assert restored["matrix"].tolist() == [[20, 80], [60, -160]]
    assert restored["table"].dtype == np.int8
    assert restored["bias"].tolist() == [1.5]


def test_rows_are_scaled_by_row(file: Path) -> None:
    assert restore(read_tensors(file), ())["table"].tolist() == [[0.5, -1], [0.75, 1]]


@pytest.mark.parametrize("data", [b"12345678 not json", b"\x02" + b"\0" * 7 + b"[]"])
def test_other_files_are_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "other"
    path.write_bytes(data)
    with pytest.raises((ValueError, KeyError)):
        read_tensors(path)
