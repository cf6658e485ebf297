"""SKOS, the W3C's form of thesauri, read with rdflib (``pip install '.[skos]'``)."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from typing import Any

from shortlist.concepts.vocabulary import Concept
from shortlist.errors import InputError, installing

ENDINGS = {".rdf": "xml", ".xml": "xml", ".ttl": "turtle", ".jsonld": "json-ld", ".nt": "nt"}


def read_skos(text: str, form: str, where: str, language: str | None) -> Iterator[Concept]:
    """The concepts of a SKOS file; labels are their URIs."""
    try:
        from rdflib import OWL, RDF, SKOS, Graph, URIRef
    except ImportError:
        raise InputError(f"SKOS is read with rdflib; {installing('skos')}") from None
    graph = Graph()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what rdflib says of itself
            graph.parse(data=text, format=form)
    except Exception as problem:  # rdflib's parsers raise errors of many libraries
        said = " ".join(str(problem).split())[:200]
        raise InputError(f"{where} is no SKOS that rdflib reads as {form}: {said}") from None
    concepts = {one for one in graph.subjects(RDF.type, SKOS.Concept) if isinstance(one, URIRef)}
    for uri in sorted(concepts):
        names = _in_language(graph.objects(uri, SKOS.prefLabel), language)
        others = [name for kind in (SKOS.altLabel, SKOS.hiddenLabel) for name in graph.objects(uri, kind)]
        synonyms = [
            str(one) for one in others if language is None or getattr(one, "language", None) in (language, None)
        ]
        above = {str(one) for one in graph.objects(uri, SKOS.broader)}
        above |= {str(one) for one in graph.subjects(SKOS.narrower, uri)}
        deprecated = any(str(one).casefold() in ("true", "1") for one in graph.objects(uri, OWL.deprecated))
        name = names[0] if names else str(uri)
        own = dict.fromkeys(sorted(synonyms))
        own.pop(name, None)
        yield Concept(str(uri), name, tuple(own), tuple(sorted(above)), deprecated)


def _in_language(names: Iterable[Any], language: str | None) -> list[str]:
    """Names, those in the language first, then those in none, then others."""

    def distance(name: Any) -> tuple[int, str, str]:
        own = getattr(name, "language", None)
        wanted = language if language is not None else "en"
        return (0 if own == wanted else 1 if own is None else 2), own or "", str(name)

    return [str(name) for name in sorted(names, key=distance)]
