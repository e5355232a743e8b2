"""`panels`: what each juror is worth, by the panel without it, and the cheapest panel that is about as good.

Votes come in; a `PanelComparison` goes out. Each panel is graded and labels the items like a panel of its own. What is
compared is what the votes of a panel let you know: how wide the intervals of its scores are, which items get another
label, how many labels are then expected to be wrong by all votes, and who leads.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from jurors.errors import OptionError, SketchError, VotesError, format_names, match_name
from jurors.evaluate.alarms import Alarm
from jurors.evaluate.card import WIDTH, mean_half_width, percent, short_alarm_lines
from jurors.evaluate.evaluation import Evaluation
from jurors.jury.grade import grade_rows
from jurors.jury.inputs import as_votes, drop_silent_jurors
from jurors.jury.kinds import LABELS, kind_of
from jurors.options import DEFAULTS, SourceOptions, verb
from jurors.progress import report_progress
from jurors.results import Block, Columns, Notes, Result, Table, columns_of, replace_names, shorten_names
from jurors.sketch.connectivity import MIN_JURORS
from jurors.votes.table import Votes

_MOST_JURORS = 30  # that are left out one by one
_MOST_PRICED = 8  # of whose subsets all are graded: 219 panels
_MOST_ALARM_LINES = 4
_AS_NARROW = 1.1  # times the width of the intervals of the same scores by the whole panel


@dataclass(frozen=True, slots=True)
class Panel:
    """Some of the jurors, graded as a panel of their own."""

    jurors: tuple[str, ...]
    half_width: float  #: of the intervals of scores, in the mean over its jurors; infinite if they cannot be graded
    half_width_in_whole: float = math.inf  #: that of the same jurors in the whole panel
    wrong_labels: float | None = None  #: the expected share of wrong labels, by the votes of the whole panel
    changed: float = 1.0  #: the share of items that get another label than by the whole panel
    leader: str | None = None  #: the first of its ranking that the whole panel ranks, too
    price: float | None = None  #: of one item; None where no prices are given
    without: str | None = None  #: the juror that is left out, where it is one


@dataclass(frozen=True, eq=False, kw_only=True)
class PanelComparison(Result):
    """The whole panel, the panels without one juror, and where prices are given the cheapest that is about as good."""

    whole: Panel
    panels: tuple[Panel, ...]  #: without each juror, in the order of the jurors
    cheapest: Panel | None = None  #: of panels with nearly the same labels and intervals; None without prices
    most_changed: float  #: the share of items that such a panel may give another label
    level: float
    alarms: tuple[Alarm, ...] = ()  #: of the whole panel

    _kind = "panels"
    _version = 1

    def _document(self) -> dict[str, Any]:
        return {
            name: getattr(self, name) for name in ("level", "most_changed", "whole", "panels", "cheapest", "alarms")
        }

    def _columns(self) -> Columns:
        names = ("without", "changed", "half_width", "wrong_labels", "leader", "price")
        return columns_of(names, [tuple(getattr(x, name) for name in names) for x in (self.whole, *self.panels)])

    def _blocks(self, **_: Any) -> list[Block]:
        names = shorten_names(self.whole.jurors, 20)
        heads = ["without", "other labels", "± of scores", "wrong labels", "ranks first", "price"]
        rows = [
            (
                "(nobody)" if x.without is None else names[x.without], percent(x.changed),
                f"{x.half_width * 100:.1f}" if math.isfinite(x.half_width) else "–",
                "–" if x.wrong_labels is None else percent(x.wrong_labels),
                "–" if x.leader is None else names[x.leader], "" if x.price is None else f"{x.price:g}",
            )
            for x in (self.whole, *self.panels)
        ]  # fmt: skip
        shown = len(heads) - (self.whole.price is None)
        table = Table(tuple(heads[:shown]), tuple(row[:shown] for row in rows), right=(1, 2, 3, 5)[: shown - 2])
        alarms = short_alarm_lines(self.alarms, _MOST_ALARM_LINES, names)
        sentences = [replace_names(line, names) for line in self.sentences()]
        return [*(Notes(lines, width=WIDTH, hanging="  ") for lines in (alarms, sentences) if lines), table]

    @property
    def least(self) -> Panel:
        """The panel without the juror whose absence changes the fewest labels."""
        return min(self.panels, key=lambda x: (x.changed, x.half_width - x.half_width_in_whole))

    def sentences(self) -> list[str]:
        """Who could be left out at the least cost, whose absence changes the leader, and the cheapest panel.

        Returns
        -------
        list of str
        """
        least = self.least
        points = least.half_width * 100, least.half_width_in_whole * 100
        lines = [
            f"You lose least without {least.without}: {percent(least.changed)} of the items get another label, and the "
            f"scores of the others are known to ± {points[0]:.1f} points (by the whole panel, to ± {points[1]:.1f})."
        ]
        leader = self.whole.leader
        others = [x for x in self.panels if leader and x.leader not in (leader, None) and x.without != leader]
        lines += [f"Without {x.without}, {x.leader} ranks first, not {leader}." for x in others[:3]]
        if self.cheapest is None:
            return lines
        if self.cheapest.jurors == self.whole.jurors:
            return [
                *lines,
                f"Every cheaper panel gives {percent(self.most_changed)} or more of the items another label, "
                "or knows scores less well.",
            ]
        share = percent((self.cheapest.price or 0.0) / (self.whole.price or 1.0), 0)
        return [
            *lines,
            f"{format_names(self.cheapest.jurors, 8)} cost {share} of the whole panel's price. They give "
            f"{percent(self.cheapest.changed)} of the items another label, so at most that many more are wrong.",
        ]


@verb(SourceOptions, splits=True)
def panels(
    source: Any,
    *,
    by: Any = None,
    price: Mapping[str, float] | None = None,
    most_changed: float = 0.03,
    level: float = DEFAULTS["level"],
    **reading: Unpack[SourceOptions],
) -> PanelComparison:
    """Grade the panel again without each juror, to show what each one is worth.

    Parameters
    ----------
    source
        As in `grade`, with 4 to 30 jurors.
    by
        As in `grade`.
    price
        Juror -> price of one of its votes, in any unit. With prices of up to 8 jurors, the result names the cheapest
        panel that gives nearly all items the same label and has about equally narrow intervals.
    most_changed
        The largest share of items that this panel may label differently. Its labels can be worse by at most this much.
    level
        Confidence level of the intervals.

    Returns
    -------
    PanelComparison

    Examples
    --------
    >>> import jurors
    >>> votes = jurors.simulate(200, jurors=4, accuracy=["0.9", "0.8", "0.8", "0.7"], seed=1).votes
    >>> found = panels(votes, price=dict.fromkeys(votes.jurors, 1))
    >>> len(found.panels), found.panels[0].without, found.whole.price
    (4, '1', 4.0)
    """
    votes = drop_silent_jurors(as_votes(source, **reading))[0]
    if kind_of(votes) is not LABELS:
        raise VotesError("panels compares panels by their labels, and these votes are numbers")
    names = votes.jurors
    most = _MOST_JURORS if price is None else _MOST_PRICED
    if not MIN_JURORS < len(names) <= most:
        raise VotesError(f"comparing panels needs {MIN_JURORS + 1} to {most} jurors, and there are {len(names)}")
    prices = None if price is None else {match_name(j, names, "juror"): float(x) for j, x in price.items()}
    if prices is not None and (missing := [j for j in names if j not in prices]):
        raise OptionError(f"there is no price for {format_names(missing, 6)}; give every juror one", name="price")
    if prices is not None and not all(0 <= x < math.inf for x in prices.values()):
        raise OptionError("a price must be a number of at least 0", name="price")
    if not 0 <= most_changed <= 1:
        raise OptionError(f"most_changed must be a share from 0 to 1, got {most_changed!r}", name="most_changed")
    graded, counted = _graded(votes, names, level)
    labels, place = _labels(graded, counted), {label: k for k, label in enumerate(graded.labels)}
    if graded.partition is None or graded.wrong_labels is None:
        raise VotesError("these votes are not enough to compare panels; the alarms of jurors.grade(votes) say why")
    posterior, weights = graded.partition.posterior[counted], votes.weights
    is_known = ~np.isnan(graded.partition.probability[counted])

    def compared(group: Sequence[str]) -> Panel:
        about: dict[str, Any] = {
            "half_width_in_whole": mean_half_width(graded, group),
            "price": None if prices is None else sum(prices[j] for j in group),
        }
        try:
            evaluation, rows = _graded(votes, group, level)
        except SketchError:  # too little is left: a juror of a trio that agrees with nobody
            return Panel(tuple(group), half_width=math.inf, **about)
        if (own := _labels(evaluation, rows)) is not None:
            codes = np.array([place[label] for label in own.tolist()])
            right = posterior[np.arange(len(codes)), codes][is_known]
            about["changed"] = float(np.average(own != labels, weights=weights))
            about["wrong_labels"] = float(np.average(1 - right, weights=None if weights is None else weights[is_known]))
        leader = evaluation.ranking.first_of(graded.ranking.ranked)
        return Panel(tuple(group), half_width=mean_half_width(evaluation, group), leader=leader, **about)

    whole, without = compared(names), []
    for k, name in enumerate(names):
        report_progress("grading without each juror", k / len(names))
        without.append(replace(compared([j for j in names if j != name]), without=name))
    result = PanelComparison(
        whole=whole, panels=tuple(without), most_changed=most_changed, level=level, alarms=graded.alarms
    )
    if prices is None:
        return result
    smaller = [group for size in range(MIN_JURORS, len(names) - 1) for group in combinations(names, size)]
    candidates = [whole, *without]
    for k, group in enumerate(smaller):
        report_progress("grading smaller panels", k / len(smaller))
        candidates.append(compared(group))
    alike = (x for x in candidates if x.changed <= most_changed and x.half_width <= _AS_NARROW * x.half_width_in_whole)
    return replace(result, cheapest=min(alike, key=lambda x: (x.price or 0.0, x.changed)))


def _graded(votes: Votes, group: Sequence[str], level: float) -> tuple[Evaluation, NDArray[np.int64]]:
    """The grades of a panel, and the decision tuple of each row."""
    evaluation, counted, _ = grade_rows(votes.take(list(group)), level=level)
    return evaluation, counted.tuple_of_row


def _labels(evaluation: Evaluation, tuple_of_row: NDArray[np.int64]) -> NDArray[Any] | None:
    chosen = None if evaluation.partition is None else evaluation.partition.chosen[tuple_of_row]
    return None if chosen is None else np.array(evaluation.labels, dtype=object)[chosen]
