"""What every tool does, in its own process and environment: choose a setting, or train, rank and save, with the clock.

    python -m protocol choose|measure TOOL FOLDER OUT SECONDS THREADS        (in the folder of this file)

TOOL is a file in tools/ and, after a colon, an entry of it: ``linear_svm:LinearSVC``. It has

    settings(task)                    the settings to choose from, the first being the one to use without choosing
    class Model(task, **setting)      with three steps:
        prepare(documents)            raw documents to what the tool learns from
        train(prepared, labels)       that, and a list of label lists, to a model
        rank(documents, k)            raw documents to the k best labels of each, best first
        save(folder)                  the model to files
        from_vectors(documents, labels)   only where prepare does nothing for texts because train does it all: the
                                      seconds that training from vectors takes

FOLDER holds a split in a neutral format: train and test documents as lines (``train.txt``) or, where a set comes as
vectors, as a sparse matrix (``train.npz``); labels as lines with TABs between (``train.labels``).

Needs Python, NumPy and SciPy only, because it runs in every tool's environment.
"""

import gc
import importlib
import importlib.metadata
import json
import resource
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import scipy.sparse

K = 10  # labels that are ranked
SINGLY, SINGLY_SECONDS = 200, 5  # documents that are ranked one by one, fewer where that takes longer
WARM_UP = 512  # documents that are learned and ranked before the clock starts
CHOOSE_FROM, CHOOSE_ON = 20_000, 2_000  # the most documents to train on and to validate on when a setting is chosen


@dataclass(frozen=True)
class Task:
    """What a tool may know about a set before it sees it."""

    name: str
    kind: str  # "text" or "vectors"
    labels: int
    several: bool  # whether a document may have several labels
    threads: int  # as many as it may use


class Documents:
    """Texts or rows of a matrix."""

    def __init__(self, items):
        self.items = items

    def __len__(self):
        return self.items.shape[0] if scipy.sparse.issparse(self.items) else len(self.items)

    def __getitem__(self, where):
        if scipy.sparse.issparse(self.items) or isinstance(where, slice):
            return self.items[where]
        return [self.items[i] for i in where]


def read(folder, part):
    """The documents and the label lists of a part of a split."""
    labels = [line.split("\t") for line in (folder / f"{part}.labels").read_text(encoding="utf-8").splitlines()]
    matrix = folder / f"{part}.npz"
    if matrix.exists():
        return Documents(scipy.sparse.load_npz(matrix)), labels
    return Documents((folder / f"{part}.txt").read_text(encoding="utf-8").split("\n")[:-1]), labels


def choose(tool, task, folder, out, seconds):
    """Try the settings in turn, on a part of the training documents, while there is time; keep the best by P@1."""
    documents, labels = read(folder, "train")
    held_out = range(9, len(documents), 10)[:CHOOSE_ON]
    learned = [i for i in range(len(documents)) if i % 10 != 9][:CHOOSE_FROM]
    spent, tried = 0.0, []
    for setting in tool.settings(task):
        warm_up(tool, task, setting, documents, labels, out)
        start = time.perf_counter()
        model = tool.Model(task, **setting)
        model.train(model.prepare(documents[learned]), [labels[i] for i in learned])
        trained = time.perf_counter() - start
        ranked = model.rank(documents[list(held_out)], K)
        right = sum(bool(best) and best[0] in labels[i] for i, best in zip(held_out, ranked, strict=True))
        tried.append({"setting": setting, "P@1": right / len(held_out), "seconds": trained})
        chosen = max(tried, key=lambda one: one["P@1"])
        report = {"tried": tried, "documents": len(learned), "setting": chosen["setting"]}
        report["expected seconds"] = chosen["seconds"] * len(documents) / len(learned)
        write(out / "choice.json", report)
        spent += time.perf_counter() - start
        if spent > seconds:
            break


def measure(tool, task, folder, out):
    """Train, rank and save with the best setting, writing down what is done after each step."""
    documents, labels = read(folder, "train")
    choice = out / "choice.json"
    setting = json.loads(choice.read_text())["setting"] if choice.exists() else next(iter(tool.settings(task)))
    report = {"setting": setting, "versions": versions(tool.PACKAGES)}

    report["warm-up"] = warm_up(tool, task, setting, documents, labels, out)
    model = tool.Model(task, **setting)
    started, busy = time.perf_counter(), time.process_time()
    prepared = model.prepare(documents[:])
    report["prepare"] = time.perf_counter() - started
    model.train(prepared, labels)
    report["train"] = time.perf_counter() - started - report["prepare"]
    report["processor"] = time.process_time() - busy
    write(out / "times.json", report)

    model.save(out / "model")
    report["bytes"] = sum(path.stat().st_size for path in (out / "model").rglob("*") if path.is_file())
    del documents, labels, prepared
    documents, _ = read(folder, "test")
    started = time.perf_counter()
    ranked = model.rank(documents[:], K)
    report["batch"] = (time.perf_counter() - started) / len(documents)
    with open(out / "ranked.tsv", "w", encoding="utf-8") as file:
        file.writelines("\t".join(best) + "\n" for best in ranked)
    write(out / "times.json", report)

    some = [documents[i : i + 1] for i in range(min(SINGLY, len(documents)))]
    started, ranked_singly = time.perf_counter(), 0
    while ranked_singly < len(some) and time.perf_counter() - started < SINGLY_SECONDS:
        model.rank(some[ranked_singly], K)
        ranked_singly += 1
    report["singly"] = (time.perf_counter() - started) / ranked_singly
    report["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024  # before what only serves the clock
    if task.kind == "text" and hasattr(model, "from_vectors"):
        documents, labels = read(folder, "train")
        vectors = model.from_vectors(documents[:], labels)
        report["prepare"], report["train"] = max(report["train"] - vectors, 0.0), vectors
    report["done"] = True
    write(out / "times.json", report)


def warm_up(tool, task, setting, documents, labels, out):
    """Learn and rank a few documents, so that nothing is loaded or compiled on the clock; gives the seconds."""
    began = time.perf_counter()
    model = tool.Model(task, **setting)
    model.train(model.prepare(documents[:WARM_UP]), labels[:WARM_UP])
    model.rank(documents[:2], K)
    model.rank(documents[:1], K)
    gc.collect()
    gc.freeze()  # what was loaded and compiled is not searched for garbage on the clock
    (out / "warm").touch()  # from here on run.py counts
    return time.perf_counter() - began


def versions(packages):
    """Of Python and of packages, by their names on PyPI; shortlist may run from its sources."""
    installed = {each.metadata["Name"].lower(): each.version for each in importlib.metadata.distributions()}
    found = {package: installed.get(package) or importlib.import_module(package).__version__ for package in packages}
    return {"python": sys.version.split()[0]} | found


def write(path, report):
    path.write_text(json.dumps(report, indent=1))


def main(step, name, folder, out, seconds, threads):
    module, _, entry = name.partition(":")
    tool = importlib.import_module(f"tools.{module}")
    if entry:
        tool = tool.entry(entry)
    folder, out = Path(folder), Path(out)
    task = Task(**json.loads((folder / "task.json").read_text()), threads=int(threads))
    (out / "model").mkdir(parents=True, exist_ok=True)
    if step == "choose":
        choose(tool, task, folder, out, float(seconds))
    else:
        measure(tool, task, folder, out)


if __name__ == "__main__":
    if "--help" in sys.argv:
        print(__doc__)
        sys.exit()
    main(*sys.argv[1:])
