"""Spreadsheets on the terminal: semicolons, several columns, names and texts carried through,
CSV printed.
"""

import csv
import io
import json
import os

import polars
import pytest

import shortlist as sl
from shortlist.cli.options import Reading
from shortlist.inputs.source import Source
from tests.cli.test_bad_input import refused
from tests.inputs.samples import spreadsheet

SHEET = "Nr;Titel;Thema 1;Thema 2;dringend\n" + "".join(
    f"A{n};{title};{first};{second};{urgent}\n"
    for n, (title, first, second, urgent) in enumerate(
        [
            ("wheat exports rose", "grain", "trade", "nein"),
            ("corn and wheat prices", "grain", "", "ja"),
            ("the bank raised rates", "money", "", "nein"),
            ("bank notes and coins", "money", "trade", "nein"),
        ]
        * 3
    )
)
COLUMNS = ("--text-column", "Titel", "--label-column", "Thema *", "--one-hot-column", "dringend")


@pytest.fixture
def model(run, tmp_path):
    (tmp_path / "sheet.csv").write_text("\ufeff" + SHEET, encoding="utf-8")
    result = run("train", "sheet.csv", *COLUMNS)
    assert result.code == 0, result.err
    return tmp_path / "sheet.shortlist"


def test_labels_of_all_columns_are_learned(model):
    assert set(sl.load(model).classes_.tolist()) == {"grain", "trade", "money", "dringend"}


def test_names_and_texts_are_carried_through(run, model):
    asked = ("rank", model, "sheet.csv", *COLUMNS[:2], "--id-column", "Nr", "-k", "2")
    lines = run(*asked).out.splitlines()
    assert [line.split("\t")[0] for line in lines[:2]] == ["A0", "A1"]
    assert lines[0].split("\t")[1] in ("grain", "trade")
    with_text = run(*asked, "--with-text").out.splitlines()
    assert with_text[0].split("\t")[:2] == ["A0", "wheat exports rose"]
    record = json.loads(run(*asked, "--with-text", "--json").out.splitlines()[2])
    assert (record["id"], record["text"], record["labels"][0]) == (
        "A2",
        "the bank raised rates",
        "money",
    )
    plain = run("rank", model, "sheet.csv", *COLUMNS[:2], "-k", "2").out.splitlines()
    assert [line.split("\t", 1)[1] for line in lines] == plain


def test_columns_are_named_once(run, model, tmp_path):
    """What training was told of columns, rank, evaluate and learn know; files of other columns
    are read as ever.
    """
    named = run("rank", model, "sheet.csv", *COLUMNS[:2]).out
    assert named
    assert run("rank", model, "sheet.csv").out == named
    found = run("evaluate", model, "sheet.csv", "--json")
    assert found.json == run("evaluate", model, "sheet.csv", *COLUMNS, "--json").json
    (tmp_path / "new.csv").write_text("Titel;Nr\nwheat exports rose;7\n", encoding="utf-8")
    (tmp_path / "other.csv").write_text("text\nwheat exports rose\n", encoding="utf-8")
    (tmp_path / "lines.jsonl").write_text('{"text": "wheat exports rose"}\n', encoding="utf-8")
    (tmp_path / "plain.txt").write_text("wheat exports rose\n", encoding="utf-8")
    for file in ("new.csv", "other.csv", "lines.jsonl", "plain.txt"):
        assert run("rank", model, file).out == named.splitlines(keepends=True)[0], file
    assert run("learn", model, "sheet.csv").code == 0
    assert run("rank", model, "sheet.csv").code == 0  # a model that went on learning still knows
    (tmp_path / "none.csv").write_text("a;b\nc;d\n", encoding="utf-8")
    refused(run("rank", model, "none.csv"), "expected a column 'text' for text, found 'a', 'b'")
    (tmp_path / "bad.csv").write_bytes(b"Titel;Nr\nwheat;1\nbank \xff;2\n")
    refused(run("rank", model, "bad.csv"), "line 3")


@pytest.mark.skipif(not os.path.exists("/dev/fd"), reason="this system has no names for open pipes")
def test_what_comes_by_a_pipe_is_not_read_to_look_for_columns(run, model):
    """As a shell gives it by <(…): what was read of it would be lost, of a short one
    everything, without a word.
    """
    reads, writes = os.pipe()
    os.write(writes, SHEET.encode())
    os.close(writes)
    found = run("rank", model, f"/dev/fd/{reads}", "--format", "csv", *COLUMNS[:2])
    os.close(reads)
    assert found.out == run("rank", model, "sheet.csv").out


