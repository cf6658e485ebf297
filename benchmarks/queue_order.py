"""How many judgements the queue's order saves: P@1 against texts judged, by expected gain and at random.

    python benchmarks/queue_order.py DATA [SET ...] [--seeds 10] [--judged 300] [--texts 1000] [--orders gain random]
        [--tested 500] [--kept FILE]

DATA has the folder short_texts. For each seed a model learns 30 texts, and 1,000 others wait in the queue of a
server. Over HTTP one person asks for the next text, answers with its true labels, and goes on, 300 times. Twenty times
on the way its model ranks the test part (the first 500 texts). Both orders begin with the same model and the same
queue. Prints a table: P@1 on the way, averaged over seeds, and how many judgements the order by gain needs to be as
good as random order is at its end: by the averages, and for each seed.
What is measured is added to FILE, a line of JSON for each trial, and trials that stand there are not made again.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from itertools import product
from pathlib import Path

import numpy as np
from starlette.testclient import TestClient

import shortlist as sl
from shortlist.server import snapshots
from shortlist.server.app import make_app
from shortlist.server.replica import Replica
from shortlist.server.settings import Settings

SETS = ("hwu64", "snips", "stackoverflow", "dbpedia")
BEGINNING, POINTS = 30, 20
SHARES = (0, 0.1, 0.2, 0.4, 0.6, 0.8, 1)  # of the judgements, after which P@1 is shown


def part(data: Path, name: str, which: str) -> tuple[list[str], list[list[str]]]:
    """Texts and label lists of a part of a set."""
    rows = [json.loads(line) for line in (data / "short_texts" / f"{name}.{which}.jsonl").open(encoding="utf-8")]
    own = [row.get("labels", row.get("label")) for row in rows]
    return [row["text"] for row in rows], [label if isinstance(label, list) else [label] for label in own]


class Trial:
    """One person, one order, one seed."""

    def __init__(self, train, test, order: str, seed: int, n_texts: int) -> None:
        chosen = np.random.default_rng(seed).permutation(len(train[0]))[: BEGINNING + n_texts].tolist()
        self.texts, self.labels = ([column[n] for n in chosen] for column in train)
        self.truth = dict(zip(self.texts, self.labels, strict=True))
        self.test, self.order = test, order

    def curve(self, folder: Path, judged: int) -> list[float]:
        """P@1 before the first judgement, and POINTS times on the way."""
        base = folder / "base-model.shortlist"
        sl.Categorizer().fit(self.texts[:BEGINNING], self.labels[:BEGINNING]).save(base)
        state = folder / "state"
        state.mkdir()
        snapshots.take_base(state, base)
        settings = Settings(state, snapshot_seconds=1e9)
        replica = Replica(state)
        with TestClient(make_app(replica, settings), base_url="http://localhost") as server:
            waiting = self.texts[BEGINNING:]
            for first in range(0, len(waiting), 200):
                ask(server, "queue", texts=waiting[first : first + 200])
            measured = [self.precision(replica)]
            for n in range(1, judged + 1):
                item = ask(server, "queue/next", person="one", order=self.order)["item"]
                example = {"text": item["text"], "labels": self.truth[item["text"]], "key": item["id"]}
                ask(server, "learn", examples=[example])
                if n % (judged // POINTS) == 0:
                    measured.append(self.precision(replica))
        return measured

    def precision(self, replica: Replica) -> float:
        """P@1 of the server's model on the test part."""
        texts, truth = self.test
        rankings = replica.model.rank(texts, 1)
        return sum(own[0] in labels for own, labels in zip(rankings.labels, truth, strict=True)) / len(texts)


def ask(server: TestClient, path: str, **body):
    answer = server.post(f"/v1/{path}", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def kept(file: Path | None) -> dict[tuple, list[float]]:
    """The curves that were measured before, by what they are of."""
    if file is None or not file.exists():
        return {}
    return {tuple(one["of"]): one["curve"] for one in map(json.loads, file.read_text().splitlines())}


def keep(file: Path | None, which: tuple, curve: list[float], seconds: float) -> None:
    if file is not None:
        with file.open("a") as lines:
            lines.write(json.dumps({"of": which, "curve": curve, "seconds": round(seconds, 1)}) + "\n")


def needed(curve, goal: float, judged: int) -> int | None:
    """Judgements after which a curve has reached a goal."""
    return next((judged // POINTS * n for n, value in enumerate(curve) if value >= goal), None)


def told(name: str, curves: dict[str, list[list[float]]], judged: int) -> None:
    """Rows of a table: P@1 in percent after these shares of the judgements, and when random's last was reached."""
    mean = {order: np.mean(of, axis=0) for order, of in curves.items()}
    for order, curve in mean.items():
        points = " | ".join(f"{100 * curve[int(share * POINTS)]:.1f}" for share in SHARES)
        reached = ""
        if order != "random" and "random" in mean:
            alone = [needed(own, other[-1], judged) for own, other in zip(curves[order], curves["random"], strict=True)]
            shown = ", ".join("never" if one is None else str(one) for one in alone)
            after = needed(mean[order], mean["random"][-1], judged)
            reached = f"{'never' if after is None else f'after {after}'} ({shown})"
        print(f"| {name} | {order} | {points} | {reached} |".replace("|  |", "| |"), flush=True)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("data", type=Path)
    options.add_argument("sets", nargs="*", default=SETS)
    options.add_argument("--seeds", type=int, default=10)
    options.add_argument("--judged", type=int, default=300)
    options.add_argument("--texts", type=int, default=1000)
    options.add_argument("--orders", nargs="+", default=["gain", "random"])
    options.add_argument("--tested", type=int, default=500)
    options.add_argument("--kept", type=Path)
    given = options.parse_args()
    done = kept(given.kept)
    parts = {}
    for name in given.sets:
        texts, labels = part(given.data, name, "test")
        parts[name] = part(given.data, name, "train"), (texts[: given.tested], labels[: given.tested])
    every = list(product(range(given.seeds), given.sets, given.orders))
    for seed, name, order in every:
        which = (name, order, seed, given.judged, given.texts, given.tested)
        if which not in done:
            began = time.process_time()
            with tempfile.TemporaryDirectory() as folder:
                done[which] = Trial(*parts[name], order, seed, given.texts).curve(Path(folder), given.judged)
            keep(given.kept, which, done[which], time.process_time() - began)
    for name in given.sets:
        curves: dict[str, list[list[float]]] = {order: [] for order in given.orders}
        for seed, own, order in every:
            if own == name:
                curves[order].append(done[name, order, seed, given.judged, given.texts, given.tested])
        told(name, curves, given.judged)


if __name__ == "__main__":
    main()
