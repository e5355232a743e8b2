"""Specification, Bounds."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeAlias

from jurors.errors import OptionError, nearest
from jurors.evaluate import Alarm, Named
from jurors.evaluate.card import alarm_lines, percent
from jurors.results import Block, Columns, Drawable, Notes, Table, columns_of
from jurors.votes import Label

# `Specification`: what is asked of the jurors and of the test, such as "everybody at least 60% right on every label".
#
# Every statement must hold, so that of several floors for one juror on one label the highest counts. A floor asks for
#     R_il >= x M_il,  R_il: items of true label l that juror i called l;  M_il: items of true label l i voted on,
# and for nothing (0 >= 0) where no item of that label was voted on. Numbers are kept exactly: 0.6 is 3/5.


Share: TypeAlias = Fraction | float | str
_TERM = re.compile(r"^(?:(?P<name>.*?)\s*(?P<sign>>=|≥|<=|≤|=|:))?\s*(?P<share>[0-9.eE+/-]+\s*%?)$", re.DOTALL)
_FORMS = '"0.6" (everybody on every label), "A>=0.6", "gpt-4:0.6", "gpt-4:A>=0.6", "prevalence:A>=0.1"'


@dataclass(frozen=True)
class Specification:
    """Floors for the jurors' accuracies, and limits to the prevalences.

    Examples
    --------
    >>> asked = Specification(floor=0.5, labels={"A": 0.6}, jurors={"ann": {"B": 0.9}}, prevalence={"A": 0.1})
    >>> asked == Specification.parse("0.5, A>=0.6, ann:B>=0.9, prevalence:A>=0.1")
    True
    >>> print(asked)
    every juror at least 50% right on every label, every juror at least 60% right on A, ann at least 90% right on B, \
