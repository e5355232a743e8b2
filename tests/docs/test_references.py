"""Pages that list something list all of it and no more; figures that they quote were printed; links lead somewhere."""

from __future__ import annotations

import json
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]
from command_line import run
from docs.refresh import ROOT, leaves, options_of, with_printed
from docs.test_examples import PAGES, SKILL, SKILL_COMMANDS, page_name
from tried_with import SAMPLES, TRIED, WROTE, Tried

import jurors
from jurors.cli.main import COMMANDS
from jurors.errors import SketchError
from jurors.evaluate.alarms import KINDS, Alarm
from jurors.options import TOOLS
from jurors.votes.readers import READERS


def read(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def anchor(title: str) -> str:
    """As GitHub makes it of a heading."""
    return re.sub(r"[^\w -]", "", title.lower()).strip().replace(" ", "-")


def headings(page: str) -> set[str]:
    return set(map(anchor, re.findall(r"^#+ (.+)$", page, flags=re.MULTILINE)))


# -- links --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_every_link_of_the_page_leads_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if "://" in link:
            continue
        path, _, place = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert not place or place in headings(target.read_text(encoding="utf-8")), link


def test_every_page_that_llms_txt_names_is_there_and_every_guide_is_named() -> None:
    links = set(re.findall(r"\]\(([^)]+)\)", read("llms.txt")))
    assert {link for link in links if not (ROOT / link).is_file()} == set()
    assert {page_name(page) for page in ROOT.glob("docs/guides/*.md")} <= links


def test_the_skill_names_commands_that_there_are_and_says_when_to_use_it() -> None:
    assert {command.split()[1] for command in SKILL_COMMANDS} - {"COMMAND"} <= set(COMMANDS)
    about = yaml.safe_load(SKILL.split("---")[1])
    assert about["name"] == "jurors"
    assert 100 < len(about["description"]) <= 1024


# -- what is printed from the code --------------------------------------------------------------------------------


@pytest.mark.parametrize("page", ["cli", "api", "alarms", "guides/other-tools"])
def test_the_page_is_what_the_code_says(page: str) -> None:
    text = read(f"docs/{page}.md")
    assert with_printed(text) == text, "run python tests/docs/refresh.py"


def test_every_name_command_and_option_is_there() -> None:
    assert sorted(re.findall(r"^### `(\w+)`$", read("docs/api.md"), flags=re.MULTILINE)) == sorted(jurors.__all__)
    assert [name for name in jurors.theory.__all__ if f"- `{name}`: " not in read("docs/api.md")] == []
    cli = read("docs/cli.md")
    options = {o.opts[-1] for name in COMMANDS for _, command in leaves(name) for o in options_of(command)}
    assert [name for name in COMMANDS if f"\n### {name}\n" not in cli] == []
    assert [option for option in options if f"| `{option}`" not in cli] == []
    assert [method for method in jurors.theory.METHODS if method not in read("docs/api.md") + cli] == []


# -- columns and keys ---------------------------------------------------------------------------------------------

RESULTS = {  # a command, and the section of docs/columns.md that explains its columns
    "grade votes.csv": "grade",
    "grade levels.csv --scale ordinal": "grade",
    "grade scores.csv --scale interval": "grade, for numbers",
    "grade pairs.csv": "grade, for preferences",
    "label votes.csv": "label",
    "label votes.csv --review 3": "label",
    "label levels.csv --scale ordinal": "label",
    "label scores.csv --scale interval": "label",
    "score votes.csv --key votes.truth.csv": "score",
    "compare votes.csv --key votes.truth.csv --methods majority": "compare",
    "compare votes.csv --panels": "compare --panels",
    "compare votes.csv --answers sheet.csv": "compare",
    "systems answers.csv --system model": "systems",
    "agreement votes.csv": "agreement",
    "bounds votes.csv": "bounds",
    "rank pairs.csv": "rank",
    "audit plan votes.csv -n 5": "audit plan",
    "plan": "plan",
}


@pytest.fixture
def example_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [(1, 1, 2, 1), (2, 2, 3, 2), (3, 3, 3, 3), (2, 2, 3, 1), (1, 1, 1, 1), (2, 3, 3, 2)] * 5
    lines = [",".join(map(str, (k, *row))) for k, row in enumerate(rows)]
    Path("levels.csv").write_text("item,ann,bob,cy,dee\n" + "\n".join(lines) + "\n")
    numbers = [
        ",".join(map(str, (k, *(v + 0.1 * ((k * (j + 3)) % 7) for j, v in enumerate(row)))))
        for k, row in enumerate(rows)
    ]
    Path("scores.csv").write_text("item,ann,bob,cy,dee\n" + "\n".join(numbers) + "\n")
    pairs = [f"{j},{a},{b},{min(a, b)}" for j in ("ann", "bob", "eve") for a in "xyz" for b in "xyz" if a != b]
    Path("pairs.csv").write_text("juror,left,right,winner\n" + "\n".join(pairs) + "\n")
    simulated = "simulate --items 60 --jurors ann,bob,cy,dee --labels pass,fail -o votes.csv"
    assert run(*simulated.split()).exit_code == 0
    assert run("audit", "plan", "votes.csv", "-n", "20", "-o", "sheet.csv").exit_code == 0
    Path("sheet.csv").write_text(Path("sheet.csv").read_text().replace(",,", ",pass,"))
    heads, *votes = Path("votes.csv").read_text().splitlines()
    answers = [f"{k // 2},{'ab'[k % 2]},{line.partition(',')[2]}" for k, line in enumerate(votes)]
    Path("answers.csv").write_text("\n".join([f"item,model,{heads.partition(',')[2]}", *answers]))


@pytest.mark.slow
@pytest.mark.usefixtures("example_files")
@pytest.mark.parametrize("command", RESULTS)
def test_every_column_is_in_the_dictionary(command: str) -> None:
    printed = run(*command.split(), "--format", "csv")
    columns = printed.stdout.partition("\n")[0].split(",")
    text = dict(sections(read("docs/columns.md"), r"^## (.+)$"))[RESULTS[command]]
    if "--answers" in command:  # the page promises no other column
        assert set(re.findall(r"`(\w+)`", text.partition("With `--answers`")[2])) == set(columns)
    known = {re.sub(r"_(LABEL)", "", name) for name in re.findall(r"`([\w ]+)`", text)} | {
        "latent",
        "majority",
        "truth",
        "independent",
    }
    plain = (re.sub(r"_(low|high)$|_(pass|fail|\d)(?=_|$)|(?<=vote of )\w+", "", column) for column in columns)
    assert [
        c for c in plain if c not in known and c not in ("vote of ",) and not re.match(r"method|one column", c)
    ] == []


@pytest.mark.usefixtures("example_files")
@pytest.mark.parametrize("command", ["compare votes.csv --answers sheet.csv", "systems answers.csv --system model"])
def test_every_key_of_another_command_is_explained(command: str) -> None:
    document = json.loads(run(*command.split(), "--format", "json").stdout)
    named = "compare --answers" if "--answers" in command else "systems"
    row = read("docs/json.md").partition(f"\n| `{named}` | ")[2].partition("\n")[0]
    assert set(document) - {"schema"} <= set(re.findall(r"`(\w+)`", row))


@pytest.mark.usefixtures("example_files")
def test_every_key_of_the_document_is_explained() -> None:
    document = json.loads(run("grade", "votes.csv", "--format", "json").stdout)
    text = dict(sections(read("docs/json.md"), r"^## (.+)$"))["grade"]
    assert set(document) <= set(re.findall(r"`(\w+)`", text))
    assert set(document["independent"]) <= set(re.findall(r"`(\w+)`", text))


def sections(page: str, heading: str) -> list[tuple[str, str]]:
    """Each heading, and the text below it."""
    parts = re.split(heading, page, flags=re.MULTILINE)
    return list(zip(parts[1::2], parts[2::2], strict=True))


def test_the_docs_are_at_most_35_000_words() -> None:
    assert sum(len(page.read_text(encoding="utf-8").split()) for page in ROOT.glob("docs/**/*.md")) <= 35_000


# -- alarms, and the tools that were tried ------------------------------------------------------------------------


def test_every_kind_of_alarm_says_what_it_means_and_what_to_do_and_the_page_prints_them() -> None:
    assert [name for name, kind in KINDS.items() if not (kind.meaning and kind.advice.format(who="ann"))] == []
    assert [kind.name for kind in KINDS.values() if f"| `{kind.name}` |" not in read("docs/alarms.md")] == []


@pytest.mark.parametrize(("kind", "level"), [("correlated_error", "warning"), ("irrational", "alarm")])
def test_an_alarm_that_the_catalogue_does_not_know_cannot_be_made(kind: str, level: Any) -> None:
    with pytest.raises(SketchError, match=kind):
        Alarm(kind, level, "something is odd")


def test_every_reader_and_host_is_in_the_table_of_tools_and_the_page_prints_it() -> None:
    assert {tool.reader for tool in TRIED if tool.reader} == set(READERS) - {"sketch", "by-true-label"}  # ours
    assert set(READERS) == set(TOOLS)
    hosts = {path.stem for path in (ROOT / "src/jurors/integrations").glob("*.py")} - {"__init__"}
    modules = {tool.module for tool in TRIED if tool.module}
    assert modules == {f"integrations.{name}" for name in hosts} | {"metrics"}
    assert all(find_spec(f"jurors.{module}") for module in modules)


@pytest.mark.parametrize("tool", [t for t in TRIED if t.how == WROTE and t.reader], ids=lambda tool: tool.tool)
def test_what_a_tool_wrote_is_there(tool: Tried) -> None:
    folder = ROOT / "tests" / SAMPLES / (tool.reader if ":" in READERS[tool.reader] else READERS[tool.reader])
    assert [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".py"]


def test_a_version_that_nothing_names_is_an_error() -> None:
    with pytest.raises(LookupError, match=r"make_samples\.py names no version of nothing"):
        _ = Tried("Nothing", "nothing", WROTE, f"{SAMPLES}/make_samples.py", "nothing").version


# -- figures: each is one that a benchmark printed -----------------------------------------------------------------

PRINTED = read("benchmarks/printed/calibration.md")
FIGURE = re.compile(r"\d+\.\d+%?")


@pytest.mark.parametrize("page", ["docs/index.md", "docs/calibration.md"])
def test_every_figure_about_calibration_was_printed(page: str) -> None:
    text = re.sub(r"```.*?```|`[^`]*`|n / .*? ones|3\.1\d", "", read(page), flags=re.DOTALL)
    quoted = {figure.rstrip("%") for figure in FIGURE.findall(text)}
    assert quoted - {figure.rstrip("%") for figure in FIGURE.findall(PRINTED)} == set()
