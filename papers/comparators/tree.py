"""A tree of labels, from pairs (child, parent)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy.sparse

from shortlist.compiled.kernels import Ints, Longs
from shortlist.errors import InputError


class Tree:
    """Nodes by number, each after its parent: ``names[i]`` and the number ``parents[i]``, −1 at
    the top.
    """

    def __init__(self, names: list[Any], parents: Ints) -> None:
        self.names = names
        self.parents = parents
        self.number = {name: i for i, name in enumerate(names)}

    def __len__(self) -> int:
        return len(self.names)

    @classmethod
    def of(cls, pairs: Iterable[tuple[Any, Any]], labels: Iterable[Any]) -> Tree:
        """The tree of the pairs; labels that they do not name stand at the top."""
        parent: dict[Any, Any] = {}
        mentioned: dict[Any, None] = {}
        for child, above in pairs:
            if parent.get(child, above) != above:
                raise InputError(
                    f"the tree gives {child!r} two parents, {parent[child]!r} and {above!r}"
                )
            parent[child] = above
            mentioned |= {above: None, child: None}
        order: dict[Any, int] = {}
        for node in [*mentioned, *labels]:
            path = []
            while node not in order and node is not None:
                if node in path:
                    raise InputError(f"the tree leads from {node!r} up to {node!r} itself")
                path.append(node)
                node = parent.get(node)
            for one in reversed(path):
                order[one] = len(order)
        parents = [-1 if parent.get(node) is None else order[parent[node]] for node in order]
        return cls(list(order), np.array(parents, dtype=np.int32))

    def numbers(self, names: Iterable[Any]) -> Longs:
        return np.array([self.number[name] for name in names], dtype=np.int64)

    def families(self) -> list[tuple[int, Longs]]:
        """(parent, its children), parents before their children; −1 is above the top nodes."""
        if not self.parents.size:
            return []
        by_parent = np.argsort(self.parents, kind="stable")
        parents, first = np.unique(self.parents[by_parent], return_index=True)
        return list(zip(parents.tolist(), np.split(by_parent, first[1:]), strict=True))

    def above(self, labels: list[Any]) -> scipy.sparse.csr_array:
        """For each label, the nodes that an example with it belongs to: its own and all above
        (labels × nodes).
        """
        row, column = [], []
        for i, node in enumerate(self.numbers(labels).tolist()):
            while node >= 0:
                row.append(i)
                column.append(node)
                node = int(self.parents[node])
        ones = np.ones(len(row), dtype=np.int64)
        return scipy.sparse.csr_array((ones, (row, column)), (len(labels), len(self)))
