"""Pages that list something list all of it and no more; figures that they quote were printed; links lead somewhere."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click
import pytest
import yaml  # type: ignore[import-untyped]
from click.testing import CliRunner
from docs.refresh import FENCE, ROOT, with_alarm_tables, with_tried_table
from docs.test_examples import PAGES, SKILL, SKILL_COMMANDS, page_name
from tried_with import SAMPLES, TRIED, WROTE, Tried, table

import jurors
from jurors.cli.main import COMMANDS, main
from jurors.errors import SketchError
from jurors.evaluate.alarms import KINDS, Alarm
from jurors.evaluate.evaluation import KeyedEvaluation
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
        if link.startswith("gallery/"):  # pages that the site makes
            assert f'"{link.removeprefix("gallery/")}"' in read("website/make_site.py")
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


# -- docs/api.md --------------------------------------------------------------------------------------------------


def sections(page: str, heading: str) -> list[tuple[str, str]]:
    """Each heading, and the text below it."""
    parts = re.split(heading, page, flags=re.MULTILINE)
    return list(zip(parts[1::2], parts[2::2], strict=True))


API = dict(sections(read("docs/api.md"), r"^### `(\w+)`$"))


def test_the_page_explains_exactly_the_public_names_each_with_an_example() -> None:
    assert sorted(API) == sorted(jurors.__all__)
    assert [name for name, text in API.items() if ">>>" not in text] == []


@pytest.mark.parametrize("result", [jurors.Evaluation, jurors.Labelling, jurors.Alarm, KeyedEvaluation])
def test_every_field_of_a_result_is_explained_and_nothing_else(result: type) -> None:
    own = {name for name in vars(result) if not name.startswith("_")}
    public = own | {field.name for field in fields(result) if not field.name.startswith("_")}
    assert sorted(re.findall(r"^\| `(\w+)` \|", API[result.__name__], flags=re.MULTILINE)) == sorted(public)


# -- docs/cli.md --------------------------------------------------------------------------------------------------

CLI = read("docs/cli.md")
SECTIONS = {anchor(title): text for title, text in sections(FENCE.sub("", CLI), r"^## (.+)$")}


def documented(command: str) -> dict[str, str]:
    """Each option and its row in the command's own table and in the sections that its `Options:` line links to."""
    line = re.search(r"^Options: .*?\n\n", SECTIONS[command], flags=re.MULTILINE | re.DOTALL)
    linked = re.findall(r"\]\(#([\w-]+)\)", line.group()) if line else []
    rows = [
        row for name in (command, *linked)
        for row in re.findall(r"^\| (`-.*?`) \| (.*) \|$", SECTIONS[name], flags=re.MULTILINE)
    ]  # fmt: skip
    return {option: text for cell, text in rows for option in re.findall(r"`(-[\w-]+)`", cell)}


def options_of(name: str) -> dict[str, click.Option]:
    """The options that click knows, by each of their names."""
    command = main.get_command(click.Context(main), name)
    assert command is not None
    inner = list(command.commands.values()) if isinstance(command, click.Group) else []  # `jurors audit plan`
    options = [p for each in (command, *inner) for p in each.params if isinstance(p, click.Option)]
    return {spelling: option for option in options for spelling in (*option.opts, *option.secondary_opts)}


@pytest.mark.parametrize("name", COMMANDS)
def test_the_page_lists_exactly_the_options_of_each_command_with_their_choices_and_an_example(name: str) -> None:
    rows, options = documented(name), options_of(name)
    assert set(rows) - {"-h", "--help"} == set(options) - {"-h", "--help"}
    for spelling, option in options.items():
        if isinstance(option.type, click.Choice):
            assert [choice for choice in option.type.choices if f"`{choice}`" not in rows[spelling]] == [], spelling
    assert f"\n$ jurors {name}" in CLI


def test_the_page_names_no_option_that_does_not_exist() -> None:
    known = {spelling for name in COMMANDS for spelling in options_of(name)} | {"--version", "-h", "--help"}
    assert set(re.findall(r"(?<![\w|-])--?[a-z][a-z-]*(?![\w-])", CLI)) - known == set()


def test_the_page_names_every_method_exit_status_and_key_of_the_json_document(tmp_path: Path) -> None:
    assert set(re.findall(r"`(\w+)`", documented("grade")["--method"])) == {"auto", *jurors.theory.METHODS}
    assert re.findall(r"^\| (\d) \|", SECTIONS["exit-status"], flags=re.MULTILINE) == ["0", "1", "2", "3"]
    files = {name: text for _, name, text in FENCE.findall(CLI) if name}
    counts = tmp_path / "counts.csv"
    counts.write_text(files["counts.csv"], encoding="utf-8")
    document = json.loads(CliRunner().invoke(main, ["grade", str(counts), "--format", "json"]).stdout)
    keys = SECTIONS["grade"].split("these keys:")[1]
    assert re.findall(r"^\| `(\w+)` \|", keys, flags=re.MULTILINE) == list(document)


