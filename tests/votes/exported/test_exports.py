"""Tables as tools export them: the votes in them come out, or a refusal names the options that read them."""

from __future__ import annotations

import csv
import io
import re
import shlex
from pathlib import Path

import pytest
from command_line import run
from votes.exported.exports import Export, Triples, stored, text_exports, wide
from votes.exported.program_exports import program_exports, workbook

import jurors
from jurors.numeric.data import read_numbers

EXPORTS = text_exports() | program_exports()


def converted(source: str, options: list[str], piped: bytes | None = None) -> tuple[int, str, Triples]:
    """The status, what is said to the user, and the votes."""
    ran = run("convert", source, *options, stdin=piped)
    if ran.exception is not None and not isinstance(ran.exception, SystemExit):
        raise ran.exception
    rows = list(csv.reader(io.StringIO(ran.stdout)))[1:] if ran.exit_code == 0 else []
    return ran.exit_code, ran.stderr.strip(), {(item, juror, label) for item, juror, label in rows if label}


def read(source: str, options: list[str]) -> Triples:
    """The votes as Python reads them, which takes half the time."""
    flags = [k for k, word in enumerate(options) if word.startswith("--")]
    given = {options[k][2:]: True if (*options, "--")[k + 1].startswith("--") else options[k + 1] for k in flags}
    votes = jurors.read_votes(source, **given)  # type: ignore[arg-type]
    items, (row, juror, label) = votes.item_names().tolist(), votes.triples()
    return {
        (str(items[i]), votes.jurors[j], str(votes.labels[a]))
        for i, j, a in zip(row, juror, label, strict=True)
        if a >= 0
    }


def obeyed(export: Export, path: Path, refusal: str) -> Triples:
    """The votes by what the refusal proposes: a part of the file, options, or a filter before a pipe."""
    assert export.say in refusal, refusal
    if export.say.startswith("::"):
        return converted(f"{path}{export.say}", shlex.split(export.options))[2]
    if export.say.startswith("--"):
        return converted(f"{path}{export.inside}", shlex.split(f"{export.options} {export.say}"))[2]
    lines = path.read_bytes().splitlines(keepends=True)
    skipped = re.search(r"tail -n \+(\d+) ", refusal)
    return converted("-", [], b"".join(lines[int(skipped[1]) - 1 :] if skipped else lines[:-1]))[2]


@pytest.mark.parametrize("name", EXPORTS)
def test_votes_come_out_or_the_refusal_says_how(name: str, tmp_path: Path) -> None:
    export = EXPORTS[name]
    path = tmp_path / export.file
    export.write(path)
    if not export.say:
        assert read(f"{path}{export.inside}", shlex.split(export.options)) == export.votes
        return
    status, told, _ = converted(f"{path}{export.inside}", shlex.split(export.options))
    assert status == 2
    assert told.count("\n") == 0
    assert obeyed(export, path, told) == export.votes


def test_decimal_commas_are_numbers_where_numbers_are_asked_for(tmp_path: Path) -> None:
    EXPORTS["decimal_commas"].write(path := tmp_path / "i.csv")
    assert set(read_numbers(path).values.ravel().tolist()) == {1.0, 2.5, 4.0}


def test_battles_of_an_arena_are_pairs(tmp_path: Path) -> None:
    (tmp_path / "arena.jsonl").write_bytes(stored("arena/arena.jsonl"))
    ranked = run("rank", str(tmp_path / "arena.jsonl"), "--format", "csv")
    assert ranked.exit_code == 0
    assert {"gpt-4", "claude", "llama", "vicuna"} <= set(re.findall(r"[\w-]+", ranked.stdout))


def test_text_read_as_windows_text_is_told(tmp_path: Path) -> None:
    EXPORTS["excel_cp1252"].write(path := tmp_path / "c.csv")
    assert "windows_text" in {finding.kind for finding in jurors.read_votes(path).findings}
    EXPORTS["excel_bom"].write(path)
    assert "windows_text" not in {finding.kind for finding in jurors.read_votes(path).findings}


def test_sheets_that_were_not_read_are_told(tmp_path: Path) -> None:
    EXPORTS["xlsx_sheet"].write(path := tmp_path / "b.xlsx")
    assert "other_sheets" not in {one.kind for one in jurors.read_votes(f"{path}::Votes").findings}
    with pytest.raises(jurors.VotesError, match="no rows"):
        jurors.read_votes(path)
    workbook(Votes=wide(), Notes=[["nothing"]])(path)
    (told,) = [one.message for one in jurors.read_votes(path).findings if one.kind == "other_sheets"]
    assert told.endswith("b.xlsx::Notes")
