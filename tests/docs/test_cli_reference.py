"""`docs/cli.md` names every command and option, nothing else; every command shown in a page prints what it shows."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from jurors.cli.main import COMMANDS, main

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
FENCE = re.compile(r"^```(\w+)(?: title=\"([^\"]+)\")?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CONSOLE_PAGES = sorted(page for page in ROOT.glob("docs/**/*.md") if "```console" in page.read_text(encoding="utf-8"))


def _sections(page: str) -> dict[str, str]:
    """The text under each second-level heading, by the heading's anchor."""
    bare = FENCE.sub("", page)
    parts = re.split(r"^## (.+)$", bare, flags=re.MULTILINE)
    return {_anchor(title): text for title, text in zip(parts[1::2], parts[2::2], strict=True)}


def _anchor(title: str) -> str:
    return re.sub(r"[^\w -]", "", title.lower()).strip().replace(" ", "-")


def _rows(section: str) -> dict[str, str]:
    """Each option of a section's tables, and the text of its row."""
    rows = re.findall(r"^\| (`-.*?`) \| (.*) \|$", section, flags=re.MULTILINE)
    return {option: text for cell, text in rows for option in re.findall(r"`(-[\w-]+)`", cell)}


def _documented(command: str) -> dict[str, str]:
    """The options of a command's own table and of the sections that its `Options:` line links to."""
    sections = _sections(PAGE)
    own = sections[command]
    found = _rows(own)
    line = re.search(r"^Options: .*?\n\n", own, flags=re.MULTILINE | re.DOTALL)
    for anchor in re.findall(r"\]\(#([\w-]+)\)", line.group()) if line else []:
        found |= _rows(sections[anchor])
    return found


def _command(name: str) -> click.Command:
    found = main.get_command(click.Context(main), name)
    assert found is not None
    return found


def _context(command: click.Command) -> click.Context:
    return click.Context(command, help_option_names=["-h", "--help"])


def _options(name: str) -> dict[str, click.Option]:
    """The options that click knows, by each of their names."""
    command = _command(name)
    own = list(command.commands.values()) if isinstance(command, click.Group) else []  # `jurors audit plan`
    found = [p for each in (command, *own) for p in each.get_params(_context(each))]
    options = [p for p in found if isinstance(p, click.Option)]
    return {spelling: option for option in options for spelling in (*option.opts, *option.secondary_opts)}


@pytest.mark.parametrize("name", COMMANDS)
def test_the_page_lists_exactly_the_options_of_each_command(name: str) -> None:
    known = set(_options(name)) - {"-h", "--help"}
    assert set(_documented(name)) - {"-h", "--help"} == known


@pytest.mark.parametrize("name", COMMANDS)
def test_the_page_names_every_choice_of_an_option(name: str) -> None:
    rows = _documented(name)
    for spelling, option in _options(name).items():
        if isinstance(option.type, click.Choice):
            missing = [choice for choice in option.type.choices if f"`{choice}`" not in rows[spelling]]
            assert not missing, (name, spelling, missing)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_an_example(name: str) -> None:
    assert f"\n$ jurors {name}" in PAGE


def test_the_page_names_no_option_that_does_not_exist() -> None:
    known = {spelling for name in COMMANDS for spelling in _options(name)} | {"--version"}
    named = set(re.findall(r"(?<![\w|-])--?[a-z][a-z-]*(?![\w-])", PAGE))
    assert named <= known, named - known


def test_the_page_names_every_method() -> None:
    import jurors

    row = _documented("grade")["--method"]
    assert set(re.findall(r"`(\w+)`", row)) == {"auto", *jurors.METHODS}


def test_the_page_names_the_keys_of_the_json_document(tmp_path: Path) -> None:
    files = {name: text for _, name, text in FENCE.findall(PAGE) if name}
    counts = tmp_path / "counts.csv"
    counts.write_text(files["counts.csv"], encoding="utf-8")
    document = json.loads(CliRunner().invoke(main, ["grade", str(counts), "--format", "json"]).stdout)
    table = _sections(PAGE)["grade"].split("these keys:")[1]
    assert re.findall(r"^\| `(\w+)` \|", table, flags=re.MULTILINE) == list(document)


def test_the_page_explains_every_exit_status() -> None:
    assert re.findall(r"^\| (\d) \|", _sections(PAGE)["exit-status"], flags=re.MULTILINE) == ["0", "1", "2", "3"]


@pytest.mark.slow
@pytest.mark.parametrize("page", CONSOLE_PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_shown_prints_what_the_page_shows(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    status = 0
    for language, name, text in FENCE.findall(page.read_text(encoding="utf-8")):
        if name:
            Path(name).write_text(text, encoding="utf-8")
        elif language == "console":
            for command, shown in _commands(text):
                if command == "echo $?":
                    assert shown.strip() == str(status), (page.name, shown, status)
                    continue
                program, *arguments = shlex.split(command)
                assert program == "jurors", f"{page.name} runs {command!r}"
                result = CliRunner().invoke(main, arguments, prog_name="jurors")
                status = result.exit_code
                _assert_same(result.output, shown, f"{page.name}: $ {command}")


def _commands(block: str) -> list[tuple[str, str]]:
    """Each command of a console block and what it prints."""
    parts = re.split(r"^\$ (.*)\n", block, flags=re.MULTILINE)
    return list(zip(parts[1::2], parts[2::2], strict=True))


def _assert_same(printed: str, shown: str, where: str) -> None:
    """The same lines; a line of three dots stands for any lines."""
    pieces = re.split(r"^\.\.\.\n", shown.rstrip("\n") + "\n", flags=re.MULTILINE)
    pattern = ".*".join(re.escape(piece) for piece in pieces)
    if len(pieces) == 1:
        assert printed.rstrip("\n").splitlines() == shown.rstrip("\n").splitlines(), where
    assert re.fullmatch(pattern, printed.rstrip("\n") + "\n", flags=re.DOTALL), f"{where}\n{printed}"
