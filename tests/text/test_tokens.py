"""The letter table is what Python's own methods say, for every code point there is."""

import contextlib
import io
import os
import subprocess
import sys

import numpy as np
import pytest

from shortlist.text.features import DIGIT, NOT_ONE_TO_ONE, letter_table


@pytest.mark.long
@pytest.mark.parametrize("lowercase", [True, False])
def test_the_table_agrees_with_str_methods_everywhere(lowercase):
    table = letter_table(lowercase).tolist()
    folded = letter_table(lowercase, fold_digits=True)
    for code in range(0x110000):
        character = chr(code)
        letter = character.lower() if lowercase else character
        if lowercase and character in NOT_ONE_TO_ONE:
            continue  # such texts are lower-cased before they meet the table
        assert len(letter) == 1
        assert table[code] == (ord(letter) if letter.isalnum() or letter == "_" else 0)
    digits = [code for code in range(0x110000) if chr(code).isdecimal()]
    np.testing.assert_array_equal(np.flatnonzero(folded & DIGIT), digits)
    np.testing.assert_array_equal(folded & ~DIGIT, table)


@pytest.mark.long
def test_no_other_capital_depends_on_what_surrounds_it():
    for code in range(0x110000):
        character = chr(code)
        if character not in NOT_ONE_TO_ONE:
            assert ("a" + character + " ").lower() == "a" + character.lower() + " "


SAME_UNCOMPILED = """
from papers.corpora.contexts import word_contexts
from shortlist import TextVectorizer
some = ["The cat sat 12 times", "ΣΟΦΟΣ İx the cats", ""]
chosen = TextVectorizer(ngrams=2, prefix=3, stop_words="english", fold_digits=True, idf="smooth", norm="l2")
matrix = chosen.fit_transform(some)
contexts, words, names = word_contexts(some)
print(list(chosen.get_feature_names_out()), matrix.indptr.tolist(), matrix.indices.tolist())
print(matrix.data.round(12).tolist())
print(contexts.indices.tolist(), list(words), list(names), TextVectorizer(hashed=7).transform(some).toarray().tolist())
"""


@pytest.mark.long
def test_kernels_do_the_same_uncompiled():
    compiled = io.StringIO()
    with contextlib.redirect_stdout(compiled):
        exec(SAME_UNCOMPILED)
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, "-W", "error", "-c", SAME_UNCOMPILED]
    uncompiled = subprocess.run(
        command, env=environment, check=True, capture_output=True, text=True
    ).stdout
    assert compiled.getvalue() == uncompiled != ""
