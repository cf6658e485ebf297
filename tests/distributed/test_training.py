"""Training on a cluster gives the model file of one machine, byte for byte, wherever the
mathematics is exact.
"""

import gzip
import random
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shortlist as sl
from shortlist.data.batch import RowBatch
from shortlist.data.labels import in_sorted_order, numbered
from shortlist.distributed import categories, train
from shortlist.distributed.cluster import Cluster
from shortlist.distributed.parts import cut
from shortlist.inputs import Skipped, read
from shortlist.learners.additive import rounded
from tests.distributed.conftest import texts

WEIGHTED = sl.TextVectorizer(tf="log", idf="plain", norm="pivoted", min_df=2, ngrams=2)


def saved(model, path):
    model.save(path)
    return path.read_bytes()


@pytest.mark.parametrize(
    ("learner", "text"),
    [
        (sl.IndependentIndex(), None),
        (sl.IndependentIndex(threshold=0.05), sl.TextVectorizer(hashed=50, idf="smooth")),
        (sl.Rocchio(), None),
        (sl.Rocchio(), WEIGHTED),
    ],
    ids=["IND chooses its threshold", "IND, hashed", "Rocchio", "Rocchio, rare words left out"],
)
def test_texts_as_on_one_machine(client, json_file, tmp_path, learner, text):
    parts = cut(str(json_file), part_size=7000)
    assert len(parts) > 3
    there = categories.train(Cluster(client), parts, sl.Categorizer(learner, text))
    here = sl.Categorizer(learner, text).fit_batches(
        (batch.texts, batch.labels) for batch in read(json_file)
    )
    assert saved(there, tmp_path / "there") == saved(here, tmp_path / "here")


def test_rows_as_on_one_machine(client, tmp_path):
    chance = random.Random(1)
    lines = [
        f"{chance.randrange(9)},{10 + chance.randrange(3)} "
        + " ".join(f"{f}:{chance.random()}" for f in sorted(chance.sample(range(1, 20 + i), 5)))
        for i in range(90)
    ]
    files = [tmp_path / "a.svm", tmp_path / "empty.svm", tmp_path / "b.svm.gz"]
    files[0].write_text("\n".join(lines[:60]) + "\n\n\n")
    files[1].write_text("")
    files[2].write_bytes(gzip.compress("\n".join(lines[60:]).encode()))
    (tmp_path / "all.svm").write_text("\n".join(lines))
    batch = next(iter(read(tmp_path / "all.svm")))
    for learner in (sl.IndependentIndex(), sl.Rocchio()):
        there = train(
            Cluster(client), cut(map(str, files), part_size=1500), sl.RowCategorizer(learner)
        ).learner_
        here = learner.fit_batch(
            RowBatch(batch.rows, in_sorted_order(numbered(batch.labels, len(batch))))
        )
        assert saved(there, tmp_path / "there") == saved(here, tmp_path / "here")


