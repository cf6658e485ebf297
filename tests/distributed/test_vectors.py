"""Texts with vectors on a cluster: learned in parts, ranked as on one machine, refused where
they do not fit.
"""

import json

import numpy as np
import pytest

import shortlist as sl
from shortlist.data.texts import WithVectors
from shortlist.distributed import categories
from shortlist.distributed.cluster import Cluster
from shortlist.distributed.parts import cut
from shortlist.inputs import read

WIDE, TOPICS = 8, ("grain", "money", "oil", "ships")


def records(n, seed=0, wide=WIDE):
    """Of two topics that go together the vector tells which two, and the words which of them."""
    random = np.random.default_rng(seed)
    centres = np.random.default_rng(99).normal(size=(2, wide))
    topics = random.integers(4, size=n)
    vectors = centres[topics // 2] + 0.3 * random.normal(size=(n, wide))
    return [
        {
            "text": f"{'up' if c % 2 else 'down'} on day {n % 31}",
            "labels": [TOPICS[c]],
            "v": v.round(3).tolist(),
        }
        for n, (c, v) in enumerate(zip(topics, vectors, strict=True))
    ]


def written(path, some):
    path.write_text("".join(json.dumps(one) + "\n" for one in some))
    return str(path)


def test_parts_teach_nearly_what_one_machine_learns(client, tmp_path):
    path = written(tmp_path / "news.jsonl", records(400))
    parts = cut(path, vector="v", part_size=15_000)
    assert len(parts) > 2
    there, again = (categories.train(Cluster(client), parts, sl.Categorizer()) for _ in range(2))
    assert there.to_state().all_arrays().keys() == again.to_state().all_arrays().keys()
    for name, array in there.to_state().all_arrays().items():  # whichever worker did what
        assert array.tobytes() == again.to_state().all_arrays()[name].tobytes(), name
    here = sl.Categorizer().fit_batches(read(path, vector="v"))
    assert there.n_vector_ == here.n_vector_ == WIDE
    assert there.learner_.n_examples_ == here.learner_.n_examples_ == 400
    assert there.classes_.tolist() == here.classes_.tolist()
    batch = next(iter(read(written(tmp_path / "new.jsonl", records(200, seed=1)), vector="v")))
    assert isinstance(batch.texts, WithVectors)
    found, expected = there.score(batch.texts, batch.labels), here.score(batch.texts, batch.labels)
    assert expected > 0.9
    assert found > expected - 0.06
    words = sl.Categorizer().fit_batches(
        (some.texts.texts, some.labels) for some in read(path, vector="v")
    )
    assert found > words.score(batch.texts.texts, batch.labels) + 0.2


def test_one_part_is_what_a_pass_over_it_teaches(client, tmp_path):
    path = written(tmp_path / "news.jsonl", records(60))
    learner = sl.TunedIndex(passes=2, random_state=None)
    there = categories.train(Cluster(client), cut(path, vector="v"), sl.Categorizer(learner))
    here = sl.Categorizer(learner).fit_batches(read(path, vector="v"))
    batch = next(iter(read(path, vector="v")))
    assert there.learner_.vector_weights_[:, :4] == pytest.approx(
        here.learner_.vector_weights_[:, :4], abs=1e-5
    )
    assert there.rank(batch.texts, 4).scores == pytest.approx(
        here.rank(batch.texts, 4).scores, abs=1e-5
    )


def test_what_does_not_fit_is_refused(client, tmp_path):
    files = [
        written(tmp_path / "a.jsonl", records(30)),
        written(tmp_path / "b.jsonl", records(30, wide=5)),
    ]
    with pytest.raises(
        sl.InputError, match=r"vectors have 5 numbers in .*b.jsonl and 8 in .*a.jsonl; all must"
    ):
        categories.train(Cluster(client), cut(files, vector="v"), sl.Categorizer())
    with pytest.raises(sl.InputError, match="vectors need the learner TunedIndex"):
        categories.train(Cluster(client), cut(files[0], vector="v"), sl.Categorizer(sl.Rocchio()))
    with pytest.raises(sl.InputError, match="an encoder works on one machine"):
        categories.train(
            Cluster(client),
            cut(files[0]),
            sl.Categorizer(encoder=lambda texts: np.ones((len(texts), 2))),
        )
