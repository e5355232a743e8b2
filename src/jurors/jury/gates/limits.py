"""What the user asks of a jury, `0.7`, `ann:0.7`, `ann:fail:0.7`: read, and resolved against the names there are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from jurors.errors import OptionError
from jurors.evaluate import Evaluation
from jurors.names import nearest
from jurors.votes import Label


@dataclass(frozen=True, order=True)
class Target:
    """Which share a limit is about: `statistic` of a juror, of a label, of both, or of the jury."""

    statistic: str  #: "score", "reliability", "accuracy", "prevalence", "wrong_labels"
    juror: str | None = None
    label: Label | None = None

    def __str__(self) -> str:
        names = ([] if self.juror is None else [self.juror]) + ([] if self.label is None else [str(self.label)])
        return " on ".join(names)


def score_limits(option: str, asked: Any, evaluation: Evaluation) -> dict[Target, float]:
    """`0.7` for every juror, `JUROR:0.8` for one, who then is asked that instead."""
    return _of_jurors("score", option, asked, evaluation.jurors)


def reliability_limits(option: str, asked: Any, jurors: Sequence[str]) -> dict[Target, float]:
    """The same of jurors who answer in numbers."""
    return _of_jurors("reliability", option, asked, jurors)


def _of_jurors(statistic: str, option: str, asked: Any, jurors: Sequence[str]) -> dict[Target, float]:
    everybody: dict[Target, float] = {}
    own: dict[Target, float] = {}
    for name, limit in _pairs(option, asked):
        if name is None:
            _once(option, everybody, {Target(statistic, juror): limit for juror in jurors})
        else:
            juror = nearest(name, jurors, "juror", error=OptionError)
            _once(option, own, {Target(statistic, juror): limit})
    return {**everybody, **own}


def accuracy_limits(option: str, asked: Any, evaluation: Evaluation) -> dict[Target, float]:
    """`LABEL:0.7` for every juror, `JUROR:LABEL:0.8` for one, who then is asked that instead."""
    everybody: dict[Target, float] = {}
    own: dict[Target, float] = {}
    for name, limit in _pairs(option, asked):
        juror, label = _juror_and_label(option, name, evaluation)
        if juror is None:
            _once(option, everybody, {Target("accuracy", one, label): limit for one in evaluation.jurors})
        else:
            _once(option, own, {Target("accuracy", juror, label): limit})
    return {**everybody, **own}


def prevalence_limits(option: str, asked: Any, evaluation: Evaluation) -> dict[Target, float]:
    """`LABEL:0.3`."""
    limits: dict[Target, float] = {}
    for name, limit in _pairs(option, asked):
        if name is None:
            raise OptionError(f"{option} {limit:g}: of which label? Write LABEL:{limit:g}", name=option, value=limit)
        _once(option, limits, {Target("prevalence", None, _label(name, evaluation)): limit})
    return limits


def wrong_limits(option: str, asked: Any, evaluation: Evaluation) -> dict[Target, float]:
    """`0.1`."""
    limits: dict[Target, float] = {}
    for name, limit in _pairs(option, asked):
        if name is not None:
            raise OptionError(f"{option} {name}:{limit:g}: it is about the whole jury, so give a share alone")
        _once(option, limits, {Target("wrong_labels"): limit})
    return limits


def share(option: str, value: Any) -> float:
    """A share from 0 to 1; OptionError where it is none."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = float("nan")
    if not 0.0 <= number <= 1.0:
        message = f"{option} {value}: a limit is a share from 0 to 1, such as 0.8"
        raise OptionError(message, code="out_of_range", name=option, value=value)
    return number


def _pairs(option: str, asked: Any) -> Iterator[tuple[Any, float]]:
    """(name or None, limit) of a number, of text, of a mapping by name, or of several of these."""
    if isinstance(asked, str):
        name, colon, value = asked.rpartition(":")  # names may hold colons, a limit never does
        yield (name if colon else None), share(f"{option} {asked}:" if colon else option, value)
    elif isinstance(asked, Mapping):
        for name, value in asked.items():
            yield name, share(option, value)
    elif isinstance(asked, (list, tuple)):
        for one in asked:
            yield from _pairs(option, one)
    elif asked is not None:
        yield None, share(option, asked)


def _juror_and_label(option: str, name: Any, evaluation: Evaluation) -> tuple[str | None, Label]:
    """The juror (None: every one) and the label meant; OptionError where two are, or none is."""
    if isinstance(name, tuple):
        juror, label = name
        return (
            nearest(juror, evaluation.jurors, "juror", error=OptionError),
            _label(label, evaluation),
        )
    if name is None:
        raise OptionError(f"{option}: on which label? Write LABEL:SHARE or JUROR:LABEL:SHARE", name=option)
    meant = list(_readings(str(name), evaluation))
    if len(meant) > 1:
        shown = " or ".join(f"label {b!r}" if j is None else f"juror {j!r} on label {b!r}" for j, b in meant)
        raise OptionError(f"{option} {name}: this may mean {shown}; in Python, give {{(juror, label): share}}")
    if meant:
        return meant[0]
    if _is_open(evaluation):
        jurors = [juror for juror in evaluation.jurors if str(name).startswith(f"{juror}:")]
        longest = max(jurors, key=len, default=None)
        return longest, str(name) if longest is None else str(name)[len(longest) + 1 :]
    known = [*evaluation.labels, *(f"{j}:{a}" for j, a in product(evaluation.jurors, evaluation.labels))]
    return None, nearest(name, known, "label, or JUROR:LABEL,", error=OptionError)


def _label(name: Any, evaluation: Evaluation) -> Label:
    known = [*evaluation.labels, name] if _is_open(evaluation) else evaluation.labels
    label: Label = nearest(name, known, "label", error=OptionError)
    return label


def _is_open(evaluation: Evaluation) -> bool:
    """Where only one label was ever said, a limit on another is no slip: on other days, others are said."""
    return any(alarm.kind == "single_label" for alarm in evaluation.alarms)


def _readings(name: str, evaluation: Evaluation) -> Iterator[tuple[str | None, Label]]:
    labels = {str(label): label for label in evaluation.labels}
    if name in labels:
        yield None, labels[name]
    for place, letter in enumerate(name):
        if letter == ":" and name[:place] in evaluation.jurors and name[place + 1 :] in labels:
            yield name[:place], labels[name[place + 1 :]]


def _once(option: str, limits: dict[Target, float], more: dict[Target, float]) -> None:
    if twice := [target for target in more if target in limits]:
        about = f" for {twice[0]}" if str(twice[0]) else ""
        raise OptionError(f"{option} is given twice{about}", name=option)
    limits.update(more)
