"""The same training, ranking and evaluation on a Dask cluster: plain tasks and futures, merged in a fixed order.

with connect("tcp://10.0.0.1:8786") as client:
    cluster = Cluster(client, keep="finished")
    parts = cut(["s3://titles/*.jsonl"])
    model = train(cluster, parts, Categorizer(Rocchio()))
    print(evaluate(cluster, cut("held-out.jsonl"), model, ["P@1", "P@5"]).table())
"""

from collections.abc import Sequence
from typing import Any, TypeVar

from shortlist.categories.learner import CategoryLearner
from shortlist.distributed import categories
from shortlist.distributed.answers import evaluate, rank
from shortlist.distributed.cluster import Cluster, ClusterLost, connect
from shortlist.distributed.parts import Part, cut
from shortlist.errors import InputError
from shortlist.inputs import Skipped
from shortlist.models.base import Model
from shortlist.models.category_model import CategoryModel
from shortlist.models.row_categorizer import RowCategorizer

__all__ = ["Cluster", "ClusterLost", "Part", "connect", "cut", "evaluate", "rank", "train"]

Trained = TypeVar("Trained", bound=Model[Any] | CategoryLearner)


def train(cluster: Cluster, parts: Sequence[Part], model: Trained, skipped: Skipped | None = None) -> Trained:
    """Fit a Categorizer, or a learner of categories (from rows of features); gives the fitted one."""
    if isinstance(model, CategoryLearner):
        return categories.train(cluster, parts, RowCategorizer(model), skipped).learner_
    if isinstance(model, CategoryModel):
        return categories.train(cluster, parts, model, skipped)
    raise InputError(f"{model.task} are learned on one machine; leave out --workers and --dask")
