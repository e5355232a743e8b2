"""`result`: what a person's answers prove of the jurors, beside what reference juries and the answers suggest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Unpack

from jurors.audit.case import Case, Share
from jurors.audit.draw import auditable
from jurors.audit.goals import GoalReached, judge, parse_goal
from jurors.audit.people import People, two_people
from jurors.audit.proof.figures import Figure, accuracy_of, prevalence_of, score_of, wrong_of
from jurors.audit.sheet import as_sheet
from jurors.evaluate import Evaluation
from jurors.evaluate.card import REAL, percent, percent_range
from jurors.jury.accept import as_votes
from jurors.options import Grading, SourceOptions, texts
from jurors.tables import Block, Columns, Notes, Result, Table, columns_of

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
        heads = ("", "guaranteed", f"{sure} interval", REAL, f"{sure} interval ")
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
    votes = auditable(as_votes(source, **reading))
    case = Case.of(votes, as_sheet(answers))
    figures = figures_of(case)
    goals = [parse_goal(text, {one.name: one for one in figures}) for text in texts(until)]
    audit = audited(case, case.graded(level), level)
    proved = audit.guaranteed
    return replace(
        audit,
        goals=tuple(judge(goal, proved[goal.name], case.labelled, case.votes.rows) for goal in goals),
        people=None if second is None else _beside(case, Case.of(votes, as_sheet(second)), figures, proved, level),
    )


def audited(case: Case, evaluation: Evaluation | None, level: float) -> Audit:
    """Both columns: what the draw proves, and the same votes graded with the answers as gold."""
    figures = figures_of(case)
    proved = {one.name: share for one, share in zip(figures, case.prove(figures, level), strict=True)}
    return Audit(
        labelled=case.labelled, drawn=len(case.rows), items=case.votes.rows, gaps=case.gaps, guaranteed=proved,
        calibrated=_calibrated(case, evaluation), level=level,
    )  # fmt: skip


def _beside(case: Case, other: Case, figures: Sequence[Figure], proved: Shares, level: float) -> People:
    theirs = {one.name: share for one, share in zip(figures, other.prove(figures, level), strict=True)}
    return two_people(case, other, proved, theirs, level)


def figures_of(case: Case) -> list[Figure]:
    """Every share that an audit tells of."""
    jurors, labels, said = case.votes.jurors, case.votes.labels, case.said
    figures = [score_of(j, said[k]) for k, j in enumerate(jurors)]
    figures += [accuracy_of(j, a, code, said[k]) for k, j in enumerate(jurors) for code, a in enumerate(labels)]
    figures += [prevalence_of(a, code, said.shape[1]) for code, a in enumerate(labels)]
    return [*figures, *_labellings(case)]


def _labellings(case: Case) -> list[Figure]:
    """How often the labels of each method are wrong."""
    if case.blind is None:
        return []
    at = case.blind[0].tuple_of_row[case.first_rows]
    return [wrong_of(name, chosen[at]) for name, chosen in case.labellings.items()]


def _calibrated(case: Case, evaluation: Evaluation | None) -> Shares | None:
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
