"""Progressive validation on streams that drift: each document is ranked, then learned.

    python benchmarks/drift.py DATA --out DIR [--quick] [--cache DIR]

Streams: Reuters-21578 (documents with a topic) and the newsgroups in order of date, and a
generated one whose labels change their meaning half-way: texts of words drawn from 30 topics; after the change each
topic's words belong to the next topic's label. Learners: those in the tables below, river in an environment of its
own, scikit-learn's partial_fit on hashed words. All of them rank and then learn the same small batches.

Writes DIR/drift.json, DIR/drift.md and DIR/pictures/drift-<stream>.png: P@1 in windows, and how many examples after the
change it takes until P@1 in a window is back at its mean of the last windows before the change.
"""

import argparse
import json
import os
import re
import subprocess
import sys
from datetime import date, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE / "rivals")]
os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}

import time  # noqa: E402

import numpy as np  # noqa: E402

import shortlist as sl  # noqa: E402
from benchmarks.rivals.page import machine  # noqa: E402

BATCH = 50  # documents that are ranked before they are learned
WINDOW = 500  # documents of a point of the curve
BACK = 0.99  # of the P@1 before the change: recovered
TEXT = {"tf": "log", "idf": "smooth"}

# shortlist's learners: name -> a new Categorizer
SHORTLIST = {
    "shortlist": lambda: sl.Categorizer(),
    "FeatureFocus": lambda: sl.Categorizer(sl.FeatureFocus(), sl.TextVectorizer()),
    "MMP, margin 1": lambda: sl.Categorizer(
        sl.MMP(step="passive-aggressive", margin=1.0, C=0.1), sl.TextVectorizer(**TEXT, norm="l2")
    ),
}
# scikit-learn's, by parameters of SGDClassifier; the second takes the steps of Passive-Aggressive (PA-I)
SCIKIT_LEARN = {
    "SGDClassifier": {"loss": "hinge", "alpha": 1e-5},
    "SGDClassifier, PA-I": {"loss": "hinge", "penalty": None, "learning_rate": "pa1", "eta0": 1.0},
}
RIVER = ["MultinomialNB", "PAClassifier", "SoftmaxRegression"]  # its ComplementNB ranks a few documents a second


# Streams: texts, label lists, and where the meaning of labels changes.


def reuters(data):
    """All documents with a topic, by the minute of their date; the few whose date is unreadable are left out."""
    when = {}
    for path in (data / "reuters21578").glob("reut2-*.sgm"):
        dated = re.findall(
            r'NEWID="(\d+)">\s*<DATE>\s*(\d+-[A-Z]{3}-\d{4} \d{1,2}:\d\d:\d\d)', path.read_text(encoding="latin-1")
        )
        when |= {number: datetime.strptime(moment, "%d-%b-%Y %H:%M:%S") for number, moment in dated}
    found = [
        (when[number], int(number), text, topics)
        for batch in sl.read(data / "reuters21578", format="reuters")
        for number, text, topics in zip(batch.ids, batch.texts, batch.labels, strict=True)
        if topics and number in when
    ]
    found.sort()
    return [text for _, _, text, _ in found], [topics for _, _, _, topics in found], None


def newsgroups(data):
    """The bodies of the original postings, by the date in their headers; those without a readable one are left out."""
    found = []
    for path in sorted((data / "20_newsgroups").glob("*/*")):
        head, _, body = path.read_text(encoding="latin-1").partition("\n\n")
        line = re.search(r"^Date: (.*)$", head, re.MULTILINE)
        try:
            when = parsedate_to_datetime(line[1]).timestamp() if line else None
        except (ValueError, TypeError):
            when = None
        if when is not None:
            found.append((when, path.parent.name, " ".join(body.split())))
    found.sort()
    return [body for _, _, body in found], [[group] for _, group, _ in found], None


