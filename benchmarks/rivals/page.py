"""Results -> one JSON file, the tables of docs/benchmarks.md between their marks, and two plots as
SVG.

``python -m benchmarks.rivals.page`` draws tables and plots again from benchmarks/results.json.
"""

import json
import os
import platform
import re
import shutil
import subprocess
from datetime import date
from pathlib import Path
from statistics import fmean, geometric_mean

from benchmarks.rivals import plots
from benchmarks.running import arguments, table

ROOT = Path(__file__).resolve().parents[2]
RESULTS, PAGE = ROOT / "benchmarks" / "results.json", ROOT / "docs" / "benchmarks.md"
PLOTS = {name: ROOT / "docs" / "figures" / f"benchmarks-{name}.svg" for name in ("time", "few")}
BLOCK = re.compile(r"(<!-- table: ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
# all others see words only
MEANING = {"shortlist + MiniLM", "static + LR", "MiniLM + LR", "SetFit"}
KEPT = ["train", "batch", "singly", "memory", "bytes", "load"]
SHOWN = {"over the limit": "limit"}  # problem -> cell


# The report.


def report(results, sets):
    """What is kept: sets by name, versions by tool, and of each job its figures, or why there
    are none.
    """
    versions = {}
    for one in results:
        versions |= {one["tool"]: one["versions"]} if "versions" in one else {}
    rows = []
    for one in results:
        row = {"set": one["set"], "tool": one["tool"]}
        if "measures" in one:
            row |= {name: short(value) for name, value in one["measures"].items()}
            row |= {name: short(one[name]) for name in KEPT if name in one}
        else:
            row["problem"] = one["problem"]
        rows.append(row)
    counts = {one["set"]: one["documents"] for one in results if "documents" in one}
    named = {
        name: {"title": own.title, "kind": own.kind, "limit": own.limit, "examples": own.examples}
        | counts.get(name, {})
        for name, own in sets.items()
    }
    day = max((one["date"] for one in results if "date" in one), default=date.today().isoformat())
    return {
        "date": day,
        "commit": commit(),
        "machine": machine(),
        "versions": versions,
        "sets": named,
        "results": rows,
    }


def commit():
    """The commit of the code that was measured, where Git knows it."""
    if not shutil.which("git"):
        return ""
    said = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True
    )
    return said.stdout.strip()


def short(value):
    return float(f"{value:.4g}") if isinstance(value, float) else value


def compact(report):
    """JSON with a line for each set and each job."""
    text = json.dumps(report, ensure_ascii=False)
    for start in (
        '{"set": ',
        *(f'"{name}": {{"title"' for name in report["sets"]),
        '"versions": {',
        '"sets": {',
    ):
        text = text.replace(start, "\n" + start)
    return text + "\n"


def machine():
    """What runs here, in words: the processor, its cores, the memory, the system."""
    processor = platform.processor() or platform.machine()
    if shutil.which("lscpu"):
        said = subprocess.run(
            ["lscpu"], capture_output=True, text=True, env=os.environ | {"LC_ALL": "C"}
        ).stdout
        processor = (re.findall(r"^Model name:\s*(\S.*)$", said, re.MULTILINE) or [processor])[0]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{processor} ({platform.machine()}), {os.cpu_count()} cores, {memory:.0f} GB, "
        f"{platform.system()}"
    )


def publish(report):
    RESULTS.write_text(compact(report), encoding="utf-8")
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), report), encoding="utf-8")
    for name, text in drawn(report).items():
        PLOTS[name].write_text(text, encoding="utf-8")


def filled(page, report):
    """The page with its tables drawn anew."""
    of = Tables(report)
    return BLOCK.sub(
        lambda found: found[1] + getattr(of, found[2].replace("-", "_"))() + found[3], page
    )


def drawn(report):
    """The plots."""
    of = Tables(report)
    return {"time": plots.scatter(of.relative()), "few": plots.lines(*of.learning_curves())}


# The tables.


def per_cent(value):
    return f"{100 * value:.1f}"


def signed(points):
    """With its sign; nothing is neither more nor less than zero."""
    return "0.0" if abs(points) < 0.05 else f"{points:+.1f}"


def seconds(value):
    return f"{value:.2f}" if value < 9.95 else f"{value:,.0f}"


def micro(value):
    value *= 1e6
    return f"{value:.1f}" if value < 9.95 else f"{value:,.0f}"


def mega(value):
    value /= 1e6
    return f"{value:.1f}" if value < 9.95 else f"{value:,.0f}"