def test_a_first_line_of_sizes_is_no_example(client, tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("60 80 4\n" + "".join(f"{i % 4} {i}:1.5 {i + 9}:2\n" for i in range(60)))
    there = train(
        Cluster(client), cut(str(path), part_size=300), sl.RowCategorizer(sl.Rocchio())
    ).learner_
    batch = next(iter(read(path)))
    here = sl.Rocchio().fit_batch(RowBatch.of(batch.rows, batch.labels))
    assert saved(there, tmp_path / "there") == saved(here, tmp_path / "here")


def test_a_bad_line_is_an_error_or_left_out(client, json_file, tmp_path):
    lines = json_file.read_text().splitlines(keepends=True)
    path = tmp_path / "bad.jsonl"
    path.write_text(
        "".join([*lines[:150], '{"text": 3}\n', '{"text": "no label"}\n', *lines[150:]])
    )
    model = sl.Categorizer(sl.Rocchio())
    with pytest.raises(
        sl.InputError,
        match=r"bad.jsonl after byte \d+, line \d+, column 2: expected text in 'text'",
    ):
        categories.train(Cluster(client), cut(str(path), part_size=7000), model)
    skipped = Skipped()
    there = categories.train(
        Cluster(client), cut(str(path), part_size=7000, skip_bad=True), model, skipped
    )
    here = sl.Categorizer(sl.Rocchio()).fit_batches(
        (batch.texts, batch.labels) for batch in read(json_file)
    )
    assert saved(there, tmp_path / "there") == saved(here, tmp_path / "here")
    assert skipped.count == 2
    assert any("line" in sentence for sentence in skipped.sentences)


def test_nothing_to_learn_from_and_learners_that_do_not_merge(client, tmp_path):
    path = tmp_path / "empty.jsonl"
    path.write_text("\n\n")
    with pytest.raises(sl.InputError, match=r"empty\.jsonl has no examples"):
        categories.train(
            Cluster(client), cut(str(path), "json-lines"), sl.Categorizer(sl.Rocchio())
        )
    with pytest.raises(sl.InputError, match="cannot be trained on a cluster"):
        categories.train(Cluster(client), cut(str(path)), sl.Categorizer(sl.FrequencyBaseline()))
    with pytest.raises(sl.InputError, match="documents are learned on one machine"):
        train(Cluster(client), cut(str(path)), sl.DocumentRanker())


@pytest.mark.parametrize(
    "learner", [sl.FeatureFocus(passes=2), sl.MMP(passes=2)], ids=["FeatureFocus", "MMP"]
)
def test_shards_learn_nearly_what_one_machine_does(client, json_file, tmp_path, learner):
    parts = cut(str(json_file), part_size=12_000)
    assert len(parts) > 2
    there = categories.train(Cluster(client), parts, sl.Categorizer(learner))
    again = categories.train(Cluster(client), parts, sl.Categorizer(learner))
    # whichever worker did what
    assert saved(there, tmp_path / "there") == saved(again, tmp_path / "again")
    words, labels = zip(*texts(300, seed=5), strict=True)
    here = sl.Categorizer(learner).fit_batches(
        (batch.texts, batch.labels) for batch in read(json_file)
    )
    assert there.learner_.n_examples_ == here.learner_.n_examples_ == 400
    assert there.classes_.tolist() == here.classes_.tolist()
    assert there.learner_.label_counts_.tolist() == here.learner_.label_counts_.tolist()
    assert there.score(words, labels) > here.score(words, labels) - 0.05


# What the equality rests on


@given(st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=60), st.randoms())
def test_rounded_values_add_up_exactly_in_any_order(values, chance):
    values = rounded(np.array(values))
    order = list(range(values.size))
    chance.shuffle(order)
    one_after_another = 0.0
    for i in order:
        one_after_another += values[i]
    assert one_after_another == values.sum() == sum(values.tolist()[::-1])


@given(st.lists(st.floats(0, 1e300), max_size=20))
def test_rounding_changes_little(values):
    values = np.array(values)
    assert (np.abs(rounded(values) - values) <= 2.0**-24 * values).all()


@settings(max_examples=20)
@given(st.lists(st.integers(0, 60), max_size=3), st.booleans())
def test_vectorizers_merge_as_if_the_texts_had_come_one_after_another(cuts, hashed):
    words = [text for text, _ in texts(60)]
    make = sl.TextVectorizer(
        hashed=30 if hashed else None, idf="smooth", norm="pivoted", min_df=2, ngrams=2
    )
    edges = [0, *sorted(cuts), 60]
    merged = sl.TextVectorizer(**make.get_params())
    for first, last in pairwise(edges):
        merged.merge(sl.TextVectorizer(**make.get_params()).partial_fit(words[first:last]))
    merged.forget_rare()
    whole = make.fit(words)
    assert merged.to_state().settings == whole.to_state().settings
    for name, array in whole.to_state().arrays.items():
        assert merged.to_state().arrays[name].tobytes() == array.tobytes(), name
    assert (merged.transform(words) != whole.transform(words)).nnz == 0
