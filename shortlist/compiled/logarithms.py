"""Logarithms that are the same on every machine, to the last digit.

Those of NumPy and of the C library are not: they differ between processors that can do more or less
at a time. Here is nothing but sums, products and quotients, which every processor rounds alike.
With x = 2ᵉ·m, √½ ≤ m < √2,

    log x = e·log 2 + 2·artanh s,   f = m − 1,   s = f / (2 + f),   artanh s = s + s³/3 + s⁵/5 + …

in which s² is at most 0.0295, so that what the series leaves out is below half of the last digit.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from shortlist.compiled.kernels import Floats, kernel, part

LOG_2 = math.log(2)  # the float nearest to it, which any machine finds
HIGH = float.fromhex("0x1.62e42feep-1")  # log 2 to 32 digits, so that e·HIGH is exact,
LOW = float.fromhex("0x1.a39ef35793c76p-33")  # and what is missing to it
ROOT = math.sqrt(0.5)
TERMS = 11


@kernel
def log(x: float) -> float:
    """The natural logarithm of a number above 0; infinity of infinity."""
    if x == math.inf:
        return x
    m, e = _parts(x)
    f = m - 1
    s = f / (2 + f)
    series = 0.0
    for odd in range(2 * TERMS + 1, 1, -2):
        series = (series + 1.0 / odd) * (s * s)
    return e * HIGH + (f - (s * (f - 2 * series) - e * LOW))  # 2·s = f − s·f, of which f is exact


@part
def binary_log(x: float) -> float:
    """The logarithm to the base of 2, which of a power of 2 is a whole number."""
    if x == math.inf:
        return x
    m, e = _parts(x)
    return e + log(m) / LOG_2


@part
def _parts(x: float) -> tuple[float, int]:
    """m and e."""
    m, e = math.frexp(x)
    return (2 * m, e - 1) if m < ROOT else (m, e)


def logs(numbers: ArrayLike) -> Floats:
    """The natural logarithms of an array of numbers above 0."""
    return _of_each(numbers, binary=False)


def binary_logs(numbers: ArrayLike) -> Floats:
    """The logarithms of an array of numbers above 0 to the base of 2."""
    return _of_each(numbers, binary=True)


def _of_each(numbers: ArrayLike, binary: bool) -> Floats:
    array = np.asarray(numbers, dtype=np.float64)
    return _of_row(array.ravel(), binary).reshape(array.shape)


@kernel
def _of_row(numbers: Floats, binary: bool) -> Floats:
    results = np.empty(numbers.size)
    for k in range(numbers.size):
        results[k] = binary_log(numbers[k]) if binary else log(numbers[k])
    return results
