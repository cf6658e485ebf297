"""One thread teaches a model while others ask, explain, save and copy it: nothing breaks, and
nothing is learned amiss.

    python -m tests.hostile.threads --count 20        (batches for each model; --long for 300)

What was learned is compared, byte by byte, with what the same examples teach a model that nobody
else touches.
"""

from __future__ import annotations

import argparse
import copy
import random
import sys
import tempfile
import threading
import time
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

import shortlist as sl
from papers.comparators.extended_mmp import ExtendedMMP
from papers.comparators.unweighted_index import UnweightedIndex
from shortlist.files import store
from tests.hostile.interrupts import RATERS, table_of, texts_of

LEARNERS = {
    "TunedIndex": lambda: sl.TunedIndex(n_jobs=2),
    "FeatureFocus": sl.FeatureFocus,
    "MMP": sl.MMP,
    "MMP averaged": lambda: sl.MMP(hypothesis="averaged", n_jobs=2),
    "MMP voted": lambda: ExtendedMMP(hypothesis="voted", voters=3, n_jobs=2),
    "TopicPerceptron": sl.TopicPerceptron,
    "IndependentIndex": lambda: sl.IndependentIndex(n_jobs=2),
    "Rocchio": lambda: sl.Rocchio(n_jobs=2),
    "UnweightedIndex": lambda: UnweightedIndex(classifiers=1),
    "FrequencyBaseline": sl.FrequencyBaseline,
}


class Texts:
    """A Categorizer, taught batch by batch, by turns with learn_many and learn_batches;
    sometimes fitted anew.
    """

    def __init__(self, name: str, max_memory: str | None = None) -> None:
        self.model = sl.Categorizer(LEARNERS[name](), max_memory=max_memory)
        self.questions = texts_of(600, 1, random.Random(1))[0]
        self.teach(0)

    def teach(self, turn: int) -> None:
        chance = random.Random(turn)
        texts, labels = texts_of(150, 20 + 200 * turn, chance)
        if turn % 7 == 5:
            self.model.fit(texts, labels)
        elif turn % 2:
            self.model.learn_batches([(texts[:75], labels[:75]), (texts[75:], labels[75:])])
        else:
            self.model.learn_many(texts, labels)

    def ask(self, chance: random.Random, folder: Path) -> None:
        some = chance.sample(self.questions, chance.choice([1, 20, 600]))
        match chance.randrange(8):
            case 0:
                self.model.save(folder / "model.shortlist")
                sl.load(folder / "model.shortlist").rank(some, 3)
            case 1:
                self.model.explain(some[0], "label 0")
            case 2:
                self.model.predict(some)
            case 3:
                copy.deepcopy(self.model).rank(some, 3)
            case 4:
                self.model.learner_.decision_function(np.eye(3, 40))
            case _:
                self.model.rank(some, 5)


class Numbers:
    """A Rater, taught some rows at a time, and sometimes fitted anew."""

    def __init__(self, name: str) -> None:
        self.model = sl.Rater(RATERS[name]())
        self.teach(5)

    def teach(self, turn: int) -> None:
        X, y = table_of(2000, random.Random(turn))
        y = y + turn % 3 * 10  # ratings that have not been there before
        if turn % 7 == 5:
            self.model.fit(X, y)
        else:
            self.model.learn(X, y)

    def ask(self, chance: random.Random, folder: Path) -> None:
        X, _ = table_of(50, chance)
        if chance.random() < 0.2:
            self.model.save(folder / "model.shortlist")
            sl.load(folder / "model.shortlist").predict(X)
        elif chance.random() < 0.5:
            self.model.neighbour_distances(X)
        else:
            self.model.predict(X)


class Documents:
    """A ranker of documents that is fitted again and again, to more or fewer features."""

    def __init__(self) -> None:
        self.model = sl.DocumentRanker(sl.MapSVM(tol=0.1))
        self.teach(0)

    def teach(self, turn: int) -> None:
        X = np.random.default_rng(turn).random((40, 3 + turn % 4))
        self.model.fit(X, np.arange(40) % 4 == 0, np.arange(40) // 8)

    def ask(self, chance: random.Random, folder: Path) -> None:
        X = np.random.default_rng(chance.randrange(99)).random((16, 3))
        self.model.rank(X, np.arange(16) // 8)
        self.model.save(folder / "model.shortlist")
        sl.load(folder / "model.shortlist")


MODELS = {name: lambda name=name: Texts(name) for name in LEARNERS}
MODELS |= {"TunedIndex within a bound": lambda: Texts("TunedIndex", "64MB")}
MODELS |= {f"Rater {name}": lambda name=name: Numbers(name) for name in RATERS}
MODELS |= {"DocumentRanker": Documents}


def run(count: int, n_askers: int = 3) -> tuple[Counter[str], Counter[str]]:
    """Teach each model so many batches; how much was done, and what went wrong."""
    done, wrong = Counter(), Counter()
    for name, make in MODELS.items():
        shared, alone = make(), make()
        over = threading.Event()

        def ask(seed: int, name: str = name, shared=shared, over=over) -> None:
            chance = random.Random(seed)
            with tempfile.TemporaryDirectory() as folder:
                while not over.is_set():
                    try:
                        shared.ask(chance, Path(folder))
                        done["questions"] += 1
                    except Exception as problem:
                        wrong[f"{name}, asking: {problem!r}"] += 1
                    time.sleep(0)

        askers = [threading.Thread(target=ask, args=(seed,)) for seed in range(n_askers)]
        for asker in askers:
            asker.start()
        for turn in range(1, count + 1):
            shared.teach(turn)
            done["batches"] += 1
        over.set()
        for asker in askers:
            asker.join()
        for turn in range(1, count + 1):
            alone.teach(turn)
        if store.checksum(shared.model.to_state()) != store.checksum(alone.model.to_state()):
            wrong[f"{name}: it is not what the same examples teach in peace"] += 1
    return done, wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--long", action="store_true", help="300 batches for each model")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    sys.setswitchinterval(1e-5)
    done, wrong = run(300 if given.long else given.count)
    for what, times in wrong.most_common():
        print(f"{times:6,d}  {what}")
    counts = f"{done['batches']:,} batches learned while {done['questions']:,} questions were asked"
    print(f"{counts}: {wrong.total():,} wrong")
    raise SystemExit(bool(wrong))


if __name__ == "__main__":
    main()
