"""`compare` and `systems`: who is better on the same items, and how often each system under test passes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Unpack

import numpy as np

from jurors.audit.case import Case, Share
from jurors.audit.proof.figures import Figure, apart_of, lead_of, prevalence_of, unit_apart
from jurors.audit.sheet import as_sheet
from jurors.errors import OptionError, VotesError
from jurors.evaluate.card import percent_range
from jurors.jury.accept import as_votes
from jurors.names import positions
from jurors.options import Grading, SourceOptions
from jurors.tables import Block, Columns, Notes, Result, Table, columns_of
from jurors.votes import Votes

_MOST_JURORS = 12  # above, pairs are to be named
_NOTE = "Guaranteed by the random draw alone, after every label; each interval by itself, not all of them at once."


@dataclass(frozen=True, eq=False)
class Leads(Result):
    """Shares with their intervals, and differences between two: positive where the first is ahead."""

    shares: Mapping[tuple[Any, ...], Share]  #: (system, label) -> its share; none where jurors are compared
    leads: Mapping[tuple[Any, ...], Share]  #: (one, other) or (one, other, label) -> the lead of the first
    labelled: int
    level: float

    def verdict(self, *name: Any) -> str:
        """Who is ahead: "first", "second", or "not known"."""
        low, high = self.leads[name].interval
        return "first" if low > 0 else "second" if high < 0 else "not known"

    def _document(self) -> dict[str, Any]:
        shares = [{"system": s, "label": a, **share.to_dict()} for (s, a), share in self.shares.items()]
        leads = [self._lead(name) for name in self.leads]
        return {"labelled": self.labelled, "shares": shares, "leads": leads, "level": self.level}

    def _lead(self, name: tuple[Any, ...]) -> dict[str, Any]:
        label = {"label": name[2]} if len(name) > 2 else {}
        named = {"first": name[0], "second": name[1], **label, "better": self.verdict(*name)}
        return {**named, **self.leads[name].to_dict()}

    def _columns(self) -> Columns:
        heads = ("first", "second", "label", "estimate", "low", "high", "better")
        rows: list[tuple[Any, ...]] = [(s, None, a, v.estimate, *v.interval, None) for (s, a), v in self.shares.items()]
        rows += [
            (*name, *[None] * (3 - len(name)), v.estimate, *v.interval, self.verdict(*name))
            for name, v in self.leads.items()
        ]
        return columns_of(heads, rows)

    def _blocks(self) -> list[Block]:
        sure = f"{self.level * 100:g}% interval"
        shares = tuple(
            (str(s), str(a), _points(v.estimate), percent_range(v.interval)) for (s, a), v in self.shares.items()
        )
        leads = tuple(
            (" and ".join(map(str, name[:2])), *map(str, name[2:]), _points(v.estimate), percent_range(v.interval),
             {"first": str(name[0]), "second": str(name[1])}.get(self.verdict(*name), "not known"))
            for name, v in self.leads.items()
        )  # fmt: skip
        label = ["label"] if self.shares else []
        heads = ("lead of the first", *label, "points", sure, "better")
        tables = [Table(("system", "label", "points", sure), shares, right=(2, 3))] if shares else []
        title = f"{self.labelled:,} items labelled"
        return [title, *tables, *([Table(heads, leads)] if leads else []), Notes([_NOTE])]


def _points(share: float | None) -> str | None:
    return None if share is None else f"{share * 100:+.1f}" if share < 0 else f"{share * 100:.1f}"


def compare(
    source: Any,
    answers: Any,
    *,
    between: Sequence[str] | None = None,
    level: float = 0.95,
    **reading: Unpack[SourceOptions],
) -> Leads:
    """Which of two jurors is right more often, on the items on which both voted: every pair, or those `between` some.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from jurors.audit import plan
    >>> votes = [["yes", "yes"]] * 60 + [["no", "yes"]] * 40
    >>> sheet = plan(votes, 40)
    >>> found = compare(votes, replace(sheet, labels=tuple("yes" if i < 60 else "no" for i in sheet.items)))
    >>> found.verdict("1", "2")
    'first'
    """
    Grading(level=level)
    case = Case.of(as_votes(source, **reading), as_sheet(answers))
    known = case.votes.jurors
    if between is None and len(known) > _MOST_JURORS:
        message = f"{len(known)} jurors are too many pairs; name those to compare (--between A,B)"
        raise OptionError(message, code="out_of_range", name="between")
    at = range(len(known)) if between is None else positions(known, between, "juror")
    pairs = list(combinations(at, 2))
    figures = [lead_of(known[a], known[b], case.said[a], case.said[b]) for a, b in pairs]
    halves = case.prove(figures, level)
    parts = [_part_apart(case, figure, a, b) for figure, (a, b) in zip(figures, pairs, strict=True)]
    leads = {(known[a], known[b]): _lead(half, part) for (a, b), half, part in zip(pairs, halves, parts, strict=True)}
    return Leads({}, leads, case.labelled, level)


def _part_apart(case: Case, figure: Figure, one: int, other: int) -> float:
    """The part of the items with both jurors' votes on which they differ; NaN where there is no such item."""
    both = case.design.sizes[(case.said[one] >= 0) & (case.said[other] >= 0)].sum()
    return float(case.design.sizes[figure.member].sum() / both) if both else float("nan")


def _lead(half: Share, part: float) -> Share:
    """A lead from (1 + lead) / 2 on a part of the items; on the rest there is none."""
    if not part > 0:  # they never differ, or have no item in common
        return Share(0.0, (0.0, 0.0)) if part == 0 else Share(None, (-1.0, 1.0))
    low, high = ((2 * end - 1) * part for end in half.interval)
    estimate = None if half.estimate is None else (2 * half.estimate - 1) * part
    return Share(estimate, (max(low, -1.0), min(high, 1.0)))  # no two shares are further apart


def systems(votes: Votes, groups: Sequence[Any], answers: Any, *, level: float = 0.95) -> Leads:
    """How often each label is the true one among the items of each system under test, and how far two are apart.

    `groups` names the system of each row of the votes. A difference is one figure of the items of both systems, with an
    interval of its own, which is narrower than what two intervals leave.
    """
    Grading(level=level)
    case = Case.of(votes, as_sheet(answers))
    if any(group is None for group in groups):
        raise VotesError("some items belong to no group; give each a group, or leave them out")
    names = sorted(dict.fromkeys(groups), key=str)
    place = {name: k for k, name in enumerate(names)}
    group = np.array([place[one] for one in groups], dtype=np.int64)
    kinds, cells = np.unique(case.design.tuple_of_row * len(names) + group, return_inverse=True)
    sizes = np.bincount(cells)
    of = {name: kinds % len(names) == place[name] for name in names}
    asked = [(name, label) for name in names for label in votes.labels]
    pairs = [(one, other, label) for one, other in combinations(names, 2) for label in votes.labels]
    figures = [replace(prevalence_of(a, votes.labels.index(a), len(kinds)), member=of[s]) for s, a in asked]
    figures += [apart_of(p, votes.labels.index(p[2]), of[p[0]], of[p[1]], sizes) for p in pairs]
    proved = case.prove(figures, level, cells)
    shares = dict(zip(asked, proved, strict=False))
    units = [1 / unit_apart(of[one], of[other], sizes) for one, other, _ in pairs]
    leads = {p: _lead(half, unit) for p, half, unit in zip(pairs, proved[len(asked) :], units, strict=True)}
    return Leads(shares, leads, case.labelled, level)
