"""Vectors of many texts in a file of NumPy, written piece by piece, so that work can be resumed.

While it is written, FILE.partial has the rows that are done, and FILE.partial.json says by which
encoder and for which texts.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from shortlist.encoders.encoder import Encoder
from shortlist.encoders.fingerprint import agree
from shortlist.errors import InputError

HEADER_BYTES = 128  # room for any number of rows
TEXTS_WRITTEN_AT_ONCE = 1024


def write_vectors(
    texts: Iterable[str], encoder: Encoder, target: Path, tell: Callable[[int], None]
) -> tuple[int, int]:
    """Encode texts into a file; return how many there are, and how many were done before.

    ``tell`` is called with the number of texts that are done.
    """
    partial = target.with_name(f"{target.name}.partial")
    record = partial.with_name(f"{partial.name}.json")
    row_bytes = 4 * encoder.dimension
    before = done_before(record, encoder)
    digest = hashlib.sha256()
    n = 0
    try:
        with open(partial, "r+b" if before["texts"] and partial.exists() else "w+b") as file:
            stored = (os.fstat(file.fileno()).st_size - HEADER_BYTES) // row_bytes
            n_before = min(int(before["texts"]), max(stored, 0))
            for some in pieces(texts):
                for text in some:
                    digest.update(hashlib.sha256(text.encode("utf-8", "replace")).digest())
                end = n + len(some)
                if end <= n_before:
                    if end == before["texts"] and digest.hexdigest() != before["digest"]:
                        raise InputError(
                            f"{partial} holds the vectors of other texts: remove it to start anew"
                        )
                else:
                    rows = encoder(some).astype("<f4")
                    file.seek(HEADER_BYTES + n * row_bytes)
                    file.write(rows.tobytes())
                    file.flush()
                    os.fsync(file.fileno())
                    done = {"encoder": encoder.digest, "texts": end, "digest": digest.hexdigest()}
                    record.write_text(json.dumps(done), encoding="ascii")
                n = end
                tell(n)
            if n < int(before["texts"]):
                raise InputError(
                    f"{partial} holds the vectors of more texts: remove it to start anew"
                )
            file.truncate(HEADER_BYTES + n * row_bytes)
            file.seek(0)
            file.write(header(n, encoder.dimension))
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, target)
        record.unlink(missing_ok=True)
    except OSError as problem:
        raise InputError(f"cannot write {problem.filename or target}: {problem.strerror}") from None
    return n, n_before


def done_before(record: Path, encoder: Encoder) -> dict[str, Any]:
    """How many texts were encoded before, and their digest; none if by another encoder."""
    nothing = {"texts": 0, "digest": ""}
    try:
        done = json.loads(record.read_bytes())
        if type(done["texts"]) is int and agree(str(done["encoder"]), encoder.digest):
            return {"texts": done["texts"], "digest": done["digest"]}
    except (OSError, ValueError, KeyError, TypeError):
        pass
    return nothing


def pieces(texts: Iterable[str]) -> Iterator[list[str]]:
    """Texts, some at a time: the same ones in every run."""
    some: list[str] = []
    for text in texts:
        some.append(text)
        if len(some) == TEXTS_WRITTEN_AT_ONCE:
            yield some
            some = []
    if some:
        yield some


def header(n: int, dimension: int) -> bytes:
    """The beginning of a file of NumPy that holds float32[n, dimension]."""
    fields = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({n}, {dimension}), }}"
    magic = np.lib.format.magic(1, 0)
    room = HEADER_BYTES - len(magic) - 2
    return magic + room.to_bytes(2, "little") + f"{fields:<{room - 1}}\n".encode("ascii")
