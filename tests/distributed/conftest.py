"""One small cluster for all tests of this room: two worker processes, which Dask starts again when they are killed."""

import json
import random

import pytest

pytest.importorskip("distributed", reason="the extra dask is not installed")


@pytest.fixture(scope="session")
def client():
    from shortlist.distributed.cluster import connect

    with connect(workers=2) as client:
        yield client


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("distributed")


def texts(n, seed=0):
    """Texts of 8 topics, most of them with two labels; words and labels go on appearing until the end."""
    chance = random.Random(seed)
    examples = []
    for i in range(n):
        topic = chance.randrange(8)
        last = topic * 20 + 30 + i // 20
        words = [f"word{chance.randrange(topic * 20, last)}" for _ in range(chance.randrange(1, 12))]
        examples.append((" ".join(words), [f"topic{topic}"] + [f"side{i // 40}"] * (i % 3 > 0)))
    return examples


@pytest.fixture(scope="session")
def json_file(folder):
    path = folder / "texts.jsonl"
    path.write_text("".join(json.dumps({"text": text, "labels": own}) + "\n" for text, own in texts(400)))
    return path
