"""Lines of JSON objects -> where their text and labels lie, in one go over the code points of a block.

The usual record is a flat object whose text is a string and whose labels are a list of strings. A block of such lines
is read here, by the grammar of RFC 8259; if any line is another, or wrong, the block is left to a whole JSON parser.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays.kernels import Longs, kernel
from shortlist.inputs.parsing.cells import SPACES
from shortlist.texts import Texts, to_codes, to_text

Codes = NDArray[np.uint32]

LINE_FEED, SPACE, QUOTE, COMMA, MINUS, COLON, OPEN, BACKSLASH, CLOSE, BEGIN, END = (ord(c) for c in '\n ",-:[\\]{}')
ESCAPES = np.zeros(128, dtype=np.uint32)  # what stands for the letter after a backslash
ESCAPES[[ord(c) for c in '"\\/bfnrt']] = [ord(c) for c in '"\\/\b\f\n\r\t']
OTHER = -1  # not a line of the usual form


def usual_records(block: bytes, text: str, labels: str) -> tuple[Texts, Texts, Longs] | None:
    """The texts of the records of a block, their labels, and where each record's labels begin; None if not usual."""
    try:
        whole = block.decode()
    except UnicodeDecodeError:
        return None
    codes = to_codes(whole)
    assert codes[-1] == LINE_FEED  # the kernel relies on it
    letters = np.frombuffer(block, dtype=np.uint8)
    n_lines, n_strings = np.count_nonzero(letters == LINE_FEED), np.count_nonzero(letters == QUOTE) // 2
    starts, ends = np.empty((2, n_lines), dtype=np.int64)
    label_starts, label_ends = np.empty((2, n_strings), dtype=np.int64)
    indptr = np.zeros(n_lines + 1, dtype=np.int64)
    names = to_codes(text), to_codes(labels)
    n = _records(codes, *names, starts, ends, label_starts, label_ends, indptr, ESCAPES)
    if n == OTHER:
        return None
    if b"\\" in block:
        whole = to_text(codes)
    n_labels = indptr[n]
    own = Texts(whole, label_starts[:n_labels], label_ends[:n_labels], codes)
    begins = np.minimum(codes[own.starts], SPACES.size)
    if np.any((own.starts == own.ends) | np.append(SPACES, False)[begins]):  # what is blank is no label
        return None
    return Texts(whole, starts[:n], ends[:n], codes), own, indptr[: n + 1]


@kernel
def _records(
    codes: Codes,
    text_name: Codes,
    labels_name: Codes,
    text_starts: Longs,
    text_ends: Longs,
    label_starts: Longs,
    label_ends: Longs,
    indptr: Longs,
    escapes: Codes,
) -> int:
    """How many records there are, OTHER if any is not usual. Blank lines are none. Escapes are replaced in place.

    codes uint32[n] end in a line feed, at which every loop stops; text_* int64[lines], label_* int64[strings],
    indptr int64[lines + 1].
    """
    n = m = i = 0
    while i < codes.size:
        i = _after_space(codes, i)
        if codes[i] == LINE_FEED:
            i += 1
            continue
        if codes[i] != BEGIN:
            return OTHER
        has_text = has_labels = False
        while codes[i] != END:  # at the brace, or at the comma between two fields
            start = _after_space(codes, i + 1)
            if codes[start] != QUOTE:
                return OTHER
            start += 1
            end, i = _string(codes, start, escapes)
            i = _after_space(codes, i)
            if end == OTHER or codes[i] != COLON:
                return OTHER
            i = _after_space(codes, i + 1)
            if _is_same(codes, start, end, text_name):
                if has_text or codes[i] != QUOTE:
                    return OTHER
                has_text = True
                text_starts[n] = i + 1
                text_ends[n], i = _string(codes, i + 1, escapes)
                if text_ends[n] == OTHER:
                    return OTHER
            elif _is_same(codes, start, end, labels_name):
                if has_labels or codes[i] != OPEN:
                    return OTHER
                has_labels = True
                i = _after_space(codes, i + 1)
                while codes[i] != CLOSE:
                    if codes[i] != QUOTE:
                        return OTHER
                    label_starts[m] = i + 1
                    label_ends[m], i = _string(codes, i + 1, escapes)
                    if label_ends[m] == OTHER:
                        return OTHER
                    m += 1
                    i = _after_space(codes, i)
                    if codes[i] == COMMA:
                        i = _after_space(codes, i + 1)
                        if codes[i] == CLOSE:
                            return OTHER
                    elif codes[i] != CLOSE:
                        return OTHER
                i += 1
            elif codes[i] == QUOTE:
                end, i = _string(codes, i + 1, escapes)
                if end == OTHER:
                    return OTHER
            else:
                i = _number(codes, i)
                if i == OTHER:
                    return OTHER
            i = _after_space(codes, i)
            if codes[i] != COMMA and codes[i] != END:
                return OTHER
        i = _after_space(codes, i + 1)
        if codes[i] != LINE_FEED or not (has_text and has_labels):
            return OTHER
        i += 1
        n += 1
        indptr[n] = m
    return n


