"""The kernel behind ``sparse_lines``: bytes -> indices and values.

A decimal number becomes exactly the float that ``float(text)`` gives: digits and power of ten are multiplied in twice
the precision (Dekker 1971), and the few numbers that are too close to the middle between two floats, too long or too
small for that are left to Python.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays.kernels import step

LARGEST = int(np.iinfo(np.int32).max)
# columns of `spans`, one row for each example: where its parts stand in the block
LINE, TARGET, TARGET_END, QUERY, QUERY_END, COMMENT, END = range(7)
# positions in `state`, which the kernel reads and writes
POSITION, ROWS, VALUES, DIFFICULT, LINES, PROBLEM, PROBLEM_AT, FEATURES = range(8)
# what is wrong with a line
GOOD, PAIR, LOW, HIGH, ORDER, TWICE, VALUE, INFINITE, NEGATIVE, EMPTY, NO_QUERY = range(11)

TAB, LINE_FEED, SPACE, HASH, PLUS, COMMA, MINUS, POINT, COLON = b"\t\n #+,-.:"
MOST_DIGITS = 18  # of a whole number that surely fits in 64 bits

# Powers of ten, each as the sum of two floats, as exact as that can be: 10**e = _POWERS[e + REACH] + _REST[e + REACH].
REACH = 270
_EXACT = [Fraction(10) ** e for e in range(-REACH, REACH + 1)]
_POWERS = np.array([float(power) for power in _EXACT])
_REST = np.array([float(power - Fraction(float(power))) for power in _EXACT])


class Rules(NamedTuple):
    """What lines may hold."""

    first_index: int  # the number that the file gives to its first column
    most: int  # how many columns there may be
    nonnegative: bool  # whether values below 0 are bad
    blank_lines: bool  # whether a blank line is an example


class Output(NamedTuple):
    """The arrays that the kernel fills, with room for all lines and pairs of a block."""

    spans: NDArray[np.int64]  # [lines, 7]
    indptr: NDArray[np.int64]  # [lines + 1]
    indices: NDArray[np.int32]  # [pairs]
    values: NDArray[np.float64]  # [pairs]
    difficult: NDArray[np.int64]  # [pairs, 3]: slot, start and end of each number that is left to Python


class Decimal(NamedTuple):
    """A number as it is written: its digits as one whole number, and the power of ten to multiply it by."""

    negative: bool
    mantissa: np.int64  # has wrapped around where there are more than MOST_DIGITS
    digits: int  # 0 where it is no number
    exponent: np.int64
    end: int  # the byte after it


@step
def parse(data: NDArray[np.uint8], rules: Rules, output: Output, state: NDArray[np.int64]) -> None:
    """Parse lines from state[POSITION] on, to the end of the data or of the first bad line, which is left out.

    data uint8[n], its last byte a line feed; state int64[8].
    """
    i, problem = state[POSITION], GOOD
    spans, row = output.spans, state[ROWS]
    while i < data.size and problem == GOOD:
        start = _after_blanks(data, i)
        target_end, problem, at = _target(data, start)
        query = query_end = i = _after_blanks(data, target_end)
        if problem == GOOD and _begins_query(data, i):
            query, query_end = i + 4, _field_end(data, i + 4)
            i, problem, at = query_end, GOOD if query_end > query else NO_QUERY, query_end
        # how far this line's pairs reach, kept only if it is good
        value, difficult, features = state[VALUES], state[DIFFICULT], state[FEATURES]
        if problem == GOOD:
            i, problem, at, value, difficult, features = _pairs(data, i, rules, output, value, difficult, features)
        while not _ends_content(_byte(data, i)):
            i += 1
        comment = i + 1 if _byte(data, i) == HASH else i
        while _byte(data, i) != LINE_FEED:
            i += 1
        if problem == GOOD and (rules.blank_lines or not _ends_content(_byte(data, start))):
            spans[row, LINE], spans[row, COMMENT], spans[row, END] = state[LINES], comment, i
            spans[row, TARGET], spans[row, TARGET_END] = start, target_end
            spans[row, QUERY], spans[row, QUERY_END] = query, query_end
            row += 1
            output.indptr[row] = value
            state[VALUES], state[DIFFICULT], state[FEATURES] = value, difficult, features
        i += 1
        state[LINES] += 1
        state[PROBLEM], state[PROBLEM_AT] = problem, at
    state[POSITION], state[ROWS] = i, row


@step
def _byte(data: NDArray[np.uint8], i: int) -> int:
    """data[i], said to be no index from the end: otherwise each access would ask whether it is one."""
    byte: int = data[np.uint64(i)]
    return byte


@step
def _ends_content(byte: int) -> bool:
    """Whether here the line ends, or its comment begins."""
    return byte in (LINE_FEED, HASH)


@step
def _ends_field(byte: int) -> bool:
    return byte in (SPACE, TAB, LINE_FEED, HASH)


@step
def _after_blanks(data: NDArray[np.uint8], i: int) -> int:
    while _byte(data, i) == SPACE or _byte(data, i) == TAB:
        i += 1
    return i


@step
def _field_end(data: NDArray[np.uint8], i: int) -> int:
    while not _ends_field(_byte(data, i)):
        i += 1
    return i


@step
def _begins_query(data: NDArray[np.uint8], i: int) -> bool:
    """Whether ``qid:`` stands here."""
    is_qid = _byte(data, i) == 113 and _byte(data, i + 1) == 105 and _byte(data, i + 2) == 100
    return is_qid and _byte(data, i + 3) == COLON


@step
def _target(data: NDArray[np.uint8], start: int) -> tuple[int, int, int]:
    """Where the target ends, a problem and its place. A line that begins with its first pair has an empty target."""
    i, before = start, COMMA
    problem, at = GOOD, start
    while not _ends_field(_byte(data, i)):
        if _byte(data, i) == COLON:
            return start, GOOD, start
        if _byte(data, i) == COMMA and before == COMMA and problem == GOOD:
            problem, at = EMPTY, i
        before = _byte(data, i)
        i += 1
    if before == COMMA and i > start and problem == GOOD:
        problem, at = EMPTY, i
    return i, problem, at


@step
def _pairs(
    data: NDArray[np.uint8], i: int, rules: Rules, output: Output, slot: int, difficult: int, features: int
) -> tuple[int, int, int, int, int, int]:
    """Write the pairs of a line from ``slot`` on.

    Gives where it stopped, a problem and its place, and the counts of values, difficult numbers and features so far.
    """
    indices, values, left = output.indices, output.values, output.difficult
    last = np.int64(rules.first_index) - 1
    while True:
        start = i = _after_blanks(data, i)
        if _ends_content(_byte(data, i)):
            return i, GOOD, i, slot, difficult, max(features, int(last) - rules.first_index + 1)
        index, i = _digits(data, i, np.int64(0))
        if i == start or _byte(data, i) != COLON:
            return i, PAIR, start, slot, difficult, features
        if i - start > MOST_DIGITS or index <= last or index - rules.first_index >= rules.most:
            problem = HIGH if i - start > MOST_DIGITS else _index_problem(index, last, rules)
            return i, problem, start, slot, difficult, features
        start = i + 1
        number = _decimal(data, start)
        i = number.end
        if number.digits == 0 or not _ends_field(_byte(data, i)):
            return i, VALUE, start, slot, difficult, features
        last = index
        if number.mantissa == 0 and number.digits <= MOST_DIGITS:
            continue
        if number.negative and rules.nonnegative:
            return i, NEGATIVE, start, slot, difficult, features
        if number.exponent > REACH or (number.digits > MOST_DIGITS and number.digits + number.exponent > 308):
            return i, INFINITE, start, slot, difficult, features
        size = _size(number)
        if np.isnan(size):
            left[difficult, 0], left[difficult, 1], left[difficult, 2] = slot, start, i
            difficult += 1
        indices[slot] = index - rules.first_index
        values[slot] = -size if number.negative else size
        slot += 1


@step
def _index_problem(index: np.int64, last: np.int64, rules: Rules) -> int:
    """What is wrong with an index that may not come after the last one."""
    if index > last:
        return HIGH
    if index < rules.first_index:
        return LOW
    return TWICE if index == last else ORDER


@step
def _digits(data: NDArray[np.uint8], i: int, number: np.int64) -> tuple[np.int64, int]:
    """The number with the digits from i on behind its own, and where they end."""
    digit = np.int64(_byte(data, i)) - 48
    while 0 <= digit <= 9:
        number = number * 10 + digit
        i += 1
        digit = np.int64(_byte(data, i)) - 48
    return number, i


@step
def _decimal(data: NDArray[np.uint8], i: int) -> Decimal:
    negative = _byte(data, i) == MINUS
    start = i + 1 if negative or _byte(data, i) == PLUS else i
    mantissa, i = _digits(data, start, np.int64(0))
    digits, exponent = i - start, np.int64(0)
    if _byte(data, i) == POINT:
        start = i + 1
        mantissa, i = _digits(data, start, mantissa)
        exponent = np.int64(start - i)
        digits += i - start
    if _byte(data, i) == 101 or _byte(data, i) == 69:  # e or E
        down = _byte(data, i + 1) == MINUS
        start = i + 2 if down or _byte(data, i + 1) == PLUS else i + 1
        power, i = _power(data, start)
        if i == start:
            digits = 0
        exponent += -power if down else power
    return Decimal(negative, mantissa, digits, exponent, i)


@step
def _power(data: NDArray[np.uint8], i: int) -> tuple[np.int64, int]:
    """The power of ten that an exponent names, and where it ends; a number far above REACH where it names more."""
    power, digit = np.int64(0), np.int64(_byte(data, i)) - 48
    while 0 <= digit <= 9:
        power = power * 10 + digit if power < 10000 else power
        i += 1
        digit = np.int64(_byte(data, i)) - 48
    return power, i


@step
def _size(number: Decimal) -> float:
    """The float nearest to a number without its sign; NaN where that is in doubt."""
    if number.digits <= 15 and -22 <= number.exponent <= 0:
        return number.mantissa / _POWERS[REACH - number.exponent]  # both are exact: one rounding, the right one
    return _scaled(number.mantissa, number.exponent) if number.digits <= MOST_DIGITS else np.nan


@step
def _scaled(mantissa: np.int64, exponent: np.int64) -> float:
    """The float nearest to mantissa * 10**exponent, for a mantissa below 10**18; NaN where that is in doubt."""
    if exponent < -REACH or exponent > REACH:
        return np.nan
    high, power = float(mantissa), _POWERS[REACH + exponent]
    low = float(mantissa - np.int64(high))
    # high * power = product + error exactly (Dekker 1971, with Veltkamp's split)
    a, b = high * 134217729.0, power * 134217729.0
    high_a, high_b = a - (a - high), b - (b - power)
    low_a, low_b = high - high_a, power - high_b
    product = high * power
    error = ((high_a * high_b - product) + high_a * low_b + low_a * high_b) + low_a * low_b
    error += high * _REST[REACH + exponent] + low * power
    # What was left out is less than 2**-102 of the product: if moving by more than that rounds alike, it is right.
    doubt = product * 2.0**-98
    below, above = product + (error - doubt), product + (error + doubt)
    return below if below == above else np.nan
