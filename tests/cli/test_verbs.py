"""What each verb does when all is well."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import shortlist as sl
from tests.cli.test_bad_input import refused


def test_train_writes_a_model_beside_and_says_so(run, news):
    result = run("train", news)
    assert result.code == 0
    assert "6 examples, 3 labels" in result.out
    assert sl.load("news.shortlist").rank("wheat")[0][0] == "grain"


def test_train_in_json(run, news):
    facts = run("train", news, "-o", "m", "--json").json
    assert (facts["examples"], facts["labels"]) == (6, 3)
    assert (facts["learner"], facts["format"]) == ("TunedIndex", "json-lines")
    assert facts["bytes"] == Path("m").stat().st_size


def test_train_with_settings(run, news):
    assert (
        run("train", news, "--set", "step=0.7", "--set", "text.ngrams=2", "--set", "passes=2").code
        == 0
    )
    model = sl.load("news.shortlist")
    assert (model.learner_.step, model.learner_.passes, model.text_.ngrams) == (0.7, 2, 2)
    assert run("train", news, "--learner", "independent", "--set", "threshold=0.1").code == 0
    assert isinstance(sl.load("news.shortlist").learner_, sl.IndependentIndex)


def test_train_on_rows_of_features(run, tmp_path):
    (tmp_path / "rows.svm").write_text("a 1:1 2:1\nb 3:2\na,c 1:2\n" * 5)
    result = run("train", "rows.svm", "--format", "svmlight", "-o", "m")
    assert result.code == 0, result.err
    assert isinstance(sl.load("m").learner_, sl.TunedIndex)
    assert (
        run("rank", "m", "rows.svm", "--format", "svmlight", "-k", "1")
        .out.splitlines()[0]
        .startswith("a\t")
    )


def test_learn_goes_on(run, model):
    more = '{"text": "satellites in orbit", "labels": ["space"]}\n' * 3
    result = run("learn", model, stdin=more)
    assert (result.code, result.err) == (0, "")
    assert "3 examples, 1 label, 7 features more" in result.out
    assert sl.load(model).rank("orbit")[0][0] == "space"
    facts = run("learn", model, "--json", stdin=more).json
    assert facts["examples"] == 12


def test_rank_a_stream(run, model):
    lines = run(
        "rank",
        model,
        "--format",
        "lines",
        "-k",
        1,
        stdin="wheat prices\nnothing known\nbank rates\n",
    ).out
    assert [line.split("\t")[0] for line in lines.splitlines()] == ["grain", "", "money"]
    rows = run(
        "rank", model, "--json", "--format", "lines", stdin="wheat prices\n"
    ).out.splitlines()
    assert json.loads(rows[0])["labels"][0] == "grain"


def test_a_label_stays_on_its_line(run, tmp_path):
    (tmp_path / "odd.jsonl").write_text(
        json.dumps({"text": "wheat prices", "labels": ["a\rb\nc\td"]}) + "\n"
    )
    assert run("train", "odd.jsonl").code == 0
    assert run("rank", "odd.shortlist", "odd.jsonl").out.startswith("a b c d\t")


def test_rank_one_text(run, model):
    assert "grain" in run("rank", model, "--text", "wheat prices").out
    assert run("rank", model, "--text", "wheat prices", "--json").json["labels"][0] == "grain"


def test_explain(run, model):
    found = run("explain", model, "--text", "wheat prices and more", "--json").json
    assert found["label"] == "grain"
    assert sum(vote for _, vote in found["votes"]) == pytest.approx(found["score"])
    assert "wheat" in run("explain", model, "--text", "wheat prices", "--label", "trade").out
    assert "others" in run("explain", model, "--text", "wheat and corn prices", "--top", 1).out


def test_explain_by_sentences(run, model):
    text = "Good morning. Wheat\nprices rose."
    passages = run("explain", model, "--text", text, "--json").json["passages"]
    assert [passage["text"] for passage in passages] == ["Good morning.", "Wheat\nprices rose."]
    assert passages[1]["vote"] > passages[0]["vote"]
    shown = run("explain", model, "--text", text).out
    assert "2 sentences" in shown
    assert shown.index("Wheat prices rose.") < shown.index("Good morning.")


def test_evaluate(run, model, news):
    found = run("evaluate", model, news, "--json").json
    assert found["measures"]["R1"]["value"] == 1.0
    assert found["measures"]["R1"]["low"] == 1.0
    table = run("evaluate", model, news, "-m", "P@2", "-m", "AP", "-m", "recall@2").out
    assert all(name in table for name in ("P@2", "AP", "recall@2", "6 examples"))


def test_evaluate_a_model_of_few_examples(run, tmp_path):
    data = tmp_path / "few.jsonl"
    data.write_text(
        '{"text": "wheat", "labels": ["grain"]}\n{"text": "bank", "labels": ["money"]}\n'
    )
    assert run("train", data).code == 0
    model = data.with_suffix(".shortlist")
    assert (
        run("evaluate", model, data, "-m", "R1", "-m", "P@1000000", "--json").json["measures"][
            "R1"
        ]["value"]
        == 1.0
    )
    assert "n_examples must be at least 3" in run("evaluate", model, data, "-m", "PSP@1").err


def test_evaluate_each_label(run, model, news):
    rows = run("evaluate", model, news, "--per-label", "--json").json["labels"]
    assert {row["label"]: row["recall"] for row in rows} == {
        "grain": 1.0,
        "money": 1.0,
        "trade": 1.0,
    }
    assert "precision" in run("evaluate", model, news, "--per-label").out


@pytest.mark.long
def test_evaluate_draws(run, model, news, tmp_path):
    pytest.importorskip("matplotlib")
    assert run("evaluate", model, news, "--plot", "pictures").code == 0
    pictures = sorted(path.name for path in (tmp_path / "pictures").iterdir())
    assert pictures == ["first-k.png", "frequency-recall.png", "precision-recall.png"]  # no errors


def test_evaluate_lists_the_worst_errors(run, model, tmp_path):
    pytest.importorskip("matplotlib")
    wrong = tmp_path / "wrong.jsonl"
    wrong.write_text(
        '{"text": "wheat and corn", "labels": ["money"]}\n{"text": "bank rates", "labels": ["money"]}\n'
        '{"text": "bank", "labels": ["unknown"]}\n'
    )
    found = run("evaluate", model, wrong, "--errors", 5, "--plot", "pictures", "--json").json[
        "errors"
    ]
    assert {(row["example"], row["true"], row["ranked first"]) for row in found} == {
        (1, "money", "grain"),
        (3, "unknown", "money"),
    }
    assert (tmp_path / "pictures" / "confusion.png").exists()
    shown = run("evaluate", model, wrong, "--errors", 1).out
    assert "The worst errors" in shown
    assert "at most 0.2000" in shown, "P@5 of examples with one label each"


def test_inspect_a_model(run, model):
    facts = run("inspect", model, "--json").json
    assert (facts["labels"], facts["examples"]) == (3, 6)
    assert facts["frequent_labels"][0]["label"] == "grain"
    shown = run("inspect", model).out
    assert "TunedIndex" in shown
    assert "wheat" in shown


def test_inspect_data(run, news):
    facts = run("inspect", news, "--json").json
    assert (facts["format"], facts["examples"], facts["labels"]) == ("json-lines", 6, 3)
    assert facts["first_example"]["texts"] == "wheat exports rose"
    assert "labels per example: 1.17" in run("inspect", news).out


def test_demo(run):
    facts = run("demo", "--json").json
    measures = facts["measures"]
    assert measures["R1"]["learned"] > 0.6 > 0.2 > measures["R1"]["frequency"]
    first, second, third = (sentence["labels"] for sentence in facts["sentences"])
    # as a person would say, in every Python's library
    assert (first[0], second[0]) == ("calendar", "xml")
    assert set(third[:2]) == {"concurrent", "multiprocessing"}
    shown = run("demo").out
    assert "frequency baseline" in shown
    assert shown.count("because of") == 3
    assert "shortlist rank demo.shortlist" in shown


def shell(*arguments, **options):
    return subprocess.run([sys.executable, "-m", "shortlist.cli", *map(str, arguments)], **options)


@pytest.mark.long
def test_a_stream_is_ranked_in_constant_memory(model, tmp_path):
    """Many lines go through a process that may not grow by more than a little over what ten
    lines need.
    """
    pytest.importorskip("resource")
    script = f"""
