"""Result, goals, comparisons."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any, Unpack

import numpy as np

from jurors._numeric import Floats, Integers, single_threaded
from jurors.audit.confidence import (
    Cells,
    DrawnContributions,
    Predictors,
    Statistic,
    StatisticTotals,
    accuracy_statistic,
    difference_statistic,
    difference_unit,
    error_statistic,
    estimates,
    intervals,
    lead_statistic,
    predictors,
    prevalence_statistic,
    score_statistic,
    trace,
    vote_posterior,
)
from jurors.audit.sheet import (
    Design,
    SequentialDraw,
    Sheet,
    answer_codes,
    as_sheet,
    auditable_votes,
    check_same_votes,
    replay_draws,
)
from jurors.errors import OptionError, SketchError, VotesError, check_choice, name_positions
from jurors.evaluate import Evaluation
from jurors.evaluate.card import CALIBRATED, percent, percent_range
from jurors.jury.calibration import calibration_basis, jury_votes
from jurors.jury.compare import compare_counted, default_methods
from jurors.jury.grade import grade_counted
from jurors.jury.inputs import CountedVotes, as_votes, count_gradable
from jurors.options import Grading, Label, SourceOptions, text_columns
from jurors.results import Block, Columns, Notes, Result, Table, columns_of
from jurors.votes import Votes

# `AuditedVotes`: votes with a person's answers beside them, and what the draw proves of any figure.


@dataclass(frozen=True)
class Share:
    """A share of items as the draw alone proves it."""

    estimate: float | None  #: None where nothing drawn concerns it
    interval: tuple[float, float]

    def to_dict(self) -> dict[str, Any]:
        """The JSON keys."""
        return {"estimate": self.estimate, "interval": self.interval}


@dataclass(frozen=True, eq=False)
class AuditedVotes:
    """Votes, the sheet that was drawn from them, and the true labels that a person gave."""

    votes: Votes
    sheet: Sheet
    design: Design
    rows: Integers  #: the row of each draw, in order
    codes: Integers  #: the label of each draw as a position in the votes' labels, -1 where there is none

    @classmethod
    def of(cls, votes: Votes, sheet: Sheet) -> AuditedVotes:
        """Lay the answers beside the votes; VotesError where they are not answers to a draw from these votes."""
        check_same_votes(sheet, votes)
        design = Design.of(votes)
        rows = replay_draws(sheet, votes, SequentialDraw(design))
        return cls(votes, sheet, design, rows, answer_codes(sheet, votes))

    @property
    def labelled(self) -> int:
        """How many items have a label."""
        return int((self.codes >= 0).sum())

    @property
    def used(self) -> int:
        """The last draw with a label: what comes after has not happened yet."""
        return int(np.flatnonzero(self.codes >= 0)[-1]) + 1

    @property
    def gaps(self) -> int:
        """Draws before it that have no label: they are taken at their worst."""
        return self.used - self.labelled

    @cached_property
    def blind(self) -> tuple[CountedVotes, Evaluation] | None:
        """The votes graded without the answers; None where they cannot be."""
        try:
            counted = count_gradable(self.votes)
            with single_threaded():
                return counted, grade_counted(counted, None, Grading(), intervals=False)
        except SketchError:
            return None

    @cached_property
    def labellings(self) -> dict[str, Integers]:
        """Method -> the label it gives each counted tuple, blind to the answers; the default method's come first."""
        if self.blind is None:
            return {}
        counted, own = self.blind
        others = [name for name in default_methods(counted.sketch) if name != own.method]
        graded = [own, *compare_counted(counted, others).evaluations]
        parts = {one.method: one.labelling_partition for one in graded}
        return {name: part.chosen for name, part in parts.items() if part is not None}

    @property
    def gold(self) -> dict[Any, Label]:
        """The answers as gold items."""
        names, labels = self.votes.item_names().tolist(), self.votes.labels
        given = zip(self.rows.tolist(), self.codes.tolist(), strict=True)
        return {names[row]: labels[code] for row, code in given if code >= 0}

    def graded(self, level: float) -> Evaluation | None:
        """The votes graded with the answers as gold; None where they cannot be."""
        if self.blind is None:
            return None
        counted, known = self.blind[0].align_gold(self.gold)
        with single_threaded():
            return grade_counted(counted, known, Grading(level=level))

    @cached_property
    def first_rows(self) -> Integers:
        """Tuples: the row of an item with it."""
        first = np.empty(len(self.design.sizes), dtype=np.int64)
        first[self.design.tuple_of_row] = np.arange(self.votes.rows)
        return first

    @cached_property
    def said(self) -> Integers:
        """Jurors x tuples: the vote, -1 where there is none."""
        place = np.full(self.votes.rows, -1)
        place[self.first_rows] = np.arange(len(self.first_rows))
        row, juror, code = self.votes.triples()
        kept = place[row] >= 0
        said = np.full((len(self.votes.jurors), len(self.first_rows)), -1, dtype=np.int64)
        said[juror[kept], place[row[kept]]] = code[kept]
        return said

    @cached_property
    def foretold(self) -> Predictors:
        """What the votes alone make of every tuple's true label."""
        labels, sizes = len(self.votes.labels), self.design.sizes.astype(np.float64)
        given = np.stack([(self.said == k).sum(axis=0) for k in range(labels)], axis=1).astype(np.float64)
        by_votes, voices = vote_posterior(given), given.sum(axis=1)
        if self.blind is None:
            return predictors(by_votes, by_votes, voices, sizes)
        counted, evaluation = self.blind
        with single_threaded():
            _, posterior, _ = calibration_basis(evaluation, evaluation, counted.sketch)
            jury = jury_votes(counted.sketch, posterior, evaluation.voices)
        at = counted.tuple_of_row[self.first_rows]
        return predictors(posterior[at], by_votes, jury.distinct[at].astype(np.float64), sizes)

    def prove(self, figures: Sequence[Statistic], level: float, cells: Integers | None = None) -> list[Share]:
        """What the draw proves of some figures of decision tuples; or of cells, with the cell of each row."""
        if not figures:
            return []
        laid, cell_of_row = self._laid(cells)
        sums = StatisticTotals.of(figures, laid, self.design.focus)
        at = slice(0, self.used)
        drawn = DrawnContributions.of(sums, cell_of_row[self.rows[at]], self.codes[at], np.array(self.sheet.of)[at])
        return shares_of(sums, SequentialDraw(self.design), drawn, level)

    def _laid(self, cells: Integers | None) -> tuple[Cells, Integers]:
        tuple_of_row = self.design.tuple_of_row
        if cells is None:
            return Cells.of_tuples(self.design.sizes, self.foretold), tuple_of_row
        tuple_of = np.zeros(int(cells.max()) + 1, dtype=np.int64)
        tuple_of[cells] = tuple_of_row
        foretold = Predictors(self.foretold.posteriors[:, tuple_of], self.foretold.weights)
        return Cells(np.bincount(cells), tuple_of, foretold), cells


