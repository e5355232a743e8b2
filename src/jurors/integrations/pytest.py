"""The pytest plug-in: `pytest --jurors votes.parquet` and the fixture `jurors_votes`, checked when the session ends.

Every session in an environment with `jurors` loads this module by its entry point, so it imports nothing heavy: it runs
`jurors check` in a process of its own, and only where votes were named or recorded.
"""

from __future__ import annotations

import json
import shlex
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jurors.integrations import CompletedRun, run_jurors

_GATED = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED)


class Recorder:
    """The votes that tests have recorded so far; calling it records one."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, str, Any, str | None]] = []

    def __call__(
        self, item: object, juror: object, label: str | bool | int | float | None, *, system: object = None
    ) -> None:
        """Record that `juror` gave `item` this `label` (None is no vote), and whose answer it was: the `system`."""
        label = getattr(label, "item", lambda: label)()  # xdist cannot serialise numpy scalars
        if not isinstance(label, str | bool | int | float | None):
            raise TypeError(f"a label must be a str, a number, a bool or None, not {type(label).__name__}: {label!r}")
        self.rows.append((str(item), str(juror), label, None if system is None else str(system)))


_RECORDED = pytest.StashKey[Recorder]()
_RESULTS = pytest.StashKey[dict[str, CompletedRun]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--jurors FILE`, `--jurors-check OPTIONS`, and the latter in the ini file."""
    group = parser.getgroup("jurors", "jurors: check votes")
    group.addoption(
        "--jurors", action="append", default=[], metavar="FILE", dest="jurors_files",
        help="Check the votes in this file with `jurors check` when the session ends. Repeatable.",
    )  # fmt: skip
    about = 'Options of `jurors check`, for --jurors and the fixture jurors_votes: --jurors-check="--min-score 0.7".'
    group.addoption("--jurors-check", default=None, metavar="OPTIONS", dest="jurors_check", help=about)
    parser.addini("jurors_check", about, type="args", default=[])


@pytest.fixture(scope="session")
def jurors_votes(request: pytest.FixtureRequest) -> Recorder:
    """Record votes with `jurors_votes(item, juror, label, system=...)`; they are checked when the session ends."""
    return request.config.stash.setdefault(_RECORDED, Recorder())


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> Iterator[None]:
    """Check the votes, let pytest print its summary, then print the verdicts: they are the last lines."""
    _check_votes(session, exitstatus)
    yield
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    for name, ran in session.config.stash.get(_RESULTS, {}).items():
        if reporter is not None:
            colour = {"red": True} if ran.status else {"green": True}
            lines = [line for line in ran.text.splitlines() if line.strip()] or [f"exit status {ran.status}"]
            line = lines[0] if ran.status in (0, 3) else lines[-1]  # the verdict comes first, an error after the usage
            reporter.write_line(f"jurors check {name}: {line}", bold=True, **colour)


def _check_votes(session: pytest.Session, exitstatus: int) -> None:
    """Check what was named and recorded; a worker of pytest-xdist hands its votes over instead."""
    config = session.config
    if hasattr(config, "workeroutput"):
        config.workeroutput["jurors_votes"] = config.stash.get(_RECORDED, Recorder()).rows
        return
    if exitstatus not in _GATED or config.option.collectonly:
        return
    options: str | None = config.option.jurors_check
    words = config.getini("jurors_check") if options is None else shlex.split(options)
    results = {file: run_jurors("check", "--card", *words, "--", file) for file in config.option.jurors_files}
    rows = config.stash.get(_RECORDED, Recorder()).rows
    if rows:
        with tempfile.TemporaryDirectory(prefix="jurors-") as folder:
            recorded = Path(folder) / "recorded.jsonl"
            column = words[words.index("--system") + 1] if "--system" in words[:-1] else "system"
            names: tuple[str, ...] = ("item", "juror", "label", column)
            if all(row[3] is None for row in rows):
                names = names[:3]
            elif "--system" not in words:
                words = ["--system", column, *words]
            lines = (json.dumps(dict(zip(names, row, strict=False))) for row in rows)
            recorded.write_text("\n".join(lines) + "\n", encoding="utf-8")
            results["votes of this session"] = run_jurors("check", "--card", *words, "--", str(recorded))
    config.stash[_RESULTS] = results
    failed = [ran for ran in results.values() if ran.status]
    if failed and exitstatus != pytest.ExitCode.TESTS_FAILED:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if failed and reporter is not None:
        reporter.stats["jurors check failed"] = failed  # "240 passed, 1 jurors check failed"


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take over what a worker of pytest-xdist has recorded."""
    rows = getattr(node, "workeroutput", {}).get("jurors_votes", ())
    if rows:
        node.config.stash.setdefault(_RECORDED, Recorder()).rows.extend(rows)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """The whole output of each check that fails; with -v, of every check."""
    for name, ran in config.stash.get(_RESULTS, {}).items():
        if not ran.status and config.option.verbose <= 0:
            continue
        terminalreporter.section(f"jurors check: {name}")
        terminalreporter.write_line(ran.text.rstrip("\n"))
