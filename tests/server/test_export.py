"""Examples in the layouts of other tools, which read back as what they were."""

import csv
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import shortlist as sl
from shortlist.cli.rank import AnswerPrinter
from shortlist.inputs.tables import as_line, guarded, unguarded
from shortlist.label_vocabulary import LabelVocabulary
from shortlist.models.label_changes import Change
from shortlist.server import snapshots
from shortlist.server.entries import Judgement, LabelChange
from shortlist.server.exporting import JUDGEMENT_COLUMNS, LAYOUTS, fasttext_line
from shortlist.server.journal import Journal
from shortlist.server.journal_history import History
from shortlist.server.people import Role, changing
from tests.server.servers import in_thread

TABLES = ("csv", "xlsx")
JUDGED = [
    ("wheat, \"corn\" & 'rye'", ["grain", "trade"]),
    ("two\nlines\tand = a tab", ["grain of salt"]),
    ("=1+1 ünïcode 😀", ["münze"]),
    ("{} [] , ; |", ["grain"]),
    ("carriage\r\nreturns\rand\n\r\nfeeds", ["grain\r\nof salt", "in\rside"]),
]


@pytest.fixture
def judged(folder):
    """A state directory with examples of two people, one of them taken back, and a change of
    labels.
    """
    journal = Journal(folder)
    for n, (text, labels) in enumerate(JUDGED):
        journal.append([Judgement(text, labels, f"key-{n}", person=("anna", "bob")[n % 2])])
    journal.append([Judgement("taken back", ["grain"], person="anna")])
    journal.append(
        [LabelChange(Change.of({"change": "rename", "labels": ["grain"], "into": "cereal"}))]
    )
    journal.undo([len(JUDGED) + 1])
    journal.append([Judgement("judged in part", ["grain"], wrong=["money"], complete=False)])
    journal.close()
    return folder


# before "grain" was renamed, and after
WANTED = [
    *(
        (text, ["cereal" if label == "grain" else label for label in labels])
        for text, labels in JUDGED
    ),
    ("judged in part", ["grain"]),
]


def read_back(path, **options):
    return [
        (text, labels)
        for batch in sl.read(path, **options)
        for text, labels in zip(batch.texts, batch.labels, strict=True)
    ]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_what_is_exported_is_read_back(judged, run, tmp_path, layout):
    path = tmp_path / f"examples.{LAYOUTS[layout].ending}"
    assert run("export", judged, "--format", layout, "-o", path).code == 0
    with in_thread(judged, read_only=True) as server:
        answer = server.get("/v1/export", params={"format": layout})
        assert answer.headers["content-type"].partition(";")[0] == LAYOUTS[layout].kind
        assert answer.content == path.read_bytes()
    if layout != "xlsx":
        assert run("export", judged, "--format", layout).out == path.read_bytes().decode()
    found = read_back(path, **({"label_separator": "|"} if layout in TABLES else {}))
    if layout == "fasttext":
        assert found == [
            (" ".join(text.split()), ["_".join(one.split()) for one in own]) for text, own in WANTED
        ]
    else:
        assert found == WANTED


@pytest.mark.parametrize("layout", LAYOUTS)
def test_training_takes_an_export_as_it_is(judged, run, tmp_path, layout):
    path = tmp_path / f"examples.{LAYOUTS[layout].ending}"
    run("export", judged, "--format", layout, "-o", path)
    more = ["--label-separator", "|"] if layout in TABLES else []
    assert run("train", path, "-o", tmp_path / "again.shortlist", *more).code == 0
    assert "grain" in sl.load(tmp_path / "again.shortlist").classes_.tolist()


def test_who_judged_when_and_the_key_go_with_it(judged, run):
    lines = run("export", judged).out.splitlines()
    first, *_, last = map(json.loads, lines)
    assert (first["person"], first["key"]) == ("anna", "key-0")
    assert first["time"].endswith("+00:00")
    assert "wrong" not in first
    assert (last["wrong"], last["complete"]) == (["money"], False)
    assert "person" not in last
    rows = list(csv.DictReader(io.StringIO(run("export", judged, "--format", "csv").out)))
    assert list(rows[0]) == ["text", *(name for name in JUDGEMENT_COLUMNS if name != "names")]
    assert [row["person"] for row in rows] == ["anna", "bob", "anna", "bob", "anna", ""]
    assert [row["complete"] for row in rows] == ["yes"] * len(JUDGED) + ["no"]
    task = json.loads(run("export", judged, "--format", "label-studio").out)[1]
    assert (task["data"]["person"], task["data"]["key"]) == ("bob", "key-1")
    assert task["annotations"][0]["result"][0] == {
        "from_name": "labels",
        "to_name": "text",
        "type": "choices",
        "value": {"choices": ["grain of salt"]},
    }


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_journal_of_nothing(folder, run, layout):
    more = ("-o", folder / "empty.xlsx") if layout == "xlsx" else ()
    said = run("export", folder, "--format", layout, *more)
    assert said.code == 0
    if layout == "label-studio":
        assert json.loads(said.out) == []


