"""One benchmark, one run: shortlist beside the tools that people use now, on the same splits and
the same machine.

    python -m benchmarks DATA [--out DIR] [--quick] [--only SET/TOOL …] [--again] [--publish]

DATA holds the data sets as `python -m papers` has them; a set that is not there is left out. Each
rival is installed from PyPI into an environment of its own under --cache. Each job, a set with a
tool, runs in a process of its own, with one thread, one after the other. What is done is kept in
DIR/jobs.jsonl, a line for each job, so that a run that was stopped goes on; --again runs the chosen
jobs anew. A job has a limit of processor time (rivals/sets.py). Where a name in --only is left out,
or has a *, it stands for all: --only hwu64 "/fastText" "finna/VW*".

Writes DIR/results.json. With --publish, the results become benchmarks/results.json, and the tables
and plots of docs/benchmarks.md are drawn from them.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from datetime import date
from fnmatch import fnmatchcase
from pathlib import Path

from benchmarks.rivals import environments, page, scoring, sets
from benchmarks.running import arguments

HERE = Path(__file__).resolve().parent
ROOT, RIVALS = HERE.parent, HERE / "rivals"

# tool -> its file in tools/ and the entry there, and its environment: one of its own, or a folder
# beside ours, or None
TOOLS = {
    "shortlist": ("shortlist_learners:words", None),
    "shortlist + MiniLM": ("shortlist_learners:meaning", "meaning"),
    "LinearSVC": ("scikit_learn:LinearSVC", "scikit-learn"),
    "LinearSVC, words": ("scikit_learn:LinearSVC, words", "scikit-learn"),
    "SGDClassifier": ("scikit_learn:SGDClassifier", "scikit-learn"),
    "ComplementNB": ("scikit_learn:ComplementNB", "scikit-learn"),
    "fastText": ("fast_text", "fasttext"),
    "VW oaa": ("vowpal_wabbit:oaa", "vowpalwabbit"),
    "VW plt": ("vowpal_wabbit:plt", "vowpalwabbit"),
    "PECOS": ("pecos_xr", "pecos"),
    "napkinXC": ("napkin_xc", "napkinxc"),
    "omikuji": ("omikuji_trees", "omikuji"),
    "river": ("river_online", "river"),
    "static + LR": ("shortlist_learners:static", "meaning"),
    "MiniLM + LR": ("shortlist_learners:MiniLM", "meaning"),
    "SetFit": ("set_fit", "setfit"),
}
MEANING = ["shortlist + MiniLM", "static + LR", "MiniLM + LR"]
FEW = ["shortlist", "LinearSVC", "SGDClassifier", "ComplementNB", "fastText", *MEANING]
STREAM = ["shortlist", "SGDClassifier", "VW oaa", "river"]
RATERS = {
    "shortlist": None,
    "mord LogisticAT": "mord",
    "mord LogisticIT": "mord",
    "LinearSVC": None,
    "Ridge, rounded": None,
}
RANKERS = {"shortlist": None, "pairwise LinearSVC": None, "LightGBM": "lightgbm"}
VECTORS = {"rcv1", "bibtex", "delicious", "austen"}
MANY = {"finna", "austen", "eurlex"}  # thousands of labels
# weights for each
ONE_EACH = {"LinearSVC", "LinearSVC, words", "SGDClassifier", "ComplementNB", "VW oaa", "river"}
WARM_UP_LIMIT = 900  # seconds of the clock before a job is warm, on a machine with much else to do
PATIENCE = 20  # seconds of the clock for each second of processor time that a job may take
MEMORY = 0.6  # of the machine's
THREADS = ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"]


def tools_for(name, given):
    """The tools that are run on a set."""
    if given.kind in ("ratings", "documents"):
        return list(RATERS if given.kind == "ratings" else RANKERS)
    if given.kind in ("few", "stream"):
        return STREAM if given.kind == "stream" else FEW + ["SetFit"] * (given.examples == 5)
    left_out = {"SetFit"} if name in sets.SHORT else {"SetFit", *MEANING}
    return [
        tool
        for tool in TOOLS
        if tool not in left_out | ({"LinearSVC"} if name in VECTORS else set())
    ]


def run_job(name, tool, options):
    """One set with one tool: its line."""
    given, began = sets.SETS[name], time.perf_counter()
    result = {"set": name, "tool": tool}
    if name in MANY and tool in ONE_EACH:
        return result | {"problem": "not begun: weights of each label for each feature"}
    module, environment = TOOLS.get(tool, (None, None))
    if given.kind in ("ratings", "documents"):
        environment = (RATERS if given.kind == "ratings" else RANKERS)[tool]
    python, path = sys.executable, None
    if environment is not None:
        try:
            python, path = environments.found(environment, options.cache)
        except environments.Absent as problem:
            return result | {"problem": str(problem)}
    limit = sets.QUICK_LIMIT if options.quick else given.limit
    with tempfile.TemporaryDirectory(dir=options.cache) as made:
        scratch = Path(made)
        if module is None or given.load is None:
            command = ["-m", "benchmarks.rivals.others", name, tool, options.data, scratch, limit]
            problem = run(python, command, ROOT, path, scratch, limit + WARM_UP_LIMIT)
        else:
            folder = options.cache / "splits" / (name + "-quick" * options.quick)
            command = ["-m", "protocol", module, folder, scratch, limit]
            problem = run(python, command, RIVALS, path, scratch, limit)
            result["documents"] = sets.counts(folder)
        if (scratch / "report.json").exists():
            result |= json.loads((scratch / "report.json").read_text())
        files = sorted(scratch.glob("ranked-*.tsv"))
        if result.pop("done", False) and files:
            result["measures"] = scoring.score(folder, files)
    if problem is not None:
        result["problem"] = problem
    return result | {"clock": time.perf_counter() - began}


def run(python, command, where, path, scratch, limit):
    """One process; gives the problem if there is one."""
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(map(str, filter(None, [ROOT, RIVALS, path])))
    }
    environment |= {"PYTHONWARNINGS": "ignore"} | dict.fromkeys(THREADS, "1")
    with open(scratch / "said.txt", "w+", encoding="utf-8") as said:
        child = subprocess.Popen(
            [python, *map(str, command)],
            cwd=where,
            env=environment,
            stdout=said,
            stderr=said,
            preexec_fn=confined,
        )
        ends, warm = time.monotonic() + WARM_UP_LIMIT, False
        while child.poll() is None and time.monotonic() < ends:
            if not warm and (scratch / "warm").exists():
                ends, warm = time.monotonic() + PATIENCE * limit, True
            time.sleep(0.05)
        if child.poll() is None:
            child.kill()
            child.wait()
            return (
                "over the limit"
                if warm
                else f"not ready for its first document after {WARM_UP_LIMIT} s"
            )
        if child.returncode in (-24, -9):  # what the system does to a process at its limit
            return "over the limit"
        if child.returncode < 0:  # most often an allocation that was refused and not looked at
            return f"crashed (signal {-child.returncode})"
        said.seek(0)
        lines = said.read().strip().splitlines()
        return f"failed: {lines[-1][:200] if lines else ''}" if child.returncode else None


def confined():
    """A part of the memory."""
    most = int(MEMORY * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def chosen(name, tool, only):
    """Whether a job is one of those that were named."""
    for pattern in only or ["/"]:
        of_set, _, of_tool = pattern.partition("/")
        if fnmatchcase(name, of_set or "*") and fnmatchcase(tool, of_tool or "*"):
            return True
    return False


def main():
    parser = arguments(__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "benchmarks")
    parser.add_argument(
        "--quick", action="store_true", help="minutes: parts of the sets; give it a DIR of its own"
    )
    parser.add_argument("--only", nargs="+", metavar="SET/TOOL", help="some jobs")
    parser.add_argument("--again", action="store_true", help="run also what has been run")
    parser.add_argument(
        "--publish",
        action="store_true",
        help="write benchmarks/results.json and docs/benchmarks.md",
    )
    parser.add_argument(
        "--cache", type=Path, default=Path.home() / ".cache" / "shortlist-benchmarks"
    )
    options = parser.parse_args()
    options.cache, options.out, options.data = (
        options.cache.resolve(),
        options.out.resolve(),
        options.data.resolve(),
    )
    options.out.mkdir(parents=True, exist_ok=True)
    options.cache.mkdir(parents=True, exist_ok=True)
    kept = options.out / "jobs.jsonl"
    done = {}
    if kept.exists():
        done = {
            (one["set"], one["tool"]): one for one in map(json.loads, kept.read_text().splitlines())
        }
    for name, given in sets.SETS.items():
        jobs = [(name, tool) for tool in tools_for(name, given) if chosen(name, tool, options.only)]
        jobs = [job for job in jobs if options.again or job not in done]
        if not jobs:
            continue
        if given.load is not None:
            try:
                sets.make(name, options.data, options.cache, options.quick)
            except (OSError, ValueError) as problem:
                print(f"{name}: left out: {problem}", file=sys.stderr, flush=True)
                continue
        for job in jobs:
            load = round(os.getloadavg()[0], 1)  # how many processes had work when the job began
            result = done[job] = run_job(*job, options) | {
                "date": date.today().isoformat(),
                "load": load,
            }
            with open(kept, "a", encoding="utf-8") as file:
                file.write(json.dumps(result) + "\n")
            said = result.get("problem") or f"{result['measures']}, {result['train']:.2f} s"
            print(f"{name}: {job[1]}: {said}", file=sys.stderr, flush=True)
    order = [(name, tool) for name, given in sets.SETS.items() for tool in tools_for(name, given)]
    report = page.report([done[job] for job in order if job in done], sets.SETS)
    (options.out / "results.json").write_text(page.compact(report), encoding="utf-8")
    if options.publish:
        page.publish(report)


if __name__ == "__main__":
    main()
