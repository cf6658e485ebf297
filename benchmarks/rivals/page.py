"""Results -> one JSON report, one Markdown page, and a picture of quality against training time for each set."""

import json
import os
import platform
import re
import shutil
import subprocess
from collections import Counter
from datetime import date

import sets
from protocol import CHOOSE_FROM, CHOOSE_ON, SINGLY
from scoring import MEASURES, labels

COLUMNS = ["tool", *MEASURES, "text → model, s", "vectors → model, s", "one by one, µs", "batch, µs",
           "memory, MB", "model, MB"]  # fmt: skip
HEAD = """# Beside other tools

<!-- Printed by benchmarks/rivals/run.py; losses included. -->

`python benchmarks/rivals/run.py DATA --out DIR{threads}`{quick} printed this page on {date}. Machine: {machine}.

All tools had the same splits and {share}, each in a process of its own, one after the other, and were
measured by the same scorer (`shortlist.measures`) from the ten best labels that they gave for each test document:

- **micro-F1 and macro-F1** assign each document as many labels as it truly has, ten at most. **recall@5** is R@5.
- **text → model** is from texts in memory to a model in memory, **vectors → model** the part of it after the tool's
  own vectoriser; sets that come as vectors have no texts. What a tool compiles or loads before its first document is
  not in it.
- **one by one** is the time per document when {singly} documents are given singly, **batch** when all are given at
  once, both from text.
- **memory** is the peak of the process, which holds the training documents themselves too; **model** the size of the
  saved files, vocabulary included.
- **Settings** were chosen by P@1 on every tenth training document ({on:,} at most) after training on the others
  ({choose:,} at most), from at most three, the next one not tried when a third of the set's time limit was used. The
  test part was ranked once.
- **Time limits** of training, saving and ranking together: {limits}; choosing a setting may take half of it. A job that
  reaches it is stopped; a job that would exceed it, as training on a part lets expect, is not begun.
"""


def report(results, cache):
    versions = {}
    for one in results:
        versions[one["tool"]] = one.get("versions", versions.get(one["tool"], {}))
    documents = {}
    for name in {one["set"] for one in results}:
        folder = cache / "splits" / (name + "-quick" * any(one["quick"] for one in results))
        if folder.exists():
            documents[name] = counts(folder)
    return {"date": date.today().isoformat(), "machine": machine(), "versions": versions, "documents": documents,
            "results": results}  # fmt: skip


def markdown(report):
    results = report["results"]
    quick = any(one["quick"] for one in results)
    limits = ", ".join(f"{name} {limit} s" for name, (_, limit, _) in sets.SETS.items())
    threads = results[0]["threads"]
    text = HEAD.format(threads=f" --threads {threads}" * (threads > 1),
                       share="one thread on one core" if threads == 1 else f"{threads} threads on {threads} cores",
                       quick=" --quick (parts of the sets, nothing chosen; not to be quoted)" * quick,
                       date=report["date"], machine=report["machine"], singly=SINGLY, on=CHOOSE_ON, choose=CHOOSE_FROM,
                       limits=f"{sets.QUICK_LIMIT} s" if quick else limits)  # fmt: skip
    text += summary(results)
    for name in sets.SETS:
        own = [one for one in results if one["set"] == name]
        if own:
            text += f"\n## {sets.TITLES[name]}\n\n" + table(name, own, report["documents"].get(name))
    text += "\n## Versions\n\n| tool | versions |\n|---|---|\n"
    for tool, versions in report["versions"].items():
        if versions:
            text += f"| {tool} | {', '.join(f'{name} {version}' for name, version in versions.items())} |\n"
    return text


def summary(results):
    """shortlist beside the most accurate rival of each set."""
    text = "\n## shortlist beside the most accurate rival\n\n"
    text += "Times, memory and size: how many times what shortlist takes with its defaults the rival takes.\n\n"
    text += "| set | shortlist, P@1 | best setting, P@1 | rival | its P@1 | training | batch | memory | model |\n"
    text += "|---|--:|--:|---|--:|--:|--:|--:|--:|\n"
    for name in sets.SETS:
        done = {one["tool"]: one for one in results if one["set"] == name and "measures" in one}
        ours, best = done.get("shortlist"), done.get("shortlist best")
        rivals = [one for tool, one in done.items() if not tool.startswith("shortlist")]
        if ours is None:
            continue
        cells = [sets.TITLES[name], f"{ours['measures']['P@1']:.3f}", f"{best['measures']['P@1']:.3f}" if best else "–"]
        if rivals:
            rival = max(rivals, key=lambda one: one["measures"]["P@1"])
            both = (rival, ours)
            costs = [(one["prepare"] + one["train"], one["batch"], one["memory"], one["bytes"]) for one in both]
            cells += [rival["tool"], f"{rival['measures']['P@1']:.3f}"]
            cells += [f"{theirs / own:.1f}" for theirs, own in zip(*costs, strict=True)]
        else:
            cells += ["none came to an end", *"–––––"]
        text += "| " + " | ".join(cells) + " |\n"
    return text


