"""Bad input: one clear line on standard error, exit code 2, and every file as it was."""

import json
import os
import subprocess
import sys

import pytest


def refused(result, *words):
    assert result.code == 2, result
    lines = result.err.strip().splitlines()
    assert len(lines) == 1, result.err
    assert lines[0].startswith("shortlist: ")
    for word in words:
        assert word in lines[0], lines[0]
    assert "Traceback" not in result.err


BAD_FILES = {
    "empty": (b"", "empty"),
    "not text": (bytes(range(256)) * 20, ""),
    "a line without a label": (b'{"text": "a b", "labels": ["x"]}\n{"text": "c d"}\n', "example 2"),
    "a broken line": (b'{"text": "a b", "labels": ["x"]}\n{"text": \n', "line 2"),
    "no text": (b'{"labels": ["x"]}\n', "text"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_files_cannot_be_learned(run, model, tmp_path, name):
    content, word = BAD_FILES[name]
    (tmp_path / "bad.jsonl").write_bytes(content)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    refused(run("train", "bad.jsonl"), "bad.jsonl", word)
    refused(run("train", "bad.jsonl", "-o", model), "bad.jsonl", word)
    refused(run("learn", model, "bad.jsonl"), "bad.jsonl", word)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_absent_files(run, model):
    refused(run("train", "absent.jsonl"), "absent.jsonl")
    refused(run("rank", "absent.shortlist", "--text", "x"), "absent.shortlist")
    refused(run("inspect", "absent"), "absent")


def test_a_model_that_could_not_be_written_is_not_learned(run, model, tmp_path, monkeypatch):
    (tmp_path / "folder").mkdir()
    for verb in (("train",), ("learn", model)):
        refused(
            run(*verb, "absent.jsonl", "-o", "nowhere/new"),
            "cannot write nowhere/new: there is no folder",
        )
        refused(run(*verb, "absent.jsonl", "-o", "folder"), "cannot write folder: it is a folder")
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    refused(
        run("train", "absent.jsonl", "-o", "folder/new"),
        "cannot write folder/new: you may not write to",
    )


def test_bad_records_can_be_left_out_but_not_in_silence(run, tmp_path):
    records = [
        '{"text": "a b", "labels": ["x"]}',
        "not json",
        '{"text": "b c", "labels": ["y"]}',
        '{"text": "c d"}',
    ]
    (tmp_path / "some.jsonl").write_text("\n".join(records))
    result = run("train", "some.jsonl", "--skip-bad", "--json")
    assert (result.code, result.json["examples"], result.json["skipped"]) == (0, 2, 2)
    assert "left out 2 bad records" in result.err
    assert "line 2" in result.err
    assert "example 3 has no label" in result.err


UNLABELLED = {  # and the line of the example that has no label
    "some.csv": ('text,labels\n"a\nb",x\n\nc,\nd,y\n', 5),
    "even.csv": ("text,labels\na,x\nb,\nc,y\n", 3),
    "some.tsv": ("text\tlabels\na\tx\n\nb\t\n", 4),
    "some.jsonl": ('{"text": "a", "labels": ["x"]}\n\n{"text": "b", "labels": []}\n', 3),
    "odd.jsonl": ('{"text": "a", "labels": 1}\n\n{"text": "b", "labels": null}\n', 3),
    "some.json": ('[{"text": "a", "labels": ["x"]},\n\n{"text": "b", "labels": []}]\n', 3),
    "some.ft": ("__label__a foo\n\nbar baz\n", 3),
    "some.svm": ("1 1:1\n\n# a comment\n 2:1\n", 4),
    "some.arff": (
        "@relation 'x: -C 1'\n@attribute l {0,1}\n@attribute a numeric\n@data\n1,1\n%\n0,1\n",
        7,
    ),
}


@pytest.mark.parametrize("name", UNLABELLED)
def test_an_example_without_a_label_is_named_by_its_line(run, tmp_path, name):
    content, line = UNLABELLED[name]
    (tmp_path / name).write_text(content)
    more = ["--option", "label_count=1"] if name.endswith("arff") else []
    refused(
        run("train", name, *more), f"{name}, line {line}: example 2 has no label; give it one, or"
    )
    said = run("train", name, "--skip-bad", "-o", "left.shortlist", *more).err
    assert f"{name}, line {line}: example 2 has no label\n" in said


def test_an_example_of_numbers_without_a_label_is_named_by_its_line(run, tmp_path):
    (tmp_path / "some.csv").write_text("a,t\n1,x\n\n2,\n")
    refused(run("train", "some.csv", "--target", "t"), "some.csv, line 4: example 2 has no label")
    refused(
        run("train", "-", "--target", "t", stdin="a,t\n1,x\n\n2,\n"),
        "standard input, line 4: example 2 has no",
    )


def test_a_row_that_cannot_be_learned_is_named_by_its_line(run, tmp_path):
    (tmp_path / "first.svm").write_text("1 1:1\n2 2:1\n")
    (tmp_path / "long.svm").write_text("1 1:1\n 2:1\n\n2 1:1\n3 1:1 3:500\n")
    raw = ("--set", "values=raw", "--option", "batch=1")
    for learner in ("tuned-index",):
        assert run("train", "first.svm", "--learner", learner, *raw, "--force").code == 0
        for verb in (
            ("train", "--learner", learner, *raw),
            ("learn", "--option", "batch=1", "first.shortlist"),
        ):
            said = run(*verb, "long.svm", "--skip-bad")
            assert said.code == 2
            assert (
                "shortlist: long.svm, line 5: the row has the length 500, and with step="
                in said.err
            )
    (tmp_path / "negative.svm").write_text("1 1:1\n\n2 2:-1\n")
    negative = run("train", "negative.svm", "--learner", "feature-focus")
    refused(negative, "negative.svm, line 3: the row holds -1 in column ")


HEADERS = {
    "head.csv": (
        "text,labels\n",
        "expected lines below the one that names the columns, in the format csv",
    ),
    "head.tsv": (
        "text\tlabels\n",
        "expected lines below the one that names the columns, in the format tsv",
    ),
    "head.json": ("[]", "expected at least one, in the format json"),
    "head.svm": ("# nothing yet\n", "expected at least one, in the format svmlight"),
}


@pytest.mark.parametrize("name", HEADERS)
def test_a_file_without_examples_is_named(run, model, tmp_path, name):
    content, expected = HEADERS[name]
    (tmp_path / name).write_text(content)
    for verb in (("train",), ("train", "--best"), ("evaluate", model), ("audit",), ("compare",)):
        refused(run(*verb, name), f"{name} has no examples; {expected}")
    assert run("learn", model, name).code == 0  # no corrections today


def test_a_file_all_of_which_is_left_out_is_named(run, tmp_path):
    for content in ("text,labels\na,b,c\n", "text,labels\na,\n"):
        (tmp_path / "left.csv").write_text(content)
        said = run("train", "left.csv", "--skip-bad")
        assert said.code == 2
        assert said.err.endswith(
            "shortlist: left.csv has no examples but those that were left out\n"
        )
    refused(
        run("train", "-", stdin="text,labels\n"),
        "standard input has no examples; expected lines below",
    )


def test_what_is_left_out_does_not_depend_on_where_blocks_end(run, tmp_path):
    labelled, bare = '{"text": "a b", "labels": ["x"]}\n', '{"text": "c d"}\n'
    for records in (bare + labelled + bare, labelled + bare + bare):
        (tmp_path / "some.jsonl").write_text(records)
        for batch in (1, 1000):
            result = run(
                "train", "some.jsonl", "--skip-bad", "--json", "--option", f"batch={batch}"
            )
            assert (result.code, result.json["examples"], result.json["skipped"]) == (0, 1, 2)
    refused(run("train", "some.jsonl", "--option", "batch=1"), "example 2 has no label")
    (tmp_path / "bare.jsonl").write_text(bare * 2)
    refused(
        run("train", "bare.jsonl"),
        "has no labels (it has 'text'); name their column with --label-column",
    )
    said = run("train", "bare.jsonl", "--skip-bad", "--option", "batch=1").err
    assert said.splitlines()[-1].startswith(
        "shortlist: bare.jsonl has no labels (it has 'text'); name"
    )


def test_a_damaged_model(run, model):
    whole = model.read_bytes()
    for damaged in (whole[: len(whole) // 2], whole[:-1] + b"\x00\x01", b"", b"not a model at all"):
        model.write_bytes(damaged)
        for call in (
            ("rank", model, "--text", "x"),
            ("explain", model, "--text", "x"),
            ("learn", model, "x"),
        ):
            refused(run(*call), "news.shortlist")
        assert model.read_bytes() == damaged


def test_a_model_of_the_future(run, model):
    whole = model.read_bytes()
    model.write_bytes(whole.replace(b'{\\"format\\": 1,', b'{\\"format\\": 9,'))
    assert model.read_bytes() != whole
    refused(run("rank", model, "--text", "x"), "format version 9", "upgrade")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--learner", "oracle"], ["oracle", "feature-focus"]),
        (["--set", "depth=3"], ["no setting depth", "max_edges"]),
        (["--set", "text.depth=3"], ["no setting text.depth", "text.ngrams"]),
        (["--set", "step"], ["NAME=VALUE"]),
        (["--set", "step=wide"], ["step must be a number"]),
        (["--set", "passes=0"], ["passes must be at least 1"]),
        (["--option", "text=body"], ["use --text-column"]),
        (["--option", "format=csv"], ["use --format"]),
        (["--option", "source=other"], ["the argument that names the data"]),
        (["--workers", "1", "--option", "part_size=9"], ["use --part-size"]),
        (["--workers", "1", "--part-size", "nan"], ["--part-size must"]),
        (["--workers", "1", "--part-size", "inf"], ["--part-size must"]),
        (["--format", "parchment"], ["parchment", "json-lines"]),
    ],
)
def test_bad_options(run, news, arguments, words):
    refused(run("train", news, *arguments), *words)


def test_texts_are_not_rows(run, model, tmp_path):
    (tmp_path / "rows.svm").write_text("a 1:1 2:1\n")
    refused(run("rank", model, "rows.svm", "--format", "svmlight"), "texts")


def test_explaining_what_cannot_be_explained(run, model):
    refused(run("explain", model, "--text", "quux"), "none of its words")
    refused(run("explain", model, "--text", "wheat", "--label", "sports"), "sports")


def test_unknown_measures(run, model, news):
    refused(run("evaluate", model, news, "-m", "beauty"), "beauty", "MRR")


def test_a_missing_column_is_named(run, tmp_path):
    (tmp_path / "t.csv").write_text("title,subjects\nwheat,grain\n")
    refused(run("train", "t.csv"), "t.csv", "'text'", "'title'")
    refused(run("train", "t.csv", "--text-column", "title"), "t.csv", "labels")
    refused(run("train", "t.csv", "--label-column", "subjects"), "t.csv", "text")
    assert run("train", "t.csv", "--text-column", "title", "--label-column", "subjects").code == 0


@pytest.mark.parametrize(
    "arguments", [("explain", "--text", "wheat", "-n", -1), ("inspect", "-n", 0)]
)
def test_how_much_to_show(run, model, arguments):
    verb, *options = arguments
    result = run(verb, model, *options)
    assert (result.code, result.out) == (2, "")
    assert "-n" in result.err.splitlines()[-1]


@pytest.mark.long
@pytest.mark.skipif(
    not os.path.exists("/dev/full"), reason="there is no device that is always full"
)
def test_a_full_disk(model, news):
    for arguments in (
        ("rank", model, news),
        ("evaluate", model, news),
        ("inspect", model, "--json"),
    ):
        with open("/dev/full", "w") as full:
            command = [sys.executable, "-m", "shortlist.cli", *arguments]
            done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE)
        lines = [line for line in done.stderr.decode().splitlines() if "compiling" not in line]
        assert (done.returncode, lines) == (
            2,
            ["shortlist: cannot write the result: No space left on device"],
        )


@pytest.mark.long
def test_a_closed_standard_input_and_output(model, news):
    command = f"{sys.executable} -m shortlist.cli rank {model}"
    done = subprocess.run(f"{command} - <&-", shell=True, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == "shortlist: cannot read standard input: it is closed"
    assert subprocess.run(f"{command} {news} >&-", shell=True).returncode == 0


def test_a_directory_that_does_not_exist(run, news):
    refused(run("train", news, "-o", "absent/m.shortlist"), "absent")


def test_json_stays_json_when_things_are_said(run, tmp_path):
    (tmp_path / "some.jsonl").write_text('{"text": "a b", "labels": ["x"]}\nnot json\n')
    assert json.loads(run("train", "some.jsonl", "--skip-bad", "--json").out)["skipped"] == 1


@pytest.mark.parametrize(
    "words", [["wheat exports rose"], ["wheat", "exports", "rose"], ["wheat " * 999], ["a\0b"]]
)
def test_a_text_where_a_file_belongs(run, model, words):
    refused(run("rank", model, *words), "there is no file or folder", "--text")
