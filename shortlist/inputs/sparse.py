"""svmlight and libsvm: ``3,17 1:0.5 7:2 # a comment`` has the labels 3 and 17 and two features.

Indices count from 1, ascend, and stand once each; ``zero_based=True`` counts from 0. A line may have no labels, and a
``qid:`` after them. With ``rating=True`` the number that begins a line is a rating, not a label.

``n_features`` says how many columns there are. Without it they are at most 2²², because a model takes memory for every
column up to the highest. ``hashed`` folds them into so many: columns that are equal modulo that number are added up,
which suits files whose indices are hashes.

The pairs of a block of lines are parsed by polars, as a table of two columns. A block that polars refuses, or that
holds what is not allowed, is gone over in Python, which names the bad lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from shortlist.arrays.rows import Rows
from shortlist.arrays.validation import as_rows, as_whole
from shortlist.errors import InputError, counted
from shortlist.inputs.examples import Examples, Places
from shortlist.inputs.format import Format
from shortlist.inputs.source import Source

LARGEST_INDEX = int(np.iinfo(np.int32).max)
LARGEST_VALUE = 1e270
# A model has room for every column up to the highest, so that one number in a small file could ask for gigabytes.
MOST_COLUMNS = 1 << 22
MANY_COLUMNS = (
    "a model takes memory for every column up to the highest: if there are so many, say how many with n_features, or "
    "fold them into fewer with hashed, for example hashed=1048576"
)
ZERO_BASED = "; if the first feature of the file is number 0, give zero_based=True"

HEAD = re.compile(r"[ \t]*(?:([^ \t#:]+)(?![^ \t#]))?[ \t]*(qid:([^ \t#]*))?")  # the target and the query of a line
PAIR = re.compile(r"[^ \t]+")
NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", re.ASCII)
BLANKS = re.compile(rb"[\t\n]+")
LINE = re.compile(r"[ \t]*([^\s:#]+[ \t]+)?(qid:\S+[ \t]+)?(\d+:[-+]?[\d.]\S*)([ \t]+\d+:[-+]?[\d.]\S*)*[ \t]*(#.*)?")

Numbers = NDArray[np.float64]
Pairs = tuple[NDArray[np.int64], Numbers]  # the indices and the values of all pairs, line after line


class Layout(NamedTuple):
    """How the indices are counted, and what is allowed."""

    first_index: int = 1
    n_features: int | None = None
    nonnegative: bool = False
    blank_lines: bool = False  # whether a blank line is an example without labels and features
    hashed: int | None = None  # the number of columns that all are folded into

    @classmethod
    def of(cls, first_index: int, n_features: int | None, hashed: int | None, **more: bool) -> Layout:
        """With the options of the formats, checked."""
        if n_features is not None and hashed is not None:
            raise InputError("n_features and hashed both say how many columns there are; give one of them")
        if n_features is not None:
            n_features = as_whole(n_features, "n_features", least=1)
        if hashed is not None:
            hashed = as_whole(hashed, "hashed", least=1)
        return cls(first_index, n_features, hashed=hashed, **more)

    @property
    def most(self) -> int:
        """How many columns there may be."""
        if self.hashed is not None:
            return LARGEST_INDEX
        return MOST_COLUMNS if self.n_features is None else self.n_features


class Line(NamedTuple):
    """A line and its parts."""

    number: int
    content: str  # what stands before the comment
    pairs: int  # where its pairs begin
    n_pairs: int
    target: str
    query: str | None  # None where there is no qid:
    comment: str

    @classmethod
    def of(cls, number: int, line: str) -> Line:
        content, _, comment = line.partition("#")
        head = HEAD.match(content)
        assert head is not None  # every part of it may be absent
        pairs = head.end()
        return cls(number, content, pairs, content.count(":", pairs), head[1] or "", head[3], comment)


class SparseBlock(NamedTuple):
    """The examples of a block: their rows, and the lines that they come from."""

    rows: Rows
    lines: list[Line]

    def only(self, good: list[int]) -> SparseBlock:
        """The examples at these places."""
        return SparseBlock(self.rows.take(good), [self.lines[i] for i in good])

    def labels(self) -> list[list[str]]:
        return [line.target.split(",") if line.target else [] for line in self.lines]

    def queries(self) -> list[str]:
        return [line.query or "" for line in self.lines]

    def places(self, source: Source) -> Places:
        return Places(source.name, [line.number for line in self.lines])


def sparse_blocks(source: Source, blocks: Iterable[tuple[int, bytes]], layout: Layout) -> Iterator[SparseBlock]:
    """Parse blocks of whole lines. Indices are counted from 0 in the rows, whatever they were in the file."""
    said = layout.n_features if layout.hashed is None else layout.hashed
    n_features = said or 0
    for first, block in blocks:
        lines = [Line.of(*one) for one in zip(*source.decoded(first, block), strict=True)]
        if not layout.blank_lines:
            lines = [line for line in lines if line.content.strip(" \t")]
        found = _pairs_at_once(lines, layout)
        if found is None:
            lines, found = _pairs_one_by_one(source, lines, layout)
        indices, values = found
        if said is None and indices.size:
            n_features = max(n_features, int(indices.max()) + 1)
        indptr = np.cumsum([0, *(line.n_pairs for line in lines)])
        if not np.all(values):
            kept = np.flatnonzero(values)
            indptr, indices, values = np.searchsorted(kept, indptr), indices[kept], values[kept]
        if layout.hashed is None:
            rows = Rows(indptr, indices.astype(np.int32), values, n_features)
        else:
            shape = (len(lines), n_features)
            rows = as_rows(scipy.sparse.csr_array((values, indices % n_features, indptr), shape=shape))
        yield SparseBlock(rows, lines)


def _pairs_at_once(lines: list[Line], layout: Layout) -> Pairs | None:
    """The pairs of all lines, with indices from 0; None where a line is bad, or may be."""
    import polars

    if any(line.query == "" or _empty_label(line.target) is not None for line in lines):
        return None
    data = "\n".join(own for line in lines if (own := line.content[line.pairs :].strip(" \t"))).encode()
    if not data:
        return np.empty(0, dtype=np.int64), np.empty(0)
    data = data.replace(b" ", b"\n")
    if b"\t" in data or b"\n\n" in data:
        data = BLANKS.sub(b"\n", data)
    if b"\r" in data or b"\n+" in data or data.startswith(b"+"):  # which polars reads over
        return None
    kinds = {"index": polars.Int64, "value": polars.Float64}
    try:
        found = polars.read_csv(data, has_header=False, separator=":", schema=kinds, quote_char=None)
    except polars.exceptions.PolarsError:
        return None
    index, value = found["index"], found["value"]
    # Without empty cells, and with as many colons as lines, there is one colon on each line, inside of it.
    ends = np.cumsum([line.n_pairs for line in lines if line.n_pairs])
    if not ends.size or found.height != ends[-1] or index.null_count() or value.null_count():
        return None
    indices, values = index.to_numpy() - layout.first_index, value.to_numpy()
    rises = np.diff(indices) > 0
    rises[ends[:-1] - 1] = True  # from one line to the next
    good = rises.all() and indices.min() >= 0 and indices.max() < layout.most and np.abs(values).max() <= LARGEST_VALUE
    return (indices, values) if good and not (layout.nonnegative and values.min() < 0) else None


def _pairs_one_by_one(source: Source, lines: list[Line], layout: Layout) -> tuple[list[Line], Pairs]:
    """The good lines and their pairs, with indices from 0; the other lines are bad, and reported."""
    good = []
    for line in lines:
        mistake = _mistake(line, layout)
        if mistake is None:
            good.append(line)
            continue
        at, expected, more = mistake
        rest = line.content[at:]
        found = repr(rest.split(None, 1)[0][:40]) if rest and not rest[0].isspace() else "nothing"
        source.bad(line.number, at + 1, f"expected {expected}, found {found}{more}")
    numbers = " ".join(line.content[line.pairs :] for line in good).replace(":", " ").split()
    indices = np.array(list(map(int, numbers[::2])), dtype=np.int64) - layout.first_index
    return good, (indices, np.array(list(map(float, numbers[1::2])), dtype=np.float64))


def _mistake(line: Line, layout: Layout) -> tuple[int, str, str] | None:
    """Which letter of a line is wrong, from 0, what was expected there, and what more there is to say."""
    empty = _empty_label(line.target)
    if empty is not None:
        return line.content.index(line.target) + empty, "a label before and after each comma", ""
    if line.query == "":
        return line.pairs, "a query after qid:", ""
    last = -1
    for pair in PAIR.finditer(line.content, line.pairs):
        text, colon, value = pair[0].partition(":")
        at = pair.start()
        if not (colon and text.isascii() and text.isdigit()):
            return at, "index:value", ""
        index = int(text) - layout.first_index if len(text) <= 18 else layout.most
        if index >= layout.most:
            most = layout.most + layout.first_index - 1
            return at, f"an index of at most {most}", "" if layout.n_features else f"; {MANY_COLUMNS}"
        if index < 0:
            return at, f"an index of at least {layout.first_index}", ZERO_BASED if layout.first_index == 1 else ""
        if index <= last:
            return at, "each index once" if index == last else "indices in ascending order", ""
        at += len(text) + 1
        if not NUMBER.fullmatch(value):
            return at, "a number after the colon", ""
        if abs(float(value)) > LARGEST_VALUE:
            return at, "a number between -1e270 and 1e270", ""
        if layout.nonnegative and float(value) < 0:
            return at, "a value of at least 0", ""
        last = index
    return None


def _empty_label(target: str) -> int | None:
    """Where a label is missing before or after a comma."""
    if "," not in target:
        return None
    if target.startswith(","):
        return 0
    twice = target.find(",,")
    return twice + 1 if twice >= 0 else len(target) if target.endswith(",") else None


def with_numbers(source: Source, block: SparseBlock, what: str) -> tuple[SparseBlock, Numbers]:
    """The examples whose target is a number, and these numbers; the others are bad."""
    numbers = []
    good = []
    for i, line in enumerate(block.lines):
        try:
            number = float(line.target)
        except ValueError:
            number = np.nan
        if np.isfinite(number):
            good.append(i)
            numbers.append(number)
        else:
            found = repr(line.target[:40]) if line.target else "nothing"
            source.bad(line.number, 1, f"expected {what}, a number, found {found}")
    return (block if len(good) == len(block.lines) else block.only(good)), np.array(numbers, dtype=np.float64)


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
    by_line = True

    zero_based: bool = False
    n_features: int | None = None
    hashed: int | None = None
    nonnegative: bool = False
    rating: bool = False

    @classmethod
    def recognises(cls, name: str, head: str) -> bool:
        return name.endswith(cls.endings) or looks_sparse(head)

    def examples(self, source: Source) -> Iterator[Examples]:
        first = 0 if self.zero_based else 1
        layout = Layout.of(first, self.n_features, self.hashed, nonnegative=bool(self.nonnegative))
        for block in sparse_blocks(source, source.blocks(), layout):
            ratings = None
            if self.rating:
                block, ratings = with_numbers(source, block, "a rating")
            query = block.queries()
            yield Examples(
                rows=block.rows,
                labels=None if self.rating else block.labels(),
                ratings=ratings,
                query=query if any(query) else None,
                places=block.places(source),
            )


# LETOR: ``2 qid:10 1:0.03 2:0.5 #docid = 298134`` is a document of relevance 2 for query 10.


QUERY = re.compile(rb"\sqid:(\S+)")


@dataclass
class Letor(Format):
    name = "letor"
    description = "LETOR: relevance, qid:query, index:value pairs, and the document's name in a comment"
    carries = ("rows", "relevance", "query", "ids")
    endings = (".letor",)
    obtained = "LETOR 3.0 and 4.0, MSLR-WEB10K and 30K: Microsoft Research; Istella LETOR has the same layout"
    by_line = True

    zero_based: bool = False
    n_features: int | None = None
    hashed: int | None = None

    @classmethod
    def recognises(cls, name: str, head: str) -> bool:
        return looks_sparse(head) and " qid:" in head.replace("\t", " ").partition("\n")[0]

    def together(self, line: bytes, after: bytes) -> bool:
        one, other = QUERY.search(line), QUERY.search(after)
        return one is None or other is None or one[1] == other[1]

    def examples(self, source: Source) -> Iterator[Examples]:
        layout = Layout.of(0 if self.zero_based else 1, self.n_features, self.hashed)
        last, finished = "", set()
        for block in sparse_blocks(source, source.blocks(), layout):
            block, relevance = with_numbers(source, block, "the relevance")
            good = []
            for i, line in enumerate(block.lines):
                query = line.query or ""
                if query != last or not query:
                    if not query or query in finished:
                        expected = "qid: after the relevance" if not query else "the lines of a query to stand together"
                        found = "none" if not query else f"query {query} again"
                        source.bad(line.number, len(line.target) + 2, f"expected {expected}, found {found}")
                        continue
                    finished.add(last)
                    last = query
                good.append(i)
            if len(good) < len(block.lines):
                block, relevance = block.only(good), relevance[good]
            comments = [line.comment for line in block.lines]
            ids = [_document(comment) for comment in comments] if any(comments) else None
            yield Examples(rows=block.rows, relevance=relevance, query=block.queries(), ids=ids)


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
    by_line = True

    nonnegative: bool = False
    n_features: int | None = None
    hashed: int | None = None

    @classmethod
    def recognises(cls, name: str, head: str) -> bool:
        first, _, rest = head.partition("\n")
        return HEADER.fullmatch(first) is not None and re.match(r"\s*(\d+(,\d+)*)?[ \t]+\d+:", rest) is not None

    def of_pieces(self, source: Source, first: str) -> tuple[str, bool, Xmc]:
        return first, True, self

    def examples(self, source: Source) -> Iterator[Examples]:
        layout = Layout.of(0, self.n_features, self.hashed, nonnegative=bool(self.nonnegative), blank_lines=True)
        blocks = source.blocks()
        first, block = next(blocks, (1, b""))
        if not block:
            return
        header, _, rest = block.partition(b"\n")
        sizes = HEADER.fullmatch(header.decode("utf-8", "replace"))
        if sizes is None or int(sizes[2]) > LARGEST_INDEX:
            raise InputError(f"{source.name}, line 1: expected the numbers of examples, features and labels")
        n_examples, n_features, n_labels = map(int, sizes.groups())
        if n_features > layout.most:
            raise InputError(
                f"{source.name}, line 1: expected at most {layout.most} features, found {n_features}; {MANY_COLUMNS}"
            )
        if layout.hashed is None:
            layout = layout._replace(n_features=n_features)
        skipped_before, found = source.progress.skipped.count, 0
        for part in sparse_blocks(source, chain([(first + 1, rest)] if rest else [], blocks), layout):
            good = [i for i, line in enumerate(part.lines) if self._has_labels(source, line, n_labels)]
            found += len(good)
            part = part if len(good) == len(part.lines) else part.only(good)
            yield Examples(rows=part.rows, labels=part.labels(), places=part.places(source))
        found += source.progress.skipped.count - skipped_before
        if found != n_examples:
            raise InputError(
                f"{source.name}: expected {counted(n_examples, 'examples')}, as its first line says, found {found}"
            )

    def _has_labels(self, source: Source, line: Line, n_labels: int) -> bool:
        """Whether all labels of a line are numbers that the first line allows."""
        at = 0
        for label in line.target.split(",") if line.target else ():
            if not label.isdecimal() or len(label) > 18 or int(label) >= n_labels:
                source.bad(line.number, at + 1, f"expected a label from 0 to {n_labels - 1}, found {label[:40]!r}")
                return False
            at += len(label) + 1
        return True
