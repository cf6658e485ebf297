"""A small model of every public class, and all that is done with a model once it is open."""

from __future__ import annotations

import numpy as np

import shortlist as sl
from papers.comparators.accuracy_svm import AccuracySVM
from papers.comparators.extended_mmp import ExtendedMMP, VotedPerceptron
from papers.comparators.multiclass_perceptron import MulticlassPerceptron
from papers.comparators.one_versus_rest import OneVersusRest
from papers.comparators.top_down import TopDown
from papers.comparators.unweighted_index import UnweightedIndex
from shortlist.files import store
from shortlist.label_vocabulary import Concept
from shortlist.learners.category_learner import CategoryLearner
from shortlist.learners.ratings.rating_learner import RatingLearner

WORDS = (
    "wheat corn export bank rate money oil trade gold ship crude price tariff farm loan bond "
    "yield tank mine port"
)
LABELS = ["grain", "trade", "money", "oil", "gold", "ship", "x", "y"]
NEW_TEXTS = ["wheat export banana", "unseen words here", "", "gold " * 20, "123 İ Σ oil", WORDS]


def texts(n=40):
    random = np.random.default_rng(1)
    written = [" ".join(random.choice(WORDS.split(), random.integers(3, 9))) for _ in range(n)]
    return written, [
        random.choice(LABELS, random.integers(1, 4), replace=False).tolist() for _ in range(n)
    ]


def rows(n=40, width=12, least=0.0):
    random = np.random.default_rng(2)
    return (random.random((n, width)) + least) * (random.random((n, width)) < 0.4)


def make():
    """Name -> model. Of classes with settings that change what is stored, one model for each."""
    models = {}
    T, Y = texts()
    for name, learner, text in [
        ("tuned", sl.TunedIndex(), None),
        ("capped", sl.FeatureFocus(max_total_edges=60), None),
        ("mmp", sl.MMP(), None),
        ("independent", sl.IndependentIndex(), None),
        ("hashed", sl.FeatureFocus(), sl.TextVectorizer(hashed=64, idf="smooth")),
        (
            "pivoted",
            sl.TunedIndex(),
            sl.TextVectorizer(min_df=2, tf="log", idf="plain", norm="pivoted", prefix=3),
        ),
        ("frequency", sl.FrequencyBaseline(), None),
        ("one versus rest", OneVersusRest("perceptron"), None),
        ("top down", TopDown({"grain": "trade", "x": "y"}, trials=1), None),
    ]:
        models[f"texts, {name}"] = sl.Categorizer(learner, text).fit(T, Y)
    models["texts, bounded"] = sl.Categorizer(max_memory="64MB").fit(T, Y)
    models["texts, with vectors"] = sl.Categorizer().fit(
        T, Y, vectors=np.random.default_rng(4).normal(size=(40, 6))
    )
    models["texts, labels changed"] = changed(sl.Categorizer().fit(T, Y))
    models["texts, other words"] = sl.Categorizer().fit(
        [f"{one} extra{i}" for i, one in enumerate(T)], Y
    )
    for name, learner in [
        ("tuned", sl.TunedIndex(passes=2)),
        ("vectors", sl.TunedIndex(vector=12)),
        ("words and a vector", sl.TunedIndex(vector=4)),
        ("capped", sl.FeatureFocus(max_total_edges=20)),
        ("independent", sl.IndependentIndex(threshold=0.1)),
        ("rocchio", sl.Rocchio()),
        ("mmp averaged", sl.MMP(hypothesis="averaged")),
        ("mmp voted", ExtendedMMP(hypothesis="voted", voters=3)),
        ("mmp with a kernel", ExtendedMMP(kernel="rbf", budget=16)),
        ("mmp passive-aggressive", sl.MMP(step="passive-aggressive", margin=1.0, max_weights=20)),
        ("perceptron", sl.TopicPerceptron()),
        ("perceptron voted", VotedPerceptron(voters=2)),
        ("unweighted", UnweightedIndex()),
        ("unweighted with classifiers", UnweightedIndex(classifiers=3)),
        ("one versus rest", OneVersusRest("svm")),
        ("frequency", sl.FrequencyBaseline()),
        ("top down", TopDown([("grain", "trade")], sigmoid="fixed")),
    ]:
        models[f"rows, {name}"] = learner.fit(rows(), Y)
    random = np.random.default_rng(3)
    X = random.normal(size=(60, 5))
    ratings, queries = np.clip(np.round(X[:, 0] + 3), 1, 5).astype(int), np.repeat(np.arange(6), 10)
    relevant = (X[:, 0] > 0).astype(int)
    models["rater"] = sl.Rater().fit(X, ratings, columns=list("abcde"))
    models["rater, last rule"] = sl.Rater(sl.PRank(hypothesis="last")).fit(X, ratings)
    for name, learner in [
        ("prank of a scale", sl.PRank(scale=[1, 2, 3, 4, 5])),
        ("widrow-hoff", sl.WidrowHoff()),
        ("multiclass", MulticlassPerceptron()),
    ]:
        models[name] = learner.fit(X, ratings)
    models["prank of texts"] = sl.PRank(scale=["a", "b", "c"]).fit(
        X, np.array(["a", "b", "c"])[ratings % 3]
    )
    for learner in (sl.MapSVM(), sl.NdcgSVM(), sl.RocSVM(), sl.MrrSVM(), AccuracySVM()):
        models[f"documents, {type(learner).__name__}"] = sl.DocumentRanker(learner).fit(
            X, relevant, queries
        )
    models["map"] = sl.MapSVM().fit(X, relevant, queries)
    models["accuracy 3"] = AccuracySVM(variant=3, n_thresholds=4).fit(X, relevant, queries)
    models["words"] = sl.TextVectorizer(ngrams=2, prefix=3, idf="smooth", norm="l2").fit(T)
    models["plain words"] = sl.TextVectorizer().fit([*T, "é 日本 \ud800abc İstanbul 123"])
    return models


