"""The Extreme Classification Repository's format: ``examples features labels`` on the first line, then
``12,305 0:1.5 17:2`` on each: labels and features, both counted from 0. An example may have none of either.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from shortlist.errors import InputError, counted
from shortlist.inputs.examples import Examples, Places
from shortlist.inputs.format import Format
from shortlist.inputs.parsing.fields import place_of
from shortlist.inputs.parsing.sparse_kernel import LARGEST
from shortlist.inputs.parsing.sparse_lines import MANY_COLUMNS, Layout, sparse_blocks
from shortlist.inputs.source import Source

HEADER = re.compile(r"(\d{1,15})\s+(\d{1,10})\s+(\d{1,10})\s*")


@dataclass
class Xmc(Format):
    name = "xmc"
    description = "Extreme Classification Repository: a line of sizes, then labels and index:value pairs, from 0"
    carries = ("rows", "labels")
    obtained = "http://manikvarma.org/downloads/XC/XMLRepository.html"

    nonnegative: bool = False
    n_features: int | None = None
    hashed: int | None = None

    @classmethod
    def recognises(cls, name: str, head: str) -> bool:
        first, _, rest = head.partition("\n")
        return HEADER.fullmatch(first) is not None and re.match(r"\s*(\d+(,\d+)*)?[ \t]+\d+:", rest) is not None

    @property
    def by_line(self) -> bool:
        return True

    def of_pieces(self, source: Source, first: str) -> tuple[str, bool, Xmc]:
        return first, True, self

    def examples(self, source: Source) -> Iterator[Examples]:
        layout = Layout.of(0, self.n_features, self.hashed, nonnegative=bool(self.nonnegative), blank_lines=True)
        blocks = source.blocks()
        first_block = next(blocks, None)
        if first_block is None:
            return
        header, _, rest = first_block[1].partition(b"\n")
        sizes = HEADER.fullmatch(header.decode("utf-8", "replace"))
        if sizes is None or int(sizes[2]) > LARGEST:
            raise InputError(f"{source.name}, line 1: expected the numbers of examples, features and labels")
        n_examples, n_features, n_labels = map(int, sizes.groups())
        if n_features > layout.most:
            raise InputError(
                f"{source.name}, line 1: expected at most {layout.most} features, found {n_features}; {MANY_COLUMNS}"
            )
        if layout.hashed is None:
            layout = layout._replace(n_features=n_features)
        skipped_before, found = source.progress.skipped.count, 0

        def all_blocks() -> Iterator[tuple[int, bytes]]:
            if rest:
                yield first_block[0] + 1, rest
            yield from blocks

        for block in sparse_blocks(source, all_blocks(), layout):
            labels = [target.split(",") if target else [] for target in block.targets]
            good = []
            for i, one in enumerate(labels):
                wrong = [not label.isdecimal() or len(label) > 18 or int(label) >= n_labels for label in one]
                if any(wrong):
                    which = wrong.index(True)
                    expected = f"expected a label from 0 to {n_labels - 1}, found {one[which][:40]!r}"
                    source.bad(block.numbers[i], place_of(which, one), expected)
                else:
                    good.append(i)
            found += len(good)
            if len(good) < len(labels):
                block, labels = block.only(good), [labels[i] for i in good]
            yield Examples(rows=block.rows, labels=labels, places=Places(source.name, block.numbers))
        found += source.progress.skipped.count - skipped_before
        if found != n_examples:
            raise InputError(
                f"{source.name}: expected {counted(n_examples, 'examples')}, as its first line says, found {found}"
            )
