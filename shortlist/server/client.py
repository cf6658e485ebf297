"""A client of a running server, for the command line and the drop-ins."""

from __future__ import annotations

import json
import os
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Iterator
from http.client import HTTPException
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlencode

from shortlist.errors import InputError
from shortlist.server.settings import read_token

# in one request
MOST_TEXTS = 500
MOST_CHARACTERS = 400_000
ANSWER_SECONDS = 60.0  # to wait
EXAMPLE_ADDRESS = "http://127.0.0.1:8000/"

Sendable = TypeVar("Sendable")


class NoRedirects(urllib.request.HTTPRedirectHandler):
    """Follows no redirects: a token is for one server."""

    def redirect_request(self, *_: object) -> None:
        return None


OPENER = urllib.request.build_opener(NoRedirects)


class Server:
    """A server that is asked over HTTP, with a token from a file or SHORTLIST_TOKEN."""

    def __init__(self, address: str | None, token_file: Path | None = None) -> None:
        self._address = (address or "").rstrip("/") + "/"
        if not self._address.startswith(("http://", "https://")):
            raise InputError(
                f"--server takes an address such as {EXAMPLE_ADDRESS}, not {address!r}"
            )
        if "@" in self._address.partition("://")[2].partition("/")[0]:
            raise InputError(
                "--server takes no name and password; give a token with --token-file or "
                "SHORTLIST_TOKEN"
            )
        self._token = read_token(token_file, os.environ.get("SHORTLIST_TOKEN"))

    def ask(
        self, path: str, body: dict[str, Any] | None = None, **query: str | int
    ) -> dict[str, Any]:
        """Return the answer to a question; raise the server's sentence if it refuses."""
        headers = {"Content-Type": "application/json"}
        if self._token is not None:
            headers["Authorization"] = f"Bearer {self._token}"
        content = None
        if body is not None:
            # Not escaped, so that a part has as many bytes as a server takes; the server refuses
            # what is not text.
            content = json.dumps(body, ensure_ascii=False).encode(errors="surrogatepass")
        address = self._address + path
        if query:
            address += f"?{urlencode(query)}"
        try:
            request = urllib.request.Request(address, content, headers)
            with OPENER.open(request, timeout=ANSWER_SECONDS) as answer:
                result = json.load(answer)
        except urllib.error.HTTPError as problem:
            try:
                words = json.load(problem)["error"]
            except (ValueError, KeyError, TypeError):
                words = f"it answers {problem.code}"
            raise InputError(f"{self._address} refuses: {words}") from None
        except (OSError, ValueError, HTTPException) as problem:
            reason = getattr(problem, "reason", problem)
            raise InputError(
                f"cannot reach {self._address}: {str(reason) or type(reason).__name__}"
            ) from None
        if not isinstance(result, dict):
            raise InputError(f"{self._address} does not answer as a shortlist server does")
        return result


def parts(
    items: Iterable[Sendable], text_of: Callable[[Sendable], str], most: int = MOST_CHARACTERS
) -> Iterator[list[Sendable]]:
    """Yield lists of texts, or of items with a text each, that fit into one request: of
    ``most`` characters.
    """
    part: list[Sendable] = []
    n_characters = 0
    for item in items:
        length = len(text_of(item))
        if part and (len(part) == MOST_TEXTS or n_characters + length > most):
            yield part
            part = []
            n_characters = 0
        part.append(item)
        n_characters += length
    if part:
        yield part
