"""The command reference, made from the commands: ``python scripts/commands.py >
docs/commands.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from inspect import Parameter, cleandoc, signature


def page() -> str:
    """Every verb with its arguments and options, as Markdown."""
    from shortlist.cli import app

    made = (
        "<!-- Made by `python scripts/commands.py > docs/commands.md`; a test compares the two. -->"
    )
    lines = ["# Commands", "", made]
    for command in app.registered_commands:
        assert command.callback is not None
        lines += ["", *section(command.callback)]
    return "\n".join(lines) + "\n"


def section(command: Callable[..., None]) -> Iterator[str]:
    """One verb: what it does, and a table of what it takes."""
    parameters = list(signature(command, eval_str=True).parameters.values())
    arguments = [shown(one) for one in parameters if is_argument(one)]
    yield f"## shortlist {command.__name__.replace('_', '-')} {' '.join(arguments)} [options]"
    yield ""
    yield cleandoc(command.__doc__ or "")
    yield ""
    yield "| | meaning | if not given |"
    yield "|---|---|---|"
    for one in parameters:
        if one.default is Parameter.empty:
            usual = "needed"
        else:
            usual = "" if one.default in (None, False) else f"`{one.default}`"
        yield f"| `{shown(one)}` | {one.annotation.__metadata__[0].help} | {usual} |"


def is_argument(parameter: Parameter) -> bool:
    return type(parameter.annotation.__metadata__[0]).__name__ == "ArgumentInfo"


def shown(parameter: Parameter) -> str:
    """FILE for an argument, --name or -n for an option."""
    if is_argument(parameter):
        return parameter.name.upper().replace("_", "-")
    option = parameter.annotation.__metadata__[0]
    named = [
        name
        for name in (option.default, *option.param_decls)
        if isinstance(name, str) and name.startswith("-")
    ]
    return ", ".join(named or [f"--{parameter.name.replace('_', '-')}"])


if __name__ == "__main__":
    print(page(), end="")
