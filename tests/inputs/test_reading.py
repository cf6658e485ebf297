"""What holds whatever the format: compression, encodings, sniffing, progress, limits, options."""

import bz2
import gc
import gzip
import io
import lzma
import os
import sys
import tempfile
import zlib

import pytest

from shortlist import InputError
from shortlist.inputs import FORMATS, read, sniff
from shortlist.inputs.source import Progress, Source, _zstd

LINES = "first line\nsecond lïne\n\nfourth"
TEXTS = ["first line", "second lïne", "", "fourth"]


def texts_of(stream):
    return [text for batch in stream for text in batch.texts]


def zst(data):
    zstd = _zstd()
    return zstd.compress(data) if zstd else pytest.skip("there is no zstd module")


COMPRESSIONS = {"gz": gzip.compress, "xz": lzma.compress, "bz2": bz2.compress, "zst": zst}


@pytest.mark.parametrize("compress", [bytes, *COMPRESSIONS.values()], ids=["plain", *COMPRESSIONS])
def test_compression_is_recognised_by_content(compress, tmp_path, monkeypatch):
    data = compress(LINES.encode())
    path = tmp_path / "data.txt"  # whatever it is called
    path.write_bytes(data)
    assert texts_of(read(path)) == TEXTS
    assert texts_of(read(str(path))) == TEXTS
    assert texts_of(read(io.BytesIO(data))) == TEXTS
    with open(path, "rb") as opened:
        assert sniff(opened) == "lines"
        assert texts_of(read(opened)) == TEXTS
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert texts_of(read("-")) == TEXTS


@pytest.mark.parametrize("compress", COMPRESSIONS.values(), ids=COMPRESSIONS)
def test_parts_compressed_one_by_one_are_read_one_after_another(compress):
    assert texts_of(read(io.BytesIO(compress(b"a\nb\n") + compress(b"c\n")))) == ["a", "b", "c"]


@pytest.mark.parametrize("compress", COMPRESSIONS.values(), ids=COMPRESSIONS)
def test_compressed_data_that_stop_or_are_damaged(compress, tmp_path):
    data = compress(b"".join(b"%d\n" % (i * i) for i in range(20_000)))
    path = tmp_path / "half"
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(InputError, match=r"cannot read .*half: its compressed data end too early"):
        texts_of(read(path, "lines", skip_bad=True))
    middle = len(data) // 2
    path.write_bytes(data[:middle] + bytes(200) + data[middle + 200 :])
    with pytest.raises(InputError, match=r"cannot read .*half: "):
        texts_of(read(path, "lines"))


def test_byte_order_marks_and_line_ends():
    assert texts_of(read(io.BytesIO(b"\xef\xbb\xbfone\r\ntwo\r\n"))) == ["one", "two"]
    assert texts_of(read(io.BytesIO("one\r\ntwo é".encode("utf-16")))) == ["one", "two é"]
    assert texts_of(read(io.BytesIO(b"one\r\ntwo\r"))) == ["one", "two"]


def test_wrong_encoding_names_line_and_column(tmp_path):
    path = tmp_path / "latin.txt"
    path.write_bytes("plain\nse\u00f1or café\nlast".encode("latin-1"))
    with pytest.raises(
        InputError,
        match=r"txt, line 2, column 3: expected text in UTF-8, found the byte 0xf1.*--encoding",
    ):
        texts_of(read(path))
    assert texts_of(read(path, encoding="latin-1")) == ["plain", "señor café", "last"]
    stream = read(path, skip_bad=True)
    assert texts_of(stream) == ["plain", "last"]
    assert stream.skipped.count == 1
    assert "line 2" in stream.skipped.sentences[0]
    with pytest.raises(
        InputError, match=r"line 1, column 2: expected text in cp1252, found the byte 0x81"
    ):
        texts_of(read(io.BytesIO(b"a\x81"), "lines", encoding="cp1252"))
    for wrong in ("no such", "rot13", "a\0b"):
        with pytest.raises(InputError, match="there is no text encoding"):
            texts_of(read(path, encoding=wrong))


@pytest.mark.parametrize("batch", [1, 2, 3, 7, 64])
def test_batches_do_not_change_what_is_read(batch):
    data = "".join(f"{'é' * (i % 5)} {i}\r\n" for i in range(50))
    assert texts_of(read(io.BytesIO(data.encode()), batch=batch)) == data.split("\r\n")[:-1]


