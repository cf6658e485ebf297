"""Commands on a cluster: --workers and --dask."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from shortlist.cli.options import Clustering, Reading
from shortlist.cli.terminal import lines_of, say, say_skipped, saying_warnings
from shortlist.errors import InputError, counted, installing

if TYPE_CHECKING:
    from shortlist.distributed import Cluster, Part
    from shortlist.inputs import Stream
    from shortlist.models.model import Model, Report
    from shortlist.models.training_settings import TrainingSettings


class OnCluster:
    """Files in parts, and a cluster that works on them."""

    def __init__(self, cluster: Cluster, parts: list[Part]) -> None:
        from shortlist.inputs import FORMATS, Skipped

        self.cluster = cluster
        self.parts = parts
        self.skipped = Skipped()
        self.format = parts[0].format
        self.holds_texts = "texts" in FORMATS[self.format].carries

    def train(self, parameters: TrainingSettings) -> Model[Any]:
        """Fit the model to all parts."""
        from shortlist.distributed import train

        model = parameters.model(of_texts=self.holds_texts)
        with saying_warnings(model):
            return train(self.cluster, self.parts, model, self.skipped)

    def evaluate(self, model: Model[Any], measures: list[str] | None, details: bool) -> Report:
        """Evaluate the model on all parts."""
        from shortlist.distributed.categories import judge

        chosen = model.default_measures if measures is None else measures
        return model.report_on(
            judge(self.cluster, self.parts, model, chosen, self.skipped), chosen, details=details
        )

    def lines(self, model: Model[Any], k: int, as_json: bool) -> Iterator[str]:
        """Yield the lines that ``rank`` prints."""
        from shortlist.distributed.categories import answers

        for lines in answers(
            self.cluster, self.parts, model, answered, k, as_json, skipped=self.skipped
        ):
            yield lines["lines"].tobytes().decode("utf-8", "surrogatepass")


def answered(
    model: Model[Any], part: Part, stream: Stream, k: int, as_json: bool
) -> dict[str, Any]:
    """Return the lines that ``rank`` prints for a part, as an array."""
    import numpy as np

    lines = "".join(lines_of(model.answer_batches(stream, k), as_json))
    return {"lines": np.frombuffer(lines.encode("utf-8", "surrogatepass"), dtype=np.uint8)}


def check_cluster(options: Clustering, parameters: TrainingSettings) -> None:
    """Refuse models that a cluster does not train, before one is started."""
    if options.asked and parameters.max_memory is not None:
        raise InputError("--max-memory is for one machine; leave out --workers and --dask")
    if options.asked and parameters.task != "categories":
        raise InputError(
            f"{parameters.task} are learned on one machine; leave out --workers and --dask"
        )


@contextmanager
def on_cluster(
    options: Clustering, reading: Reading, data: list[str]
) -> Iterator[OnCluster | None]:
    """Start or connect to the cluster of the options, with the data in parts; None without such
    options.
    """
    if not options.asked:
        for name, value in (("--keep", options.keep), ("--part-size", options.part_size)):
            if value is not None:
                raise InputError(f"{name} is for a cluster; add --workers N or --dask ADDRESS")
        if len(data) > 1:
            raise InputError(
                "several files are read on a cluster only; add --workers N or --dask ADDRESS "
                "(--output names a file to write)"
            )
        yield None
        return
    from shortlist.data.validation import as_real

    if reading.vectors is not None:
        raise InputError(
            "--vectors is for one machine; on a cluster, use vectors in the data: --vector-column"
        )
    if reading.target is not None:
        raise InputError(
            "tables of numbers with a --target are learned on one machine; leave out --workers and "
            "--dask"
        )
    if "-" in data:
        raise InputError("standard input cannot be read in parts; name files")
    try:
        from shortlist.distributed import Cluster, connect, cut
        from shortlist.distributed.parts import files, nothing_in
    except ImportError:
        raise InputError(f"--workers and --dask need Dask; {installing('dask')}") from None
    size = {}
    if options.part_size is not None:
        megabytes = as_real(options.part_size, "--part-size", least=1e-6, most=1e6)
        size["part_size"] = int(1e6 * megabytes)
    parts = cut(
        data,
        reading.format,
        encoding=reading.encoding,
        skip_bad=reading.skip_bad,
        **size,
        **reading.columns(),
        **reading.options(),
    )
    if not parts:
        raise nothing_in(data)
    for empty in sorted(set(files(data)) - {part.address for part in parts}):
        say(f"{empty} has no examples")
    with connect(options.dask, options.workers) as client:
        say(f"{counted(len(parts), 'parts')} on {counted(len(client.nthreads()), 'workers')}")
        work = OnCluster(Cluster(client, options.keep), parts)
        yield work
        say_skipped(work.skipped)
