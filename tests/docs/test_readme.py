"""The README's first result is what `jurors demo` prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from jurors.cli.main import main

README = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")
NUMBER = re.compile(r"\d+(?:\.\d+)?(?=%)")


@pytest.mark.slow
def test_every_number_of_the_first_result_is_printed_by_the_demo() -> None:
    section = re.search(r"^## A real result\n(.*?)^## ", README, flags=re.MULTILINE | re.DOTALL)
    assert section is not None
    quoted = {float(number) for number in NUMBER.findall(section[1])}
    printed = CliRunner().invoke(main, ["demo"]).output
    assert len(quoted) > 10
    assert quoted <= {float(number) for number in re.findall(r"\d+(?:\.\d+)?", printed)}


def test_the_first_screen_has_problem_result_commands_and_picture() -> None:
    screen = README.split("\n## ")[0]
    assert "nobody has the truth" in screen
    assert re.search(r"90% intervals hold \d+\.\d% of the true scores", screen)
    assert "make demo" in screen
    assert "jurors grade votes.csv" in screen
    assert "report.png" in screen
