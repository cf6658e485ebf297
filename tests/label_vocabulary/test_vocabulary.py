"""Vocabularies of labels: read from files, kept in models, shown, and obeyed."""

import gzip
import json

import pytest

import shortlist as sl
from shortlist.label_vocabulary import Concept, LabelVocabulary

CONCEPTS = [
    Concept("c1", "grain", ("cereals",)),
    Concept("c2", "wheat", ("Triticum", "durum"), ("c1",)),
    Concept("c3", "corn", (), ("c1",), deprecated=True),
    Concept("c4", "money"),
]
TEXTS, LABELS = ["wheat exports rose", "the bank raised its rates"] * 6, [["c2", "c1"], ["c4"]] * 6

TSV = "<c1>\tgrain\n<c2>\twheat\n\n<c3>\tcorn\n<c4>\tmoney\n"
WIDE = (
    "label\tname\tsynonyms\tbroader\tdeprecated\nc1\tgrain\tcereals\t\t\nc2\twheat\tTriticum|durum\tc1\t0\n"
    "c3\tcorn\t\tc1\tyes\nc4\tmoney\t\t\t\n"
)
OBJECTS = {
    "c1": {"name": "grain", "synonyms": ["cereals"], "broader": []},
    "c2": {"name": "wheat", "synonyms": ["Triticum", "durum"], "broader": ["c1"]},
    "c3": {"name": "corn", "broader": ["c1"], "deprecated": True},
    "c4": "money",
}
LISTED = [
    {"label": "c1", "name": "grain", "synonyms": "cereals"},
    {"label": "c2", "name": "wheat", "synonyms": ["Triticum", "durum"], "broader": "c1"},
    {"label": "c3", "name": "corn", "broader": ["c1"], "deprecated": True},
    {"label": "c4", "name": "money"},
]
TURTLE = """
@prefix skos: <http://www.w3.org/2004/02/skos/core#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
<http://x/c1> a skos:Concept ; skos:prefLabel "grain"@en, "vilja"@fi ; skos:altLabel "cereals"@en, "jyvät"@fi ;
  skos:narrower <http://x/c3> .
<http://x/c2> a skos:Concept ; skos:prefLabel "wheat"@en, "vehnä"@fi ; skos:altLabel "durum"@en ;
  skos:broader <http://x/c1> .
<http://x/c3> a skos:Concept ; skos:prefLabel "corn"@en ; owl:deprecated true .
"""


@pytest.mark.parametrize(
    ("name", "text", "whole"),
    [
        ("names.tsv", TSV, False),
        ("wide.tsv", WIDE, True),
        ("wide.csv", WIDE.replace("\t", ","), True),
        ("objects.json", json.dumps(OBJECTS), True),
        ("listed.json", json.dumps(LISTED), True),
    ],
)
def test_read(tmp_path, name, text, whole):
    (tmp_path / name).write_text(text)
    (tmp_path / f"{name}.gz").write_bytes(gzip.compress(text.encode()))
    for file in (name, f"{name}.gz"):
        found = sl.read_vocabulary(tmp_path / file)
        assert [(one.label, one.name) for one in found] == [
            (one.label, one.name) for one in CONCEPTS
        ]
        if whole:
            assert list(found) == CONCEPTS


@pytest.mark.parametrize("form", ["turtle", "xml", "json-ld", "nt"])
def test_skos(tmp_path, form):
    rdflib = pytest.importorskip("rdflib", reason="SKOS is read with rdflib")
    ending = {"turtle": "ttl", "xml": "rdf", "json-ld": "jsonld", "nt": "nt"}[form]
    graph = rdflib.Graph().parse(data=TURTLE, format="turtle")
    (tmp_path / f"v.{ending}").write_text(graph.serialize(format=form), encoding="utf-8")
    english = sl.read_vocabulary(tmp_path / f"v.{ending}", "en")
    assert list(english) == [
        Concept("http://x/c1", "grain", ("cereals",)),
        Concept("http://x/c2", "wheat", ("durum",), ("http://x/c1",)),
        Concept("http://x/c3", "corn", (), ("http://x/c1",), True),
    ]
    finnish = sl.read_vocabulary(tmp_path / f"v.{ending}", "fi")
    assert [one.name for one in finnish] == ["vilja", "vehnä", "corn"]
    assert finnish.get("http://x/c1").synonyms == ("jyvät",)


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        (
            "a.tsv",
            "c1\tgrain\nc2\n",
            "a.tsv, line 2: expected a label, a tab and a name, found 1 column",
        ),
        ("a.tsv", "c1\tgrain\nc1\twheat\n", "the vocabulary has the label 'c1' twice"),
        ("a.tsv", "\tgrain\n", "a.tsv, line 1: expected a label, found none"),
        ("a.csv", "a,b\nc," + "d" * 200_000, "a.csv, line 2: field larger than field limit"),
        ("a.tsv", "\n", "holds no concepts"),
        ("a.json", "[7]", "a.json, concept 1: expected an object, found int"),
        ("a.json", "{", "a.json is not JSON"),
        (
            "a.json",
            '{"c1": {"prefLabel": "x"}}',
            "concept 1: unknown fields prefLabel; the known ones are label, name, ",
        ),
        ("a.json", '[{"name": "x"}]', "concept 1: expected a label that is text, found None"),
    ],
)
def test_bad_files(tmp_path, name, text, sentence):
    (tmp_path / name).write_text(text)
    with pytest.raises(sl.InputError) as problem:
        sl.read_vocabulary(tmp_path / name)
    assert sentence in str(problem.value)
    with pytest.raises(sl.InputError, match="there is no vocabulary file"):
        sl.read_vocabulary(tmp_path / "gone")


