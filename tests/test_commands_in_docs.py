"""The commands that the documentation names are there, and take what they are given; tables of
figures name one.
"""

import functools
import re
import shlex
from inspect import signature
from pathlib import Path

import pytest

from scripts.commands import shown
from shortlist.cli import app

ROOT = Path(__file__).parents[1]
# by docs/conf.py
MADE = {"api.md", "http.md", "changelog.md", "contributing.md", "security.md", "code-of-conduct.md"}
PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md")] + [
    page
    for page in sorted((ROOT / "docs").rglob("*.md"))
    if not {"_build", "api"} & set(page.parts)
    and page.name not in MADE
    and not page.name.startswith("part-")
]
INLINE = re.compile(r"`((?:python|shortlist|make) [^`]+)`")
BLOCK = re.compile(r"^```(\S*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SHELL = {"", "bash", "sh", "console", "text"}  # languages of blocks that may have commands in them
LINE = re.compile(r"^(?:\$ |[\w./]+ \| )?((?:python|shortlist|make) [^\n]+)", re.MULTILINE)
ENDS = {"|", ">", "<", "&&", "||", "&", "…", "#", ";"}  # what follows is not for the command
EVERYWHERE = {"--help", "--json"}
PASSED_ON = {"annif"}  # verbs that give all options to another program
FILE = re.compile(r"\b(?<![\w/])(?:benchmarks|scripts|shortlist|tests)/[\w/]+\.py\b")
TO_BE_WRITTEN = {"shortlist/learners/counting_votes.py"}  # by who follows docs/add-a-learner.md
FIGURE = re.compile(r"\b\d+\.\d+\b")
MANY = 6  # figures that make a table one of measurements
DROPPED = ROOT / "docs" / "tried.md"  # figures of code that is not in the project, as the page says


def fenced(text):
    """The blocks of a page that may have commands in them."""
    return [block for language, block in BLOCK.findall(text) if language in SHELL]


def commands(text):
    """The words of each command, up to where another one begins. A line that ends in a
    backslash goes on.
    """
    text = text.replace("\\\n", " ")
    found = INLINE.findall(text) + [one for block in fenced(text) for one in LINE.findall(block)]
    for command in found:
        try:
            words = shlex.split(command, comments=True)
        except ValueError:  # a quotation mark that the page leaves open
            words = command.split()
        yield words[: next((n for n, word in enumerate(words) if word in ENDS), len(words))]


@functools.cache
def options_of_verbs():
    """The options of each verb."""
    found = {}
    for command in app.registered_commands:
        parameters = signature(command.callback, eval_str=True).parameters.values()
        names = {
            name
            for one in parameters
            for name in re.split(r", |/", shown(one))
            if name.startswith("-")
        }
        found[command.callback.__name__.replace("_", "-")] = names
    return found


def script(words):
    """The file that Python is told to run, or None where it is another's (pip, sphinx)."""
    if words[1:2] == ["-m"]:
        own = words[2].partition(".")[0] in ("shortlist", "benchmarks", "tests")
        file = ROOT / words[2].replace(".", "/")
        return (file / "__main__.py" if file.is_dir() else file.with_suffix(".py")) if own else None
    return ROOT / words[1] if words[1:2] and words[1].endswith(".py") else None


def problem(words):
    """What is wrong with a command, or None."""
    options = {word.partition("=")[0] for word in words[2:] if re.match(r"--?[a-z]", word)}
    if words[0] == "make":
        targets = re.findall(
            r"^([\w%-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE
        )
        return None if words[1] in targets or words[1].startswith("-") else "no such target"
    if words[0] == "python":
        file = script(words)
        if file is None:
            return None
        if not file.exists():
            return "no such file"
        # an option may be read by a neighbour that it imports
        code = file.read_text(encoding="utf-8") + "".join(
            path.read_text(encoding="utf-8") for path in file.parent.glob("*.py") if len(options)
        )
        missing = {name for name in options if f'"{name}"' not in code}
        return f"does not take {sorted(missing)}" if missing else None
    verb = words[1]
    if verb.startswith("-") or not verb.isascii():
        return None
    if verb not in options_of_verbs():
        return "no such verb"
    if verb in PASSED_ON:
        return None
    missing = options - options_of_verbs()[verb] - EVERYWHERE
    return f"does not take {sorted(missing)}" if missing else None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_are_there(page):
    text = page.read_text(encoding="utf-8")
    assert [(" ".join(words), said) for words in commands(text) if (said := problem(words))] == []


def test_what_is_not_there_is_noticed():
    def said(text):
        return [problem(words) for words in commands(text)]

    assert said("`python -m benchmarks.nothing`, `python benchmarks/audit.py DATA --no-such`") == [
        "no such file",
        "does not take ['--no-such']",
    ]
    assert said(
        "```\nshortlist rank m.shortlist --no-such 1 | head --lines 3\nmake nothing # --it\n```"
    ) == [
        "does not take ['--no-such']",
        "no such target",
    ]
    assert said("`shortlist nothing`, `shortlist rank MODEL -k 3 --json`") == ["no such verb", None]
    assert said("```python\nprint(1)\n```\n```\nshortlist nothing FILE\n```\n") == ["no such verb"]


def absent(text):
    """The files of the project that a text names and that are not there."""
    return sorted(
        {
            name
            for name in FILE.findall(text)
            if name not in TO_BE_WRITTEN and not (ROOT / name).exists()
        }
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_files_that_pages_name_are_there(page):
    assert absent(page.read_text(encoding="utf-8")) == []


def test_a_file_that_is_not_there_is_noticed():
    assert absent("`pytest tests/test_nothing.py`, tests/test_docs.py") == ["tests/test_nothing.py"]


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page != DROPPED], ids=lambda page: page.stem
)
def test_tables_of_figures_name_their_command(page):
    """The command, or the code that prints them, stands in the same section, in one around it,
    or at the top.
    """
    above, nameless = {}, []
    for part in re.split(r"^(?=#{1,6} )", page.read_text(encoding="utf-8"), flags=re.MULTILINE):
        level = len(part) - len(part.lstrip("#"))
        above = {depth: named for depth, named in above.items() if depth < level}
        shown = [
            INLINE.search(part),
            "```python" in part,
            *(LINE.search(block) for block in fenced(part)),
        ]
        above[level] = any(shown)
        figures = sum(
            len(FIGURE.findall(line)) for line in part.splitlines() if line.startswith("|")
        )
        if figures >= MANY and not any(above.values()):
            nameless.append(part.partition("\n")[0])
    assert nameless == []
