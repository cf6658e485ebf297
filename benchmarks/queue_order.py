"""How many judgements the queue's order saves: P@1 against texts judged, by expected gain and at
random.

    python -m benchmarks.queue_order DATA [SET ...] [--seeds 10] [--judged 300] [--texts 1000]
    [--tested 500]

DATA has the folder short_texts. For each seed a model learns 30 texts, and 1,000 others wait in the
queue of a server. Over HTTP one person asks for the next text, answers with its true label, and
goes on, 300 times. Twenty times on the way its model ranks the test part (the first 500 texts).
Both orders begin with the same model and the same queue. Prints P@1 on the way, averaged over
seeds, and how many judgements the order by gain needs to be as good as random order is at its end.
"""

import tempfile
from pathlib import Path

import numpy as np
from starlette.testclient import TestClient

import shortlist as sl
from benchmarks.running import arguments, per_cent_right, row, show, table
from benchmarks.sets import SHORT, short_texts
from shortlist.server import snapshots
from shortlist.server.app import make_app
from shortlist.server.replica import Replica
from shortlist.server.settings import ServerSettings

BEGINNING, POINTS = 30, 20
SHARES = (0, 0.2, 0.4, 0.6, 1)  # of the judgements, after which P@1 is shown


def curve(train, test, order, seed, n_texts, judged):
    """P@1 before the first judgement, and POINTS times on the way: one person, one order, one
    seed.
    """
    chosen = np.random.default_rng(seed).permutation(len(train[0]))[: BEGINNING + n_texts].tolist()
    texts, labels = ([column[n] for n in chosen] for column in train)
    truth = dict(zip(texts, labels, strict=True))
    with tempfile.TemporaryDirectory() as folder:
        base, state = Path(folder) / "base-model.shortlist", Path(folder) / "state"
        sl.Categorizer().fit(texts[:BEGINNING], labels[:BEGINNING]).save(base)
        state.mkdir()
        snapshots.take_base(state, base)
        replica = Replica(state)
        with TestClient(
            make_app(replica, ServerSettings(state, snapshot_seconds=1e9)),
            base_url="http://localhost",
        ) as server:
            for first in range(BEGINNING, len(texts), 200):
                ask(server, "queue", texts=texts[first : first + 200])
            measured = [precision(replica, test)]
            for n in range(1, judged + 1):
                item = ask(server, "queue/next", person="one", order=order)["item"]
                example = {"text": item["text"], "labels": [truth[item["text"]]], "key": item["id"]}
                ask(server, "learn", examples=[example])
                if n % (judged // POINTS) == 0:
                    measured.append(precision(replica, test))
    return measured


def precision(replica, test):
    """P@1 of the server's model on the test part."""
    return per_cent_right(replica.model.rank(test[0], 1).labels[:, 0], test[1])


def ask(server, path, **body):
    answer = server.post(f"/v1/{path}", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def main():
    parser = arguments(__doc__)
    parser.add_argument("sets", nargs="*", metavar="SET", default=list(SHORT))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--judged", type=int, default=300)
    parser.add_argument("--texts", type=int, default=1000)
    parser.add_argument("--tested", type=int, default=500)
    given = parser.parse_args()
    after = [f"{share * given.judged:.0f}" for share in SHARES]
    show(table(["set", "order", *after, f"as good as {given.judged} at random"]))
    for name in given.sets:
        train = short_texts(given.data, name)
        test = [column[: given.tested] for column in short_texts(given.data, name, "test")]
        settings = given.texts, given.judged
        mean = {
            order: np.mean(
                [curve(train, test, order, seed, *settings) for seed in range(given.seeds)], axis=0
            )
            for order in ("gain", "random")
        }
        reached = np.flatnonzero(mean["gain"] >= mean["random"][-1])
        needed = f"after {given.judged // POINTS * reached[0]}" if reached.size else "never"
        for order, values in mean.items():
            points = [f"{values[int(share * POINTS)]:.1f}" for share in SHARES]
            show(row(name, order, *points, needed if order == "gain" else ""))


if __name__ == "__main__":
    main()
