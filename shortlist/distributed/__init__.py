"""The same training, ranking and evaluation on a Dask cluster: plain tasks and futures, merged in a fixed order.

with connect("tcp://10.0.0.1:8786") as client:
    cluster = Cluster(client, keep="finished")
    parts = cut(["s3://titles/*.jsonl"])
    model = train(cluster, parts, Categorizer(Rocchio()))
    print(evaluate(cluster, cut("held-out.jsonl"), model, ["P@1", "P@5"]).table())
"""

from collections.abc import Sequence
from typing import Any

from shortlist.distributed import categories, documents
from shortlist.distributed.answers import evaluate, rank
from shortlist.distributed.cluster import Cluster, ClusterLost, connect
from shortlist.distributed.parts import Part, cut
from shortlist.inputs import Skipped
from shortlist.models.document_ranker import DocumentRanker

__all__ = ["Cluster", "ClusterLost", "Part", "connect", "cut", "evaluate", "rank", "train"]


def train(cluster: Cluster, parts: Sequence[Part], model: Any, skipped: Skipped | None = None) -> Any:
    """Fit a Categorizer, a learner of categories (from rows of features) or a DocumentRanker; gives the fitted one."""
    room = documents if isinstance(model, DocumentRanker) else categories
    return room.train(cluster, parts, model, skipped)
