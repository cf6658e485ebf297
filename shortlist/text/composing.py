"""Letters and the marks on them put together: Unicode's normal form C, where a text is not in it already.

Nearly all texts are, and to ask Python takes longer than to cut a text into words. So a loop looks first for code
points that could take part in a change: marks, what a letter before them may take up, what is spelled otherwise. Only
texts that hold one are given to Python. What is ``INERT`` stays so in all versions of Unicode: its policy on the
stability of normal forms.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays.kernels import Longs, kernel
from shortlist.texts import Texts

# First and last of runs of code points that no composition changes: all before the marks; letters of the Greek,
# Cyrillic, Hebrew and Arabic scripts; dashes and quotation marks; kana; Chinese characters; syllables of Hangul.
INERT = np.array(
    [
        [0x0000, 0x02FF], [0x0391, 0x03CE], [0x0400, 0x0482], [0x05D0, 0x05EA], [0x0620, 0x064A], [0x2010, 0x2027],
        [0x3041, 0x3096], [0x30A1, 0x30FA], [0x4E00, 0x9FFF], [0xAC00, 0xD7A3],
    ],
    dtype=np.uint32,
)  # fmt: skip


def composed(texts: Texts) -> Texts:
    """The texts in normal form C."""
    if texts.whole.isascii():
        return texts
    doubtful = np.flatnonzero(_may_change(texts.codes, texts.starts, texts.ends, INERT))
    return with_others(texts, doubtful, [unicodedata.normalize("NFC", text) for text in texts.pick(doubtful)])


def with_others(texts: Texts, which: Longs, others: Sequence[str]) -> Texts:
    """The texts, with others in the place of some."""
    before = texts.pick(which)
    changed = np.array([n for n, other in enumerate(others) if other != before[n]], dtype=np.int64)
    if not changed.size:
        return texts
    pieces, end, longer = [], 0, np.zeros(len(texts), dtype=np.int64)
    for n in changed.tolist():
        text = which[n]
        pieces += [texts.whole[end : texts.starts[text]], others[n]]
        end, longer[text] = texts.ends[text], len(others[n]) - len(before[n])
    moved = np.cumsum(longer)
    return Texts("".join([*pieces, texts.whole[end:]]), texts.starts + moved - longer, texts.ends + moved)


@kernel
def _may_change(codes: NDArray[np.uint32], starts: Longs, ends: Longs, inert: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Which of the texts codes[starts[i]:ends[i]] hold a code point in none of the runs (uint32[n, 2], ascending)."""
    found = np.zeros(starts.size, np.bool_)
    for text in range(starts.size):
        i = starts[text]
        while i < ends[text] and not found[text]:
            code = codes[i]
            i += 1
            if code <= inert[0, 1]:
                continue
            run = 0
            while run < inert.shape[0] and code > inert[run, 1]:
                run += 1
            found[text] = run == inert.shape[0] or code < inert[run, 0]
    return found
