"""Vocabularies of labels: names, synonyms, broader labels and deprecated ones; and the files that
hold them.

Labels are compared as text: label 7 of a model and "7" of a vocabulary are the same.
"""

from __future__ import annotations

import json
import os
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, Self

import msgspec
import numpy as np

from shortlist.data.label_input import Label, shown
from shortlist.data.validation import as_choice, as_whole
from shortlist.errors import InputError, counted, installing
from shortlist.files.store import State
from shortlist.inputs.source import Progress, Source
from shortlist.inputs.tables import is_yes

Policy = Literal["grow", "known"]
POLICIES: tuple[Policy, ...] = ("grow", "known")


class Concept(msgspec.Struct, frozen=True):
    """A label with its name, synonyms and broader labels."""

    label: str
    name: str
    synonyms: tuple[str, ...] = ()
    broader: tuple[str, ...] = ()
    deprecated: bool = False


class LabelVocabulary:
    """Names of labels, and the labels that may be learned.

    Parameters
    ----------
    concepts : iterable of Concept
        Each label once.
    policy : {"grow", "known"}, default="grow"
        "known" refuses to learn labels that are not in the vocabulary, or are deprecated.
    teach : int, default=0
        When a model is fitted, each label with at most that many examples, or none, gets one more
        example: its name and synonyms, which are not used for other labels. 0 adds none; 5 is a
        good number.

    Attributes
    ----------
    concepts : dict of str to Concept
        By label.
    policy, teach
        As given.

    Examples
    --------
    >>> from shortlist import LabelVocabulary
    >>> from shortlist.label_vocabulary import Concept
    >>> grain = Concept("c1", "grain", ("cereals",))
    >>> names = LabelVocabulary([grain, Concept("c2", "wheat", broader=("c1",))])
    >>> names.name("c2"), names.find("cereal"), sorted(names.subtree("c1"))
    ('wheat', ['c1'], ['c1', 'c2'])
    """

    def __init__(
        self, concepts: Iterable[Concept], policy: Policy = "grow", teach: int = 0
    ) -> None:
        self.teach = as_whole(teach, "teach")
        self.policy: Policy = as_choice(policy, "policy", POLICIES)
        self.concepts: dict[str, Concept] = {}
        for concept in concepts:
            if concept.label in self.concepts:
                raise InputError(
                    f"the vocabulary has the label {shown(concept.label)} twice; each may be there "
                    "once"
                )
            self.concepts[concept.label] = concept
        self._narrower: dict[str, list[str]] = {}
        for concept in self.concepts.values():
            for above in concept.broader:
                self._narrower.setdefault(above, []).append(concept.label)
        self._of_name: dict[str, list[str]] = {}
        for concept in self.concepts.values():
            if not concept.deprecated:
                self._of_name.setdefault(concept.name, []).append(concept.label)
        self._folded = [(label, self._words(concept)) for label, concept in self.concepts.items()]

    @classmethod
    def from_names(
        cls, names: Mapping[Label, str], policy: Policy = "grow", teach: int = 0
    ) -> Self:
        """Make a vocabulary of labels and their names."""
        return cls([Concept(str(label), name) for label, name in names.items()], policy, teach)

    @staticmethod
    def _words(concept: Concept) -> list[str]:
        return [word.casefold() for word in (concept.name, *concept.synonyms, concept.label)]

    def __len__(self) -> int:
        return len(self.concepts)

    def __iter__(self) -> Iterator[Concept]:
        return iter(self.concepts.values())

    def __contains__(self, label: object) -> bool:
        return str(label) in self.concepts

    def current(self) -> list[str]:
        """Return the labels that are not deprecated."""
        return [concept.label for concept in self if not concept.deprecated]

    def get(self, label: Label) -> Concept | None:
        """Return the concept of a label, if there is one."""
        return self.concepts.get(str(label))

    def name(self, label: Label) -> str:
        """Return the name of a label; the label itself if it has none."""
        concept = self.get(label)
        if concept is None:
            return str(label)
        return concept.name

    @property
    def broader(self) -> dict[Label, tuple[str, ...]]:
        """The labels directly above each label that has any."""
        return {concept.label: concept.broader for concept in self if concept.broader}

    def subtree(self, label: Label) -> set[str]:
        """Return a label and all labels below it, on any level."""
        reached = {str(label)}
        waiting = [str(label)]
        while waiting:
            new = [below for below in self._narrower.get(waiting.pop(), ()) if below not in reached]
            reached.update(new)
            waiting += new
        return reached

    def find(self, part: str, n: int | None = None) -> list[str]:
        """Find labels by a part of a name, a synonym or the label: whole matches first, then
        beginnings.
        """
        part = part.casefold()
        whole: list[str] = []
        beginnings: list[str] = []
        inside: list[str] = []
        for label, words in self._folded:
            if part in words:
                whole.append(label)
            elif any(word.startswith(part) for word in words):
                beginnings.append(label)
            elif any(part in word for word in words):
                inside.append(label)
        return (whole + beginnings + inside)[:n]

    def of_name(self, name: str) -> str | None:
        """Return the label with exactly this name, if there is only one."""
        hits = self._of_name.get(name, ())
        if len(hits) != 1:
            return None
        return hits[0]

    def called(self, name: str) -> str | None:
        """Return the label with this name or synonym, if there is only one; capitals make no
        difference.
        """
        folded = name.casefold()
        hits = [label for label, words in self._folded if folded in words]
        return hits[0] if len(hits) == 1 else None

    def renamed(self, old: str, new: str) -> LabelVocabulary:
        """Return the vocabulary with a label renamed, unless the new label exists already."""
        if old not in self.concepts or new in self.concepts:
            return self

        names = {label: label for label in self.concepts} | {old: new}
        concepts = []
        for concept in self:
            broader = tuple(names.get(above, above) for above in concept.broader)
            concepts.append(
                msgspec.structs.replace(concept, label=names[concept.label], broader=broader)
            )
        return LabelVocabulary(concepts, self.policy, self.teach)

    def lessons(self, counts: Mapping[str, int]) -> Iterator[tuple[str, str]]:
        """Yield a text of the name and synonyms, and the label, for each label with few
        examples or none.
        """
        for concept in self:
            if self.teach and not concept.deprecated and counts.get(concept.label, 0) <= self.teach:
                yield " . ".join((concept.name, *concept.synonyms)), concept.label

    def check(self, labels: Iterable[Label]) -> None:
        """Refuse labels that the policy does not allow."""
        if self.policy == "grow":
            return
        for label in labels:
            concept = self.get(label)
            if concept is None:
                raise InputError(
                    f"the label {shown(label)} is not one of the {len(self):,} of the vocabulary, "
                    "whose policy is to take known ones only"
                )
            if concept.deprecated:
                raise InputError(
                    f"the label {shown(label)} ({concept.name}) is deprecated in the vocabulary"
                )

    def to_state(self) -> State:
        """Return the vocabulary as data for a model file."""
        written = msgspec.json.encode(list(self.concepts.values()))
        return State(
            "LabelVocabulary",
            {"policy": self.policy, "teach": self.teach},
            {"concepts": np.frombuffer(written, dtype=np.uint8)},
        )

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Make the vocabulary of a state."""
        written = state.array("concepts", np.uint8).tobytes()
        return cls(
            msgspec.json.decode(written, type=list[Concept]),
            state.settings["policy"],
            state.settings["teach"],
        )


COMPRESSIONS = (".gz", ".xz", ".bz2", ".zst")
SKOS_FORMS = {".rdf": "xml", ".xml": "xml", ".ttl": "turtle", ".jsonld": "json-ld", ".nt": "nt"}


NESTED_ENTITY = re.compile(r"""<!ENTITY\s[^"'>]*("[^"&]*&|'[^'&]*&)""")


def read_skos(text: str, form: str, where: str, language: str | None) -> Iterator[Concept]:
    """Yield the concepts of a SKOS file, read with rdflib; labels are their URIs."""
    try:
        from rdflib import OWL, RDF, SKOS, Graph, URIRef
    except ImportError:
        raise InputError(f"SKOS is read with rdflib; {installing('skos')}") from None
    if form == "xml" and NESTED_ENTITY.search(text):
        raise InputError(
            f"{where} declares an entity that holds another, from which a text of any length can "
            "be made; write it without"
        )
    graph = Graph()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # rdflib's about itself
            graph.parse(data=text, format=form)
    except Exception as problem:  # rdflib's parsers raise errors of many libraries
        reason = " ".join(str(problem).split())[:200]
        raise InputError(f"{where}: rdflib cannot read it as SKOS in {form}: {reason}") from None
    concepts = {uri for uri in graph.subjects(RDF.type, SKOS.Concept) if isinstance(uri, URIRef)}
    for uri in sorted(concepts):
        names = _in_language(graph.objects(uri, SKOS.prefLabel), language)
        name = names[0] if names else str(uri)
        synonyms = set()
        for synonym in (*graph.objects(uri, SKOS.altLabel), *graph.objects(uri, SKOS.hiddenLabel)):
            if language is None or getattr(synonym, "language", None) in (language, None):
                synonyms.add(str(synonym))
        synonyms.discard(name)
        above = {*graph.objects(uri, SKOS.broader), *graph.subjects(SKOS.narrower, uri)}
        marks = {str(mark).casefold() for mark in graph.objects(uri, OWL.deprecated)}
        yield Concept(
            str(uri),
            name,
            tuple(sorted(synonyms)),
            tuple(sorted(map(str, above))),
            not marks.isdisjoint({"true", "1"}),
        )


def _in_language(names: Iterable[Any], language: str | None) -> list[str]:
    """Sort names: those in the language first, then those without a language."""

    preferred = "en" if language is None else language

    def distance(name: Any) -> tuple[bool, bool, str, str]:
        spoken = getattr(name, "language", None)
        return spoken != preferred, spoken is not None, spoken or "", str(name)

    return [str(name) for name in sorted(names, key=distance)]


CELL_SEPARATOR = "|"  # separates synonyms or broader labels in one cell
# the fields of EURLEX57K's file of EuroVoc, where the label is a number and "label" its name
EURLEX_FIELDS = {
    "concept_id": "label",
    "label": "name",
    "alt_labels": "synonyms",
    "parents": "broader",
}
CONCEPT_FIELDS = ("label", "name", "synonyms", "broader", "deprecated")


def read_vocabulary(
    path: str | os.PathLike[str],
    language: str | None = None,
    policy: Policy = "grow",
    teach: int = 0,
) -> LabelVocabulary:
    """Read a vocabulary of labels from a file, compressed or not.

    TSV or CSV: the label and its name; with a header also synonyms, broader and deprecated, with
    ``|`` between several. JSON: a list of objects, or an object from labels to names or objects;
    these may have the fields of EURLEX57K (concept_id, label, alt_labels, parents).
    SKOS: RDF/XML (.rdf, .xml), Turtle (.ttl), JSON-LD (.jsonld) or N-Triples (.nt).

    Parameters
    ----------
    path : path
        The file.
    language : str, default=None
        The preferred language of the names in a SKOS file; English if None.
    policy : {"grow", "known"}, default="grow"
        Whether a model may learn labels that the vocabulary does not have.
    teach : int, default=0
        Labels with at most that many examples are also learned from their names.

    Returns
    -------
    LabelVocabulary
        The labels in the order of the file.

    Examples
    --------
    >>> from pathlib import Path
    >>> from shortlist import read_vocabulary
    >>> _ = Path("names.tsv").write_text("p1\\tcereals\\np2\\twheat\\n")
    >>> read_vocabulary("names.tsv").name("p2")
    'wheat'
    """
    file = Path(path)
    if not file.is_file():
        raise InputError(f"there is no vocabulary file {file}")
    plain = file
    while plain.suffix.lower() in COMPRESSIONS:
        plain = plain.with_suffix("")
    ending = plain.suffix.lower()
    source = Source(file, Progress())
    try:
        source.decode_as("utf-8")
        text = source.whole()
    finally:
        source.close()
    assert text is not None  # bad records are refused
    if ending in SKOS_FORMS:
        concepts = read_skos(text, SKOS_FORMS[ending], str(file), language)
    elif ending == ".json" or text.lstrip()[:1] in ("{", "["):
        concepts = _of_json(text, str(file))
    else:
        concepts = _of_table(text, str(file), "," if ending == ".csv" else "\t")
    vocabulary = LabelVocabulary(concepts, policy, teach)
    if not len(vocabulary):
        raise InputError(f"the vocabulary {file} holds no concepts")
    return vocabulary


def _of_table(text: str, where: str, separator: str) -> Iterator[Concept]:
    import csv

    lines = text.splitlines()
    if separator == "\t":
        rows = csv.reader(lines, delimiter=separator, quoting=csv.QUOTE_NONE)
        expected = "a label, a tab and a name"
    else:
        rows = csv.reader(lines, delimiter=separator)
        expected = "a label, a comma and a name"
    columns: list[str] = ["label", "name"]
    for number, row in enumerate(_sound_rows(rows, where), 1):
        if not any(cell.strip() for cell in row):
            continue
        if number == 1 and "label" in row and set(row) & {"name", *CONCEPT_FIELDS[2:]}:
            columns = row
            continue
        if len(row) < 2:
            raise InputError(
                f"{where}, line {number}: expected {expected}, found {counted(len(row), 'columns')}"
            )
        cells = {column: cell.strip() for column, cell in zip(columns, row, strict=False)}
        label = cells.get("label", "").removeprefix("<").removesuffix(">")  # as Annif writes URIs
        if not label:
            raise InputError(f"{where}, line {number}: expected a label, found none")
        yield Concept(
            label,
            cells.get("name") or label,
            _several(cells.get("synonyms", "")),
            _several(cells.get("broader", "")),
            is_yes(cells.get("deprecated", "")) is True,
        )


def _sound_rows(rows: Any, where: str) -> Iterator[list[str]]:
    """Yield the rows of a table until one cannot be read, as its cell is too long."""
    import csv

    try:
        yield from rows
    except csv.Error as problem:
        raise InputError(f"{where}, line {rows.line_num}: {problem}") from None


def _several(cell: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in cell.split(CELL_SEPARATOR) if part.strip())


def _of_json(text: str, where: str) -> Iterator[Concept]:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise InputError(f"{where} is not JSON: {problem}") from None
    pairs = content.items() if isinstance(content, dict) else [(None, value) for value in content]
    for number, (key, value) in enumerate(pairs, 1):
        if isinstance(value, str) and key is not None:
            value = {"name": value}
        if not isinstance(value, dict):
            raise InputError(
                f"{where}, concept {number}: expected an object, found {type(value).__name__}"
            )
        if not EURLEX_FIELDS.keys().isdisjoint(value.keys() - set(CONCEPT_FIELDS)):
            value = {EURLEX_FIELDS.get(name, name): part for name, part in value.items()}
        unknown = value.keys() - set(CONCEPT_FIELDS)
        if unknown:
            raise InputError(
                f"{where}, concept {number}: unknown fields {', '.join(sorted(unknown))}; the "
                f"known ones are {', '.join(CONCEPT_FIELDS)}"
            )
        label = value.get("label") if key is None else key
        if not isinstance(label, (str, int)) or label == "":
            raise InputError(
                f"{where}, concept {number}: expected a label that is text, found {label!r}"
            )
        name = value.get("name")
        yield Concept(
            str(label),
            name if isinstance(name, str) and name else str(label),
            _texts(value.get("synonyms")),
            _texts(value.get("broader")),
            is_yes(value.get("deprecated")) is True,
        )


def _texts(value: Any) -> tuple[str, ...]:
    """Return one text or several as a tuple."""
    values = value if isinstance(value, list) else [value]
    return tuple(str(text) for text in values if isinstance(text, (str, int)) and text != "")
