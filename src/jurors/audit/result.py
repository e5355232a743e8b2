"""What a person's answers prove of jurors: votes and a filled-in sheet come in; `Audit`, `PairedDifferences` go out.

`AuditedVotes` aligns the answers with the votes, checks that they answer a draw from these votes, and proves any
statistic by betting (`confidence`). `result` reports jurors, labels and methods beside what reference juries suggest,
with goals ("score:GPT-4 ± 0.05") and a second person's labels; `compare` reports differences.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any, TypeAlias, Unpack

import numpy as np

from jurors._numeric import Floats, Integers, single_threaded
from jurors.audit.confidence import (
    Cells,
    JurorVotes,
    Predictors,
    Statistic,
    Steps,
    accuracy_statistic,
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
    auditable_votes,
    check_same_votes,
    check_seeds,
    has_chosen_seed,
    read_sheet,
    replay_draws,
)
from jurors.errors import OptionError, SketchError, VotesError, check_choice, format_first_names, name_positions
from jurors.evaluate.card import percent, percent_range
from jurors.evaluate.evaluation import Evaluation
from jurors.jury.calibration import calibration_basis, jury_votes
from jurors.jury.compare import compare_counted, default_methods
from jurors.jury.grade import grade_counted
from jurors.jury.inputs import CountedVotes, as_votes, count_gradable
from jurors.options import Grading, Label, SourceOptions, text_columns, verb
from jurors.results import Block, Columns, Notes, Result, Table, columns_of, count_noun, shorten_names
from jurors.votes.table import Votes


@dataclass(frozen=True)
class Share:
    """A share of items: an estimate, and an interval that the draw alone guarantees."""

    estimate: float | None  #: None where nothing drawn concerns it
    interval: tuple[float, float]

    @property
    def printed(self) -> float | None:
        """The estimate that people read: None where it lies outside its interval, as printed.

        An estimate weighs the labels by the chances of the draw, so from few labels it may leave what is possible.
        """
        low, high = (round(end, 3) for end in self.interval)
        return self.estimate if self.estimate is not None and low <= round(self.estimate, 3) <= high else None


Shares: TypeAlias = Mapping[tuple[Any, ...], Share]  #: by the name of a `Statistic`: ("score", juror) …


@dataclass(frozen=True, eq=False)
class AuditedVotes:
    """Votes, the sheet that was drawn from them, and the true labels that a person gave."""

    votes: Votes
    sheet: Sheet
    design: Design
    rows: Integers  #: the row of each draw, in order
    codes: Integers  #: the label of each draw as a position in the votes' labels, -1 where there is none
    is_random: bool  #: whether the sheet records a random seed of its draw, which gives these items again

    @classmethod
    def of(cls, votes: Votes, sheet: Sheet) -> AuditedVotes:
        """Align the answers with the votes; VotesError where they are not answers to a draw from these votes."""
        check_same_votes(sheet, votes)
        design = Design.of(votes)
        rows = replay_draws(sheet, votes, SequentialDraw(design))
        return cls(votes, sheet, design, rows, answer_codes(sheet, votes), check_seeds(sheet, design, rows))

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
    def graded_blind(self) -> tuple[CountedVotes, Evaluation] | None:
        """The votes counted, and graded without the answers; None where they cannot be."""
        try:
            counted = count_gradable(self.votes)
            with single_threaded():
                return counted, grade_counted(counted, None, Grading(), intervals=False)
        except SketchError:
            return None

    @cached_property
    def labellings(self) -> dict[str, Integers]:
        """Method -> the label it gives each counted tuple, blind to the answers; the default method's come first."""
        if self.graded_blind is None:
            return {}
        counted, default = self.graded_blind
        others = [name for name in default_methods(counted.sketch) if name != default.method]
        evaluations = [default, *compare_counted(counted, others).evaluations]
        partitions = {evaluation.method: evaluation.partition for evaluation in evaluations}
        return {name: partition.chosen for name, partition in partitions.items() if partition is not None}

    @property
    def gold(self) -> dict[Any, Label]:
        """The answers as gold items."""
        names, labels = self.votes.item_names().tolist(), self.votes.labels
        given = zip(self.rows.tolist(), self.codes.tolist(), strict=True)
        return {names[row]: labels[code] for row, code in given if code >= 0}

    def graded(self, level: float) -> Evaluation | None:
        """The votes graded with the answers as gold; None where they cannot be."""
        if self.graded_blind is None:
            return None
        counted, known = self.graded_blind[0].align_gold(self.gold)
        with single_threaded():
            return grade_counted(counted, known, Grading(level=level))

    @cached_property
    def first_rows(self) -> Integers:
        """Tuples: the row of an item with it."""
        first = np.empty(len(self.design.sizes), dtype=np.int64)
        first[self.design.tuple_of_row] = np.arange(self.votes.rows)
        return first

    @cached_property
    def votes_by_juror(self) -> list[JurorVotes]:
        """Each juror's votes by tuple."""
        place = np.full(self.votes.rows, -1)
        place[self.first_rows] = np.arange(len(self.first_rows))
        row, juror, code = self.votes.triples()
        tuple_of = place[row]
        at = np.flatnonzero(tuple_of >= 0)
        at = at[np.lexsort((tuple_of[at], juror[at]))]
        ends = np.cumsum(np.bincount(juror[at], minlength=len(self.votes.jurors)))[:-1]
        parts = np.split(tuple_of[at], ends), np.split(code[at].astype(np.int64), ends)
        return [JurorVotes(*part) for part in zip(*parts, strict=True)]

    @cached_property
    def statistics(self) -> list[Statistic]:
        """Every statistic of an audit: scores, accuracies, prevalences, how often each method's labels are wrong."""
        labels = list(enumerate(self.votes.labels))
        by_juror = list(zip(self.votes.jurors, self.votes_by_juror, strict=True))
        statistics = [score_statistic(juror, votes) for juror, votes in by_juror]
        statistics += [accuracy_statistic(juror, a, code, votes) for juror, votes in by_juror for code, a in labels]
        statistics += [prevalence_statistic(a, code, len(self.design.sizes)) for code, a in labels]
        if self.graded_blind is not None:
            at = self.graded_blind[0].tuple_of_row[self.first_rows]
            statistics += [error_statistic(name, codes[at]) for name, codes in self.labellings.items()]
        return statistics

    @cached_property
    def label_predictors(self) -> Predictors:
        """Posteriors of every tuple's true label by the votes alone."""
        labels, sizes = len(self.votes.labels), self.design.sizes.astype(np.float64)
        given = np.zeros((len(sizes), labels))
        for votes in self.votes_by_juror:
            given[votes.tuples, votes.codes] += 1
        by_votes, voters = vote_posterior(given), given.sum(axis=1)
        if self.graded_blind is None:
            return predictors(by_votes, by_votes, voters, sizes)
        counted, evaluation = self.graded_blind
        with single_threaded():
            _, posterior, _ = calibration_basis(evaluation, evaluation, counted.sketch)
            jury = jury_votes(counted.sketch, posterior, evaluation.representatives)
        at = counted.tuple_of_row[self.first_rows]
        return predictors(posterior[at], by_votes, jury.distinct[at].astype(np.float64), sizes)

    def prove(self, statistics: Sequence[Statistic], level: float) -> dict[Any, Share]:
        """Confidence intervals of some statistics, each with this confidence.

        Returns
        -------
        dict
            Name of a statistic -> Share.
        """
        if not statistics:
            return {}
        strata = Cells(self.design.sizes, self.label_predictors)
        at = slice(0, self.used)
        drawn_cells = self.design.tuple_of_row[self.rows[at]]
        shares = {statistic.name: Share(None, (0.0, 1.0)) for statistic in statistics}
        # of hundreds of jurors, most met no drawn item
        is_drawn = np.isin(np.arange(len(self.design.sizes)), drawn_cells)
        if touched := [statistic for statistic in statistics if is_drawn[statistic.tuples].any()]:
            steps = trace(touched, strata, self.design, drawn_cells, self.codes[at], np.array(self.sheet.of)[at])
            shares |= _shares(touched, steps, level)
        return shares


