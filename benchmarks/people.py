"""People at work: each takes the next text of a queue, asks for its ranking, and sends a judgement, over and over.

    python -m benchmarks.people MODEL TEXTS.tsv.gz [--people 20] [--a-minute 500] [--seconds 60] [--order date]

Starts ``shortlist serve MODEL`` with so many people, each with a token, and has them judge at a steady
pace, from a process of its own on the same machine. Prints judgements a minute and percentiles of the time until a
judgement is on disk and in the model, of the ranking and of the next text before it; and, asked just as often in the
same run, of ``/healthz``, which does nothing: what a busy machine does to any request. Asking and answering share the
machine's cores.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import itertools
import json
import multiprocessing
import os
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.serve import processor, request, run_in, started, told
from benchmarks.serve import whole_exchange as exchange
from shortlist.server.journal import Journal
from shortlist.server.people import FILE, People, Role, changing
from shortlist.server.queue import Queue

NOTHING = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
ASKED = {
    "nothing": "nothing (/healthz)", "next": "the next text", "ranking": "its ranking",
    "judging": "judging, on disk and in model",
}  # fmt: skip
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


def with_token(message: bytes, token: str) -> bytes:
    return message.replace(b"\r\n", f"\r\nAuthorization: Bearer {token}\r\n".encode(), 1)


async def judge(
    port: int, tokens: list[str], labels_of: dict[str, list[str]], order: str, rate: float, seconds: float
) -> dict[str, list[float]]:
    """Everybody judges at their pace; the times of each kind of request."""
    times: dict[str, list[float]] = {name: [] for name in ASKED}
    began = time.perf_counter()
    pace = len(tokens) / rate  # seconds from one judgement of a person to the next

    async def timed(name: str, streams: Streams, message: bytes) -> dict[str, object]:
        sent = time.perf_counter()
        status, answer = await exchange(*streams, message)
        times[name].append(time.perf_counter() - sent)
        assert status == 200, status
        return json.loads(answer)

    async def one(n: int, token: str) -> None:
        streams = await asyncio.open_connection("127.0.0.1", port)
        due = began + n * pace / len(tokens)
        while due < began + seconds:
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            await timed("nothing", streams, NOTHING)
            asked = {"person": "whoever has the token", "order": order}
            found = await timed("next", streams, with_token(request("/v1/queue/next", asked), token))
            text, key = found["item"]["text"], found["item"]["id"]
            await timed("ranking", streams, with_token(request("/v1/rank", {"text": text}), token))
            body = {"examples": [{"text": text, "labels": labels_of[text], "key": key}]}
            await timed("judging", streams, with_token(request("/v1/learn", body), token))
            due += pace
        streams[1].close()

    await asyncio.gather(*(one(n, token) for n, token in enumerate(tokens)))
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("texts", help="labels TAB title, gzipped")
    parser.add_argument("--people", type=int, default=20)
    parser.add_argument("--a-minute", type=float, default=500)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--order", default="gain", help="of the queue: gain, date or random")
    chosen = parser.parse_args()
    with gzip.open(chosen.texts, "rt", encoding="utf-8") as file:
        lines = [line.rstrip("\n").split("\t")[:2] for line in itertools.islice(file, 20_000)]
    labels_of = {text: labels.split() for labels, text in lines}
    with multiprocessing.get_context("spawn").Pool(1) as pool, tempfile.TemporaryDirectory() as state:
        with changing(Path(state)) as people:
            tokens = [people.add(f"person {n}", Role.JUDGE) for n in range(chosen.people)]
        print(f"{os.cpu_count()} cores, {chosen.people} people, {chosen.a_minute:g} judgements a minute asked for; "
              f"load average {os.getloadavg()[0]:.1f} before")  # fmt: skip
        command = [sys.executable, "-m", "shortlist.cli", "serve", chosen.model, "--state", state, "--port", "0"]
        server, port = started(command, "open http")
        queue = Queue(Path(state))
        queue.add(labels_of)
        queue.close()
        pace = (chosen.order, chosen.a_minute / 60)
        run_in(pool, judge, port, tokens, labels_of, *pace, 5)()  # so that everything is warm
        used = processor(server.pid)
        times = run_in(pool, judge, port, tokens, labels_of, *pace, chosen.seconds)()
        judged = len(times["judging"])
        print(f"{60 * judged / chosen.seconds:.0f} judgements a minute, each with "
              f"{1000 * (processor(server.pid) - used) / judged:.1f} ms of processor time of the server; "
              f"load average {os.getloadavg()[0]:.1f} after")  # fmt: skip
        for name, shown in ASKED.items():
            told(shown, times[name], chosen.seconds)
        server.terminate()
        server.wait()
        journal = Journal(Path(state), read_only=True)
        persons = {one.person for one in journal.judged(limit=10**9)}
        journal.close()
        assert persons == set(People(Path(state) / FILE).everyone), "every judgement has its person"


if __name__ == "__main__":
    main()
