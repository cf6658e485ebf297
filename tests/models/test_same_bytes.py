"""The same bytes each time and everywhere: what learners arrive at, beside what they arrived at on
another machine.

``python -m tests.models.test_same_bytes`` writes same_bytes.json anew where a rule or a file format
has changed.
"""

import hashlib
import json
import platform
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from shortlist import Categorizer, PRank, Rater, evaluate
from shortlist.files.store import checksum

KNOWN = Path(__file__).with_name("same_bytes.json")
LEARNERS = ["tuned-index", "feature-focus", "independent", "mmp", "topic-perceptron", "rocchio"]
LEARNED, ASKED = 400, 200


def made_up(labels_each: int) -> tuple[list[str], list[list[str]]]:
    """Texts of made-up words, of which each label has some that it prefers."""
    rng = np.random.default_rng(labels_each)
    texts, labels = [], []
    for _ in range(LEARNED + ASKED):
        of_text = np.unique(rng.integers(12, size=rng.integers(1, labels_each + 1)))
        words = (
            30 * rng.choice(of_text, size=rng.integers(3, 25)) + rng.integers(60, size=1)
        ) % 400
        words += rng.integers(5, size=words.size)
        texts.append(" ".join(f"w{number:o}x" for number in words))
        labels.append([f"label {number}" for number in of_text])
    return texts, labels


def partly_wrong() -> dict[str, str]:
    """Texts that name their label, but every seventh has that of another: further passes doubt
    it.
    """
    texts, labels = made_up(1)
    naming = [f"{name} {text}" for (name,), text in zip(labels, texts, strict=True)]
    labels[::7] = labels[::-7]
    return {"fitted": state_of(Categorizer().fit(naming, labels))}


def digest(value: Any) -> str:
    return hashlib.sha256(value).hexdigest()[:16]


def state_of(model: Categorizer | Rater) -> str:
    """A digest of what was learned. The confidence is left out: NumPy's exponentials and solvers
    differ in the last digit from one kind of processor to another.
    """
    state = model.to_state()
    state.parts.pop("confidence", None)
    return checksum(state)[:16]


def encode(texts: list[str]) -> NDArray[np.float64]:
    """By how much each digit is more frequent than one in eight letters: dense, and of either
    sign.
    """
    return np.array(
        [[text.count(digit) - len(text) / 8.0 for digit in "01234567"] for text in texts]
    )


def categories(learner: str, labels_each: int, has_vectors: bool = False) -> dict[str, str]:
    texts, labels = made_up(labels_each)
    vectors, new = (
        encode(some) if has_vectors else None for some in (texts[:LEARNED], texts[LEARNED:])
    )
    model = Categorizer(learner=learner).fit(texts[:LEARNED], labels[:LEARNED], vectors=vectors)
    fitted = state_of(model)
    asked, true = texts[LEARNED:], labels[LEARNED:]
    ranking = model.rank(asked, k=5, vectors=new)
    measured = evaluate(ranking, true, ["R1", "P@3", "nDCG@5"], resamples=100).to_dict()
    for i, (text, of_text) in enumerate(zip(asked[:20], true[:20], strict=True)):
        model.learn(text, of_text, vector=None if new is None else new[i])
    return {
        "fitted": fitted,
        "scores": digest(ranking.scores.tobytes()),
        "measures": digest(json.dumps(measured).encode()),
        "learned": state_of(model),
    }


def ratings() -> dict[str, str]:
    rng = np.random.default_rng(3)
    X = rng.integers(-3, 4, size=(300, 10)) / 4
    y = np.clip(np.round(X @ np.arange(10) / 8), -2, 2)
    model = Rater(PRank()).fit(X, y)
    return {"fitted": state_of(model), "predicted": digest(model.predict(X).tobytes())}


def cases() -> dict[str, Callable[[], dict[str, str]]]:
    found: dict[str, Callable[[], dict[str, str]]] = {
        "prank": ratings,
        "partly wrong": partly_wrong,
    }
    for learner in LEARNERS:
        for labels_each in (1, 3):
            found[f"{learner}, up to {labels_each} labels"] = lambda a=learner, b=labels_each: (
                categories(a, b)
            )
    for labels_each in (1, 3):
        name = f"tuned-index and vectors, up to {labels_each} labels"
        found[name] = lambda b=labels_each: categories("tuned-index", b, has_vectors=True)
    return found


@pytest.mark.skipif(
    platform.machine() not in ("aarch64", "x86_64"),
    reason="they were compared on aarch64 and x86-64 alone",
)
@pytest.mark.parametrize("case", cases())
def test_the_same_bytes_as_before(case: str) -> None:
    assert cases()[case]() == json.loads(KNOWN.read_text())[case]


if __name__ == "__main__":
    KNOWN.write_text(json.dumps({name: make() for name, make in cases().items()}, indent=1) + "\n")
