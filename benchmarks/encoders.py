"""Encoders: processor time of a text beside sentence-transformers on the same weights, in one run
and one thread.

    python -m benchmarks.encoders DATA [--encoder all-MiniLM-L6-v2]

DATA has the folder short_texts: 3,000 texts of hwu64, in batches, and 300 of them one by one; the
better of three runs. sentence-transformers is measured where it is installed, and the largest
difference of a number in the vectors of 1,000 texts. First, what opening an encoder and a first
text take in a new process: processor time, and memory at most.
"""

import subprocess
import sys
from importlib.util import find_spec

import numpy as np

from benchmarks.running import arguments, row, show, table, timed
from benchmarks.sets import short_texts
from shortlist.encoders import finding, load_encoder

SEVERAL, SINGLY, COMPARED, RUNS = 3000, 300, 1000, 3
START = """
import resource, sys, time
from shortlist.encoders import load_encoder
load_encoder(sys.argv[1], threads=1)(["a first text"])
print(time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def ours(name):
    """Encode without the memory of earlier texts, as sentence-transformers does."""
    encoder = load_encoder(name, threads=1)
    return encoder._engine.vectors


def theirs(name):
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(1)
    model = SentenceTransformer(str(finding.find(name).where.parent), device="cpu")
    return lambda texts: model.encode(texts, show_progress_bar=False)


def milliseconds(encode, texts):
    return 1000 * min(timed(encode, texts)[1] for _ in range(RUNS)) / len(texts)


def main():
    parser = arguments(__doc__)
    parser.add_argument("--encoder", default="all-MiniLM-L6-v2")
    asked = parser.parse_args()
    command = [sys.executable, "-c", START, asked.encoder]
    seconds, megabytes = subprocess.run(
        command, capture_output=True, text=True, check=True
    ).stdout.split()
    print(
        f"opening and a first text: {float(seconds):.2f} s of processor time, "
        f"{float(megabytes):.0f} MB at most\n",
        flush=True,
    )
    texts = list(dict.fromkeys(short_texts(asked.data, "hwu64")[0]))[:SEVERAL]
    ways = {
        asked.encoder: ours(asked.encoder),
        f"{asked.encoder}:static": ours(f"{asked.encoder}:static"),
    }
    if find_spec("sentence_transformers"):
        ways["sentence-transformers"] = theirs(asked.encoder)
    show(table(["milliseconds of processor time per text", "one by one", "in batches"]))
    for name, encode in ways.items():
        encode(texts[:1])
        single = milliseconds(
            lambda some, encode=encode: [encode([text]) for text in some], texts[:SINGLY]
        )
        show(row(name, f"{single:.2f}", f"{milliseconds(encode, texts):.2f}"))
    if "sentence-transformers" in ways:
        found = load_encoder(asked.encoder)(texts[:COMPARED])
        print(
            "\nlargest difference: "
            f"{np.abs(found - ways['sentence-transformers'](texts[:COMPARED])).max():.1e}"
        )


if __name__ == "__main__":
    main()
