"""What a cluster trains knows how sure it is, from examples that were ranked before anybody had
taught them.
"""

import json
import random
from operator import itemgetter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shortlist as sl
from shortlist.confidence.observers import how_many
from shortlist.distributed import categories
from shortlist.distributed.categories import held_back
from shortlist.distributed.cluster import Cluster
from shortlist.distributed.parts import cut
from shortlist.files.store import checksum
from tests.distributed.conftest import texts

LEARNERS = [sl.TunedIndex(), sl.FeatureFocus()]


class Alone:
    """Does what a cluster does, one task after the other, in this process."""

    def submit(self, function, *arguments):
        return function(*arguments)

    def each(self, function, arguments, keys):
        for n in range(len(keys)):
            yield function(*arguments(n))


def written(path, examples):
    path.write_text(
        "".join(json.dumps({"text": text, "labels": own}) + "\n" for text, own in examples)
    )
    return str(path)


def tickets(n, seed):
    """Texts of one of 8 topics: a word or two of its own 40, and some that all topics have."""
    chance, examples = random.Random(seed), []
    for _ in range(n):
        topic = chance.randrange(8)
        own = [
            f"topic{topic if chance.random() < 0.8 else chance.randrange(8)}word{chance.randrange(40)}"
            for _ in range(chance.randrange(1, 4))
        ]
        examples.append(
            (" ".join(own + [f"any{chance.randrange(60)}" for _ in range(3)]), [f"topic{topic}"])
        )
    return examples


def trained(parts, learner=None, cluster=None):
    return categories.train(cluster or Alone(), parts, sl.Categorizer(learner))


@pytest.mark.parametrize("learner", LEARNERS, ids=["TunedIndex", "FeatureFocus"])
@pytest.mark.parametrize(
    "part_size", [3000, 20_000, 10**6], ids=["many parts", "two or three", "one"]
)
def test_the_same_whoever_does_it(client, json_file, learner, part_size):
    parts = cut(str(json_file), part_size=part_size)
    here, there = trained(parts, learner), trained(parts, learner, Cluster(client))
    assert here.confidence_.ready
    assert checksum(there.to_state()) == checksum(here.to_state())


@pytest.mark.parametrize("part_size", [7000, 10**6], ids=["several parts", "one"])
def test_the_model_is_the_same_without(json_file, monkeypatch, part_size):
    parts = cut(str(json_file), part_size=part_size)
    sure = trained(parts)
    monkeypatch.setattr(categories, "held_back", lambda counts: [0] * len(counts))
    unsure = trained(parts)
    assert sure.confidence_.ready
    assert not unsure.confidence_.ready
    assert checksum(sure.learner_.to_state()) == checksum(unsure.learner_.to_state())


@pytest.mark.long
@pytest.mark.parametrize(
    ("part_size", "within"),
    [(35_000, 0.08), (90_000, 0.05), (10**6, 0.05)],
    ids=["five parts", "two", "one"],
)
@pytest.mark.parametrize("in_order", [False, True], ids=["mixed", "by label"])
def test_what_it_says_of_itself_is_true_of_new_texts(tmp_path, part_size, within, in_order):
    """Probabilities from parts of 400 examples are 2 to 7 points too high, depending on where
    files are cut.
    """
    learned, (words, labels) = tickets(2000, seed=1), zip(*tickets(1000, seed=2), strict=True)
    learned = sorted(learned, key=itemgetter(1)) if in_order else learned
    model = trained(cut(written(tmp_path / "train.jsonl", learned), part_size=part_size))
    best = model.rank(words, 8).probabilities[:, 0]
    right = np.array(model.predict(words)) == np.array([own[0] for own in labels])
    assert 0.5 < right.mean() < 0.9
    assert best.mean() == pytest.approx(right.mean(), abs=within)


@pytest.mark.parametrize(
    "part_size", [7000, 20_000, 10**6], ids=["several parts", "two or three", "one"]
)
def test_random_labels_teach_nothing_and_it_knows(tmp_path, part_size):
    chance = random.Random(3)
    examples = [(text, [str(chance.randrange(10))]) for text, _ in texts(600)]
    model = trained(cut(written(tmp_path / "train.jsonl", examples), part_size=part_size))
    assert model.rank([text for text, _ in examples], 8).probabilities[:, 0].mean() < 0.2
    assert not any(model.assign([text for text, _ in examples], precision=0.9))


def test_rows_of_features_too(client, tmp_path):
    chance = random.Random(1)
    lines = [f"{i % 4} {i % 4 + 1}:1 {5 + chance.randrange(9)}:0.5\n" for i in range(300)]
    (tmp_path / "rows.svm").write_text("".join(lines))
    parts = cut(str(tmp_path / "rows.svm"), part_size=1000)
    model = categories.train(Cluster(client), parts, sl.RowCategorizer())
    assert model.confidence_.window.n_examples == 75
    model.save(tmp_path / "rows.shortlist")
    again = sl.load(tmp_path / "rows.shortlist")
    assert checksum(again.to_state()) == checksum(model.to_state())


def test_what_is_kept_is_not_ranked_again(client, json_file, tmp_path):
    parts = cut(str(json_file), part_size=7000)
    first = trained(parts, cluster=Cluster(client, keep=tmp_path / "kept"))
    kept = sorted((tmp_path / "kept").iterdir())
    written_at = [path.stat().st_mtime_ns for path in kept]
    again = trained(parts, cluster=Cluster(client, keep=tmp_path / "kept"))
    assert checksum(again.to_state()) == checksum(first.to_state())
    assert sorted((tmp_path / "kept").iterdir()) == kept
    assert [path.stat().st_mtime_ns for path in kept] == written_at


@given(st.lists(st.integers(0, 9000), min_size=1, max_size=12))
def test_each_part_leaves_its_share(counts):
    left, n = held_back(counts), sum(counts)
    assert sum(left) == min(n // 4, how_many(n))
    for own, count in zip(left, counts, strict=True):
        assert 0 <= own <= count
        assert abs(own - count * sum(left) / max(1, n)) <= 1