def shares_of(sums: StatisticTotals, walk: SequentialDraw, drawn: DrawnContributions, level: float) -> list[Share]:
    """What a draw proves; an estimate that leaves its interval is the end of the interval that it is nearest to."""
    steps = trace(sums, walk, drawn)
    low, high = intervals(steps, level)
    seen: Floats = (steps.counts & ~np.isnan(steps.event)).sum(axis=0)
    middle = np.minimum(np.maximum(estimates(steps), low), high)
    return [
        Share(None if not n or m != m else float(m), (float(a), float(b)))
        for n, m, a, b in zip(seen, middle, low, high, strict=True)
    ]


# Two people labelled the same items: how far they agree, and what is left if either of them may be right.


@dataclass(frozen=True, eq=False)
class People:
    """Two people's labels of the same draw."""

    both: int  #: items that both labelled
    agreement: Share  #: the share of all items on which they would agree
    either: Mapping[tuple[Any, ...], Share]  #: figure -> an interval that holds by the labels of both

    @property
    def line(self) -> str:
        """What their disagreement means."""
        low, high = self.agreement.interval
        return (
            f"Two people labelled {self.both:,} of these items and agree on {percent(self.agreement.estimate)} of all "
            f"(between {percent(low)} and {percent(high)}). What is guaranteed is about the first one's labels; by the "
            f"other's, scores, prevalences and wrong labels can differ by up to {percent(1 - low)} (JSON: `either`)."
        )


