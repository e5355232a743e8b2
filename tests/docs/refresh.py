"""Write what commands print today into the docs: `python tests/docs/refresh.py`, then read the diff."""

from __future__ import annotations

import os
import re
import shlex
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from click.testing import CliRunner

from jurors.cli.main import main
from jurors.evaluate.alarms import AlarmScope, table_of_kinds

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from tried_with import table as table_of_tools  # noqa: E402

FENCE = re.compile(r"^```(\w+)(?: title=\"([^\"]+)\")?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ALARM_TABLE = re.compile(r"^\| kind \| level \|.*\n(?:^\|.*\n)+", re.MULTILINE)
TRIED_TABLE = re.compile(r"^\| tool \| what works \|.*\n(?:^\|.*\n?)+", re.MULTILINE)


def shown_commands(block: str) -> list[tuple[str, str]]:
    """Each command of a console block and what it prints."""
    parts = re.split(r"^\$ (.*)\n", block, flags=re.MULTILINE)
    return list(zip(parts[1::2], parts[2::2], strict=True))


def refreshed(page: str) -> str:
    """The page with every console block run again; blocks that leave lines out with `...` stay as they are."""

    def block(match: re.Match[str]) -> str:
        language, name, text = match.groups()
        if name:
            Path(name).write_text(text, encoding="utf-8")
        if name or language != "console":
            return match.group()
        printed = [_run(command, shown) for command, shown in shown_commands(text)]
        return f"```console\n{''.join(printed)}```"

    return FENCE.sub(block, page)


def with_alarm_tables(page: str) -> str:
    """The page with its tables of alarms printed from the catalogue, in the order of their subjects."""
    subjects: Iterator[AlarmScope] = iter(("any", "votes", "labels", "bounds", "groups", "stream", "pairs", "numbers"))
    return ALARM_TABLE.sub(lambda _: table_of_kinds(next(subjects)).to_markdown() + "\n", page)


def with_tried_table(page: str) -> str:
    """The page with its table of the tools that were tried."""
    return TRIED_TABLE.sub(lambda _: table_of_tools(), page)


def _run(command: str, shown: str) -> str:
    if command == "echo $?" or re.search(r"^\.\.\.$", shown, flags=re.MULTILINE):
        return f"$ {command}\n{shown}"
    output = CliRunner().invoke(main, shlex.split(command)[1:], prog_name="jurors").output.rstrip("\n")
    gap = "\n" if shown.endswith("\n\n") else ""
    return f"$ {command}\n{output}\n{gap}" if output else f"$ {command}\n{gap}"


if __name__ == "__main__":
    for path in sorted(ROOT.glob("docs/**/*.md")):
        before = path.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            after = with_tried_table(with_alarm_tables(refreshed(before)))
            os.chdir(ROOT)
        if after != before:
            path.write_text(after, encoding="utf-8")
            print(f"refreshed {path.relative_to(ROOT)}")  # noqa: T201