def _shares(statistics: Sequence[Statistic], steps: Steps, level: float) -> dict[Any, Share]:
    """Name of a statistic -> its share."""
    low, high = intervals(steps, level)
    labelled: Floats = (steps.counts & ~np.isnan(steps.event)).sum(axis=0)
    return {
        statistic.name: Share(None if not n or m != m else float(m), (float(a), float(b)))
        for statistic, n, m, a, b in zip(statistics, labelled, estimates(steps), low, high, strict=True)
    }


# ---------------------------------------------------------------------------------------------------------------------
# Two people who labelled the same items: how far they agree, and what holds whichever of them is right
# ---------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class People:
    """Two people's labels of the same draw."""

    both: int  #: items that both labelled
    agreement: Share  #: the share of all items on which they would agree
    either: Shares  #: statistic -> an interval that holds by the labels of both

    @property
    def line(self) -> str:
        """What their disagreement means."""
        low, high = self.agreement.interval
        return (
            f"Two people labelled {self.both:,} of these items and agree on {percent(self.agreement.printed)} "
            f"({percent(low)} – {percent(high)}). The intervals use the first person's labels. With the second "
            f"person's labels, a share can differ by up to {percent(1 - low)} (JSON: `either`)."
        )


def two_people(
    audited: AuditedVotes, other: AuditedVotes, statistics: Sequence[Statistic], shares: Shares, level: float
) -> People:
    """The agreement of two people on one draw, a share like any other; and the hull of both people's intervals.

    Parameters
    ----------
    audited, other
        The same votes with the labels of the first and of the second person.
    statistics, shares
        What is guaranteed by the first person's labels.
    """
    other_shares = other.prove(statistics, level)
    n = other.used
    if not np.array_equal(audited.rows[:n], other.rows[:n]) and not np.array_equal(audited.rows, other.rows):
        raise VotesError("the two people labelled different draws; give both the same sheet")
    size = min(len(audited.codes), len(other.codes))
    first, second = audited.codes[:size], other.codes[:size]
    both = (first >= 0) & (second >= 0)
    if not both.any():
        raise VotesError("the two people have no labelled item in common", code="empty")
    agree = np.where(both, (first == second).astype(np.int64), -1)[: int(np.flatnonzero(both)[-1]) + 1]
    tuples = len(audited.design.sizes)
    mostly_agree = Predictors(np.broadcast_to([[[0.1, 0.9]]], (1, tuples, 2)), np.ones(1))
    strata = Cells(audited.design.sizes, mostly_agree)
    agreed = [prevalence_statistic(True, 1, tuples)]
    cells = audited.design.tuple_of_row[audited.rows[: len(agree)]]
    steps = trace(agreed, strata, audited.design, cells, agree, np.array(audited.sheet.of)[: len(agree)])
    (agreement,) = _shares(agreed, steps, level).values()
    either = {}
    for name, share in shares.items():
        lows, highs = zip(share.interval, other_shares[name].interval, strict=True)
        either[name] = Share(share.estimate, (min(lows), max(highs)))
    return People(int(both.sum()), agreement, either)


