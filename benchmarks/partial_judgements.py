"""Learning from people who judge only the five labels that they are shown.

    python benchmarks/partial_judgements.py DATA [--set finna] [--start 10000] [--more 80000] [--tested 10000]

The first texts are learned with all their labels, as a library's old records are. Then texts come one after the other:
each is ranked, its five best labels are judged, right or wrong, and the judgement is learned. Beside that, from the
same start: every text with all its labels; the five judged ones taken for all there are; and no further learning. What
comes last in the file is only ranked. Sets: finna (titles and their subjects) and eurlex57k (laws and their concepts,
the parts train and dev). Each text is learned once, in the order of the file.
"""

import argparse
import json
import sys
import time
from itertools import islice
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import shortlist as sl

SHOWN = 5
TOGETHER = 50  # texts that are ranked before any of them is learned


def finna(data):
    for batch in sl.read(data / "finna" / "finna.tsv.gz"):
        yield from zip(batch.texts, batch.labels, strict=True)


def eurlex57k(data):
    for part in ("train", "dev"):
        with open(data / "eurlex57k" / f"{part}.jsonl", encoding="utf-8") as lines:
            for law in map(json.loads, lines):
                yield law["title"] + "\n" + law["text"], law["labels"]


def all_labels(shown, own):
    return own, [], True


def five_judged(shown, own):
    return [c for c in shown if c in own], [c for c in shown if c not in own], False


def five_taken_for_all(shown, own):
    return [c for c in shown if c in own], [], True


WAYS = {"all labels judged": all_labels, "five shown, judged": five_judged, "five shown, as if all": five_taken_for_all}


def go_on(model, examples, judge):
    """Rank, judge, learn; gives how many labels were judged right."""
    right = 0
    for first in range(0, len(examples), TOGETHER):
        some = examples[first : first + TOGETHER]
        texts = [text for text, _ in some]
        rankings = [[label for label, _ in one] for one in model.rank(texts, SHOWN)]
        said = [judge(shown, own) for shown, (_, own) in zip(rankings, some, strict=True)]
        labels, wrong, complete = map(list, zip(*said, strict=True))
        model.learn_many(texts, labels, wrong, complete)
        right += sum(map(len, labels))
    return right


def measured(model, tested):
    texts, labels = zip(*tested, strict=True)
    hits, first = 0, 0
    for ranking, own in zip(model.rank(list(texts), SHOWN), labels, strict=True):
        found = [label in own for label, _ in ranking]
        hits, first = hits + sum(found), first + any(found[:1])
    return {"P@1": 100 * first / len(tested), "P@5": 100 * hits / SHOWN / len(tested)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--set", choices=["finna", "eurlex57k"], default="finna")
    parser.add_argument("--start", type=int, default=10_000)
    parser.add_argument("--more", type=int, default=80_000)
    parser.add_argument("--tested", type=int, default=10_000)
    given = parser.parse_args()
    source = {"finna": finna, "eurlex57k": eurlex57k}[given.set](given.data)
    examples = [(text, list(own)) for text, own in islice(source, given.start + given.more + given.tested) if own]
    start, tested = examples[: given.start], examples[-given.tested :]
    more = examples[given.start : -given.tested]
    begun = sl.Categorizer().fit(*map(list, zip(*start, strict=True)))
    print(f"{given.set}: {len(start):,} texts to start with, {len(more):,} judged, {len(tested):,} ranked")
    print(f"{'':24} {'P@1':>6} {'P@5':>6}  labels said to be right")
    found = measured(begun, tested)
    print(f"{'the start alone':24} {found['P@1']:6.1f} {found['P@5']:6.1f}")
    for name, judge in WAYS.items():
        model, began = sl.Categorizer().fit(*map(list, zip(*start, strict=True))), time.process_time()
        right = go_on(model, more, judge)
        took, found = time.process_time() - began, measured(model, tested)
        print(f"{name:24} {found['P@1']:6.1f} {found['P@5']:6.1f}  {right:,} ({took:.0f} s of processor time)")


if __name__ == "__main__":
    main()
