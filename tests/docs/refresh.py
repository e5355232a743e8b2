"""Write what the code says today into the docs: `python tests/docs/refresh.py`, then read the diff.

Console blocks are run again. What stands between `<!-- print NAME -->` and `<!-- end -->` is printed anew.
"""

from __future__ import annotations

import inspect
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, is_dataclass
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import click
from click.testing import CliRunner

import jurors
from jurors.cli.main import COMMANDS, GROUPS, main
from jurors.errors import speaking_flags, spell_options
from jurors.evaluate.alarms import KINDS
from jurors.results import prose_in_markdown

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from tried_with import table as table_of_tools  # noqa: E402

FENCE = re.compile(r"^```(\w+)(?: title=\"([^\"]+)\")?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PRINTED = re.compile(r"^<!-- print ([\w-]+) -->\n(.*?)^<!-- end -->$", re.MULTILINE | re.DOTALL)
SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}$", re.MULTILINE)


# -- console blocks ---------------------------------------------------------------------------------------------------


def shown_commands(block: str) -> list[tuple[str, str]]:
    """Each command of a console block, which a backslash continues on the next line, and what it prints."""
    parts = re.split(r"^\$ ((?:.*\\\n)*.*)\n", block, flags=re.MULTILINE)
    return list(zip(parts[1::2], parts[2::2], strict=True))


def words(command: str) -> list[str]:
    """The words of a command."""
    return shlex.split(command.replace("\\\n", " "))


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


def _run(command: str, shown: str) -> str:
    if command == "echo $?" or re.search(r"^\.\.\.$", shown, flags=re.MULTILINE):
        return f"$ {command}\n{shown}"
    output = CliRunner().invoke(main, words(command)[1:], prog_name="jurors").output.rstrip("\n")
    gap = "\n" if shown.endswith("\n\n") else ""
    return f"$ {command}\n{output}\n{gap}" if output else f"$ {command}\n{gap}"


# -- commands ---------------------------------------------------------------------------------------------------------


