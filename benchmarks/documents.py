"""MapSVM beside LightGBM, XGBoost and a pairwise LinearSVC, on one core; why it gains little; and how its time grows.

    pip install lightgbm xgboost
    python benchmarks/documents.py tools DATA     MAP, training and prediction time on OHSUMED and Cranfield
    python benchmarks/documents.py grid DATA      MAP for each C, on the same folds
    python benchmarks/documents.py queries DATA   MAP against the number of training queries, and its ceiling
    python benchmarks/documents.py agree DATA     how far the other base functions differ from the best; their sums
    python benchmarks/documents.py pools DATA     paper 003's trials with more and fewer documents for each query
    python benchmarks/documents.py bins DATA      paper 003's trials with other thresholds, a wider C, one more function
    python benchmarks/documents.py fold DATA      training time on one fold of OHSUMED for each C
    python benchmarks/documents.py growth DATA    training time against the number of queries
    python benchmarks/documents.py search         the most violated ranking of 10,000 + 1,000,000 documents

DATA holds letor_ohsumed/ and cranfield/. Five folds of queries: one to test, the one before to choose settings, three
to train. Features are scaled to [0, 1] within each query. Cranfield's are the scores of 15 retrieval functions. Trials
are paper 003's, over its bins: 10 queries to train, 5 to choose C, the others to test. "0.4910, 98/114, p 0.384" is a
MAP, for how many queries it is better and worse than the best base function, and Wilcoxon's p. Prints Markdown; times
are processor seconds.
"""

import os

os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}

import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
from scipy.stats import rankdata, zscore
from sklearn.svm import LinearSVC

import shortlist as sl
from papers.document_data import Judged, cranfield, load
from papers.documents import PAPER, Protocol, balanced_roles, fold_roles
from shortlist.measures.significance import wilcoxon


class MapSVM:
    settings = (1.0, 10.0, 100.0, 1000.0)
    trial_settings = (0.01, 0.1, *settings)  # few queries may need a stronger hand

    def __init__(self, setting):
        self.ranker = sl.MapSVM(C=setting, tol=1e-5)  # as exact as the experiments on five folds

    def fit(self, train, validation):
        self.ranker.fit(train.scores, train.relevance, query=train.query)

    def predict(self, part):
        return self.ranker.predict(part.scores)


class RocSVM(MapSVM):
    def __init__(self, setting):
        self.ranker = sl.RocSVM(C=setting, tol=1e-5)


class BinnedMapSVM(MapSVM):
    """SVM-map over the bins of the experiments, with their C and tol. ``shown``: the scores that set the thresholds."""

    trial_settings = PAPER.structural_C

    def __init__(self, setting, spacing=PAPER.spacing, shown=lambda part: part.scores):
        self.ranker = sl.MapSVM(C=setting, tol=PAPER.tol)
        self.bins = sl.ScoreBins(PAPER.thresholds, spacing)
        self.shown = shown

    def fit(self, train, validation):
        self.bins.fit(self.shown(train))
        self.ranker.fit(self.bins.transform(train.scores), train.relevance, query=train.query)

    def predict(self, part):
        """As over the bins, without making them: what each score counts, by the thresholds it passes."""
        columns = zip(self.bins.thresholds_, self.bins.steps(self.ranker.coef_), part.scores.T, strict=True)
        return sum(counts[np.searchsorted(thresholds, scores)] for thresholds, counts, scores in columns)


class OneFeature:
    """Nothing learned but which single feature ranks the training and validation queries best."""

    settings = (None,)

    def __init__(self, setting):
        pass

    def fit(self, train, validation):
        seen = [np.append(train.average_precision(one), validation.average_precision(other)).mean()
                for one, other in zip(train.scores.T, validation.scores.T, strict=True)]  # fmt: skip
        self.feature = int(np.argmax(seen))

    def predict(self, part):
        return part.scores[:, self.feature]