@pytest.mark.parametrize(
    ("named", "labels"),
    [
        ({"label_column": ["Thema 1"]}, [["grain"], ["grain"], ["money"], ["money"]]),
        ({"one_hot_column": ["dringend"]}, [[], ["dringend"], [], []]),
    ],
)
def test_whoever_names_a_column_of_labels_has_named_all(model, named, labels):
    """The model was trained from columns of labels and from one that stands for a label."""
    reading, sheet = Reading(**named), str(model.with_name("sheet.csv"))
    reading.recall(sl.load(model), sheet)
    assert reading.text_column == ["Titel"]
    assert [list(own) for batch in reading.open(sheet) for own in batch.labels] == labels * 3


def test_a_file_in_which_nothing_is_crossed_out_has_labels_all_the_same(run, tmp_path):
    (tmp_path / "crossed.csv").write_text(
        "title,topic,no\nwheat,grain,money\nbank,money,\n", encoding="utf-8"
    )
    (tmp_path / "test.csv").write_text("title,topic\nwheat,grain\nbank,money\n", encoding="utf-8")
    columns = "--text-column", "title", "--label-column", "topic"
    assert run("train", "crossed.csv", *columns, "--wrong-column", "no").code == 0
    found = run("evaluate", "crossed.shortlist", "test.csv", "--json")
    assert found.json == run("evaluate", "crossed.shortlist", "test.csv", *columns, "--json").json


def test_only_the_beginning_of_a_file_is_searched_for_columns(model, tmp_path, monkeypatch):
    """A file of other columns may be long."""
    with open(tmp_path / "long.jsonl", "w", encoding="utf-8") as file:
        file.writelines(f'{{"text": "wheat exports rose {n}"}}\n' for n in range(100_000))
    asked = []
    monkeypatch.setattr(
        Source, "read", lambda self, size, read=Source.read: asked.append(size) or read(self, size)
    )
    reading = Reading()
    reading.recall(sl.load(model), str(tmp_path / "long.jsonl"))
    assert reading.text_column is None
    assert sum(asked) < (tmp_path / "long.jsonl").stat().st_size / 2


def test_names_of_columns_in_a_file_are_checked(model, tmp_path):
    known = sl.load(model)
    assert known.training_columns_["text_column"] == ["Titel"]
    for wrong in ({"text_column": 3}, ["Titel"], {"text_column": [["Titel"]]}):
        known.training_columns_ = wrong
        known.save(tmp_path / "wrong.shortlist")
        with pytest.raises(sl.ModelFileError, match="the columns of its training file have names"):
            sl.load(tmp_path / "wrong.shortlist")


def test_csv_for_a_spreadsheet_that_has_semicolons(run, model):
    asked = (
        "rank",
        model,
        "sheet.csv",
        *COLUMNS[:2],
        "--id-column",
        "Nr",
        "-k",
        "2",
        "--csv",
        "--with-text",
    )
    rows = list(csv.reader(io.StringIO(run(*asked).out), delimiter=";"))
    assert rows[0][:6] == ["id", "text", "label 1", "score 1", "label 2", "score 2"]
    assert rows[1][:2] == ["A0", "wheat exports rose"]
    assert float(rows[1][3].replace(",", ".")) > 0
    assert "," in rows[1][3]
    assert len(rows) == 13


def test_csv_with_commas_and_labels_that_are_assigned(run, model):
    texts = 'text\nwheat\n"bank, rates"\nunknown\n'
    rows = list(
        csv.reader(
            io.StringIO(run("rank", model, "--format", "csv", "-k", "1", "--csv", stdin=texts).out)
        )
    )
    assert [row[0] for row in rows] == ["label 1", "grain", "money", ""]
    shown = run("rank", model, "--format", "csv", "--assign", "--csv", stdin=texts).out
    rows = list(csv.DictReader(io.StringIO(shown)))
    assert rows[0].keys() == {"reason", "labels", "probabilities"}
    refused(
        run("rank", model, "--csv", "--json", stdin=texts),
        "--csv and --json ask for different things",
    )
    for option in ("--csv", "--with-text"):  # one text is shown in a table or as JSON
        refused(
            run("rank", model, "--text", "wheat", option),
            "--csv and --with-text are for files and standard input",
        )


def test_an_error_lists_the_columns_and_names_the_option(run, model):
    refused(run("train", "sheet.csv"), "expected a column 'text' for text, found 'Nr', 'Titel'")
    refused(run("train", "sheet.csv"), "--text-column")


# Ratings of texts

FOUR = 'dull and far too long,1\nfair but long,2\na good film,3\n"a joy, good from the start",4\n'
REVIEWS = "review,stars\n" + FOUR * 10


