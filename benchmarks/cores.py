"""What several cores bring: the time of each stage with one thread and with more, and what does not divide.

    python benchmarks/cores.py finna.tsv.gz                  # all titles, 1 and 2 threads
    python benchmarks/cores.py finna.tsv.gz 100000 1 2 4 16  # some titles, other numbers of threads

Nine titles of ten are learned, in the order of a shuffle; the rest is ranked. Each time is the best of three by the
clock, so that the machine should do nothing else; beside it stands the processor time with one thread. A stage's own
bytes are compared for all numbers of threads. What does not divide is timed for itself: Amdahl's law then says what
more cores would bring at most. That is a projection, and printed as one.

Cores share memory, so that no program can be as many times as fast as there are cores: beside each ratio stands what as
many programs of one thread, which have nothing to do with one another, do at the same time.
"""

import multiprocessing
import sys
import time

import numpy as np

import shortlist as sl
from shortlist.arrays.kernels import kernel
from shortlist.categories.index import learner, parts, teams
from shortlist.files.store import checksum
from shortlist.labels import NumberedLabels
from shortlist.models.text_batches import LabelBatches, default_text
from shortlist.text import rounds
from shortlist.texts import Texts, as_texts

BATCH, TIMES, PROJECTED = 2300, 3, 16
MEASURES = ["R1", "R5", "MRR", "P@5", "nDCG@5"]  # those of ``shortlist evaluate``


class Clock:
    """Adds up the time that some functions take when the main thread calls them."""

    def __init__(self, *places):
        self.seconds, self.places = 0.0, places

    def __enter__(self):
        self.before = [getattr(module, name) for module, name in self.places]
        for (module, name), function in zip(self.places, self.before, strict=True):
            setattr(module, name, self.timed(function))
        return self

    def timed(self, function):
        def call(*arguments):
            began = time.perf_counter()
            try:
                return function(*arguments)
            finally:
                self.seconds += time.perf_counter() - began

        return call

    def __exit__(self, *_):
        for (module, name), function in zip(self.places, self.before, strict=True):
            setattr(module, name, function)


def best(call):
    """The shortest of some times, the processor time of that call, and what it gave."""
    found = []
    for _ in range(TIMES):
        began, processor = time.perf_counter(), time.process_time()
        given = call()
        found.append((time.perf_counter() - began, time.process_time() - processor))
    return (*min(found), given)


def beside(call, n):
    """The longest of the times of n programs of one thread that run side by side."""
    fork = multiprocessing.get_context("fork")
    gate, seconds = fork.Barrier(n), fork.Array("d", n)

    def one(i):
        gate.wait()
        began = time.perf_counter()
        call(1)
        seconds[i] = time.perf_counter() - began

    programs = [fork.Process(target=one, args=(i,)) for i in range(n)]
    for program in programs:
        program.start()
    for program in programs:
        program.join()
    return max(seconds)


def stages(batches, texts, truth):
    """Name -> what is done with a number of threads; gives what makes a digest of it, which takes time of its own."""
    state = {}

    def count(n):
        text, labels = default_text(), LabelBatches()

        def read():
            for some, own in batches:
                text.settle(some, labels.add(own, len(some)).recurring)
                yield some

        state["rows"], state["labels"], state["text"] = text.fit_counts(read(), n), labels.all(), text
        return lambda: checksum(text.to_state())

    def learn(n):
        fitted = sl.TunedIndex(n_jobs=n, block=None)._fit_rows(state["rows"], state["labels"])
        state["model"] = sl.Categorizer()
        state["model"]._have_parts(state["text"], fitted)
        return lambda: checksum(fitted.set_params(n_jobs=None).to_state())

    def rank(n):
        state["model"].set_jobs(n)
        state["ranking"] = found = state["model"].rank(texts, k=200)
        return lambda: found.ids.tobytes() + found.scores.tobytes()

    def evaluate(n):
        numbers = state["model"].learner_.label_numbers(truth)
        found = sl.evaluate(state["ranking"], numbers, MEASURES, n_jobs=n)
        return lambda: repr(found.to_dict())

    return {"tokenise and number words": count, "learn": learn, "tokenise and rank": rank, "evaluate": evaluate}


