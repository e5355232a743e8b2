"""Every curl of the serving guide runs, and every Python block, against a server that starts with nothing."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from served import running

import jurors

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "guides" / "serving.md").read_text(encoding="utf-8")
ADDRESS = "http://127.0.0.1:8000"
BLOCKS = re.findall(r"```sh\n(.*?)```", PAGE, flags=re.DOTALL)
CURLS = [one for block in BLOCKS for one in re.findall(r"^curl .*?(?=^\S|\Z)", block, flags=re.DOTALL | re.MULTILINE)]

pytestmark = pytest.mark.slow


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed here")
def test_every_curl_of_the_guide_is_answered(tmp_path: Path) -> None:
    asked = [one for one in CURLS if ADDRESS in one]
    assert len(asked) >= 12
    with running(str(tmp_path / "votes.db")) as address:
        votes = jurors.simulate(200, jurors=3, prevalence="0.3", labels=["good", "bad"], seed=1).votes
        triples = zip(*(part.tolist() for part in votes.triples()), strict=True)
        rows = [{"item": f"q{i // 2}|{'ab'[i % 2]}", "juror": f"j{j}", "label": votes.labels[k]} for i, j, k in triples]
        for place, command in enumerate(asked):
            if place == 2:  # the guide's two votes are too few to grade
                with jurors.Client(address) as client:
                    client.post_votes("support", rows)
            told = command.replace(ADDRESS, address).replace("curl ", "curl -sS -w '%{stderr}%{http_code}' ", 1)
            ran = subprocess.run(["bash", "-c", told], cwd=tmp_path, capture_output=True, text=True, check=True)
            assert ran.stderr in ("200", "201"), (command, ran.stdout)
    assert "<html" in (tmp_path / "report.html").read_text()[:200]


def test_the_python_of_the_guide_runs(tmp_path: Path) -> None:
    with running(str(tmp_path / "votes.db")) as address:
        for block in re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL):
            exec(block.replace(ADDRESS, address), {})
        with jurors.Client(address) as client:
            assert client.projects()[0]["votes"] == 2
