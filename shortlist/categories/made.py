"""What a learner makes when it is first asked, and keeps: in a place of its own, as asking changes no attribute."""

from __future__ import annotations

from typing import Generic, TypeVar

What = TypeVar("What")


class Made(Generic[What]):
    """Something that was made, or None. Whoever changes what it is made of puts a new one in its place."""

    def __init__(self) -> None:
        self.value: What | None = None