def test_ratings_are_learned_from_texts(run, tmp_path):
    (tmp_path / "reviews.csv").write_text(REVIEWS)
    result = run(
        "train", "reviews.csv", "--task", "ratings", "--text-column", "review", "--target", "stars"
    )
    assert result.code == 0, result.err
    rater = sl.load("reviews.shortlist")
    assert isinstance(rater, sl.TextRater)
    assert rater.predict(["far too long", "a joy from the start"]).tolist() == [1, 4]
    columns = ("--text-column", "review", "--target", "stars")
    found = run("evaluate", "reviews.shortlist", "reviews.csv", *columns, "--json").json
    assert found["measures"]["MAE"]["value"] < 0.2
    lines = run(
        "rank", "reviews.shortlist", "reviews.csv", "--text-column", "review"
    ).out.splitlines()
    assert [line.split("\t")[0] for line in lines[:4]] == ["1", "2", "3", "4"]
    shown = run(
        "rank",
        "reviews.shortlist",
        "reviews.csv",
        "--text-column",
        "review",
        "--csv",
        "--with-text",
    ).out
    assert next(csv.DictReader(io.StringIO(shown)))["text"] == "dull and far too long"
    assert run("learn", "reviews.shortlist", "reviews.csv", *columns).code == 0
    again = sl.load("reviews.shortlist")
    assert again.n_examples_ == 80
    assert (
        json.loads(run("rank", "reviews.shortlist", "--text", "joy from the start", "--json").out)[
            "rating"
        ]
        == 4
    )
    assert "rating" in run("rank", "reviews.shortlist", "--text", "a joy").out
    shown = run("explain", "reviews.shortlist", "--text", "a joy from the start", "--json").json
    assert shown["label"] == 4
    assert "joy" in [word for word, _ in shown["votes"]]
    assert "joy" in run("explain", "reviews.shortlist", "--text", "a joy from the start").out
    refused(
        run("explain", "reviews.shortlist", "--text", "a joy", "--label", "4"),
        "leave the label out",
    )


def test_a_model_of_rows_explains_no_texts(run, tmp_path):
    sl.Rater().fit([[0.0], [1.0]], [1, 2]).save(tmp_path / "rater.shortlist")
    refused(run("explain", "rater.shortlist", "--text", "wheat"), "explain them from Python")


def test_a_text_rater_goes_on_explains_and_is_the_same_in_parts(tmp_path):
    texts, stars = ["dull and long", "fair", "good", "a joy"] * 5, [1, 2, 3, 4] * 5
    rater = sl.TextRater().fit(texts, stars)
    found = rater.explain("a long joy")
    assert {word for word, _ in found.votes} >= {"long", "joy"}
    assert found.score == pytest.approx(sum(vote for _, vote in found.votes))
    rater.save(tmp_path / "rater.shortlist")
    again = sl.load(tmp_path / "rater.shortlist")
    for one in (rater, again):
        one.learn(["wholly new words", "a joy"], [2, 4])
    assert again.predict(texts).tolist() == rater.predict(texts).tolist()
    with pytest.raises(sl.InputError):
        rater.learn(["more words yet"], [1, 2])
    assert rater.text_.n_features_ == rater.learner_.n_features_in_ == again.text_.n_features_
    assert (
        sl.TextRater().set_params(text__tf="boolean", learner__passes=2).get_params()["text__tf"]
        == "boolean"
    )


# Fields


def test_fields_on_the_terminal(run, tmp_path):
    rows = [
        "wheat exports,the board said,Smith,grain",
        "bank rates,the board said more,Jones,money",
    ] * 6
    (tmp_path / "laws.csv").write_text("title,body,author,labels\n" + "\n".join(rows) + "\n")
    columns = ("--text-column", "title", "--text-column", "body", "--feature-column", "author")
    result = run("train", "laws.csv", *columns)
    assert result.code == 0, result.err
    assert sl.load("laws.shortlist").fields_ == ["body", "title"]
    found = run(
        "evaluate", "laws.shortlist", "laws.csv", "--feature-column", "author", "--json"
    ).json
    assert found["measures"]["R1"]["value"] == 1
    shown = json.loads(
        run("rank", "laws.shortlist", "laws.csv", "--with-text", "--json").out.splitlines()[0]
    )
    assert shown["labels"][0] == "grain"
    assert sorted(shown["text"].split("\n")) == ["the board said", "wheat exports"]
    assert run("learn", "laws.shortlist", "laws.csv").code == 0
    model = sl.load("laws.shortlist")
    assert {"title: wheat", "wheat"} <= set(model.text_.get_feature_names_out())
    # a word is named once
    assert {"wheat", "author=Smith"} <= {name for name, _ in model.strongest("grain", 50)}


