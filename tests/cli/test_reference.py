"""`jurors score --reference`: juries of your own, measured into a table that `grade --reference` takes."""

from __future__ import annotations

import json
from pathlib import Path

from command_line import run

from jurors.theory import reference_juries


def test_juries_are_measured_into_a_table_that_grade_takes(tmp_path: Path) -> None:
    table = tmp_path / "own.csv"
    for seed, name in enumerate(("one", "two", "one")):
        votes, key = tmp_path / f"{name}.csv", tmp_path / f"{name}.truth.csv"
        run("simulate", "--items", 300, "--jurors", 5, "--seed", seed, "-o", votes)
        scored = run("score", votes, "--key", key, "--reference", table)
        assert scored.exit_code == 0, scored.output
        assert scored.stdout == run("score", votes, "--key", key).stdout
    assert [(jury.name, jury.items) for jury in reference_juries(table)] == [("two", 300), ("one", 300)]
    graded = json.loads(run("grade", votes, "--reference", table, "--format", "json").stdout)
    assert graded["shared_error"]["juries"] == 2
