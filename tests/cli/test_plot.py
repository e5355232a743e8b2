from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from command_line import run
from simulated_juries import simulate, two_label_tables

import jurors

COUNTS = """ann,bob,cy,count
pass,pass,pass,496
pass,pass,fail,40
pass,fail,pass,143
pass,fail,fail,56
fail,pass,pass,66
fail,pass,fail,23
fail,fail,pass,79
fail,fail,fail,97
"""


@pytest.fixture
def counts(tmp_path: Path) -> Path:
    path = tmp_path / "counts.csv"
    path.write_text(COUNTS)
    return path


@pytest.fixture(scope="module")
def panel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five jurors, one a column, and the truth in one more."""
    sketch, codes, truth = simulate([0.4, 0.6], two_label_tables([(0.8, 0.7)] * 5), 300, seed=3)
    names = np.array(["no", "yes"])
    lines = [",".join(["item", *sketch.jurors, "truth"])]
    lines += [",".join([str(k), *names[row], names[t]]) for k, (row, t) in enumerate(zip(codes, truth, strict=True))]
    path = tmp_path_factory.mktemp("panel") / "panel.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted(set(jurors.plot.KINDS) - {"reliability", "systems", "leanings"}))
def test_every_kind_is_drawn(kind: str, panel: Path, tmp_path: Path) -> None:
    path = tmp_path / "chart.json"
    result = run("report", panel, "--chart", kind, "--key", "truth", "-o", path, "--quiet")
    assert (result.exit_code, result.output) == (0, f"{path}\n")
    assert "vega-lite" in json.loads(path.read_text())["$schema"]


@pytest.mark.slow
def test_a_chart_becomes_an_svg_with_its_names(counts: Path, tmp_path: Path) -> None:
    path = tmp_path / "chart.svg"
    assert run("report", counts, "--chart", "accuracy", "-o", path).exit_code == 0
    text = path.read_text(encoding="utf-8")
    assert text.startswith("<svg")
    assert ">ann<" in text


@pytest.mark.slow
def test_the_specification_holds_the_numbers_of_grade(counts: Path, tmp_path: Path) -> None:
    path = tmp_path / "chart.json"
    assert run("report", counts, "--chart", "accuracy", "-o", path).exit_code == 0
    spec = json.loads(path.read_text(encoding="utf-8"))
    card = json.loads(run("grade", counts, "--format", "json").stdout)
    rows = {row["juror"]: row for rows in spec["datasets"].values() for row in rows if "score" in row}
    assert {j: (row["y"], row["x"]) for j, row in rows.items()} == {
        j: (by["pass"], by["fail"]) for j, by in card["accuracy"].items()
    }


@pytest.mark.slow
def test_the_method_asked_for_comes_first_with_its_interval(panel: Path, tmp_path: Path) -> None:
    path = tmp_path / "chart.json"
    asked = run(
        "report", panel, "--chart", "prevalence", "--ignore", "truth", "--method", "majority", "-o", path, "--quiet"
    )
    assert asked.exit_code == 0
    spec = json.loads(path.read_text(encoding="utf-8"))
    methods = [row["method"] for rows in spec["datasets"].values() for row in rows if "method" in row]
    assert methods[0] == "majority"
    assert len(methods) == len(set(methods)) > 3


@pytest.mark.slow
def test_alarms_are_said_beside_the_picture(tmp_path: Path) -> None:
    graders = tmp_path / "graders.csv"
    graders.write_text("i,j,k,count\nA,A,A,2\nA,B,A,19\nA,B,B,6\nB,A,A,24\nB,A,B,1\nB,B,A,189\nB,B,B,40\n")
    path = tmp_path / "chart.json"
    result = run("report", graders, "--chart", "accuracy", "-o", path)
    assert result.exit_code == 0
    assert result.stdout == f"{path}\n"
    assert "warning contradiction:" in result.stderr


@pytest.fixture
def numbers(tmp_path: Path) -> Path:
    path = tmp_path / "numbers.csv"
    rng = np.random.default_rng(2)
    truth = rng.normal(5, 2, 60)
    said = np.column_stack([truth, *(truth + noise * rng.normal(size=60) for noise in (0.5, 1, 3))]).round(2)
    rows = [",".join(map(str, (f"q{k}", *row))) for k, row in enumerate(said.tolist())]
    path.write_text("\n".join(["item,truth,ann,bob,cy", *rows]))
    return path


def _points(path: Path) -> list[dict[str, object]]:
    tables = json.loads(path.read_text())["datasets"].values()
    return next(rows for rows in tables if "juror" in rows[0])


def test_numbers_are_drawn_as_grade_and_score_print_them(numbers: Path, tmp_path: Path) -> None:
    path = tmp_path / "chart.json"
    assert run("report", numbers, "--chart", "reliability", "--ignore", "truth", "-o", path).exit_code == 0
    graded = json.loads(run("grade", numbers, "--ignore", "truth", "--format", "json").stdout)["jurors"]
    for point, row in zip(_points(path), graded, strict=True):
        assert (point["juror"], point["value"]) == (row["juror"], row["reliability"])
        assert (point["value_low"], point["value_high"]) == (row["reliability_low"], row["reliability_high"])
    assert run("report", numbers, "--chart", "reliability", "--key", "truth", "-o", path).exit_code == 0
    scored = json.loads(run("score", numbers, "--key", "truth", "--format", "json").stdout)["jurors"]
    assert [point["actual"] for point in _points(path)] == [row["reliability"] for row in scored]