def leaves(name: str) -> Iterator[tuple[str, click.Command]]:
    """A command, or its subcommands, by their full names."""

    def walk(name: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
        if not isinstance(command, click.Group):
            yield name, command
            return
        for each, inner in command.commands.items():
            yield from walk(f"{name} {each}", inner)

    command = main.get_command(click.Context(main), name)
    assert command is not None
    yield from walk(name, command)


def options_of(command: click.Command) -> list[click.Option]:
    """Its options, without those for help."""
    options = [param for param in command.params if isinstance(param, click.Option)]
    return [option for option in options if option.opts[-1] not in ("--help", "--help-all")]


def shared_options(*commands: str) -> dict[str, str]:
    """Options that all these commands have, with the same help."""
    every = [{spelling(o): _help_of(o) for _, c in leaves(name) for o in options_of(c)} for name in commands]
    return {option: text for option, text in every[0].items() if all(known.get(option) == text for known in every)}


def spelling(option: click.Option) -> str:
    """All its names."""
    return ", ".join(f"`{name}`" for name in (*option.opts[::-1], *option.secondary_opts))


def option_sets() -> dict[str, dict[str, str]]:
    """Sets of options that many commands share."""
    reading = shared_options("grade", "label", "check", "score", "compare", "agreement", "bounds", "inspect", "report")
    grading = shared_options("grade", "label", "check", "report")
    output = shared_options("grade", "label", "score", "compare", "agreement", "bounds", "plan")
    output = {option: text for option, text in output.items() if option not in reading}
    grading = {option: text for option, text in grading.items() if option not in {*reading, *output}}
    return {"reading": reading, "grading": grading, "output": output}


def print_commands() -> str:
    """Every command by group: what it does, how it is called, and the names of its options."""
    parts = []
    for group, commands in GROUPS.items():
        parts.append(f"## {group}")
        for name in commands:
            parts.append(f"### {name}")
            for path, command in leaves(name):
                usage = " ".join(command.collect_usage_pieces(click.Context(command)))
                parts += [f"`jurors {path} {usage}`", _one_line(command.help or "")]
                own = {spelling(o): _help_of(o) for o in options_of(command)}
                lacking = {title: shared.items() - own.items() for title, shared in option_sets().items()}
                sets = {title: gone for title, gone in lacking.items() if len(gone) <= len(option_sets()[title]) // 4}
                taken = {option for title in sets for option in option_sets()[title]}
                names = [
                    option
                    for option in own
                    if option not in taken or option in {o for s in sets.values() for o, _ in s}
                ]
                links = [f"[{title} options](#{title}-options){_except(gone)}" for title, gone in sets.items()]
                parts += [f"Options: {', '.join([*links, *names])}."] if links or names else []
    return "\n\n".join(parts) + "\n"


def _except(gone: Iterable[tuple[str, str]]) -> str:
    return f" (without {', '.join(sorted(option for option, _ in gone))})" if gone else ""


def print_options() -> str:
    """Every option once, with its help; where commands differ, a row for each meaning."""
    parts, known = [], set()
    for title, shared in option_sets().items():
        parts += [f"### {title.capitalize()} options", _table(shared.items())]
        known |= set(shared.items())
    meanings: dict[tuple[str, str], list[str]] = {}
    for name in COMMANDS:
        for path, command in leaves(name):
            for option in options_of(command):
                meanings.setdefault((spelling(option), _help_of(option)), []).append(path)
    others = sorted((entry for entry in meanings if entry not in known), key=lambda entry: entry[0].lstrip("`-"))
    several = [option for option, _ in others]
    rows = [
        (option, f"{text} ({', '.join(meanings[option, text])})" if several.count(option) > 1 else text)
        for option, text in others
    ]
    return "\n\n".join([*parts, "### Other options", _table(rows)]) + "\n"


def _table(rows: Iterable[tuple[str, str]]) -> str:
    return "\n".join(["| option | what it does |", "| --- | --- |", *(f"| {o} | {text} |" for o, text in rows)])


def _help_of(option: click.Option) -> str:
    text = _one_line(option.help or "")
    if isinstance(option.type, click.Choice):
        text += f" Choices: {', '.join(f'`{choice}`' for choice in option.type.choices)}."
    return text.replace("|", "\\|")


def _one_line(text: str) -> str:
    return "\n\n".join(" ".join(part.split()) for part in inspect.cleandoc(text).split("\n\n"))


# -- names ------------------------------------------------------------------------------------------------------------


def print_names(kind: str) -> str:
    """Public names of one kind: signature, docstring, members."""
    names = [name for name in jurors.__all__ if _kind_of(name) == kind]
    return "\n\n".join(_explained(name, getattr(jurors, name)) for name in names) + "\n"


def print_theory() -> str:
    """The names of `jurors.theory`, a line each."""
    return _members(jurors.theory)


def _kind_of(name: str) -> str:
    value = getattr(jurors, name)
    if isinstance(value, ModuleType):
        return "modules"
    if isinstance(value, type):
        return "errors" if issubclass(value, Exception) else "classes"
    return "functions"


def _explained(name: str, value: Any) -> str:
    parts = [f"### `{name}`"]
    if not isinstance(value, (type, ModuleType)):
        parts.append(f"```python\n{_signature(name, value)}\n```")
    doc = inspect.getdoc(value) or ""
    parts.append(_as_markdown(doc.partition("\n\n")[0] if isinstance(value, ModuleType) and name != "theory" else doc))
    if isinstance(value, ModuleType) and name != "theory":
        parts.append(_members(value).rstrip())
    if value is jurors.AsyncClient:
        parts.append("Its methods are those of `Client`, to be awaited.")
    elif isinstance(value, type) and not issubclass(value, Exception):
        parts.append("\n".join(f"- `{member}`: {text}" for member, text in _fields_and_methods(value).items()))
    return "\n\n".join(parts)


def _signature(name: str, function: Any) -> str:
    """How it is called, without the options that cli.md explains; a long signature has a parameter per line."""
    signature = inspect.signature(inspect.unwrap(function))
    text = re.sub(r": Any = ", "=", f"jurors.{name}{signature}".replace("'", ""))
    text = re.sub(r": Any\b(?! \|)", "", text)
    if len(text) <= 88:
        return text
    found = text.index("(") + 1
    inner, _, returns = text[found:].rpartition(") -> ")
    parameters = re.split(r", (?![^\[(]*[\])])", inner)
    return text[:found] + "\n    " + ",\n    ".join(parameters) + f",\n) -> {returns}"


def _as_markdown(doc: str) -> str:
    """A numpydoc docstring: parameters as a list, examples indented."""
    pieces = SECTION.split(doc)
    parts = [pieces[0].strip()]
    for title, body in zip(pieces[1::2], pieces[2::2], strict=True):
        if title == "Other Parameters":  # cli.md explains them
            continue
        if title == "Examples":
            parts.append(re.sub(r"^(?=.)", "    ", body.strip("\n"), flags=re.MULTILINE))
            parts[-1] = re.sub(r"^    (?!>>>|\.\.\.)(.*\S)\n\n(?=    >>>)", r"\1\n\n", parts[-1])
        elif title in ("Parameters", "Attributes"):
            entries = re.split(r"^(?=\S)", body.strip("\n"), flags=re.MULTILINE)[1:]
            named = [entry.partition("\n")[::2] for entry in entries]
            parts.append("\n".join(f"- `{name}`: {' '.join(text.split())}" for name, text in named))
        else:
            entries = re.split(r"^(?=\S)", body.strip("\n"), flags=re.MULTILINE)[1:]
            for name, _, text in (entry.partition("\n") for entry in entries):
                if text.strip():  # else the signature has it
                    parts.append(f"{title} `{name}`: {' '.join(text.split())}")
    return "\n\n".join(parts)


def _members(module: ModuleType) -> str:
    return "".join(f"- `{name}`: {_about(name, getattr(module, name))}\n" for name in _names_in(module))


def _about(name: str, value: Any) -> str:
    """The first line of what has a docstring; of a constant, what it lists."""
    lists = {
        "METHODS": "The methods of `grade`",
        "KINDS": "The kinds of charts",
        "FORMATS": "The formats of `render`",
        "THEMES": "The themes of `themed`",
    }
    if isinstance(value, (dict, tuple)):
        return f"{lists[name]}: {', '.join(f'`{entry}`' for entry in value)}."
    return _first_line(value)


def _names_in(module: ModuleType) -> list[str]:
    own = [n for n, v in vars(module).items() if getattr(v, "__module__", "") == module.__name__ and n[0] != "_"]
    return [n for n in getattr(module, "__all__", own) if not n.startswith("check_") or n == "check_method"]


def _first_line(value: Any) -> str:
    return _cell((inspect.getdoc(value) or "").partition("\n\n")[0])


def _fields_and_methods(cls: type) -> dict[str, str]:
    """Public members that the class itself or a private base defines, with a line each."""
    source = inspect.getsource(cls)
    said = dict(re.findall(r"^    (\w+): .*?#: (.*)$", source, flags=re.MULTILINE))
    found = {f.name: said.get(f.name, "") for f in fields(cls) if f.name[0] != "_"} if is_dataclass(cls) else {}
    defining = [base for base in cls.__mro__ if base is cls or base.__name__[0] == "_"]
    for name, member in (pair for base in defining for pair in vars(base).items()):
        if name[0] != "_" and name not in found and (callable(member) or hasattr(member, "__doc__")):
            text = _first_line(member.__func__ if isinstance(member, (classmethod, staticmethod)) else member)
            found[name] = text
    return {name: _cell(text) for name, text in found.items() if text}


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


# -- pages ------------------------------------------------------------------------------------------------------------


def _alarms(subject: str) -> str:
    """The kinds of alarms of one subject."""
    rows = []
    for kind in dict.fromkeys(kind for kind in KINDS.values() if kind.about == subject):
        with speaking_flags():
            meaning, advice = spell_options(kind.meaning), spell_options(kind.advice)
        advice = advice.format(who="the jurors that it names")
        reasons = ", ".join(f"`{reason}`" for reason in kind.reasons if reason != kind.name)
        meaning = f"{meaning[0].upper()}{meaning[1:]}.{f' Reasons: {reasons}.' if reasons else ''}"
        rows.append((f"`{kind.name}`", ", ".join(kind.levels), meaning, f"{advice}."))
    heads = ("kind", "level", "what it means", "what to do")
    cells = [[prose_in_markdown(cell) for cell in row] for row in rows]
    return "".join(f"| {' | '.join(row)} |\n" for row in (heads, ["---"] * len(heads), *cells))


PRINTERS: dict[str, Callable[[], str]] = {
    "commands": print_commands,
    "options": print_options,
    "theory": print_theory,
    "tools": table_of_tools,
    **{kind: partial(print_names, kind) for kind in ("functions", "classes", "errors", "modules")},
    **{f"alarms-{subject}": partial(_alarms, subject) for subject in ("grades", "votes", "bounds", "groups", "stream")},
}


def with_printed(page: str) -> str:
    """The page with every printed part anew."""
    return PRINTED.sub(lambda m: f"<!-- print {m[1]} -->\n\n{PRINTERS[m[1]]().rstrip()}\n\n<!-- end -->", page)


if __name__ == "__main__":
    only = sys.argv[1:]
    for path in [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))]:
        if only and path.name not in only:
            continue
        before = path.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            after = refreshed(with_printed(before))
            os.chdir(ROOT)
        if after != before:
            path.write_text(after, encoding="utf-8")
            print(f"refreshed {path.relative_to(ROOT)}")  # noqa: T201
