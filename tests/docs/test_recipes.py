"""The recipes of CONTRIBUTING.md work: their blocks are plugged in as they say, and what they name is there."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import panels
import pytest
from command_line import run

import jurors
from jurors.cli.main import COMMANDS, GROUPS
from jurors.evaluate import alarms as catalogue
from jurors.jury.methods import METHODS, by_estimator
from jurors.testing import check_method
from jurors.votes.readers import READERS
from jurors.votes.write import write_votes

ROOT = Path(__file__).parents[2]
RECIPES = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("## How to add")[2]
BLOCKS = dict(re.findall(r"```python\n# src/(jurors/\S+/yours\w*)\.py\n(.*?)```", RECIPES, re.DOTALL))
NAMED = re.findall(r"`(\w+)`(?: and `(\w+)`)? (?:in|of)\s`([\w/.]+\.py)`", RECIPES)
Plug = Callable[[str], ModuleType]


@pytest.fixture
def plugged(monkeypatch: pytest.MonkeyPatch) -> Plug:
    """The module of a recipe, as if its file were in the package."""

    def plug(path: str) -> ModuleType:
        name = path.replace("/", ".")
        module = ModuleType(name)
        monkeypatch.setitem(sys.modules, name, module)
        exec(BLOCKS[path], vars(module))
        return module

    return plug


@pytest.mark.parametrize("first, second, path", NAMED)
def test_every_name_is_where_a_recipe_says(first: str, second: str, path: str) -> None:
    home = ROOT if path.startswith("tests/") else ROOT / "src" / "jurors"
    text = (home / path).read_text(encoding="utf-8")
    for name in filter(None, (first, second)):
        assert re.search(rf"^(?:def |class )?{name}\b", text, re.MULTILINE), (name, path)


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`((?:tests|docs)/[\w./-]+|[a-z]+/(?:[\w-]+/)*)`", RECIPES))))
def test_every_place_is_there(path: str) -> None:
    if "yours" not in path:
        assert any((folder / path).exists() for folder in (ROOT, ROOT / "src" / "jurors"))


def test_a_method(plugged: Plug, monkeypatch: pytest.MonkeyPatch) -> None:
    estimate = plugged("jurors/evaluate/baselines/yours").evaluate_yours
    monkeypatch.setitem(METHODS, "yours", by_estimator("yours", estimate))
    check_method(estimate, kinds=["two labels"])
    votes = panels.simulate(300, 4, seed=1).votes
    assert jurors.grade(votes, method="yours").method == "yours"
    assert "yours" in [e.method for e in jurors.compare(votes).evaluations]


def test_a_reader(plugged: Plug, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    plugged("jurors/votes/readers/yours")
    monkeypatch.setitem(READERS, "yours", "yours")
    votes = [{"made_by_yours": 1, "task": k, "rater": r, "answer": "y"} for k in range(2) for r in ("ann", "bob")]
    file = tmp_path / "export.jsonl"
    file.write_text("".join(json.dumps(vote) + "\n" for vote in votes))
    assert jurors.read_votes(file).jurors == ("ann", "bob")
    assert "Yours export" in str(jurors.inspect(file))


def test_an_alarm(plugged: Plug, monkeypatch: pytest.MonkeyPatch) -> None:
    ring = plugged("jurors/uncertainty/yours_alarms").yours_alarms
    sketch = jurors.Sketch.from_counts({"AAB": 3, "BBA": 2}, jurors=("ann", "bob", "cy"))
    with pytest.raises(jurors.SketchError, match="catalogue has no"):
        ring(sketch)
    entry = re.search(r"^(AlarmKind\(.*?^\))", RECIPES, re.DOTALL | re.MULTILINE)
    assert entry
    monkeypatch.setitem(catalogue.KINDS, "yours", eval(entry.group(1), vars(catalogue)))
    assert [alarm.jurors for alarm in ring(sketch)] == [("ann",)]


def test_a_chart(plugged: Plug, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("altair")
    chart = plugged("jurors/reporting/charts/yours").yours
    monkeypatch.setitem(jurors.plot.KINDS, "yours", chart)
    result = jurors.grade(panels.simulate(300, 3, seed=1).votes)
    assert result.plot("yours").to_dict()["title"]["text"] == "How often each juror is right"
    votes, out = tmp_path / "votes.csv", tmp_path / "chart.json"
    write_votes(jurors.load_example("census")[0], votes)
    ran = run("report", votes, "--chart", "yours", "-o", out)
    assert (ran.exit_code, out.is_file()) == (0, True), ran.output


def test_a_command(plugged: Plug, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    plugged("jurors/cli/yours")
    place = ("yours", "What it does with FILE.")
    monkeypatch.setitem(COMMANDS, "yours", place)
    monkeypatch.setitem(GROUPS["Look"], "yours", place)
    votes = tmp_path / "votes.csv"
    votes.write_text("ann,bob,cy\na,a,b\nb,b,b\na,b,a\n")
    ran = run("yours", votes, "--format", "json")
    assert ran.exit_code == 0
    assert json.loads(ran.stdout)["items"] == 3
    assert "yours" in run("--help").output
