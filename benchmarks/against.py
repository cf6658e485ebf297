"""This tree beside another one, such as that of before a change: the same jobs, in turn, each tree in its own process.

    python benchmarks/against.py OTHER DATA [--rounds N] [JOB ...]

OTHER is a checkout of the project (``git worktree add --detach OTHER COMMIT``), DATA a folder with Reuters-21578 in its
publisher's layout. Both do the same work with the same settings, on one thread. A round runs each job once in either
tree; the first, which compiles, does not count. Prints the least processor time of each, and the median of the ratios
of the rounds, which a busy machine moves less.
"""

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

HERE = Path(__file__).resolve()
ONE_BY_ONE = 2000  # texts that are learned, or ranked, one after the other


def jobs(data):
    """By its name, each job: what is made ready each time, and what is timed."""
    import numpy as np

    import shortlist as sl

    batches = list(sl.read(data / "reuters21578", format="reuters", split="train"))
    texts = [text for batch in batches for text in batch.texts]
    labels = [own for batch in batches for own in batch.labels]
    some, more = slice(ONE_BY_ONE), slice(ONE_BY_ONE, 2 * ONE_BY_ONE)
    vectors = sl.TextVectorizer(norm="l2").fit_transform(texts)
    generator = np.random.default_rng(0)
    X = generator.normal(size=(20_000, 10))
    y = np.digitize(X @ generator.normal(size=10) + generator.normal(size=20_000), [-3.0, -1.0, 1.0, 3.0])
    focus = sl.Categorizer(sl.FeatureFocus(), sl.TextVectorizer()).fit(texts, labels)
    file = f"model-{os.getpid()}.shortlist"

    def begun():
        return sl.Categorizer(sl.FeatureFocus(), sl.TextVectorizer()).learn_many(texts[some], labels[some])

    def learn(model):
        for text, own in zip(texts[more], labels[more], strict=True):
            model.learn(text, own)

    def save_and_load(model):
        model.save(file)
        sl.load(file)
        os.remove(file)

    return {
        "one text learned": (begun, learn),
        "one text ranked": (lambda: focus, lambda model: [model.rank(text) for text in texts[more]]),
        "all texts ranked": (lambda: focus, lambda model: model.rank(texts)),
        "Categorizer(FeatureFocus).fit": (
            lambda: sl.Categorizer(sl.FeatureFocus(), sl.TextVectorizer()),
            lambda model: model.fit(texts, labels),
        ),
        "Categorizer(FeatureFocus).learn_many": (
            lambda: sl.Categorizer(sl.FeatureFocus(), sl.TextVectorizer()),
            lambda model: model.learn_many(texts, labels),
        ),
        "texts to vectors": (sl.TextVectorizer, lambda text: text.fit_transform(texts)),
        "FeatureFocus.fit": (sl.FeatureFocus, lambda learner: learner.fit(vectors, labels)),
        "MMP.fit": (sl.MMP, lambda learner: learner.fit(vectors, labels)),
        "Rocchio.fit": (sl.Rocchio, lambda learner: learner.fit(vectors, labels)),
        "PRank.fit": (lambda: sl.PRank(passes=20), lambda learner: learner.fit(X, y)),
        "WidrowHoff.fit": (lambda: sl.WidrowHoff(passes=20), lambda learner: learner.fit(X, y)),
        "save and load": (lambda: focus, save_and_load),
    }


def work(data):
    """Answer each line, the name of a job, by how long it takes."""
    all_jobs = jobs(data)
    print("\t".join(all_jobs), flush=True)
    for line in sys.stdin:
        ready, timed = all_jobs[line.rstrip("\n")]
        given = ready()
        began = time.process_time()
        timed(given)
        print(time.process_time() - began, flush=True)


def worker(tree, data):
    environment = os.environ | {"PYTHONPATH": str(tree), "NUMBA_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, str(HERE), "--work", str(data)]
    return subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def asked(process, job):
    process.stdin.write(f"{job}\n")
    process.stdin.flush()
    return float(process.stdout.readline())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other", type=Path)
    parser.add_argument("data", type=Path)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("jobs", nargs="*")
    given = parser.parse_intermixed_args()
    both = [worker(tree, given.data) for tree in (given.other.resolve(), HERE.parent.parent)]
    _, names = (process.stdout.readline().rstrip("\n").split("\t") for process in both)
    print("| | before, ms | now, ms | ratio of least | median ratio |\n|---|--:|--:|--:|--:|")
    for job in given.jobs or names:
        times = [[asked(process, job) for process in both] for _ in range(given.rounds + 1)][1:]
        before, now = (1000 * min(column) for column in zip(*times, strict=True))
        middle = median(after / first for first, after in times)
        print(f"| {job} | {before:.1f} | {now:.1f} | {now / before:.3f} | {middle:.3f} |", flush=True)
    for process in both:
        process.stdin.close()
        process.wait()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        work(Path(sys.argv[2]))
    else:
        main()
