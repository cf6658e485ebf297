"""What somebody meets first: versions, help, completion, and a model that must not be lost."""

import json
import subprocess
import sys

import polars
import pytest

from shortlist.cli import COMMAND_GROUPS
from shortlist.cli.options import KNOWN_MEASURES, LEARNER_NAMES, complete_learner


def test_version(run):
    import numba

    import shortlist

    first, _, libraries = run("--version").out.splitlines()
    assert first == f"shortlist {shortlist.__version__}"
    assert f"numba {numba.__version__}" in libraries


def test_the_terminal_as_a_module():
    shown = subprocess.run(
        [sys.executable, "-m", "shortlist", "--help"], capture_output=True, text=True, check=True
    )
    assert "warmup" in shown.stdout


def test_help_by_its_short_name(run):
    assert "warmup" in run("-h").out
    shown = run("train", "-h").out
    assert "--force" in shown
    assert "prank" in shown


def test_help_says_in_full_what_each_command_does(run):
    shown = run("-h").out
    for name, group in COMMAND_GROUPS.items():
        listed = shown.partition(f"{name}:\n")[2].partition("\n\n")[0]
        found = dict(line.split(None, 1) for line in listed.strip().splitlines())
        assert found == {
            command.__name__.replace("_", "-"): said for command, said in group.items()
        }


def test_help_names_the_learners_and_measures_that_there_are():
    from shortlist.measures import measure
    from shortlist.models.model import learners

    for task, names in LEARNER_NAMES.items():
        assert names[0] == next(iter(learners(task))), "the usual one"
        assert set(names) <= set(learners(task))
    for name in KNOWN_MEASURES.replace(";", ",").split(","):
        assert measure(name.strip()).name == name.strip()
    assert complete_learner("mm") == ["mmp", "mmp1", "mmp2", "mmp3"]


def test_the_shell_can_complete(run, monkeypatch):
    # whatever runs the tests
    monkeypatch.setattr("shellingham.detect_shell", lambda: ("bash", "bash"))
    shown = run("--show-completion")
    assert "COMPREPLY" in shown.out


@pytest.mark.parametrize("code", ["import shortlist", "from shortlist.cli import app"])
def test_beginning_imports_nothing_heavy(code):
    """Counted, not timed: a busy machine changes nothing."""
    heavy = (
        "numpy",
        "numba",
        "scipy",
        "sklearn",
        "polars",
        "pandas",
        "matplotlib",
        "fastapi",
        "dask",
        "rich.table",
    )
    code += f"; import sys; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr


def test_import_shortlist_loads_few_modules():
    count = (
        "import sys; before = set(sys.modules); import shortlist; print(len(set(sys.modules) - "
        "before))"
    )
    done = subprocess.run([sys.executable, "-c", count], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 35


def test_train_does_not_replace_a_model_that_has_learned_since(run, model, news):
    assert run("train", news).code == 0, "it has learned no more than this"
    more = json.dumps({"text": "satellites in orbit", "labels": ["space"]}) + "\n"
    assert run("learn", model, stdin=more).code == 0
    kept = model.read_bytes()
    result = run("train", news)
    assert result.code == 2
    assert (
        "news.shortlist was not replaced: it has learned from 7 examples, the new model from 6; "
        "the new model is in news-new.shortlist, and --force replaces the old one" in result.err
    )
    assert result.out == "", "nothing looks like success"
    assert model.read_bytes() == kept
    assert run("train", news, "--force").code == 0
    assert model.read_bytes() != kept


@pytest.mark.parametrize(("answer", "replaced"), [(True, True), (False, False)])
def test_train_asks_whoever_can_be_asked(run, model, news, monkeypatch, answer, replaced):
    import typer

    from shortlist.cli.train import not_replaced

    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr(typer, "confirm", lambda *arguments, **more: answer)
    assert (not_replaced(model, 7, 6) is None) is replaced


def test_train_does_not_replace_what_is_no_model(run, news):
    before = news.read_text()
    result = run("train", news, "-o", news)
    assert result.code == 2
    assert "is not a model file; --force replaces it" in result.err
    assert news.read_text() == before


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl", "xlsx"])
def test_inspect_needs_no_named_columns(run, tmp_path, ending):
    frame = polars.DataFrame(
        {
            "Nr": [4711, 4712, 4713],
            "Frage": ["wo bleibt alles", "", "wann"],
            "Thema": ["a", "b", "a"],
        }
    )
    path = tmp_path / f"tickets.{ending}"
    if ending == "xlsx":
        frame.write_excel(path)
    else:
        writers = {"csv": "write_csv", "parquet": "write_parquet", "jsonl": "write_ndjson"}
        getattr(frame, writers[ending])(path)
    facts = run("inspect", path, "--json").json
    assert facts["examples"] == 3
    assert facts["columns"][1:] == [
        {"column": "Frage", "filled": 2, "first": "wo bleibt alles", "different": 2},
        {"column": "Thema", "filled": 3, "first": "a", "different": 2},
    ]
    said = run("inspect", path).out
    assert "--text-column NAME --label-column NAME" in said
    refused = run("inspect", path, "--text-column", "Text")
    assert refused.code == 2
    assert "'Text'" in refused.err
