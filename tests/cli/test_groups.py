"""shortlist groups."""

import shortlist as sl
from tests.cli.test_bad_input import refused

STOLEN = [f"parcel stolen from the porch {n}" for n in range(4)]


def test_groups(run, tmp_path):
    path = tmp_path / "m.shortlist"
    sl.Categorizer().learn_many(["wheat corn", "bank rates"] * 8, ["grain", "money"] * 8).save(path)
    file = tmp_path / "mail.txt"
    file.write_text("\n".join([*STOLEN, "wheat", "bank"]) + "\n")
    before = path.read_bytes()
    found = run("groups", path, file, "--json").json
    assert found["texts"] == 6
    (group,) = found["groups"]
    assert sorted(group["numbers"]) == [0, 1, 2, 3]
    assert group["typical"][0] in STOLEN
    shown = run("groups", path, file).out
    assert "1 group in 6 texts" in shown
    assert "stolen" in shown
    assert path.read_bytes() == before
    file.write_text("wheat\n")
    assert run("groups", path, file, "--json").json == {"texts": 1, "groups": []}
    assert "0 groups in 1 text" in run("groups", path, file).out


def test_models_without_labels_of_texts(run, tmp_path):
    path = tmp_path / "rows.shortlist"
    sl.RowCategorizer().fit([[1.0, 0.0], [0.0, 1.0]], ["a", "b"]).save(path)
    refused(run("groups", path), "models of texts with labels")
