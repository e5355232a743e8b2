"""`jurors grade` and `jurors label` where votes are numbers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import Result
from command_line import run

ROWS = "item,ann,bob,cy\nq1,1,2,10\nq2,4,5,14\nq3,3,4,22\nq4,2,9,18\nq5,6,7,27\nq6,5,12,25\n"


@pytest.fixture(autouse=True)
def scores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("scores.csv").write_text(ROWS)


def _run(*arguments: str, text: str | None = None) -> Result:
    return run(*arguments, "--scale", "interval", stdin=text)


def test_score_measures_the_estimates_and_the_values_by_the_key() -> None:
    Path("truth.csv").write_text("item,label\nq1,1\nq2,3\nq3,4\nq4,3\nq5,6\nq6,5\n")
    document = json.loads(_run("score", "scores.csv", "--key", "truth.csv", "--format", "json").output)
    assert [one["by"] for one in document["values"]] == ["grades", "mean", "median"]
    assert document["jurors"][0]["rmse"] == pytest.approx((1 / 2) ** 0.5)


def _grouped() -> str:
    """Thirty items of each of two topics, on one of which nobody errs much."""
    lines = []
    for k in range(60):
        wide = 1 if k % 2 else 8
        said = [k % 17 + wide * ((k * step) % 7 - 3) / 4 + 0.25 for step in (1, 3, 5)]
        lines.append(",".join(map(str, (f"q{k}", "sums" if k % 2 else "essays", k % 17, *said))))
    return "\n".join(["item,topic,truth,ann,bob,cy", *lines]) + "\n"


def test_score_and_grade_take_numbers_apart_by_group() -> None:
    Path("topics.csv").write_text(_grouped())
    scored = json.loads(_run("score", "topics.csv", "--key", "truth", "--by", "topic", "--format", "json").stdout)
    Path("sums.csv").write_text("\n".join(line for line in _grouped().splitlines() if "essays" not in line))
    alone = json.loads(_run("score", "sums.csv", "--key", "truth", "--ignore", "topic", "--format", "json").stdout)
    assert scored["groups"]["sums"]["jurors"] == alone["jurors"]
    assert scored["labels"] == []
    assert [alarm["kind"] for alarm in scored["alarms"]].count("small_group") == 2
    graded = json.loads(_run("grade", "topics.csv", "--ignore", "truth", "--by", "topic", "--format", "json").stdout)
    assert graded["groups"]["sums"]["jurors"][0]["slope"] == pytest.approx(alone["jurors"][0]["estimated_slope"])
