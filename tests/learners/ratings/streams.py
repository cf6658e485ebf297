"""Streams of rated examples for the tests."""

import numpy as np
from hypothesis import strategies as st


@st.composite
def integer_streams(draw, most_steps=6):
    """A number of steps k, small integer rows X, and ratings y in 1..k: everything exact in
    floating point.
    """
    k = draw(st.integers(2, most_steps))
    n_features = draw(st.integers(1, 4))
    row = st.lists(st.integers(-4, 4), min_size=n_features, max_size=n_features)
    examples = draw(st.lists(st.tuples(row, st.integers(1, k)), min_size=1, max_size=60))
    X = np.array([x for x, _ in examples], dtype=np.float64)
    y = np.array([rating for _, rating in examples])
    return k, X, y


@st.composite
def separable_streams(draw):
    """Rows that some unit-norm rule (w*, b*) rates with a positive margin γ: gives k, X, y, γ."""
    k = draw(st.integers(2, 6))
    n_features = draw(st.integers(1, 5))
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    w = generator.normal(size=n_features)
    b = np.sort(generator.normal(size=k - 1))
    norm = np.sqrt(w @ w + b @ b)
    w, b = w / norm, b / norm
    X = generator.normal(size=(draw(st.integers(20, 300)), n_features)) * draw(
        st.sampled_from([0.5, 1.0, 4.0])
    )
    margins = np.abs((X @ w)[:, None] - b).min(axis=1)
    X = X[margins > draw(st.sampled_from([0.003, 0.03, 0.1]))]
    if X.size == 0:
        X = w[None, :] * (b[-1] + 1.0) / (w @ w)
    y = 1 + ((X @ w)[:, None] >= b).sum(axis=1)
    gamma = np.abs((X @ w)[:, None] - b).min()
    return k, X, y, gamma


def rated_rows(n_rows=300, n_features=4, k=5, seed=0):
    """Rows rated 1..k by a noisy linear score cut at its quantiles."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n_rows, n_features))
    score = X @ np.linspace(2, -1, n_features) + 0.3 * generator.normal(size=n_rows)
    return X, 1 + np.digitize(score, np.quantile(score, np.linspace(0, 1, k + 1)[1:-1]))


def same_state(one, other):
    """Two learners know the same, to the last bit."""
    assert one.classes_.tolist() == other.classes_.tolist()
    for name in ("weights_", "biases_", "clock_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
