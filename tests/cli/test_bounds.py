"""--max-memory, on the terminal."""

import json
import warnings

import pytest

import shortlist as sl
from shortlist.models.memory import LEAST, MOST
from tests.models.test_memory import stream


def test_a_bound_is_kept_in_the_model_and_can_be_changed(run, news):
    assert run("train", news, "--max-memory", "500MB").code == 0
    assert sl.load("news.shortlist").max_memory == 500 * 10**6 - MOST.libraries
    more = json.dumps({"text": "satellites in orbit", "labels": ["space"]})
    assert (
        run(
            "learn", "news.shortlist", "--max-memory", "2GB", "--format", "json-lines", stdin=more
        ).code
        == 0
    )
    assert sl.load("news.shortlist").max_memory == 2 * 10**9 - MOST.libraries


@pytest.mark.long
def test_reaching_it_is_said_in_words(run, tmp_path):
    pairs = (pair for batch in stream(20) for pair in zip(*batch, strict=True))
    lines = (json.dumps({"text": text, "labels": labels}) for text, labels in pairs)
    (tmp_path / "many.jsonl").write_text("\n".join(lines) + "\n")
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        result = run("train", "many.jsonl", "--max-memory", MOST.libraries + LEAST)
    assert result.code == 0
    assert "from now on the rarest words and the weakest edges make room" in result.err
    assert "made room by forgetting" in result.err
    assert sl.load("many.shortlist").rank("topic1 theme1")[0][0] in ("label 1", "kind 1")


def test_what_cannot_be_bounded_is_refused(run, news, tmp_path):
    for size in ("much", "1MB"):
        result = run("train", news, "--max-memory", size)
        assert (result.code, result.err.count("\n")) == (2, 1)
        assert "--max-memory must be" in result.err
    assert (
        "is for --task categories"
        in run("train", news, "--task", "ratings", "--max-memory", "1GB").err
    )
    (tmp_path / "rows.svm").write_text("a 1:1 2:1\nb 3:2\na,c 1:2\n" * 5)
    refused = run("train", "rows.svm", "--format", "svmlight", "--max-memory", "1GB")
    assert (refused.code, "max_total_edges" in refused.err) == (2, True)