def two_people(case: AuditedVotes, other: AuditedVotes,
               mine: Mapping[tuple[Any, ...], Share], theirs: Mapping[tuple[Any, ...], Share],
               level: float) -> People:  # fmt: skip
    """The agreement of two people on one draw, by bets like any other share; and the hull of what each proves."""
    if not np.array_equal(case.rows[: other.used], other.rows[: other.used]) and not np.array_equal(
        case.rows, other.rows
    ):
        raise VotesError("the two people labelled different draws; give both the same sheet")
    size = min(len(case.codes), len(other.codes))
    one, two = case.codes[:size], other.codes[:size]
    both = (one >= 0) & (two >= 0)
    if not both.any():
        raise VotesError("the two people have no labelled item in common", code="empty")
    agree = np.where(both, (one == two).astype(np.int64), -1)[: int(np.flatnonzero(both)[-1]) + 1]
    tuples = len(case.design.sizes)
    foretold = Predictors(np.broadcast_to([[[0.1, 0.9]]], (1, tuples, 2)), np.ones(1))
    sums = StatisticTotals.of(
        [prevalence_statistic(True, 1, tuples)], Cells.of_tuples(case.design.sizes, foretold), case.design.focus
    )
    cells = case.design.tuple_of_row[case.rows[: len(agree)]]
    drawn = DrawnContributions.of(sums, cells, agree, np.array(case.sheet.of)[: len(agree)])
    (agreement,) = shares_of(sums, SequentialDraw(case.design), drawn, level)
    either = {name: Share(share.estimate, _hull(share, theirs[name])) for name, share in mine.items()}
    return People(int(both.sum()), agreement, either)


def _hull(one: Share, other: Share) -> tuple[float, float]:
    return min(one.interval[0], other.interval[0]), max(one.interval[1], other.interval[1])


# When an audit may stop: goals such as "score:GPT-4 ± 0.05" and "wrong <= 0.1", and whether they are reached.


_FIGURES = {"score": "score", "accuracy": "accuracy", "prevalence": "prevalence", "wrong": "wrong_labels"}
_PARTS = {"score": 2, "accuracy": 3, "prevalence": 2, "wrong_labels": 2}
_SIGNS = {"±": "±", "+-": "±", "+/-": "±", "<=": "<=", "≤": "<=", ">=": ">=", "≥": ">="}
_GOAL = re.compile(r"\s*(\w+)\s*(?::\s*(.*?))?\s*(±|\+/?-|<=|>=|≤|≥)\s*([\d.]+)\s*(%?)\s*")


@dataclass(frozen=True)
class Goal:
    """What is to be known: a figure to ± something, or that it is at most or at least something."""

    text: str
    name: tuple[Any, ...]
    sign: str  #: "±", "<=" or ">="
    value: float


@dataclass(frozen=True)
class GoalReached:
    """Whether a goal is reached, and about how many labels more it takes."""

    goal: Goal
    verdict: str  #: "pass", "fail" or "not known"
    reason: str
    more: int | None = None  #: labels more, about; None where none help, or none are needed

    @property
    def line(self) -> str:
        """Everything in a line."""
        return f"{self.verdict}: {self.goal.text}: {self.reason}"

    def to_dict(self) -> dict[str, Any]:
        """The JSON keys."""
        return {"goal": self.goal.text, "verdict": self.verdict, "reason": self.reason, "labels_more": self.more}


