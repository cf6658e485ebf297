"""Parts of compiled loops, which only loops call, as a test calls them."""

import numba


def compiled(part):
    """A function that calls the part from compiled code."""
    if numba.config.DISABLE_JIT:
        return part

    @numba.njit(error_model="numpy")
    def call(*arguments):
        return part(*arguments)

    return call
