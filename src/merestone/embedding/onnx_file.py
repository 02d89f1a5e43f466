"""Embedders from a single ``.onnx`` file with its tokenizer beside it.

Inputs are known by name: ``input_ids``, and where the graph has them ``attention_mask``,
``token_type_ids`` (all 0) and ``position_ids`` (counted from 0). Of the outputs, token vectors are
taken (three axes; ``last_hidden_state`` or ``token_embeddings`` before others) and pooled here;
a graph that gives one vector a text (two axes) is taken at its word.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from merestone.embedding.architectures import UnsuitableModelError
from merestone.embedding.contents import contents_digest
from merestone.embedding.embedder import TokenEmbedder
from merestone.embedding.folder import unsuitable
from merestone.embedding.folder_layout import Layout, read_layout
from merestone.embedding.model import Description, TokenIds, padded
from merestone.embedding.pooling import pool
from merestone.embedding.sessions import open_session
from merestone.text.tokenizers import FileTokenizer
from merestone.types import EmbedderError, EmbeddingSettings, SettingsError, Vectors

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

_INPUTS = frozenset({"input_ids", "attention_mask", "token_type_ids", "position_ids"})
_TOKEN_OUTPUTS = ("last_hidden_state", "token_embeddings")
_TEXT_OUTPUTS = ("sentence_embedding", "pooled", "pooler_output")
_WIDTHS = ("hidden_size", "dim", "d_model")


def open_onnx(path: Path, settings: EmbeddingSettings) -> TokenEmbedder:
    """The embedder of one file. ``tokenizer.json``, and what else describes the model, lies
    beside it or, as in published models, one folder up."""
    try:
        folder = _described_in(path)
        layout = _layout(folder)
        tokenizer = Path(settings.tokenizer or folder / "tokenizer.json")
        identity = {"graph": contents_digest(path), "tokenizer": contents_digest(tokenizer)}
    except UnsuitableModelError as error:
        raise unsuitable(path, str(error)) from error
    except OSError as error:
        raise unsuitable(path, f"a file of it cannot be read ({error})") from error
    except (ValueError, KeyError, TypeError) as error:
        raise unsuitable(path, f"a file that describes it is damaged ({error!r})") from error
    positions = _positions(layout)
    limit = settings.max_tokens or (layout.max_tokens if layout else None) or positions
    if limit is None:
        raise SettingsError(
            "embedder-needs-limit",
            f"Nothing beside {path} says how many tokens the model reads.",
            "Set embedding.max_tokens, as the model's card says.",
        )
    model = OnnxModel(path, tokenizer, _padding(layout), settings.threads)
    described = Description(
        identity={},
        width=_width(layout) or model.width,
        max_tokens=limit if positions is None else min(limit, positions),
        positions=positions or limit,
        pooling=(layout.pooling if layout else None) or "mean",
        passage_template=layout.passage_template if layout else "{text}",
        query_template=layout.query_template if layout else "{text}",
    ).adapted(settings)
    described = described.with_identity({**identity, **described.deciding()})
    return TokenEmbedder(path.stem, "onnx", described, model, settings)


class OnnxModel:
    """A graph of someone else's, opened at the first call."""

    def __init__(self, path: Path, tokenizer: Path, padding: int, threads: int) -> None:
        self._path = path
        self._tokenizer_file = tokenizer
        self._padding = padding
        self._threads = threads
        self._opening = threading.Lock()

    @cached_property
    def tokenizer(self) -> FileTokenizer:
        return FileTokenizer.from_file(self._tokenizer_file)

    @property
    def width(self) -> int:
        """Values of a vector, as the graph declares it."""
        with self._opening:
            session = self._session
        size = _output(session, self._path)[1][-1]
        if not isinstance(size, int):
            raise unsuitable(
                self._path, "neither it nor a config.json says how long its vectors are"
            )
        return size

    def encode(self, rows: Sequence[TokenIds], pooling: str) -> Vectors:
        """See :class:`~merestone.embedding.model.TokenModel`."""
        given = self._run(rows)
        if given.ndim == 2:
            return given
        return pool([given[number, : len(row)] for number, row in enumerate(rows)], pooling)

    def encode_tokens(self, rows: Sequence[TokenIds]) -> list[Vectors]:
        """See :class:`~merestone.embedding.model.TokenModel`."""
        given = self._run(rows)
        if given.ndim == 2:
            raise unsuitable(self._path, "it gives one vector a text and none by token")
        return [given[number, : len(row)] for number, row in enumerate(rows)]

    def _run(self, rows: Sequence[TokenIds]) -> Vectors:
        with self._opening:
            session = self._session
        ids, mask = padded(rows, self._padding)
        values: dict[str, NDArray[np.int32]] = {
            "input_ids": ids,
            "attention_mask": mask,
            "token_type_ids": np.zeros_like(ids),
            "position_ids": np.broadcast_to(np.arange(ids.shape[1], dtype=np.int32), ids.shape),
        }
        inputs = {
            each.name: values[each.name].astype(_INTEGERS.get(each.type, np.int64))
            for each in session.get_inputs()
        }
        try:
            (given,) = session.run([_output(session, self._path)[0]], inputs)
        except EmbedderError:
            raise
        except Exception as error:  # onnxruntime's own errors share no base but this
            raise unsuitable(self._path, f"it cannot be run ({error})") from error
        return np.asarray(given, np.float32)

    @cached_property
    def _session(self) -> InferenceSession:
        try:
            session = open_session(str(self._path), self._threads)
        except Exception as error:  # onnxruntime's own errors share no base but this
            raise unsuitable(self._path, f"onnxruntime cannot open it ({error})") from error
        names = {each.name for each in session.get_inputs()}
        if "input_ids" not in names or names - _INPUTS:
            raise unsuitable(
                self._path,
                f"its inputs are {', '.join(sorted(names))}; input_ids is needed, and beside it "
                "attention_mask, token_type_ids and position_ids can be given",
            )
        return session