def parse_goal(text: str, known: Mapping[tuple[Any, ...], Any]) -> Goal:
    """A goal as the user writes it, about one of the known figures.

    >>> parse_goal("score:ann ± 5%", {("score", "ann"): 1})
    Goal(text='score:ann ± 5%', name=('score', 'ann'), sign='±', value=0.05)
    """
    parts = _GOAL.fullmatch(text)
    if parts is None:
        raise OptionError(
            f"cannot read the goal {text!r}: write score:JUROR ± 0.05, accuracy:JUROR:LABEL ± 0.1, "
            "prevalence:LABEL ± 0.05 or wrong <= 0.1",
            code="out_of_range", name="until", value=text,
        )  # fmt: skip
    what, of, sign, number, hundredth = parts.groups()
    figure = _FIGURES[check_choice(what, list(_FIGURES), "figure")]
    value = float(number) / (100 if hundredth else 1)
    if not 0 <= value <= 1:
        raise OptionError(f"the goal {text!r} asks for {value:g}, which is no share", code="out_of_range", name="until")
    return Goal(text, _name(figure, of, known), _SIGNS[sign], value)


def _name(figure: str, of: str | None, known: Mapping[tuple[Any, ...], Any]) -> tuple[Any, ...]:
    """The figure that is meant; of wrong labels, those of `jurors label` where no method is named."""
    names = {":".join(map(str, name[1:])): name for name in known if name[0] == figure}
    if figure == "wrong_labels" and of is None and names:
        return next(iter(names.values()))
    return names[check_choice(of or "", list(names), figure.replace("_", " "))]


def judge(goal: Goal, share: Share, labelled: int, items: int) -> GoalReached:
    """Whether what is guaranteed reaches a goal.

    >>> goal = parse_goal("wrong <= 0.1", {("wrong_labels", "latent"): 1})
    >>> judge(goal, Share(0.05, (0.01, 0.12)), 100, 2000).line
    'not known: wrong <= 0.1: 5.0%, between 1.0% and 12.0%; not reached, about 87 labels more'
    """
    low, high = share.interval
    reached, refuted = _standing(goal, low, high)
    between = f"{percent(share.estimate)}, between {percent(low)} and {percent(high)}"
    if reached:
        return GoalReached(goal, "pass", f"{between}; reached")
    if refuted:
        return GoalReached(goal, "fail", f"{between}; it cannot be reached, however many labels follow")
    more = _labels_more(_reach(goal, share), _room(goal, share), labelled, items)
    if more is None:
        is_over = labelled >= items
        hope = "cannot be reached within the items there are" if is_over else "as likely to fail as to be reached"
        return GoalReached(goal, "not known", f"{between}; not reached, {hope}")
    tail = " (all there are)" if labelled + more >= items else ""
    labels = "label" if more == 1 else "labels"
    return GoalReached(goal, "not known", f"{between}; not reached, about {more:,} {labels} more{tail}", more)


def _standing(goal: Goal, low: float, high: float) -> tuple[bool, bool]:
    """Whether the goal is reached, and whether it is refuted."""
    if goal.sign == "±":
        return (high - low) / 2 <= goal.value, False
    return (high <= goal.value, low > goal.value) if goal.sign == "<=" else (low >= goal.value, high < goal.value)


def _reach(goal: Goal, share: Share) -> float:
    """How far the interval reaches towards the goal: half of it, or from the estimate to the end that matters."""
    low, high = share.interval
    if goal.sign == "±" or share.estimate is None:
        return (high - low) / 2
    return high - share.estimate if goal.sign == "<=" else share.estimate - low


def _room(goal: Goal, share: Share) -> float:
    """The half width that would do, were the estimate right; 0 or less where it would not."""
    if goal.sign == "±" or share.estimate is None:
        return goal.value
    return (goal.value - share.estimate) * (1 if goal.sign == "<=" else -1)