class Tables:
    def __init__(self, report):
        self.report, self.sets = report, report["sets"]
        self.found = {(one["set"], one["tool"]): one for one in report["results"]}

    def of_kind(self, kind):
        run = {name for name, _ in self.found}
        return [name for name, own in self.sets.items() if own["kind"] == kind and name in run]

    def tools(self, names):
        return list(dict.fromkeys(tool for name, tool in self.found if name in names))

    def done(self, name, tool):
        one = self.found.get((name, tool))
        return one if one is not None and "problem" not in one else None

    def best(self, name, measure="P@1"):
        """The most accurate rival that sees words only, or None."""
        rivals = [
            self.done(name, tool)
            for tool in self.tools([name])
            if tool != "shortlist" and tool not in MEANING
        ]
        return max(filter(None, rivals), key=lambda one: one[measure], default=None)

    def run(self):
        return f"{self.report['date']}. Machine: {self.report['machine']}.\n"

    def data(self):
        rows = []
        for name in self.of_kind("labels"):
            own = self.sets[name]
            figures = [f"{own[key]:,}" for key in ("train", "test", "labels")]
            rows.append([own["title"], *figures, f"{own['each']:.2f}", own["limit"]])
        return table(["set", "to learn", "to test", "labels", "each", "limit, s"], rows)

    def beside(self):
        """Of each set its title, our results and those of the most accurate rival, where there
        are both.
        """
        for name in self.of_kind("labels"):
            ours, rival = self.done(name, "shortlist"), self.best(name)
            if ours and rival:
                yield self.sets[name]["title"], ours, rival

    def summary(self):
        rows, both = [], list(self.beside())
        for name in self.of_kind("labels"):
            ours, rival = self.done(name, "shortlist"), self.best(name)
            cells = (
                ["none", *"––––"]
                if ours is None or rival is None
                else [
                    rival["tool"],
                    per_cent(rival["P@1"]),
                    signed(100 * (ours["P@1"] - rival["P@1"])),
                    seconds(ours["train"]),
                    seconds(rival["train"]),
                    f"{rival['train'] / ours['train']:.1f}",
                ]
            )
            rows.append([self.sets[name]["title"], per_cent(ours["P@1"]) if ours else "–", *cells])
        ours, rivals = (fmean(one[i]["P@1"] for one in both) for i in (1, 2))
        ratio = geometric_mean([rival["train"] / own["train"] for _, own, rival in both])
        means = [
            "**mean**",
            per_cent(ours),
            "",
            per_cent(rivals),
            f"**{signed(100 * (ours - rivals))}**",
            "",
            "",
            f"**{ratio:.1f}**",
        ]
        head = [
            "set",
            "shortlist, P@1",
            "rival",
            "its P@1",
            "points",
            "shortlist, s",
            "rival, s",
            "times as long",
        ]
        return table(head, [*rows, means])

    def beside_each(self):
        """Each rival on the sets that it finished: points of P@1 that it is behind, and how
        long it takes.
        """
        rows = []
        for tool, (ratio, points, count) in self.relative().items():
            if tool != "shortlist":
                rows.append([tool, count, signed(-points), f"{ratio:.1f}"])
        rows.sort(key=lambda row: float(row[2]))
        return table(["rival", "sets", "shortlist, points of P@1", "times as long"], rows)

    def relative(self):
        """tool -> (times our training time, points of P@1 beyond ours, on how many sets)."""
        names, found = self.of_kind("labels"), {}
        for tool in self.tools(names):
            both = [(self.done(name, "shortlist"), self.done(name, tool)) for name in names]
            both = [(ours, own) for ours, own in both if ours and own]
            if both:
                ratio = geometric_mean([own["train"] / ours["train"] for ours, own in both])
                points = 100 * fmean(own["P@1"] - ours["P@1"] for ours, own in both)
                found[tool] = (ratio, points, len(both))
        return found

    def cells(self, name, tools, key, show, best):
        """A figure of each tool on a set, the best in bold, or why there is none."""
        found = [self.found.get((name, tool), {"problem": ""}) for tool in tools]
        reached = best((one[key] for one in found if "problem" not in one), default=None)
        cells = []
        for one in found:
            if "problem" in one:
                cells.append(SHOWN.get(one["problem"], "–"))
            else:
                cells.append(f"**{show(one[key])}**" if one[key] == reached else show(one[key]))
        return cells

    def matrix(self, show, key, best):
        """A row for each tool, a column for each set."""
        names = self.of_kind("labels")
        tools = self.tools(names)
        columns = [self.cells(name, tools, key, show, best) for name in names]
        rows = [row for row in zip(tools, *columns, strict=True) if set(row[1:]) != {"–"}]
        titles = [
            self.sets[name]["title"].partition(",")[0].replace(" (vectors)", "") for name in names
        ]
        return table(["", *titles], rows)

    def precision(self):
        return self.matrix(per_cent, "P@1", max)

    def training(self):
        return self.matrix(seconds, "train", min)

    def measures(self):
        rows = []
        for title, ours, rival in self.beside():
            cells = [
                f"{per_cent(ours[key])} / {per_cent(rival[key])}"
                for key in ("P@5", "micro-F1", "macro-F1")
            ]
            rows.append([title, *cells])
        return table(["shortlist / rival", "P@5", "micro-F1", "macro-F1"], rows)

    def costs(self):
        shows, rows = {"singly": micro, "batch": micro, "memory": mega, "bytes": mega}, []
        for title, ours, rival in self.beside():
            cells = [f"{show(ours[key])} / {show(rival[key])}" for key, show in shows.items()]
            rows.append([title, rival["tool"], *cells])
        return table(
            ["shortlist / rival", "rival", "one by one, µs", "batch, µs", "memory, MB", "file, MB"],
            rows,
        )

    def few(self):
        names = self.of_kind("few")
        tools = self.tools(names)
        rows = []
        for name in names:
            title = f"{self.sets[name]['title']}, {self.sets[name]['examples']}"
            rows.append([title, *self.cells(name, tools, "P@1", per_cent, max)])
        ends = [
            self.shared(names, tools, "P@1", fmean),
            self.shared(names, tools, "train", geometric_mean),
        ]
        rows.append(["mean", *(per_cent(value) if value else "–" for value in ends[0])])
        rows.append(["seconds", *(f"{value:.2g}" if value else "–" for value in ends[1])])
        return table(["set, examples a label", *tools], rows)

    def shared(self, names, tools, key, mean):
        """The mean of each tool that finished all sets."""
        every = [[self.done(name, tool) for name in names] for tool in tools]
        return [mean([one[key] for one in own]) if all(own) else None for own in every]

    def learning_curves(self):
        """Tool -> mean P@1 with 5, 10, 50 and all examples a label, over the sets of short
        texts; and these numbers.
        """
        few = [name for name, own in self.sets.items() if own["kind"] == "few"]
        sizes = sorted({self.sets[name]["examples"] for name in few})
        curves = {}
        for tool in self.tools(few):
            values = []
            for size in [*sizes, None]:
                names = [name for name in few if self.sets[name]["examples"] == (size or sizes[0])]
                names = [name.rpartition("-")[0] if size is None else name for name in names]
                values += self.shared(names, [tool], "P@1", fmean)
            if any(values):
                curves[tool] = values  # None where a set is missing
        return curves, [*map(str, sizes), "all"]

    def with_times(self, kind, heading, measure, show, best):
        """A row for each set: each tool's measure and its time to train, the best in bold."""
        names = self.of_kind(kind)
        tools, rows = self.tools(names), []
        for name in names:
            times = [
                f", {seconds(one['train'])} s" if (one := self.done(name, tool)) else ""
                for tool in tools
            ]
            cells = self.cells(name, tools, measure, show, best)
            rows.append([self.sets[name]["title"], *map(str.__add__, cells, times)])
        return table([heading, *tools], rows)

    def stream(self):
        return self.with_times("stream", "set", "P@1", per_cent, max)

    def ratings(self):
        return self.with_times("ratings", "MAE, training", "MAE", "{:.3f}".format, min)

    def documents(self):
        return self.with_times("documents", "MAP, training", "MAP", "{:.3f}".format, max)

    def left_out(self):
        """What gave no figure, other than by its limit: tool, why, sets."""
        why = {}
        for (name, tool), one in self.found.items():
            if "problem" in one and one["problem"] not in SHOWN:
                why.setdefault(one["problem"], {}).setdefault(tool, []).append(
                    self.sets[name]["title"]
                )
        lines = []
        for problem, tools in why.items():
            every = [
                f"{tool} ({len(names)} sets)" if len(names) > 3 else f"{tool} ({', '.join(names)})"
                for tool, names in tools.items()
            ]
            lines.append(f"- {problem}: {', '.join(every)}.\n")
        return "".join(lines) or "Nothing.\n"

    def versions(self):
        every = {}
        for versions in self.report["versions"].values():
            for package, version in versions.items():
                every.setdefault(package, set()).add(version)
        return (
            ", ".join(
                f"{package} {' and '.join(sorted(own))}" for package, own in sorted(every.items())
            )
            + ".\n"
        )


if __name__ == "__main__":
    arguments(__doc__, data=False).parse_args()
    publish(json.loads(RESULTS.read_text(encoding="utf-8")))
