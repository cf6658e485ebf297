"""Learning from people who judge only the five labels that they are shown.

    python benchmarks/partial_judgements.py DATA [--set finna] [--start 10000] [--more 80000] [--tested 10000]
        [--skip 0] [--titles] [--ways NAME ...]

The first texts are learned with all their labels, as a library's old records are. Then texts come one after the other:
each is ranked, some labels are shown and judged, right or wrong, and the judgement is learned. Ways of doing that, each
from the same start: the five best labels; the five best of those that score below 1, which a tick would move; the ten
that the page shows; the five best, and the person adds one label that is right and was not shown, the first of the
text's own; the same, and the person says "that is all of them" where it is; every text with all its labels; the five
judged ones taken for all there are; and no further learning. Some of them also where the vocabulary's names have taught
the start, so that labels never seen can be shown. What comes last in the file is only ranked. Sets: finna (titles and
their subjects) and eurlex57k (laws and their concepts, the parts train and dev; --titles: their titles alone). Each
text is learned once, in the order of the file; --skip leaves out as many before.
"""

import argparse
import json
import sys
import time
from itertools import islice
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import shortlist as sl

SHOWN, ON_THE_PAGE, SURE = 5, 10, 1.0  # labels; a score that no tick raises
TOGETHER = 50  # texts that are ranked before any of them is learned


def finna(given):
    for batch in sl.read(given.data / "finna" / "finna.tsv.gz"):
        yield from zip(batch.texts, batch.labels, strict=True)


def eurlex57k(given):
    for part in ("train", "dev"):
        with open(given.data / "eurlex57k" / f"{part}.jsonl", encoding="utf-8") as lines:
            for law in map(json.loads, lines):
                yield law["title"] + ("" if given.titles else "\n" + law["text"]), law["labels"]


SETS = {"finna": (finna, "finna/finna-labels.tsv.gz"), "eurlex57k": (eurlex57k, "eurlex57k/labels.json")}


# Which labels of some texts are shown.


def best(model, texts, n=SHOWN):
    return [[label for label, _ in one] for one in model.rank(texts, n)]


def ten_best(model, texts):
    return best(model, texts, ON_THE_PAGE)


def not_sure(model, texts):
    return [[label for label, score in one if score < SURE][:SHOWN] for one in model.rank(texts, 3 * SHOWN)]


# What is said of a text, of which some labels were shown: which are right, which are wrong, and whether that is all.


def all_labels(shown, own):
    return own, [], True


def judged(shown, own):
    return [c for c in shown if c in own], [c for c in shown if c not in own], False


def one_added(shown, own):
    right, wrong, complete = judged(shown, own)
    return right + [c for c in own if c not in shown][:1], wrong, complete


def one_added_and_said(shown, own):
    right, wrong, _ = one_added(shown, own)
    return right, wrong, len(right) == len(set(own))


def taken_for_all(shown, own):
    return [c for c in shown if c in own], [], True


WAYS = {  # what is shown, what is said of it, and whether names teach
    "start": ("the start alone", best, None, False),
    "five": ("five judged", best, judged, False),
    "unsure": ("five below 1 judged", not_sure, judged, False),
    "ten": ("ten judged", ten_best, judged, False),
    "as-if-all": ("five, as if all", best, taken_for_all, False),
    "added": ("five, one added", best, one_added, False),
    "said": ("five, one added, all said", best, one_added_and_said, False),
    "all": ("all judged", best, all_labels, False),
    "names-start": ("names: the start alone", best, None, True),
    "names-five": ("names: five judged", best, judged, True),
    "names-said": ("names: one added, all said", best, one_added_and_said, True),
    "names-all": ("names: all judged", best, all_labels, True),
}


def go_on(model, examples, show, judge):
    """Rank, judge, learn; gives how many labels were judged right."""
    right = 0
    for first in range(0, len(examples), TOGETHER):
        some = examples[first : first + TOGETHER]
        texts = [text for text, _ in some]
        said = [judge(shown, own) for shown, (_, own) in zip(show(model, texts), some, strict=True)]
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
    parser.add_argument("--set", choices=SETS, default="finna")
    parser.add_argument("--start", type=int, default=10_000)
    parser.add_argument("--more", type=int, default=80_000)
    parser.add_argument("--tested", type=int, default=10_000)
    parser.add_argument("--skip", type=int, default=0)
    parser.add_argument("--titles", action="store_true")
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    given = parser.parse_args()
    source, names = SETS[given.set]
    last = given.skip + given.start + given.more + given.tested
    examples = [(text, list(own)) for text, own in islice(source(given), given.skip, last) if own]
    start, tested = examples[: given.start], examples[-given.tested :]
    more = examples[given.start : -given.tested]
    print(f"{given.set}: {len(start):,} texts to start with, {len(more):,} judged, {len(tested):,} ranked")
    print(f"{'':26} {'P@1':>6} {'P@5':>6}  labels said to be right")
    for way in given.ways:
        name, show, judge, taught = WAYS[way]
        vocabulary = sl.read_vocabulary(given.data / names, teach=5) if taught else None
        model = sl.Categorizer().set_vocabulary(vocabulary).fit(*map(list, zip(*start, strict=True)))
        began = time.process_time()
        right = go_on(model, more, show, judge) if judge else 0
        took, found = time.process_time() - began, measured(model, tested)
        print(
            f"{name:26} {found['P@1']:6.1f} {found['P@5']:6.1f}  {right:,} ({took:.0f} s of processor time)", flush=True
        )


if __name__ == "__main__":
    main()
