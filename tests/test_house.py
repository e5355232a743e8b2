"""The guard: modules stay small, imports have no cycle, and every module that a page names exists."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "jurors"
MODULES = {
    ".".join(("jurors", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__"): path
    for path in sorted(SOURCE.rglob("*.py"))
}
PAGES = [ROOT / "CONTRIBUTING.md", ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
MOST_LINES = 600


def test_modules_are_small_and_import_each_other_without_a_cycle_and_no_public_class_name_is_given_twice() -> None:
    graph, classes = {}, Counter[str]()
    for name, path in MODULES.items():
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        assert _code_lines(text, tree) <= MOST_LINES, name
        graph[name] = set(_imports(tree)) - {name}
        classes.update(node.name for node in tree.body if isinstance(node, ast.ClassDef) and node.name[0] != "_")
    TopologicalSorter(graph).prepare()  # raises CycleError, which names the modules
    assert {name for name, times in classes.items() if times > 1} == set()


SHOW = "print('', *sys.modules)"
HELP = f"import jurors.cli.grade; jurors.cli.main(['--help'], standalone_mode=False); {SHOW}"
VOTES = "[['ab'[k % 2 ^ (k * (j + 2) % 101 % 7 == 0)] for j in range(4)] for k in range(200)]"
GRADED = f"str(jurors.grade(jurors.Votes.from_matrix({VOTES})))"
GRADING = f"{GRADED}; {SHOW}; import pydoc; assert 'grade(' in pydoc.render_doc(jurors)"
LINES = f"['wxyz', *map(''.join, {VOTES})]"
CHECKED = f"import io; print(jurors.check(io.StringIO('\\n'.join(map(','.join, {LINES}))))); {SHOW}"
ROOMS = ("audit", "cli", "client", "lab", "monitor", "numeric", "pairwise", "reporting", "serve", "watch")


@pytest.mark.parametrize(
    ("code", "unneeded"),
    [
        (HELP, {"numpy", "scipy", "duckdb", "flint", "narwhals", "pandas"}),
        (CHECKED, {"scipy", "duckdb", "xml"}),
        (GRADING, {"scipy", "flint", "numpy.ma", "jurors.uncertainty.bounds", *(f"jurors.{room}" for room in ROOMS)}),
    ],
    ids=["help", "a small file", "grading"],
)
def test_nothing_loads_more_than_it_needs(code: str, unneeded: set[str]) -> None:
    code = f"import sys, jurors; sys.modules['sklearn'] = None; {code}"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert unneeded & set(shown.splitlines()[-1].split()) == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_module_that_a_page_names_is_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    files = {name for name in re.findall(r"[\w./-]+\.py\b", text) if "yours" not in name}
    assert {name for name in files if not _file_exists(name)} == set()
    dotted = set(re.findall(r"\bjurors(?:\.[a-z_]\w*)+", text))
    assert {name for name in dotted if not _name_exists(name)} == set()


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "src/jurors/__init__.py"])
def test_every_package_is_on_the_map(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    places = {path.relative_to(SOURCE) for path in MODULES.values() if not path.name.startswith("__")}
    names = {place.parts[0] + ("/" if len(place.parts) > 1 else "") for place in places}
    assert {name for name in names if name not in text} == set()
    folders = re.findall(r"^\W*([a-z_]+/)", text, flags=re.MULTILINE)
    assert {name for name in folders if not (SOURCE / name).is_dir() and not (ROOT / name).is_dir()} == set()


def _code_lines(text: str, tree: ast.Module) -> int:
    """Lines that hold code: no comments, no docstrings, no blank lines."""
    lines = {k for k, line in enumerate(text.splitlines(), 1) if line.strip() and not line.lstrip().startswith("#")}
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            lines.difference_update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(lines)


def _imports(tree: ast.Module) -> list[str]:
    """The modules of ours that importing this one imports, packages only where nothing in them is named."""
    found = []
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module in MODULES:
            found += [f"{node.module}.{name.name}" for name in node.names if f"{node.module}.{name.name}" in MODULES]
            found += [node.module] if MODULES[node.module].name != "__init__.py" else []
    return found


def _file_exists(name: str) -> bool:
    """Whether a path is there, as seen from the project, from `src/jurors` or from `tests`; a bare name, anywhere."""
    if "/" not in name:
        return (ROOT / name).is_file() or any(ROOT.glob(f"[!.]*/**/{name}"))
    return any((folder / name).is_file() for folder in (ROOT, SOURCE, SOURCE / "report", ROOT / "tests"))


def _name_exists(name: str) -> bool:
    """Whether `jurors.a.b` is a module, or a name that stands in one; without importing what it needs."""
    module, last = name, ""
    while module not in MODULES:
        module, _, last = module.rpartition(".")
    return re.search(rf"\b{last}\b", MODULES[module].read_text(encoding="utf-8")) is not None