def _labels_more(half: float, room: float, labelled: int, items: int) -> int | None:
    """About how many labels narrow a half width to another: as its square falls with 1/n - 1/items."""
    if room <= 0 or labelled >= items:
        return None
    share = (room / half) ** 2 * (items - labelled) / labelled
    return max(math.ceil(_rounded(items / (1 + share) - labelled)), 1)


def _rounded(number: float) -> float:
    """To two digits: it is no more than a guess."""
    return number if number < 20 else float(f"{number:.1e}")


# `result`: what a person's answers prove of the jurors, beside what reference juries and the answers suggest.


PER_FIGURE = (
    "Guaranteed: by the random draw alone, whatever the jurors have in common, after every label: one may look and "
    "stop at any. Each interval holds by itself, not all of them at once."
)
_WHAT = {"score": "score of {}", "accuracy": "accuracy of {} on {}", "prevalence": "prevalence of {}"}

Shares = Mapping[tuple[Any, ...], Share]  #: ("score", juror), ("accuracy", juror, label) … -> what is known of it


@dataclass(frozen=True, eq=False)
class Audit(Result):
    """What the labels of a person show: two columns side by side."""

    labelled: int  #: how many items a person labelled
    drawn: int  #: how many were drawn
    items: int  #: of how many
    gaps: int  #: draws that were passed over: they are taken at their worst
    guaranteed: Shares  #: by the draw alone
    calibrated: Shares | None  #: as real juries go, with the answers as gold; None where jurors cannot be graded
    level: float  #: how sure each interval is
    goals: tuple[GoalReached, ...] = ()  #: what was to be reached
    people: People | None = None  #: where a second person labelled the same items

    @property
    def passed(self) -> bool:
        """Whether every goal is reached."""
        return all(one.verdict == "pass" for one in self.goals)

    def of(self, *name: Any) -> Share:
        """What is guaranteed of a figure: ("score", juror), ("accuracy", juror, label), ("wrong_labels", method) …"""
        return self.guaranteed[name]

    def _document(self) -> dict[str, Any]:
        return {
            "labelled": self.labelled, "drawn": self.drawn, "items": self.items, "gaps": self.gaps,
            "guaranteed": nested(self.guaranteed),
            "calibrated": None if self.calibrated is None else nested(self.calibrated), "level": self.level,
            "until": self.goals, "passed": self.passed if self.goals else None, "people": self._people(),
        }  # fmt: skip

    def _people(self) -> dict[str, Any] | None:
        if self.people is None:
            return None
        people = self.people
        return {"both": people.both, "agreement": people.agreement.to_dict(), "either": nested(people.either)}

    def _columns(self) -> Columns:
        heads = ("statistic", "estimate", "low", "high", "calibrated", "calibrated_low", "calibrated_high")
        return columns_of(heads, [self._row(name) for name in self.guaranteed])

    def _row(self, name: tuple[Any, ...]) -> tuple[Any, ...]:
        beside = (self.calibrated or {}).get(name)
        real = (None, None, None) if beside is None else (beside.estimate, *beside.interval)
        share = self.guaranteed[name]
        return (shown_name(name), share.estimate, *share.interval, *real)

    def _blocks(self) -> list[Block]:
        sure = f"{self.level * 100:g}%"
        heads = ("", "guaranteed", f"{sure} interval", CALIBRATED, f"{sure} interval ")
        rows = [
            (name, percent(value), percent_range((low, high)), percent(real), _range(real_low, real_high))
            for name, value, low, high, real, real_low, real_high in map(self._row, self.guaranteed)
        ]
        title = f"{self.labelled:,} of {self.items:,} items labelled, {self.drawn:,} drawn"
        goals = [Notes([one.line for one in self.goals])] if self.goals else []
        return [*goals, Table(heads, tuple(rows), title=title, right=(1, 2, 3, 4)), Notes(self.notes)]

    @property
    def notes(self) -> list[str]:
        """What to know of the guarantee."""
        gaps = f"{self.gaps} items before the last label have none: they count as they would hurt most. Label in order."
        people = [] if self.people is None else [self.people.line]
        return [PER_FIGURE, *([gaps] if self.gaps else []), *people]


