"""What every tool does in its own process and environment: train, rank and save, or follow a
stream, with the clock.

    python -m protocol TOOL FOLDER OUT SECONDS        (in the folder of this file)

TOOL is a file in tools/ and, after a colon, one of its learners: ``scikit_learn:LinearSVC``. It has

    class Model(task, learner)        with
        train(documents, labels)      raw documents and a list of label lists to a model
        rank(documents, k)            raw documents to the k best labels of each, best first
        save(folder)                  the model to files
        start(names), learn(document, labels)     for streams: all labels there will be, then one document

FOLDER holds a split in a neutral format: train and test documents as lines (``train.txt``) or,
where a set comes as vectors, as a sparse matrix (``train.npz``); labels as lines with TABs between
(``train.labels``); for few examples the rows of each draw (``draws.json``). All times are processor
time, of all threads. SECONDS of it may be used.

Needs Python, NumPy and SciPy only, because it runs in every tool's environment.
"""

import argparse
import gc
import importlib
import importlib.metadata
import json
import resource
import shutil
import sys
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import scipy.sparse

K = 10  # labels that are ranked
# documents that are ranked one by one, fewer where that takes longer
SINGLY, SINGLY_SECONDS = 200, 4
WARM_UP = 512  # documents that are learned and ranked before the clock starts


@dataclass(frozen=True)
class Task:
    """What a tool may know about a set before it sees it."""

    name: str
    kind: str  # "text" or "vectors"
    labels: int
    several: bool  # whether a document may have several labels
    stream: bool = False


def read(folder, part):
    """The documents and the label lists of a part of a split."""
    labels = [
        line.split("\t")
        for line in (folder / f"{part}.labels").read_text(encoding="utf-8").splitlines()
    ]
    matrix = folder / f"{part}.npz"
    if matrix.exists():
        return scipy.sparse.load_npz(matrix), labels
    return (folder / f"{part}.txt").read_text(encoding="utf-8").split("\n")[:-1], labels


def some(documents, rows):
    return documents[rows] if scipy.sparse.issparse(documents) else [documents[i] for i in rows]


def measure(make, folder, out, report):
    """Train, rank and save, once for each draw, writing down what is done after each step."""
    documents, labels = read(folder, "train")
    draws = folder / "draws.json"
    draws = json.loads(draws.read_text()) if draws.exists() else [None]
    spent, ranking = [], []
    for number, rows in enumerate(draws):
        part, own = (
            (documents, labels)
            if rows is None
            else (some(documents, rows), [labels[i] for i in rows])
        )
        model = make()
        began = time.process_time()
        model.train(part, own)
        spent.append(time.process_time() - began)
        report["train"] = float(np.mean(spent))
        write(out, report)
        if number == 0:
            shutil.rmtree(out / "model", ignore_errors=True)
            (out / "model").mkdir()
            model.save(out / "model")
            report["bytes"] = sum(
                path.stat().st_size for path in (out / "model").rglob("*") if path.is_file()
            )
        new, _ = read(folder, "test")
        size = new.shape[0] if scipy.sparse.issparse(new) else len(new)
        began = time.process_time()
        ranked = model.rank(new, K)
        ranking.append((time.process_time() - began) / size)
        report["batch"] = float(np.mean(ranking))
        with open(out / f"ranked-{number}.tsv", "w", encoding="utf-8") as file:
            file.writelines("\t".join(best) + "\n" for best in ranked)
        write(out, report)
    each, began, done = [new[i : i + 1] for i in range(min(SINGLY, size))], time.process_time(), 0
    while done < len(each) and time.process_time() - began < SINGLY_SECONDS:
        model.rank(each[done], K)
        done += 1
    report["singly"] = (time.process_time() - began) / done


def stream(make, folder, out, report):
    """Rank each document, then learn it: whether its best label was right is counted before it
    is learned.
    """
    documents, labels = read(folder, "train")
    model, right = make(), 0
    model.start(sorted({label for own in labels for label in own}))
    began = time.process_time()
    for number, (document, own) in enumerate(zip(documents, labels, strict=True)):
        if number:
            best = model.rank([document], 1)[0]
            right += bool(best) and best[0] in own
        model.learn(document, own)
    report["train"] = time.process_time() - began
    report["measures"] = {"P@1": right / len(labels)}


def warm_up(make, task, folder, enough):
    """Learn and rank a few documents, so that nothing is loaded or compiled on the clock."""
    documents, labels = read(folder, "train")
    model = make()
    if task.stream:
        model.start(sorted({label for own in labels for label in own}))
        for document, own in zip(documents[:20], labels[:20], strict=True):
            model.learn(document, own)
    else:
        model.train(documents[:enough], labels[:enough])
        model.rank(documents[:2], K)
    model.rank(documents[:1], K)
    del model, documents, labels
    gc.collect()
    gc.freeze()  # what was loaded and compiled is not searched for garbage on the clock


def peak():
    """The most memory that this process had, in bytes; without what the process that started it
    had before.
    """
    status = Path("/proc/self/status")
    if status.exists():
        return 1024 * int(status.read_text().partition("VmHWM:")[2].split()[0])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def versions(packages):
    """Of Python and of packages, by their names on PyPI; shortlist may run from its sources."""
    installed = {
        each.metadata["Name"].lower(): each.version for each in importlib.metadata.distributions()
    }
    found = {
        package: installed.get(package) or importlib.import_module(package).__version__
        for package in packages
    }
    return {"python": sys.version.split()[0]} | found


def write(out, report):
    (out / "report.json").write_text(json.dumps(report))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name, kind in {"tool": str, "folder": Path, "out": Path, "seconds": float}.items():
        parser.add_argument(name, type=kind)
    given = parser.parse_args()
    module, _, learner = given.tool.partition(":")
    tool = importlib.import_module(f"tools.{module}")
    task = Task(**json.loads((given.folder / "task.json").read_text()))
    make = partial(tool.Model, task, learner)
    report = {"versions": versions(tool.PACKAGES)}
    warm_up(make, task, given.folder, getattr(tool, "WARM_UP", WARM_UP))
    (given.out / "warm").touch()
    most = int(time.process_time() + given.seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (most, most + 5))  # the system ends what takes longer
    (stream if task.stream else measure)(make, given.folder, given.out, report)
    write(given.out, report | {"memory": peak(), "done": True})


if __name__ == "__main__":
    main()