def generated(data, n=12_000, topics=30, words=50, common=2_000, length=20):
    """Texts of which three in ten are words of their topic, the rest common words; labels move on by one half-way."""
    random = np.random.default_rng(0)
    topic = random.integers(topics, size=n)
    own = random.integers(words, size=(n, length))
    shared = (common * random.random((n, length)) ** 2).astype(int)
    mine = random.random((n, length)) < 0.3
    texts = [
        " ".join(f"t{t}w{a}" if m else f"c{b}" for m, a, b in zip(*row, strict=True))
        for t, row in zip(topic, zip(mine, own, shared, strict=True), strict=True)
    ]
    change = n // 2
    labels = [[f"label{(t + (i >= change)) % topics}"] for i, t in enumerate(topic)]
    return texts, labels, change


STREAMS = {"reuters": reuters, "newsgroups": newsgroups, "generated": generated}
TITLES = {"reuters": "Reuters-21578 in order of date", "newsgroups": "20 Newsgroups in order of date",
          "generated": "a generated stream; labels change their meaning half-way"}  # fmt: skip


# Progressive validation: hits[i] is whether the best label of document i, before it was learned, is one of its own.


def with_shortlist(make, texts, labels):
    model = make()
    hits = np.zeros(len(texts), dtype=bool)
    for first in range(0, len(texts), BATCH):
        some, own = texts[first : first + BATCH], labels[first : first + BATCH]
        if first:
            hits[first : first + BATCH] = [best in y for best, y in zip(model.predict(some), own, strict=True)]
        model.learn_many(some, own)
    return hits


def with_scikit_learn(setting, texts, labels):
    """One example for each label of a document; all labels must be known in advance, which shortlist does without."""
    from sklearn.feature_extraction.text import HashingVectorizer
    from sklearn.linear_model import SGDClassifier

    text, model = HashingVectorizer(n_features=2**16, alternate_sign=False), SGDClassifier(random_state=0, **setting)
    classes = sorted({label for own in labels for label in own})
    hits = np.zeros(len(texts), dtype=bool)
    for first in range(0, len(texts), BATCH):
        X, own = text.transform(texts[first : first + BATCH]), labels[first : first + BATCH]
        if first:
            hits[first : first + BATCH] = [best in y for best, y in zip(model.predict(X), own, strict=True)]
        rows = [i for i, y in enumerate(own) for _ in y]
        model.partial_fit(X[rows], [label for y in own for label in y], classes=classes)
    return hits


def with_river(name, texts, labels, cache, limit):
    """In river's own environment, on the same texts; on as many as there is time for."""
    from environments import python_of

    python, problem = python_of("river", cache)
    if problem:
        raise RuntimeError(problem)
    given = json.dumps({"learner": name, "texts": texts, "labels": labels, "batch": BATCH, "seconds": limit})
    command = [python, HERE / "rivals" / "tools" / "river_stream.py"]
    done = subprocess.run(command, input=given, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1][:200])
    return np.array(json.loads(done.stdout), dtype=bool)


# The report.


def windowed(hits):
    """P@1 over the WINDOW documents that end at each one."""
    sums = np.concatenate([[0], np.cumsum(hits)])
    ends = np.arange(WINDOW, hits.size + 1)
    return ends, (sums[ends] - sums[ends - WINDOW]) / WINDOW


def recovery(hits, change):
    """Examples after the change until a window that lies wholly after it is back; None if none is.

    The window's own width is counted: the smallest answer is WINDOW.
    """
    before = hits[change - 2 * WINDOW : change].mean()
    ends, curve = windowed(hits)
    back = ends[(ends >= change + WINDOW) & (curve >= BACK * before)]
    return int(back[0] - change) if back.size else None


