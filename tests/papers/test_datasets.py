"""Data sets are found as folders and archives, unpacked safely, and missing ones are described."""

import io
import os
import tarfile
import zipfile

import pytest

from papers import archives, datasets
from papers.datasets import DATASETS
from papers.finding import content_digest, find, lay_out
from shortlist import InputError

RATINGS = b"1\t1\t5\t0\n2\t1\t3\t0\n"


def tar(path, members):
    with tarfile.open(path, "w:xz" if path.suffix == ".xz" else "w:gz") as archive:
        for member in members:
            name, content, kind = (*member, None)[:3]
            info = tarfile.TarInfo(name)
            if kind:
                info.type, info.linkname = kind, content
                archive.addfile(info)
            else:
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))


@pytest.fixture
def data(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    return folder


@pytest.mark.parametrize("folder", ["movielens100k", "ml-100k", "."])
def test_a_folder_is_found_under_every_name(data, tmp_path, folder):
    (data / folder).mkdir(exist_ok=True)
    (data / folder / "u.data").write_bytes(RATINGS)
    assert (find(data, "movielens", tmp_path / "cache") / "u.data").read_bytes() == RATINGS
    root = lay_out(data, ["movielens"], tmp_path / "cache")
    assert (root / "movielens100k" / "u.data").read_bytes() == RATINGS
    assert root == (data if folder == "movielens100k" else tmp_path / "cache")


def test_the_publishers_zip_and_our_tar_are_unpacked_once(data, tmp_path):
    with zipfile.ZipFile(data / "ml-100k.zip", "w") as archive:
        archive.writestr("ml-100k/u.data", RATINGS)
        archive.writestr("ml-100k/README", "read me")
    cache = tmp_path / "cache"
    folder = find(data, "movielens", cache)
    assert (folder / "u.data").read_bytes() == RATINGS
    (folder / "u.data").write_bytes(b"changed")  # a second unpacking would restore it
    assert (find(data, "movielens", cache) / "u.data").read_bytes() == b"changed"
    # no folder in it
    tar(data / "cran.tar.gz", [("cran.all.1400", b"a"), ("cran.qry", b"b"), ("cranqrel", b"c")])
    tar(
        data / "letor_ohsumed.tar.xz",
        [(f"letor_ohsumed/fold{i}_test.txt", b"x") for i in range(1, 6)],
    )
    root = lay_out(data, ["movielens", "cranfield", "ohsumed"], cache)
    for name in ("movielens", "cranfield", "ohsumed"):
        assert (root / DATASETS[name].folder / DATASETS[name].marker).exists()
    assert not [path for path in cache.iterdir() if path.name.startswith(".unpacking")]


def test_a_laid_out_set_and_an_archive_come_together(data, tmp_path):
    (data / "cranfield").mkdir()
    (data / "cranfield" / "cran.all.1400").write_text("abstracts")
    tar(data / "movielens100k.tar.xz", [("movielens100k/u.data", RATINGS)])
    for _ in range(2):
        root = lay_out(data, ["cranfield", "movielens"], tmp_path / "cache")
        assert (root / "cranfield" / "cran.all.1400").read_text() == "abstracts"
        assert (root / "movielens100k" / "u.data").read_bytes() == RATINGS


def test_a_link_of_an_earlier_run_does_not_lead_astray(data, tmp_path):
    cache = tmp_path / "cache"
    (data / "ml-100k").mkdir()
    (data / "ml-100k" / "u.data").write_bytes(RATINGS)
    lay_out(data, ["movielens"], cache)
    (data / "ml-100k").rename(tmp_path / "gone")
    with pytest.raises(InputError, match="is not in"):
        lay_out(data, ["movielens"], cache)
    tar(data / "movielens100k.tar.xz", [("movielens100k/u.data", b"other")])
    assert (
        lay_out(data, ["movielens"], cache) / "movielens100k" / "u.data"
    ).read_bytes() == b"other"


@pytest.mark.parametrize(
    "member",
    [
        ("../outside", b"x"),
        ("a/../../outside", b"x"),
        ("way/out", "../../outside", tarfile.SYMTYPE),
        ("way/out", "../../outside", tarfile.LNKTYPE),
        ("device", "", tarfile.CHRTYPE),
    ],
)
def test_what_would_land_outside_is_refused(data, tmp_path, member):
    tar(data / "cran.tar.gz", [("cran.all.1400", b"a"), member])
    with pytest.raises(InputError, match="cannot unpack"):
        find(data, "cranfield", tmp_path / "cache")
    assert not (tmp_path / "cache" / "cranfield").exists()
    assert not (tmp_path / "outside").exists()


@pytest.mark.parametrize("name", ["../outside", "/outside", "a/../../outside", "c:\\outside"])
def test_a_zip_that_would_land_outside_is_refused(data, tmp_path, name):
    with zipfile.ZipFile(data / "ml-100k.zip", "w") as archive:
        archive.writestr("ml-100k/u.data", RATINGS)
        archive.writestr(name, "x")
    with pytest.raises(InputError, match="land outside"):
        find(data, "movielens", tmp_path / "cache")


def test_archives_that_are_none_or_hold_something_else(data, tmp_path, monkeypatch):
    (data / "cran.tar.gz").write_bytes(b"this is not an archive")
    with pytest.raises(InputError, match=r"cannot unpack .*cran\.tar\.gz"):
        find(data, "cranfield", tmp_path / "cache")
    tar(data / "cran.tar.gz", [("other", b"a")])
    with pytest.raises(InputError, match=r"does not hold cran\.all\.1400"):
        find(data, "cranfield", tmp_path / "cache")
    whole = data / "cran.tar.gz"
    tar(whole, [("cran.all.1400", os.urandom(5000))])
    whole.write_bytes(whole.read_bytes()[:2000])
    with pytest.raises(InputError, match="cannot unpack"):
        find(data, "cranfield", tmp_path / "cache")
    tar(whole, [("cran.all.1400", b"a" * 5000)])
    monkeypatch.setattr(archives, "MOST_BYTES", 4000)
    with pytest.raises(InputError, match="5,000 bytes"):
        find(data, "cranfield", tmp_path / "cache")


@pytest.mark.parametrize("name", DATASETS)
def test_a_missing_set_is_described(name, data, tmp_path):
    one = DATASETS[name]
    with pytest.raises(InputError) as told:
        find(data, name, tmp_path / "cache")
    for part in (
        one.what,
        one.publisher,
        one.address,
        one.size,
        one.licence,
        one.folder,
        str(data),
    ):
        assert part in str(told.value)
    assert ("--fetch" in str(told.value)) == bool(one.remotes)
    assert one.remotes or one.by_hand


def test_unknown_names_are_refused():
    with pytest.raises(InputError, match="there is no data set 'ads'; there are reuters21578"):
        datasets.dataset("ads")


def test_the_digest_sees_every_change(tmp_path):
    def digest():
        return content_digest(tmp_path, "*.txt")

    (tmp_path / "a.txt").write_text("one")
    (tmp_path / "b.txt").write_text("two")
    (tmp_path / "NOTES").write_text("not read")
    first = digest()
    (tmp_path / "NOTES").write_text("still not read")
    assert digest() == first
    for change in (("a.txt", "onet"), ("b.txt", "wo"), ("c.txt", "")):
        (tmp_path / change[0]).write_text(change[1])
        assert digest() != first
        first = digest()


@pytest.mark.data
@pytest.mark.parametrize(
    "name", [n for n, one in DATASETS.items() if one.digest and not n.startswith("newsgroups")]
)
def test_the_sets_here_are_those_that_were_measured(name, data_folder):
    one = DATASETS[name]
    archive = next((a.partition(".")[0] for a in one.archives if a.endswith(".xz")), one.folder)
    folder = data_folder(archive, one.folder)
    assert content_digest(folder, one.files) == one.digest
