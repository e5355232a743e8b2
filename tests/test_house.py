"""The house: small rooms, one name for one thing, and every module that a page names is there."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from pkgutil import resolve_name

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "jurors"
MODULES = sorted(path.relative_to(SOURCE) for path in SOURCE.rglob("*.py") if not path.name.startswith("__"))
PLUG_INS = ("cli", "report/charts", "votes/readers")
DOORS = ("metrics", "pandas", "plot")  # what users import by this very name
MOST = 12
PAGES = [ROOT / "CONTRIBUTING.md", ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def test_a_room_holds_a_dozen_modules_unless_they_are_plugged_in() -> None:
    rooms = Counter(path.parent.as_posix() for path in MODULES if path.parent.name or path.stem not in DOORS)
    assert {room: size for room, size in rooms.items() if size > MOST and room not in PLUG_INS} == {}


def test_a_name_is_given_once_outside_commands_and_charts() -> None:
    names = Counter(path.stem for path in MODULES if path.parent.as_posix() not in ("cli", "report/charts"))
    assert [name for name, times in names.items() if times > 1] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_module_that_a_page_names_is_there(page: Path) -> None:
    text = page.read_text()
    files = {name for name in re.findall(r"[\w./-]+\.py\b", text) if "yours" not in name}
    assert {name for name in files if not _file_exists(name)} == set()
    dotted = set(re.findall(r"\bjurors(?:\.[a-z_]\w*)+", text))
    assert {name for name in dotted if not _name_exists(name)} == set()


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "src/jurors/__init__.py"])
def test_every_room_is_on_the_map(page: str) -> None:
    text = (ROOT / page).read_text()
    rooms = {path.parts[0] + "/" for path in MODULES if len(path.parts) > 1}
    top = {path.as_posix() for path in MODULES if len(path.parts) == 1}
    assert {name for name in rooms | top if name not in text} == set()
    folders = re.findall(r"^\W*([a-z_]+/)", text, flags=re.MULTILINE)
    assert {name for name in folders if not (SOURCE / name).is_dir() and not (ROOT / name).is_dir()} == set()


def _file_exists(name: str) -> bool:
    """Whether a path is there, as seen from the project, from `src/jurors` or from `tests`; a bare name, anywhere."""
    if "/" not in name:
        return (ROOT / name).is_file() or any(ROOT.glob(f"[!.]*/**/{name}"))
    return any((folder / name).is_file() for folder in (ROOT, SOURCE, SOURCE / "report", ROOT / "tests"))


def _name_exists(name: str) -> bool:
    """Whether `jurors.a.b` is a module, or a name in one."""
    try:
        resolve_name(name)
    except (ImportError, AttributeError):
        return False
    return True
