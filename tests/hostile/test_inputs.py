"""A few thousand damaged inputs; ``python -m tests.hostile.inputs --long`` tries a million."""

import io

import pytest

from shortlist import InputError, read
from tests.hostile import batches, inputs


@pytest.mark.long
def test_damaged_inputs_are_read_or_refused():
    total, findings = batches.run("tests.hostile.inputs", 3000, seed=7)
    assert findings == []
    assert total["read"] + total["refused"] == 3000
    assert min(total["read"], total["refused"]) > 300


@pytest.mark.parametrize(
    ("format", "data", "options"),
    [
        ("numbers", b"a%b,b\nx,1\n", {"target": "b"}),
        ("numbers", b"a%b,b\n1,1\n", {"target": "c"}),
        ("csv", b"a%b,b\n1,1\n", {}),
        ("json-lines", b'{"text": "a", "labels": {"b": "%b"}}\n', {}),
        ("cranfield", b".I 1%b\n.W\na\n", {}),
        (
            "arff",
            b"@relation x\n@attribute a {%b,b}\n@attribute b {0,1}\n@data\nc,0\n",
            {"label_count": -1},
        ),
    ],
)
def test_a_sentence_about_a_long_cell_is_short(format, data, options):
    with pytest.raises(InputError) as refusal:
        list(read(io.BytesIO(data % (b"1" * 5000)), format, **options))
    assert len(str(refusal.value)) < batches.LONGEST


def test_a_trial_can_be_had_again():
    rng = [batches.random.Random("3 5") for _ in range(2)]
    data = [inputs.mutated(one, b"one\ntwo\n" * 9) for one in rng]
    assert data[0] == data[1]