def changed(model):
    """The model with labels that were changed, names for them, and rules."""
    model.rename_label("x", "renamed").split_label("grain", "part").merge_labels(["part"], "gold")
    model.split_label("oil", "retired").retire_labels(["retired"])
    names = [
        Concept(label, f"name of {label}", ("synonym",), ("trade",))
        for label in ("grain", "oil", "new")
    ]
    model.set_vocabulary(sl.LabelVocabulary([*names, Concept("trade", "trade")], teach=1))
    return model.set_rules(sl.Rules(but=["money"], at_most={"trade": 2}, tame=0.05))


def use(model, path):
    """Rank, explain, learn and save, as the class allows; yields what has been done."""
    if isinstance(model, sl.Categorizer):
        yield from use_categorizer(model)
    elif isinstance(model, sl.TextVectorizer):
        yield from use_words(model)
    elif hasattr(model, "learner_"):
        yield from (use_rater if isinstance(model, sl.Rater) else use_documents)(model)
    elif isinstance(model, CategoryLearner):
        yield from use_learner(model)
    elif isinstance(model, RatingLearner):
        yield from use_ratings(model)
    else:
        yield from use_documents(model)
    store.save(model, path)
    yield "save", None
    yield "open what was saved", sl.load(path)


def use_categorizer(model):
    if model.n_vector_:
        model.encoder = lambda given: np.resize(
            np.linspace(-1, 1, 7), (len(given), model.n_vector_)
        )
    yield "rank", [list(model.rank(text, k)) for text in NEW_TEXTS for k in (1, 100)]
    yield "rank many", model.rank(NEW_TEXTS, 3)
    labels = model.classes_.tolist()
    for label in labels[:2]:
        yield "explain", [model.explain(text, label) for text in NEW_TEXTS]
    if labels:
        yield "predict", model.predict(NEW_TEXTS)
        yield "score", model.score(NEW_TEXTS, [labels[:1]] * len(NEW_TEXTS))
    yield "names", model.text_.get_feature_names_out()
    if hasattr(model.learner_, "strongest"):
        yield (
            "strongest",
            [model.learner_.strongest(labels[0], 3) if labels else None, model.learner_.leaks(3)],
        )
    if model.learner_.updatable:
        yield "learn", [model.learn(text, ["grain", "new"]) for text in NEW_TEXTS]
        yield "learn many", model.learn_many(*(part[:8] for part in texts()))
        yield "rank again", model.rank(NEW_TEXTS, 5)
        if hasattr(model.learner_, "limit_edges"):
            yield "limit", model.learner_.limit_edges(7)
            yield "learn within the limit", [model.learn(text, ["ship"]) for text in NEW_TEXTS]
    if model.retired_:
        yield "restore", model.restore_labels(model.retired_[:1])
        yield (
            "change labels",
            model.rename_label("grain", "cereal")
            .split_label("ship", "boat")
            .retire_labels(["ship"]),
        )
        yield "rank changed labels", model.rank(NEW_TEXTS, 5)


