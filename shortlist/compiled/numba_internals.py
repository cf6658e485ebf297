"""Everything that uses Numba's private parts, each with a fallback on its public interface.

They save time and change no result: machine code is kept under a digest of all that it was compiled
from (stamps.py); what only loops call is compiled inside of these alone; memory is asked for
entries before they are read. Where a version of Numba lacks such a part, or the variable
``SHORTLIST_PLAIN_NUMBA`` is set, the public decorator is used: then loops are compiled again in
each process.

Loops are kept beside the source, or in the user's own folder where that cannot be written. What was
compiled beside the source by whoever installed the package (``shortlist warmup``) is read in any
case. Wheels carry loops compiled for a baseline, which every processor with its features runs
(scripts/wheels.py).
"""

from __future__ import annotations

import builtins
import contextlib
import os
import platform
import sys
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any, NoReturn, TypeVar

import numba
from numba.extending import intrinsic, overload

from shortlist.compiled.stamps import stamp

try:
    import llvmlite.binding
    from llvmlite import ir
    from numba.core import cgutils, types
    from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile
    from numba.core.codegen import JITCodeLibrary
    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.options import DefaultOptions
    from numba.core.registry import CPUDispatcher, cpu_target
    from numba.core.runtime import rtsys
    from numba.core.types.misc import unliteral

    has_internals = "SHORTLIST_PLAIN_NUMBA" not in os.environ
except ImportError:  # another Numba
    has_internals = False

Function = TypeVar("Function", bound=Callable[..., Any])

PUBLIC_OPTIONS = {"nogil": True, "error_model": "numpy"}


def compiled_loop(function: Function, *, counts_references: bool) -> Function:
    """Compile a function that Python calls."""
    if not has_internals:
        return numba.njit(**PUBLIC_OPTIONS)(function)
    options = PUBLIC_OPTIONS | {"no_cfunc_wrapper": True}
    if not counts_references:
        options |= UNCOUNTED
    compiled = numba.njit(**options)(function)
    if compiled is not function:  # it is the same where compilation is turned off
        # no folder can be written, neither here nor the user's own
        with contextlib.suppress(RuntimeError):
            compiled._cache = StampedCache(function)
        compiled.compile = kept_in(JITCodeLibrary, compiled.compile)
    return compiled


def compiled_part(function: Function, *, is_written_into_loops: bool = False) -> Function:
    """Compile a function that only loops call."""
    if not has_internals:
        return numba.njit(**PUBLIC_OPTIONS)(function)
    options = PUBLIC_OPTIONS | {"no_cfunc_wrapper": True, "no_cpython_wrapper": True} | UNCOUNTED
    if is_written_into_loops:
        options["forceinline"] = True
    compiled = numba.njit(**options)(function)
    if compiled is not function:
        compiled.__class__ = Part
        compiled.compile = kept_in(PartLibrary, compiled.compile)
    return compiled


def fetch(array: Any, i: Any) -> None:
    """Ask memory for array[i], which will be read soon, and do not wait for it. As plain Python it
    does nothing.
    """


@overload(fetch)
def _fetch(array: Any, i: Any) -> Any:
    def prefetched(array: Any, i: Any) -> Any:
        prefetch(array, i)

    def not_prefetched(array: Any, i: Any) -> Any:
        pass

    return prefetched if has_internals else not_prefetched


def folders_of(function: Callable[..., object]) -> list[Path]:
    """The folders in which loops of a function are looked for; new ones are kept in the first, if
    it can be written. None if loops are not kept.
    """
    if not has_internals:
        return []
    beside = Path(function.__code__.co_filename).with_name("__pycache__")
    return list(dict.fromkeys([Path(Places(function).locator.get_cache_path()), beside]))


# The baseline of each kind of machine: LLVM's name for it, and the features that a processor needs
# to run its loops.
BASELINES = {
    "x86_64": ("x86-64-v3", ("avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe")),
    "aarch64": ("generic", ("neon",)),
}


@cache
def baseline() -> tuple[str, str] | None:
    """The name and the features of the baseline of this machine, as LLVM takes them; None where
    it does not run it.
    """
    if not has_internals or platform.machine() not in BASELINES:
        return None
    name, needed = BASELINES[platform.machine()]
    features = llvmlite.binding.get_host_cpu_features()
    if not all(features.get(feature) for feature in needed):
        return None
    return name, ",".join(f"+{feature}" for feature in needed)


somebody_waits = False  # whether a command was given on a terminal
was_announced = False