# ---------------------------------------------------------------------------------------------------------------------
# Goals: "score:GPT-4 ± 0.05", "wrong <= 0.1", and whether they are reached, so that labelling may stop
# ---------------------------------------------------------------------------------------------------------------------

_STATISTICS = {"score": "score", "accuracy": "accuracy", "prevalence": "prevalence", "wrong": "wrong_labels"}
_SIGNS = {"±": "±", "+-": "±", "+/-": "±", "<=": "<=", "≤": "<=", ">=": ">=", "≥": ">="}
_GOAL = re.compile(r"\s*(\w+)\s*(?::\s*(.*?))?\s*(±|\+/?-|<=|>=|≤|≥)\s*([\d.]+)\s*(%?)\s*")


@dataclass(frozen=True)
class Goal:
    """What is to be known: a statistic to ± something, or that it is at most or at least something."""

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
    """A goal as the user writes it, about one of the known statistics; OptionError where it is none.

    >>> parse_goal("score:ann ± 5%", {("score", "ann"): 1})
    Goal(text='score:ann ± 5%', name=('score', 'ann'), sign='±', value=0.05)
    """
    parts = _GOAL.fullmatch(text)
    if parts is None:
        raise OptionError(
            f"cannot read the goal {text!r}: write score:JUROR ± 0.05, accuracy:JUROR:LABEL ± 0.1, "
            "prevalence:LABEL ± 0.05, wrong <= 0.1, or order (of systems: name their column with system=)",
            code="out_of_range", name="until", value=text,
        )  # fmt: skip
    what, of, sign, number, hundredth = parts.groups()
    statistic = _STATISTICS[check_choice(what, list(_STATISTICS), "figure")]
    value = float(number) / (100 if hundredth else 1)
    if not 0 <= value <= 1:
        raise OptionError(f"the goal {text!r} asks for {value:g}, not a share", code="out_of_range", name="until")
    names = {":".join(map(str, name[1:])): name for name in known if name[0] == statistic}
    if statistic == "wrong_labels" and of is None and names:  # of the method of `jurors label`
        name = next(iter(names.values()))
    else:
        name = names[check_choice(of or "", list(names), statistic.replace("_", " "))]
    return Goal(text, name, _SIGNS[sign], value)


