"""Tools for assistants over the Model Context Protocol: each is one question to a running server.

What a tool teaches is in the server's journal, under the name of the person of the token, and can
be explained, exported and undone like all other examples.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

from shortlist import __version__
from shortlist.errors import InputError, installing
from shortlist.server.client import Server

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

INSTRUCTIONS = (
    "Labels for texts, by a model that learns from each correction at once. Rank a text to see "
    "which labels fit and how likely each is; explain says which words speak for a label. Learn "
    "only what the user has judged, and keep the number it gives: undo takes exactly that back."
)


class Tools:
    """What an assistant can do. It reads these docstrings."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def rank(self, text: str, k: int = 10) -> dict[str, Any]:
        """Rank the labels that fit a text, best first.

        Gives the k best labels with their scores and the probability that each is right (null where
        that is not known yet), and `decision`: the labels that the model would assign alone, or the
        reason why it would not.
        """
        answer = self._server.ask("v1/rank", {"text": text, "k": k})
        return {"labels": answer["rankings"][0], "decision": answer["decisions"][0]}

    def explain(self, text: str, label: str | None = None) -> dict[str, Any]:
        """Say which words of a text speak for a label, or against it; for the best label if none is
        named.

        The votes sum to the score, heaviest first; `spans` are the places of each word in the text.
        """
        return self._server.ask("v1/explain", {"text": text, "label": label})

    def labels(self, search: str = "", limit: int = 20) -> dict[str, Any]:
        """Find labels whose names or synonyms contain these letters, with the number of examples of
        each.

        Without letters, the labels with the most examples. `found` is how many there are in all.
        """
        return self._server.ask("v1/labels", q=search, limit=limit)

    def learn(
        self,
        text: str,
        labels: list[str] | None = None,
        wrong: list[str] | None = None,
        complete: bool | None = None,
        key: str | None = None,
    ) -> dict[str, Any]:
        """Teach the model which labels of a text are right and which are wrong; it is better at
        once.

        `labels` are right, `wrong` are crossed out; at least one of the two is needed. `complete`
        says that all other labels are wrong, too; if it is not given, that holds where nothing was
        crossed out. With a `key` of your choice a retry is safe: a key that is known is not learned
        again. Gives the `number` that undo takes.
        """
        example = {
            "text": text,
            "labels": labels or [],
            "wrong": wrong or [],
            "complete": complete,
            "key": key,
        }
        (learned,) = self._server.ask("v1/learn", {"examples": [example]})["learned"]
        return dict(learned)

    def undo(self, number: int) -> dict[str, Any]:
        """Take back what was learned under this number. The model is then what it would be
        without it.
        """
        return self._server.ask("v1/undo", {"number": number})


def serve(server: Server) -> None:
    """Offer the tools on standard input and output until they are closed."""
    make_server(Tools(server)).run("stdio")


def make_server(tools: Tools) -> MCPServer:
    """Return the tools as a server of the official package."""
    try:
        from mcp.server.mcpserver import MCPServer
        from mcp.types import ToolAnnotations
    except ImportError:
        raise InputError(f"this needs the package mcp 2; {installing('mcp')}") from None

    server = MCPServer(
        "shortlist", version=__version__, instructions=INSTRUCTIONS, log_level="WARNING"
    )
    look = ToolAnnotations(read_only_hint=True, open_world_hint=False)
    teach = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)
    undo = ToolAnnotations(
        read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False
    )
    hints = {"rank": look, "explain": look, "labels": look, "learn": teach, "undo": undo}
    for name, hint in hints.items():
        server.add_tool(telling(getattr(tools, name)), annotations=hint)
    return server


def telling(tool: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    """Return the tool, whose refusals are sentences that the assistant reads."""
    from mcp.server.mcpserver.exceptions import ToolError

    @wraps(tool)
    def answer(*arguments: Any, **named: Any) -> dict[str, Any]:
        try:
            return tool(*arguments, **named)
        except InputError as problem:
            raise ToolError(str(problem)) from None

    return answer
