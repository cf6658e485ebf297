"""Does "who taught this vote" find planted wrong labels?

    python -m benchmarks.taught DATA [SET ...] [--texts 10000] [--asked 100]

One text in a hundred gets a wrong label, then all are taught one after the other. Of some of the
wrong ones, the word that speaks most for the wrong label is asked about: in how many cases is the
wrong example among the first five and the first twenty that added to this vote, strongest first;
and how many examples added to it in the median. Seconds: of the replay with one connection watched,
and of teaching alone. DATA is the folder of the data sets.
"""

import time

import numpy as np

import shortlist as sl
from benchmarks.reasons import SETS, parts, word_votes
from benchmarks.running import arguments, row, show
from shortlist.server.entries import Judgement
from shortlist.server.taught import connection, replayed, vote_of


def main():
    parser = arguments(__doc__)
    parser.add_argument("sets", nargs="*", default=["stackoverflow", "hwu64"])
    parser.add_argument("--texts", type=int, default=10_000)
    parser.add_argument("--asked", type=int, default=100)
    given = parser.parse_args()
    assert set(given.sets) <= set(SETS)
    show(row("texts", "in five, %", "in twenty, %", "examples", "seconds", "teaching alone"))
    for name in given.sets:
        (texts, labels), _ = parts(given.data, name, held_out=False)
        random = np.random.default_rng(0)
        order = random.permutation(len(texts))[: given.texts].tolist()
        names = sorted(set(labels))
        entries = []
        wrong = []
        for number, i in enumerate(order, 1):
            label = labels[i]
            if random.random() < 0.01:
                label = str(random.choice([other for other in names if other != label]))
                wrong.append(number)
            entries.append(Judgement(texts[i], [label], number=number))
        began = time.perf_counter()
        model = sl.Categorizer()
        for entry in entries:
            entry.teach(model)
        alone = time.perf_counter() - began
        asked = []
        for number in wrong[: given.asked]:
            entry = entries[number - 1]
            votes = word_votes(model, entry.text, entry.labels[0])
            if votes and max(votes.values()) > 0:
                word = entry.text[slice(*max(votes, key=votes.get))]
                asked.append((number, connection(model, word, entry.labels[0])))
        began = time.perf_counter()
        replayed(sl.Categorizer(), entries, [asked[0][1]])
        seconds = time.perf_counter() - began
        lines = replayed(sl.Categorizer(), entries, [watched for _, watched in asked])
        places = []
        for (number, watched), of_word in zip(asked, lines, strict=True):
            strongest = sorted(of_word, key=lambda line: -vote_of(model, watched, *line[1:]))
            numbers = [line.number for line in strongest]
            places.append(numbers.index(number) if number in numbers else len(entries))
        five, twenty = (100 * np.mean(np.array(places) < most) for most in (5, 20))
        n_lines = np.median([len(of_word) for of_word in lines])
        cells = f"{five:.0f}", f"{twenty:.0f}", f"{n_lines:.0f}", f"{seconds:.1f}", f"{alone:.1f}"
        show(row(f"{len(entries):,} of {name}, {len(asked)} asked", *cells))


if __name__ == "__main__":
    main()