def test_bad_skos(tmp_path):
    pytest.importorskip("rdflib", reason="SKOS is read with rdflib")
    (tmp_path / "a.ttl").write_text("<x> a")
    with pytest.raises(sl.InputError, match="rdflib cannot read it as SKOS in turtle"):
        sl.read_vocabulary(tmp_path / "a.ttl")


def test_what_a_vocabulary_says():
    names = LabelVocabulary(CONCEPTS)
    assert names.name("c2") == "wheat"
    assert names.name("other") == "other"
    assert names.name(7) == "7"
    assert names.find("RITIC") == ["c2"]
    assert names.find("cereals") == names.find("CEREALS") == ["c1"]
    assert names.find("") == ["c1", "c2", "c3", "c4"]
    assert names.find("wheat") == ["c2"]
    assert names.subtree("c1") == {"c1", "c2", "c3"}
    assert names.of_name("wheat") == "c2"
    assert names.of_name("corn") is None  # deprecated
    circle = LabelVocabulary([Concept("a", "a", (), ("b",)), Concept("b", "b", (), ("a",))])
    assert circle.subtree("a") == {"a", "b"}


def test_a_model_keeps_its_vocabulary(tmp_path):
    model = sl.Categorizer().fit(TEXTS, LABELS).set_vocabulary(LabelVocabulary(CONCEPTS, "known"))
    model.save(tmp_path / "m.shortlist")
    again = sl.load(tmp_path / "m.shortlist")
    assert list(again.vocabulary_) == CONCEPTS
    assert again.vocabulary_.policy == "known"
    assert again.name_of("c2") == "wheat"
    assert list(again.copy().vocabulary_) == CONCEPTS
    with pytest.raises(sl.InputError, match="a vocabulary is a LabelVocabulary, not a dict"):
        model.set_vocabulary({})


@pytest.mark.parametrize(
    "learn", ["learn", "learn_many", "fit", "learn_batches", "fit_batches", "bounded"]
)
def test_known_labels_only(learn):
    model = sl.Categorizer(max_memory="300MB" if learn == "bounded" else None).fit(TEXTS, LABELS)
    model.set_vocabulary(LabelVocabulary(CONCEPTS, "known"))

    def teach(label):
        if learn == "learn":
            model.learn("a text", label)
        elif learn.endswith("batches"):
            getattr(model, learn)([(["a text"], [[label]])])
        else:
            getattr(model, "fit" if learn == "bounded" else learn)(["a text"], [[label]])

    before = model.rank(TEXTS, 1).scores.tolist()
    with pytest.raises(
        sl.InputError, match="the label 'other' is not one of the 4 of the vocabulary"
    ):
        teach("other")
    with pytest.raises(sl.InputError, match=r"the label 'c3' \(corn\) is deprecated"):
        teach("c3")
    with pytest.raises(sl.InputError):
        model.check_labels([["other"]])
    assert model.rank(TEXTS, 1).scores.tolist() == before
    teach("c4")
    model.set_vocabulary(LabelVocabulary(CONCEPTS))
    teach("other")


