"""Logarithms of sums and products alone, beside those worked out to forty digits."""

import math
from decimal import Decimal, localcontext

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from shortlist.compiled.logarithms import binary_logs, log, logs


@given(st.floats(min_value=1e-300, max_value=1e300))
@example(1.0)
@example(math.sqrt(0.5))
@example(math.nextafter(1, 0))
@example(math.nextafter(1, 2))
@example(16385.0)
def test_at_most_one_digit_away_from_the_logarithm(x: float) -> None:
    with localcontext() as digits:
        digits.prec = 40
        exact = Decimal(x).ln()
        assert abs(Decimal(log(x)) - exact) <= Decimal(math.ulp(float(exact)))


def test_the_same_digits_on_every_machine() -> None:
    found = [log(float(x)).hex() for x in (3, 5, 10, 1_000, 16_385, 1_000_003)]
    assert found == [
        "0x1.193ea7aad030ap+0",
        "0x1.9c041f7ed8d33p+0",
        "0x1.26bb1bbb55516p+1",
        "0x1.ba18a998fffa0p+2",
        "0x1.368829f0af2dcp+3",
        "0x1.ba18afe39c37fp+3",
    ]


def test_of_powers_of_two_whole_numbers_to_the_base_of_two() -> None:
    assert binary_logs(2.0 ** np.arange(64)).tolist() == list(range(64))


def test_arrays_keep_their_shape() -> None:
    numbers = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    assert logs(numbers).tolist() == [[log(x) for x in row] for row in numbers.tolist()]
    assert logs([]).shape == (0,)


def test_infinity_has_an_infinite_logarithm() -> None:
    assert logs([math.inf]).tolist() == [math.inf]
