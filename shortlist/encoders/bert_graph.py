"""A BERT network from safetensors, as an ONNX graph: numbers of tokens in, a vector for each token
out.

The graph names its weights and holds none of them; onnxruntime is given the arrays. So the graph is
small, and depends on the shape of the network alone. It has no attention mask, because nothing is
padded.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.errors import InputError

if TYPE_CHECKING:
    from onnx import NodeProto, TensorProto

GRAPH_VERSION = 1  # of the graph: another one is made again
# the first operator set with Gelu; both are read by onnxruntime 1.17 and later
OPSET = 20
IR = 9
INPUT = "input_ids"
EMBEDDINGS = ("word", "position", "token_type")
LINEAR = (
    "attention.self.query",
    "attention.self.key",
    "attention.self.value",
    "attention.output.dense",
    "intermediate.dense",
    "output.dense",
)
NORMS = ("attention.output.LayerNorm", "output.LayerNorm")


class Shape(NamedTuple):
    """The shape of a BERT network."""

    layers: int
    width: int  # numbers in the vector of a token
    inner: int  # numbers between the two dense steps of a layer
    heads: int
    epsilon: float  # added to variances


def shape_of(
    arrays: Mapping[str, NDArray[Any]], heads: int, epsilon: float, where: object
) -> Shape:
    """The shape of the network that the arrays of a file are the weights of."""
    matches = [re.match(r"encoder\.layer\.(\d{1,4})\.", name) for name in arrays]
    numbers = [int(match[1]) for match in matches if match]
    words = arrays.get("embeddings.word_embeddings.weight")
    inner = arrays.get("encoder.layer.0.intermediate.dense.weight")
    if not numbers or words is None or words.ndim != 2 or inner is None or inner.ndim != 2:
        raise InputError(f"{where} has no weights of a BERT network: use a folder with model.onnx")
    width = words.shape[1]
    if width < 1 or heads < 1 or width % heads:
        raise InputError(
            f"{where} has vectors of {width} numbers, which {heads} heads cannot share evenly"
        )
    return Shape(1 + max(numbers), width, inner.shape[0], heads, epsilon)


def weights_of(
    arrays: Mapping[str, NDArray[Any]], shape: Shape, where: object
) -> dict[str, NDArray[np.float32]]:
    """The weights as the graph takes them: each checked for its shape, its type and numbers
    that are not finite.
    """
    n = shape.width

    def take(name: str, *sizes: int | None) -> NDArray[np.float32]:
        """The weights of that name, of these sizes; None is any that is not 0."""
        array = arrays.get(name)
        if array is None or not has_sizes(array, sizes):
            present = "nothing" if array is None else f"{array.dtype}{list(array.shape)}"
            expected = ", ".join(str(size or "any") for size in sizes)
            raise InputError(
                f"{where} has {present} as {name}, not float32 or float16[{expected}]: get the "
                "file again"
            )
        if not np.isfinite(array).all():
            raise InputError(
                f"{where} has numbers in {name} that are not finite: get the file again"
            )
        return array.astype(np.float32, copy=False)

    words, positions, kinds = (
        take(f"embeddings.{name}_embeddings.weight", None, n) for name in EMBEDDINGS
    )
    # every token is of the first kind
    weights = {"words": words, "positions": positions + kinds[0]}
    norms = ["embeddings.LayerNorm"]
    for layer in range(shape.layers):
        norms += [f"encoder.layer.{layer}.{name}" for name in NORMS]
        for part in LINEAR:
            name = f"encoder.layer.{layer}.{part}"
            n_out = shape.inner if part == "intermediate.dense" else n
            n_in = shape.inner if part == "output.dense" else n
            weights[f"{name}.weight"] = np.ascontiguousarray(take(f"{name}.weight", n_out, n_in).T)
            weights[f"{name}.bias"] = take(f"{name}.bias", n_out)
    for name in norms:
        weights[f"{name}.weight"] = take(f"{name}.weight", n)
        weights[f"{name}.bias"] = take(f"{name}.bias", n)
    return weights


def has_sizes(array: NDArray[Any], sizes: Sequence[int | None]) -> bool:
    """Whether an array of numbers has these sizes; None is any that is not 0."""
    if array.dtype not in (np.float32, np.float16) or array.ndim != len(sizes):
        return False
    pairs = zip(array.shape, sizes, strict=True)
    return all(length > 0 and size in (None, length) for length, size in pairs)


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
        return self.add(
            "LayerNormalization", x, f"{name}.weight", f"{name}.bias", axis=-1, epsilon=epsilon
        )


def _layer(graph: _Graph, shape: Shape, x: str, name: str) -> str:
    """Attention of every token to all, then two dense steps; each is added to its input."""
    size = shape.width // shape.heads
    apart = graph.constant([0, 0, shape.heads, size])
    together = graph.constant([0, 0, shape.width])
    heads = []
    for part, order in zip(LINEAR[:3], ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]), strict=True):
        linear = graph.linear(x, f"{name}.{part}")
        heads.append(graph.add("Transpose", graph.add("Reshape", linear, apart), perm=order))
    query, key, value = heads
    scale = graph.constant(1 / math.sqrt(size), np.float32)
    scores = graph.add("Mul", graph.add("MatMul", query, key), scale)
    attention = graph.add("MatMul", graph.add("Softmax", scores, axis=-1), value)
    context = graph.add("Transpose", attention, perm=[0, 2, 1, 3])
    dense = graph.linear(graph.add("Reshape", context, together), f"{name}.attention.output.dense")
    x = graph.norm(graph.add("Add", dense, x), f"{name}.attention.output.LayerNorm", shape.epsilon)
    dense = graph.linear(
        graph.add("Gelu", graph.linear(x, f"{name}.intermediate.dense")), f"{name}.output.dense"
    )
    return graph.norm(graph.add("Add", dense, x), f"{name}.output.LayerNorm", shape.epsilon)


def graph_of(shape: Shape, sizes: Mapping[str, tuple[int, ...]]) -> bytes:
    """The graph of a network, with the names and shapes of its weights."""
    from onnx import TensorProto, helper

    graph = _Graph()
    length = graph.add("Slice", graph.add("Shape", INPUT), graph.constant([1]), graph.constant([2]))
    places = graph.add("Slice", "positions", graph.constant([0]), length, graph.constant([0]))
    words = graph.add("Gather", "words", INPUT, axis=0)
    x = graph.norm(graph.add("Add", words, places), "embeddings.LayerNorm", shape.epsilon)
    for layer in range(shape.layers):
        x = _layer(graph, shape, x, f"encoder.layer.{layer}")
    initializers = []
    for name, dims in sizes.items():
        tensor = TensorProto(
            name=name, data_type=TensorProto.FLOAT, dims=dims, data_location=TensorProto.EXTERNAL
        )
        tensor.external_data.add(key="location", value="given as an array")
        initializers.append(tensor)
    onnx_graph = helper.make_graph(
        graph.nodes,
        "bert",
        [helper.make_tensor_value_info(INPUT, TensorProto.INT64, ["texts", "tokens"])],
        [helper.make_tensor_value_info(x, TensorProto.FLOAT, ["texts", "tokens", shape.width])],
        [*graph.constants, *initializers],
    )
    model = helper.make_model(
        onnx_graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR
    )
    return bytes(model.SerializeToString(deterministic=True))
