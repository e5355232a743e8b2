"""`make demo-serve`: the made-up judge goes bad, the alarm rings, and every metric that is asked for is exported."""

from __future__ import annotations

import re
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from deploy.test_deploy import metrics_named

SCRIPT = Path(__file__).resolve().parents[2] / "examples" / "demo_serve.py"


@pytest.mark.slow
def test_the_judge_who_goes_bad_rings_by_name_and_every_metric_asked_for_is_exported() -> None:
    command = [sys.executable, str(SCRIPT), "--until-alarm", "--seconds", "300", "--rate", "300", "--changes", "600"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        with urllib.request.urlopen(f"{address}/metrics", timeout=60) as answer:
            exported = set(re.findall(r"^# TYPE (jurors_\w+)", answer.read().decode(), re.MULTILINE))
        printed, _ = process.communicate(timeout=400)
    assert process.returncode == 0, printed
    assert "eve agrees with most of the others" in printed
    assert {re.sub(r"_(bucket|sum|count)$", "", name) for name in metrics_named()} <= exported
