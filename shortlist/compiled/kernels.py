"""How a hot loop is compiled, and the steps that several algorithms share."""

import contextlib
from collections.abc import Callable, Iterable
from typing import Any, NoReturn, TypeVar

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_lock import global_compiler_lock
from numba.core.options import DefaultOptions
from numba.core.registry import CPUDispatcher, cpu_target
from numba.core.types.misc import unliteral
from numba.extending import intrinsic, overload
from numpy.typing import NDArray

from shortlist.compiled.compiling import StampedCache

Function = TypeVar("Function", bound=Callable[..., Any])

Ints = NDArray[np.int32]  # indices, label numbers
Longs = NDArray[np.int64]  # offsets, counts
Floats = NDArray[np.float64]  # values, weights, scores

# a sum of squares below this has lost some or all of its digits
LEAST_SQUARE = np.finfo(np.float64).tiny

COMPILED = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
# a Numba without it is only slower
UNCOUNTED = {"_nrt": False} if hasattr(DefaultOptions, "_nrt") else {}


def kernel(function: Function) -> Function:
    """Compile once per machine, release the interpreter lock while running, divide as NumPy
    does.
    """
    return _compiled(function)


def loop(function: Function) -> Function:
    """As ``kernel``, for a loop that makes no array, and gives none back.

    Numba counts the references to an array at each call that it is given to, and to each slice: so
    that threads count rightly, one reference takes as long as twenty additions. Here nobody counts:
    whoever called the loop from Python holds its arrays.
    """
    return _compiled(function, **UNCOUNTED)


def part(function: Function) -> Function:
    """As ``loop``, for what only loops call: Python cannot, and so much less is compiled. It is
    kept with its loops.
    """
    return _part(function, **UNCOUNTED)


def step(function: Function) -> Function:
    """As ``part``, for a loop cut into small steps.

    The compiler would leave the longer of the steps outside the loop; they are written into it.
    """
    return _part(function, forceinline=True, **UNCOUNTED)


class Part(CPUDispatcher):
    """A compiled function that has no way in from Python: to call what is not there would end
    the process.
    """

    def __call__(self, *arguments: object) -> NoReturn:
        raise TypeError(
            f"{self.py_func.__name__} is a part of compiled loops; call one of those, or its "
            "py_func"
        )

    def get_call_template(
        self, args: Iterable[types.Type], kws: dict[str, types.Type]
    ) -> tuple[object, ...]:
        """What Numba asks for where a loop calls it. A constant is a number like others, or
        each is compiled anew.
        """
        found: tuple[object, ...] = super().get_call_template([unliteral(one) for one in args], kws)
        return found


class NoAddresses:
    """Stands where Numba asks for the address of a compiled function's constants."""

    @staticmethod
    def set_env(name: str, constants: object) -> None:
        """A part has no address of its own."""


class PartLibrary(JITCodeLibrary):
    """The code of a part: optimised, and made machine code, inside the loops that call it, and
    not alone as well.
    """

    def _optimize_final_module(self) -> None:
        """Nothing to do: the module of a loop holds its parts when it is optimised."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    @property
    def codegen(self) -> type[NoAddresses]:
        return NoAddresses


def _kept_in(
    library: type[JITCodeLibrary], compile_one: Callable[[Any], Any]
) -> Callable[[Any], Any]:
    """Numba's ``compile`` of one function, whose code is kept in such a library."""

    def compile_so(signature: Any) -> Any:
        codegen = cpu_target.target_context.codegen()
        with global_compiler_lock:
            before = codegen._library_class
            codegen._library_class = library
            try:
                return compile_one(signature)
            finally:
                codegen._library_class = before

    return compile_so


def _part(function: Function, **options: bool) -> Function:
    compiled = numba.njit(**COMPILED, no_cpython_wrapper=True, **options)(function)
    if compiled is not function:
        compiled.__class__ = Part
        compiled.compile = _kept_in(PartLibrary, compiled.compile)
    return compiled


def _compiled(function: Function, **options: bool) -> Function:
    compiled = numba.njit(**COMPILED, **options)(function)
    if compiled is not function:  # it is the same where compilation is turned off
        # no folder can be written, neither here nor the user's own
        with contextlib.suppress(RuntimeError):
            compiled._cache = StampedCache(function)
        compiled.compile = _kept_in(JITCodeLibrary, compiled.compile)
    return compiled


def fetch(array: NDArray[Any], i: int | np.uint64) -> None:
    """Ask memory for array[i], which will be read soon, and do not wait for it. As plain Python
    it does nothing.
    """


@overload(fetch)
def _fetch(array: Any, i: Any) -> Any:
    def compiled(array: Any, i: Any) -> Any:
        _prefetch(array, i)

    return compiled


NOTHING = contextlib.nullcontext()


def hashing() -> contextlib.AbstractContextManager[Any]:
    """Hashes overflow on purpose; where kernels run uncompiled, NumPy would warn of it."""
    return np.errstate(over="ignore") if numba.config.DISABLE_JIT else NOTHING


def _entry(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Where the entry of an array stands: the first two arguments."""
    data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
    return builder.gep(data, [context.cast(builder, arguments[1], signature.args[1], types.intp)])


@intrinsic
def _prefetch(typing: Any, array: Any, i: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        entry = _entry(context, builder, signature, arguments)
        address, number = builder.bitcast(entry, ir.IntType(8).as_pointer()), ir.IntType(32)
        prefetch = ir.FunctionType(ir.VoidType(), [address.type, number, number, number])
        ask = cgutils.get_or_insert_function(builder.module, prefetch, "llvm.prefetch.p0i8")
        builder.call(ask, [address, number(0), number(3), number(1)])  # to read; keep; data
        return context.get_dummy_value()

    return types.void(array, i), generate


@part
def dot(indices: Ints, data: Floats, dense: Floats) -> float:
    """Inner product of a sparse row (indices int32[m], data float64[m]) with a dense vector
    float64[n].
    """
    total = 0.0
    for j in range(indices.size):
        total += data[j] * dense[indices[j]]
    return total


@kernel
def count_up(numbers: Ints, counts: Longs) -> None:
    """Count each of the numbers once more."""
    for number in numbers:
        counts[number] += 1


@kernel
def scale_to_unit_length(indptr: Longs, data: Floats) -> None:
    """Divide each sparse row (data float64[m], row i at indptr[i]:indptr[i+1]) by its Euclidean
    length, in place.
    """
    for i in range(indptr.size - 1):
        square = 0.0
        for j in range(indptr[i], indptr[i + 1]):
            square += data[j] * data[j]
        if not LEAST_SQUARE <= square < np.inf:  # squares of such values underflow or overflow
            largest = 0.0
            for j in range(indptr[i], indptr[i + 1]):
                largest = max(largest, abs(data[j]))
            square = 0.0
            for j in range(indptr[i], indptr[i + 1] if largest > 0.0 else indptr[i]):
                data[j] /= largest
                square += data[j] * data[j]
            if not square > 0.0:  # a row of nothing
                square = 1.0
        length = np.sqrt(square)
        for j in range(indptr[i], indptr[i + 1]):
            data[j] /= length
