"""What Prometheus reads at /metrics."""

from __future__ import annotations

import time
from collections import deque

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest


class Metrics:
    """The numbers of a server."""

    def __init__(self) -> None:
        own = self.registry = CollectorRegistry()
        self._of: dict[tuple[str, int | str], tuple[Counter, Histogram]] = {}
        paths = ["path"]
        self.requests = Counter("shortlist_requests", "Requests answered.", ["path", "status"], registry=own)
        self.seconds = Histogram("shortlist_request_seconds", "Time to answer.", paths, registry=own, buckets=BUCKETS)
        self.texts = Counter("shortlist_texts_ranked", "Texts ranked.", registry=own)
        self.learned = Counter("shortlist_examples_learned", "Examples acknowledged.", registry=own)
        self.undone = Counter("shortlist_examples_undone", "Examples taken back.", registry=own)
        self.snapshots = Counter("shortlist_snapshots", "Snapshots, by how writing them ended.", ["end"], registry=own)
        self.in_flight = Gauge("shortlist_requests_in_flight", "Requests being answered.", registry=own)
        self.model = Gauge("shortlist_model", "The size of the model.", ["what"], registry=own)
        self.behind = Gauge("shortlist_examples_behind", "Examples in the journal not yet in the model.", registry=own)
        self.watched = Gauge("shortlist_watch", "How the model fares: /v1/watch in numbers.", ["what"], registry=own)

    def answered(self, path: str, status: int | str, seconds: float) -> None:
        """Count a request. Its counters are looked up once."""
        if (path, status) not in self._of:
            self._of[path, status] = (self.requests.labels(path, status), self.seconds.labels(path))
        count, times = self._of[path, status]
        count.inc()
        times.observe(seconds)

    def page(self) -> bytes:
        return generate_latest(self.registry)


BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class Speedometer:
    """Texts ranked in each of the last seconds, and how long they took."""

    def __init__(self, seconds: int = 10) -> None:
        self._last: deque[list[float]] = deque(maxlen=seconds)  # second, texts, time taken

    def add(self, texts: int, took: float) -> None:
        second = float(int(time.monotonic()))
        if not self._last or self._last[-1][0] != second:
            self._last.append([second, 0, 0.0])
        self._last[-1][1] += texts
        self._last[-1][2] += took

    def read(self) -> dict[str, float | None]:
        seconds = self._last.maxlen or 1
        since = time.monotonic() - seconds
        texts = sum(n for at, n, _ in self._last)
        recent = sum(n for at, n, _ in self._last if at >= since)
        took = sum(took for _, _, took in self._last)
        return {"ranked_per_second": recent / seconds, "microseconds": 1e6 * took / texts if texts else None}
