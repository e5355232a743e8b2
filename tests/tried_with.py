"""Which tools `jurors` was tried with: every reader and every host, what works, and the file that says which version.

Versions stand where they are used, in the scripts that make samples and in the pins of the development environment,
and are read from there. `python tests/docs/refresh.py` prints the table into `docs/guides/other-tools.md`.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from pathlib import Path

TESTS = Path(__file__).parent
SAMPLES = "votes/readers/samples"

WROTE = "tests read what the tool wrote"


@dataclass(frozen=True)
class Tried:
    """A tool, and how it is known that it works."""

    tool: str
    works: str
    how: str
    proof: str = ""  #: below tests: where the version stands
    package: str = ""  #: as it is called there
    reader: str = ""  #: what `--from` calls it
    module: str = ""  #: which module of ours works inside it

    @property
    def version(self) -> str:
        """The version that the proof names; none of a documented format."""
        if not self.package:
            return ""
        text = (TESTS / self.proof).read_text(encoding="utf-8")
        found = re.search(rf"(?<![\w-]){re.escape(self.package)}(?:==|@| )(\d[\w.]*\w)", text)
        if found is None:
            raise LookupError(f"{self.proof} names no version of {self.package}")
        return found[1]


with (TESTS / "tried_with.csv").open(encoding="utf-8", newline="") as _file:
    TRIED = tuple(Tried(**row) for row in csv.DictReader(_file))


def table() -> str:
    """Every tool with its version and what works, by how it was tried; as a Markdown list."""
    lines: dict[str, list[str]] = {}
    for one in sorted(TRIED, key=lambda one: one.tool.lower()):
        lines.setdefault(one.how, []).append(f"{one.tool} {one.version}".strip() + f" ({one.works})")
    return "".join(f"- **{how[0].upper()}{how[1:]}**: {', '.join(tools)}.\n" for how, tools in lines.items())
