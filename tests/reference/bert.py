"""A BERT network, one text at a time, in float64, as the paper has it (Devlin et al. 2019;
Vaswani et al. 2017).
"""

import math

import numpy as np


def encode(weights, tokens, heads, epsilon=1e-12, pooling="mean"):
    """The vector of unit length of one text, given as numbers of tokens."""
    weights = {name: array.astype(np.float64) for name, array in weights.items()}
    x = np.array(
        [
            weights["embeddings.word_embeddings.weight"][token]
            + weights["embeddings.position_embeddings.weight"][place]
            + weights["embeddings.token_type_embeddings.weight"][0]
            for place, token in enumerate(tokens)
        ]
    )
    x = norm(weights, "embeddings.LayerNorm", x, epsilon)
    n_layers = len([name for name in weights if name.endswith("intermediate.dense.bias")])
    for layer in range(n_layers):
        x = layer_of(weights, f"encoder.layer.{layer}.", x, heads, epsilon)
    pooled = {"cls": x[0], "lasttoken": x[-1], "mean": x.mean(axis=0)}[pooling]
    return pooled / math.sqrt(sum(value * value for value in pooled))


def layer_of(weights, name, x, heads, epsilon):
    query, key, value = (
        linear(weights, f"{name}attention.self.{part}", x) for part in ("query", "key", "value")
    )
    size = x.shape[1] // heads
    seen = np.zeros_like(x)
    for head in range(heads):
        own = slice(head * size, (head + 1) * size)
        for i in range(len(x)):
            scores = np.array(
                [query[i, own] @ key[j, own] / math.sqrt(size) for j in range(len(x))]
            )
            shares = np.exp(scores) / np.exp(scores).sum()
            seen[i, own] = sum(shares[j] * value[j, own] for j in range(len(x)))
    x = norm(
        weights,
        f"{name}attention.output.LayerNorm",
        x + linear(weights, f"{name}attention.output.dense", seen),
        epsilon,
    )
    inner = linear(weights, f"{name}intermediate.dense", x)
    gelu = inner * (1 + np.vectorize(math.erf)(inner / math.sqrt(2))) / 2
    return norm(
        weights,
        f"{name}output.LayerNorm",
        x + linear(weights, f"{name}output.dense", gelu),
        epsilon,
    )


def linear(weights, name, x):
    return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]


def norm(weights, name, x, epsilon):
    centred = x - x.mean(axis=1, keepdims=True)
    deviations = np.sqrt((centred**2).mean(axis=1, keepdims=True) + epsilon)
    return centred / deviations * weights[f"{name}.weight"] + weights[f"{name}.bias"]
