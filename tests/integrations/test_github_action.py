"""The steps of `action.yml` that are ours, run as GitHub runs them; the pre-commit hook.

By hand with pre-commit 4.7.0: the guide's configuration in a repository beside a clone of this one, `pre-commit run`.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]
from click.testing import CliRunner

from jurors.cli import main
from jurors.integrations import CompletedRun
from jurors.integrations import github as github_action

ROOT = Path(__file__).resolve().parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
VOTES = "item,ann,bob,cy\n" + "".join(f"{k},{','.join('xy'[(k + s) % 3 > 1] for s in range(3))}\n" for k in range(30))


RUNS: list[str] = []


def in_process(*words: str) -> CompletedRun:
    """`run_jurors`, without the time that a process of its own takes to load."""
    RUNS.append(words[0])
    result = CliRunner().invoke(main, words)
    return CompletedRun(result.exit_code, result.stdout if result.exit_code in (0, 3) else result.stderr)


def checked(folder: Path, monkeypatch: pytest.MonkeyPatch, **inputs: str) -> tuple[int, str, str]:
    """Status, summary and outputs of the step that checks."""
    monkeypatch.setattr(github_action, "run_jurors", in_process)
    RUNS.clear()
    monkeypatch.chdir(folder)
    (step,) = (step for step in ACTION["runs"]["steps"] if step.get("id") == "check")
    given = {name: about.get("default", "") for name, about in ACTION["inputs"].items()} | inputs
    variables = {name: given[value.split("inputs.")[1].split()[0]] for name, value in step["env"].items()}
    places = {name: folder / name.lower() for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT")}
    status = github_action.main({**variables, **{name: str(path) for name, path in places.items()}})
    summary, outputs = (path.read_text() if path.exists() else "" for path in places.values())
    return status, summary, outputs


@pytest.mark.slow
def test_systems_are_gated_and_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("altair")
    rows = []
    for model, question in ((model, k) for model in ("new", "old") for k in range(60)):
        good = (question % 5 > 0) == (model == "new")
        votes = ("pass" if good != (question * 7 % 11 == judge) else "fail" for judge in range(4))
        rows.append(",".join((f"q{question}", model, *votes)))
    (tmp_path / "votes.csv").write_text("question,model,a,b,c,d\n" + "\n".join(rows) + "\n")
    inputs = {"files": "votes.csv", "options": "--system model", "limits": "--min-difference old-new:0.02"}
    status, summary, outputs = checked(tmp_path, monkeypatch, **inputs)
    assert (status, "passed=false" in outputs) == (3, True)
    assert "min-difference old - new" in summary
    assert 'data-chart="systems"' in (tmp_path / "jurors-report.html").read_text()


@pytest.mark.slow
def test_the_check_writes_summary_annotations_outputs_and_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("altair")
    (tmp_path / "my votes.csv").write_text(VOTES)
    inputs = {"files": "'my votes.csv'", "limits": "--min-score 0.99"}
    status, summary, outputs = checked(tmp_path, monkeypatch, **inputs)
    log = capsys.readouterr().out
    assert (status, RUNS) == (3, ["check", "report"]), log
    assert summary.startswith("## jurors\n\n**")
    assert "| juror | accuracy | 95% |" in summary
    assert "\n::error title=limit_failed::" in log
    assert outputs.startswith("passed=false\nverdict=")
    assert "<html" in (tmp_path / "jurors-report.html").read_text()


def test_what_cannot_be_read_is_an_annotation_of_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    status, summary, _ = checked(tmp_path, monkeypatch, files="nowhere.csv")
    assert status == 2
    assert "::error title=jurors::jurors: nowhere.csv: " in capsys.readouterr().out
    assert "nowhere.csv" in summary


def test_names_from_files_start_no_workflow_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    forged = "::error title=forged::owned\r::add-mask::x ##[error]y"
    text = f"{forged}\n  {forged}\n"
    monkeypatch.setattr(sys.modules[__name__], "in_process", lambda *words: CompletedRun(2, text))
    status, summary, _ = checked(tmp_path, monkeypatch, files="votes.csv")
    *printed, annotation = re.split("[\r\n]+", capsys.readouterr().out.strip())
    assert status == 2
    assert [line for line in printed if line.strip().startswith("::") or "##[" in line] == []
    assert annotation.startswith("::error title=jurors::::error title=forged")
    assert "```" in summary  # an error message is not Markdown
    alarm = {"kind": "drift", "level": "alarm", "message": f"bob\n{forged}"}
    (command,) = github_action.workflow_commands([alarm])
    assert re.split("[\r\n]", command) == [command]


def test_the_steps_are_run_by_the_python_that_they_install_into(tmp_path: Path) -> None:
    """Each `run:` in bash as GitHub starts it, with programs that only tell how they were called."""
    teller = f'#!/bin/sh\necho "$(basename "$0") $*" >> {shlex.quote(str(tmp_path / "told"))}\n'
    for place in (tmp_path / "bin" / "python", *(tmp_path / "jurors" / "bin" / name for name in ("python", "pip"))):
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(teller)
        place.chmod(0o755)
    path = f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "RUNNER_TEMP": str(tmp_path), "GITHUB_ACTION_PATH": "/action"}
    for step in (step for step in ACTION["runs"]["steps"] if "run" in step):
        subprocess.run(["bash", "-eo", "pipefail", "-c", step["run"]], env=environment, check=True)
    assert (tmp_path / "told").read_text().splitlines() == [
        f"python -m venv {tmp_path}/jurors",
        "pip install -q /action[plot,zstd]",
        "python -m jurors.integrations.github",
    ]


def test_every_input_reaches_a_step() -> None:
    used = str(ACTION["runs"])
    assert [name for name in ACTION["inputs"] if f"inputs.{name}" not in used] == []


def test_the_hook_of_pre_commit_gates_the_file_that_its_arguments_name(tmp_path: Path) -> None:
    hook: dict[str, Any]
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    (tmp_path / "votes.csv").write_text(VOTES)
    program, *words = shlex.split(hook["entry"])
    result = CliRunner().invoke(main, [*words, str(tmp_path / "votes.csv"), "--min-score", "0.99"])
    assert (program, result.exit_code, hook["pass_filenames"]) == ("jurors", 3, False)


def test_the_guide_checks_out_the_submodule_that_it_uses_and_gives_inputs_that_exist() -> None:
    guide = (ROOT / "docs" / "guides" / "ci.md").read_text(encoding="utf-8")
    blocks = [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.+?)```", guide, flags=re.DOTALL)]
    (steps,) = (block for block in blocks if "uses" in block[0])
    checkout, action = steps
    assert checkout["uses"].startswith("actions/checkout@")
    assert checkout["with"]["submodules"] is True  # else the folder of the action is empty
    assert action["uses"].startswith("./")
    assert set(action["with"]) <= set(ACTION["inputs"])