@kernel
def _after_space(codes: Codes, i: int) -> int:
    while codes[i] == 32 or codes[i] == 9 or codes[i] == 13:
        i += 1
    return i


@kernel
def _is_same(codes: Codes, start: int, end: int, name: Codes) -> bool:
    if end - start != name.size:
        return False
    for j in range(name.size):  # noqa: SIM110 - a kernel
        if codes[start + j] != name[j]:
            return False
    return True


@kernel
def _string(codes: Codes, i: int, escapes: Codes) -> tuple[int, int]:
    """Where the string that begins at i ends once its escapes are replaced, and what is behind its closing quote."""
    while codes[i] != QUOTE and codes[i] != BACKSLASH and codes[i] >= SPACE:
        i += 1
    to = i  # from the first escape on, letters move up
    while codes[i] != QUOTE:
        code = codes[i]
        if code < SPACE:
            return OTHER, i
        if code == BACKSLASH:
            i += 1
            code = codes[i]
            if code == 117:  # u
                code = _hexadecimal(codes, i + 1)
                i += 4
                if 0xD800 <= code < 0xDC00 and codes[i + 1] == BACKSLASH and codes[i + 2] == 117:
                    low = _hexadecimal(codes, i + 3)
                    if not 0xDC00 <= low < 0xE000:
                        return OTHER, i
                    code = np.uint32(0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00))
                    i += 6
                if code == 0xFFFFFFFF or 0xD800 <= code < 0xE000:
                    return OTHER, i
            else:
                code = escapes[code] if code < escapes.size else np.uint32(0)
                if code == 0:
                    return OTHER, i
        codes[to] = code
        to += 1
        i += 1
    return to, i + 1


@kernel
def _hexadecimal(codes: Codes, i: int) -> np.uint32:
    """The number that four hexadecimal digits say; the largest if they are none."""
    number = np.uint32(0)
    for j in range(i, i + 4):
        code = codes[j]
        if 48 <= code < 58:
            digit = code - np.uint32(48)
        elif 65 <= code < 71 or 97 <= code < 103:
            digit = (code & np.uint32(31)) + np.uint32(9)
        else:
            return np.uint32(0xFFFFFFFF)
        number = np.uint32(number * np.uint32(16) + digit)
    return number


@kernel
def _number(codes: Codes, i: int) -> int:
    """What is behind the number that begins at i; OTHER if none does."""
    if codes[i] == MINUS:
        i += 1
    first = i
    while 48 <= codes[i] < 58:
        i += 1
    if i == first or (codes[first] == 48 and i > first + 1):
        return OTHER
    if codes[i] == 46:  # a point
        first = i + 1
        i = first
        while 48 <= codes[i] < 58:
            i += 1
        if i == first:
            return OTHER
    if codes[i] == 101 or codes[i] == 69:  # e or E
        i += 1
        if codes[i] == 43 or codes[i] == MINUS:
            i += 1
        first = i
        while 48 <= codes[i] < 58:
            i += 1
        if i == first:
            return OTHER
    return i
