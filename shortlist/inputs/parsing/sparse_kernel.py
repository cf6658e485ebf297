"""The kernel behind ``sparse_lines``: bytes -> indices and values.

A decimal number becomes exactly the float that ``float(text)`` gives: digits and power of ten are multiplied in twice
the precision (Dekker 1971), and the few numbers that are too close to the middle between two floats, too long or too
small for that are left to Python.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays.kernels import kernel

LARGEST = int(np.iinfo(np.int32).max)
# columns of `spans`, one row for each example: where its parts stand in the block
LINE, TARGET, TARGET_END, QUERY, QUERY_END, COMMENT, END = range(7)
# places of `state`, which the kernel reads and writes
POSITION, ROWS, VALUES, HARD, LINES, PROBLEM, PROBLEM_AT, FEATURES = range(8)
PAIR, LOW, HIGH, ORDER, TWICE, VALUE, INFINITE, NEGATIVE, EMPTY, NO_QUERY = range(1, 11)

# Powers of ten, each as the sum of two floats, as exact as that can be: 10**e = _POWERS[e + REACH] + _REST[e + REACH].
REACH = 270
_EXACT = [Fraction(10) ** e for e in range(-REACH, REACH + 1)]
_POWERS = np.array([float(power) for power in _EXACT])
_REST = np.array([float(power - Fraction(float(power))) for power in _EXACT])


@kernel
def parse(
    data: NDArray[np.uint8],
    first_index: int,
    most: int,
    nonnegative: bool,
    blank_lines: bool,
    spans: NDArray[np.int64],
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    values: NDArray[np.float64],
    hard: NDArray[np.int64],
    state: NDArray[np.int64],
) -> None:
    """Parse lines from state[POSITION] on, to the end of the data or of the first bad line, which is left out.

    data uint8[n], its last byte a line feed; spans int64[lines, 7]; indptr int64[lines + 1]; indices int32[pairs];
    values float64[pairs]; hard int64[pairs, 3] (slot, start, end of each number left to Python).
    """
    i, n = state[POSITION], data.size
    row, value, hards, lines = state[ROWS], state[VALUES], state[HARD], state[LINES]
    features = state[FEATURES]
    problem, at = 0, 0
    while i < n and problem == 0:
        slot, n_hard, largest = value, hards, features  # of this line; kept only if it is good
        while data[i] == 32 or data[i] == 9:
            i += 1
        spans[row, LINE] = lines
        spans[row, TARGET] = i
        start, colon, before = i, False, 44  # 44 is a comma
        while data[i] != 32 and data[i] != 9 and data[i] != 10 and data[i] != 35:
            colon |= data[i] == 58
            if data[i] == 44 and before == 44 and problem == 0:
                problem, at = EMPTY, i
            before = data[i]
            i += 1
        if before == 44 and i > start and problem == 0:
            problem, at = EMPTY, i
        if colon:  # no target: the line begins with its first pair
            i, problem = start, 0
        blank = i == start and not colon and (data[i] == 10 or data[i] == 35)
        spans[row, TARGET_END] = i
        while data[i] == 32 or data[i] == 9:
            i += 1
        spans[row, QUERY] = i
        spans[row, QUERY_END] = i
        if problem == 0 and data[i] == 113 and data[i + 1] == 105 and data[i + 2] == 100 and data[i + 3] == 58:  # qid:
            i += 4
            spans[row, QUERY] = i
            while data[i] != 32 and data[i] != 9 and data[i] != 10 and data[i] != 35:
                i += 1
            spans[row, QUERY_END] = i
            if spans[row, QUERY] == i:
                problem, at = NO_QUERY, i
        last = np.int64(first_index) - 1
        while problem == 0:
            while data[i] == 32 or data[i] == 9:
                i += 1
            if data[i] == 10 or data[i] == 35:
                break
            # the index
            at, index, digit = i, np.int64(0), np.int64(data[i]) - 48
            while 0 <= digit <= 9:
                index = index * 10 + digit
                i += 1
                digit = np.int64(data[i]) - 48
            if i == at or digit != 10 or i - at > 18:  # 10 is the colon
                problem = PAIR if i == at or digit != 10 else HIGH
                break
            if index <= last or index - first_index >= most:
                problem = HIGH if index > last else LOW if index < first_index else TWICE if index == last else ORDER
                break
            # the number: its digits as one whole number, and the power of ten to multiply it by
            i += 1
            begin = i
            negative = data[i] == 45
            if negative or data[i] == 43:
                i += 1
            start, mantissa, digit = i, np.int64(0), np.int64(data[i]) - 48
            while 0 <= digit <= 9:
                mantissa = mantissa * 10 + digit
                i += 1
                digit = np.int64(data[i]) - 48
            digits = i - start
            exponent = np.int64(0)
            if digit == -2:  # the point
                i += 1
                start, digit = i, np.int64(data[i]) - 48
                while 0 <= digit <= 9:
                    mantissa = mantissa * 10 + digit
                    i += 1
                    digit = np.int64(data[i]) - 48
                exponent = start - i
                digits -= exponent
            if data[i] == 101 or data[i] == 69:  # e or E
                down = data[i + 1] == 45
                i += 2 if down or data[i + 1] == 43 else 1
                start, power, digit = i, np.int64(0), np.int64(data[i]) - 48
                while 0 <= digit <= 9:
                    power = power * 10 + digit if power < 10000 else power
                    i += 1
                    digit = np.int64(data[i]) - 48
                if i == start:
                    digits = 0
                exponent += -power if down else power
            if digits == 0 or (data[i] != 32 and data[i] != 9 and data[i] != 10 and data[i] != 35):
                problem, at = VALUE, begin
                break
            last = index
            largest = max(largest, index - first_index + 1)
            if mantissa == 0 and digits <= 18:
                continue
            if exponent > REACH or (digits > 18 and digits + exponent > 308) or (negative and nonnegative):
                problem, at = NEGATIVE if negative and nonnegative else INFINITE, begin
                break
            if digits <= 15 and -22 <= exponent <= 0:  # digits and power are exact floats: one rounding, the right one
                number = mantissa / _POWERS[REACH - exponent]
            else:
                number = _scaled(mantissa, exponent) if digits <= 18 else np.nan
                if np.isnan(number):
                    hard[n_hard, 0], hard[n_hard, 1], hard[n_hard, 2] = slot, begin, i
                    n_hard += 1
            indices[slot] = index - first_index
            values[slot] = -number if negative else number
            slot += 1
        while data[i] != 35 and data[i] != 10:
            i += 1
        spans[row, COMMENT] = i + 1 if data[i] == 35 else i
        while data[i] != 10:
            i += 1
        spans[row, END] = i
        i += 1
        lines += 1
        if problem == 0 and (blank_lines or not blank):
            row += 1
            indptr[row] = slot
            value, hards, features = slot, n_hard, largest
    state[POSITION], state[ROWS], state[VALUES], state[HARD], state[LINES] = i, row, value, hards, lines
    state[PROBLEM], state[PROBLEM_AT], state[FEATURES] = problem, at, features


@kernel
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