def labels_more(half: float, needed: float, labelled: int, items: int) -> int:
    """How many more labels narrow a half width to what is needed: a guess, of two digits.

    The half width of an interval falls with the root of 1/labels - 1/items.

    Returns
    -------
    int
    """
    number = items / (1 + (needed / half) ** 2 * (items - labelled) / labelled) - labelled
    return max(math.ceil(number if number < 20 else float(f"{number:.1e}")), 1)


def judge(goal: Goal, share: Share, labelled: int, items: int) -> GoalReached:
    """Whether what is guaranteed reaches a goal, and if not, about how many labels more would.

    >>> goal = parse_goal("wrong <= 0.1", {("wrong_labels", "latent"): 1})
    >>> judge(goal, Share(0.05, (0.01, 0.12)), 100, 2000).line
    'not known: wrong <= 0.1: 5.0%, between 1.0% and 12.0%; not reached, about 87 more labels'
    """
    (low, high), estimate = share.interval, share.estimate
    half, needed, refuted = (high - low) / 2, goal.value, False
    reached = half <= goal.value
    if goal.sign == "<=":
        reached, refuted = high <= goal.value, low > goal.value
    elif goal.sign == ">=":
        reached, refuted = low >= goal.value, high < goal.value
    between = f"{percent(share.printed)}, between {percent(low)} and {percent(high)}"
    if reached:
        return GoalReached(goal, "pass", f"{between}; reached")
    if refuted:
        return GoalReached(goal, "fail", f"{between}; it cannot be reached, however many labels follow")
    if estimate is not None and goal.sign != "±":
        end, side = (high, 1) if goal.sign == "<=" else (low, -1)
        half, needed = side * (end - estimate), side * (goal.value - estimate)
    if needed <= 0 or labelled >= items:
        is_over = labelled >= items
        hope = "cannot be reached within the items there are" if is_over else "as likely to fail as to be reached"
        return GoalReached(goal, "not known", f"{between}; not reached, {hope}")
    more = labels_more(half, needed, labelled, items)
    tail = " (all there are)" if labelled + more >= items else ""
    reason = f"{between}; not reached, about {count_noun(more, 'more label')}{tail}"
    return GoalReached(goal, "not known", reason, more)