@pytest.mark.parametrize("memory", [None, "300MB"])
def test_names_teach_labels_of_few_examples(tmp_path, memory):
    """Labels that were never seen are ranked, in the same explanation; those with many examples
    are left alone.
    """
    plain = sl.Categorizer(max_memory=memory).fit(TEXTS, LABELS)
    names = LabelVocabulary([*CONCEPTS, Concept("c5", "durum pasta", ("noodles",))], teach=5)
    model = sl.Categorizer(max_memory=memory).set_vocabulary(names).fit(TEXTS, LABELS)
    assert "c5" not in plain.classes_.tolist()
    assert model.rank("noodles for dinner", 1).labels.tolist() == ["c5"]
    assert "noodles" in dict(model.explain("noodles for dinner", "c5").votes)
    assert "c3" not in model.classes_.tolist()  # deprecated
    counts = dict(zip(model.classes_.tolist(), model.label_counts_.tolist(), strict=True))
    assert (counts["c1"], counts["c5"]) == (6, 1)
    model.save(tmp_path / "m.shortlist")
    assert sl.load(tmp_path / "m.shortlist").vocabulary_.teach == 5
    model.learn_many(["spaghetti"] * 20, ["c5"] * 20)
    assert dict(model.rank("spaghetti", 1))["c5"] > dict(model.rank("noodles", 1)).get("c5", 0)


def test_names_take_nothing_from_other_labels():
    """A name has words that labels of many examples have too, which it does not say to be wrong."""
    names = LabelVocabulary([*CONCEPTS, Concept("c5", "wheat exports to the bank")], teach=5)
    plain, taught = (
        sl.Categorizer(max_memory="300MB").set_vocabulary(own).fit(TEXTS, LABELS)
        for own in (None, names)
    )
    assert dict(taught.rank("wheat exports to the bank", 5)).keys() >= {"c5", "c1"}
    n = len(plain.classes_)
    assert taught.classes_.tolist()[:n] == plain.classes_.tolist()
    assert taught.learner_.label_biases()[:n].tolist() == plain.learner_.label_biases().tolist()
    corrections = [one.learner_.index_.all_edges()[1] for one in (plain, taught)]
    kept, now = (sorted(edges[edges["label"] < n]["tuned"].tolist()) for edges in corrections)
    assert now == kept


def test_learners_that_know_complete_judgements_alone_are_taught_by_names_too():
    names = LabelVocabulary([*CONCEPTS, Concept("c5", "durum pasta")], teach=5)
    model = sl.Categorizer("feature-focus").set_vocabulary(names).fit(TEXTS, LABELS)
    assert model.rank("pasta", 1).labels.tolist() == ["c5"]


def test_labels_that_are_numbers_are_taught_as_such():
    names = LabelVocabulary([Concept("7", "pasta"), Concept("8", "noodles")], teach=5)
    model = (
        sl.Categorizer(text=sl.TextVectorizer())
        .set_vocabulary(names)
        .fit(["wheat", "corn"], [7, 9])
    )
    assert model.classes_.tolist() == [7, 9, "8"]
    assert model.rank("pasta", 1).labels.tolist() == [7]


def test_the_keys_of_eurlex(tmp_path):
    path = tmp_path / "labels.json"
    concepts = {
        "3474": {
            "concept_id": "3474",
            "label": "affairs",
            "alt_labels": ["politics"],
            "parents": [],
        },
        "1597": {"concept_id": "1597", "label": "schools", "alt_labels": [], "parents": ["3474"]},
    }
    for content in (concepts, list(concepts.values())):
        path.write_text(json.dumps(content))
        names = sl.read_vocabulary(path)
        assert names.name("1597") == "schools"
        assert names.find("politics") == ["3474"]
        assert names.subtree("3474") == {"3474", "1597"}


def test_entities_of_a_skos_file_hold_no_others(tmp_path):
    """Ten entities of ten entities each are a text of gigabytes."""
    pytest.importorskip("rdflib", reason="SKOS is read with rdflib")
    rdf = (
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" '
        'xmlns:skos="http://www.w3.org/2004/02/skos/core#"><skos:Concept rdf:about="http://x/1">'
        "<skos:prefLabel>&b;</skos:prefLabel></skos:Concept></rdf:RDF>"
    )
    file = tmp_path / "a.rdf"
    file.write_text(f"<!DOCTYPE r [<!ENTITY b 'wheat'>]>{rdf}")
    assert sl.read_vocabulary(file).name("http://x/1") == "wheat"
    for value in ('"&a;&a;"', "'&a;&a;'", '"&#38;a;"'):
        file.write_text(f"<!DOCTYPE r [<!ENTITY a 'wheat'><!ENTITY b {value}>]>{rdf}")
        with pytest.raises(sl.InputError, match="an entity that holds another"):
            sl.read_vocabulary(file)
