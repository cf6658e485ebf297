"""The labels of a state folder: shortlist labels STATE, whether or not a server runs on it."""

from __future__ import annotations

from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from shortlist.cli.models import change_in_words, show
from shortlist.cli.terminal import print_json
from shortlist.errors import InputError

if TYPE_CHECKING:
    from shortlist.server.replica import Replica


def labels_of_state(folder: Path, action: str, names: list[str], as_json: bool) -> None:
    """Show the labels of the present model, change them, or take the last change back."""
    from shortlist.models.label_changes import CHANGES
    from shortlist.server.replica import Replica
    from shortlist.server.snapshots import check_state

    if action not in ("list", "undo", *CHANGES):
        raise InputError(
            f"labels of a state folder are changed by {', '.join(CHANGES)} or undo, not by "
            f"{action!r}"
        )
    check_state(folder)
    with closing(Replica(folder, read_only=action == "list")) as replica:
        replica.check_can_learn()
        if action == "list":
            show(replica.model, " ".join(names), as_json)
            return
        done = undo(replica) if action == "undo" else change(replica, action, names)
    if as_json:
        print_json({"state": str(folder), "done": done})
    else:
        print(f"Done: {done}. To take it back: shortlist labels {folder} undo")


def change(replica: Replica, action: str, names: list[str]) -> str:
    """Write a change of labels to the journal, checked against all that it holds."""
    from shortlist.server.entries import LabelChange

    wanted = change_in_words(replica.model, action, names)
    replica.model.check_change(wanted)
    replica.journal.append([LabelChange(wanted)], replica.basis)
    return str(wanted)


def undo(replica: Replica) -> str:
    """Take the last change of labels back, unless later examples need it."""
    from shortlist.server.entries import LabelChange
    from shortlist.server.journal import NOT_UNDONE
    from shortlist.server.replica import Replica, check_not_needed

    where = f"change IS NOT NULL AND {NOT_UNDONE} ORDER BY number DESC"
    changes = replica.journal.select(where, 1)
    if not changes:
        raise InputError("no change of labels could be taken back")
    (last,) = changes
    assert isinstance(last, LabelChange)
    make = partial(Replica, replica.folder, read_only=True, without=[last.number])
    with closing(make()) as trial:
        check = partial(check_not_needed, trial, set(replica.unlearnable))
        replica.journal.undo([last.number], check=check)
    return f"took back: {last.change}"