def test_many_examples_come_whole(folder, run):
    journal = Journal(folder)
    journal.append([Judgement(f"text {n}", ["x"]) for n in range(1203)])
    journal.close()
    assert len(json.loads(run("export", folder, "--format", "label-studio").out)) == 1203
    assert len(run("export", folder).out.splitlines()) == 1203


@pytest.mark.parametrize(
    "example",
    [
        Judgement("a", ["this|that"]),
        Judgement("a", ["this"], wrong=["t|hat"]),
        Judgement({"title": "a", "tags": ["this|that", "more"]}, ["this"]),
    ],
)
def test_refusals(judged, run, tmp_path, example):
    assert (
        "there is no layout 'xml'; there are jsonl, csv"
        in run("export", judged, "--format", "xml").err
    )
    assert "is not a state directory yet" in run("export", tmp_path / "nothing").err
    journal = Journal(judged)
    journal.append([Judgement({"title": "no | list"}, ["this"])])
    assert not History(journal).has_in_a_list("|")
    journal.append([example])
    journal.close()
    assert "a label, or an entry of a list, holds |" in run("export", judged, "--format", "csv").err
    with in_thread(judged, read_only=True) as server:
        assert server.get("/v1/export", params={"format": "csv"}).status_code == 409
        assert server.get("/v1/export", params={"format": "xml"}).status_code == 422


def test_a_word_that_looks_like_a_label_stays_a_word():
    example = Judgement("say __label__money now", ["a b"])
    assert fasttext_line(example) == "__label__a_b say label__money now\n"


def test_tasks_as_label_studio_writes_them(tmp_path):
    """With annotations of several people, a skipped one, predictions, and other controls."""
    chosen = {
        "from_name": "topic",
        "to_name": "text",
        "type": "choices",
        "value": {"choices": ["grain"]},
    }
    other = {
        "from_name": "mood",
        "to_name": "text",
        "type": "choices",
        "value": {"choices": ["glad", "grain"]},
    }
    span = {
        "from_name": "span",
        "to_name": "text",
        "type": "labels",
        "value": {"start": 0, "end": 2, "labels": ["X"]},
    }
    skipped = {"id": 3, "was_cancelled": True, "result": [{**chosen, "value": {"choices": ["no"]}}]}
    task = {
        "id": 7,
        "annotations": [
            {"id": 1, "completed_by": 1, "result": [chosen, span]},
            {"result": [other]},
            skipped,
        ],
        "predictions": [{"result": [{**chosen, "value": {"choices": ["guess"]}}]}],
        "data": {"text": "wheat", "ref": 5},
    }
    path = tmp_path / "project-1.json"
    path.write_text(
        json.dumps([task, {"id": 8, "data": {"text": "later"}, "annotations": []}], indent=2)
    )
    assert sl.read(path).format == "label-studio"
    assert read_back(path) == [("wheat", ["grain", "glad"]), ("later", [])]
    assert read_back(path, labels="mood")[0] == ("wheat", ["glad", "grain"])
    (batch,) = sl.read(path, id="ref")
    assert batch.ids[0] == "5"
    path.write_text(json.dumps([task, {"data": {"html": "x"}, "annotations": []}]))
    with pytest.raises(
        sl.InputError, match=r"line 1, column \d+: expected a text in the field 'text' of 'data'"
    ):
        read_back(path)
    with pytest.raises(sl.InputError, match="must be one name in tasks of Label Studio"):
        read_back(path, labels=["a", "b"])