def table(name, results, documents):
    """A set's table, best P@1 first, then what did not come to an end; then the settings."""
    text = ""
    if documents:
        text += f"{documents['train']:,} documents to train, {documents['test']:,} to test, "
        text += f"{documents['labels']:,} labels, {documents['each']:.2f} each.\n\n"
    text += "| " + " | ".join(COLUMNS) + " |\n" + "|---" * len(COLUMNS) + "|\n"
    done = sorted((one for one in results if "measures" in one), key=lambda one: -one["measures"]["P@1"])
    best = {measure: max((one["measures"][measure] for one in done), default=0) for measure in MEASURES}
    vectors = documents is not None and documents["kind"] == "vectors"
    for one in done:
        cells = [one["tool"]]
        for measure in MEASURES:
            value = one["measures"][measure]
            cells.append(f"**{value:.3f}**" if value == best[measure] else f"{value:.3f}")
        whole = one["prepare"] + one["train"]
        cells += ["–", seconds(whole)] if vectors else [seconds(whole), seconds(one["train"])]
        cells += [f"{one['singly'] * 1e6:,.0f}" if "singly" in one else "stopped", f"{one['batch'] * 1e6:,.1f}"]
        cells += [f"{one['memory'] / 1e6:,.0f}", f"{one['bytes'] / 1e6:,.1f}"]
        text += "| " + " | ".join(cells) + " |\n"
    text += "\n"
    for one in results:
        if "problem" in one:
            text += f"- {one['tool']}: {one['problem']}.\n"
    text += "\nSettings: " + "; ".join(f"{one['tool']} {setting(one)}" for one in done) + ".\n"
    return text + (f"\n![quality against training time](pictures/{name}.png)\n" if done else "")


def setting(one):
    said = ", ".join(f"{key}={value}" for key, value in one["setting"].items()) or "defaults"
    tried = len(one["choice"]["tried"]) if "choice" in one else 1
    return f"({said}{f'; best of {tried}' if tried > 1 else ''})"


def seconds(value):
    return f"{value:.2f}" if value < 10 else f"{value:,.1f}"


def pictures(report, out):
    """P@1 against seconds of training, from text where there is text; the upper left corner is where to be."""
    from matplotlib.figure import Figure

    (out / "pictures").mkdir(exist_ok=True)
    for name in sets.SETS:
        done = [one for one in report["results"] if one["set"] == name and "measures" in one]
        if not done:
            continue
        axes = Figure(figsize=(6, 4), layout="constrained").subplots()
        for one in done:
            ours = one["tool"].startswith("shortlist")
            x, y = one["prepare"] + one["train"], one["measures"]["P@1"]
            axes.plot(x, y, "o", color="tab:red" if ours else "tab:blue")
            axes.annotate(one["tool"], (x, y), xytext=(4, 3), textcoords="offset points", fontsize=8)
        axes.set(xlabel="seconds of training", ylabel="P@1", title=sets.TITLES[name], xscale="log")
        axes.margins(x=0.2)
        axes.grid(alpha=0.3)
        axes.figure.savefig(out / "pictures" / f"{name}.png", dpi=80)


def counts(folder):
    task = json.loads((folder / "task.json").read_text())
    train, test = labels(folder / "train.labels"), labels(folder / "test.labels")
    each = Counter(len(own) for own in train)
    mean = sum(size * times for size, times in each.items()) / len(train)
    return {"train": len(train), "test": len(test), "labels": task["labels"], "each": mean, "kind": task["kind"]}


def machine():
    """What runs here, in words: the processor, its cores, the memory, the system."""
    processor = platform.processor() or platform.machine()
    if shutil.which("lscpu"):
        said = subprocess.run(["lscpu"], capture_output=True, text=True, env=os.environ | {"LC_ALL": "C"}).stdout
        processor = (re.findall(r"^Model name:\s*(\S.*)$", said, re.MULTILINE) or [processor])[0]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{processor}, {os.cpu_count()} cores, {memory:.0f} GB, {platform.system()}"
