"""Who taught a vote: the lines of the journal sum to the weight exactly."""

import contextlib
from fractions import Fraction

import numpy as np
import pytest

import shortlist as sl
from shortlist.errors import InputError
from shortlist.models.label_changes import Change
from shortlist.server import snapshots
from shortlist.server.entries import Judgement, LabelChange
from shortlist.server.journal import Journal
from shortlist.server.replica import Replica
from shortlist.server.taught import (
    BEFORE_THE_JOURNAL,
    connection,
    vote_of,
    weights,
    who_taught,
)
from tests.server.servers import in_thread

WORDS = ["wheat", "corn", "bank", "rates", "rose", "fell", "zebra"]


@pytest.fixture(params=["tuned", "counts", "vectors"])
def folder(request, tmp_path):
    path = tmp_path / "state"
    path.mkdir()
    learner = sl.FeatureFocus() if request.param == "counts" else None
    model = sl.Categorizer(learner)
    vectors = np.eye(2) if request.param == "vectors" else None
    model.learn_many(["wheat rose", "bank fell"], ["grain", "money"], vectors=vectors)
    model.save(tmp_path / "m.shortlist")
    snapshots.take_base(path, tmp_path / "m.shortlist")
    random = np.random.default_rng(0)
    entries = []
    for n in range(120):
        text = " ".join(random.choice(WORDS[: 4 + n // 30], 4))
        label = "grain" if "wheat" in text or "corn" in text else "money"
        vector = None if vectors is None else np.array([n % 2, 1.0], dtype=np.float32)
        entries.append(Judgement(text, [label if n % 17 else "late"], vector=vector))
    entries[60:60] = [LabelChange(Change("rename", ("grain",), "crops"))]
    Journal.begin(path)
    with contextlib.closing(Journal(path)) as journal:
        journal.append(entries)
        journal.undo([7, 90])
    return path


def test_lines_sum_to_the_weight_exactly(folder):
    with contextlib.closing(Replica(folder, read_only=True)) as replica:
        model = replica.model
        found = 0
        for word in WORDS:
            for label in model.classes_.tolist():
                watched = connection(model, word, label)
                lines = who_taught(folder, watched)
                final = weights(model, watched)
                for part in (1, 2):
                    total = sum((Fraction(line[part]) for line in lines), Fraction(0))
                    assert total == final[part - 1]
                numbers = [line.number for line in lines]
                assert numbers == sorted(numbers)
                assert not {7, 90} & set(numbers)
                found += bool(lines)
                if lines and not model.n_vector_:
                    votes = [vote_of(model, watched, *line[1:]) for line in lines]
                    (vote,) = (
                        (vote for name, vote in model.explain(word, label) if name == word)
                        if any(final)
                        else (0.0,)
                    )
                    value = model.learner_.prepare(model.rows_of([word])).data
                    place = model.feature_names(model.rows_of([word]).indices.tolist()).index(word)
                    assert sum(votes) * value[place] == pytest.approx(vote, abs=1e-6)
        assert found > 10
        wheat = who_taught(folder, connection(model, "wheat", "crops"))
        assert wheat[0].number == BEFORE_THE_JOURNAL
        late = who_taught(folder, connection(model, "zebra", "crops"))
        assert all(line.number > 60 for line in late)


def test_it_stops_when_it_is_told_to(folder):
    with contextlib.closing(Replica(folder, read_only=True)) as replica:
        watched = connection(replica.model, "wheat", "crops")
    asked = []

    def go_on():
        asked.append(len(asked))
        return len(asked) < 5

    assert len(who_taught(folder, watched, go_on)) <= 5
    assert len(asked) == 5


def test_what_has_no_connection_is_refused(folder):
    with contextlib.closing(Replica(folder, read_only=True)) as replica:
        for word, label in (("unheard", "crops"), ("wheat", "sports"), ("", "crops")):
            with pytest.raises(InputError):
                connection(replica.model, word, label)
    rocchio = sl.Categorizer("rocchio").fit(["wheat", "bank"], ["a", "b"])
    with pytest.raises(InputError, match="no connections"):
        connection(rocchio, "wheat", "a")


def test_over_http(tmp_path, model_file):
    path = tmp_path / "served"
    path.mkdir()
    snapshots.take_base(path, model_file)
    with in_thread(path) as server:
        server.learn("wheat rose", ["grain"])
        bad = server.learn("wheat rates", ["money"])["number"]
        question = {"word": "wheat", "label": "money"}
        answer = server.get("/v1/taught", params=question).json()
        assert [line["number"] for line in answer["taught"]] == [bad]
        line = answer["taught"][0]
        assert (line["text"], line["labels"]) == ("wheat rates", ["money"])
        assert line["counted"] == answer["weight"] > 0
        server.ask("repair", number=bad, labels=["grain"])
        assert server.get("/v1/taught", params=question).json()["taught"] == []
        grain = server.get("/v1/taught", params=question | {"label": "grain", "limit": 1}).json()
        assert grain["taught"][0]["number"] == BEFORE_THE_JOURNAL
        assert grain["others"]["examples"] >= 1
        total = grain["taught"][0]["counted"] + grain["others"]["counted"]
        assert total == pytest.approx(grain["weight"])
        refused = server.get("/v1/taught", params=question | {"word": "unheard"})
        assert refused.status_code == 409