def test_who_judged_is_known_by_the_token(folder):
    with changing(folder) as people:
        tokens = {name: people.add(name, Role.JUDGE) for name in ("anna", "bob")}
        manager = people.add("manager", Role.MANAGE)
    judged = {
        "anna": {"t1": ["a"], "t2": ["b"], "t3": ["a"], "t4": ["b"]},
        "bob": {"t1": ["a"], "t2": ["b"], "t3": ["b"], "t4": ["b"], "t5": ["a"]},
    }
    with in_thread(folder) as server:
        for name, texts in judged.items():
            server.headers["authorization"] = f"Bearer {tokens[name]}"
            for text, labels in texts.items():
                server.learn(text, labels)
        server.ask("undo", number=9)
        assert (
            server.post("/v1/labels", json={"change": "retire", "labels": ["a"]}).status_code == 403
        )
        server.headers["authorization"] = f"Bearer {manager}"
        assert [one["person"] for one in server.ask("examples")["examples"]] == ["bob"] * 5 + [
            "anna"
        ] * 4
        persons = [
            json.loads(line)["person"] for line in server.get("/v1/export").text.splitlines()
        ]
        assert persons == ["anna"] * 4 + ["bob"] * 4
    journal = Journal(folder)
    assert journal.file.row("SELECT person FROM undos")[0] == "bob"
    journal.close()


@pytest.mark.parametrize(
    "cell",
    [
        *("=1+1", "+1", "-1", "@SUM(1)", "\tx", "'=1", "''-2", "'a'", "b", "'", "\nx", "\r\nx"),
        *("a;=1", "a\t-1", "a;'=1", "\u200b=1", "＝1", "a\n- b", "a\n'- b", ' "=1"'),
    ],
)
def test_no_cell_is_a_formula_and_each_is_read_back(folder, run, tmp_path, cell):
    assert unguarded(guarded(cell)) == cell
    journal = Journal(folder)
    journal.append(
        [
            Judgement(f"{cell} wheat", [cell.strip(), "other"], "+key"),
            Judgement('x, "y"', [cell.strip()]),
        ]
    )
    journal.append([Judgement({"title": f"{cell} fields", "price": -12.5}, ["other"])])
    journal.close()
    file = tmp_path / "out.csv"
    assert run("export", folder, "--format", "csv", "--output", file).code == 0
    with open(file, newline="") as opened:
        rows = list(csv.reader(opened))
    cells = [one for row in rows for one in row if one != "-12.5"]  # a number is none
    assert not [one for one in cells if one[:1] in ("=", "+", "-", "@", "\t", "\r")]
    (batch,) = sl.read(file, label_separator="|", id="key")
    assert list(batch.texts)[:2] == [f"{cell} wheat", 'x, "y"']
    assert list(map(list, batch.labels)) == [[cell.strip(), "other"], [cell.strip()], ["other"]]
    assert batch.ids[0] == "+key"


def test_rankings_for_a_spreadsheet_hold_no_formulas():
    row = AnswerPrinter("csv")._row(["=cmd", 'a "b"', -0.5, None, "c\rd", "x;=1"])
    assert row == '\'=cmd,"a ""b""",-0.5,,"c\rd",x;\'=1\n'


WITHIN_CELLS = st.lists(
    st.sampled_from([*"=+-@;,\t\r\n'\"| ab1", "＝", "\u00a0", "\u200b", "\ufeff", "\r\n- "]),
    max_size=8,
).map("".join)


@given(cells=st.lists(WITHIN_CELLS, min_size=2, max_size=4))
def test_no_separator_makes_a_formula(cells):
    """Whatever a spreadsheet takes as separator, no cell begins with a sign of formulas, be it
    behind characters that nobody sees.
    """
    guarded_cells = [guarded(cell, is_first=n == 0) for n, cell in enumerate(cells)]
    assert list(map(unguarded, guarded_cells)) == cells
    line = as_line(guarded_cells)
    for separator in ",;\t":
        for row in csv.reader(io.StringIO(line, newline=""), delimiter=separator):
            for cell in row:
                assert not cell.lstrip(" \u00a0\u200b\ufeff").startswith(("=", "+", "-", "@", "＝"))


def test_lists_in_a_text_stay_lists():
    """Line breaks of the first cell are within quotes, so its lines need no apostrophes."""
    text = "to buy:\n- wheat\n- corn"
    assert guarded(text, is_first=True) == text
    assert guarded(text) == "to buy:\n'- wheat\n'- corn"