class PairwiseSVC:
    """A linear classifier of differences: for each relevant and non-relevant document of a query, which is which."""

    settings = (1e-4, 1e-3, 1e-2, 1e-1)
    trial_settings = (1e-6, 1e-5, *settings)

    def __init__(self, setting):
        self.svm = LinearSVC(C=setting, fit_intercept=False, dual=False)

    def fit(self, train, validation):
        pairs = []
        for query in np.unique(train.query):
            rows, good = train.scores[train.query == query], train.relevance[train.query == query] > 0
            pairs.append((rows[good][:, None] - rows[~good]).reshape(-1, rows.shape[1]))
        differences = np.concatenate(pairs)
        signs = np.where(np.arange(len(differences)) % 2, 1.0, -1.0)
        self.svm.fit(differences * signs[:, None], signs)

    def predict(self, part):
        return part.scores @ self.svm.coef_[0]


class LightGBM:
    """Lambdarank with graded relevance; the number of trees is where the validation queries stop improving."""

    settings = (7, 31)

    def __init__(self, setting):
        import lightgbm

        self.stop = lightgbm.early_stopping(50, verbose=False)
        self.ranker = lightgbm.LGBMRanker(
            num_leaves=setting, n_estimators=1000, learning_rate=0.05, n_jobs=1, verbose=-1, random_state=0
        )

    def fit(self, train, validation):
        self.ranker.fit(
            train.scores, train.relevance.astype(int), group=sizes(train),
            eval_X=(validation.scores,), eval_y=(validation.relevance.astype(int),), eval_group=[sizes(validation)],
            eval_metric="map", eval_at=[1000], callbacks=[self.stop],
        )  # fmt: skip

    def predict(self, part):
        return self.ranker.booster_.predict(part.scores, num_threads=1)


class XGBoost:
    """rank:map, with relevant and non-relevant documents; the number of trees as for LightGBM."""

    settings = (3, 6)

    def __init__(self, setting):
        import xgboost

        self.ranker = xgboost.XGBRanker(
            objective="rank:map", eval_metric="map", max_depth=setting, n_estimators=1000, learning_rate=0.05,
            early_stopping_rounds=50, n_jobs=1, random_state=0,
        )  # fmt: skip

    def fit(self, train, validation):
        self.ranker.fit(
            train.scores, train.relevance > 0, qid=train.query,
            eval_set=[(validation.scores, validation.relevance > 0)], eval_qid=[validation.query], verbose=False,
        )  # fmt: skip

    def predict(self, part):
        return self.ranker.predict(part.scores)


def sizes(part):
    return np.unique(part.query, return_counts=True)[1]


# MAP, beside other tools and beside the best base function.


def tools(data: Path) -> None:
    for name, judged in in_folds(data):
        print(f"\n{name}: {judged.fold.size} queries, {judged.query.size} documents, {len(judged.names)} features\n")
        print("| | MAP | MapSVM better/worse | p | training s | prediction s |\n|---|---|---|---|---|---|")
        ours = None
        for tool in (MapSVM, RocSVM, OneFeature, PairwiseSVC, LightGBM, XGBoost):
            values, fits, predictions = np.zeros(judged.fold.size), [], []
            for roles in fold_roles(judged.fold):
                ranker, _, seconds = max(trained(tool, tool.settings, judged, roles), key=lambda one: one[1])
                test = judged.of(roles[2])
                began = time.process_time()
                scores = ranker.predict(test)
                predictions.append(time.process_time() - began)
                fits.append(seconds)
                values[roles[2]] = test.average_precision(scores)
            ours = values if ours is None else ours
            compared = wilcoxon(ours, values)
            versus = f"{compared.higher}/{compared.lower} | {compared.p_value:.3f}" if tool is not MapSVM else " | "
            print(f"| {tool.__name__} | {values.mean():.4f} | {versus} | {np.mean(fits):.3f} |", end="")
            print(f" {np.mean(predictions):.5f} |", flush=True)


