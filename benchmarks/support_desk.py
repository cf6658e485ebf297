"""A support desk that begins with the names of its queues and no ticket: its model after so many
judgements.

    python -m benchmarks.support_desk DATA [--seeds 3] [--plot FILE]

DATA has the folder short_texts. The training texts of hwu64 (64 kinds of requests) come in random
order, and each is learned as a person judges it. On the way the model ranks the test part: once
with words alone, once with the encoder all-MiniLM-L6-v2, and once with the encoder and the names of
the labels, written as "alarm query" for alarm_query. Prints P@1 and how many of the right labels
are among the first five, and what the last decides alone at 95 %.
"""

import warnings
from pathlib import Path

import numpy as np

import shortlist as sl
from benchmarks.running import arguments, row, show, table
from benchmarks.sets import short_texts
from shortlist.encoders import load_encoder

ENCODER = "all-MiniLM-L6-v2"
STEPS = [0, 50, 100, 200, 500, 1000, 2000]
WORDS, MEANING, NAMES = "words", "words and meaning", "words, meaning and names"


def begun(kind, names):
    """A model that has learned nothing."""
    model = sl.Categorizer() if kind == WORDS else sl.Categorizer(encoder=ENCODER)
    return model.set_vocabulary(names) if kind == NAMES else model


def measured(model, texts, labels, vectors):
    """P@1, right labels among the first five, the share that is decided at 95 %, and how much
    of that is right.
    """
    if not hasattr(model, "learner_"):
        return [0.0, 0.0, 0.0, np.nan]
    best = model.rank(texts, 5, vectors=vectors).labels
    right = best == np.array(labels, dtype=object)[:, None]
    assigned = model.assign(texts, precision=0.95, vectors=vectors)
    decided = [found[0] == label for label, found in zip(labels, assigned, strict=True) if found]
    share, sure = len(decided) / len(texts), np.mean(decided) if decided else np.nan
    return [100 * value for value in (right[:, 0].mean(), right.any(axis=1).mean(), share, sure)]


def run(data, seeds):
    """What is measured, for each kind of model, step and seed."""
    (texts, labels), (tested, truth) = (
        short_texts(data, "hwu64"),
        short_texts(data, "hwu64", "test"),
    )
    encode = load_encoder(ENCODER)
    vectors, asked = encode(texts), encode(tested)
    names = sl.LabelVocabulary.from_names(
        {label: label.replace("_", " ") for label in sorted(set(labels))}
    )
    found = {kind: np.empty((len(STEPS), seeds, 4)) for kind in (WORDS, MEANING, NAMES)}
    for seed in range(seeds):
        order = np.random.default_rng(seed).permutation(len(texts))[: STEPS[-1]]
        for kind, values in found.items():
            model, learned = begun(kind, names), 0
            for step, until in enumerate(STEPS):
                for i in order[learned:until].tolist():
                    model.learn(texts[i], labels[i], vector=None if kind == WORDS else vectors[i])
                learned = until
                values[step, seed] = measured(
                    model, tested, truth, None if kind == WORDS else asked
                )
    with warnings.catch_warnings(action="ignore"):  # where nothing is decided, nothing is right
        return {kind: np.nanmean(values, axis=1) for kind, values in found.items()}


def draw(found, path):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6, 3.6))
    for kind, values in found.items():
        axes.plot(STEPS, values[:, 0], marker="o", label=kind)
    axes.set_xscale("symlog", linthresh=50)
    axes.set_xticks(STEPS, [f"{step:,}" for step in STEPS])
    axes.set(xlabel="judgements", ylabel="best label is right (%)", ylim=(0, 100))
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(path, bbox_inches="tight", metadata={"Date": None})


def main():
    parser = arguments(__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--plot", type=Path)
    given = parser.parse_args()
    found = run(given.data, given.seeds)
    show(table(["judgements", *found, "decided at 95 %", "of these right"]))
    for step, n in enumerate(STEPS):
        pairs = [f"{values[step, 0]:.1f} / {values[step, 1]:.1f}" for values in found.values()]
        share, right = found[NAMES][step, 2:]
        show(row(f"{n:,}", *pairs, f"{share:.0f}", f"{right:.1f}".replace("nan", "–")))
    if given.plot:
        draw(found, given.plot)


if __name__ == "__main__":
    main()