def test_labels_are_never_blank_and_have_no_spaces_around_them(server):
    for blank in (" ", "\u00a0", "\u2028 "):
        answer = server.post("/v1/learn", json={"examples": [{"text": "wheat", "labels": [blank]}]})
        assert (answer.status_code, "blank" in answer.json()["error"]) == (422, True)
    server.learn("rye", [" cereals "])
    server.learn("oats", ["cereals"])
    assert server.get("/v1/labels", params={"q": "cereals"}).json()["labels"] == [
        {"label": "cereals", "examples": 2}
    ]


def columns_of(text, separator=","):
    return next(csv.reader(io.StringIO(text), delimiter=separator))


def test_no_column_is_empty(folder, run):
    journal = Journal(folder)
    journal.append([Judgement("wheat", ["grain"])])
    assert columns_of(run("export", folder, "--format", "csv").out) == ["text", "labels", "time"]
    journal.append([Judgement({"title": "rye"}, [], wrong=["grain"], complete=False, key="k")])
    journal.undo([1])
    assert columns_of(run("export", folder, "--format", "csv").out) == [
        "title",
        "labels",
        "wrong",
        "complete",
        "time",
        "key",
    ]
    journal.close()


def change(**fields):
    return LabelChange(Change.of(fields))


def test_labels_have_their_present_names(folder, run):
    journal = Journal(folder)
    journal.append([Judgement("a", ["grain", "money"]), Judgement("b", ["money"], wrong=["grain"])])
    journal.append([change(change="merge", labels=["money", "trade"], into="trade")])
    journal.append([Judgement("c", ["grain"])])
    journal.append([change(change="rename", labels=["grain"], into="cereal")])
    journal.append([change(change="retire", labels=["cereal"])])
    journal.append([change(change="rename", labels=["trade"], into="taken back")])
    journal.undo([7])
    examples = [json.loads(line) for line in run("export", folder).out.splitlines()]
    assert [example["labels"] for example in examples] == [
        ["cereal", "trade"],
        ["trade"],
        ["cereal"],
    ]
    assert examples[1]["wrong"] == ["cereal"]
    journal.append([change(change="rename", labels=["trade"], into="a|b")])
    assert "holds |" in run("export", folder, "--format", "csv").err
    journal.close()


@pytest.fixture
def coded(tmp_path):
    """A state directory whose labels are codes with names."""
    model = sl.Categorizer().fit(["wheat corn", "bank rates"], [["p1"], ["p2"]])
    model.set_vocabulary(LabelVocabulary.from_names({"p1": "grain, and more", "p2": "money"}))
    path = tmp_path / "coded.shortlist"
    model.save(path)
    folder = tmp_path / "coded"
    folder.mkdir()
    snapshots.take_base(folder, path)
    journal = Journal(folder)
    journal.append([Judgement("rye", ["p1", "p2"])])
    journal.append([change(change="rename", labels=["p1"], into="p9")])
    journal.close()
    return folder


@pytest.mark.parametrize("layout", TABLES)
def test_names_stand_beside_codes(coded, run, tmp_path, layout):
    path = tmp_path / f"judged.{layout}"
    assert run("export", coded, "-o", path).code == 0  # the ending names the layout
    (batch,) = sl.read(path, label_separator="|", keep=["names"])
    assert [list(names) for names in batch.labels] == [["p9", "p2"]]
    assert batch.kept == [{"names": "grain, and more|money"}]
    with in_thread(coded) as server:
        answer = server.get("/v1/export", params={"format": layout})
        assert answer.content == path.read_bytes()


def test_names_in_json_lines(coded, run):
    (line,) = run("export", coded).out.splitlines()
    assert json.loads(line)["names"] == ["grain, and more", "money"]


def test_csv_for_excel(judged, run, tmp_path):
    path = tmp_path / "judged.csv"
    assert run("export", judged, "--excel", "-o", path).code == 0
    text = path.read_bytes()
    assert text.startswith("\ufefftext;labels;".encode())
    assert read_back(path, label_separator="|") == WANTED
    with in_thread(judged, read_only=True) as server:
        answer = server.get("/v1/export", params={"format": "csv", "excel": "true"})
        assert answer.content == text
    assert "--excel is for csv" in run("export", judged, "--excel", "--format", "jsonl").err


def test_what_excel_cannot_hold_is_refused(folder, run, tmp_path):
    journal = Journal(folder)
    journal.append([Judgement("x" * 32_768, ["grain"])])
    journal.close()
    assert "32,767 characters" in run("export", folder, "-o", tmp_path / "long.xlsx").err
    assert "name a file" in run("export", folder, "--format", "xlsx").err