# -- alarms, and the tools that were tried ------------------------------------------------------------------------


def test_every_kind_of_alarm_says_what_it_means_and_what_to_do_and_the_page_prints_them() -> None:
    assert [name for name, kind in KINDS.items() if not (kind.meaning and kind.advice.format(who="ann"))] == []
    page = read("docs/guides/reading-the-report.md")
    assert with_alarm_tables(page) == page, "run python tests/docs/refresh.py"


@pytest.mark.parametrize(("kind", "level"), [("correlated_error", "warning"), ("irrational", "alarm")])
def test_an_alarm_that_the_catalogue_does_not_know_cannot_be_made(kind: str, level: Any) -> None:
    with pytest.raises(SketchError, match=kind):
        Alarm(kind, level, "something is odd")


def test_every_reader_and_host_is_in_the_table_of_tools_and_the_page_prints_it() -> None:
    assert {tool.reader for tool in TRIED if tool.reader} == set(READERS) - {"sketch", "by-true-label"}  # ours
    assert set(READERS) == set(TOOLS)
    hosts = {path.stem for path in (ROOT / "src/jurors/integrations").glob("*.py")} - {"__init__"}
    modules = {tool.module for tool in TRIED if tool.module}
    assert modules == {f"integrations.{name}" for name in hosts} | {"pandas", "metrics"}
    assert all(find_spec(f"jurors.{module}") for module in modules)
    page = read("docs/guides/other-tools.md")
    assert table() in page, "run python tests/docs/refresh.py"
    assert with_tried_table(page) == page


@pytest.mark.parametrize("tool", [t for t in TRIED if t.how == WROTE and t.reader], ids=lambda tool: tool.tool)
def test_what_a_tool_wrote_is_there(tool: Tried) -> None:
    folder = ROOT / "tests" / SAMPLES / (tool.reader if ":" in READERS[tool.reader] else READERS[tool.reader])
    assert [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".py"]


def test_a_version_that_nothing_names_is_an_error() -> None:
    with pytest.raises(LookupError, match=r"make_samples\.py names no version of nothing"):
        _ = Tried("Nothing", "nothing", WROTE, f"{SAMPLES}/make_samples.py", "nothing").version


# -- figures about calibration: each is one that `benchmarks/calibration.py` printed --------------------------------

PRINTED = read("docs/calibration_output.md")
FIGURE = re.compile(r"\d*\.\d+%?|\d+%")


def prose(text: str) -> str:
    return re.sub(r"```.*?```|`[^`]*`", "", text, flags=re.DOTALL)


CALIBRATION = prose(read("docs/calibration.md"))


@pytest.mark.parametrize("page", ["docs/index.md", "README.md"])
def test_the_figures_of_the_first_screen_were_printed(page: str) -> None:
    independent, real, *_ = re.findall(r"^\| scores \| [^|]+ \| (\S+%) \(", PRINTED, flags=re.MULTILINE)  # at 90%
    assert float(independent[:-1]) < 50 < float(real[:-1])
    start = prose(read(page).split("\n## ")[0])
    assert {independent, real} <= set(FIGURE.findall(start)) <= set(FIGURE.findall(PRINTED))


def test_every_figure_was_printed() -> None:
    readme = prose(read("README.md").partition("## How far to believe it\n")[2].partition("\n## ")[0])
    for text in (CALIBRATION, readme):
        quoted = set(FIGURE.findall(text))
        assert len(quoted) > 10
        assert quoted - set(FIGURE.findall(PRINTED)) == set()


def test_the_worst_juries_and_the_rows_of_the_gold_table_stand_as_they_were_printed() -> None:
    share = re.compile(r"\b([a-z]\w*) (\d+%)")
    named = {
        pair for pair in share.findall(CALIBRATION) if pair[0] in {j.name for j in jurors.theory.reference_juries()}
    }
    cells = re.findall(r"^\| (\w+) \|(.*)\|$", PRINTED, flags=re.MULTILINE)
    assert len(named) >= 4
    assert named <= {*share.findall(PRINTED), *((name, s) for name, row in cells for s in FIGURE.findall(row))}
    gold = re.findall(r"^\| (\d+) \|(.*)\|$", CALIBRATION, flags=re.MULTILINE)
    printed = dict(re.findall(r"^\| (\d+) \|(.*)\|$", PRINTED.split("## Gold items where")[0], flags=re.MULTILINE))
    assert [int(size) for size, _ in gold] == [0, 10, 20, 50, 100, 200]
    for size, row in gold:
        assert set(FIGURE.findall(row)) <= set(FIGURE.findall(printed[size])), size
