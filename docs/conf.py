"""The documentation site: ``make docs``. Sphinx with MyST, since pages are Markdown, which any
forge shows as well.
"""

from __future__ import annotations

import re
import sys
from inspect import getdoc
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
ROOT = DOCS.parent
sys.path[:0] = [str(ROOT), str(DOCS)]

import http_page  # noqa: E402

from shortlist.public_names import VERSION, WHERE, public  # noqa: E402

project = "shortlist"
author = "The shortlist maintainers"
release = version = VERSION
copyright = author

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "matplotlib.sphinxext.plot_directive",
]
plot_formats = [("png", 130)]
plot_html_show_formats = plot_html_show_source_link = False
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build", "notebooks"]
myst_heading_anchors = 3
html_theme = "pydata_sphinx_theme"
html_title = "shortlist"
html_theme_options = {
    "header_links_before_dropdown": 7,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": False,
}
html_show_sourcelink = False
html_copy_source = False
highlight_language = "text"
autodoc_typehints = "none"  # docstrings say the types
autodoc_member_order = "bysource"
napoleon_use_rtype = False
napoleon_use_ivar = True
suppress_warnings = ["myst.header"]

# The parts of the site, in order, each with a page that lists its own, by topic if it has several.
# Pages listed nowhere come last, under "More".
PARTS: dict[str, dict[str, list[str]]] = {
    "Begin": {"": ["start", "tutorials/*", "glossary"]},
    "How do I …?": {
        "Learn": [
            "which-learner",
            "how-to/labels",
            "how-to/embeddings",
            "scale",
            "cluster",
            "add-a-learner",
        ],
        "Decide": ["how-sure"],
        "Label with people": [
            "how-to/label-with-a-queue",
            "how-to/people",
            "how-to/partial-judgements",
            "how-to/audit",
            "how-to/reasons",
            "how-to/export",
        ],
        "Connect": ["how-to/label-studio", "from-annif", "how-to/assistants"],
        "Run in production": ["server", "how-to/production", "how-to/rehearse", "how-to/*"],
    },
    "Coming from …": {"": ["from-a-spreadsheet", "coming-from/*"]},
    "Reference": {
        "": ["commands", "api", "http", "formats", "measures", "text", "versions", "changelog"]
    },
    "How it works": {
        "": [
            "categories",
            "index-learning",
            "tuned-index",
            "vectors",
            "ratings",
            "documents",
            "tried",
        ],
    },
    "Results": {
        "": ["benchmarks", "papers/*", "testing", "contributing", "code-of-conduct", "security"]
    },
}
WRITTEN_ELSEWHERE = {
    "changelog": "CHANGELOG.md",
    "code-of-conduct": "CODE_OF_CONDUCT.md",
    "contributing": "CONTRIBUTING.md",
    "security": "SECURITY.md",
}


def pages() -> list[str]:
    names = [
        path.relative_to(DOCS).with_suffix("").as_posix() for path in sorted(DOCS.rglob("*.md"))
    ]
    return [
        name
        for name in names
        if not name.startswith(("_build", "api/", "part-")) and name != "index"
    ]


def parts() -> dict[str, dict[str, list[str]]]:
    """The parts with their topics and pages, every page in one of them."""
    left = pages()
    found: dict[str, dict[str, list[str]]] = {}
    for title, topics in [*PARTS.items(), ("More", {"": ["*", "*/*"]})]:
        for topic, wanted in topics.items():
            own = [
                name
                for pattern in wanted
                for name in left
                if Path(name).match(pattern) and fits(name, pattern)
            ]
            left = [name for name in left if name not in own]
            if own:
                found.setdefault(title, {})[topic] = list(dict.fromkeys(own))
    return found


def fits(name: str, pattern: str) -> bool:
    return name.count("/") == pattern.count("/")


def page_of(title: str) -> str:
    return "part-" + re.sub(r"\W+", "-", title.lower()).strip("-")


def toctree(names: list[str], *options: str) -> str:
    return "\n".join(["```{toctree}", *options, "", *names, "```", ""])