_INTEGERS: Mapping[str, type[np.signedinteger]] = {
    "tensor(int32)": np.int32,
    "tensor(int64)": np.int64,
}


def _output(session: InferenceSession, path: Path) -> tuple[str, list[object]]:
    """Name and shape of the output that is taken."""
    shapes = {each.name: list(each.shape) for each in session.get_outputs()}
    for axes, names in ((3, _TOKEN_OUTPUTS), (2, _TEXT_OUTPUTS)):
        for name in (*names, *shapes):
            if name in shapes and len(shapes[name]) == axes:
                return name, shapes[name]
    raise unsuitable(
        path, f"its outputs are {', '.join(sorted(shapes))}, and none holds vectors of text"
    )


def _described_in(path: Path) -> Path:
    for folder in (path.parent, path.parent.parent):
        if (folder / "tokenizer.json").is_file():
            return folder
    return path.parent


def _layout(folder: Path) -> Layout | None:
    return read_layout(folder) if (folder / "config.json").is_file() else None


def _width(layout: Layout | None) -> int | None:
    values = [layout.config.get(key) for key in _WIDTHS] if layout else []
    return next((value for value in values if isinstance(value, int)), None)


def _positions(layout: Layout | None) -> int | None:
    """Longest input by ``config.json``; RoBERTa's kin count positions from behind the padding."""
    value = layout.config.get("max_position_embeddings") if layout else None
    if not isinstance(value, int) or layout is None:
        return None
    if str(layout.config.get("model_type")) in ("roberta", "xlm-roberta", "camembert", "mpnet"):
        value -= _padding(layout) + 1
    return value


def _padding(layout: Layout | None) -> int:
    value = layout.config.get("pad_token_id") if layout else None
    return value if isinstance(value, int) else 0
