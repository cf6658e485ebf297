"""Letters and marks are put together as Python does it."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from shortlist.data.texts import to_text
from shortlist.text.features import letter_table, split

LETTERS = st.text(
    st.sampled_from("aéA\u030aо\u0439\u0438\u0306\u1100\u1161\u11a8가か\u3099–\u212b\u0130\ud800 ")
)


@given(st.lists(LETTERS))
def test_composes_as_python_does(texts):
    wanted = [unicodedata.normalize("NFC", text) for text in texts]
    words = split(texts, letter_table(False), 1, False, composed=True)
    places = zip(words.text_starts.tolist(), words.text_ends.tolist(), strict=True)
    assert [to_text(words.codes[start:end]) for start, end in places] == wanted