# ---------------------------------------------------------------------------------------------------------------------
# `result`
# ---------------------------------------------------------------------------------------------------------------------

_EACH = "The confidence level applies to each interval, not to all of them at once."
_GUARANTEE = (
    "The random draw alone guarantees these intervals, however correlated the errors are, and after every label: you "
    "can stop at any time."
)
_NOT_RANDOM = "Nothing shows that the draw was random: {why}. To get a guarantee, draw again without choosing a seed."
_NO_SEED = "the sheet records no seed. The intervals hold only if its items were drawn at random"
_CHOSEN = "a person chose the seed of the sheet. The intervals hold only if nobody knew which items it draws"


def guarantee(*, is_random: bool, is_chosen: bool, level: str = _EACH) -> str:
    """What the intervals rest on (a random seed, or one that a person chose), and what the confidence `level` is of.

    Returns
    -------
    str
    """
    return f"{_GUARANTEE if is_random else _NOT_RANDOM.format(why=_CHOSEN if is_chosen else _NO_SEED)} {level}"


def outside_note(shares: Mapping[str, Share]) -> list[str]:
    """A sentence about estimates that are not printed (`Share.printed`); none where all are.

    Returns
    -------
    list of str
    """
    outside = [name for name, share in shares.items() if share.estimate is not None and share.printed is None]
    number, names = count_noun(len(outside), "estimate"), format_first_names(outside, 3)
    why = "outside the interval, which few labels can cause; left out here, but not in CSV and JSON"
    return [f"{number} {why}: {names}."] if outside else []


