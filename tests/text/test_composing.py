"""Letters and marks put together as Python does it, but without asking Python about texts that are so already."""

import unicodedata

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shortlist.text.features import INERT, composed_texts, with_others
from shortlist.texts import Texts

LETTERS = st.text(st.sampled_from("aéA\u030aо\u0439\u0438\u0306\u1100\u1161\u11a8가か\u3099–\u212b\u0130\ud800 "))


def test_no_composition_changes_what_is_inert():
    taken_up = {0x1161 + vowel for vowel in range(21)} | {0x11A8 + end for end in range(27)}
    for code in range(0x110000):
        parts = unicodedata.decomposition(chr(code)).split()
        if len(parts) == 2 and not parts[0].startswith("<"):
            taken_up.add(int(parts[1], 16))
    for first, last in INERT.tolist():
        for code in range(first, last + 1):
            alone = unicodedata.normalize("NFC", chr(code)) == chr(code) and unicodedata.combining(chr(code)) == 0
            assert alone, hex(code)
            assert code not in taken_up, hex(code)


@given(st.lists(LETTERS))
def test_composes_as_python_does(texts):
    wanted = [unicodedata.normalize("NFC", text) for text in texts]
    assert list(composed_texts(Texts.of(texts))) == wanted
    apart = Texts(
        "|".join(["", *texts, ""]),
        np.cumsum([1, *(len(text) + 1 for text in texts)])[:-1],
        np.cumsum([len(text) + 1 for text in texts], dtype=np.int64),
    )
    assert list(composed_texts(apart)) == wanted


def test_others_stand_in_the_place_of_some():
    texts = Texts("-ab-cde--f", np.array([1, 4, 8, 9]), np.array([3, 7, 8, 10]))
    assert list(with_others(texts, np.array([1, 3]), ["x", "long"])) == ["ab", "x", "", "long"]
    assert with_others(texts, np.array([1]), ["cde"]) is texts
