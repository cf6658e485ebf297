"""Odd connections: whatever comes over the wire, others are answered, and the server keeps its
size.

    python tests/hostile/connections.py --count 500
    python tests/hostile/connections.py --long          # 5,000 connections

Headers and trailers without an end, bodies of one byte at a time, requests half sent, connections
that say nothing or nobody reads, bytes that are no HTTP. All come without a token, many at a time;
meanwhile a client with the token ranks.
"""

import argparse
import collections
import random
import socket
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))  # when it is run as a program

from shortlist.server import snapshots
from shortlist.server.settings import Limits
from tests.hostile.kills import PATIENCE, Forked, make_model
from tests.server.servers import Client

TOKEN = "a token that is long enough"
LIMITS = Limits(idle=2, seconds=10, connections=100)  # a busy machine may take seconds to answer
AT_ONCE = 40  # connections by which the server is asked at a time, beside those that stay open
GET = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
CHUNKED = b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
ASK = b"POST /v1/rank HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
QUESTION = ASK + b"Content-Length: 1999999\r\n\r\n"


def endless(start, piece, n):
    def send(connection, chance):
        connection.sendall(start)
        for _ in range(n):
            connection.sendall(piece)

    return send


def noise(connection, chance):
    connection.sendall(chance.randbytes(chance.randrange(1, 5000)))


def mangled(connection, chance):
    request = bytearray(QUESTION + b'{"text": "wheat"}')
    for _ in range(chance.randrange(1, 6)):
        request[chance.randrange(len(request))] = chance.randrange(256)
    connection.sendall(request)


def unread(connection, chance):
    connection.sendall((b"GET /page/main.js HTTP/1.1\r\nHost: localhost\r\n\r\n") * 200)
    time.sleep(0.2)


KINDS = {
    "endless header": endless(GET + b"X: ", b"a" * 2**16, 60),
    "endless number of headers": endless(GET, b"X: a\r\n" * 10_000, 60),
    "endless address": endless(b"GET /", b"a" * 2**16, 60),
    "endless trailer": endless(CHUNKED + b"1\r\na\r\n0\r\nX: ", b"a" * 2**16, 60),
    "endless chunk size": endless(CHUNKED, b"0" * 2**16, 60),
    "endless chunk extension": endless(CHUNKED + b"1;", b"a" * 2**16, 60),
    "body nobody wants": endless(QUESTION, b" " * 2**14, 60),
    "one byte at a time": endless(QUESTION, b" ", 300),
    "header one byte at a time": endless(GET + b"X: ", b"a", 300),
    "half a request": endless(GET, b"", 0),
    "nothing": endless(b"", b"", 0),
    "answers that nobody reads": unread,
    "noise": noise,
    "mangled": mangled,
}


def attack(address, kind, seed, stay, outcomes):
    """One odd connection. It stays open until the server closes it."""
    outcome = "closed by the server"
    try:
        with socket.create_connection(address, PATIENCE) as connection:
            KINDS[kind](connection, random.Random(seed))
            if stay and kind != "answers that nobody reads":
                while connection.recv(2**16):
                    pass
            elif stay:
                time.sleep(3 * LIMITS.idle)
    except (ConnectionResetError, BrokenPipeError):
        pass
    except TimeoutError:
        outcome = "left open"
    outcomes[kind, outcome] += 1


def memory(pid):
    """The most that a process has used so far, in MB."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def trial(count, root, model_file, seed=7):
    """So many odd connections. Gives what became of them, the answers that others got, and MB
    by which it grew.
    """
    folder = root / "state"
    folder.mkdir()
    snapshots.take_base(folder, model_file)
    server = Forked(folder, token=TOKEN, limits=LIMITS)
    chance, outcomes, answers = random.Random(seed), collections.Counter(), collections.Counter()
    stop = threading.Event()
    host, _, port = server.url.removeprefix("http://").rstrip("/").partition(":")

    def ask():
        while not stop.is_set():
            with Client(
                base_url=server.url, timeout=PATIENCE, headers={"authorization": f"Bearer {TOKEN}"}
            ) as client:
                try:
                    answers[bool(client.best("wheat"))] += 1
                except Exception as problem:
                    answers[repr(problem)] += 1
            time.sleep(0.01)

    try:
        with Client(
            base_url=server.url, timeout=PATIENCE, headers={"authorization": f"Bearer {TOKEN}"}
        ) as client:
            assert client.best("wheat")
        before = memory(server.process.pid)
        asking = threading.Thread(target=ask)
        asking.start()
        try:
            kinds = [list(KINDS)[n % len(KINDS)] for n in range(count)]
            for first in range(0, count, AT_ONCE):
                jobs = [
                    (
                        (host, int(port)),
                        kind,
                        chance.randrange(2**60),
                        chance.random() < 0.5,
                        outcomes,
                    )
                    for kind in kinds[first : first + AT_ONCE]
                ]
                threads = [threading.Thread(target=attack, args=job) for job in jobs]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
        finally:
            stop.set()
            asking.join()
        alive = server.process.is_alive()
        grown = memory(server.process.pid) - before if alive else float("inf")
    finally:
        server.kill()
    tracebacks = (folder / "log").read_text().count("Traceback")
    return outcomes, answers, grown, tracebacks


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=280, help="connections")
    parser.add_argument("--long", action="store_true", help="5,000 connections")
    parser.add_argument("--seed", type=int, default=7)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        count = 5000 if arguments.long else arguments.count
        outcomes, answers, grown, tracebacks = trial(
            count, Path(name), make_model(Path(name)), arguments.seed
        )
    left = sum(n for (_, outcome), n in outcomes.items() if outcome == "left open")
    failed = answers.total() - answers[True]
    print(
        f"{outcomes.total():,} odd connections: {left} left open, {tracebacks} tracebacks; "
        f"{answers[True]:,} answers "
        f"to others, {failed} failed; memory grew by {grown:.0f} MB"
    )
    sys.exit(1 if left or failed or tracebacks or grown > 100 else 0)


if __name__ == "__main__":
    main()
