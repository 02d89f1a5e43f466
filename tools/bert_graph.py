"""The fused ONNX graph of a BERT encoder, without its weights.

Every constant is declared with its type and shape as external data; whoever opens the graph hands
in the values by name. Matrices of linear layers are (in, out), with query, key and value side by
side, as the fused operators read them. Only the table of word vectors comes as int8 with a
float32 scale a row, since a text needs a few rows of it; all else is float32.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from onnx import ModelProto, NodeProto, StringStringEntryProto, TensorProto, helper

OPSET = 17
FUSED_OPSET = 1
IR_VERSION = 8

WORDS = "words"
WORD_SCALES = "words.scale"


@dataclass(frozen=True, slots=True)
class Shape:
    """What a graph needs to know of an encoder."""

    dimension: int
    layers: int
    heads: int
    inner: int
    """Width of the feed-forward part."""
    vocabulary: int
    positions: int
    layer_norm_eps: float


def build_graph(shape: Shape) -> ModelProto:
    """The encoder from token ids to the mean of the last layer's token vectors.

    Inputs: ``input_ids`` and ``attention_mask`` (1 for a token, 0 for padding behind the text),
    int32 of shape (batch, tokens). Output: ``pooled``, float32 of shape (batch, dimension), not
    normalised.
    """
    graph = _Graph()
    hidden = _embed(graph, shape)
    for number in range(shape.layers):
        hidden = _layer(graph, shape, hidden, f"layer.{number}")
    _pool(graph, hidden)
    return helper.make_model(
        helper.make_graph(
            graph.nodes,
            "bert",
            [_tokens("input_ids"), _tokens("attention_mask")],
            [
                helper.make_tensor_value_info(
                    "pooled", TensorProto.FLOAT, ["batch", shape.dimension]
                )
            ],
            list(graph.constants.values()),
        ),
        producer_name="merestone",
        ir_version=IR_VERSION,
        opset_imports=[
            helper.make_opsetid("", OPSET),
            helper.make_opsetid("com.microsoft", FUSED_OPSET),
        ],
    )


def _embed(graph: _Graph, shape: Shape) -> str:
    """Sum of word, position and type vectors, normalised: (batch, tokens, dimension)."""
    table = graph.constant(WORDS, shape.vocabulary, shape.dimension, kind=TensorProto.INT8)
    rows = graph.add("Gather", [table, "input_ids"])
    scales = graph.add("Gather", [graph.constant(WORD_SCALES, shape.vocabulary, 1), "input_ids"])
    words = graph.add("Mul", [graph.add("Cast", [rows], to=TensorProto.FLOAT), scales])

    # One text an input, so that every token is of type 0.
    types = graph.constant("types", 2, shape.dimension)
    first_type = graph.add("Gather", [types, graph.integers("zero", [0])])
    places = graph.constant("positions", shape.positions, shape.dimension)
    count = graph.add("Shape", ["input_ids"], start=1, end=2)
    places = graph.add("Slice", [places, graph.integers("zero", [0]), count])

    return graph.add(
        "LayerNormalization",
        [
            graph.add("Add", [words, graph.add("Add", [places, first_type])]),
            graph.constant("norm.weight", shape.dimension),
            graph.constant("norm.bias", shape.dimension),
        ],
        axis=-1,
        epsilon=shape.layer_norm_eps,
    )


def _layer(graph: _Graph, shape: Shape, hidden: str, layer: str) -> str:
    """One transformer layer: attention and feed-forward, each added to its input."""
    width, inner = shape.dimension, shape.inner
    attended = graph.add(
        "Attention",
        [
            hidden,
            graph.constant(f"{layer}.qkv.weight", width, 3 * width),
            graph.constant(f"{layer}.qkv.bias", 3 * width),
            "attention_mask",
        ],
        domain="com.microsoft",
        num_heads=shape.heads,
    )
    projected = graph.add(
        "MatMul", [attended, graph.constant(f"{layer}.attended.weight", width, width)]
    )
    hidden = _add_and_normalise(graph, shape, projected, hidden, f"{layer}.attended")

    wide = graph.add("MatMul", [hidden, graph.constant(f"{layer}.wide.weight", width, inner)])
    # BiasGelu has the exact erf that BERT was trained with; FastGelu is its tanh approximation.
    wide = graph.add(
        "BiasGelu", [wide, graph.constant(f"{layer}.wide.bias", inner)], domain="com.microsoft"
    )
    narrow = graph.add("MatMul", [wide, graph.constant(f"{layer}.narrow.weight", inner, width)])
    return _add_and_normalise(graph, shape, narrow, hidden, f"{layer}.narrow")


def _add_and_normalise(graph: _Graph, shape: Shape, new: str, old: str, linear: str) -> str:
    return graph.add(
        "SkipLayerNormalization",
        [
            new,
            old,
            graph.constant(f"{linear}.norm.weight", shape.dimension),
            graph.constant(f"{linear}.norm.bias", shape.dimension),
            graph.constant(f"{linear}.bias", shape.dimension),
        ],
        domain="com.microsoft",
        epsilon=shape.layer_norm_eps,
    )


def _pool(graph: _Graph, hidden: str) -> None:
    """Mean over the tokens that are not padding."""
    mask = graph.add("Cast", ["attention_mask"], to=TensorProto.FLOAT)
    column = graph.add("Unsqueeze", [mask, graph.integers("last", [-1])])
    axis = graph.integers("tokens_axis", [1])
    total = graph.add("ReduceSum", [graph.add("Mul", [hidden, column]), axis], keepdims=0)
    count = graph.add("ReduceSum", [mask, axis], keepdims=1)
    graph.add("Div", [total, count], output="pooled")


def _tokens(name: str) -> Any:
    return helper.make_tensor_value_info(name, TensorProto.INT32, ["batch", "tokens"])


class _Graph:
    """Nodes in the order they were added, and the constants that they name."""

    def __init__(self) -> None:
        self.nodes: list[NodeProto] = []
        self.constants: dict[str, TensorProto] = {}

    def add(self, operator: str, inputs: list[str], *, output: str = "", **attributes: Any) -> str:
        """Append a node and return the name of its output."""
        output = output or f"n{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [output], **attributes))
        return output

    def constant(self, name: str, *shape: int, kind: int = TensorProto.FLOAT) -> str:
        """Declare a weight, of which only the shape is known here."""
        declared = TensorProto(
            name=name, dims=shape, data_type=kind, data_location=TensorProto.EXTERNAL
        )
        declared.external_data.append(StringStringEntryProto(key="location", value="weights"))
        self.constants[name] = declared
        return name

    def integers(self, name: str, values: list[int]) -> str:
        self.constants[name] = helper.make_tensor(name, TensorProto.INT64, [len(values)], values)
        return name
