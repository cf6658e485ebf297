"""Word contexts, slowly: sets of named features, word by word."""

import re

PLACES = [(-3,), (-2,), (-1,), (1,), (2,), (3,)]
CONJUNCTIONS = {
    "chosen": [
        (-1, 1),
        (-2, -1),
        (1, 2),
        (-2, 1),
        (-1, 2),
        (-3, -1),
        (1, 3),
        (-2, -1, 1),
        (-1, 1, 2),
    ],
    "runs": [
        run
        for n in (2, 3)
        for run in zip(*([-3, -2, -1, 1, 2, 3][i:] for i in range(n)), strict=False)
    ],
}


def word_contexts(texts, conjunctions):
    """(word, the set of its features' names) for each word of the texts."""
    instances = []
    for text in texts:
        words = re.findall(r"[A-Za-z']+", text)
        for i, word in enumerate(words):
            names = set()
            for places in PLACES + CONJUNCTIONS[conjunctions]:
                if all(0 <= i + place < len(words) for place in places):
                    around = range(min(*places, 0), max(*places, 0) + 1)
                    shown = {place: words[i + place] for place in places} | {0: "_"}
                    names.add(" ".join(shown.get(place, "*") for place in around))
            instances.append((word, names))
    return instances