def grid(data: Path) -> None:
    """Each C in turn: learned from four folds and tested on the fifth, and learned from the queries that are tested."""
    for name, judged in in_folds(data):
        base, everything = best_base(judged), np.arange(judged.fold.size)
        print(f"\n{name}: best base function {base.mean():.4f}\n")
        print("| | C | four folds to train | the tested queries to train |\n|---|---|---|---|")
        for tool in (MapSVM, RocSVM, PairwiseSVC):
            for C in tool.trial_settings:
                values = np.zeros(everything.size)
                for train, validation, tested in fold_roles(judged.fold):
                    ((ranker, *_),) = trained(tool, (C,), judged, (np.append(train, validation), validation))
                    test = judged.of(tested)
                    values[tested] = test.average_precision(ranker.predict(test))
                ((ranker, *_),) = trained(tool, (C,), judged, (everything, everything))
                ceiling = judged.average_precision(ranker.predict(judged))
                print(f"| {tool.__name__} | {C:g} | {cell(values, base)} | {cell(ceiling, base)} |", flush=True)


def in_folds(data: Path):
    """Each set with its features scaled within the query, and with folds drawn at random if it has none."""
    for name in ("ohsumed", "cranfield"):
        judged = scaled(load(data, name))
        fold = judged.fold if judged.fold.any() else 1 + np.random.default_rng(0).permutation(judged.fold.size) % 5
        yield name, judged._replace(fold=fold)


def scaled(judged: Judged) -> Judged:
    return judged._replace(scores=sl.QueryScaler().transform(judged.scores, query=judged.query))


def best_base(judged: Judged) -> np.ndarray:
    """Average precision of each query under the base function that is best on all of them."""
    return max((judged.average_precision(column) for column in judged.scores.T), key=np.mean)


def cell(values: np.ndarray, base: np.ndarray) -> str:
    compared = wilcoxon(values, base)
    return f"{values.mean():.4f}, {compared.higher}/{compared.lower}, p {compared.p_value:.3f}"


def trained(tool, settings: tuple, judged: Judged, roles: tuple):
    """For each setting: the ranker, its MAP on the validation queries, the seconds it took to train."""
    train, validation = (judged.of(one) for one in roles[:2])
    for setting in settings:
        ranker = tool(setting)
        began = time.process_time()
        ranker.fit(train, validation)
        seconds = time.process_time() - began
        yield ranker, validation.average_precision(ranker.predict(validation)).mean(), seconds


# Paper 003's trials: why SVM-map does not beat the best base function.


def queries(data: Path) -> None:
    """More and more queries to learn from, against the base function that is best on all.

    Last, what no trial can know: learned from the very queries that are tested, with the C that is best on them.
    Bins are those of the experiments; the other tools take scores scaled to [0, 1] within each query.
    """
    rankers = (BinnedMapSVM, MapSVM, RocSVM, PairwiseSVC)
    print("| | train/validation | best base function |", " | ".join(one.__name__ for one in rankers), "|")
    print("|---" * (3 + len(rankers)) + "|")
    for name, sizes in (("cranfield", ((10, 5), (30, 15), (120, 30))), ("ohsumed", ((10, 5), (20, 10), (70, 15)))):
        judged = load(data, name)
        base, within, everything = best_base(judged), scaled(judged), np.arange(judged.fold.size)
        for train, validation in (*sizes, (0, 0)):
            trials = [(everything,) * 3]
            if train:
                trials = balanced_roles(everything.size, Protocol(trials=12, train=train, validation=validation))
            cells = []
            for tool in rankers:
                features = judged if tool is BinnedMapSVM else within
                cells.append(cell(chosen(*over_trials(tool, tool.trial_settings, features, trials)), base))
            label = f"{train}/{validation}" if train else "the tested queries"
            print(f"| {name} | {label} | {base.mean():.4f} |", " | ".join(cells), "|", flush=True)


def pools(data: Path) -> None:
    """Cranfield with more and fewer documents of each base function for a query; 1000 is the paper's number."""
    print("| documents of each function | documents | relevant | best base function | SVM-map |\n|---|---|---|---|---|")
    for pool in (20, 50, 100, 300, 1000):
        judged = cranfield(data / "cranfield", pool)
        base = best_base(judged)
        ours = chosen(*over_trials(BinnedMapSVM, BinnedMapSVM.trial_settings, judged, ten_trials(judged)))
        print(f"| {pool} | {judged.query.size} | {(judged.relevance > 0).sum()} |", end="")
        print(f" {base.mean():.4f} | {cell(ours, base)} |", flush=True)


