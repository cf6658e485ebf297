"""A BERT network from safetensors, as an ONNX graph: numbers of tokens in, a vector for each token out.

The graph names its weights and holds none of them; onnxruntime is given the arrays. So the graph is small, and depends
on the shape of the network alone. It has no attention mask: texts are encoded together only if they have the same
number of tokens, and nothing is padded.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.errors import InputError

if TYPE_CHECKING:
    from onnx import NodeProto, TensorProto

VERSION = 1  # of the graph: another one is made again
OPSET, IR = 20, 9  # the first operator set with Gelu; both are read by onnxruntime 1.17 and later
INPUT = "input_ids"
EMBEDDINGS = ("word", "position", "token_type")
LINEAR = ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense",
          "intermediate.dense", "output.dense")  # fmt: skip
NORMS = ("attention.output.LayerNorm", "output.LayerNorm")

Weights = dict[str, NDArray[np.float32]]


class Shape(NamedTuple):
    """The shape of a BERT network."""

    layers: int
    width: int  # numbers in the vector of a token
    inner: int  # numbers between the two dense steps of a layer
    heads: int
    epsilon: float  # added to variances


def shape_of(arrays: Mapping[str, NDArray[Any]], heads: int, epsilon: float, where: object) -> Shape:
    """The shape of the network that the arrays of a file are the weights of."""
    numbers = [int(found[1]) for name in arrays if (found := re.match(r"encoder\.layer\.(\d{1,4})\.", name))]
    words = arrays.get("embeddings.word_embeddings.weight")
    inner = arrays.get("encoder.layer.0.intermediate.dense.weight")
    if not numbers or words is None or words.ndim != 2 or inner is None or inner.ndim != 2:
        raise InputError(f"{where} has no weights of a BERT network: use a folder with model.onnx")
    width = words.shape[1]
    if width < 1 or heads < 1 or width % heads:
        raise InputError(f"{where} has vectors of {width} numbers, which {heads} heads cannot share evenly")
    return Shape(1 + max(numbers), width, inner.shape[0], heads, epsilon)


def weights_of(arrays: Mapping[str, NDArray[Any]], shape: Shape, where: object) -> Weights:
    """The weights as the graph takes them: each checked for its shape, its type and numbers that are not finite."""
    n, inner = shape.width, shape.inner

    def take(name: str, *sizes: int | None) -> NDArray[np.float32]:
        """The weights of that name, of these sizes; None is any that is not 0."""
        found = arrays.get(name)
        right = found is not None and found.dtype in (np.float32, np.float16) and found.ndim == len(sizes)
        if found is None or not right or any(a != (b or a or 1) for a, b in zip(found.shape, sizes, strict=True)):
            there = "nothing" if found is None else f"{found.dtype}{list(found.shape)}"
            wanted = ", ".join(str(size or "any") for size in sizes)
            raise InputError(f"{where} has {there} as {name}, not float32 or float16[{wanted}]: get the file again")
        if not np.isfinite(found).all():
            raise InputError(f"{where} has numbers in {name} that are not finite: get the file again")
        return found.astype(np.float32, copy=False)

    words, positions, kinds = (take(f"embeddings.{name}_embeddings.weight", None, n) for name in EMBEDDINGS)
    made = {"words": words, "positions": positions + kinds[0]}  # every token is of the first kind
    norms = ["embeddings.LayerNorm"]
    for layer in range(shape.layers):
        norms += [f"encoder.layer.{layer}.{name}" for name in NORMS]
        for part in LINEAR:
            name = f"encoder.layer.{layer}.{part}"
            out, into = (inner if part == "intermediate.dense" else n), (inner if part == "output.dense" else n)
            made[f"{name}.weight"] = np.ascontiguousarray(take(f"{name}.weight", out, into).T)
            made[f"{name}.bias"] = take(f"{name}.bias", out)
    for name in norms:
        made |= {f"{name}.{part}": take(f"{name}.{part}", n) for part in ("weight", "bias")}
    return made


class _Graph:
    """Nodes and small constants of a graph, each named by a number."""

    def __init__(self) -> None:
        self.nodes: list[NodeProto] = []
        self.constants: list[TensorProto] = []

    def add(self, operator: str, *inputs: str, **attributes: object) -> str:
        """A node; gives the name of its output."""
        from onnx import helper

        name = f"{operator}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [name], name=name, **attributes))
        return name

    def constant(self, value: object, dtype: type[np.generic] = np.int64) -> str:
        from onnx import numpy_helper

        name = f"constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.array(value, dtype), name))
        return name

    def linear(self, x: str, name: str) -> str:
        return self.add("Add", self.add("MatMul", x, f"{name}.weight"), f"{name}.bias")

    def norm(self, x: str, name: str, epsilon: float) -> str:
        return self.add("LayerNormalization", x, f"{name}.weight", f"{name}.bias", axis=-1, epsilon=epsilon)


def graph_of(shape: Shape, sizes: Mapping[str, tuple[int, ...]]) -> bytes:
    """The graph of a network, with the names and shapes of its weights."""
    graph = _Graph()
    x = _embedded(graph, shape)
    for layer in range(shape.layers):
        x = _layer(graph, shape, x, f"encoder.layer.{layer}")
    return _model(graph, x, shape.width, sizes)


def _embedded(graph: _Graph, shape: Shape) -> str:
    """Words and positions, added and normalised."""
    length = graph.add("Slice", graph.add("Shape", INPUT), graph.constant([1]), graph.constant([2]))
    places = graph.add("Slice", "positions", graph.constant([0]), length, graph.constant([0]))
    words = graph.add("Gather", "words", INPUT, axis=0)
    return graph.norm(graph.add("Add", words, places), "embeddings.LayerNorm", shape.epsilon)


def _layer(graph: _Graph, shape: Shape, x: str, name: str) -> str:
    """Attention of every token to all, then two dense steps; each is added to what it was made from."""
    size = shape.width // shape.heads
    apart, together = graph.constant([0, 0, shape.heads, size]), graph.constant([0, 0, shape.width])
    query, key, value = (
        graph.add("Transpose", graph.add("Reshape", graph.linear(x, f"{name}.{part}"), apart), perm=perm)
        for part, perm in zip(LINEAR[:3], ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]), strict=True)
    )
    scale = graph.constant(1 / math.sqrt(size), np.float32)
    shares = graph.add("Softmax", graph.add("Mul", graph.add("MatMul", query, key), scale), axis=-1)
    seen = graph.add("Transpose", graph.add("MatMul", shares, value), perm=[0, 2, 1, 3])
    dense = graph.linear(graph.add("Reshape", seen, together), f"{name}.attention.output.dense")
    x = graph.norm(graph.add("Add", dense, x), f"{name}.attention.output.LayerNorm", shape.epsilon)
    dense = graph.linear(graph.add("Gelu", graph.linear(x, f"{name}.intermediate.dense")), f"{name}.output.dense")
    return graph.norm(graph.add("Add", dense, x), f"{name}.output.LayerNorm", shape.epsilon)


def _model(graph: _Graph, output: str, width: int, sizes: Mapping[str, tuple[int, ...]]) -> bytes:
    from onnx import TensorProto, helper

    given = []
    for name, dims in sizes.items():
        tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=dims, data_location=TensorProto.EXTERNAL)
        tensor.external_data.add(key="location", value="given as an array")
        given.append(tensor)
    made = helper.make_graph(
        graph.nodes,
        "bert",
        [helper.make_tensor_value_info(INPUT, TensorProto.INT64, ["texts", "tokens"])],
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, ["texts", "tokens", width])],
        [*graph.constants, *given],
    )
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR)
    return bytes(model.SerializeToString(deterministic=True))
