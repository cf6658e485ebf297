"""What a model decides alone, at 95 %, of texts whose label it never learned.

    python -m benchmarks.out_of_scope DATA [--encoder NAME] [SET ...]

DATA has the folder short_texts. A fifth of the labels is left out of what is learned; a fifth of
the texts of the other labels is held out. Then 20 and 100 texts of labels left out are judged "none
of these", three others with their labels between them. "38, 92" are the texts of labels left out
that are decided, and the model's own. Per cent, means of three draws.
"""

import numpy as np

from benchmarks.running import arguments, row, show, table
from benchmarks.sets import short_texts
from shortlist import Categorizer

SETS = ("hwu64", "stackoverflow", "dbpedia", "snips")
MOST = 1000  # texts of each kind


def main():
    parser = arguments(__doc__)
    parser.add_argument("sets", nargs="*", metavar="SET", default=list(SETS))
    parser.add_argument("--encoder")
    asked = parser.parse_args()
    show(table(["", "right of those decided", "decided", "after 20", "after 100"]))
    for name in asked.sets:
        pairs = list(zip(*short_texts(asked.data, name), strict=True))
        right, *both = np.mean(
            [100 * np.array(one_draw(pairs, seed, asked.encoder)) for seed in range(3)], axis=0
        )
        cells = [
            f"{strange:.0f}, {own:.0f}" for strange, own in zip(both[::2], both[1::2], strict=True)
        ]
        show(row(name, f"{right:.0f}", *cells))


def one_draw(pairs, seed, encoder):
    draw = np.random.default_rng(seed)
    names = sorted({label for _, label in pairs})
    out = set(draw.permutation(names)[: max(1, len(names) // 5)].tolist())
    pairs = [pairs[i] for i in draw.permutation(len(pairs))]
    strange = [text for text, label in pairs if label in out][: MOST + 100]
    others = [pair for pair in pairs if pair[1] not in out]
    own, later, train = others[:MOST], others[MOST : MOST + 300], others[MOST + 300 :]
    texts, truth = zip(*own, strict=True)
    model = Categorizer(encoder=encoder).fit(*zip(*train, strict=True))
    found = [
        (best[0], true)
        for best, true in zip(model.assign(texts, precision=0.95), truth, strict=True)
        if best
    ]
    shares = [np.mean([best == true for best, true in found])]
    judged = 0
    for more in (0, 20, 100):
        for i in range(judged, more):
            model.learn(strange[i], [])
            model.learn_many(*zip(*later[3 * i : 3 * i + 3], strict=True))
        judged = more
        both = (model.assign(some, precision=0.95) for some in (strange[100:], texts))
        shares += [np.mean([bool(best) for best in assigned]) for assigned in both]
    return shares


if __name__ == "__main__":
    main()
