"""People at work: each asks for a ranking and sends a judgement, over and over, with a token of their own.

    python -m benchmarks.people MODEL TEXTS.tsv.gz [--people 20] [--a-minute 500] [--seconds 60]

Starts ``shortlist serve MODEL --workers 2`` with so many people and has them judge at a steady pace, from a process of
its own on the same machine. Prints judgements a minute and percentiles of the time until a judgement is on disk and in
the model, and of the ranking before it. Asking and answering share the machine's cores.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import itertools
import multiprocessing
import os
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.serve import exchange, request, run_in, started, told
from shortlist.server.journal import Journal
from shortlist.server.people import FILE, People, Role, changing

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


def with_token(message: bytes, token: str) -> bytes:
    return message.replace(b"\r\n", f"\r\nAuthorization: Bearer {token}\r\n".encode(), 1)


async def judge(
    port: int, tokens: list[str], examples: list[tuple[str, list[str]]], rate: float, seconds: float
) -> tuple[list[float], list[float]]:
    """Everybody judges at their pace; the times to rank, and to acknowledge."""
    ranked: list[float] = []
    learned: list[float] = []
    given, began = itertools.cycle(examples), time.perf_counter()
    pace = len(tokens) / rate  # seconds from one judgement of a person to the next

    async def timed(times: list[float], streams: Streams, message: bytes) -> None:
        sent = time.perf_counter()
        status = await exchange(*streams, message)
        times.append(time.perf_counter() - sent)
        assert status == 200, status

    async def one(n: int, token: str) -> None:
        streams = await asyncio.open_connection("127.0.0.1", port)
        due = began + n * pace / len(tokens)
        while due < began + seconds:
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            text, labels = next(given)
            await timed(ranked, streams, with_token(request("/v1/rank", {"text": text}), token))
            body = {"examples": [{"text": text, "labels": labels}]}
            await timed(learned, streams, with_token(request("/v1/learn", body), token))
            due += pace
        streams[1].close()

    await asyncio.gather(*(one(n, token) for n, token in enumerate(tokens)))
    return ranked, learned


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("texts", help="labels TAB title, gzipped")
    parser.add_argument("--people", type=int, default=20)
    parser.add_argument("--a-minute", type=float, default=500)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--workers", type=int, default=2)
    chosen = parser.parse_args()
    with gzip.open(chosen.texts, "rt", encoding="utf-8") as file:
        lines = [line.rstrip("\n").split("\t")[:2] for line in itertools.islice(file, 20_000)]
    examples = [(text, labels.split()) for labels, text in lines]
    with multiprocessing.get_context("spawn").Pool(1) as pool, tempfile.TemporaryDirectory() as state:
        with changing(Path(state)) as people:
            tokens = [people.add(f"person {n}", Role.JUDGE) for n in range(chosen.people)]
        print(f"{os.cpu_count()} cores, {chosen.people} people, {chosen.a_minute:g} judgements a minute asked for; "
              f"load average {os.getloadavg()[0]:.1f} before")  # fmt: skip
        command = [sys.executable, "-m", "shortlist.cli", "serve", chosen.model, "--state", state, "--port", "0"]
        server, port = started([*command, "--workers", str(chosen.workers)], "open http")
        run_in(pool, judge, port, tokens, examples, chosen.a_minute / 60, 3)()  # so that everything is warm
        ranked, learned = run_in(pool, judge, port, tokens, examples, chosen.a_minute / 60, chosen.seconds)()
        told("ranking", ranked, chosen.seconds)
        told("judging, on disk and in model", learned, chosen.seconds)
        print(f"{60 * len(learned) / chosen.seconds:.0f} judgements a minute")
        server.terminate()
        server.wait()
        journal = Journal(Path(state), read_only=True)
        persons = {one.person for one in journal.judged(limit=10**9)}
        journal.close()
        assert persons == set(People(Path(state) / FILE).everyone), "every judgement has its person"


if __name__ == "__main__":
    main()
