"""What the GitHub Action runs: `python -m jurors.integrations.github`, with the inputs of `action.yml` as variables.

The card goes into the job's summary, alarms become annotations, and the report is ready to upload; the exit status is
that of `jurors check`. Names from files are untrusted: no line that they start is a workflow command.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from jurors.integrations import CompletedRun, run_jurors
from jurors.results import Listing

_ANNOTATION = {"alarm": "error", "warning": "warning"}  # notes are in the summary alone


def main(environment: Mapping[str, str]) -> int:
    """Check and report: summary, annotations and outputs of the job.

    Returns
    -------
    int
        The exit status of `jurors check`.
    """
    files, options = (shlex.split(environment.get(f"JURORS_{name}", "")) for name in ("FILES", "OPTIONS"))
    limits, page = shlex.split(environment.get("JURORS_LIMITS", "")), environment.get("JURORS_REPORT", "")
    with tempfile.TemporaryDirectory(prefix="jurors-") as folder:
        verdict_file = Path(folder) / "verdict.json"
        words = ("--card", "--format", "md", "--json", str(verdict_file))
        checked = run_jurors("check", *options, *limits, *words, "--", *files)
        has_verdict = checked.status in (0, 3)  # else the text is an error message, which is not Markdown
        card = checked.text if has_verdict else Listing(checked.text.splitlines()).to_markdown()
        _append(environment.get("GITHUB_STEP_SUMMARY"), f"## jurors\n\n{card}\n")
        _print(without_commands(checked.text))
        if not has_verdict:
            _print(_annotation("error", "jurors", checked.text))
            return checked.status
        verdict = json.loads(verdict_file.read_text(encoding="utf-8"))
    _print(*workflow_commands(verdict["alarms"]))
    report = run_jurors("report", *options, "-o", page, "--", *files) if page else CompletedRun(0, "")
    outputs = {"passed": json.dumps(verdict["passed"]), "verdict": " ".join(verdict["verdict"].split())}
    _append(environment.get("GITHUB_OUTPUT"), "".join(f"{name}={value}\n" for name, value in outputs.items()))
    if report.status:
        _print(_annotation("error", "jurors report", report.text))
    return checked.status or report.status


#: `::name::` at the start of a line, `##[name]` anywhere
_COMMAND = re.compile(r"(?:^|\r)\s*:(?=:)|#(?=#\[)", re.MULTILINE)


def without_commands(text: str) -> str:
    r"""Escape what GitHub would execute as a workflow command in the log of a job.

    Returns
    -------
    str
        The text, with a backslash inside each command.

    Examples
    --------
    >>> print(without_commands("::error::forged, but a::b and ##[group]"))
    :\:error::forged, but a::b and #\#[group]
    """
    return _COMMAND.sub(lambda match: f"{match[0]}\\", text)


def workflow_commands(alarms: list[dict[str, Any]]) -> Iterator[str]:
    """Write each warning and alarm as a workflow command.

    Returns
    -------
    iterator of str
        One line each.

    Examples
    --------
    >>> list(workflow_commands([{"kind": "weak_pair", "level": "warning", "message": "100% noise"}]))
    ['::warning title=weak_pair::100%25 noise']
    """
    for alarm in alarms:
        if alarm["level"] in _ANNOTATION:
            yield _annotation(_ANNOTATION[alarm["level"]], alarm["kind"], alarm["message"])


def _annotation(level: str, title: str, message: str) -> str:
    """A workflow command; names from files cannot end it, nor begin another."""
    escaped = message.strip().replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return f"::{level} title={title}::{escaped}"


def _append(path: str | None, text: str) -> None:
    if path:
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(text)


def _print(*lines: str) -> None:
    sys.stdout.writelines(f"{line}\n" for line in lines)
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(os.environ))
