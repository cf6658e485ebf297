"""svmlight and libsvm: ``3,17 1:0.5 7:2 # a comment`` has the labels 3 and 17 and two features.

Indices count from 1, ascend, and stand once each; ``zero_based=True`` counts from 0. A line may have no labels, and a
``qid:`` after them. With ``rating=True`` the number that begins a line is a rating, not a label.

``n_features`` says how many columns there are. Without it they are at most 2²², because a model takes memory for every
column up to the highest. ``hashed`` folds them into so many: columns that are equal modulo that number are added up,
which suits files whose indices are hashes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from shortlist.errors import InputError, counted
from shortlist.inputs.examples import Examples, Places
from shortlist.inputs.format import Format
from shortlist.inputs.parsing.quoting import place_of
from shortlist.inputs.parsing.sparse_kernel import LARGEST
from shortlist.inputs.parsing.sparse_lines import MANY_COLUMNS, Layout, sparse_blocks, with_numbers
from shortlist.inputs.source import Source

LINE = re.compile(r"[ \t]*([^\s:#]+[ \t]+)?(qid:\S+[ \t]+)?(\d+:[-+]?[\d.]\S*)([ \t]+\d+:[-+]?[\d.]\S*)*[ \t]*(#.*)?")


def looks_sparse(head: str) -> bool:
    """Whether the first whole line that is not blank or a comment consists of index:value pairs."""
    first = next((line for line in head.splitlines() if line.strip() and not line.lstrip().startswith("#")), "")
    return LINE.fullmatch(first[:10_000].rpartition(" ")[0] if len(first) > 10_000 else first) is not None


@dataclass
class SvmLight(Format):
    name = "svmlight"
    description = "svmlight or libsvm: labels, then index:value pairs; several labels are separated by commas"
    carries = ("rows", "labels", "ratings", "query")
    endings = (".svm", ".svmlight", ".libsvm")

    zero_based: bool = False
    n_features: int | None = None
    hashed: int | None = None
    nonnegative: bool = False
    rating: bool = False

    @classmethod
    def recognises(cls, name: str, head: str) -> bool:
        return name.endswith(cls.endings) or looks_sparse(head)

    @property
    def by_line(self) -> bool:
        return True

    def examples(self, source: Source) -> Iterator[Examples]:
        first = 0 if self.zero_based else 1
        layout = Layout.of(first, self.n_features, self.hashed, nonnegative=bool(self.nonnegative))
        for block in sparse_blocks(source, source.blocks(), layout):
            query = block.queries if any(block.queries) else None
            if self.rating:
                block, ratings = with_numbers(source, block, "a rating")
                yield Examples(rows=block.rows, ratings=ratings, query=query and block.queries)
            else:
                labels = [target.split(",") if target else [] for target in block.targets]
                yield Examples(rows=block.rows, labels=labels, query=query, places=Places(source.name, block.numbers))


# LETOR: ``2 qid:10 1:0.03 2:0.5 #docid = 298134`` is a document of relevance 2 for query 10.


QUERY = re.compile(rb"\sqid:(\S+)")


@dataclass
class Letor(Format):
    name = "letor"
    description = "LETOR: relevance, qid:query, index:value pairs, and the document's name in a comment"
    carries = ("rows", "relevance", "query", "ids")
    endings = (".letor",)
    obtained = "LETOR 3.0 and 4.0, MSLR-WEB10K and 30K: Microsoft Research; Istella LETOR has the same layout"

    zero_based: bool = False
    n_features: int | None = None
    hashed: int | None = None

    @classmethod
    def recognises(cls, name: str, head: str) -> bool:
        return looks_sparse(head) and " qid:" in head.replace("\t", " ").partition("\n")[0]

    @property
    def by_line(self) -> bool:
        return True

    def together(self, line: bytes, after: bytes) -> bool:
        one, other = QUERY.search(line), QUERY.search(after)
        return one is None or other is None or one[1] == other[1]

    def examples(self, source: Source) -> Iterator[Examples]:
        layout = Layout.of(0 if self.zero_based else 1, self.n_features, self.hashed)
        last, finished = "", set()
        for block in sparse_blocks(source, source.blocks(), layout):
            block, relevance = with_numbers(source, block, "the relevance")
            bad = set()
            for i, query in enumerate(block.queries):
                if query != last:
                    if not query or query in finished:
                        expected = "qid: after the relevance" if not query else "the lines of a query to stand together"
                        found = "none" if not query else f"query {query} again"
                        column = place_of(1, block.targets[i : i + 1])
                        source.bad(block.numbers[i], column, f"expected {expected}, found {found}")
                        bad.add(i)
                        continue
                    finished.add(last)
                    last = query
            if bad:
                good = [i for i in range(len(block.queries)) if i not in bad]
                block, relevance = block.only(good), relevance[good]
            yield Examples(
                rows=block.rows,
                relevance=relevance,
                query=block.queries,
                ids=[_document(comment) for comment in block.comments] if any(block.comments) else None,
            )


def _document(comment: str) -> str:
    """The name of the document in ``docid = 298134 inc = 1 prob = 0.08``, or the whole comment."""
    before, docid, after = comment.partition("docid")
    name = after.lstrip(" =").split(None, 1) if docid and not before.strip() else None
    return name[0] if name else comment.strip()


# The layout of the Extreme Classification Repository: counts in the first line, then labels and features from 0.


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
