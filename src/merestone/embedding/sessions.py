"""Opening a graph with onnxruntime."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

_ERRORS_ONLY = 3


def open_session(
    graph: bytes | str, threads: int, weights: Mapping[str, NDArray[np.float32]] | None = None
) -> InferenceSession:
    """``graph``, the bytes or the path of a model, ready to run on the CPU.

    ``threads``: how many one call computes with; 0 is one a core. ``weights``: values of the
    constants that the graph only names. What onnxruntime raises shares no base but ``Exception``.
    """
    import onnxruntime

    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    options.log_severity_level = _ERRORS_ONLY
    options.inter_op_num_threads = 1
    options.intra_op_num_threads = threads or cores()
    # Waiting threads sleep: an idle server burns nothing, and callers don't fight for cores.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    if weights is not None:
        # onnxruntime copies what it is handed here and drops the copy once it has packed a matrix
        # for multiplication, so that the float32 weights stay in memory once.
        options.add_external_initializers(
            list(weights),
            [onnxruntime.OrtValue.ortvalue_from_numpy(value) for value in weights.values()],
        )
    return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])


def cores() -> int:
    """Cores that this process may use. onnxruntime's own default pins threads to cores."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