def test_columns_of_features_are_remembered_and_may_be_absent(run, tmp_path):
    rows = ["1;invoice;Ada;12,5;billing", "2;login;Bob;3;access"] * 3
    (tmp_path / "tickets.csv").write_text(
        "\n".join(["Nr;Betreff;Kunde;Preis;Thema", *rows, ""]), encoding="utf-8"
    )
    learned = ("--text-column", "Betreff", "--feature-column", "Kunde", "--feature-column", "Preis")
    assert run("train", "tickets.csv", *learned, "--label-column", "Thema").code == 0
    assert sl.load(tmp_path / "tickets.shortlist").extra_fields_ == ["Kunde", "Preis"]
    (tmp_path / "new.csv").write_text(
        "Betreff;Preis;Kunde\nnothing known;3,0;Bob\n", encoding="utf-8"
    )
    remembered = run("rank", "tickets.shortlist", "new.csv", "-k", "2").out
    assert remembered == run("rank", "tickets.shortlist", "new.csv", "-k", "2", *learned[2:]).out
    assert remembered.startswith("access")
    (tmp_path / "bare.csv").write_text("Betreff\nnothing known\n", encoding="utf-8")
    assert run("rank", "tickets.shortlist", "bare.csv").code == 0
    refused(
        run("rank", "tickets.shortlist", "bare.csv", *learned[2:]),
        "expected a column 'Kunde' for features",
    )
    (tmp_path / "new.jsonl").write_text(
        '{"Betreff": "nothing known", "Kunde": ["Bob"]}\n', encoding="utf-8"
    )
    assert run("rank", "tickets.shortlist", "new.jsonl", "-k", "1").out.startswith("access")
    # plain texts have no columns
    (tmp_path / "lines.txt").write_text("invoice\n", encoding="utf-8")
    assert run("rank", "tickets.shortlist", "lines.txt", "-k", "1").out.startswith("billing")
    assert run("rank", "tickets.shortlist", "-k", "1", stdin="login\n").out.startswith("access")


@pytest.mark.parametrize("name", ["sheet.csv", "sheet.parquet", "sheet.jsonl", "sheet.json"])
def test_a_table_without_labels_is_refused_with_the_columns_that_it_has(run, tmp_path, name):
    frame = polars.DataFrame({"Nr": [1], "Titel": ["wheat"], "Thema": ["grain"]})
    (tmp_path / "sheet.csv").write_text("Nr;Titel;Thema\n1;wheat;grain\n", encoding="utf-8")
    frame.write_parquet(tmp_path / "sheet.parquet")
    frame.write_ndjson(tmp_path / "sheet.jsonl")
    frame.write_json(tmp_path / "sheet.json")
    said = run("train", name, "--text-column", "Titel")
    refused(
        said, "has no labels (it has 'Nr', 'Titel', 'Thema'); name their column with --label-column"
    )


def test_a_warning_where_labels_outnumber_examples(run, tmp_path):
    (tmp_path / "backwards.tsv").write_text("grain trade\tp1\nmoney rates\tp2\n")
    said = run("train", tmp_path / "backwards.tsv")
    assert "more labels (4) than examples (2)" in said.err
    (tmp_path / "annif.tsv").write_text("wheat rose\t<http://x/p1>\nwheat fell\t<http://x/p1>\n")
    said = run("train", tmp_path / "annif.tsv", "-o", "annif.shortlist")
    assert "more labels" not in said.err
    assert "1 label " in run("labels", "annif.shortlist", "list").out


def test_empty_and_broken_cells_are_left_out_and_said(run, tmp_path):
    rows = [
        "text,labels",
        "wheat rose,grain",
        ",grain",
        "#REF!,grain",
        "bank rates,#N/A",
        ",",
        "  ,money",
        "bank,money",
    ]
    (tmp_path / "broken.csv").write_text("\n".join(rows) + "\n")
    said = run("train", tmp_path / "broken.csv", "--json")
    assert (said.code, said.json["examples"], said.json["labels"], said.json["skipped"]) == (
        0,
        2,
        2,
        5,
    )
    assert (
        "line 3: example 2 has an empty text, or a spreadsheet's error for a text or a label"
        in said.err
    )


def test_a_spreadsheet_is_trained_and_ranked(run, tmp_path):
    path = tmp_path / "tickets.xlsx"
    rows = [["text", "labels"]] + [["wheat corn", "grain"], ["bank money", "finance"]] * 5
    path.write_bytes(spreadsheet(rows))
    model = tmp_path / "m.shortlist"
    assert run("train", path, "-o", model).code == 0
    assert run("evaluate", model, path, "--json").json["measures"]
    assert run("rank", model, path).out.count("grain") >= 5
