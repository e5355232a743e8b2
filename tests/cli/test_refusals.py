"""What a command cannot do is one line that says why, and status 2; every file stays as it is, and none is added."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from command_line import refused

TABLE = json.loads((Path(__file__).parent / "refusals.json").read_text(encoding="utf-8"))


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("case", TABLE["cases"], ids=lambda case: case["run"])
def test_the_refusal_says_why(case: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in {**TABLE["files"], **case.get("write", {})}.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(text, encoding="utf-8")
    before = contents(tmp_path)
    assert case["says"] in refused(*shlex.split(case["run"]))
    assert contents(tmp_path) == before
