"""Encoders of texts: processor time, vectors beside those of sentence-transformers, memory and start-up, in one run.

    python -m benchmarks.encoders DATA [--encoder NAME] [--texts N]

DATA has the folder short_texts; texts are those of hwu64. One by one is what a question at a prompt takes; a batch is
all at once, in one thread and in as many as there are processors. Beside it sentence-transformers, where it is
installed, with the same weights, and the largest difference of a number in a vector. Then a static table of the same
weights, and P@1 of LogisticRegression on the vectors, means of five draws.
"""

import argparse
import contextlib
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression

from benchmarks.rivals.sets import jsonl
from shortlist.encoders import finding, load_encoder

DRAWS = {5: 5, 10: 5, 0: 1}  # of so many texts a label; 0: all
START = """
import resource, time
def used(): return time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
began = used()
from shortlist.encoders import load_encoder
imported = used()
encoder = load_encoder({name!r}, threads=1)
loaded = used()
encoder(["a first text"])
first = used()
encoder(["text " * i for i in range(300)])
last = used()
print(imported[0] - began[0], loaded[0] - imported[0], first[0] - loaded[0], imported[1], loaded[1], last[1])
"""


def timed(call, texts):
    """Processor time and elapsed time per text, in milliseconds, and what was made."""
    began, started = time.process_time(), time.perf_counter()
    made = call(texts)
    scale = 1000 / len(texts)
    return scale * (time.process_time() - began), scale * (time.perf_counter() - started), made


def one_by_one(call):
    return lambda texts: np.concatenate([call([text]) for text in texts])


def theirs(name):
    """The encode method of sentence-transformers on the same files, in one thread; None where it is not installed."""
    with contextlib.suppress(ImportError):
        import torch
        from sentence_transformers import SentenceTransformer

        torch.set_num_threads(1)
        model = SentenceTransformer(str(finding.find(name).where.parent), device="cpu")
        return lambda texts: model.encode(texts, batch_size=32, show_progress_bar=False)


def show_times(name, texts):
    print("| | processor, ms a text | elapsed, ms a text |\n|---|--:|--:|")
    ways = {
        "one by one": (1, one_by_one),
        "batch, one thread": (1, lambda call: call),
        "batch": (None, lambda call: call),
    }
    made = {}
    for way, (threads, how) in ways.items():
        encoder = load_encoder(name, threads=threads)
        encoder(["a first text"])
        processor, elapsed, made[way] = timed(how(encoder), texts)
        print(f"| {way} | {processor:.2f} | {elapsed:.2f} |", flush=True)
    first, *others = made.values()
    print(f"\nthe same bits in all: {all(np.array_equal(first, one) for one in others)}")
    return first


def show_theirs(name, texts, ours):
    encode = theirs(name)
    if encode is None:
        print("\nsentence-transformers is not installed")
        return
    encode(["a first text"])
    print("\n| sentence-transformers | processor, ms a text | elapsed, ms a text |\n|---|--:|--:|")
    for way, how in (("one by one", one_by_one(encode)), ("batch, one thread", encode)):
        processor, elapsed, made = timed(how, texts)
        print(f"| {way} | {processor:.2f} | {elapsed:.2f} |", flush=True)
    print(f"\nlargest difference of a number: {np.abs(made - ours).max():.1e}")


def show_static(name, texts):
    began = time.process_time()
    encoder = load_encoder(f"{name}:static")
    made = time.process_time() - began
    encoder(["a first text"])
    processor, elapsed, _ = timed(encoder, texts)
    print(f"\nstatic table of {encoder.dimension} numbers: opened or made in {made:.1f} s of processor time;")
    print(f"{processor:.3f} ms of processor time a text, {1000 / elapsed:,.0f} texts a second")


def few(train, n, seed):
    """n texts of each label, at most, in random order; all, if n is 0."""
    left, chosen = {}, []
    for i in np.random.default_rng(seed).permutation(len(train[1])):
        left[train[1][i]] = left.get(train[1][i], n or len(train[1])) - 1
        if left[train[1][i]] >= 0:
            chosen.append(i)
    return [train[0][i] for i in chosen], [train[1][i] for i in chosen]


def show_quality(name, train, test):
    print("\n| P@1 of LogisticRegression | 5 a label | 10 a label | all |\n|---|--:|--:|--:|")
    for one in (name, f"{name}:static"):
        encoder, found = load_encoder(one), []
        new = encoder(test[0])
        for n, draws in DRAWS.items():
            p1 = []
            for seed in range(draws):
                texts, labels = few(train, n, seed)
                head = LogisticRegression(C=10, max_iter=300).fit(encoder(texts), labels)
                p1.append(100 * np.mean(head.predict(new) == np.asarray(test[1])))
            found.append(f"{np.mean(p1):.1f}")
        print(f"| {one} | {' | '.join(found)} |", flush=True)


def main(given):
    parts = [jsonl(given.data / "short_texts" / f"hwu64.{part}.jsonl") for part in ("train", "test")]
    train, test = ((texts, [own[0] for own in labels]) for texts, labels in parts)
    texts = list(dict.fromkeys(train[0]))[: given.texts]
    command = [sys.executable, "-c", START.format(name=given.encoder)]
    told = [float(one) for one in subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()]
    print("start-up, processor seconds: {:.2f} imports, {:.2f} load_encoder, {:.2f} first text".format(*told[:3]))
    print(
        "memory at most, MB: {:.0f} after imports, {:.0f} loaded, {:.0f} after 300 texts of any length\n".format(
            *told[3:]
        )
    )
    ours = show_times(given.encoder, texts)
    show_theirs(given.encoder, texts, ours)
    show_static(given.encoder, texts)
    show_quality(given.encoder, train, test)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--encoder", default="all-MiniLM-L6-v2")
    parser.add_argument("--texts", type=int, default=1000)
    main(parser.parse_args())
