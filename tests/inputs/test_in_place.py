"""What kernels find where it lies in a block is what Python's own parsers and ``str`` methods find."""

import itertools
import json

from hypothesis import given
from hypothesis import strategies as st

from shortlist.inputs.parsing.cells import SPACES, LabelCells, even_columns
from shortlist.inputs.parsing.json_kernel import usual_records
from shortlist.inputs.parsing.table import Table

letters = st.sampled_from("ab;|, \t\u00a0\u2003\u3000\x1c\x85é😀")
cells = st.lists(st.text(letters, max_size=12), max_size=6)


def test_white_space_is_what_python_says():
    assert [chr(code) for code in range(0x110000) if chr(code).isspace()] == [chr(code) for code in SPACES.nonzero()[0]]


@given(st.lists(cells, max_size=3), st.sampled_from([None, " ", ";", "; ", "||", ";;", "é"]))
def test_labels_are_split_as_str_does(batches, separator):
    table, labels = Table(label_separator=separator), LabelCells()
    found = [labels.split(batch, separator) for batch in batches]
    assert found == [[table.split_labels(cell) for cell in batch] for batch in batches]
    names = [name for batch in found for own in batch for name in own]
    assert all(batch.names == list(dict.fromkeys(names)) for batch in found)  # they share them


@given(st.lists(st.lists(st.text(st.sampled_from("abé\r\0 😀"), max_size=5), min_size=1, max_size=4), max_size=4))
def test_columns_are_cut_as_str_does(rows):
    block = "".join("\t".join(row) + "\n" for row in rows).encode()
    for width in (1, 2, 3):
        columns = even_columns(block, "\t", width)
        if width > 1 and rows and all(len(row) == width for row in rows):
            assert columns == [list(column) for column in zip(*rows, strict=True)]
        else:
            assert columns is None


def test_what_is_not_utf_8_is_left_to_others():
    assert even_columns(b"a\t\xff\n", "\t", 2) is None
    assert usual_records(b'{"text": "\xff", "labels": []}\n', "text", "labels") is None


def usual(block):
    """The records of a block as Python's parser reads them; None where one is not usual, or wrong."""
    found = []
    for line in block.decode().split("\n")[:-1]:
        if not line.strip(" \t\r"):
            continue
        try:
            names = [name for name, _ in json.loads(line, object_pairs_hook=list)]
            record = json.loads(line)
            if names.count("text") != 1 or names.count("labels") != 1:
                return None
            text, labels = record.pop("text"), record.pop("labels")
            if not isinstance(labels, list) or any(not isinstance(own, str) for own in [text, *labels]):
                return None
            if any(not own or own[0].isspace() for own in labels):  # it may be blank, and no label
                return None
            if any(not isinstance(value, (str, int, float)) or isinstance(value, bool) for value in record.values()):
                return None
            "".join([text, *labels, *record, *map(str, record.values())]).encode()  # no halves of characters
        except (ValueError, TypeError, AttributeError):
            return None
        found.append((text, labels))
    return found


PIECES = [*'"\\,:{}[] \n\t0-.eEu1', "\\u00e9", "\\ud83d\\ude00", "\\ud83d", "\x01"]
any_text = st.text(st.sampled_from('ab"\\/\b\f\n\r\t\0\x1f {}[]:,é\u2028😀'), max_size=6)
numbers = st.one_of(st.integers(), st.floats(allow_nan=False, allow_infinity=False))
records = st.fixed_dictionaries(
    {"text": any_text, "labels": st.lists(any_text, max_size=3)},
    optional={"id": st.one_of(numbers, any_text, st.none(), st.booleans(), st.lists(numbers)), 'a"b': any_text},
)


@given(st.lists(records, max_size=3), st.booleans(), st.sampled_from([None, (",", ":"), (" ,\t", "  : ")]), st.data())
def test_usual_records_are_those_of_json(listed, ascii_only, separators, data):
    block = "".join(json.dumps(one, ensure_ascii=ascii_only, separators=separators) + "\n" for one in listed)
    assert usual(block.encode()) in (None, [(one["text"], one["labels"]) for one in listed])
    check(block)
    for _ in range(3):  # damage it
        at = data.draw(st.integers(0, len(block)))
        put = data.draw(st.sampled_from(PIECES))
        block = block[:at] + put + block[at + data.draw(st.integers(0, 2)) :]
        check(block + "\n")


TEXT = '{"text": "a", "labels": []'  # and what may not follow
WRONG = [
    "{}", '["text"]', '{"text": "a"}', TEXT, TEXT + ",}", TEXT + "} x", TEXT + ', "text": "b"}', TEXT + ', "n": [1]}',
    TEXT + ', "n": nul}', TEXT + ', "n": 01}', TEXT + ', "n": 1.}', TEXT + ', "n": -}', TEXT + ', "n": 1e}',
    '{"text": "a" "labels": []}', '{"text": 1, "labels": []}', '{"text": "a", "labels": "x"}',
    '{"text": "a", "labels": ["x",]}', '{"text": "a", "labels": [,]}', '{"text": "a", "labels": [1]}',
    '{"text": "a", "labels": ["', '{"text": "a', '{"text": "\\', '{"text": "\\u12', '{"text": "\t", "labels": []}',
    '{"text": "\\x", "labels": []}', '{"text": "\\ud83d", "labels": []}', '{"text": "\\ude00", "labels": []}',
    '{"text": "\\ud83d\\u0041", "labels": []}',
]  # fmt: skip


def test_other_lines_are_left_to_a_whole_parser():
    good = '{"labels": ["x", "y"], "n": -0.5e+3, "text": "\\u00e9\\ud83d\\ude00\\n"}'
    check(f"{good}\n \t\n{good}\n", [("é😀\n", ["x", "y"])] * 2)
    for line in WRONG:
        check(f"{good}\n{line}\n{good}\n", None)


def check(block, expected=Ellipsis):
    found = usual_records(block.encode(), "text", "labels") if block else None
    if expected is Ellipsis:
        expected = usual(block.encode())
    if found is None:
        assert expected is None or not block
    else:
        texts, labels, indptr = found
        parts = [labels[a:b] for a, b in itertools.pairwise(indptr)]
        assert list(zip(texts, parts, strict=True)) == expected