def picture(path, title, curves, change):
    from matplotlib.figure import Figure

    axes = Figure(figsize=(8, 4.5), layout="constrained").subplots()
    for name, hits in curves.items():
        ends, curve = windowed(hits)
        axes.plot(ends[:: WINDOW // 10], curve[:: WINDOW // 10], label=name, linewidth=1.2)
    if change:
        axes.axvline(change, color="black", linestyle=":")
    axes.set(title=title, xlabel="documents", ylabel=f"P@1 of the last {WINDOW}")
    axes.grid(alpha=0.3)
    axes.legend(fontsize=7)
    axes.figure.savefig(path, dpi=80)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--quick", action="store_true", help="the first 4,000 documents of the real streams")
    parser.add_argument("--streams", nargs="+", choices=list(STREAMS), default=list(STREAMS))
    parser.add_argument("--limit", type=float, default=300, help="seconds that river may take for a stream")
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache" / "shortlist-rivals")
    options = parser.parse_args()
    (options.out / "pictures").mkdir(parents=True, exist_ok=True)
    sl.Categorizer().learn("to compile", "or load").rank("the kernels")

    jobs = {f"{name}": (with_shortlist, (make,)) for name, make in SHORTLIST.items()}
    jobs |= {f"scikit-learn {name}": (with_scikit_learn, (setting,)) for name, setting in SCIKIT_LEARN.items()}
    jobs |= {f"river {name}": (with_river, (name,)) for name in RIVER}
    report = {}
    text = "# On streams that drift\n\n<!-- Printed by benchmarks/drift.py. -->\n\n"
    text += f"`python benchmarks/drift.py DATA --out DIR{' --quick' * options.quick}` printed this page on "
    text += f"{date.today().isoformat()}. Machine: {machine()}. Recovery: the examples after the change until P@1 of a "
    text += f"window of {WINDOW} that lies wholly after it is back at {BACK:.0%} of P@1 of the {2 * WINDOW:,} examples "
    text += "before the change.\n"
    for stream in options.streams:
        texts, labels, change = STREAMS[stream](options.data)
        if options.quick and change is None:
            texts, labels = texts[:4_000], labels[:4_000]
        rows, curves = [], {}
        for name, (run, given) in jobs.items():
            began, more = time.perf_counter(), (options.cache.resolve(), options.limit) if run is with_river else ()
            row = {"learner": name}
            try:
                hits = run(*given, texts, labels, *more)
            except RuntimeError as problem:
                row["problem"] = str(problem)
            else:
                curves[name] = hits
                row |= {"P@1": float(hits.mean()), "P@1 of the last tenth": float(hits[-hits.size // 10 :].mean())}
                row["seconds"] = time.perf_counter() - began
                row["documents"] = hits.size
                if change and hits.size > change:
                    row["P@1 before"] = float(hits[change - 2 * WINDOW : change].mean())
                    row["recovery"] = recovery(hits, change)
            rows.append(row)
            print(stream, row, file=sys.stderr, flush=True)
        report[stream] = {"documents": len(texts), "change": change, "window": WINDOW, "rows": rows}
        picture(options.out / "pictures" / f"drift-{stream}.png", TITLES[stream], curves, change)
        text += "\n" + section(stream, report[stream])
    (options.out / "drift.json").write_text(json.dumps(report, indent=1))
    (options.out / "drift.md").write_text(text, encoding="utf-8")


def section(stream, found):
    """A stream's table, best first; below them those that time ran out for, whose P@1 is that of fewer documents."""
    change = found["change"]
    text = f"## {TITLES[stream]}\n\n{found['documents']:,} documents, ranked and then learned, {BATCH} at a time.\n\n"
    text += "| learner | P@1 | P@1 of the last tenth | seconds |"
    text += " P@1 before the change | examples to recover |" if change else ""
    text += "\n" + "|---" * (6 if change else 4) + "|\n"
    whole = found["documents"]
    for row in sorted(found["rows"], key=lambda row: (row.get("documents", 0) != whole, -row.get("P@1", 0))):
        if "problem" in row:
            text += f"| {row['learner']} | {row['problem']} |" + " |" * (4 if change else 2) + "\n"
            continue
        part = "" if row["documents"] == whole else f", stopped after {row['documents']:,} documents"
        text += f"| {row['learner']}{part} | {row['P@1']:.3f} | {row['P@1 of the last tenth']:.3f} "
        text += f"| {row['seconds']:.1f} |"
        if change:
            text += f" {row['P@1 before']:.3f} |" if "P@1 before" in row else " – |"
            text += f" {row['recovery'] or 'not within the stream'} |" if "recovery" in row else " – |"
        text += "\n"
    return text + f"\n![P@1 in windows](pictures/drift-{stream}.png)\n"


if __name__ == "__main__":
    main()
