"""The server under load: requests as fast as they are answered, or people at a queue.

    python -m benchmarks.serve MODEL TEXTS.tsv.gz [--seconds 30] [--connections 16] [--learn 50]
    python -m benchmarks.serve MODEL TEXTS.tsv.gz --people 20 [--seconds 30] [--a-minute 500]
    [--order gain]

Starts ``shortlist serve MODEL`` and asks it from processes of its own on the same machine, over
connections that stay open. Without --people each request ranks one title, with and without examples
being learned at a steady rate. With --people each of them, with a token of their own, takes the
next text of a queue, asks for its ranking and sends a judgement, over and over. Prints requests a
second, percentiles of the time to answer, and the server's processor time; beside them
``/healthz``, which does nothing: what a busy machine does to any request. Asking and answering
share the machine's cores.
"""

import asyncio
import gzip
import itertools
import json
import multiprocessing
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.running import arguments
from shortlist.server.people import Role, changing
from shortlist.server.review_queue import Queue

NOTHING = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
RANKED = ("ranking while learning", "ranking alone")
WARM_UP = 3  # seconds


def request(path, body, token=None):
    content = json.dumps(body).encode()
    known = f"Authorization: Bearer {token}\r\n" if token else ""
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{known}"
    return f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content


class Client:
    """A connection that stays open, and the times to answer of each kind of request."""

    def __init__(self, port, times):
        self.port, self.times = port, times

    async def __aenter__(self):
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        return self

    async def __aexit__(self, *_):
        self.writer.close()

    async def ask(self, kind, message):
        sent = time.perf_counter()
        self.writer.write(message)
        head = await self.reader.readuntil(b"\r\n\r\n")
        answer = await self.reader.readexactly(
            int(re.search(rb"content-length: (\d+)", head, re.IGNORECASE)[1])
        )
        self.times.setdefault(kind, []).append(time.perf_counter() - sent)
        assert head[9:12] == b"200", head
        return answer


async def load(port, examples, chosen, kind, seconds):
    """Ask over some connections, on each again as soon as it is answered; learn at a steady
    rate over eight.
    """
    times, began, due, given = (
        {},
        time.perf_counter(),
        itertools.count(1),
        itertools.cycle(examples),
    )

    async def ask(messages):
        async with Client(port, times) as client:
            while time.perf_counter() < began + seconds:
                await client.ask(kind, next(messages))

    async def teach():
        async with Client(port, times) as client:
            while (at := next(due) / chosen.learn) < seconds:
                await asyncio.sleep(max(0.0, began + at - time.perf_counter()))
                text, labels = next(given)
                body = {"examples": [{"text": text, "labels": labels}]}
                await client.ask("learning, on disk and in model", request("/v1/learn", body))

    messages = [
        request("/v1/rank", {"text": text, "k": 10}) if kind in RANKED else NOTHING
        for text, _ in examples
    ]
    asked = [
        ask(itertools.cycle(messages[n :: chosen.connections])) for n in range(chosen.connections)
    ]
    await asyncio.gather(*asked, *(teach() for _ in range(8 if kind == RANKED[0] else 0)))
    return times


async def judge(port, examples, chosen, tokens, seconds):
    """Everybody judges at their pace."""
    times, labels_of, began = {}, dict(examples), time.perf_counter()
    pace = 60 * len(tokens) / chosen.a_minute  # seconds from one judgement of a person to the next

    async def one(n, token):
        async with Client(port, times) as client:
            due = n * pace / len(tokens)
            while due < seconds:
                await asyncio.sleep(max(0.0, began + due - time.perf_counter()))
                await client.ask("nothing (/healthz)", NOTHING)
                asked = {"person": "whoever has the token", "order": chosen.order}
                item = json.loads(
                    await client.ask("the next text", request("/v1/queue/next", asked, token))
                )["item"]
                await client.ask("its ranking", request("/v1/rank", {"text": item["text"]}, token))
                example = {
                    "text": item["text"],
                    "labels": labels_of[item["text"]],
                    "key": item["id"],
                }
                judged = request("/v1/learn", {"examples": [example]}, token)
                await client.ask("judging, on disk and in model", judged)
                due += pace

    await asyncio.gather(*(one(n, token) for n, token in enumerate(tokens)))
    return times


def run(what, *given):
    return asyncio.run(what(*given))


def processor(pid):
    """Seconds of processor time that a process has taken: what a busy machine does not distort."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def started(model, state):
    """The server, and its port."""
    command = [
        sys.executable,
        "-m",
        "shortlist.cli",
        "serve",
        model,
        "--state",
        state,
        "--port",
        "0",
    ]
    said = state.parent / "said.txt"
    with open(said, "w") as stderr:
        server = subprocess.Popen(command, stderr=stderr)
    while server.poll() is None:
        if found := re.search(r"open http\S+:(\d+)/", said.read_text(encoding="utf-8")):
            return server, int(found[1])
        time.sleep(0.1)
    raise SystemExit("the server did not start")


def told(times, seconds, used):
    for name, own in times.items():
        p = np.percentile(own, [50, 95, 99, 99.9]) * 1000
        print(
            f"{name:32} {len(own) / seconds:8.1f} a second   median {p[0]:6.2f}  p95 {p[1]:6.2f}  "
            f"p99 {p[2]:6.2f}  "
            f"p99.9 {p[3]:7.2f}  most {max(own) * 1000:7.2f} ms"
        )
    print(
        f"{used:.2f} s of the server's processor time; load average {os.getloadavg()[0]:.1f}",
        flush=True,
    )


def main():
    parser = arguments(__doc__, data=False)
    parser.add_argument("model")
    parser.add_argument("texts", help="labels TAB title, gzipped")
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--learn", type=float, default=50, help="examples a second")
    parser.add_argument("--people", type=int, default=0)
    parser.add_argument("--a-minute", type=float, default=500, help="judgements of all people")
    parser.add_argument("--order", default="gain", help="of the queue: gain, date or random")
    chosen = parser.parse_args()
    with gzip.open(chosen.texts, "rt", encoding="utf-8") as file:
        lines = [line.rstrip("\n").split("\t")[:2] for line in itertools.islice(file, 20_000)]
    examples = [(text, labels.split()) for labels, text in lines]
    with (
        multiprocessing.get_context("spawn").Pool(1) as pool,
        tempfile.TemporaryDirectory() as folder,
    ):
        state = Path(folder) / "state"
        state.mkdir()
        rounds = [(load, kind) for kind in (*RANKED, "nothing (/healthz)")]
        if chosen.people:
            with changing(state) as people:
                rounds = [
                    (judge, [people.add(f"person {n}", Role.JUDGE) for n in range(chosen.people)])
                ]
        server, port = started(chosen.model, state)
        if chosen.people:
            queue = Queue(state)
            queue.add([text for text, _ in examples])
            queue.close()
        for what, given in rounds:
            pool.apply(run, (what, port, examples, chosen, given, WARM_UP))
            used = processor(server.pid)
            times = pool.apply(run, (what, port, examples, chosen, given, chosen.seconds))
            told(times, chosen.seconds, processor(server.pid) - used)
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