def result(
    source: Any,
    answers: Any,
    *,
    second: Any = None,
    level: float = 0.95,
    until: Sequence[str] = (),
    **reading: Unpack[SourceOptions],
) -> Audit:
    """What a person's answers prove.

    Parameters
    ----------
    source
        The votes that the sheet was drawn from, as in `plan`.
    answers
        The sheet with its labels: a `Sheet`, a dataframe, a file, or a list of these, one per round.
    second
        The same sheet as a second person labelled it: `people` says how far they agree, and what holds for both.
    level
        How sure each interval is.
    until
        Goals: "score:GPT-4 ± 0.05", "wrong <= 0.1" …; `goals` of the result says of each whether it is reached.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from jurors.audit import plan
    >>> votes = [["yes", "yes", "no"]] * 30 + [["no", "no", "no"]] * 50 + [["yes", "no", "yes"]] * 10
    >>> sheet = plan(votes, 40)
    >>> truth = ["yes" if item < 30 else "no" for item in sheet.items]
    >>> found = result(votes, replace(sheet, labels=tuple(truth)))
    >>> low, high = found.of("score", "2").interval
    >>> found.labelled, low > 0.85, high
    (40, True, 1.0)
    """
    Grading(level=level)  # a level of 95 is told at once
    votes = auditable_votes(as_votes(source, **reading))
    case = AuditedVotes.of(votes, as_sheet(answers))
    figures = figures_of(case)
    goals = [parse_goal(text, {one.name: one for one in figures}) for text in text_columns(until)]
    audit = evaluate_audit(case, case.graded(level), level)
    proved = audit.guaranteed
    return replace(
        audit,
        goals=tuple(judge(goal, proved[goal.name], case.labelled, case.votes.rows) for goal in goals),
        people=None
        if second is None
        else _beside(case, AuditedVotes.of(votes, as_sheet(second)), figures, proved, level),
    )


def evaluate_audit(case: AuditedVotes, evaluation: Evaluation | None, level: float) -> Audit:
    """Both columns: what the draw proves, and the same votes graded with the answers as gold."""
    figures = figures_of(case)
    proved = {one.name: share for one, share in zip(figures, case.prove(figures, level), strict=True)}
    return Audit(
        labelled=case.labelled, drawn=len(case.rows), items=case.votes.rows, gaps=case.gaps, guaranteed=proved,
        calibrated=_calibrated(case, evaluation), level=level,
    )  # fmt: skip


def _beside(
    case: AuditedVotes, other: AuditedVotes, figures: Sequence[Statistic], proved: Shares, level: float
) -> People:
    theirs = {one.name: share for one, share in zip(figures, other.prove(figures, level), strict=True)}
    return two_people(case, other, proved, theirs, level)


def figures_of(case: AuditedVotes) -> list[Statistic]:
    """Every share that an audit tells of."""
    jurors, labels, said = case.votes.jurors, case.votes.labels, case.said
    figures = [score_statistic(j, said[k]) for k, j in enumerate(jurors)]
    figures += [accuracy_statistic(j, a, code, said[k]) for k, j in enumerate(jurors) for code, a in enumerate(labels)]
    figures += [prevalence_statistic(a, code, said.shape[1]) for code, a in enumerate(labels)]
    return [*figures, *_labellings(case)]


def _labellings(case: AuditedVotes) -> list[Statistic]:
    """How often the labels of each method are wrong."""
    if case.blind is None:
        return []
    at = case.blind[0].tuple_of_row[case.first_rows]
    return [error_statistic(name, chosen[at]) for name, chosen in case.labellings.items()]


