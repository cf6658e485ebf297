"""The server under load, beside a plain FastAPI endpoint that answers a constant.

    python benchmarks/serve.py MODEL TEXTS.tsv.gz [--seconds 30] [--requests 200000]

Starts ``shortlist serve MODEL`` and asks it, from processes of its own on the same machine, to rank one
title in each request, over connections that stay open, while 50 examples a second are learned. Prints requests a
second, percentiles of the time to answer and the server's processor time, then the same for the constant, and with
--requests the server's memory over that many requests. Asking and answering share the machine's cores.
"""

from __future__ import annotations

import argparse
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

CONSTANT = """
import sys, uvicorn
from fastapi import FastAPI
app = FastAPI()
@app.post("/v1/rank")
async def constant():
    return {"rankings": [[{"label": "a", "score": 0.5}]]}
uvicorn.run(app, port=int(sys.argv[1]), workers=None, access_log=False, log_level="error")
"""


def request(path: str, body: object) -> bytes:
    content = json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content


async def exchange(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, message: bytes) -> int:
    """Send a request, read the answer whole, give its status."""
    status, _ = await whole_exchange(reader, writer, message)
    return status


async def whole_exchange(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, message: bytes
) -> tuple[int, bytes]:
    """Send a request, read the answer whole, give its status and its content."""
    writer.write(message)
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(re.search(rb"content-length: (\d+)", head, re.IGNORECASE)[1])
    return int(head[9:12]), await reader.readexactly(length)


async def ask(port: int, messages: list[bytes], connections: int, until: float, most: int) -> list[float]:
    """Ask over some connections, on each again as soon as it is answered; the times to answer."""
    times: list[float] = []
    left = itertools.count()

    async def one(messages: itertools.cycle[bytes]) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while time.perf_counter() < until and next(left) < most:
            began = time.perf_counter()
            status = await exchange(reader, writer, next(messages))
            times.append(time.perf_counter() - began)
            assert status == 200, status
        writer.close()

    await asyncio.gather(*(one(itertools.cycle(messages[n::connections])) for n in range(connections)))
    return times


async def teach(port: int, examples: list[tuple[str, list[str]]], rate: float, until: float) -> list[float]:
    """Learn at a steady rate, over eight connections; the times to acknowledge."""
    times: list[float] = []
    began, due = time.perf_counter(), itertools.count()
    given = itertools.cycle(examples)

    async def one() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while True:
            await asyncio.sleep(max(0.0, began + next(due) / rate - time.perf_counter()))
            if time.perf_counter() >= until:
                break
            text, labels = next(given)
            message = request("/v1/learn", {"examples": [{"text": text, "labels": labels}]})
            sent = time.perf_counter()
            status = await exchange(reader, writer, message)
            times.append(time.perf_counter() - sent)
            assert status == 200, status
        writer.close()

    await asyncio.gather(*(one() for _ in range(8)))
    return times


def run_in(process, what, *arguments):
    """Run a coroutine in a process of its own; gives a function that waits for its result."""
    return process.apply_async(_run, (what, arguments)).get


def _run(what, arguments):
    try:
        import uvloop

        return uvloop.run(what(*arguments))
    except ImportError:
        return asyncio.run(what(*arguments))


def told(name: str, times: list[float], seconds: float, cpu: float | None = None) -> None:
    p = np.percentile(times, [50, 95, 99, 99.9]) * 1000
    share = "" if cpu is None else f"   {1e6 * cpu / len(times):4.0f} µs of processor each"
    print(
        f"{name:32} {len(times) / seconds:8.0f} a second   median {p[0]:6.2f}  p95 {p[1]:6.2f}  p99 {p[2]:6.2f}  "
        f"p99.9 {p[3]:7.2f}  most {max(times) * 1000:7.2f} ms{share}", flush=True,
    )  # fmt: skip


def family(pid: int) -> list[int]:
    """A process and its children."""
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return [pid, *map(int, file.read().split())]


def memory(pid: int) -> float:
    """Megabytes that a process and its children hold, shared pages counted in parts."""
    kilobytes = [
        int(re.search(r"^Pss:\s+(\d+)", Path(f"/proc/{one}/smaps_rollup").read_text(), re.MULTILINE)[1])
        for one in family(pid)
    ]
    return sum(kilobytes) / 1000


def processor(pid: int) -> float:
    """Seconds of processor time that a process and its children have taken: what a busy machine does not distort."""
    ticks = 0
    for one in family(pid):
        fields = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def started(command: list[str], word: str) -> tuple[subprocess.Popen[str], int]:
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    for line in server.stderr:
        if word in line:
            port = int(re.search(r":(\d+)/", line)[1])
            multiprocessing.get_context("fork").Process(target=_drain, args=(server.stderr,), daemon=True).start()
            return server, port
    raise SystemExit("the server did not start")


def _drain(stream) -> None:
    for _ in stream:
        pass


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("texts", help="labels TAB title, gzipped")
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--learn", type=float, default=50, help="examples a second")
    parser.add_argument("--requests", type=int, default=0, help="for the memory")
    chosen = parser.parse_args()

    with gzip.open(chosen.texts, "rt", encoding="utf-8") as file:
        lines = [line.rstrip("\n").split("\t")[:2] for line in itertools.islice(file, 20_000)]
    examples = [(text, labels.split()) for labels, text in lines]
    messages = [request("/v1/rank", {"text": text, "k": 10}) for text, _ in examples]

    with multiprocessing.get_context("spawn").Pool(2) as pool, tempfile.TemporaryDirectory() as state:
        print(f"{os.cpu_count()} cores, {chosen.connections} connections, "
              f"{chosen.learn:g} examples learned a second; load average {os.getloadavg()[0]:.1f} before")  # fmt: skip
        command = [sys.executable, "-m", "shortlist.cli", "serve", chosen.model, "--state", state, "--port", "0"]
        server, port = started(command, "open http")
        run_in(pool, ask, port, messages, chosen.connections, time.perf_counter() + 3, 10**9)()
        rounds = [("ranking while learning", chosen.learn)] if chosen.learn else []
        for name, rate in [*rounds, ("ranking alone", 0.0)]:
            until, cpu = time.perf_counter() + chosen.seconds, processor(server.pid)
            asked = run_in(pool, ask, port, messages, chosen.connections, until, 10**9)
            taught = run_in(pool, teach, port, examples, rate, until) if rate else None
            told(name, asked(), chosen.seconds, processor(server.pid) - cpu)
            if taught:
                told("  learning, on disk and in model", taught(), chosen.seconds)
        if chosen.requests:
            step = max(chosen.requests // 5, 1)
            print(f"memory before: {memory(server.pid):.0f} MB")
            for n in range(5):
                run_in(pool, ask, port, messages, chosen.connections, time.perf_counter() + 3600, step)()
                print(f"  after {step * (n + 1):,} more requests: {memory(server.pid):.0f} MB", flush=True)
        server.terminate()
        server.wait()

        constant = subprocess.Popen([sys.executable, "-c", CONSTANT, "8765"])
        time.sleep(5)
        run_in(pool, ask, 8765, messages, chosen.connections, time.perf_counter() + 3, 10**9)()
        until, cpu = time.perf_counter() + chosen.seconds, processor(constant.pid)
        asked = run_in(pool, ask, 8765, messages, chosen.connections, until, 10**9)()
        told("FastAPI, a constant, one process", asked, chosen.seconds, processor(constant.pid) - cpu)
        constant.terminate()
        constant.wait()


if __name__ == "__main__":
    main()