prevalence of A at least 10%
    >>> [[str(x) for x in row] for row in asked.floors(("ann", "bob"), ("A", "B"))]
    [['3/5', '9/10'], ['3/5', '1/2']]
    """

    floor: Share = Fraction(0)  #: of every juror on every label
    labels: Mapping[Label, Share] = field(default_factory=dict)  #: of every juror on this label
    jurors: Mapping[str, Share | Mapping[Label, Share]] = field(default_factory=dict)  #: of this juror [on this label]
    prevalence: Mapping[Label, Share | tuple[Share, Share]] = field(default_factory=dict)  #: least, or (least, most)

    def __post_init__(self) -> None:
        rows = {j: _shares(x) if isinstance(x, Mapping) else _share(x) for j, x in self.jurors.items()}
        limits = {a: _limits(x) for a, x in self.prevalence.items()}
        for name, value in (("floor", _share(self.floor)), ("labels", _shares(self.labels)), ("jurors", rows)):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "prevalence", limits)

    @classmethod
    def parse(cls, text: str) -> Specification:
        """Statements with commas between them.

        "0.6" is a floor for everybody on every label, "A>=0.6" for everybody on A, "gpt-4:0.6" for one juror,
        "gpt-4:A>=0.6" for one juror on A; "prevalence:A>=0.1" is about how often A is true, where also <= and = may
        stand. Shares may be percentages, "60%". The last colon ends a juror's name. Names with commas, and a juror
        called prevalence, need the constructor.

        Examples
        --------
        >>> Specification.parse("60%, prevalence:A<=1/3").prevalence
        {'A': (Fraction(0, 1), Fraction(1, 3))}
        """
        floor = [Fraction(0)]
        labels: dict[Label, Fraction] = {}
        jurors: dict[str, dict[Any, Fraction]] = {}
        limits: dict[Label, tuple[Fraction, Fraction]] = {}
        for term in filter(None, map(str.strip, text.split(","))):
            juror, label, sign, share = _parsed(term)
            if juror == "prevalence" and label is not None:
                least, most = limits.get(label, (Fraction(0), Fraction(1)))
                above, below = (share if sign != "<=" else Fraction(0)), (share if sign != ">=" else Fraction(1))
                limits[label] = (max(least, above), min(most, below))
            elif sign != ">=":
                raise OptionError(f"{term!r}: an accuracy can only be asked to be at least something (>=)")
            elif juror is not None:
                row = jurors.setdefault(juror, {})
                row[label] = max(row.get(label, Fraction(0)), share)
            elif label is not None:
                labels[label] = max(labels.get(label, Fraction(0)), share)
            else:
                floor.append(share)
        if not text.strip(" ,\n\t"):
            raise OptionError(f"an empty specification; write {_FORMS}")
        return cls(max(floor), labels, {j: _plain_row(row) for j, row in jurors.items()}, dict(limits))

    @classmethod
    def of(cls, value: Specification | Mapping[Label, Share] | Share | None) -> Specification:
        """A specification as people give it: text to parse, one floor for everything, floors by label, or nothing."""
        if isinstance(value, Specification):
            return value
        if isinstance(value, str):
            return cls.parse(value)
        if isinstance(value, Mapping):
            return cls(labels=value)
        return cls() if value is None else cls(floor=value)

    @property
    def is_uniform(self) -> bool:
        """Whether one floor for everybody on every label is all that is asked."""
        return not (self.labels or self.jurors or self.prevalence)

    def floors(self, jurors: Sequence[str], labels: Sequence[Label]) -> list[list[Fraction]]:
        """Juror x label: the highest floor that is asked for. A name that is not there is an error with a hint."""
        result = [[_share(self.floor)] * len(labels) for _ in jurors]
        where = {a: k for k, a in enumerate(labels)}
        asked = [(i, nearest(a, labels, "label"), x) for i in range(len(jurors)) for a, x in self.labels.items()]
        for name, row in self.jurors.items():
            i = list(jurors).index(nearest(name, jurors, "juror"))
            rows = row.items() if isinstance(row, Mapping) else [(a, row) for a in labels]
            asked += [(i, nearest(a, labels, "label"), x) for a, x in rows if a is not None]
            asked += [(i, b, x) for a, x in rows if a is None for b in labels]
        for i, label, x in asked:
            result[i][where[label]] = max(result[i][where[label]], _share(x))
        return result

    def limits(self, labels: Sequence[Label]) -> list[tuple[Fraction, Fraction]]:
        """The least and the most prevalence of every label."""
        asked = {nearest(a, labels, "label"): _limits(pair) for a, pair in self.prevalence.items()}
        return [asked.get(a, (Fraction(0), Fraction(1))) for a in labels]

    def __str__(self) -> str:
        said = [f"every juror at least {_percent(self.floor)} right on every label"] * bool(self.floor)
        said += [f"every juror at least {_percent(x)} right on {a}" for a, x in self.labels.items()]
        for juror, row in self.jurors.items():
            for a, x in row.items() if isinstance(row, Mapping) else [(None, row)]:
                said.append(f"{juror} at least {_percent(x)} right on {'every label' if a is None else a}")
        for a, (least, most) in ((a, _limits(x)) for a, x in self.prevalence.items()):
            if least == most:
                said.append(f"prevalence of {a} {_percent(least)}")
                continue
            said += [f"prevalence of {a} at least {_percent(least)}"] * (least > 0)
            said += [f"prevalence of {a} at most {_percent(most)}"] * (most < 1)
        return ", ".join(said) or "nothing but the counts"


def _parsed(term: str) -> tuple[str | None, str | None, str, Fraction]:
    """(juror, label, sign, share) of one statement."""
    match = _TERM.match(term)
    if match is None:
        raise OptionError(f"cannot read {term!r} in the specification; write {_FORMS}")
    sign = {"≥": ">=", "≤": "<=", ":": ">=", None: ">="}.get(match["sign"], match["sign"])
    if match["name"] is None:
        return None, None, sign, _share(match["share"])
    juror, colon, label = match["name"].rpartition(":")
    if match["sign"] == ":":  # "gpt-4:0.6"
        juror, colon, label = match["name"], ":", ""
    if not (juror or label) or (colon and not juror):
        raise OptionError(f"{term!r} in the specification names nobody; write {_FORMS}")
    return juror.strip() or None, label.strip() or None, sign, _share(match["share"])


def _plain_row(row: dict[Any, Fraction]) -> Fraction | dict[Any, Fraction]:
    """One floor where it is for every label alike."""
    return row[None] if set(row) == {None} else row


def _share(value: Any) -> Fraction:
    """A share as an exact number: 0.6, "0.6", "3/5" and "60%" are all 3/5."""
    text = str(value).strip()
    try:
        share = Fraction(text[:-1].strip()) / 100 if text.endswith("%") else Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise OptionError(f"{text!r} in the specification is not a share; write 0.6, 3/5 or 60%") from None
    if not 0 <= share <= 1:
        raise OptionError(f"a share in a specification lies between 0 and 1, got {text}; write 60% or 0.6")
    return share


def _shares(values: Mapping[Any, Any]) -> dict[Any, Fraction]:
    return {name: _share(x) for name, x in values.items()}


def _limits(value: Any) -> tuple[Fraction, Fraction]:
    least, most = value if isinstance(value, tuple) else (value, 1)
    return _share(least), _share(most)


def _percent(value: Any) -> str:
    return f"{float(value) * 100:.6g}%"


# `Bounds`: between which numbers every prevalence and accuracy must lie, given what is assumed.


@dataclass(frozen=True, eq=False, kw_only=True)
class Bounds(Drawable):
    """Guaranteed intervals, all of them at once; None where the assumption contradicts the counts."""

    items: int
    jurors: tuple[str, ...]
    labels: tuple[Label, ...]
    assumption: str  #: in words: "nothing but the counts", "no error correlation exceeds 0.02", …
    prevalence: Named | None  #: label -> (low, high)
    accuracy: Named | None  #: juror -> label -> (low, high)
    alarms: tuple[Alarm, ...] = ()
    details: dict[str, Any] = field(default_factory=dict)

    @property
    def is_possible(self) -> bool:
        """Whether any answer key agrees with the assumption."""
        return self.prevalence is not None

    def rows(self) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
        """statistic, juror, label, low, high."""
        rows: list[tuple[Any, ...]] = []
        if self.prevalence is not None and self.accuracy is not None:
            rows += [("prevalence", None, a, low, high) for a, (low, high) in self.prevalence.items()]
            rows += [
                ("accuracy", j, a, low, high) for j, row in self.accuracy.items() for a, (low, high) in row.items()
            ]
        return ("statistic", "juror", "label", "low", "high"), rows

    def table(self) -> Table:
        """The rows in percent, to read."""
        _, rows = self.rows()
        shown = tuple(
            (
                f"prevalence of {a}" if j is None else f"accuracy of {j} on {a}",
                percent(low),
                percent(high),
            )
            for _, j, a, low, high in rows
        )
        return Table(("statistic", "at least", "at most"), shown, right=(1, 2))

    def _document(self) -> dict[str, Any]:
        return {
            "items": self.items,
            "jurors": self.jurors,
            "labels": self.labels,
            "assumption": self.assumption,
            "possible": self.is_possible,
            "prevalence": self.prevalence,
            "accuracy": self.accuracy,
            "alarms": self.alarms,
            "details": self.details,
        }

    def _columns(self) -> Columns:
        return columns_of(*self.rows())

    def _blocks(self) -> list[Block]:
        head = f"{len(self.jurors)} jurors, {self.items:,} items; assuming {self.assumption}"
        body = self.table() if self.is_possible else "No answer key agrees with that."
        return [head, body, *([Notes(alarm_lines(self.alarms))] if self.alarms else [])]