def _calibrated(case: AuditedVotes, evaluation: Evaluation | None) -> Shares | None:
    """The grades as real juries go, with the answers as gold."""
    real = None if evaluation is None else evaluation.calibrated
    if real is None:
        return None
    shares: dict[tuple[Any, ...], Share] = {}
    for juror, score in real.score.items():
        shares["score", juror] = Share(score, real.interval_of("score", juror))
    for juror, by_label in real.accuracy.items():
        for label, share in by_label.items():
            shares["accuracy", juror, label] = Share(share, real.interval_of("accuracy", juror, label))
    for label, share in real.prevalence.items():
        shares["prevalence", label] = Share(share, real.interval_of("prevalence", label))
    if real.wrong_labels_of is not None:
        wrong = real.wrong_labels_of(list(case.labellings.values()))
        shares |= {("wrong_labels", name): Share(*one) for name, one in zip(case.labellings, wrong, strict=True)}
    return shares


def nested(shares: Shares) -> dict[str, Any]:
    """The JSON keys: statistic -> juror or label -> …"""
    out: dict[str, Any] = {name: {} for name in ("score", "accuracy", "prevalence", "wrong_labels")}
    for name, share in shares.items():
        inner = out[name[0]]
        for key in name[1:-1]:
            inner = inner.setdefault(key, {})
        inner[name[-1]] = share.to_dict()
    return out


def shown_name(name: tuple[Any, ...]) -> str:
    """What a figure is called.

    >>> shown_name(("accuracy", "ann", "yes")), shown_name(("wrong_labels", "majority"))
    ('accuracy of ann on yes', 'wrong labels of majority')
    """
    return _WHAT.get(name[0], f"{name[0].replace('_', ' ')} of {{}}").format(*name[1:])


def _range(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else percent_range((low, high))


# `compare` and `systems`: who is better on the same items, and how often each system under test passes.


_MOST_JURORS = 12  # above, pairs are to be named
_NOTE = "Guaranteed by the random draw alone, after every label; each interval by itself, not all of them at once."


@dataclass(frozen=True, eq=False)
class PairedDifferences(Result):
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
) -> PairedDifferences:
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
    case = AuditedVotes.of(as_votes(source, **reading), as_sheet(answers))
    known = case.votes.jurors
    if between is None and len(known) > _MOST_JURORS:
        message = f"{len(known)} jurors are too many pairs; name those to compare (--between A,B)"
        raise OptionError(message, code="out_of_range", name="between")
    at = range(len(known)) if between is None else name_positions(known, between, "juror")
    pairs = list(combinations(at, 2))
    figures = [lead_statistic(known[a], known[b], case.said[a], case.said[b]) for a, b in pairs]
    halves = case.prove(figures, level)
    parts = [_part_apart(case, figure, a, b) for figure, (a, b) in zip(figures, pairs, strict=True)]
    leads = {(known[a], known[b]): _lead(half, part) for (a, b), half, part in zip(pairs, halves, parts, strict=True)}
    return PairedDifferences({}, leads, case.labelled, level)


def _part_apart(case: AuditedVotes, figure: Statistic, one: int, other: int) -> float:
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


def systems(votes: Votes, groups: Sequence[Any], answers: Any, *, level: float = 0.95) -> PairedDifferences:
    """How often each label is the true one among the items of each system under test, and how far two are apart.

    `groups` names the system of each row of the votes. A difference is one figure of the items of both systems, with an
    interval of its own, which is narrower than what two intervals leave.
    """
    Grading(level=level)
    case = AuditedVotes.of(votes, as_sheet(answers))
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
    figures = [replace(prevalence_statistic(a, votes.labels.index(a), len(kinds)), member=of[s]) for s, a in asked]
    figures += [difference_statistic(p, votes.labels.index(p[2]), of[p[0]], of[p[1]], sizes) for p in pairs]
    proved = case.prove(figures, level, cells)
    shares = dict(zip(asked, proved, strict=False))
    units = [1 / difference_unit(of[one], of[other], sizes) for one, other, _ in pairs]
    leads = {p: _lead(half, unit) for p, half, unit in zip(pairs, proved[len(asked) :], units, strict=True)}
    return PairedDifferences(shares, leads, case.labelled, level)
