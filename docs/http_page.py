"""The HTTP interface as a page, from the OpenAPI document that the server itself answers with."""

from __future__ import annotations

from typing import Any
from unittest.mock import MagicMock


def page() -> str:
    """Every path with what it takes and gives. Where FastAPI is missing, a sentence says so."""
    try:
        document = openapi()
    except ImportError:
        return (
            "# HTTP\n\nThis page is made from the server: `pip install '.[server]'` and build "
            "again.\n"
        )
    shapes = document["components"]["schemas"]
    lines = [
        "# HTTP",
        "",
        "What `shortlist serve` answers, from its OpenAPI document (`GET /openapi.json`); how it "
        "is",
    ]
    lines += [
        'meant to be used is in [Serve](server.md). Every error is `{"error": "one sentence"}`.'
    ]
    for path, methods in document["paths"].items():
        for method, one in methods.items():
            lines += [
                "",
                f"## {method.upper()} {path}",
                "",
                one.get("description") or one.get("summary", ""),
            ]
            asked = [parameter(own) for own in one.get("parameters", ())]
            asked += fields(one.get("requestBody"), shapes)
            given = fields(one["responses"].get("200"), shapes)
            for title, rows in (("takes", asked), ("gives", given)):
                if rows:
                    lines += ["", f"| it {title} | type | meaning |", "|---|---|---|", *rows]
    lines += ["", "## Shapes", "", "What stands in the lists above."]
    for name, shape in shapes.items():
        own = [
            row(one, schema, schema.get("description", ""))
            for one, schema in shape.get("properties", {}).items()
        ]
        if own and f"list of {name} " in "\n".join(lines):
            lines += ["", f"### {name}", "", "| field | type | meaning |", "|---|---|---|", *own]
    return "\n".join(lines) + "\n"


def openapi() -> dict[str, Any]:
    """The document, of routes that have no model behind them."""
    from fastapi import FastAPI

    from shortlist.server.app import ROUTES_OF_LABELS

    app = FastAPI(title="shortlist")
    for routes in ROUTES_OF_LABELS:
        app.include_router(routes(MagicMock()).router())
    return app.openapi()


def parameter(own: dict[str, Any]) -> str:
    return row(own["name"], own.get("schema", {}), own.get("description", ""))


def fields(body: dict[str, Any] | None, shapes: dict[str, Any]) -> list[str]:
    """The fields of a question or an answer in JSON."""
    content = (body or {}).get("content", {}).get("application/json", {}).get("schema", {})
    shape = shapes.get(content.get("$ref", "").rpartition("/")[2], content)
    return [
        row(name, own, own.get("description", ""))
        for name, own in shape.get("properties", {}).items()
    ]


def row(name: str, schema: dict[str, Any], meaning: str) -> str:
    return f"| `{name}` | {kind(schema)} | {meaning.replace('|', '/')} |"


def kind(schema: dict[str, Any]) -> str:
    """The type in words: text, list of numbers, RankAnswer."""
    if "$ref" in schema:
        return schema["$ref"].rpartition("/")[2]
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(kind(one) for one in schema["anyOf"]))
    if schema.get("type") == "array":
        return f"list of {kind(schema.get('items', {}))}"
    words = {
        "string": "text",
        "integer": "whole number",
        "boolean": "true or false",
        "null": "nothing",
    }
    return words.get(schema.get("type", ""), schema.get("type", "anything"))
