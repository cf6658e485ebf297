"""Labels that vote for labels: by their formulas, explained, saved, merged, and the same however they are learned."""

import numpy as np
import pytest
import scipy.sparse

from shortlist import Categorizer, TunedIndex, load
from shortlist.arrays.validation import as_rows
from shortlist.categories.allowed import Allowed
from shortlist.categories.checks import as_bytes
from shortlist.categories.index import company
from shortlist.categories.relabelling import merged, renamed, split_off
from shortlist.errors import ModelFileError
from tests.categories.test_tuned_index import company_of
from tests.reference.company import SlowCompany


def together(n=600, n_labels=40, seed=0):
    """Examples of four topics of ten labels each; words tell the topic, and one label is there in place of another."""
    random = np.random.default_rng(seed)
    topic = random.integers(0, 4, n)
    X = scipy.sparse.lil_array((n, 60))
    Y = []
    for i, t in enumerate(topic):
        X[i, 15 * t + random.integers(0, 15, 4)] = 1.0
        X[i, random.integers(0, 60, 2)] = 1.0
        half = 5 * int(random.integers(0, 2))
        Y.append(sorted({int(c) % n_labels for c in 10 * t + half + random.integers(0, 5, 12)} | {int(10 * t)}))
    return X.tocsr(), Y


@pytest.fixture(scope="module")
def learner():
    return TunedIndex(passes=2).fit(*together())


def test_the_best_twenty_vote_and_no_others():
    random = np.random.default_rng(1)
    votes = random.normal(size=(64, 64)).astype(np.float32)
    slow = SlowCompany(0.3)
    slow.v = {(a, b): float(votes[a, b]) for a in range(64) for b in range(64)}
    for n_found in (1, 19, 20, 21, 50):
        scores = np.zeros(64)
        found = random.permutation(64)[:n_found].astype(np.int32)
        scores[found] = random.choice([-0.5, 0.0, 0.25, 0.5, 0.75, 1.5], size=n_found)
        expected = slow.finished({int(c): float(scores[c]) for c in found})
        in_order = sorted(expected, key=lambda c: (-expected[c], c))
        for k in (1, 5, 20, 40):
            own, ids, best = scores.copy(), np.full(k, -1, dtype=np.int32), np.full(k, np.nan)
            company.keep_best_of_all(found, own, votes, company.room_for_mates(), ids, best)
            assert ids[ids >= 0].tolist() == in_order[:k]
            assert best[ids >= 0].tolist() == [expected[c] for c in in_order[:k]]


def test_learning_is_that_of_its_twin():
    random = np.random.default_rng(2)
    ids = np.array([random.permutation(50)[: company.MATES] for _ in range(200)], dtype=np.int32)
    ids[::7, 12:] = -1
    scores = -np.sort(-random.normal(0.3, 0.5, size=ids.shape), axis=1)
    truth = [sorted(random.permutation(50)[:6].tolist()) for _ in ids]
    labels = TunedIndex().fit(np.eye(50), np.arange(50))._labels.learn(truth, len(truth))
    votes, slow = np.zeros((64, 64), dtype=np.float32), SlowCompany(0.3)
    company.learn(company.Rankings(ids, scores, labels), votes, 50, slow.eta, slow.eta)
    for own, s, classes in zip(ids.tolist(), scores.tolist(), truth, strict=True):
        slow.learn([(c, one) for c, one in zip(own, s, strict=True) if c >= 0], classes, slow.eta)
    assert {pair: float(votes[pair]) for pair in zip(*votes.nonzero(), strict=True)} == slow.votes()


def test_few_labels_keep_no_company():
    X, Y = together()
    for own in (TunedIndex().fit(X, [y[:3] for y in Y]), TunedIndex(step=0).fit(X, Y)):
        assert not own._company.any()
        assert not any("company" in name for name in own._to_arrays())


def test_shards_keep_none(learner):
    shard = learner._shard(2)
    shard._company = company.NO_VOTES
    X, Y = together(seed=1)
    shard.partial_fit(X, Y)
    assert shard._company is company.NO_VOTES


def test_votes_add_up_to_the_score(learner):
    X, _ = together(20, seed=3)
    named = 0
    for i in range(20):
        for label, score in learner.rank(X[[i]], k=30)[0]:
            found = learner.explain(X[[i]], label)
            assert found.score == score
            assert sum(vote for _, vote in found) == pytest.approx(score, abs=1e-12)
            named += sum(isinstance(voter, str) and voter.startswith("(label ") for voter, _ in found)
    assert named > 0


def test_all_ways_of_ranking_agree(learner):
    X, _ = together(30, seed=4)
    scores = learner.decision_function(X)
    ranking, allowed = learner.rank(X, k=40), np.arange(40) % 3 > 0
    some = learner._rank_rows(learner._check(X), 5, Allowed(allowed))
    for i in range(30):
        there = ranking.ids[i][ranking.ids[i] >= 0]
        assert scores[i][there].tolist() == ranking.scores[i][: there.size].tolist()
        kept = [c for c in there.tolist() if allowed[c]][:5]
        assert some.ids[i][: len(kept)].tolist() == kept
        assert some.scores[i][: len(kept)].tolist() == scores[i][kept].tolist()


def test_a_stream_is_the_same_however_it_is_cut():
    X, Y = together()
    whole, pieces = TunedIndex().partial_fit(X, Y), TunedIndex()
    for first, last in ((0, 1), (1, 2), (2, 250), (250, 600)):
        pieces.partial_fit(X[first:last], Y[first:last])
    assert whole._company.any()
    assert as_bytes(whole) == as_bytes(pieces)


