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

AT_ONCE, LETTERS = 500, 400_000  # texts, and characters, in one request
PATIENCE = 60.0  # seconds to wait for an answer
USUAL = "http://127.0.0.1:8000/"

Thing = TypeVar("Thing")


class Stay(urllib.request.HTTPRedirectHandler):
    """Follows no redirects: a token is for one server."""

    def redirect_request(self, *_: object) -> None:
        return None


STAYING = urllib.request.build_opener(Stay)


class Server:
    """A server that is asked over HTTP, with a token from a file or SHORTLIST_TOKEN."""

    def __init__(self, address: str | None, token_file: Path | None = None) -> None:
        self._address = (address or "").rstrip("/") + "/"
        if not self._address.startswith(("http://", "https://")):
            raise InputError(f"--server takes an address such as {USUAL}, not {address!r}")
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
        # Not escaped, so that a part has as many bytes as a server takes; the server refuses what
        # is not text.
        content = (
            None
            if body is None
            else json.dumps(body, ensure_ascii=False).encode(errors="surrogatepass")
        )
        address = self._address + path + (f"?{urlencode(query)}" if query else "")
        try:
            request = urllib.request.Request(address, content, headers)
            with STAYING.open(request, timeout=PATIENCE) as answer:
                found = json.load(answer)
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
        if not isinstance(found, dict):
            raise InputError(f"{self._address} answers what no shortlist server does")
        return found


def parts(
    things: Iterable[Thing], text_of: Callable[[Thing], str], most: int = LETTERS
) -> Iterator[list[Thing]]:
    """Yield lists of texts, or of things with a text each, that fit into one request: of
    ``most`` characters.
    """
    part: list[Thing] = []
    letters = 0
    for thing in things:
        length = len(text_of(thing))
        if part and (len(part) == AT_ONCE or letters + length > most):
            yield part
            part, letters = [], 0
        part.append(thing)
        letters += length
    if part:
        yield part
