"""The fused ONNX graph of an encoder of BERT's family, from embedded tokens to token vectors.

Looking up word vectors and pooling stay outside: a table of a quarter million words is then read
row by row from the mapped file, and one graph serves every pooling. Weights are handed in by name
when the graph is opened. Matrices of linear layers are (in, out), with query, key and value side
by side, as the fused operators read them.
"""

from __future__ import annotations

from dataclasses import dataclass

from merestone.embedding.onnx_writer import FLOAT, INT32, GraphWriter

RELATIVE = "relative"
"""Name of the table of biases by bucket of distance, (buckets, heads)."""

ACTIVATIONS = {
    "gelu": "BiasGelu",
    "gelu_new": "FastGelu",
    "gelu_pytorch_tanh": "FastGelu",
    "gelu_fast": "FastGelu",
    "relu": "Relu",
}
"""Operator by the name that a model's configuration gives its activation."""


@dataclass(frozen=True, slots=True)
class EncoderShape:
    """What a graph needs to know of an encoder."""

    width: int
    """Length of a token vector."""
    layers: int
    heads: int
    inner: int
    """Width of the feed-forward part."""
    norm_epsilon: float
    activation: str = "gelu"
    buckets: int = 0
    """Of distances between tokens that attention is biased by; 0: it is not."""


def encoder_graph(shape: EncoderShape) -> bytes:
    """The graph as a file would hold it.

    Inputs: ``embedded``, float32 of shape (batch, tokens, width), the sum of word, position and
    type vectors; ``attention_mask``, int32 of shape (batch, tokens), 1 for a token and 0 for
    padding behind the text; with ``shape.buckets`` also ``buckets``, int32 of shape (tokens,
    tokens). Output: ``tokens``, float32 of the shape of ``embedded``.
    """
    graph = GraphWriter("encoder")
    embedded = graph.take("embedded", FLOAT, ["batch", "tokens", shape.width])
    graph.take("attention_mask", INT32, ["batch", "tokens"])
    hidden = graph.add(
        "LayerNormalization",
        [
            embedded,
            graph.constant("norm.weight", shape.width),
            graph.constant("norm.bias", shape.width),
        ],
        axis=-1,
        epsilon=shape.norm_epsilon,
    )
    bias = _attention_bias(graph, shape) if shape.buckets else ""
    for number in range(shape.layers):
        output = "tokens" if number == shape.layers - 1 else ""
        hidden = _layer(graph, shape, hidden, f"layer.{number}", bias, output)
    graph.give("tokens", ["batch", "tokens", shape.width])
    return graph.written()


def _attention_bias(graph: GraphWriter, shape: EncoderShape) -> str:
    """(1, heads, tokens, tokens): one bias a head and distance, the same in every layer."""
    buckets = graph.take("buckets", INT32, ["tokens", "tokens"])
    table = graph.constant(RELATIVE, shape.buckets, shape.heads)
    biases = graph.add("Gather", [table, buckets])
    biases = graph.add("Transpose", [biases], lists={"perm": [2, 0, 1]})
    return graph.add("Unsqueeze", [biases, graph.integers("first", [0])])


def _layer(
    graph: GraphWriter, shape: EncoderShape, hidden: str, layer: str, bias: str, output: str
) -> str:
    """One transformer layer: attention and feed-forward, each added to its input."""
    width, inner = shape.width, shape.inner
    inputs = [
        hidden,
        graph.constant(f"{layer}.qkv.weight", width, 3 * width),
        graph.constant(f"{layer}.qkv.bias", 3 * width),
        "attention_mask",
    ]
    if bias:
        inputs += ["", bias]
    attended = graph.add("Attention", inputs, fused=True, num_heads=shape.heads)
    projected = graph.add(
        "MatMul", [attended, graph.constant(f"{layer}.attended.weight", width, width)]
    )
    hidden = _add_and_normalise(graph, shape, projected, hidden, f"{layer}.attended")
    wide = graph.add("MatMul", [hidden, graph.constant(f"{layer}.wide.weight", width, inner)])
    wide = _activate(graph, shape, wide, f"{layer}.wide.bias")
    narrow = graph.add("MatMul", [wide, graph.constant(f"{layer}.narrow.weight", inner, width)])
    return _add_and_normalise(graph, shape, narrow, hidden, f"{layer}.narrow", output)


def _activate(graph: GraphWriter, shape: EncoderShape, wide: str, bias: str) -> str:
    operator = ACTIVATIONS[shape.activation]
    graph.constant(bias, shape.inner)
    if operator == "Relu":
        return graph.add("Relu", [graph.add("Add", [wide, bias])])
    return graph.add(operator, [wide, bias], fused=True)


def _add_and_normalise(
    graph: GraphWriter, shape: EncoderShape, new: str, old: str, linear: str, output: str = ""
) -> str:
    return graph.add(
        "SkipLayerNormalization",
        [
            new,
            old,
            graph.constant(f"{linear}.norm.weight", shape.width),
            graph.constant(f"{linear}.norm.bias", shape.width),
            graph.constant(f"{linear}.bias", shape.width),
        ],
        output=output,
        fused=True,
        epsilon=shape.norm_epsilon,
    )