def bins(data: Path) -> None:
    """Cranfield, other ways to set thresholds: with the C chosen on validation queries, and the best in hindsight."""
    judged = load(data, "cranfield")
    within, base = scaled(judged), best_base(judged)
    by_query = [judged.scores[judged.query == query] for query in range(judged.fold.size)]
    total = np.concatenate([zscore(scores).sum(axis=1) for scores in by_query])
    with_total = judged._replace(scores=np.column_stack([judged.scores, total]))
    usual = BinnedMapSVM.trial_settings
    ways = {
        "even": (judged, BinnedMapSVM, usual),
        "even, C up to 1000": (judged, BinnedMapSVM, (*usual, 100.0, 1000.0)),
        "even between scores of relevant documents": (judged, partial(BinnedMapSVM, shown=of_relevant), usual),
        "even above the median": (judged, partial(BinnedMapSVM, shown=upper_half), usual),
        "even, the sum of z-scores as 16th function": (with_total, BinnedMapSVM, usual),
        "quantiles": (judged, partial(BinnedMapSVM, spacing="quantiles"), usual),
        "even, scores scaled within the query": (within, BinnedMapSVM, usual),
        "quantiles, scores scaled within the query": (within, partial(BinnedMapSVM, spacing="quantiles"), usual),
    }
    print(f"best base function {base.mean():.4f}, sum of z-scores", cell(judged.average_precision(total), base), "\n")
    print("| thresholds | C chosen | best C in hindsight |\n|---|---|---|")
    for name, (features, tool, settings) in ways.items():
        values, reached = over_trials(tool, settings, features, ten_trials(judged))
        by_setting = np.nanmean(values, axis=0)
        best = int(np.argmax(by_setting.mean(axis=1)))
        print(f"| {name} | {cell(chosen(values, reached), base)} |", end="")
        print(f" {settings[best]:g}: {cell(by_setting[best], base)} |", flush=True)


def of_relevant(part: Judged) -> np.ndarray:
    return part.scores[part.relevance > 0]


def upper_half(part: Judged) -> np.ndarray:
    """Of each function's scores, those from the median up; the others moved there."""
    return np.maximum(part.scores, np.median(part.scores, axis=0))


def ten_trials(judged: Judged) -> list:
    return balanced_roles(judged.fold.size, Protocol(trials=10))


def over_trials(tool, settings: tuple, judged: Judged, trials: list) -> tuple:
    """Average precision, trials × settings × queries, nan if not tested; validation's MAP, trials × settings."""
    values = np.full((len(trials), len(settings), judged.fold.size), np.nan)
    reached = np.zeros((len(trials), len(settings)))
    for trial, roles in enumerate(trials):
        test = judged.of(roles[2])
        for number, (ranker, of_validation, _) in enumerate(trained(tool, settings, judged, roles)):
            values[trial, number, roles[2]] = test.average_precision(ranker.predict(test))
            reached[trial, number] = of_validation
    return values, reached


def chosen(values: np.ndarray, reached: np.ndarray) -> np.ndarray:
    """Average precision of each query over the trials that test it, each with the setting best for its validation."""
    return np.nanmean(values[np.arange(len(values)), reached.argmax(axis=1)], axis=0)


