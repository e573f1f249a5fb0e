"""Files that appear all together or not at all, and cells that read back as they were."""

import builtins
import datetime
import errno
import os
import subprocess

import numpy as np
import pytest

from tacit.tables import Outputs, csvwriter, open_table, outputs


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def write(*tables):
    """Write tables, each a path and its parts, together."""
    with Outputs() as written:
        for path, parts in tables:
            table = written.table(path)
            for part in parts:
                table.write(part)


def test_files_appear_at_the_end(tmp_path):
    with Outputs() as written:
        written.table(tmp_path / "a.csv").write({"x": [1]})
        with open(written.file(tmp_path / "b.txt"), "w") as file:
            file.write("text")
        assert not {"a.csv", "b.txt"} & set(names(tmp_path))
    assert names(tmp_path) == ["a.csv", "b.txt"]
    assert (tmp_path / "a.csv").stat().st_mode & 0o777 == 0o666 & ~_mask()


def _mask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError("no"), MemoryError])
def test_nothing_is_left_after_an_error(tmp_path, error):
    (tmp_path / "a.csv").write_text("old")

    def fail():
        with Outputs() as written:
            written.table(tmp_path / "a.csv").write({"x": [1]})
            written.table(tmp_path / "b.parquet").write({"x": [1]})
            raise error

    with pytest.raises(type(error) if isinstance(error, Exception) else error):
        fail()
    assert names(tmp_path) == ["a.csv"]
    assert (tmp_path / "a.csv").read_text() == "old"


def test_a_place_that_cannot_be_taken_leaves_all_as_before(tmp_path, monkeypatch):
    (tmp_path / "a.csv").write_text("old")
    replace = os.replace

    def broken(new, path):
        if str(path).endswith("c.csv"):
            raise OSError(errno.EIO, "broken")
        replace(new, path)

    monkeypatch.setattr(outputs.os, "replace", broken)
    with pytest.raises(OSError, match="broken"):
        write(*((tmp_path / name, [{"x": [1]}]) for name in ("a.csv", "b.csv", "c.csv")))
    assert names(tmp_path) == ["a.csv"]
    assert (tmp_path / "a.csv").read_text() == "old"


@pytest.mark.parametrize("when", ["write", "close"])
def test_a_full_disk(tmp_path, monkeypatch, when):
    class Full:
        def __init__(self, *_, **__):
            pass

        def write(self, text):
            if when == "write":
                raise OSError(errno.ENOSPC, "No space left on device")

        def close(self):
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(csvwriter, "open", Full, raising=False)
    with pytest.raises(OSError) as caught, Outputs() as written:
        written.table(tmp_path / "a.csv").write({"x": [1, 2]})
    assert str(caught.value) == (
        f"there is no space left for {tmp_path}/a.csv; free some, or choose another folder. Nothing was written."
    )
    assert names(tmp_path) == []
    assert builtins.open is open


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_disk_that_is_really_full(tmp_path, ending):
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)], capture_output=True).returncode:
        pytest.skip("no right to mount a small disk")
    try:
        with pytest.raises(OSError, match="there is no space left for"):
            write((disk / f"a.{ending}", [{"x": np.random.default_rng(part).normal(size=5000)} for part in range(20)]))
        assert names(disk) == []
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_places_that_take_no_files(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match=r"the folder .*/nowhere does not exist; create it or choose another"):
        Outputs().file(tmp_path / "nowhere" / "a.csv")
    with pytest.raises(ValueError, match="is a folder; name a file to write"):
        Outputs().file(tmp_path)

    def refuse(**_):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(outputs.tempfile, "mkstemp", refuse)
    with pytest.raises(ValueError, match=r"the folder .* cannot be written to; choose another"):
        Outputs().file(tmp_path / "a.csv")


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_cells_read_back_as_they_were(tmp_path, ending):
    parts = [
        {"id": [1, 2], "late": [None, None], "x": [0.1, 1e-7], "day": [None, None], "wide": [1, 2], "text": ["=1+1", 'a "b", c']},
        {"id": [3, 4], "late": ["a", None], "x": [1 / 3, None], "day": [datetime.date(2024, 1, 31), None], "wide": [2.5, None],
         "text": ["été\n", None]},
        {"id": [5, 6], "late": ["b", "c"], "x": [3.0, float("nan")], "day": [None] * 2, "wide": ["x", 7], "text": ["", "z"]},
    ]  # fmt: skip
    with Outputs() as written:
        table = written.table(tmp_path / f"t.{ending}")
        for part in parts:
            table.write(part)
    if ending == "csv":
        assert (tmp_path / "t.csv").read_text() == (
            'id,late,x,day,wide,text\n1,,0.1,,1,=1+1\n2,,1e-07,,2,"a ""b"", c"\n3,a,0.3333333333333333,2024-01-31,2.5,"été\n"\n'
            "4,,,,,\n5,b,3,,x,\n6,c,,,7,z\n"
        )
        return
    import pyarrow.parquet as pq

    read = pq.read_table(tmp_path / "t.parquet")
    assert [str(kind) for kind in read.schema.types] == ["int64", "string", "double", "date32[day]", "string", "string"]
    assert read["late"].to_pylist() == [None, None, "a", None, "b", "c"]
    assert read["x"].to_pylist() == [0.1, 1e-7, 1 / 3, None, 3.0, None]
    assert read["day"].to_pylist() == [None, None, datetime.date(2024, 1, 31), None, None, None]
    assert read["wide"].to_pylist() == ["1", "2", "2.5", None, "x", "7"]
    assert names(tmp_path) == ["t.parquet"]


def test_results_in_arrays_have_ten_digits(tmp_path):
    with Outputs() as written:
        written.table(tmp_path / "t.csv").write({"p": np.array([1 / 3, np.nan]), "n": np.array([1, 2])})
    assert (tmp_path / "t.csv").read_text() == "p,n\n0.3333333333,1\n,2\n"


def test_other_columns_cannot_follow(tmp_path):
    for ending in ("csv", "parquet"):
        with pytest.raises(ValueError, match="rows with the columns b cannot follow a"):
            write((tmp_path / f"t.{ending}", [{"a": [1]}, {"b": [1]}]))
    assert names(tmp_path) == []


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_table_copied_is_the_same_table(tmp_path, ending):
    from .mixed import mixed

    table = open_table(mixed())
    with Outputs() as written:
        copy = written.table(tmp_path / f"t.{ending}")
        for batch in table.batches():
            copy.write({name: cells.originals() for name, cells in batch.items()})
    again = open_table(tmp_path / f"t.{ending}")
    for ours, theirs in zip(again.columns, table.columns, strict=True):
        assert (ours.role, ours.n_missing, ours.levels, ours.low, ours.high) == (
            theirs.role, theirs.n_missing, theirs.levels, theirs.low, theirs.high,
        )  # fmt: skip
    np.testing.assert_array_equal(again.cells, table.cells)