def test_a_line_of_100_megabytes_is_refused_and_skipped_in_bounded_memory(tmp_path):
    import tracemalloc

    bomb = tmp_path / "bomb.txt.gz"
    with gzip.open(bomb, "wb", compresslevel=1) as file:
        file.write(b"before\n")
        for _ in range(100):
            file.write(bytes(1 << 20))
        file.write(b"\nafter\n")
    assert bomb.stat().st_size < 1 << 20
    tracemalloc.start()
    try:
        with pytest.raises(
            InputError,
            match=r"bomb.txt.gz, line 2, column 1: expected a record of at most 67108864",
        ):
            texts_of(read(bomb, "lines"))
        stream = read(bomb, "lines", skip_bad=True, max_record=1 << 22)
        tracemalloc.reset_peak()
        assert texts_of(stream) == ["before", "after"]
        assert stream.skipped.count == 1
        assert tracemalloc.get_traced_memory()[1] < 16 << 20
    finally:
        tracemalloc.stop()


def test_archives_that_ask_for_too_much_memory_are_refused():
    small = bytearray(lzma.compress(b"text\n"))
    # of the first block, whose fifth byte is the dictionary's size
    header = slice(12, 12 + (small[12] + 1) * 4 - 4)
    small[16] = 40  # 4 GiB
    small[header.stop : header.stop + 4] = zlib.crc32(small[header]).to_bytes(4, "little")
    with pytest.raises(InputError, match="cannot read <BytesIO>: Memory usage limit exceeded"):
        texts_of(read(io.BytesIO(bytes(small)), "lines"))
    zst(b"")  # skips where there is none
    # a window of 1 GiB
    frame = b"\x28\xb5\x2f\xfd\x00" + bytes([(30 - 10) << 3]) + b"\x29\x00\x00text\n"
    with pytest.raises(InputError, match="too much memory"):
        texts_of(read(io.BytesIO(frame), "lines"))
    modest = frame[:5] + bytes([(20 - 10) << 3]) + frame[6:]
    assert texts_of(read(io.BytesIO(modest), "lines")) == ["text"]


def test_max_record_is_exact():
    for extra, batch in ((0, 1), (0, 100), (1, 1), (1, 4), (1, 100)):
        stream = read(
            io.BytesIO(b"ab\n" + b"x" * (9 + extra) + b"\ncd"),
            batch=batch,
            max_record=10,
            skip_bad=True,
        )
        assert texts_of(stream) == (["ab", "cd"] if extra else ["ab", "x" * 9, "cd"])
        assert stream.skipped.count == extra


@pytest.mark.parametrize("batch", [1, 4, 100])
def test_lines_are_counted_rightly_after_one_that_is_too_long(batch):
    stream = read(
        io.BytesIO(b"ab\n" + b"x" * 30 + b"\ncd\n\xff\n"),
        "lines",
        batch=batch,
        max_record=10,
        skip_bad=True,
    )
    assert texts_of(stream) == ["ab", "cd"]
    assert [sentence.partition(":")[0] for sentence in stream.skipped.sentences] == [
        "<BytesIO>, line 2, column 1",
        "<BytesIO>, line 4, column 1",
    ]


def test_progress(tmp_path):
    path = tmp_path / "many.txt"
    path.write_text("line\n" * 100_000)
    stream = read(path, batch=1000)
    assert stream.bytes_total == 500_000
    seen = [stream.bytes_read for _ in stream]
    assert seen == sorted(seen)
    assert seen[0] < 10_000 + (1 << 16)
    assert seen[-1] == 500_000
    assert read(io.BytesIO(b"a"), "lines").bytes_total is None


@pytest.mark.parametrize("format", ["lines", None])
def test_what_comes_through_a_pipe_is_read_at_once(format):
    end, beginning = os.pipe()
    with open(end, "rb") as reading, open(beginning, "wb", buffering=0) as writing:
        writing.write(b"a first line\nand ha")
        batches = iter(read(reading, format))
        assert next(batches).texts == ["a first line"]
        writing.write(b"lf a line\nand\n")
        assert next(batches).texts == ["and half a line", "and"]
        writing.write(b"the end")
        writing.close()
        assert next(batches).texts == ["the end"]
        assert next(batches, None) is None