class Alone(Clock):
    """What one thread of a team does while the others wait: what is outside of their loop, and what in it is between
    meetings of all, which is that of a block, times their number."""

    def __init__(self):
        super().__init__((teams.Team, "_learn"), (learner, "made_by_all"))
        self.not_alone = 0.0

    def __enter__(self):
        self.began = time.perf_counter()
        return super().__enter__()

    def __exit__(self, *problem):
        super().__exit__(*problem)
        self.seconds += time.perf_counter() - self.began - self.not_alone

    def timed(self, function):
        def make(*arguments):
            began = time.perf_counter()
            made = function(*arguments)
            self.not_alone += time.perf_counter() - began
            return made

        if function is learner.made_by_all:
            return make

        def call(team, task, position, index, rules):
            came = time.perf_counter()
            found = function(team, task, position, index, rules)
            last, times = min(team.size, task.order.size), 20
            copied = task._replace(stats=task.stats.copy(), to_come=task.to_come.copy())
            desk = teams.make_desk(team.n_threads, teams.STRETCH)
            alone(copied, last, team._block, desk, rules, index, 1)
            began = time.perf_counter()
            alone(copied, last, team._block, desk, rules, index, times)
            gone = time.perf_counter()
            self.seconds += (gone - began) / times * -(-(found[0] - position) // team.size)
            self.not_alone += gone - came
            return found

        return call


class Busiest(Clock):
    """The processor time of each thread of a team, which hardly depends on what else the machine does."""

    def __init__(self):
        super().__init__((teams, "learn_blocks"))
        self.of = {}

    def timed(self, function):
        def call(n, *arguments):
            began = time.thread_time()
            found = function(n, *arguments)
            self.of[n] = self.of.get(n, 0.0) + time.thread_time() - began
            return found

        return call


@kernel
def alone(task, last, block, desk, rules, index, times):
    for _ in range(times):
        teams.agree(task, 0, last, block, desk, rules)
        teams.gather(index, desk)
        teams.begin(task, 0, last, block, desk, rules)


# What one thread does while the others wait, beside what Python itself does between two pieces or rounds.
ALONE = {"tokenise and number words": lambda: Clock((rounds, "number_new")), "learn": Alone}


def main(path, n, threads):
    texts, labels = [], []
    began = time.perf_counter()
    for batch in sl.read(path):
        texts += list(batch.texts)
        labels += list(batch.labels)
        if len(texts) >= n:
            break
    size = teams.block_size(len(texts) * 9 // 10)
    print(f"{len(texts):,} titles; blocks of {size} examples, {parts.PARTS} parts of the features.")
    print(f"Reading took {time.perf_counter() - began:.1f} s: it does not divide, but a thread does it ahead.\n")
    order = np.random.default_rng(1).permutation(len(texts))
    cut = len(texts) * 9 // 10
    numbered = NumberedLabels.of(labels)
    batches = [  # as ``read`` makes them: texts end to end, names of labels that all batches share
        (Texts.of(as_texts([texts[i] for i in some])), NumberedLabels(numbered.names, numbered.sets.chosen(some)))
        for some in np.array_split(order[:cut], max(1, cut // BATCH))
    ]
    held_out = order[cut:]
    truth = NumberedLabels(numbered.names, numbered.sets.chosen(held_out))
    found = stages(batches, [texts[i] for i in held_out], truth)
    head = " | ".join(f"{k} threads, s" for k in threads)
    tail = f"{threads[-1]} programs | same bytes | alone, s | projected for {PROJECTED} cores"
    print(f"| stage | processor, s | {head} | times as fast | {tail} |")
    print("|---|--:|" + "--:|" * len(threads) + "--:|--:|---|--:|--:|")
    whole, alone_in_all, one_in_all = np.zeros(len(threads)), 0.0, 0.0
    for name, call in found.items():
        taken, digests, processor, alone = [], set(), 0.0, 0.0
        for k in threads:
            with ALONE.get(name, Clock)() if k > 1 else Clock() as clock:
                seconds, used, digest = best(lambda k=k, call=call: call(k))
            taken.append(seconds)
            digests.add(digest())
            if k == threads[0]:
                processor = used
            else:
                alone = clock.seconds / TIMES
        share = min(1.0, alone / taken[0])
        projected = f"{1 / (share + (1 - share) / PROJECTED):.1f}" if name in ALONE else "–"
        same = "yes" if len(digests) == 1 else "NO"
        row = " | ".join(f"{seconds:.2f}" for seconds in taken)
        ratio, most = taken[0] / taken[-1], threads[-1] * taken[0] / beside(call, threads[-1])
        print(
            f"| {name} | {processor:.2f} | {row} | {ratio:.2f} | {most:.2f} | {same} | {alone:.2f} | {projected} |",
            flush=True,
        )
        if name in ALONE:
            whole += taken
            alone_in_all, one_in_all = alone_in_all + alone, one_in_all + taken[0]
    share = alone_in_all / one_in_all
    print(f"\nFrom text to model: {whole[0] / whole[-1]:.2f} times as fast with {threads[-1]} threads as with one. "
          f"{share:.1%} of the time of one thread does not divide; by Amdahl's law that is at most "
          f"{1 / (share + (1 - share) / PROJECTED):.1f} times as fast on {PROJECTED} cores: a projection.")  # fmt: skip
    if size == 1:
        return  # so few are learned one by one
    busiest = []
    for k in threads:
        with Busiest() as team:
            found["learn"](k)
        busiest.append(max(team.of.values()))
    print(f"Processor time of learning blocks: {busiest[0]:.2f} s of one thread, {busiest[-1]:.2f} s of the busiest of "
          f"{threads[-1]}: {busiest[0] / busiest[-1]:.2f} times as fast where nothing else runs.")  # fmt: skip


if __name__ == "__main__":
    if "--help" in sys.argv:
        print(__doc__)
        sys.exit()
    numbers = [int(argument) for argument in sys.argv[2:]]
    main(sys.argv[1], numbers[0] if numbers else 10**9, numbers[1:] or [1, 2])
