"""Options are defined once, and one that does not exist is refused with the nearest name, for every kind of source."""

from __future__ import annotations

import re
from collections.abc import Callable
from inspect import getdoc, isfunction, signature
from pathlib import Path
from typing import Any

import click
import pandas as pd
import pytest

import jurors
from jurors.cli.main import COMMANDS, main
from jurors.errors import OptionError
from jurors.jury.estimator import Jury
from jurors.options import Grading, GradingOptions, ReadingOptions, column_names, flags_of
from jurors.sketch.count import read_sketch

ROOT = Path(__file__).resolve().parents[1]
ROWS = [["a", "a", "b"], ["b", "b", "b"], ["a", "b", "a"], ["b", "b", "a"]] * 10
NAMES = ("ann", "bob", "cy")


def _path(folder: Path) -> Path:
    path = folder / "votes.csv"
    path.write_text("\n".join(",".join(row) for row in [list(NAMES), *ROWS]))
    return path


SOURCES: dict[str, Callable[[Path], Any]] = {
    "path": _path,
    "frame": lambda _: pd.DataFrame(ROWS, columns=list(NAMES)),
    "matrix": lambda _: ROWS,
    "votes": lambda _: jurors.Votes.from_matrix(ROWS),
    "sketch": lambda _: jurors.Sketch.from_votes(jurors.Votes.from_matrix(ROWS)),
}
CALLS: dict[str, Callable[..., Any]] = {
    "grade": jurors.grade,
    "label": jurors.label,
    "score": lambda source, **options: jurors.score(source, ["a", "b"] * 20, **options),
    "compare": jurors.compare,
    "bounds": jurors.bounds,
    "agreement": jurors.agreement,
    "grade by group": lambda source, **options: jurors.grade(source, by=["old", "new"] * 20, **options),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("source", SOURCES)
def test_an_unknown_option_is_refused_with_the_nearest_name(call: str, source: str, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"there is no option 'layot'\. Did you mean 'layout'") as caught:
        CALLS[call](SOURCES[source](tmp_path), layot="wide")
    assert (caught.value.code, caught.value.about["name"]) == ("unknown_option", "layot")


FUNCTIONS = [name for name in jurors.__all__ if isfunction(getattr(jurors, name))]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_help_lists_every_option_with_its_type_and_what_it_does(name: str) -> None:
    verb = getattr(jurors, name)
    explained = re.findall(r"^(\w[\w, ]*?)(?: : .*)?\n    +\S", getdoc(verb) or "", re.MULTILINE)
    known = {word for line in explained for word in line.split(", ")}
    parameters = signature(verb).parameters.values()
    assert len(parameters) >= (1 if name == "load_example" else 6)
    assert [p.name for p in parameters if p.name not in known] == []
    assert [p for p in parameters if p.kind is p.VAR_KEYWORD or p.annotation is p.empty] == []


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_verb_suggests_the_option_that_was_meant(name: str) -> None:
    verb = getattr(jurors, name)
    last = list(signature(verb).parameters)[-1]
    with pytest.raises(OptionError, match=f"there is no option '{last}x'. Did you mean '{last}'"):
        verb(**{f"{last}x": 1})
    if "by" not in signature(verb).parameters:
        with pytest.raises(OptionError, match="has no option by=; pass it to the verbs that take votes"):
            verb(by="model")
    elif "system" not in signature(verb).parameters:
        with pytest.raises(OptionError, match=f"{name} has no option system=; write by='model'"):
            verb(ROWS, system="model")


@pytest.mark.parametrize("read", [jurors.read_votes, read_sketch, jurors.inspect])
def test_a_reader_refuses_what_is_no_option(read: Callable[..., Any], tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"no option 'mising'\. Did you mean 'missing'"):
        read(_path(tmp_path), mising=("a",))


@pytest.mark.parametrize("read", [jurors.Votes.from_frame, jurors.Sketch.from_frame])
def test_a_frame_takes_the_options_of_a_table(read: Callable[..., Any]) -> None:
    with pytest.raises(OptionError, match=r"no option 'ignor'\. Did you mean 'ignore'"):
        read(pd.DataFrame(ROWS, columns=list(NAMES)), ignor="ann")


@pytest.mark.parametrize(
    ("source", "option"), [("votes", "layout"), ("sketch", "missing"), ("matrix", "item"), ("frame", "memory")]
)
def test_an_option_that_does_not_apply_is_refused(source: str, option: str, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=f"{option}= does not apply") as caught:
        CALLS["grade"](SOURCES[source](tmp_path), **{option: "wide"})
    assert caught.value.code == "does_not_apply"


def test_label_takes_every_option_of_reading(tmp_path: Path) -> None:
    told: list[float] = []
    assert len(jurors.label(_path(tmp_path), memory="1GB", progress=told.append, layout="wide")) == 40
    with pytest.raises(OptionError, match="no reader 'inspct'"):
        jurors.label(_path(tmp_path), tool="inspct")


def test_an_estimator_has_the_defaults_of_grading() -> None:
    ours = {name: value for name, value in Jury().get_params().items() if name in column_names(GradingOptions)}
    assert ours == {name: getattr(Grading(), name) for name in ours}


def test_the_page_lists_the_options_that_are_defined() -> None:
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    known = [*flags_of(GradingOptions), *flags_of(ReadingOptions)]
    listed = set(re.findall(r"^\| `(--[\w-]+)", page, flags=re.MULTILINE))
    assert {one.flag for one in known} - listed == set()


def test_commands_take_the_flags_and_defaults_that_are_defined() -> None:
    command = main.get_command(click.Context(main), "grade")
    assert command is not None
    assert "grade" in COMMANDS
    options = {option.opts[0]: option for option in command.params if isinstance(option, click.Option)}
    for one in (*flags_of(ReadingOptions), *flags_of(GradingOptions)):
        option = options[one.flag]
        assert option.help == one.help.replace("juror= names", "--juror names")
        assert option.get_default(click.Context(command)) in (one.default, None)
