"""`jurors audit`: a sheet out, answers in."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from jurors.cli.main import main

VOTES = "item,ann,bob,cy\n" + "".join(
    f"{k},{'yes' if k % 2 else 'no'},{'yes' if k % 3 else 'no'},{'yes' if k % 5 else 'no'}\n" for k in range(60)
)


def _run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, ["audit", *arguments])
    return result.exit_code, result.output


def test_plan_writes_a_blind_sheet_and_the_votes_beside(tmp_path: Path) -> None:
    (tmp_path / "votes.csv").write_text(VOTES)
    sheet = tmp_path / "sheet.csv"
    assert _run("plan", str(tmp_path / "votes.csv"), "-n", "8", "-o", str(sheet))[0] == 0
    assert sheet.read_text().splitlines()[0] == "draw,of,item,label,chance,drawn_from"
    beside = (tmp_path / "sheet.votes.csv").read_text().splitlines()
    assert beside[0] == "draw,of,item,vote of ann,vote of bob,vote of cy,label,chance,drawn_from"
    assert len(beside) == 9
    status, more = _run("plan", str(tmp_path / "votes.csv"), "-n", "2", "--after", str(sheet))
    assert (status, more.splitlines()[1].split(",")[:2]) == (0, ["9", "10"])


def test_a_sheet_of_other_votes_is_one_line_and_nothing_is_written(tmp_path: Path) -> None:
    (tmp_path / "votes.csv").write_text(VOTES)
    (tmp_path / "other.csv").write_text(VOTES.replace("59,yes", "59,no"))
    sheet = tmp_path / "sheet.csv"
    _run("plan", str(tmp_path / "votes.csv"), "-n", "3", "-o", str(sheet))
    status, said = _run("plan", str(tmp_path / "other.csv"), "--after", str(sheet), "-o", str(tmp_path / "next.csv"))
    assert (status, said.count("\n")) == (2, 1)
    assert "drawn from other votes" in said
    assert not (tmp_path / "next.csv").exists()
