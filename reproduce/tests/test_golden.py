"""Another implementation says the same: ntqr 0.9's answers on 104 real and simulated sketches, compared exactly.

Its prevalences are text such as "1/2 - 10997*sqrt(5017)/2819554"; they are read into our exact numbers and compared
without rounding, both solutions. Its accuracies are floats. The sketches: the paper's Table 1, UCI Adult once and a
hundred times, the LLM graders, and 200 items of an online shop.
"""

from __future__ import annotations

import json
import re
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from jurors.evaluate.solution import Solution
from jurors.evaluate.trio import encode, evaluate_trio
from jurors.exact import Surd
from jurors.sketch.sketch import Sketch

NAMES = ["acs_table1", "uci_adult_single", "bigbench", "online_consumer", *(f"uci_adult_100[{k}]" for k in range(100))]
_FILES = {
    "acs_table1": "acs_table1",
    "uci_adult_single": "uci_adult_single",
    "bigbench": "bigbench_mistake_llm_graders",
    "online_consumer": "online_consumer_q200_no_truth",
}
_SIGN = {"+": 1, "-": -1, "": 1}


@cache
def load(path: Path) -> Any:
    return json.loads(path.read_text())


@pytest.fixture(scope="module")
def sketches(shared_data: Path) -> Path:
    folder = shared_data / "sketches"
    if not (folder / "ntqr_golden_error_independent.json").is_file():
        pytest.skip("the golden sketches are not in the data folder")
    return folder


def observed(folder: Path, name: str) -> Sketch:
    if name in _FILES:
        counts = load(folder / f"{_FILES[name]}.json")["observed"]
    else:
        by_label = load(folder / "uci_adult_100.json")["by_true_label"][_number(name)]
        counts = {t: by_label["a"][t] + by_label["b"][t] for t in by_label["a"]}
    return Sketch.from_counts(counts, jurors="ijk", labels="ab")


def golden(folder: Path, name: str) -> list[dict[str, Any]]:
    every = load(folder / "ntqr_golden_error_independent.json")
    found = every[name] if name in every else every["uci_adult_100"][_number(name)]
    return sorted(found, key=lambda solution: float(solution["prevalence_a"]))


def ours(sketch: Sketch) -> list[Solution]:
    return sorted(evaluate_trio(sketch), key=lambda solution: float(solution.prevalence["a"]))


@pytest.mark.parametrize("name", NAMES)
def test_both_solutions_are_theirs_and_give_the_counts_back_exactly(sketches: Path, name: str) -> None:
    sketch = observed(sketches, name)
    for mine, theirs in zip(ours(sketch), golden(sketches, name), strict=True):
        assert mine.prevalence["a"] == read_surd(theirs["prevalence_a_exact"])
        floats = mine.to_float()
        for juror, row in zip("ijk", theirs["accuracy"], strict=True):
            assert [floats.accuracy[juror][label] for label in "ab"] == pytest.approx(row, abs=1e-9)
        assert encode(mine, items=sketch.items) == sketch


def read_surd(text: str) -> Surd:
    """A sum of rationals and rational multiples of one square root, as sympy prints it."""
    total = Surd(0)
    for sign, term in re.findall(r"([+-]?)\s*([^\s+-]+)", text):
        root = re.fullmatch(r"(?:(\d+)\*)?sqrt\((\d+)\)(?:/(\d+))?", term)
        if root:
            size, radicand, divisor = (int(group or 1) for group in root.groups())
            total += _SIGN[sign] * Fraction(size, divisor) * Surd.sqrt(radicand)
        else:
            total += _SIGN[sign] * Fraction(term)
    return total


def _number(name: str) -> int:
    return int(name.partition("[")[2].rstrip("]"))
