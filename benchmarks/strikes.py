"""How long does it take to see what a strike would change?

    python -m benchmarks.strikes DATA [SET ...] [--texts 10000]

Seconds of ``preview_strike`` for texts of a set, of a rare word and of one that nearly all English
texts have, for the first label and for any. DATA is the folder of the data sets.
"""

import time

import numpy as np

import shortlist as sl
from benchmarks.reasons import SETS, parts
from benchmarks.running import arguments, row, show

WORDS = ("windows", "the")


def main():
    parser = arguments(__doc__)
    parser.add_argument("sets", nargs="*", default=["stackoverflow", "dbpedia", "newsgroups"])
    parser.add_argument("--texts", type=int, default=10_000)
    given = parser.parse_args()
    assert set(given.sets) <= set(SETS)
    show(row("texts", "characters", *(f"{word}, {what}" for word in WORDS for what in "1*")))
    for name in given.sets:
        train, test = parts(given.data, name, held_out=False)
        model = sl.Categorizer().fit(*train)
        texts = [*train[0], *test[0]][: given.texts]
        label = model.classes_[0].item()
        cells = []
        for word in WORDS:
            for struck_for in (label, None):
                model.preview_strike(texts[:100], word, struck_for)  # compiles
                began = time.perf_counter()
                n_changed = len(model.preview_strike(texts, word, struck_for))
                cells.append(f"{time.perf_counter() - began:.2f} ({n_changed} change)")
        n_characters = np.mean([len(text) for text in texts])
        show(row(f"{len(texts):,} of {name}", f"{n_characters:.0f}", *cells))


if __name__ == "__main__":
    main()