@pytest.mark.parametrize("name", ["binary", "binary.csv", "binary.jsonl", "binary.txt"])
def test_a_file_that_holds_no_text(name, tmp_path):
    for data in (bytes(range(256)), b"\r\0\r\0", "text,labels\nhello,a\n".encode("utf-16-le")):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(
            InputError, match=f"{name} holds no text, or text in an encoding that has to be named"
        ):
            read(tmp_path / name)
    (tmp_path / "wide.csv").write_bytes("text,labels\nhello,a\n".encode("utf-16-le"))
    assert texts_of(read(tmp_path / "wide.csv", encoding="utf-16-le")) == ["hello"]
    (tmp_path / "one.csv").write_text("text,labels\nhello\0 world and all,a\n")
    assert texts_of(read(tmp_path / "one.csv")) == ["hello\0 world and all"]


def test_archives_are_to_be_unpacked(tmp_path):
    for name in ("some.zip", "some.tar", "some.tar.gz"):
        (tmp_path / name).write_bytes(gzip.compress(b"some.csv\0\0"))
        with pytest.raises(InputError, match=f"{name} is an archive; unpack it"):
            read(tmp_path / name)


def test_no_file_and_no_format(tmp_path):
    with pytest.raises(InputError, match="there is no file or folder nowhere"):
        read("nowhere")
    for wrong in (3, None, "a\0b"):
        with pytest.raises(InputError):
            read(wrong)
    (tmp_path / "empty").touch()
    with pytest.raises(InputError, match="empty is empty"):
        read(tmp_path / "empty")
    (tmp_path / "odd").write_text("one line that holds a \0 of all letters")
    with pytest.raises(InputError, match="odd is of no format that is recognised; name one of"):
        read(tmp_path / "odd")
    with pytest.raises(InputError, match="must be opened in binary mode"):
        texts_of(read(io.StringIO("a"), "lines"))
    with pytest.raises(InputError, match="format must be one of"):
        read(tmp_path / "empty", "word")
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match=r"the folder .*folder is of no format"):
        read(tmp_path / "folder")
    with pytest.raises(InputError, match="is a folder, and the format lines is read from a file"):
        texts_of(read(tmp_path / "folder", "lines"))


def test_options_that_a_format_does_not_have():
    with pytest.raises(InputError, match="the format lines has no option 'text'; it has none"):
        read(io.BytesIO(b"a"), "lines", text="body")
    with pytest.raises(
        InputError, match="the format fasttext has no option 'colour'; its options are label_prefix"
    ):
        read(io.BytesIO(b"a"), "fasttext", colour="red")
    assert texts_of(
        read(io.BytesIO(b"a"), "lines", text="text", labels="labels", label_separator=None)
    ) == ["a"]


def test_empty_inputs_give_no_batches():
    for name in FORMATS:
        if name not in ("frame", "folders"):
            assert list(read(io.BytesIO(b""), name)) == []


def test_what_is_held_open_is_let_go_with_the_source_also_in_a_circle(tmp_path):
    """Whoever stops half-way leaves an exception that refers to the source, and may refer to
    itself.
    """
    (tmp_path / "data.txt").write_text(LINES, encoding="utf-8")
    source = Source(tmp_path / "data.txt", Progress())
    folder = source.hold(tempfile.TemporaryDirectory())
    source.itself = source
    del source
    gc.collect()  # a file that is left open is a warning, which fails this test
    assert not os.path.exists(folder)


def test_registry_is_complete():
    from dataclasses import fields

    from shortlist.inputs import Examples

    known = {field.name for field in fields(Examples)}
    for name, kind in FORMATS.items():
        assert kind.name == name
        assert kind.description
        assert kind.carries
        assert set(kind.carries) <= known


def test_the_page_lists_every_format():
    from dataclasses import fields
    from pathlib import Path

    page = (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")
    rows = []
    for kind in FORMATS.values():
        if kind.__module__.startswith("papers."):
            continue
        carries = ", ".join(f"`{name}`" for name in kind.carries)
        options = ", ".join(f"`{field.name}`" for field in fields(kind))
        rows.append(
            f"| `{kind.name}` | {kind.description} | {carries} | {options} | "
            f"{' '.join(kind.endings)} |"
        )
        if kind.obtained:
            assert f"- `{kind.name}`: {kind.obtained}" in page
    assert "\n".join(rows) in page


@pytest.mark.parametrize("ending", [".xlsx", ".XLS", ".ods"])
def test_a_damaged_spreadsheet_is_refused(tmp_path, ending):
    path = tmp_path / f"tickets{ending}"
    path.write_bytes(b"PK\x03\x04 and so on")
    with pytest.raises(InputError, match=r"cannot read .*tickets\."):
        list(read(path))
