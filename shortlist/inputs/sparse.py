"""svmlight and libsvm: ``3,17 1:0.5 7:2 # a comment`` has the labels 3 and 17 and two features.

Indices count from 1, ascend, and stand once each; ``zero_based=True`` counts from 0. A line may
have no labels, and a ``qid:`` after them. With ``rating=True`` the number that begins a line is a
rating, not a label. A first line of three whole numbers, as the Extreme Classification Repository
writes it, says how many examples, features and labels there are: indices count from 0 then.

``n_features`` gives the number of columns. Without it they are at most 2²², because a model takes
memory for every column up to the highest. ``hashed`` folds the columns into that many: columns that
are equal modulo it are added up.

polars parses the pairs of a block of lines as a table of two columns. Python parses a block again
if it has a mistake, to name the bad lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple, Self

import numpy as np
import scipy
from numpy.typing import NDArray

from shortlist.data.rows import Rows
from shortlist.data.validation import as_rows, as_whole
from shortlist.errors import InputError
from shortlist.inputs.examples import ExamplePlaces, Examples
from shortlist.inputs.source import Format, Source

LARGEST_INDEX = int(np.iinfo(np.int32).max)
LARGEST_VALUE = 1e270
MOST_UNSTATED_COLUMNS = 1 << 22  # one index in a small file could ask for gigabytes

# the target and the query of a line
LINE_HEAD = re.compile(r"[ \t]*(?:([^ \t#:]+)(?![^ \t#]))?[ \t]*(qid:([^ \t#]*))?")
PAIR = re.compile(r"[^ \t]+")
DECIMAL = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", re.ASCII)
BLANKS = re.compile(rb"[\t\n]+")
# the numbers of examples, features and labels
SIZES_LINE = re.compile(r"(\d{1,15})\s+([1-9]\d{0,9})\s+(\d{1,10})\s*", re.ASCII)
SPARSE_LINE = re.compile(
    r"[ \t]*([^\s:#]+[ \t]+)?(qid:\S+[ \t]+)?"
    r"(\d+:[-+]?[\d.]\S*)([ \t]+\d+:[-+]?[\d.]\S*)*[ \t]*(#.*)?"
)

# the indices and the values of all pairs, line after line
IndexValuePairs = tuple[NDArray[np.int64], NDArray[np.float64]]


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
        head = LINE_HEAD.match(content)
        assert head is not None  # every part of it may be absent
        pairs = head.end()
        n_pairs = content.count(":", pairs)
        return cls(number, content, pairs, n_pairs, head[1] or "", head[3], comment)


class SparseBlock(NamedTuple):
    """The rows of a block, and their lines."""

    rows: Rows
    lines: list[Line]

    def only(self, good: list[int]) -> SparseBlock:
        """Return the examples of these numbers."""
        if len(good) == len(self.lines):
            return self
        return SparseBlock(self.rows.take(good), [self.lines[i] for i in good])


def sparse_blocks(
    source: Source, blocks: Iterable[tuple[int, bytes]], layout: Sparse
) -> Iterator[SparseBlock]:
    """Parse blocks of whole lines. In the rows, indices count from 0."""
    stated = layout.n_features if layout.hashed is None else layout.hashed
    n_features = stated or 0
    for first, block in blocks:
        decoded = zip(*source.decoded(first, block), strict=True)
        lines = [Line.of(number, line) for number, line in decoded]
        lines = [line for line in lines if line.content.strip(" \t")]
        pairs = _pairs_at_once(lines, layout)
        if pairs is None:
            lines, pairs = _pairs_one_by_one(source, lines, layout)
        indices, values = pairs
        if stated is None and indices.size:
            n_features = max(n_features, int(indices.max()) + 1)
        indptr = np.cumsum([0, *(line.n_pairs for line in lines)])
        if layout.hashed is not None:
            indices = indices % n_features
        shape = (len(lines), n_features)
        # adds up equal columns and leaves zeros out
        yield SparseBlock(
            as_rows(scipy.sparse.csr_array((values, indices, indptr), shape=shape)), lines
        )


def _pairs_at_once(lines: list[Line], layout: Sparse) -> IndexValuePairs | None:
    """Parse the pairs of all lines with polars; None if a line is bad, or may be."""
    import polars

    if any(line.query == "" or _empty_label(line.target) is not None for line in lines):
        return None
    pairs = [line.content[line.pairs :].strip(" \t") for line in lines]
    data = "\n".join(filter(None, pairs)).encode().replace(b" ", b"\n")
    if not data:
        return np.empty(0, dtype=np.int64), np.empty(0)
    if b"\t" in data or b"\n\n" in data:
        data = BLANKS.sub(b"\n", data)
    if b"\r" in data or b"\n+" in data or data.startswith(b"+"):  # polars ignores these
        return None
    types = {"index": polars.Int64, "value": polars.Float64}
    try:
        table = polars.read_csv(
            data, has_header=False, separator=":", schema=types, quote_char=None
        )
    except polars.exceptions.PolarsError:
        return None
    # Without empty cells, and with as many colons as lines, there is one colon on each line, inside
    # of it.
    ends = np.cumsum([line.n_pairs for line in lines if line.n_pairs])
    if not ends.size or table.height != ends[-1] or any(table.null_count().row(0)):
        return None
    indices = table["index"].to_numpy() - layout.first_index
    values = table["value"].to_numpy()
    rises = np.diff(indices) > 0
    rises[ends[:-1] - 1] = True  # from one line to the next
    is_good = (
        rises.all()
        and indices.min() >= 0
        and indices.max() < layout.most
        and np.abs(values).max() <= LARGEST_VALUE
    )
    return (indices, values) if is_good else None


def _pairs_one_by_one(
    source: Source, lines: list[Line], layout: Sparse
) -> tuple[list[Line], IndexValuePairs]:
    """Return the good lines and their pairs; report the others as bad."""
    good = []
    for line in lines:
        mistake = _mistake(line, layout)
        if mistake is None:
            good.append(line)
            continue
        at, expected, hint = mistake
        word = re.split(r"\s", line.content[at:], maxsplit=1)[0]
        source.bad(line.number, at + 1, f"expected {expected}, found {_quoted(word[:40])}{hint}")
    numbers = " ".join(line.content[line.pairs :] for line in good).replace(":", " ").split()
    indices = np.array([int(number) for number in numbers[::2]], dtype=np.int64)
    values = np.array([float(number) for number in numbers[1::2]], dtype=np.float64)
    return good, (indices - layout.first_index, values)


def _quoted(text: str) -> str:
    return repr(text) if text else "nothing"


def _mistake(line: Line, layout: Sparse) -> tuple[int, str, str] | None:
    """Return the first mistake of a line: its place from 0, what was expected there, and a hint."""
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
        index = layout.most
        if len(text) <= 18:
            index = int(text) - layout.first_index
        if index >= layout.most:
            hint = ""
            if layout.n_features is None:
                hint = (
                    "; a model takes memory for every column up to the highest: if there are so "
                    "many, say how many with n_features, or fold them into fewer with hashed, for "
                    "example hashed=1048576"
                )
            return at, f"an index of at most {layout.most + layout.first_index - 1}", hint
        if index < 0:
            hint = "; if the first feature of the file is number 0, give zero_based=True"
            return at, "an index of at least 1", hint
        if index <= last:
            return at, "each index once" if index == last else "indices in ascending order", ""
        at += len(text) + 1
        if not DECIMAL.fullmatch(value):
            return at, "a number after the colon", ""
        if abs(float(value)) > LARGEST_VALUE:
            return at, "a number between -1e270 and 1e270", ""
        last = index
    return None


def _empty_label(target: str) -> int | None:
    """Return where a label is missing before or after a comma."""
    if target.startswith(","):
        return 0
    if ",," in target:
        return target.index(",,") + 1
    return len(target) if target.endswith(",") else None


def with_numbers(
    source: Source, block: SparseBlock, role: str
) -> tuple[SparseBlock, NDArray[np.float64]]:
    """Return the examples whose target is a number, and these numbers; report the others as bad."""
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
            target = _quoted(line.target[:40])
            source.bad(line.number, 1, f"expected {role}, a number, found {target}")
    return block.only(good), np.array(numbers, dtype=np.float64)


def looks_sparse(head: str) -> bool:
    """Whether the first whole line that is not blank or a comment consists of index:value pairs."""
    for line in head.splitlines():
        if line.strip() and not line.lstrip().startswith("#"):
            if len(line) > 10_000:
                line = line[:10_000].rpartition(" ")[0]
            return SPARSE_LINE.fullmatch(line) is not None
    return False


@dataclass
class Sparse(Format):
    """What svmlight and LETOR share."""

    by_line = True

    zero_based: bool = False
    n_features: int | None = None
    hashed: int | None = None

    @property
    def first_index(self) -> int:
        """The number of the first feature in the file."""
        return 0 if self.zero_based else 1

    @property
    def most(self) -> int:
        """How many columns there may be in the file."""
        if self.hashed is not None:
            return LARGEST_INDEX
        return self.n_features or MOST_UNSTATED_COLUMNS

    def blocks(self, source: Source) -> Iterator[SparseBlock]:
        """Parse a file; its first line may hold the sizes."""
        if self.n_features is not None and self.hashed is not None:
            raise InputError(
                "n_features and hashed both say how many columns there are; give one of them"
            )
        for name in ("n_features", "hashed"):
            if getattr(self, name) is not None:
                as_whole(getattr(self, name), name, least=1)
        blocks = source.blocks()
        for first, block in blocks:
            header, _, rest = block.partition(b"\n")
            layout = self.with_sizes(header.decode("utf-8", "replace"))
            if layout is not self:
                first += 1
                block = rest
            yield from sparse_blocks(source, chain([(first, block)], blocks), layout)

    def with_sizes(self, first: str) -> Self:
        """Return the format with the sizes in the first line of a file; itself if that line is
        an example.
        """
        sizes = SIZES_LINE.fullmatch(first)
        if sizes is None:
            return self
        n_features = self.n_features
        if n_features is None and self.hashed is None and int(sizes[2]) <= MOST_UNSTATED_COLUMNS:
            n_features = int(sizes[2])
        return replace(self, zero_based=True, n_features=n_features)

    def of_pieces(self, source: Source, first: str) -> tuple[str, bool, Self]:
        layout = self.with_sizes(first)
        return "", layout is not self, layout


@dataclass
class SvmLight(Sparse):
    name = "svmlight"
    description = (
        "svmlight or libsvm: labels, then index:value pairs; several labels are separated by commas"
    )
    carries = ("rows", "labels", "ratings", "query")
    endings = (".svm", ".svmlight", ".libsvm")
    obtained = (
        "http://manikvarma.org/downloads/XC/XMLRepository.html (Extreme Classification Repository)"
    )

    rating: bool = False

    @classmethod
    def recognises(cls, name: str, head: str) -> bool:
        first, _, rest = head.partition("\n")
        if SIZES_LINE.fullmatch(first):
            head = rest
        return name.endswith(cls.endings) or looks_sparse(head)

    def examples(self, source: Source) -> Iterator[Examples]:
        for block in self.blocks(source):
            ratings = None
            labels = None
            if self.rating:
                block, ratings = with_numbers(source, block, "a rating")
            else:
                labels = [line.target.split(",") if line.target else [] for line in block.lines]
            query = [line.query or "" for line in block.lines]
            yield Examples(
                rows=block.rows,
                labels=labels,
                ratings=ratings,
                query=query if any(query) else None,
                places=ExamplePlaces(source.name, [line.number for line in block.lines]),
            )


# LETOR: ``2 qid:10 1:0.03 2:0.5 #docid = 298134`` is a document of relevance 2 for query 10.


@dataclass
class Letor(Sparse):
    name = "letor"
    description = (
        "LETOR: relevance, qid:query, index:value pairs, and the document's name in a comment"
    )
    carries = ("rows", "relevance", "query", "ids")
    endings = (".letor",)
    obtained = (
        "LETOR 3.0 and 4.0, MSLR-WEB10K and 30K: Microsoft Research; Istella LETOR has the same "
        "layout"
    )

    @classmethod
    def recognises(cls, name: str, head: str) -> bool:
        return looks_sparse(head) and " qid:" in head.replace("\t", " ").partition("\n")[0]

    def examples(self, source: Source) -> Iterator[Examples]:
        current = ""
        finished: set[str] = set()
        for block in self.blocks(source):
            block, relevance = with_numbers(source, block, "the relevance")
            good = []
            for i, line in enumerate(block.lines):
                query = line.query or ""
                if query != current or not query:
                    expected = ""
                    if not query:
                        expected = "expected qid: after the relevance, found none"
                    elif query in finished:
                        expected = (
                            f"expected the lines of a query to stand together, found query {query} "
                            "again"
                        )
                    if expected:
                        source.bad(line.number, len(line.target) + 2, expected)
                        continue
                    finished.add(current)
                    current = query
                good.append(i)
            block = block.only(good)
            ids = [_document(line.comment) for line in block.lines]
            yield Examples(
                rows=block.rows,
                relevance=relevance[good],
                query=[line.query or "" for line in block.lines],
                ids=ids if any(ids) else None,
            )


def _document(comment: str) -> str:
    """Return the document's name in ``docid = 298134 inc = 1 prob = 0.08``, or the whole
    comment.
    """
    docid = re.match(r"\s*docid[\s=]*([^\s=]\S*)", comment)
    return docid[1] if docid else comment.strip()
