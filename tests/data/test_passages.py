"""Passages of texts, and the votes in them."""

from fractions import Fraction

import numpy as np
import pytest

import shortlist as sl
from shortlist.data.passages import cut, cut_fields, passage_votes

LETTER = (
    "Dear Dr. Smith, I ordered on 3. October. Please refund me! Thanks.\n\n"
    'Viele Grüße\nAnna B. Meier (e.g. me). "Yes." No?'
)


def pieces(text):
    return [text[start:end] for start, end in cut(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n ", []),
        ("one", ["one"]),
        ("One. Two!  Three?\n", ["One.", "Two!", "Three?"]),
        ("Version 2.5 is out. it is", ["Version 2.5 is out. it is"]),
        ("我要退款。谢谢！再见", ["我要退款。", "谢谢！", "再见"]),
        (
            LETTER,
            [
                "Dear Dr. Smith, I ordered on 3. October.",
                "Please refund me!",
                "Thanks.",
                "Viele Grüße\nAnna B. Meier (e.g. me).",
                '"Yes."',
                "No?",
            ],
        ),
    ],
)
def test_sentences(text, expected):
    assert pieces(text) == expected


def test_paragraphs_where_sentences_are_long():
    long_one = "word " * 200
    assert pieces(f"{long_one}\n\n{long_one}") == [long_one.strip()] * 2
    assert pieces(f"{long_one}\nmore") == [long_one.strip(), "more"]


def test_fields_are_never_in_one_passage():
    assert cut_fields(["wheat", "Corn. Oats", ""]) == [(0, 5), (6, 11), (12, 16)]


def test_any_letters_are_cut_without_loss():
    random = np.random.default_rng(0)
    for _ in range(300):
        text = "".join(random.choice(list("ab .!\n\"'。é3"), 40))
        spans = cut(text)
        cut_out = "".join(text[start:end] for start, end in spans)
        assert cut_out.replace("\n", "").replace(" ", "") == "".join(text.split())
        places = [place for span in spans for place in span]
        assert places == sorted(places)


def test_the_votes_of_passages_as_a_slow_loop_sums_them():
    random = np.random.default_rng(1)
    for _ in range(50):
        borders = np.sort(random.choice(np.arange(1, 60), 4, replace=False)).tolist()
        passages = list(zip([0, *borders], [*borders, 60], strict=True))
        votes = random.normal(size=8).tolist()
        spans = [
            [(start, start + 2) for start in random.integers(0, 60, random.integers(0, 4)).tolist()]
            for _ in votes
        ]
        expected = [
            sum(
                (
                    Fraction(vote) / len(places)
                    for vote, places in zip(votes, spans, strict=True)
                    for start, _ in places
                    if first <= start < last
                ),
                Fraction(0),
            )
            for first, last in passages
        ]
        assert passage_votes(passages, votes, spans) == expected


@pytest.mark.parametrize("encoder", [None, lambda texts: np.eye(3)[[len(t) % 3 for t in texts]]])
def test_passages_sum_to_the_words_of_the_score_exactly(encoder):
    model = sl.Categorizer(encoder=encoder)
    model.learn_many(["wheat rose. the bank fell", "Corn fell! rates rose", LETTER], list("aba"))
    why = model.explain(LETTER + " the wheat. wheat again", "a")
    exact = passage_votes(cut_fields(why.texts), [vote for _, vote in why.votes], why.spans)
    of_words = [
        Fraction(vote) for (_, vote), places in zip(why.votes, why.spans, strict=True) if places
    ]
    others = [
        Fraction(vote) for (_, vote), places in zip(why.votes, why.spans, strict=True) if not places
    ]
    assert sum(exact) == sum(of_words)
    assert [passage.vote for passage in why.passages] == list(map(float, exact))
    assert float(sum(exact) + sum(others)) == pytest.approx(why.score, rel=1e-12)
    assert why.characters(why.passages[1]) == "Please refund me!"


def test_passages_of_documents_of_fields():
    model = sl.Categorizer().learn({"title": "wheat", "body": "prices rose"}, "grain")
    why = model.explain({"title": "wheat", "body": "It fell. prices"}, "grain")
    assert [why.characters(passage) for passage in why.passages] == ["wheat", "It fell. prices"]
    assert why.passages[0].vote > why.passages[1].vote > 0


def test_rows_have_no_passages():
    assert sl.FeatureFocus().fit([[1.0]], ["a"]).explain([1.0], "a").passages == []
