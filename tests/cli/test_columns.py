"""Every command that reads examples, with one column of text, with two, and with fields beside
them.
"""

import random

import pytest

import shortlist as sl
from shortlist.server.candidates import as_trained

WORDS = {
    "grain": ["wheat", "corn", "rye"],
    "money": ["bank", "rates", "loan"],
    "animals": ["zebra", "lion", "wolf"],
}
ONE = ["--text-column", "Subject"]
TWO = [*ONE, "--text-column", "Body"]
FIELDS = [*TWO, "--feature-column", "Price", "--feature-column", "City"]


@pytest.fixture
def table(tmp_path):
    drawn, path = random.Random(0), tmp_path / "tickets.csv"
    rows = ["Subject,Body,Label,Price,City"]
    for n in range(60):
        label = list(WORDS)[n % 3]
        words = [" ".join(drawn.sample(WORDS[label], 2)) for _ in range(2)]
        rows.append(
            f"{words[0]},{words[1]} x{n % 7},{label if n % 11 else 'grain'},{n % 9},{'ab'[n % 2]}"
        )
    path.write_text("\n".join(rows) + "\n")
    return path


@pytest.mark.long
@pytest.mark.parametrize("columns", [ONE, TWO, FIELDS], ids=["one", "two", "fields"])
def test_commands_on_columns(run, table, columns):
    named = [*columns, "--label-column", "Label"]
    assert run("train", table, *named).code == 0
    model = table.with_suffix(".shortlist")
    for command in (
        ["evaluate", model, table, "--errors", 3, "--per-label"],
        ["evaluate", model, table, "--errors", 3, "--json"],
        ["rank", model, table, "--csv", "--with-text"],
        ["rank", model, table, "--assign", "--json"],
        ["learn", model, table],
        ["audit", table, *named],
        ["inspect", table, *named],
        ["compare", table, *named, "--learners", "frequency,rocchio", "--splits", 2],
        ["train", table, *named, "--best", "--minutes", 0.01, "--force"],
    ):
        said = run(*command)
        assert said.code == 0, (command, said.err)
        assert said.out


def test_what_was_exported_has_labels_of_its_own(run, table, tmp_path):
    """Where the labels of the table had another name than those of the export."""
    assert run("train", table, *TWO, "--label-column", "Label").code == 0
    model, judged = table.with_suffix(".shortlist"), tmp_path / "judged.jsonl"
    judged.write_text('{"Subject": "wheat", "Body": "rye", "labels": ["grain"]}\n')
    for verb in ("learn", "evaluate"):
        said = run(verb, model, judged)
        assert said.code == 0, said.err
    (batch,) = as_trained(sl.load(model), str(judged))
    assert list(batch.labels) == [["grain"]]
    assert batch.texts[0] == {"Subject": "wheat", "Body": "rye"}
