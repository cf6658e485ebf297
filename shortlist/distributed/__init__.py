"""Training and evaluation on a Dask cluster: tasks and futures, merged in a fixed order.

with connect("tcp://10.0.0.1:8786") as client:
    cluster = Cluster(client, keep="finished")
    parts = cut(["s3://titles/*.jsonl"])
    model = train(cluster, parts, Categorizer(Rocchio()))
    print(evaluate(cluster, cut("held-out.jsonl"), model, ["P@1", "P@5"]).table())
"""

from shortlist.distributed.categories import evaluate, train
from shortlist.distributed.cluster import Cluster, ClusterLost, connect
from shortlist.distributed.parts import Part, cut

__all__ = ["Cluster", "ClusterLost", "Part", "connect", "cut", "evaluate", "train"]
