"""Who may do what: the one table of all routes and the role that each needs. A test walks it row by row.

A route that has no row here is for who manages the server: what somebody forgot to think about is not open to all.
"""

from __future__ import annotations

from collections.abc import Iterable

from starlette.routing import BaseRoute, Route, compile_path

from shortlist.server.people import Role

OPEN = None  # no token at all: it tells nothing of the model
NEEDS: dict[tuple[str, str], Role | None] = {
    ("GET", "/"): OPEN,
    ("GET", "/docs"): OPEN,
    ("GET", "/openapi.json"): OPEN,
    ("GET", "/healthz"): OPEN,
    ("GET", "/page/{name}"): OPEN,
    ("POST", "/v1/rank"): Role.READ,
    ("POST", "/v1/explain"): Role.READ,
    ("GET", "/v1/me"): Role.READ,
    ("GET", "/v1/model"): Role.READ,
    ("GET", "/v1/labels"): Role.READ,
    ("GET", "/v1/label"): Role.READ,
    ("GET", "/v1/feature"): Role.READ,
    ("GET", "/v1/examples"): Role.READ,
    ("GET", "/v1/journal"): Role.READ,
    ("GET", "/v1/export"): Role.READ,
    ("GET", "/v1/watch"): Role.READ,
    ("GET", "/v1/audit"): Role.READ,
    ("GET", "/v1/rehearsal"): Role.READ,
    ("GET", "/metrics"): Role.READ,
    ("POST", "/v1/learn"): Role.JUDGE,
    ("POST", "/v1/undo"): Role.JUDGE,
    ("POST", "/v1/repair"): Role.JUDGE,
    ("GET", "/v1/queue"): Role.READ,
    ("GET", "/v1/queue/items"): Role.READ,
    ("POST", "/v1/queue/next"): Role.JUDGE,
    ("POST", "/v1/queue/move"): Role.JUDGE,
    ("POST", "/v1/queue"): Role.MANAGE,
    ("POST", "/v1/queue/file"): Role.MANAGE,
    ("POST", "/v1/queue/sure"): Role.MANAGE,
    ("POST", "/v1/queue/decide"): Role.MANAGE,
    ("POST", "/v1/queue/undo"): Role.MANAGE,
    ("POST", "/v1/labels"): Role.MANAGE,
    ("GET", "/v1/agreement"): Role.MANAGE,
    ("POST", "/v1/rehearse"): Role.MANAGE,
    ("POST", "/v1/promote"): Role.MANAGE,
    ("POST", "/v1/go-back"): Role.MANAGE,
}


class Needed:
    """What role each route of an application needs."""

    def __init__(self, routes: Iterable[BaseRoute]) -> None:
        rows = [
            (method, route.path, NEEDS.get((method, route.path), Role.MANAGE))
            for route in routes if isinstance(route, Route) for method in (route.methods or ()) if method != "HEAD"
        ]  # fmt: skip
        self._plain = {(method, path): role for method, path, role in rows if "{" not in path}
        self._patterns = [(method, compile_path(path)[0], role) for method, path, role in rows if "{" in path]

    def role(self, method: str, path: str) -> Role | None:
        """The role for a request. What there is not may be looked for by everybody who has a token."""
        method = "GET" if method == "HEAD" else method
        if (method, path) in self._plain:
            return self._plain[method, path]
        for own, pattern, role in self._patterns:
            if own == method and pattern.fullmatch(path):
                return role
        return Role.READ