def write_pages(_: Any) -> None:
    """Pages that are made: one for each public name, the files beside docs/, and a page for
    each part.
    """
    for name, file in WRITTEN_ELSEWHERE.items():
        text = (ROOT / file).read_text(encoding="utf-8")
        for other, its_file in WRITTEN_ELSEWHERE.items():
            text = text.replace(f"]({its_file})", f"]({other}.md)")
        write(DOCS / f"{name}.md", text.replace("](docs/", "]("))
    kinds = {
        "Models": [*of("models."), "load"],
        "Vocabularies of labels": of("label_vocabulary."),
        "Learners of labels": of("learners.index.", "learners.prototypes.", "learners.frequency."),
        "Learners of ratings": of("learners.ratings."),
        "Learners of documents, and their features": of("learners.documents."),
        "Text and files": of("text.", "inputs"),
        "Answers and measures": of("data.ranking.", "measures", "confidence."),
        "Errors": of("errors"),
    }
    lines = [
        "# Public names",
        "",
        "Everything that `import shortlist` provides, one page each, from the docstrings.",
    ]
    (DOCS / "api").mkdir(exist_ok=True)
    for title, names in kinds.items():
        lines += [
            "",
            f"## {title}",
            "",
            toctree([f"api/{name}" for name in names], ":hidden:"),
            "| | |",
            "|---|---|",
        ]
        for name in names:
            first = " ".join((getdoc(public(name)) or "").partition("\n\n")[0].split()).replace(
                "|", "\\|"
            )
            lines += [f"| [{name}](api/{name}.md) | {first} |"]
            page = [f"# {name}", "", "```{eval-rst}", f".. currentmodule:: shortlist.{WHERE[name]}"]
            if name[0].isupper():
                page += [
                    f".. autoclass:: {name}",
                    "   :members:",
                    "   :inherited-members: BaseEstimator, Exception",
                ]
            else:
                page += [f".. autofunction:: {name}"]
            write(DOCS / "api" / f"{name}.md", "\n".join([*page, "```", ""]))
    write(DOCS / "api.md", "\n".join(lines) + "\n")
    write(DOCS / "http.md", http_page.page())
    for title, topics in parts().items():
        listed = [
            f"## {topic}\n" * bool(topic) + "\n" + toctree(own, ":maxdepth: 1")
            for topic, own in topics.items()
        ]
        write(DOCS / f"{page_of(title)}.md", f"# {title}\n\n" + "\n".join(listed))


def of(*rooms: str) -> list[str]:
    return [
        name
        for name, where in WHERE.items()
        if f"{where}.".startswith(rooms) or where.startswith(rooms)
    ]


def write(path: Path, text: str) -> None:
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def adapt(_: Any, page: str, source: list[str]) -> None:
    """Put the contents into the start page, run the tutorials, and make plain text of links
    that leave the site.
    """
    contents = toctree([page_of(title) for title in parts()], ":hidden:")
    text = source[0].replace("<!-- contents -->", contents) if page == "index" else source[0]

    def linked(match: re.Match[str]) -> str:
        label, target = match[1], match[2].partition("#")[0]
        if ":" in target or not target:
            return match[0]
        path = ((DOCS / page).parent / target).resolve()
        if path.is_relative_to(DOCS) and (path.suffix in (".md", ".png", ".ipynb")):
            return match[0]
        elsewhere = {ROOT / file: name for name, file in WRITTEN_ELSEWHERE.items()}
        if path in elsewhere:
            up = "../" * page.count("/")
            return f"[{label}]({up}{elsewhere[path]}.md)"
        return label if label.startswith("`") else f"`{label}`"

    if page.startswith("tutorials/"):
        text = re.sub(r"```python\n(.*?)```", run_here, text, flags=re.DOTALL)
    source[0] = re.sub(r"(?<!!)\[([^\]]+)\]\(([^)\s]+)\)", linked, text)


def run_here(match: re.Match[str]) -> str:
    """A block that runs while the site is built, after those before it on its page, with the
    figure that it draws.
    """
    code = match[1]
    titles = re.findall(r'title(?:=f?|\()"([^"]+)"', code)
    options = [
        ":context: close-figs",
        ":include-source: true",
        f":alt: {'; '.join(titles)}" if titles else ":nofigs:",
    ]
    lines = [*options, "", *code.splitlines()]
    return "\n".join(
        ["```{eval-rst}", ".. plot::", *(f"   {line}".rstrip() for line in lines), "```"]
    )


def leave_out(_: Any, what: str, name: str, member: Any, skip: bool, options: Any) -> bool:
    """scikit-learn describes what its base classes bring."""
    return (
        skip
        or str(getattr(member, "__module__", "")).startswith("sklearn")
        or name.endswith("_request")
    )


def keep_bars(_: Any, what: str, name: str, member: Any, options: Any, lines: list[str]) -> None:
    """|y| is a size in our docstrings, not the substitution that it is in reStructuredText."""
    lines[:] = [
        line if "`" in line or ">>>" in line else line.replace("|", "\\|") for line in lines
    ]


def setup(app: Any) -> None:
    app.connect("autodoc-skip-member", leave_out)
    app.connect("autodoc-process-docstring", keep_bars)
    app.connect("builder-inited", write_pages)
    # its contents are made of the other pages
    app.connect("env-get-outdated", lambda *_: ["index"])
    app.connect("source-read", adapt)