def use_words(model):
    yield "transform", model.transform(NEW_TEXTS)
    yield "spans", [model.spans(text) for text in NEW_TEXTS]
    yield "learn", model.partial_fit(NEW_TEXTS)
    yield "names", model.get_feature_names_out()
    yield "transform again", model.transform(texts()[0])


def use_learner(model):
    X, Y = rows(9), texts(9)[1]
    wide = np.hstack([X, X])
    yield "rank", [model.rank(X, k) for k in (1, 3, 100)]
    yield (
        "rank other widths",
        [model.rank(wide, 3), model.rank(X[:, :3], 3), model.rank(np.zeros((2, 12)), 3)],
    )
    yield "scores", model.decision_function(X)
    labels = model.classes_.tolist()
    for label in labels[:2]:
        yield "explain", [model.explain(x, label) for x in X[:3]]
    if labels:
        yield "predict", model.predict(X)
        yield "score", model.score(X, Y)
    for name in ("n_edges_", "n_weights_", "cumulative_loss_"):
        yield name, getattr(model, name, None)
    if hasattr(model, "strongest"):
        yield "strongest", [model.strongest(labels[0], 3) if labels else None, model.leaks(3)]
    if model.updatable:
        yield "learn", model.partial_fit(X, Y)
        yield "learn what is new", model.partial_fit(wide, [["new", "ship"]] * 9)
        yield "rank again", model.rank(wide, 5)
        if hasattr(model, "limit_edges"):
            yield "limit", model.limit_edges(5)
            yield "learn within the limit", model.partial_fit(wide, [["another", "ship"]] * 9)


def use_rater(model):
    X = rows(7, model.mean_.size)
    yield "predict", [model.predict(X), model.neighbour_distances(X)]
    yield "learn", model.learn(X, some_ratings(model))
    yield "predict again", model.predict(X)


def use_ratings(model):
    width = model.n_features_in_
    X = rows(7, width)
    yield "predict", [model.predict(X), model.decision_function(X)]
    if hasattr(model, "predict_proba"):
        yield "probabilities", model.predict_proba(X)
    yield "learn", model.partial_fit(X, some_ratings(model))
    yield "learn more columns", model.partial_fit(rows(7, width + 3), some_ratings(model))
    yield "predict again", model.predict(rows(7, width + 3))


def some_ratings(model):
    return np.resize(model.classes_, 7)


def use_documents(model):
    width = getattr(model, "learner_", model).n_features_in_
    X, queries = rows(8, width), [1, 1, 1, 2, 2, 2, 2, 3]
    yield "rank", model.rank(X, queries)
    if hasattr(model, "score"):
        yield "score", model.score(X, [1, 0, 1, 0, 1, 0, 0, 1], queries)