def agree(data: Path) -> None:
    """Rank correlations with the best base function, averaged over queries, and what the others could add to it."""
    for name in ("cranfield", "ohsumed"):
        judged = load(data, name)
        order = np.argsort([-judged.average_precision(column).mean() for column in judged.scores.T], kind="stable")
        correlations, low, elsewhere = [], 0, 0
        for query in range(judged.fold.size):
            of_query = judged.query == query
            ranks = rankdata(-judged.scores[of_query][:, order], axis=0, method="ordinal")
            correlations.append(np.corrcoef(ranks.T)[0])
            missed = (judged.relevance[of_query] > 0) & (ranks[:, 0] > 20)
            low, elsewhere = low + missed.sum(), elsewhere + (missed & (ranks[:, 1:].min(axis=1) <= 20)).sum()
        print(f"{name}: {judged.names[order[0]]} leaves {low} of {(judged.relevance > 0).sum()} relevant documents "
              f"below place 20; of these {elsewhere} are among the first 20 of another function.")  # fmt: skip
        near = zip(order[1:7], np.mean(correlations, axis=0)[1:7], strict=True)
        print("Rank correlations:", ", ".join(f"{judged.names[column]} {value:.2f}" for column, value in near))
        best_first = scaled(judged).scores[:, order]
        for count in (number for number in (2, 3, 5, 10, 15, 20, 30, 45) if number <= order.size):
            values = judged.average_precision(best_first[:, :count].sum(axis=1))
            print(f"Sum of the {count} best, scaled within the query:", cell(values, best_base(judged)))


# Times.


def fold(data: Path) -> None:
    judged = load(data, "ohsumed")
    train = judged.of(fold_roles(judged.fold)[0][0])
    print("\n| C | seconds | passes | duality gap |\n|---|---|---|---|")
    for C in MapSVM.settings:
        ranker = sl.MapSVM(C=C, tol=1e-3)
        began = time.process_time()
        ranker.fit(train.scores, train.relevance, query=train.query)
        print(f"| {C:g} | {time.process_time() - began:.2f} | {ranker.n_iter_} | {ranker.duality_gap_:.1e} |")


def growth(data: Path) -> None:
    """OHSUMED's queries over and over, each time with other noise, C = 10 and tol = 1e-3."""
    judged = load(data, "ohsumed")
    X = judged.scores
    print("\n| queries | documents | seconds | passes | milliseconds a pass | duality gap |\n|---|---|---|---|---|---|")
    for copies in (1, 3, 10, 30):
        random = np.random.default_rng(copies)
        noisy = np.concatenate([X + random.normal(0, 0.05, X.shape) for _ in range(copies)])
        query = np.concatenate([judged.query + copy * (judged.query[-1] + 1) for copy in range(copies)])
        ranker = sl.MapSVM(C=10.0)
        began = time.process_time()
        ranker.fit(noisy, np.tile(judged.relevance, copies), query=query)
        seconds = time.process_time() - began
        each = 1000 * seconds / ranker.n_iter_
        gap = f"{ranker.duality_gap_:.1e}"
        print(f"| {query[-1] + 1} | {query.size} | {seconds:.2f} | {ranker.n_iter_} | {each:.1f} | {gap} |")


def search() -> None:
    """Sorting the scores and finding the most violated ranking of one query."""
    R, N = 10_000, 1_000_000
    random = np.random.default_rng(0)
    scores = np.concatenate([random.normal(0.5, 1, R), random.normal(0, 1, N)])
    starts, relevant, ranker = np.array([0, R + N]), np.array([R]), sl.MapSVM()
    ranker._search(scores[:R], np.array([0, R]), np.array([10]))  # compiles
    began = time.process_time()
    order = np.concatenate([np.argsort(-scores[:R]), R + np.argsort(-scores[R:])])
    sorting = time.process_time() - began
    above = ranker._search(scores[order], starts, relevant)
    searching = time.process_time() - began - sorting
    print(f"{R} relevant, {N} non-relevant: sort {sorting:.3f} s, search {searching:.3f} s, loss ", end="")
    print(f"{ranker._loss(above, starts, relevant)[0]:.4f}")


if __name__ == "__main__":
    if "--help" in sys.argv:
        print(__doc__)
        sys.exit()
    sl.MapSVM().fit(np.eye(4), [1, 0, 1, 0], query=[1, 1, 2, 2])  # compile or load the kernels
    commands = (tools, grid, queries, agree, pools, bins, fold, growth, search)
    {command.__name__: command for command in commands}[sys.argv[1]](*map(Path, sys.argv[2:]))
