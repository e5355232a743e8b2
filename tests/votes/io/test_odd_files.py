"""Files made to fill the memory, of odd bytes or names; sizes past counting; moments, which have no time zone here."""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np
import pytest
from click.testing import CliRunner

from jurors import JurorsError, OptionError, Sketch, Votes, VotesError, read_votes
from jurors.cli.main import main
from jurors.votes.io import sources as sizes
from jurors.votes.io.sources import UnpackLimit, in_bytes

WIDE = b"item,ann,bob,cy\n1,x,y,x\n2,y,y,x\n3,x,x,y\n"


# -- files that hold more than they should -----------------------------------------------------------------------------


def _zipped(path: Path, members: dict[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def _npy(rows: int) -> bytes:
    out = io.BytesIO()
    np.save(out, np.zeros((rows, 3), dtype=np.int8))
    return out.getvalue()


HEADER = json.dumps({"version": 2, "status": "success", "eval": {"task": "t"}}).encode()
SAMPLE = b'{"id": 1, "input": "' + b"x" * 400_000 + b'"}'
BOMBS: dict[str, Callable[[Path], object]] = {
    "monday.sketch.json.gz": lambda path: path.write_bytes(
        gzip.compress(b'{"format": "jurors sketch", "x": "' + b"0" * 400_000)
    ),
    "votes.csv.gz": lambda path: path.write_bytes(gzip.compress(WIDE + b"4,x,y,x\n" * 50_000)),
    "lines.jsonl.gz": lambda path: path.write_bytes(gzip.compress(b'{"item": 1, "ann": "' + b"x" * 400_000)),
    "samples_t_2026-01-01T00-00-00.0.jsonl.gz": lambda path: path.write_bytes(
        gzip.compress(b'{"doc_id": 0, "filtered_resps": ["' + b"x" * 400_000)
    ),
    "one.eval": lambda path: _zipped(path, {"header.json": HEADER, "samples/1_epoch_1.json": SAMPLE}),
    "many.eval": lambda path: _zipped(
        path, {"header.json": HEADER, **{f"samples/{k}_epoch_1.json": SAMPLE[:90_000] + b'"}' for k in range(50)}}
    ),
    "votes.npz": lambda path: _zipped(path, {"votes.npy": _npy(140_000)}),
    "votes.npy.gz": lambda path: path.write_bytes(gzip.compress(_npy(140_000))),
    "votes.parquet": lambda path: _parquet(path, 140_000),
}


def _parquet(path: Path, rows: int) -> None:
    duckdb.sql(f"COPY (SELECT 'x' AS ann, 'y' AS bob, 'x' AS cy FROM range({rows})) TO '{path}' (FORMAT parquet)")


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits low enough for a quick test."""
    for room in (sizes.PIECES, sizes.WHOLE, sizes.REPEATED):
        monkeypatch.setitem(vars(room), "least", 100_000)


@pytest.mark.slow
@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("name", BOMBS)
def test_a_file_that_holds_too_much_is_one_line_that_names_the_flag(tmp_path: Path, name: str) -> None:
    BOMBS[name](tmp_path / name)
    with pytest.raises(
        VotesError, match=r"holds more than .* allow more with unpack= \(--unpack \d+[KMG]?B\)"
    ) as raised:
        read_votes(tmp_path / name)
    assert raised.value.code == "too_large"
    run = CliRunner().invoke(main, ["grade", str(tmp_path / name)])
    assert (run.exit_code, run.stderr.count("\n"), run.stderr.count(name)) == (2, 1, 1)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("name", ["votes.csv.gz", "votes.npz", "votes.npy.gz", "votes.parquet"])
def test_who_trusts_a_file_may_unpack_it(tmp_path: Path, name: str) -> None:
    BOMBS[name](tmp_path / name)
    assert read_votes(tmp_path / name, unpack="10MB", duplicates="first").total >= 4


def test_an_archive_that_lies_about_its_members_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    _zipped(path, {"header.json": HEADER, "samples/1_epoch_1.json": SAMPLE})
    content = path.read_bytes()
    path.write_bytes(content.replace(len(SAMPLE).to_bytes(4, "little"), (99).to_bytes(4, "little")))
    with pytest.raises(VotesError, match=r"samples/1_epoch_1.json in the archive is damaged"):
        read_votes(path)


def test_a_zip_of_a_later_version_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    _zipped(path, {"header.json": HEADER})
    content = bytearray(path.read_bytes())
    content[content.find(b"PK\x01\x02") + 6] = 99
    path.write_bytes(content)
    with pytest.raises(VotesError, match=r"the archive is cut short or damaged \(zip file version 9.9\)"):
        read_votes(path)


@pytest.mark.parametrize("size", ["99999999TB", "9" * 40 + "GB", "0.00001KB", "many", "-1GB", "0GB"])
def test_a_size_that_is_none_is_refused(size: str) -> None:
    for option in ("memory", "unpack"):
        with pytest.raises(OptionError, match=rf"{option} must be a size such as 2GB"):
            read_votes(io.BytesIO(WIDE), **{option: size})  # type: ignore[arg-type]


def test_sizes_of_all_units_are_taken() -> None:
    assert [in_bytes(size, "memory") for size in ("0.00001TB", 512, "2KiB", "1.5 mb")] == [
        10_000_000, 512, 2048, 1_500_000,
    ]  # fmt: skip
    assert UnpackLimit(10, 50).of(1, None) == 50
    assert read_votes(io.BytesIO(WIDE), memory="0.00001TB").total == 3


# -- odd bytes and names -----------------------------------------------------------------------------------------------


def test_every_kind_of_line_end_ends_a_line() -> None:
    rows = [b"item,ann,bob,cy", b"1,x,y,x", b"2,y,y,x", b"3,x,x,y"]
    plain = read_votes(io.BytesIO(WIDE)).codes.tolist()
    for ends in ([b"\r"] * 4, [b"\r\n"] * 4, [b"\r\n", b"\r", b"\n", b"\r"], [b"\n", b"\r", b"\r", b""]):
        content = b"".join(row + end for row, end in zip(rows, ends, strict=True))
        assert read_votes(io.BytesIO(content)).codes.tolist() == plain


def test_a_return_inside_a_cell_is_refused_not_dropped() -> None:
    with pytest.raises(VotesError, match=r"line 3 has 2 fields where the header has 4"):
        read_votes(io.BytesIO(WIDE.replace(b"2,y,", b"2,y\r,")))
    with pytest.raises(VotesError, match=r"fields where the header has"):
        read_votes(io.BytesIO(WIDE.replace(b"bob", b"b\rob")))


@pytest.mark.parametrize("name", ["votes.csv", "votes.jsonl"])
@pytest.mark.parametrize("command", ["grade", "inspect"])
def test_half_a_character_is_one_line(tmp_path: Path, name: str, command: str) -> None:
    row = b'{"item": 1, "ann": "\\ud800", "bob": "x", "cy": "y"}\n'
    (tmp_path / name).write_bytes(2 * row if name.endswith("l") else WIDE + b"4,\xed\xa0\x80,x,x\n")
    run = CliRunner().invoke(main, [command, str(tmp_path / name)])
    assert run.exit_code == 2
    assert run.stderr.count("\n") == 1
    assert "line 1 holds half a character" in run.stderr or "line 5 is not valid UTF-8" in run.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="names of any bytes are Linux's")
def test_names_that_are_no_text_are_read(tmp_path: Path) -> None:
    folder = os.path.join(os.fsencode(tmp_path), b"d\xff")
    os.mkdir(folder)
    with open(os.path.join(folder, b"v\xff.csv"), "wb") as file:
        file.write(WIDE)
    for source in (os.fsdecode(folder), os.fsdecode(os.path.join(folder, b"v\xff.csv"))):
        assert read_votes(source).total == 3
        run = CliRunner().invoke(main, ["agreement", source, "--format", "json"])
        assert run.exit_code == 0, run.stderr


@pytest.mark.slow  # a process in another time zone
def test_a_moment_names_an_item_alike_in_every_time_zone(tmp_path: Path) -> None:
    path = tmp_path / "votes.parquet"
    moment = "TIMESTAMPTZ '2026-01-01 00:00:00+00' + INTERVAL (i) HOUR"
    duckdb.sql(
        f"COPY (SELECT {moment} AS item, 'x' AS ann, 'y' AS bob FROM range(2) t(i)) TO '{path}' (FORMAT parquet)"
    )
    code = f"import jurors; print(*jurors.read_votes({str(path)!r}).item_names(), sep='|')"
    elsewhere = {**os.environ, "TZ": "Asia/Kolkata"}
    said = subprocess.run(
        [sys.executable, "-c", code], env=elsewhere, capture_output=True, text=True, check=True
    ).stdout
    assert said == "2026-01-01 00:00:00+00|2026-01-01 01:00:00+00\n"


# -- counts past counting ----------------------------------------------------------------------------------------------


def test_totals_past_counting_are_refused_not_wrapped(tmp_path: Path) -> None:
    half = Sketch.from_counts({"AAB": 1 << 62, "ABB": 1})
    with pytest.raises(JurorsError, match=r"add up to 9,223,372,036,854,775,810, more than"):
        half + half
    with pytest.raises(JurorsError, match="more than 9,223,372,036,854,775,807"):
        Sketch.from_counts({"AAB": 1 << 62, "ABB": 1 << 62})
    for name in ("one", "two"):
        half.to_file(tmp_path / f"{name}.sketch.json")
    files = [str(tmp_path / f"{name}.sketch.json") for name in ("one", "two")]
    run = CliRunner().invoke(main, ["merge", *files])
    assert (run.exit_code, run.stdout) == (2, "")
    assert "more than 9,223,372,036,854,775,807" in run.stderr


@pytest.mark.parametrize("count", [1 << 63, 10**400, 1e30, float("inf"), float("nan"), -1, 0.5, "x", None])
def test_what_is_no_count_is_refused(count: float) -> None:
    with pytest.raises(VotesError, match=r"counts must (be whole|not)"):
        Votes.from_matrix([[0, 1], [1, 1]], counts=np.array([count, 1], dtype=object))
    assert Votes.from_matrix([[0, 1]], counts=np.array([2.0])).total == 2


def test_a_blank_third_line_is_no_line_of_qualtrics() -> None:
    lines = ["item,ann,bob", "1,yes,no", "", "2,no,no", "3,yes,yes"]
    votes = read_votes(io.StringIO("\n".join(lines) + "\n"))
    assert (votes.rows, votes.n_votes) == (3, 6)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("before", [[""], ["", "", ""], ["sep=;", ""]], ids=["one", "three", "below sep="])
def test_blank_lines_above_the_names_are_no_names(before: list[str], end: str) -> None:
    if end == "\r" and before[0]:
        return  # no program writes it so
    mark = ";" if before[0] else ","
    lines = [*before, *(line.replace(",", mark) for line in WIDE.decode().splitlines())]
    votes = read_votes(io.BytesIO((end.join(lines) + end).encode()))
    assert (votes.rows, votes.labels, votes.item_names().tolist()) == (3, ("x", "y"), ["1", "2", "3"])


def test_blank_rows_are_left_out_below_a_table_and_not_in_it() -> None:
    """Items without a name are called by their places, so that none may be lost among them."""
    inside = read_votes(io.StringIO("ann,bob\nx,y\n,\ny,y\n,\n"))
    assert inside.codes.tolist() == [[0, 1], [-1, -1], [1, 1], [-1, -1]]
    below = read_votes(io.StringIO("ann,bob\nx,y\ny,y\n,\n,\n"))
    assert below.codes.tolist() == [[0, 1], [1, 1]]
