"""shortlist people"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from shortlist.cli.options import Json
from shortlist.cli.terminal import print_json, print_table, say
from shortlist.errors import InputError

ACTIONS = ("list", "add", "remove", "role")


def people(
    action: Annotated[str, typer.Argument(help=f"{', '.join(ACTIONS)}.", show_default="list")] = "list",
    name: Annotated[str, typer.Argument(help="The name of a person.", show_default=False)] = "",
    *,
    state: Annotated[Path, typer.Option(help="The folder that the server keeps what is learned in.")],
    role: Annotated[
        str, typer.Option(help="read: rank and look; judge: also teach; manage: also change labels.")
    ] = "judge",
    as_json: Json = False,
) -> None:
    """Say who may use a server, each with a token of their own.

    add NAME prints the token, this once: the server keeps a hash of it. The folder is made if it is not there yet. From
    the first person on, the server asks everybody for a token. remove NAME and role NAME hold from the next request on;
    nothing need be started again.
    """
    from shortlist.server.people import FILE, People, Role, changing

    if action not in ACTIONS:
        raise InputError(f"people can be asked to {', '.join(ACTIONS)}, not to {action!r}")
    if (action == "list") == bool(name):
        raise InputError("list takes no name" if name else f"{action} needs the name of a person")
    if action == "list":
        everyone = People(state / FILE).everyone.values()
        if as_json:
            shown = [{"name": one.name, "role": str(one.role), "since": one.since} for one in everyone]
            print_json({"people": shown})
            return
        rows = [[one.name, str(one.role), time.strftime("%Y-%m-%d", time.localtime(one.since))] for one in everyone]
        print_table("", ["name", "role", "since"], rows)
        return
    token = None
    given = Role.of(role)
    is_new = action == "add" and not state.exists()
    with changing(state, new=is_new) as known:
        if action == "add":
            token = known.add(name, given)
        elif action == "remove":
            known.remove(name)
        else:
            known.give_role(name, given)
    if as_json:
        done = {"name": name, "role": None if action == "remove" else str(given), "token": token}
        print_json({what: value for what, value in done.items() if value is not None})
    elif token is not None:
        if is_new:
            say(f"{state} is new; shortlist serve MODEL-FILE --state {state} serves a model to its people")
        say(f"{name} may {given}. The token is shown this once; give it to {name} in a way that others cannot read:")
        print(token)
    else:
        print(f"{name} is removed." if action == "remove" else f"{name} may {given}.")