def announce_compiling() -> None:
    """Tell somebody who waits for a command, at a prompt or in a notebook, why the first call takes
    so long.
    """
    global was_announced
    is_interactive = hasattr(sys, "ps1") or hasattr(builtins, "get_ipython")
    if not was_announced and (somebody_waits or is_interactive):
        was_announced = True
        which = "its inner loops, once for this machine"
        mark = announced_before()
        if mark is not None and mark.exists():
            which = "more of its inner loops"
        print(f"shortlist: compiling {which}…", file=sys.stderr, flush=True)
        if mark is not None:
            with contextlib.suppress(OSError):
                mark.touch()


def announced_before() -> Path | None:
    """The file that stands beside the kept loops once somebody was told; None if none are kept."""
    folders = folders_of(announce_compiling)
    return folders[0] / "compiling.announced" if folders else None


if has_internals:
    # a list of kept loops that names a type where an earlier version had it
    MOVED = (ImportError, AttributeError)
    # Numba counts references to arrays; a Numba without this option is only slower
    UNCOUNTED = {"_nrt": False} if hasattr(DefaultOptions, "_nrt") else {}

    class BesideTheSource:
        """Where the loops of a function are if no folder at all can be written; Numba asks for this
        one last.
        """

        def __init__(self, function: FunctionType, file: str) -> None:
            self._line = function.__code__.co_firstlineno
            self._folder = Path(file).with_name("__pycache__")

        from_function = classmethod(lambda cls, function, file: cls(function, file))

        def get_cache_path(self) -> str:
            return str(self._folder)

        def get_source_stamp(self) -> str:
            return ""

        def get_disambiguator(self) -> str:
            return str(self._line)

        def ensure_cache_path(self) -> None:
            """It is not made: whoever can write it has done so."""

    class Places(CompileResultCacheImpl):
        """Numba's own places, and one more."""

        _locator_classes = (*CompileResultCacheImpl._locator_classes, BesideTheSource)

    class StampedCache(FunctionCache):
        """Numba's cache of one function on disk, which forgets what was compiled from anything else
        than what is there.
        """

        _impl_class = Places
        _cache_file: Any
        # whether a loop for the baseline is asked for, not one for this very processor
        _for_baseline = False

        def load_overload(self, sig: object, target_context: object) -> object | None:
            """Asked for first, whether a loop is then found or compiled; by now all that the
            function names is there.
            """
            cache_file = self._cache_file
            cache_file._source_stamp = stamp(self._py_func)
            installed = str(Path(self._py_func.__code__.co_filename).with_name("__pycache__"))
            # Numba loads all of its compiler here, which a kept loop has no need of
            rtsys.initialize(target_context)
            loop = None
            for self._for_baseline in (False, True) if baseline() else (False,):
                for place in dict.fromkeys([self._cache_path, installed]):
                    self._cache_file = IndexDataCacheFile(
                        place, self._impl.filename_base, cache_file._source_stamp
                    )
                    with contextlib.suppress(OSError, *MOVED):
                        loop = loop or self._load_overload(sig, target_context)
            self._cache_file = cache_file
            self._for_baseline = False
            if loop is None:
                announce_compiling()
            return loop

        def _index_key(self, sig: object, codegen: Any) -> Any:
            signature, (triple, *processor), code = super()._index_key(sig, codegen)
            if self._for_baseline:
                processor = baseline() or processor
            return signature, (triple, *processor), code

        def save_overload(self, sig: object, data: object) -> None:
            """Keep a loop where that is possible. Where it is not, it has been compiled all the
            same.
            """
            with contextlib.suppress(OSError):
                try:
                    super().save_overload(sig, data)
                except MOVED:
                    self._cache_file.flush()
                    super().save_overload(sig, data)

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
            types_of_arguments = [unliteral(argument) for argument in args]
            template: tuple[object, ...] = super().get_call_template(types_of_arguments, kws)
            return template

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

    def kept_in(
        library: type[JITCodeLibrary], compile_one: Callable[[Any], Any]
    ) -> Callable[[Any], Any]:
        """Numba's ``compile`` of one function, whose code is kept in such a library."""

        def compile_so(signature: Any) -> Any:
            codegen = cpu_target.target_context.codegen()
            with global_compiler_lock:
                library_before = codegen._library_class
                codegen._library_class = library
                try:
                    return compile_one(signature)
                finally:
                    codegen._library_class = library_before

        return compile_so

    def _entry(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        """Where the entry of an array stands: the first two arguments."""
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        return builder.gep(
            data, [context.cast(builder, arguments[1], signature.args[1], types.intp)]
        )

    @intrinsic
    def prefetch(typing: Any, array: Any, i: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            entry = _entry(context, builder, signature, arguments)
            address = builder.bitcast(entry, ir.IntType(8).as_pointer())
            number = ir.IntType(32)
            kind = ir.FunctionType(ir.VoidType(), [address.type, number, number, number])
            ask = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
            builder.call(ask, [address, number(0), number(3), number(1)])  # to read; keep; data
            return context.get_dummy_value()

        return types.void(array, i), generate
