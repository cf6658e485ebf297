"""Names for what nobody has named: groups of undecided texts beside the order of the queue.

    python -m benchmarks.groups DATA [SET ...] [--draws 3] [--texts 6000] [--waiting 1500]

DATA is the folder of the data sets. Of the training texts, 1,500 wait; of the others a model learns
those whose label is not left out, which a fifth of the labels is. Means of random draws:

pure     % of the texts of the groups that have the label most frequent in their group; the groups
         are those that the model finds first
found    how many of the left-out labels are most frequent in a group, of how many that wait
         undecided
groups   answers of a person until each left-out label that waits undecided was named once: two of
         the three typical texts of the first group have the same label, then the model learns the
         group with it; if not, its texts are set aside. Then texts are grouped again. Once there is
         no group, texts come one by one by gain. A group counts 1 ("answers"), or 3 ("texts read")
gain     the same with single texts of the queue, in the order of their gain; the model learns
random   the same in random order: the mean of 100 orders
"""

from collections import Counter

import numpy as np

from benchmarks.running import arguments, row, show, table
from benchmarks.sets import newsgroups, short
from shortlist import Categorizer
from shortlist.server.queue_order import BEST_MEASURED, LONGEST_AGO, Novelty, gains

SETS = {name: short(name) for name in ("hwu64", "stackoverflow", "dbpedia")} | {
    "newsgroups": newsgroups
}
SAMPLE = BEST_MEASURED + LONGEST_AGO
RANDOM_ORDERS = 100


class Draw:
    """Waiting texts, and a model that does not know a fifth of the labels."""

    def __init__(self, texts, labels, seed, n_texts, n_waiting):
        self.random = np.random.default_rng(seed)
        names = sorted(set(labels))
        out = set(self.random.permutation(names)[: max(1, len(names) // 5)].tolist())
        order = self.random.permutation(len(texts))[:n_texts].tolist()
        learned = [i for i in order[n_waiting:] if labels[i] not in out]
        self.learned = [texts[i] for i in learned], [labels[i] for i in learned]
        self.texts = [texts[i] for i in order[:n_waiting]]
        self.labels = [labels[i] for i in order[:n_waiting]]
        answers = self.model().assign(self.texts, precision=0.95)
        self.undecided = [i for i, labels in enumerate(answers) if not labels]
        self.wanted = out & {self.labels[i] for i in self.undecided}

    def model(self):
        return Categorizer().fit(*self.learned)

    def first_groups(self):
        """The purity of the first groups in per cent, and how many left-out labels they show."""
        groups = self.model().group_unnamed(self.texts)
        n_right = 0
        shown = set()
        for group in groups:
            own = Counter(self.labels[i] for i in group.numbers).most_common(1)[0]
            n_right += own[1]
            shown.add(own[0])
        n_texts = sum(len(group.numbers) for group in groups)
        return 100 * n_right / max(n_texts, 1), len(shown & self.wanted)

    def by_groups(self):
        """The answers until all is named, and the texts that were read for them."""
        model = self.model()
        left = list(self.undecided)
        unnamed = set(self.wanted)
        answers = 0
        asked = []
        while unnamed:
            every = range(len(left))  # they stay undecided
            groups = model.group_unnamed([self.texts[i] for i in left], none_of_these=every)
            if not groups:
                n_more = self.one_by_one(model, left + asked, unnamed)
                return answers + n_more, 3 * answers + n_more
            numbers = [left[place] for place in groups[0].numbers]
            label, n_equal = Counter(self.labels[i] for i in numbers[:3]).most_common(1)[0]
            answers += 1
            if n_equal >= 2:
                unnamed.discard(label)
                model.learn_many([self.texts[i] for i in numbers], [label] * len(numbers))
            else:
                asked += numbers
            taken = set(numbers)
            left = [i for i in left if i not in taken]
        return answers, 3 * answers

    def by_gain(self):
        return self.one_by_one(self.model(), range(len(self.texts)), set(self.wanted))

    def one_by_one(self, model, numbers, unnamed):
        """The judgements of single texts, by gain, until all is named."""
        words = {i: frozenset(self.texts[i].casefold().split()) for i in numbers}
        left = sorted(words)
        novelty = Novelty()
        n_judged = 0
        while unnamed and left:
            sample = self.random.permutation(left)[:SAMPLE].tolist()
            for i in sample:
                novelty.meet(i, words[i])
            gain_of = gains(model, [self.texts[i] for i in sample])
            worth = [
                gain * (1 + novelty.share(words[i])) / 2
                for i, gain in zip(sample, gain_of, strict=True)
            ]
            best = sample[int(np.argmax(worth))]
            novelty.judge(words[best])
            model.learn(self.texts[best], self.labels[best])
            unnamed.discard(self.labels[best])
            left.remove(best)
            n_judged += 1
        return n_judged

    def at_random(self):
        needed = []
        for _ in range(RANDOM_ORDERS):
            labels = [self.labels[i] for i in self.random.permutation(len(self.labels))]
            needed.append(1 + max(labels.index(label) for label in self.wanted))
        return np.mean(needed)

    def figures(self):
        pure, found = self.first_groups()
        answers, read = self.by_groups()
        wanted = len(self.wanted)
        return pure, found, wanted, answers, read, self.by_gain(), self.at_random()


def main():
    parser = arguments(__doc__)
    parser.add_argument("sets", nargs="*", metavar="SET", default=list(SETS))
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--texts", type=int, default=6000)
    parser.add_argument("--waiting", type=int, default=1500)
    asked = parser.parse_args()
    show(table(["", "pure, %", "found", "groups: answers", "texts read", "gain", "random"]))
    for name in asked.sets:
        (texts, labels), _ = SETS[name](asked.data)
        labels = [own[0] for own in labels]
        figures = [
            Draw(texts, labels, seed, asked.texts, asked.waiting).figures()
            for seed in range(asked.draws)
        ]
        pure, found, wanted, *counts = np.mean(figures, axis=0)
        cells = [f"{pure:.0f}", f"{found:.1f} of {wanted:.1f}", *(f"{n:.0f}" for n in counts)]
        show(row(name, *cells))


if __name__ == "__main__":
    main()
