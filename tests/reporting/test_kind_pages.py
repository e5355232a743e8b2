"""Numbers and preferences have a page, too: the verdict, who and what with intervals, the numbers inside."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
from click.testing import CliRunner

import jurors
from jurors.cli.main import main
from jurors.errors import OptionError
from jurors.numeric.grade import grade_numbers, value_items
from jurors.pairwise.grade import grade_pairs
from jurors.reporting.page import report_html

pytestmark = pytest.mark.slow

PAIRS = "juror,left,right,winner\n" + "".join(
    f"{juror},{one},{two},{one if juror == 'eve' else min(one, two)}\n"
    for juror in ("ann", "bob", "eve")
    for _ in range(12)
    for one in "xyz"
    for two in "xyz"
    if one != two
)


def scores(items: int = 40) -> pandas.DataFrame:
    rng = np.random.default_rng(1)
    truth = rng.normal(50, 20, items)
    noise = {"ann": 3.0, "bob": 8.0, "<b>cy</b>": 20.0}
    columns = {name: np.round(truth + rng.normal(0, size, items), 1) for name, size in noise.items()}
    return pandas.DataFrame({"item": [f"q{k}" for k in range(items)], **columns})


def inside(page: str) -> Any:
    """The numbers that a page carries."""
    return json.loads(re.findall(r'<script type="application/json" id="grade">(.*?)</script>', page)[0])


def test_the_page_of_numbers_says_what_grade_and_label_say_runs_nothing_and_asks_for_nothing() -> None:
    frame = scores()
    page = report_html(frame, title="Scores")
    assert "Report card of numbers" in page
    numbers = inside(page)
    assert numbers["grades"]["jurors"] == grade_numbers(frame).to_dict()["jurors"]
    assert numbers["values"]["items"] == value_items(frame).to_dict()["items"]
    for said in ("Read as numbers", "scale='nominal'", "Values of the items", "calibrated"):
        assert said in page
    assert "<b>cy</b>" not in page  # names are text
    assert "script-src &#39;none&#39;" in page
    assert set(re.findall(r'(?:src|href)="([^"]*)"', page)) == {"#main"}


def test_the_page_of_preferences_says_what_grade_and_rank_say(tmp_path: Path) -> None:
    (tmp_path / "pairs.csv").write_text(PAIRS)
    page = report_html(tmp_path / "pairs.csv")
    numbers = inside(page)
    assert numbers["grades"] == grade_pairs(tmp_path / "pairs.csv").to_dict()
    assert numbers["ranking"] == jurors.rank(tmp_path / "pairs.csv").to_dict()
    assert "No: do not trust these grades." in page  # eve answers by position
    assert "follows the position" in page
    assert report_html(pandas.read_csv(tmp_path / "pairs.csv"), title="x").count("Report card of preferences") == 1


@pytest.mark.parametrize("options", [{"method": "latent"}, {"key": {"q1": 3}}, {"gold": {"q1": 3}}], ids=str)
def test_what_is_for_labels_alone_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(OptionError, match="does not apply to numbers"):
        report_html(scores(), **options)


def test_the_command_writes_them_and_exits_by_their_alarms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pairs.csv").write_text(PAIRS)
    scores().to_csv("scores.csv", index=False)

    def run(*arguments: str) -> tuple[int, str, str]:
        result = CliRunner().invoke(main, ["report", *arguments, "-o", "page.html"])
        return result.exit_code, result.output, Path("page.html").read_text()

    status, _, page = run("scores.csv")
    assert (status, "Report card of numbers" in page) == (0, True)
    status, _, page = run("pairs.csv", "--fail-on", "alarm")
    assert (status, "jurors report pairs.csv" in page) == (3, True)
    status, shown, _ = run("scores.csv", "--method", "latent")
    assert (status, shown.count("\n"), "--threshold" in shown) == (2, 1, True)
