"""Model files: whole or not at all, nothing trusted, older formats read."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save_file

import shortlist as sl
from shortlist.files import store
from shortlist.files.store import FORMAT_VERSION, METADATA_KEY
from shortlist.learners.ratings.rating_learner import RatingLearner
from shortlist.models.model import learners


@pytest.fixture
def model():
    texts = ["wheat exports rose", "the bank raised rates", "corn and wheat"]
    return sl.Categorizer().learn_many(texts, [["grain", "trade"], "money", "grain"])


@pytest.fixture
def path(model, tmp_path):
    model.save(tmp_path / "m.shortlist")
    return tmp_path / "m.shortlist"


def parts(path):
    with safe_open(path, framework="numpy") as opened:
        arrays = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
        return arrays, json.loads(opened.metadata()[METADATA_KEY])


def rewrite(path, change):
    """Write the file again with something changed and the checksum made to fit, as an attacker
    would.
    """
    from shortlist.files.store import _checksum

    arrays, header = parts(path)
    change(arrays, header)
    header["checksum"] = _checksum(header["model"], arrays)
    save_file(arrays, path, metadata={METADATA_KEY: json.dumps(header)})


def test_the_file_is_what_the_safetensors_library_writes(path):
    before = path.read_bytes()
    rewrite(path, lambda arrays, header: None)
    assert path.read_bytes() == before


LEARNED = [*learners("categories").values(), *learners("ratings").values()]


def file_of(path, tmp_path):
    """A model file: the one given, or that of a learner."""
    if isinstance(path, Path):
        return path
    rows, truth = (
        np.eye(6),
        [1, 2, 3, 1, 2, 3] if issubclass(path.func, RatingLearner) else list("abcabc"),
    )
    path().fit(rows, truth).save(tmp_path / "m.shortlist")
    return tmp_path / "m.shortlist"


@pytest.mark.parametrize("path", LEARNED)
def test_to_make_a_model_changes_nothing_of_what_its_checksum_is_computed_of(path, tmp_path):
    """It is computed meanwhile."""
    state = store.read(file_of(path, tmp_path))
    before = store.checksum(state)
    store.build(state)
    assert store.checksum(state) == before


def test_a_file_that_is_damaged_is_known_by_its_checksum_first(path):
    """Whatever else is wrong with what it holds, which is found out at the same time."""
    arrays, header = parts(path)
    arrays["learner/edge_label"][0] = -1
    save_file(arrays, path, metadata={METADATA_KEY: json.dumps(header)})
    with pytest.raises(sl.ModelFileError, match="do not match its checksum"):
        sl.load(path)
    with pytest.raises(sl.ModelFileError, match="do not match its checksum"):
        store.read(path)


@pytest.mark.parametrize("both", [True, False])
def test_of_two_parts_that_are_refused_the_first_says_why(path, both):
    def change(arrays, header):
        arrays["learner/edge_label"][0] = -1
        if both:
            arrays["text/name_lengths"][0] = -1

    rewrite(path, change)
    with pytest.raises(
        sl.ModelFileError, match="TextVectorizer" if both else "edges lead to known labels"
    ):
        sl.load(path)


def test_a_loaded_model_ranks_as_before(model, path):
    loaded = sl.load(path)
    assert list(loaded.rank("wheat rates")) == list(model.rank("wheat rates"))
    assert loaded.explain("wheat rates", "grain") == model.explain("wheat rates", "grain")


def test_learning_after_loading_leaves_the_file_alone(path):
    before = path.read_bytes()
    loaded = sl.load(path)
    for _ in range(50):
        loaded.learn("wheat harvest in the plains", "farming")
    assert loaded.rank("wheat harvest")[0][0] == "farming"
    assert path.read_bytes() == before


def test_the_file_has_the_usual_permissions(path):
    mask = os.umask(0)
    os.umask(mask)
    assert path.stat().st_mode & 0o777 == 0o666 & ~mask


@pytest.mark.parametrize("keep", [0, 4, 100, 2000, -1])
def test_a_truncated_file_is_refused(path, keep):
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(sl.ModelFileError, match=r"m\.shortlist"):
        sl.load(path)


def test_any_changed_byte_is_noticed(path):
    whole = path.read_bytes()
    for position in range(0, len(whole), 97):
        path.write_bytes(whole[:position] + bytes([whole[position] ^ 1]) + whole[position + 1 :])
        with pytest.raises(sl.ModelFileError):
            sl.load(path)


def set_version(arrays, header):
    header["format"] = FORMAT_VERSION + 1


def set_kind(arrays, header):
    header["model"]["parts"]["learner"]["kind"] = "load"


def set_code(arrays, header):
    header["model"]["kind"] = "__import__"


def set_class(arrays, header):
    arrays["learner/edge_label"][0] = 1_000_000


def set_negative_class(arrays, header):
    arrays["learner/edge_label"][0] = -5


def set_length(arrays, header):
    arrays["learner/length"][0] += 1_000


def set_weight(arrays, header):
    arrays["learner/edge_weight"][0] = np.nan


def set_type(arrays, header):
    arrays["learner/total"] = arrays["learner/total"].astype(np.float32)


def drop_array(arrays, header):
    del arrays["learner/seen"]


def set_features(arrays, header):
    header["model"]["parts"]["learner"]["settings"]["n_features"] = 10**9


def set_parameter(arrays, header):
    header["model"]["parts"]["learner"]["settings"]["parameters"]["max_edges"] = -4


def add_parameter(arrays, header):
    header["model"]["parts"]["learner"]["settings"]["parameters"]["surprise"] = 1


def set_labels(arrays, header):
    arrays["learner/labels"] = np.frombuffer(b'["grain", "grain", "money"]', dtype=np.uint8)


def nest_labels(arrays, header):
    arrays["learner/labels"] = np.frombuffer(b"[" * 100_000 + b"]" * 100_000, dtype=np.uint8)


def set_ends(arrays, header):
    """Lengths that add up to those of names that follow one another."""
    lengths = arrays["text/name_lengths"]
    total = lengths.sum()
    lengths[:] = 0
    lengths[:3] = [2**31 - 1, -(2**31) + 1, total]


def set_half_precision(arrays, header):
    arrays["learner/total"] = arrays["learner/total"].astype(np.float16)


def drop_part(arrays, header):
    del header["model"]["parts"]["text"]


@pytest.mark.parametrize(
    "change",
    [
        set_version,
        set_kind,
        set_code,
        set_class,
        set_negative_class,
        set_length,
        set_weight,
        set_type,
        drop_array,
        set_features,
        set_parameter,
        add_parameter,
        set_labels,
        nest_labels,
        set_ends,
        set_half_precision,
        drop_part,
    ],
)
def test_a_tampered_file_with_a_fitting_checksum_is_refused(path, change):
    rewrite(path, change)
    with pytest.raises(sl.ShortlistError):
        sl.load(path)


def test_a_newer_format_says_to_upgrade(path):
    rewrite(path, set_version)
    with pytest.raises(sl.ModelFileError, match="upgrade"):
        sl.load(path)


def test_other_files_are_refused(tmp_path):
    other = tmp_path / "other.safetensors"
    save_file({"x": np.ones(3)}, other)
    with pytest.raises(sl.ModelFileError, match="not written by shortlist"):
        sl.load(other)
    with pytest.raises(sl.ModelFileError, match="no model file"):
        sl.load(tmp_path / "absent")
    with pytest.raises(sl.ModelFileError):
        sl.load(tmp_path)


def test_only_an_ordinary_file_is_replaced(path, model, tmp_path):
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    with pytest.raises(sl.ModelFileError, match="not a regular file"):
        model.save(pipe)
    assert pipe.is_fifo()
    with pytest.raises(sl.ModelFileError, match="not a regular file"):
        model.save(tmp_path)
    link.symlink_to(path)
    model.learn("one more", "thing")
    model.save(link)
    assert link.is_symlink()
    assert "thing" in sl.load(path).classes_


def test_what_is_no_ordinary_file_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    names = ["/dev/zero", str(tmp_path / "pipe"), str(tmp_path / "folder")]
    script = f"""
