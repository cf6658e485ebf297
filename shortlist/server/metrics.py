"""What Prometheus reads at /metrics."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest


class Metrics:
    """The numbers of a server."""

    def __init__(self) -> None:
        own = self.registry = CollectorRegistry()
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
        self.rolling = Gauge("shortlist_rolling", "R1 and R5 over the last 200 examples.", ["what"], registry=own)

    def answered(self, path: str, status: int | str, seconds: float) -> None:
        """Count a request."""
        self.requests.labels(path, status).inc()
        self.seconds.labels(path).observe(seconds)

    def page(self) -> bytes:
        return generate_latest(self.registry)


BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