@pytest.mark.parametrize("values", ["raw", "l2"])
def test_rankings_made_on_the_way_are_those_of_rank(values):
    X, Y = together(150)
    X = scipy.sparse.hstack([X, scipy.sparse.diags_array(np.full(150, 3.0))]).tocsr()  # in each row something new
    which = np.arange(3, 150, 5)
    at_once, one_by_one = TunedIndex(values=values), TunedIndex(values=values)
    for learner in (at_once, one_by_one):
        learner._expect_labels([[label] for label in range(40)])
    found = []

    def watch(own, some, labels, order):
        found.append(own._rank_ahead(some.n_rows, which, 100, whole=True))
        yield order

    at_once._learn_rows(as_rows(X), Y, watch)
    for i in range(150):
        if i in which:
            ranking, at = one_by_one.rank(X[[i]], k=100), which.tolist().index(i)
            assert found[0].ids[at].tolist() == ranking.ids[0].tolist()
            assert found[0].scores[at].tobytes() == ranking.scores[0].tobytes()
        one_by_one.partial_fit(X[[i]], Y[i : i + 1])
    assert one_by_one._company.any()


def test_any_number_of_threads_learns_the_same_votes():
    X, Y = together(2000)
    one, three = (TunedIndex(block=64, n_jobs=n).fit(X, Y) for n in (1, 3))
    assert one._company.any()
    assert as_bytes(one.set_params(n_jobs=None)) == as_bytes(three.set_params(n_jobs=None))


def test_further_passes_go_through_the_last_rankings_only(monkeypatch):
    X, Y = together()
    usual = TunedIndex(passes=2).fit(X, Y)
    monkeypatch.setattr(company, "KEPT", 100)
    monkeypatch.setattr("shortlist.concurrency.interrupts.RUN", 64)
    fewer = TunedIndex(passes=2).fit(X, Y)
    assert company_of(usual) != company_of(fewer)
    monkeypatch.setattr("shortlist.concurrency.interrupts.RUN", 1000)
    assert company_of(TunedIndex(passes=2).fit(X, Y)) == company_of(fewer), "however it is cut"


def test_they_are_saved_and_go_on_learning(learner, tmp_path):
    X, Y = together(50, seed=5)
    learner.save(tmp_path / "model")
    opened, again = load(tmp_path / "model"), load(tmp_path / "model")
    assert opened.rank(X).scores.tobytes() == learner.rank(X).scores.tobytes()
    opened.partial_fit(X, Y)
    for i in range(50):
        again.partial_fit(X[[i]], Y[i : i + 1])
    assert as_bytes(opened) == as_bytes(again)


def test_relabelling_takes_the_votes_along(learner):
    X, _ = together(10, seed=6)
    other = renamed(learner, 3, "three")
    assert other.rank(X).scores.tobytes() == learner.rank(X).scores.tobytes()
    twins = split_off(learner, 3, "twin")
    place, twin = twins.classes_.tolist().index(3), len(twins.classes_) - 1
    assert (twins._company[twin, :place] == twins._company[place, :place]).all()
    assert twins._company[twin, twin] == twins._company[place, place]
    assert twins._company is not learner._company
    again = merged(twins, ["twin"], into=3)
    assert again.decision_function(X)[:, :-1] == pytest.approx(learner.decision_function(X))
    one = merged(learner, [3, 4], into=3)
    a, b = (learner.classes_.tolist().index(c) for c in (3, 4))
    assert not one._company[b].any()
    assert one._company[a, 39] == learner._company[a, 39] + learner._company[b, 39]


def test_merging_averages_votes():
    X, Y = together()
    one, other = TunedIndex().partial_fit(X[:300], Y[:300]), TunedIndex().partial_fit(X[300:], Y[300:])
    mine, theirs = company_of(one), company_of(other)
    one.merge(other)
    for pair, vote in company_of(one).items():
        assert vote == pytest.approx((mine.get(pair, 0.0) + theirs.get(pair, 0.0)) / 2, abs=1e-6)


def test_only_the_first_labels_have_votes(monkeypatch):
    monkeypatch.setattr(company, "MOST", 16)
    X, Y = together()
    few = TunedIndex().fit(X, Y)
    assert few._company.shape == (16, 16)
    assert few._company.any()
    assert few.rank(X[:5], k=40).ids.max() >= 16
    assert company.grown_votes(company.NO_VOTES, 5).shape == (8, 8)


def test_a_text_is_explained_by_its_labels_too():
    X, Y = together()
    texts = [" ".join(f"word{f}" for f in X[[i]].indices) for i in range(X.shape[0])]
    model = Categorizer().fit(texts, Y)
    found = [model.explain(text, label) for text in texts[:10] for label, _ in model.rank(text, 5)]
    named = [voter for one in found for voter, _ in one if isinstance(voter, str)]
    assert any(voter.startswith("(label ") for voter in named)
    assert all(len(one.spans) == len(one.votes) for one in found)


@pytest.mark.parametrize(
    ("name", "change", "sentence"),
    [
        ("company", lambda pairs: pairs[1:], "each vote of a label is for a label"),
        ("company", lambda pairs: pairs + 40, "labels that vote for labels are its own"),
        ("company", lambda pairs: -1 - pairs, "labels that vote for labels are its own"),
        ("company_votes", lambda votes: votes * np.float32(np.inf), "votes of labels are finite"),
    ],
)
def test_a_file_that_would_lead_astray_is_refused(learner, name, change, sentence):
    state = learner.to_state()
    state.arrays[name] = change(state.arrays[name])
    with pytest.raises(ModelFileError, match=sentence):
        TunedIndex.from_state(state)