import shortlist as sl
for name in {names!r}:
    try:
        sl.load(name)
    except sl.ModelFileError as problem:
        print(problem)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=300
    )
    lines = done.stdout.splitlines()
    assert [
        line.startswith(f"cannot read {name}: ") for line, name in zip(lines, names, strict=True)
    ] == [True] * 3


@pytest.mark.long
def test_what_happens_to_the_file_does_not_reach_an_opened_model(tmp_path):
    """In a process of its own: what is mapped from a file that was cut short ends the process
    that reads it.
    """
    script = """
import os
import numpy as np
import shortlist as sl
random = np.random.default_rng(0)
X = (random.random((300, 300)) < 0.1) * random.random((300, 300))
for learner in (sl.Rocchio(), sl.MMP(), sl.TunedIndex()):
    learner.fit(X, [[f"label {i % 40}"] for i in range(300)])
    for how in ("overwritten", "cut short"):
        learner.save("m.shortlist")
        model = sl.load("m.shortlist")
        size = os.path.getsize("m.shortlist")
        with open("m.shortlist", "rb+") as file:
            if how == "overwritten":
                file.seek(size // 4)
                file.write(random.bytes(size - size // 4))
            else:
                file.truncate(100)
        assert model.rank(X, 5).ids.tolist() == learner.rank(X, 5).ids.tolist()
        model.partial_fit(X, [["new"]] * 300).rank(X, 5)
print("unharmed")
"""
    command, environment = (
        [sys.executable, "-c", script],
        os.environ | {"PYTHONPATH": str(Path.cwd())},
    )
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment)
    assert (done.returncode, done.stdout) == (0, "unharmed\n"), done.stderr


