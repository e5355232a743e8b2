"""Tables of commands: what they print (`printed.json`), and what they refuse (`refusals.json`)."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from command_line import refused, run

PRINTED, REFUSALS = (
    json.loads((Path(__file__).parent / f"{name}.json").read_text(encoding="utf-8")) for name in ("printed", "refusals")
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(files: dict[str, str]) -> None:
    for name, text in files.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(text, encoding="utf-8")


def contents() -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}


@pytest.mark.parametrize("case", REFUSALS["cases"], ids=lambda case: case["run"])
def test_a_refusal_is_one_line_that_says_why_and_every_file_stays_as_it_is(case: dict[str, Any]) -> None:
    write({**REFUSALS["files"], **case.get("write", {})})
    before = contents()
    assert case["says"] in refused(*shlex.split(case["run"]))
    assert contents() == before


@pytest.mark.parametrize("case", PRINTED["cases"], ids=lambda case: case["run"])
def test_a_command_prints_what_it_should_and_ends_with_its_status(case: dict[str, Any]) -> None:
    write(PRINTED["files"])
    done = run(*shlex.split(case["run"]), stdin=PRINTED["files"][case["stdin"]] if "stdin" in case else None)
    assert done.exit_code == case.get("status", 0), done.output
    shown = " ".join(done.output.split())
    assert [text for text in case.get("prints", ()) if " ".join(text.split()) not in shown] == []
    assert [text for text in case.get("hides", ()) if text in done.output] == []
    if "same" in case:
        assert done.stdout == run(*shlex.split(case["same"])).stdout
