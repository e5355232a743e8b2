"""Commands as lines to paste into a shell, with the options that say how their files are read."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from jurors.options import PairOptions, PairReading, Reading, ReadingOptions, spell_option, text_columns

_READING = {option.name: option for option in spell_option(ReadingOptions, Reading) if option.name != "memory"}
_PAIRS = {option.name: option for option in spell_option(PairOptions, PairReading) if option.name != "memory"}
_OPTIONS = {**_READING, **{name: option for name, option in _PAIRS.items() if name not in _READING}}


def command_line(name: str, files: Sequence[str], reading: Mapping[str, Any], *more: str) -> str:
    """Write a command as a line to paste into a shell.

    Parameters
    ----------
    name, files
        The command and its arguments.
    reading
        Reading options, of which those that are not the defaults are written.
    more
        Further words.

    Returns
    -------
    str
        Quoted for a POSIX shell.

    Examples
    --------
    >>> command_line("grade", ["my votes.csv"], {"missing": ("NA", "?"), "layout": "auto"})
    "jurors grade 'my votes.csv' --missing NA --missing '?'"
    """
    words = ["jurors", *name.split()]
    words += [f"./{file}" if file.startswith("-") and file != "-" else file for file in files]
    for option, spelling in _OPTIONS.items():
        value, flag = reading.get(option), spelling.option.flag
        if value is None or value == spelling.default or value == []:
            continue
        if spelling.kind is bool:
            words.append(flag)
            continue
        if isinstance(value, Mapping):
            value = [f"{old}={new}" for old, new in value.items()]
        if spelling.option.several == "commas":
            value = value if isinstance(value, (str, int)) else ",".join(map(str, value))
        for word in text_columns([value] if isinstance(value, (int, float)) else value):
            words += [f"{flag}={word}"] if word.startswith("-") else [flag, word]
    return shlex.join([*words, *more])