def hidden(folder):
    return sorted(entry.name for entry in folder.iterdir() if entry.name.startswith("."))


def start_saving(path):
    """A process that has begun to save to that file, and goes no further."""
    script = f"""
import sys, time
from pathlib import Path
from shortlist.files.drafts import whole_file
with whole_file(Path({str(path)!r})) as file:
    file.write(b"some of it")
    file.flush()
    print("begun", flush=True)
    time.sleep(600)
"""
    command, environment = (
        [sys.executable, "-c", script],
        os.environ | {"PYTHONPATH": str(Path.cwd())},
    )
    saving = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    assert saving.stdout.readline() == "begun\n"
    return saving


def test_the_next_save_removes_the_drafts_of_killed_processes_and_no_others(path, model):
    folder = path.parent
    (folder / ".m.shortlist.settings").write_text("somebody's own file")
    killed, other, alive = (
        start_saving(path),
        start_saving(folder / "other.shortlist"),
        start_saving(path),
    )
    try:
        assert len(hidden(folder)) == 4
        for one in (killed, other):
            one.kill()
            one.wait()
        model.save(path)
        left = hidden(folder)
        assert ".m.shortlist.settings" in left
        assert [name.split(".")[1] for name in left] == ["m", "m", "other"]
        alive.kill()
        alive.wait()
        model.save(path)
        assert hidden(folder) == [name for name in left if "other" in name or "settings" in name]
    finally:
        for one in (killed, other, alive):
            one.kill()
            one.wait()
            one.stdout.close()
    assert "grain" in sl.load(path).classes_


def test_a_draft_removed_before_it_was_locked_is_begun_again(path, model, monkeypatch):
    from shortlist.files import drafts

    made, lock = [], drafts.fcntl.flock

    def lose_the_first_and_lock(draft, how):
        made.append(draft.name)
        if len(made) == 1:
            os.unlink(draft.name)
        lock(draft, how)

    monkeypatch.setattr(drafts.fcntl, "flock", lose_the_first_and_lock)
    model.learn("one more", "thing")
    model.save(path)
    assert len(made) == 2
    assert "thing" in sl.load(path).classes_


def test_a_failed_save_leaves_the_old_file(path, model):
    before = path.read_bytes()
    model.learn("one more", "thing")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "os.replace",
            lambda *paths: (_ for _ in ()).throw(OSError(28, "No space left on device")),
        )
        with pytest.raises(sl.ModelFileError, match=r"No space left.*nothing was changed"):
            model.save(path)
    assert path.read_bytes() == before
    assert [entry.name for entry in path.parent.iterdir()] == ["m.shortlist"]


@pytest.mark.long
def test_a_full_disk_while_saving_leaves_the_old_file(path):
    """The system itself refuses to write more than a few blocks, as on a full disk."""
    before = path.read_bytes()
    script = f"""
import resource, signal
import shortlist as sl
model = sl.load({str(path)!r})
for i in range(200):
    model.learn(" ".join(f"word{{i}}x{{n}}" for n in range(50)), "label")
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
try:
    model.save({str(path)!r})
except sl.ModelFileError as problem:
    print("refused:", problem)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=Path.cwd()
    )
    assert done.stdout.startswith("refused: cannot write"), done.stderr
    assert path.read_bytes() == before
    assert [entry.name for entry in path.parent.iterdir()] == ["m.shortlist"]


def test_saving_where_nothing_can_be_written(model, tmp_path):
    with pytest.raises(sl.ModelFileError, match="cannot write"):
        model.save(tmp_path / "absent" / "m.shortlist")


def test_the_kind_that_a_file_must_hold(path):
    assert isinstance(sl.load(path, kind=sl.Categorizer), sl.Categorizer)
    with pytest.raises(sl.ModelFileError, match="holds a Categorizer, not a PRank"):
        sl.load(path, kind=sl.PRank)