_LONGEST_NAME = 17  # of a juror, to leave room for the rest of a row's name
_WHAT = {
    "score": "score of {}", "accuracy": "accuracy of {} on {}", "prevalence": "prevalence of {}",
    "wrong_labels": "wrong (no gold), {}",  # with these answers as gold, `grade` expects fewer
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Audit(Result):
    """What a person's labels prove, and the calibrated grades with these labels as gold."""

    _kind = "audit"

    labelled: int  #: how many items a person labelled
    drawn: int  #: how many were drawn
    items: int  #: of how many
    gaps: int  #: draws that were passed over: they are taken at their worst
    guaranteed: Shares  #: by the draw alone
    calibrated: Shares | None  #: with the answers as gold; None where jurors cannot be graded
    level: float  #: confidence of each interval
    goals: tuple[GoalReached, ...] = ()  #: what was to be reached
    people: People | None = None  #: where a second person labelled the same items
    is_random: bool = True  #: whether the sheet records a random seed: else nothing shows that the draw was random
    is_chosen: bool = False  #: whether a person chose a seed that the sheet records

    @property
    def passed(self) -> bool:
        """Whether every goal is reached."""
        return all(goal.verdict == "pass" for goal in self.goals)

    def of(self, *name: Any) -> Share:
        """What is guaranteed of ("score", juror), ("accuracy", juror, label), ("wrong_labels", method) …"""
        return self.guaranteed[name]

    def _document(self) -> dict[str, Any]:
        people = self.people and {
            "both": self.people.both,
            "agreement": self.people.agreement,
            "either": nested(self.people.either),
        }
        return {
            **self._attributes("labelled", "drawn", "items", "gaps", "is_random"),
            "guaranteed": nested(self.guaranteed),
            "calibrated": None if self.calibrated is None else nested(self.calibrated), "level": self.level,
            "until": self.goals, "passed": self.passed if self.goals else None, "people": people,
        }  # fmt: skip

    def _columns(self) -> Columns:
        headings = ("statistic", "estimate", "low", "high", "calibrated", "calibrated_low", "calibrated_high")
        return columns_of(headings, [self._row(name) for name in self.guaranteed])

    def _row(self, name: tuple[Any, ...]) -> tuple[Any, ...]:
        calibrated = (self.calibrated or {}).get(name)
        real = (None, None, None) if calibrated is None else (calibrated.estimate, *calibrated.interval)
        share = self.guaranteed[name]
        return (shown_name(name), share.estimate, *share.interval, *real)

    def _blocks(self, *, full: bool = False, top: int = 10, **_: Any) -> list[Block]:
        """What a person's labels prove: labels of the default method and of majority first.

        Of many jurors the best and the worst, and no accuracies by label.
        """
        sure = f"{self.level * 100:g}%"
        headings = ("", "guaranteed" if self.is_random else "if random", sure, "calibrated", f"{sure} ")
        wrong = [name for name in self.guaranteed if name[0] == "wrong_labels"]
        prevalences = [name for name in self.guaranteed if name[0] == "prevalence"]
        scores = [name for name in self.guaranteed if name[0] == "score"]
        ends = {name: [round(end, 9) for end in self.guaranteed[name].interval] for name in scores}
        scores.sort(key=ends.__getitem__, reverse=True)  # last: those known to be low
        others = [name for name in self.guaranteed if name[0] not in ("wrong_labels", "prevalence", "score")]
        shown = [*wrong, *prevalences, *scores, *others]
        if not full:
            few = [*wrong[:1], *(name for name in wrong[1:] if name[1] == "majority"), *prevalences[: 2 * top]]
            cut = scores if len(scores) <= 2 * top else [*scores[:top], *scores[-top:]]
            shown = [*few, *cut, *(others if len(others) <= 2 * top else ())]
        short = shorten_names([name[1] for name in scores], _LONGEST_NAME)
        texts = [
            f"{short[of[0]]} on {of[1]}" if what == "accuracy" else shown_name((what, *(short.get(x, x) for x in of)))
            for what, *of in shown
        ]
        rows = [
            (text, percent(self.guaranteed[name].printed), percent_range((low, high)), percent(real),
             "" if a is None else percent_range((a, b)))
            for text, name, (_, _, low, high, real, a, b) in zip(texts, shown, map(self._row, shown), strict=True)
        ]  # fmt: skip
        title = f"{self.labelled:,} of {self.items:,} items labelled, {self.drawn:,} drawn"
        goals = [Notes([goal.line for goal in self.goals])] if self.goals else []
        left = len(self.guaranteed) - len(shown)
        more = [f"{left:,} more statistics: full=True shows all."] if left else []
        table = Table(headings, tuple(rows), title=title, right=(1, 2, 3, 4), width=80)
        return [*goals, table, *more, Notes(self.notes, width=80)]

    @property
    def notes(self) -> list[str]:
        """Sentences about the guarantee."""
        skipped = "1 skipped item counts" if self.gaps == 1 else f"{self.gaps} skipped items count"
        gaps = f"{skipped} as the worst case. Label the items in order."
        people = [] if self.people is None else [self.people.line]
        outside = outside_note({shown_name(name): share for name, share in self.guaranteed.items()})
        basis = guarantee(is_random=self.is_random, is_chosen=self.is_chosen)
        return [basis, *([gaps] if self.gaps else []), *outside, *people]


@verb(SourceOptions)
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
        Confidence of each interval.
    until
        Goals: "score:GPT-4 ± 0.05", "wrong <= 0.1" …; `goals` of the result has for each whether it is reached.

    Returns
    -------
    Audit
        Shares from 0 to 1 by statistic.

    Raises
    ------
    VotesError
        The answers are not to a draw from these votes, or there are none.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from jurors.audit import plan
    >>> votes = [["yes", "yes", "no"]] * 30 + [["no", "no", "no"]] * 50 + [["yes", "no", "yes"]] * 10
    >>> sheet = plan(votes, 40, seed=1)
    >>> truth = ["yes" if item < 30 else "no" for item in sheet.items]
    >>> audit = result(votes, replace(sheet, labels=tuple(truth)))
    >>> low, high = audit.of("score", "2").interval
    >>> audit.labelled, low > 0.85, high
    (40, True, 1.0)
    """
    Grading(level=level)  # a level of 95 is refused at once
    votes = auditable_votes(as_votes(source, **reading))
    audited = AuditedVotes.of(votes, read_sheet(answers))
    statistics = audited.statistics
    goals = [parse_goal(text, {statistic.name: statistic for statistic in statistics}) for text in text_columns(until)]
    audit = evaluate_audit(audited, audited.graded(level), level)
    shares, people = audit.guaranteed, None
    if second is not None:
        people = two_people(audited, AuditedVotes.of(votes, read_sheet(second)), statistics, shares, level)
    reached = tuple(judge(goal, shares[goal.name], audited.labelled, votes.rows) for goal in goals)
    return replace(audit, goals=reached, people=people)


def evaluate_audit(audited: AuditedVotes, evaluation: Evaluation | None, level: float) -> Audit:
    """What the draw proves, and the same votes graded with the answers as gold (`evaluation`): an `Audit`."""
    shares: dict[tuple[Any, ...], Share] | None = None
    real = None if evaluation is None else evaluation.calibrated
    if real is not None:
        named: dict[tuple[Any, ...], Any] = {("score", juror): score for juror, score in real.score.items()}
        named |= {("accuracy", j, label): share for j, row in real.accuracy.items() for label, share in row.items()}
        named |= {("prevalence", label): share for label, share in real.prevalence.items()}
        shares = {name: Share(share, real.interval_of(*name)) for name, share in named.items()}
        if real.wrong_labels_of is not None:
            wrong = real.wrong_labels_of(list(audited.labellings.values()))
            for method, each in zip(audited.labellings, wrong, strict=True):
                shares["wrong_labels", method] = Share(*each)
    return Audit(
        labelled=audited.labelled,
        drawn=len(audited.rows),
        items=audited.votes.rows,
        gaps=audited.gaps,
        guaranteed=audited.prove(audited.statistics, level),
        calibrated=shares,
        level=level,
        is_random=audited.is_random,
        is_chosen=has_chosen_seed(audited.sheet),
    )


def nested(shares: Shares) -> dict[str, Any]:
    """The JSON keys: statistic -> juror or label -> …"""
    out: dict[str, Any] = {name: {} for name in ("score", "accuracy", "prevalence", "wrong_labels")}
    for name, share in shares.items():
        inner = out[name[0]]
        for key in name[1:-1]:
            inner = inner.setdefault(key, {})
        inner[name[-1]] = share
    return out


def shown_name(name: tuple[Any, ...]) -> str:
    """The title of a statistic.

    >>> shown_name(("accuracy", "ann", "yes")), shown_name(("wrong_labels", "majority"))
    ('accuracy of ann on yes', 'wrong (no gold), majority')
    """
    return _WHAT.get(name[0], f"{name[0].replace('_', ' ')} of {{}}").format(*name[1:])


# ---------------------------------------------------------------------------------------------------------------------
# `compare`: which juror is better on the same items
# ---------------------------------------------------------------------------------------------------------------------

_MOST_JURORS = 12  # above, pairs are to be named
_ALONE = (
    "Each lead is estimated on its own, from the items on which the two jurors differ: leads need not add up, nor "
    "equal the differences of scores."
)


@dataclass(frozen=True, eq=False)
class PairedDifferences(Result):
    """Differences between two jurors, with intervals; positive if the first is better."""

    leads: Shares  #: (first, second) -> the lead of the first
    labelled: int
    level: float
    is_random: bool = True  #: whether the sheet records a random seed of its draw
    is_chosen: bool = False  #: whether a person chose a seed that the sheet records

    def verdict(self, *name: Any) -> str:
        """Who is ahead: "first", "second", or "not known"."""
        low, high = self.leads[name].interval
        return "first" if low > 0 else "second" if high < 0 else "not known"

    def _document(self) -> dict[str, Any]:
        leads = [
            {"first": a, "second": b, "better": self.verdict(a, b), **vars(lead)} for (a, b), lead in self.leads.items()
        ]
        return {"labelled": self.labelled, "leads": leads, "level": self.level}

    def _columns(self) -> Columns:
        rows = [(*pair, v.estimate, *v.interval, self.verdict(*pair)) for pair, v in self.leads.items()]
        return columns_of(("first", "second", "estimate", "low", "high", "better"), rows)

    def _blocks(self, **_: Any) -> list[Block]:
        leads = tuple(
            (f"{a} over {b}", _points(v.printed), percent_range(v.interval),
             {"first": a, "second": b}.get(self.verdict(a, b), "not known"))
            for (a, b), v in self.leads.items()
        )  # fmt: skip
        headings = ("lead", "points", f"{self.level * 100:g}% interval", "better")
        outside = outside_note({f"{a} over {b}": lead for (a, b), lead in self.leads.items()})
        notes = [guarantee(is_random=self.is_random, is_chosen=self.is_chosen), *([_ALONE] if leads else []), *outside]
        note = Notes(notes, width=80)
        return [f"{self.labelled:,} items labelled", *([Table(headings, leads)] if leads else []), note]


def _points(share: float | None) -> str | None:
    return None if share is None else f"{share * 100:z.1f}"


@verb(SourceOptions)
def compare(
    source: Any,
    answers: Any,
    *,
    between: Sequence[str] | None = None,
    level: float = 0.95,
    **reading: Unpack[SourceOptions],
) -> PairedDifferences:
    """Compare every pair of jurors, or those `between` some, on the items on which both voted.

    Returns
    -------
    PairedDifferences
        A lead in shares of the items, from -1 to 1, for each pair.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from jurors.audit import plan
    >>> votes = [["yes", "yes"]] * 60 + [["no", "yes"]] * 40
    >>> sheet = plan(votes, 40, seed=1)
    >>> differences = compare(votes, replace(sheet, labels=tuple("yes" if i < 60 else "no" for i in sheet.items)))
    >>> differences.verdict("1", "2")
    'first'
    """
    Grading(level=level)
    audited = AuditedVotes.of(as_votes(source, **reading), read_sheet(answers))
    jurors, votes, sizes = audited.votes.jurors, audited.votes_by_juror, audited.design.sizes
    if between is None and len(jurors) > _MOST_JURORS:
        message = f"{len(jurors)} jurors are too many pairs; name those to compare (--between A,B)"
        raise OptionError(message, code="out_of_range", name="between")
    positions = range(len(jurors)) if between is None else name_positions(jurors, between)
    pairs = list(combinations(positions, 2))
    statistics = [lead_statistic(jurors[a], jurors[b], votes[a], votes[b]) for a, b in pairs]
    halves, middles, leads = audited.prove(statistics, level), audited.prove(statistics, 0.5), {}
    for (a, b), statistic in zip(pairs, statistics, strict=True):
        both = sizes[np.intersect1d(votes[a].tuples, votes[b].tuples, assume_unique=True)].sum()
        part = float(sizes[statistic.tuples].sum() / both) if both else float("nan")  # of these, on which they differ
        leads[jurors[a], jurors[b]] = _lead(halves[statistic.name], middles[statistic.name], part)
    return PairedDifferences(leads, audited.labelled, level, audited.is_random, has_chosen_seed(audited.sheet))


def _lead(half: Share, middle: Share, part: float) -> Share:
    """A lead from (1 + lead) / 2 on a part of the items; on the rest there is none.

    The estimate is the middle of the 50% interval (`middle`), so that it belongs to the interval. The weighted mean of
    the draws leaves one interval in six with 20 labels, and is farther from the truth.
    """
    if not part > 0:  # they never differ, or have no item in common
        return Share(0.0, (0.0, 0.0)) if part == 0 else Share(None, (-1.0, 1.0))
    low, high = ((2 * end - 1) * part for end in half.interval)
    estimate = None if half.estimate is None else (sum(middle.interval) - 1) * part
    return Share(estimate, (max(low, -1.0), min(high, 1.0)))  # no two shares are further apart
