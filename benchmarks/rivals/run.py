"""shortlist beside the tools people use now: the same splits, the same machine, one after the other.

    python benchmarks/rivals/run.py DATA --out DIR [--quick] [--sets NAME …] [--tools NAME …] [--threads N] [--again]

DATA holds the data sets as `python -m papers` has them. Each rival is installed from PyPI into an environment of
its own under --cache; each job (a set, a tool) runs in processes of its own, on one core, or on as many as --threads
says. What is done is kept in DIR/jobs, so that a run that was stopped goes on; --again runs the chosen jobs anew.
Writes DIR/results.json, DIR/benchmarks.md and a picture for each set.

The rule of time. Training, saving and ranking may take the set's limit (see sets.py), choosing a setting before that
half of it; a quick run chooses nothing and has a limit of its own. A job is stopped there, and the table says so. It is
not begun where training on a part, when a setting was chosen, lets expect more than the limit; nor on all of Finna
where the tool was stopped on its first 100,000 titles. No tool may take more than MEMORY of the machine's memory.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT), str(HERE)]

import page  # noqa: E402
import scoring  # noqa: E402
import sets  # noqa: E402
from environments import python_of  # noqa: E402

# tool: its file in tools/ and the entry there, and its environment (None: the one that runs this)
TOOLS = {
    "shortlist": ("shortlist_learners:Categorizer", None),
    "shortlist FeatureFocus": ("shortlist_learners:FeatureFocus", None),
    "shortlist best": ("shortlist_learners:best", None),
    "LinearSVC": ("scikit_learn:LinearSVC", "scikit-learn"),
    "SGDClassifier": ("scikit_learn:SGDClassifier", "scikit-learn"),
    "ComplementNB": ("scikit_learn:ComplementNB", "scikit-learn"),
    "fastText": ("fast_text", "fasttext"),
    "VW oaa": ("vowpal_wabbit:oaa", "vowpalwabbit"),
    "VW plt": ("vowpal_wabbit:plt", "vowpalwabbit"),
    "napkinXC": ("napkin_xc", "napkinxc"),
    "PECOS": ("pecos_xr", "pecos"),
    "river": ("river_online", "river"),
    "omikuji": ("omikuji_trees", "omikuji"),
}
WARM_UP_LIMIT = 300  # seconds to load, compile and try a few documents, before the clock starts
MEMORY = 0.6
SMALLER = {"finna": "finna-100k"}
THREADS = ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"]
ONE_THREAD = ["ComplementNB", "VW oaa", "VW plt", "river"]  # whatever --threads says


def main():
    options = arguments()
    options.out.mkdir(parents=True, exist_ok=True)
    for name in options.sets:
        for tool in options.tools:
            run_job(name, tool, options)
        print_all(options)


def run_job(name, tool, options):
    """One set with one tool; what comes of it is written to a file of its own."""
    kept = job_file(options.out, name, tool)
    if kept.exists() and not options.again:
        return
    kept.parent.mkdir(parents=True, exist_ok=True)
    began = time.perf_counter()
    module, environment = TOOLS[tool]
    python, problem = (Path(sys.executable), None) if environment is None else python_of(environment, options.cache)
    result = {"set": name, "tool": tool, "quick": options.quick, "threads": options.threads}
    if problem is None:
        folder = sets.make(name, options.data, options.cache, options.quick)
        limit = sets.QUICK_LIMIT if options.quick else sets.SETS[name][1]
        with tempfile.TemporaryDirectory(dir=options.cache) as made:
            scratch = Path(made)
            problem = expected(name, tool, options)
            problem = problem or steps(python, module, folder, scratch, limit, result)
            if "batch" in result:
                result["measures"] = scoring.score(folder, scratch / "ranked.tsv")
    if problem is not None:
        result["problem"] = problem
    result["whole job"] = time.perf_counter() - began
    kept.write_text(json.dumps(result, indent=1))
    said = problem or f"P@1 {result['measures']['P@1']:.3f}, {result['prepare'] + result['train']:.2f} s"
    print(f"{name}: {tool}: {said}", file=sys.stderr, flush=True)


def expected(name, tool, options):
    """Why a job need not be begun, if there is a reason."""
    smaller = job_file(options.out, SMALLER[name], tool) if name in SMALLER else None
    if smaller is not None and smaller.exists():
        problem = json.loads(smaller.read_text()).get("problem")
        if problem is not None:
            return f"not begun: on {sets.TITLES[SMALLER[name]]} it was {problem}"
    return None


def steps(python, module, folder, scratch, limit, result):
    """Choose a setting, then measure; fills the result, and gives the problem if there is one."""
    if not result["quick"]:
        problem = step(python, "choose", module, folder, scratch, limit / 2, result)
        if not (scratch / "choice.json").exists():
            return problem and f"{problem} while it tried its first setting on a part"
        result["choice"] = json.loads((scratch / "choice.json").read_text())
        seconds = result["choice"]["expected seconds"]
        if seconds > limit:
            return f"stopped: training would take about {seconds:.0f} s, the limit is {limit} s"
    problem = step(python, "measure", module, folder, scratch, limit, result)
    if (scratch / "times.json").exists():
        result.update(json.loads((scratch / "times.json").read_text()))
    if problem is not None and result.pop("done", None) is None:
        return f"{problem} in {'ranking' if 'train' in result else 'training'}"
    return None


def step(python, what, module, folder, scratch, limit, result):
    """One process; gives the problem if there is one."""
    threads = result["threads"]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore"}
    environment |= dict.fromkeys(THREADS, str(threads))
    with open(scratch / "said.txt", "w+", encoding="utf-8") as said:
        (scratch / "warm").unlink(missing_ok=True)
        command = [python, "-m", "protocol", what, module, folder, scratch, str(limit * 2 / 3), str(threads)]
        confine = partial(confined, threads)
        child = subprocess.Popen(command, cwd=HERE, env=environment, stdout=said, stderr=said, preexec_fn=confine)
        ends, status, warm = time.monotonic() + WARM_UP_LIMIT, None, False
        while status is None and time.monotonic() < ends:
            if not warm and (scratch / "warm").exists():
                ends, warm = time.monotonic() + limit, True
            pid, ended, usage = os.wait4(child.pid, os.WNOHANG)
            status = ended if pid else None
            time.sleep(0.02)
        stopped = status is None
        if stopped:
            child.kill()
            _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)  # so that Popen does not wait for it again
        if what == "measure":
            result["memory"] = usage.ru_maxrss * 1024
        if stopped:
            return f"stopped after {limit if warm else WARM_UP_LIMIT:g} s"
        if child.returncode:
            said.seek(0)
            lines = said.read().strip().splitlines()
            if child.returncode < 0:  # most often an allocation that was refused and not looked at
                return f"crashed (signal {-child.returncode})"
            return f"failed: {lines[-1][:200] if lines else f'exit code {child.returncode}'}"
    return None


def confined(cores):
    """Some cores, and a part of the memory."""
    most = int(MEMORY * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-cores:])


def job_file(out, name, tool):
    return out / "jobs" / name / f"{tool.replace(' ', '-')}.json"


def print_all(options):
    """Everything that is in the jobs folder so far, as results.json, a page and pictures."""
    files = [job_file(options.out, name, tool) for name in sets.SETS for tool in TOOLS]
    results = [json.loads(file.read_text()) for file in files if file.exists()]
    report = page.report(results, options.cache)
    (options.out / "results.json").write_text(json.dumps(report, indent=1))
    (options.out / "benchmarks.md").write_text(page.markdown(report), encoding="utf-8")
    page.pictures(report, options.out)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--quick", action="store_true", help="about five minutes: parts of the sets, nothing chosen")
    parser.add_argument("--sets", nargs="+", choices=list(sets.SETS), help="all; with --quick not all of Finna")
    parser.add_argument("--tools", nargs="+", choices=list(TOOLS), help="all that can use --threads")
    parser.add_argument("--threads", type=int, default=1, help="of each tool; a DIR holds results of one number (1)")
    parser.add_argument("--again", action="store_true", help="run also what has been run")
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache" / "shortlist-rivals")
    options = parser.parse_args()
    options.sets = options.sets or [name for name, (_, _, quick) in sets.SETS.items() if quick or not options.quick]
    if options.tools is None:
        options.tools = [tool for tool in TOOLS if options.threads == 1 or tool not in ONE_THREAD]
    options.cache, options.out = options.cache.resolve(), options.out.resolve()
    return options


if __name__ == "__main__":
    main()