import resource, sys
sys.argv = ["shortlist", "rank", {str(model)!r}, {{0}}, "--format", "lines", "-k", "1"]
from shortlist.cli import main
try:
    main()
except SystemExit:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)
"""
    (tmp_path / "short").write_text("wheat prices rose\n" * 10)
    (tmp_path / "long").write_text("wheat prices rose in the plains\n" * 250_000)
    used = {}
    for name, lines in (("short", 10), ("long", 250_000)):
        code = script.format(repr(str(tmp_path / name)))
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
        assert done.stdout.count(b"\n") == lines
        used[name] = int(done.stderr.split()[-1])
    assert used["long"] < used["short"] + 25_000  # kB


@pytest.mark.long
def test_whoever_reads_may_stop_reading(model):
    done = subprocess.run(
        f"yes 'wheat prices' | {sys.executable} -m shortlist.cli rank {model} --format lines | "
        "head -n 3",
        shell=True,
        capture_output=True,
        check=True,
        text=True,
        timeout=300,
    )
    assert done.stdout.count("\n") == 3
    assert "Traceback" not in done.stderr


def test_help_imports_nothing_heavy():
    code = """
import sys
sys.argv = ["shortlist", "--help"]
from shortlist.cli import main
try:
    main()
except SystemExit:
    print([name for name in ("numpy", "numba", "sklearn", "polars") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.long
def test_train_the_best(run, tmp_path):
    words = {"grain": ["wheat", "corn", "barley"], "money": ["bank", "rates", "loan"]}
    rows = [
        {"text": f"the {words[own][n % 3]} of day {n}", "labels": [own]}
        for n in range(40)
        for own in words
    ]
    (tmp_path / "days.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    shown = run("train", "days.jsonl", "--best", "--minutes", 5)
    assert shown.code == 0, shown.err
    assert "Tried" in shown.out
    assert "Chosen: the usual." in shown.out
    assert "Chosen by a search among" in run("inspect", "days.shortlist").out
    found = run("inspect", "days.shortlist", "--json").json
    assert found["search"]["chosen"] == "the usual"
    assert found["settings"].startswith("TunedIndex, text ")
    assert (
        run("train", "days.jsonl", "--best", "--minutes", 0, "--json").json["search"]["measure"]
        == "R1"
    )


def test_what_does_not_go_with_best(run, news):
    refused(run("train", news, "--minutes", 3), "--best")
    refused(run("train", news, "--best", "--learner", "mmp"), "--learner")
    refused(run("train", news, "--best", "--set", "passes=3"), "--set")
    refused(run("train", news, "--best", "--workers", 2), "--workers")
    refused(run("train", news, "--best", "--task", "ratings"), "categories")
