"""Paper 002's protocols: what they say, the same numbers whatever the workers, and the order
that comes out.
"""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse

from papers import rating_tables
from papers import ratings as paper
from papers.comparators.ordinal_logistic import OrdinalLogistic
from papers.rating_data import read_movielens, read_movielens_1m
from shortlist import InputError


@pytest.fixture(scope="module")
def movielens(data_folder):
    return read_movielens(data_folder("movielens100k", "movielens100k") / "u.data")


def test_the_synthetic_stream_is_the_papers():
    X, y = paper.synthetic_stream(paper.SyntheticProtocol(rounds=200_000), 0)
    assert X.min() >= 0
    assert X.max() <= 1
    quiet = paper.SyntheticProtocol(rounds=1000, noise=0.0)
    X, y = paper.synthetic_stream(quiet, 3)
    b = [-np.inf, -1.0, -0.1, 0.25, 1.0]
    for (x1, x2), rating in zip(X, y, strict=True):
        assert rating == max(r for r in range(1, 6) if 10 * (x1 - 0.5) * (x2 - 0.5) > b[r - 1])
    assert not np.array_equal(X, paper.synthetic_stream(quiet, 4)[0])


def averaged(losses):
    """The mean over trials of the time-averaged losses: algorithms × rounds."""
    losses = np.mean(losses, axis=0)
    return np.cumsum(losses, axis=1) / np.arange(1, losses.shape[1] + 1)


@pytest.mark.long
def test_the_papers_order_comes_out_on_synthetic_streams():
    protocol = paper.SyntheticProtocol()
    prank, wh, mcp = averaged([paper.synthetic_trial(protocol, trial) for trial in range(3)])
    assert prank[-1] < wh[-1] < mcp[-1]
    assert wh[99] < min(prank[99], mcp[99])  # best at the very start
    assert 200 < np.flatnonzero(prank >= wh)[-1] < 1000


def test_the_algorithms_have_the_papers_numbers_of_parameters():
    X, y = paper.synthetic_stream(paper.SyntheticProtocol(rounds=300), 0)
    n, k = X.shape[1], 5
    learners = paper.paper_learners(0.05)
    prank, wh, mcp = (new(scale=[1, 2, 3, 4, 5]).fit(X, y) for new in learners.values())
    assert prank.coef_.size + prank.thresholds_.size == n + k - 1
    assert wh.coef_.size == n
    assert mcp.coef_.size == n * k


def test_the_running_median_sees_only_what_came_before():
    y = np.array([5, 1, 1, 4, 4, 4])
    assert paper.running_median(y, 5).tolist() == [3, 5, 1, 1, 1, 4]


def test_wh_learns_centred_ratings(movies):
    protocol = paper.MoviesProtocol(more_than=3)
    centred, median = paper.without_rows_trial(protocol, movies, 0)
    _, y = paper.viewer_stream(movies, protocol, 0)
    assert centred.shape == median.shape == (3,)
    assert centred[0] == abs(3 - y[0])  # nothing is learned yet: the middle


@pytest.fixture
def movies():
    return np.random.default_rng(0).integers(1, 6, size=(4, 9)).astype(np.int8)


def test_ordinal_logistic_regression_learns_steps():
    X = np.random.default_rng(0).normal(size=(300, 2))
    y = 1 + (X[:, :1] > np.array([-1, 0, 1])).sum(axis=1)
    learner = OrdinalLogistic(4, penalty=1e-4).fit(X[:200], y[:200])
    assert np.abs(learner.predict(X[200:]) - y[200:]).mean() < 0.1
    assert (np.diff(learner.thresholds_) > 0).all()


def test_movielens_1m_is_read_as_published_and_as_a_matrix(tmp_path):
    (tmp_path / "ratings.dat").write_text("1::10::5::978300760\n2::10::3::978302109\n")
    assert read_movielens_1m(tmp_path).tolist() == [[5], [3]]
    scipy.sparse.save_npz(tmp_path / "ratings.npz", scipy.sparse.csr_array([[5, 0], [3, 1]]))
    assert read_movielens_1m(tmp_path).tolist() == [[5, 0], [3, 1]]
    scipy.sparse.save_npz(tmp_path / "ratings.npz", scipy.sparse.csr_array([[6, 0]]))
    with pytest.raises(InputError, match="ratings from 1 to 5"):
        read_movielens_1m(tmp_path)


def test_a_viewers_stream_by_hand():
    ratings = np.array([[5, 3, 0, 1], [4, 0, 2, 0], [0, 0, 1, 0]])
    mean = np.array([5, 3, 1, 4, 2, 1]).mean()
    # by the viewer's films
    expected = {3: {5: (4 - mean) / 4, 3: 0.0, 1: 0.0}, 2: {4: (5 - mean) / 4, 2: 0.0}}
    seen = set()
    for seed in range(10):
        X, y = paper.viewer_stream(ratings, paper.MoviesProtocol(more_than=1, seed=seed), 0)
        assert X.shape == (len(y), 1)  # the third viewer has too few ratings
        assert {int(rating): x for rating, (x,) in zip(y, X, strict=True)} == pytest.approx(
            expected[len(y)]
        )
        seen.add(len(y))
    assert seen == {2, 3}
    with pytest.raises(InputError, match="fewer than two viewers"):
        paper.viewer_stream(ratings, paper.MoviesProtocol(more_than=3), 0)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "does not hold"),
        ("a\tb\t3\t0\n", "does not hold"),
        ("1\t1\t9\t0\n", "ratings from 1 to 5"),
        ("1\t1\t1.5\t0\n", "ratings from 1 to 5"),
        ("1\t1\tc\t0\n", "line 1, column 5: expected a rating"),
        ("1\t1\t5\n", "line 1, column 6: expected user, film, rating, time"),
    ],
)
def test_other_files_are_refused(tmp_path, text, says):
    (tmp_path / "u.data").write_text(text)
    with pytest.raises(InputError, match=says):
        read_movielens(tmp_path / "u.data")
    with pytest.raises(InputError, match="there is no file"):
        read_movielens(tmp_path / "absent")


@pytest.mark.data
def test_movielens_is_read_whole(movielens):
    assert movielens.shape == (943, 1682)
    assert np.bincount(movielens.ravel())[1:].tolist() == [6110, 11370, 27145, 34174, 21201]
    rated = (movielens > 0).sum(axis=1)
    assert ((rated > 100).sum(), (rated > 200).sum()) == (361, 148)


@pytest.mark.long
@pytest.mark.data
@pytest.mark.parametrize("more_than", [200, 100])
def test_on_movielens_the_papers_order_comes_out_in_the_batch_setting(movielens, more_than):
    """With averaged rules, smaller rows and intercepts for the rivals: PRank, then WH, then MCP."""
    width, learners = rating_tables.BATCH["averaged, features × ¼, intercepts"]
    protocol = paper.MoviesProtocol(more_than, feature_range=width, learners=learners)
    trials = [paper.batch_trial(protocol, movielens, trial) for trial in range(100)]
    prank, wh, mcp = np.mean(trials, axis=0)
    assert prank < wh < mcp


@pytest.mark.long
@pytest.mark.data
@pytest.mark.parametrize("more_than", [200, 100])
def test_on_movielens_the_last_rules_order_online(movielens, more_than):
    """PRank is ahead of WH as in the paper; MCP is ahead of PRank, and the running median, which
    sees no row, ahead of all.
    """
    protocol = paper.MoviesProtocol(more_than)
    trials = range(60)
    prank, wh, mcp = averaged([paper.movies_trial(protocol, movielens, t) for t in trials])
    assert prank.shape == (more_than,)
    _, median = averaged([paper.without_rows_trial(protocol, movielens, t) for t in trials])
    assert median[-1] < mcp[-1] < prank[-1] < wh[-1]


def test_features_can_be_shifted_by_a_constant_of_the_scale():
    """As the paper has it: a rating in the middle of the scale counts as none."""
    ratings = np.array([[1, 5, 3], [5, 5, 3], [4, 4, 3]], dtype=np.int8)
    protocol = paper.MoviesProtocol(more_than=1, shift="middle")
    X, _ = paper.viewer_stream(ratings, protocol, 0)
    by_mean, _ = paper.viewer_stream(ratings, replace(protocol, shift="mean"), 0)
    assert set(np.abs(X).ravel()) <= {0.0, 0.25, 0.5}
    np.testing.assert_allclose(X - by_mean, (ratings.mean() - 3) / 4)


def test_the_order_at_the_end_is_claimed_as_it_is():
    def done(setting, more_than, losses):
        if setting == "without rows":
            losses = [0.55, 0.4]
        trials = [[[one, one] for one in losses]]
        result = {"held_out": [losses]}
        if setting in (*rating_tables.ONLINE, "without rows"):
            result = {"rounds": [1, 2], "averaged": trials}
        return {"setting": setting, "more_than": more_than}, result

    def shown(losses):
        settings = (*rating_tables.ONLINE, *rating_tables.BATCH, *rating_tables.OTHERS)
        tables = rating_tables.show_movies(
            [done(setting, n, losses) for setting in settings for n in (200, 100)]
        )
        return [claim for one in tables for claim in one.claims]

    claims = shown([0.5, 0.6, 0.7])
    assert {claim.place for claim in claims} == {"figure 3, middle", "figure 3, right", "batch"}
    assert all(claim.holds for claim in claims)
    claims = shown([0.8, 0.7, 0.6])
    assert not any(claim.holds for claim in claims)
    assert (
        "the running median (0.400), which sees no row, are ahead of PRank, WH, MCP"
        in claims[0].why
    )
