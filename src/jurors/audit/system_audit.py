"""What a person's labels prove about systems: votes, systems and a filled-in sheet come in, a `SystemAudit` goes out.

Rates and differences are proved by betting (`confidence`), on the draw alone. A rate is the mean value of a system's
items. A difference is the mean of (questions of both) * (value of a / items of a - value of b / items of b) over the
questions that either system answered, where what makes a question hard cancels. Each system follows one random order of
the questions (`system_design`), so that those which both have passed are a random sample. Of a sheet that was not drawn
by system, each item is a question of its own. Every statistic bets on its own draws in their order and knows no others.

All rates hold at once with the confidence level, and so do all differences (Bonferroni's inequality); where a over c
and c over b are known, so is a over b.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import combinations, permutations
from typing import Any, Unpack

import numpy as np

from jurors._numeric import Floats, Integers
from jurors.audit.confidence import Steps, estimates, search_end
from jurors.audit.result import AuditedVotes, Share, guarantee, labels_more, outside_note
from jurors.audit.sheet import (
    Design,
    SequentialDraw,
    Sheet,
    answer_codes,
    check_same_votes,
    drawn_systems,
    has_chosen_seed,
    is_by_system,
    is_random_seed,
    read_sheet,
    replay_systems,
    votes_by_system,
)
from jurors.audit.system_design import SystemDesign
from jurors.evaluate.card import percent, percent_range
from jurors.jury.systems import label_values, tiers
from jurors.options import Grading, Label, SourceOptions, verb
from jurors.results import Block, Columns, Notes, Result, Table, columns_of
from jurors.votes.table import Votes

_TOGETHER = "All rates hold together with the confidence level, and so do all differences."
_FEW = 4  # the card lists the differences of so many systems


@dataclass(frozen=True, slots=True)
class AuditedRate:
    """How often a system is good, or its mean level."""

    rate: float | None  #: None where no item is labelled
    low: float
    high: float
    items: int
    labelled: int

    @property
    def share(self) -> Share:
        """The rate with its interval."""
        return Share(self.rate, (self.low, self.high))


@dataclass(frozen=True, slots=True)
class AuditedDifference:
    """By how much one system is better than another."""

    a: str
    b: str
    difference: float | None
    low: float
    high: float
    paired: bool  #: whether items of the same question were drawn together

    @property
    def share(self) -> Share:
        """The difference with its interval."""
        return Share(self.difference, (self.low, self.high))

    @property
    def proved(self) -> bool:
        """Whether the interval excludes 0."""
        return self.low > 0 or self.high < 0


@dataclass(frozen=True, eq=False, kw_only=True)
class SystemAudit(Result):
    """Each system's rate, the differences of all pairs, and the ranking in tiers, as a person's labels prove them."""

    good: Label | None  #: the label that is counted; None of ordered levels
    systems: Mapping[str, AuditedRate]
    differences: tuple[AuditedDifference, ...]
    ranking: tuple[tuple[str, ...], ...]  #: tiers, the best first: every order between tiers is proved
    labelled: int
    drawn: int
    items: int
    gaps: int  #: draws that were passed over: they are taken at their worst
    level: float  #: confidence of all rates together, and of all differences
    more: int | None  #: labels that would prove the closest order, about; None where all are proved, or none would
    is_random: bool = True  #: whether the sheet records a random seed of its draw
    is_chosen: bool = False  #: whether a person chose a seed that the sheet records

    _kind = "audit-systems"

    @property
    def passed(self) -> bool:
        """Whether the order of all systems is proved: labelling can stop."""
        return all(d.proved for d in self.differences)

    def _document(self) -> dict[str, Any]:
        names = ("good", "labelled", "drawn", "items", "gaps", "is_random", "level", "systems")
        order = [{**asdict(d), "order": "proved" if d.proved else "not proved"} for d in self.differences]
        tail = {"ranking": self.ranking, "passed": self.passed, "labels_more": self.more}
        return {**{name: getattr(self, name) for name in names}, "differences": order, **tail}

    def _columns(self) -> Columns:
        heads = ("a", "b", "estimate", "low", "high", "items", "labelled", "paired", "proved")
        rows: list[Any] = [(s, None, x.rate, x.low, x.high, x.items, x.labelled, None, None)
                           for s, x in self.systems.items()]  # fmt: skip
        for d in self.differences:  # the items of both systems
            items, labelled = (sum(getattr(self.systems[s], x) for s in (d.a, d.b)) for x in ("items", "labelled"))
            rows.append((d.a, d.b, d.difference, d.low, d.high, items, labelled, d.paired, d.proved))
        return columns_of(heads, rows)

    def _blocks(self, *, full: bool = False, **_: Any) -> list[Block]:
        what = "mean level" if self.good is None else f"rate of {self.good}"
        sure = f"{self.level * 100:g}%"
        rates = tuple(
            (name[:36], *self._cells(x.share), f"{x.labelled:,} of {x.items:,}") for name, x in self.systems.items()
        )
        pairs = tuple(
            (f"{d.a} - {d.b}"[:44], *self._cells(d.share), "proved" if d.proved else "not proved")
            for d in self.differences
        )
        blocks: list[Block] = [
            f"{len(self.systems)} systems, {self.labelled:,} of {self.items:,} items labelled, {self.drawn:,} drawn",
            Notes(self.sentences(), width=80, hanging="  "),
            Table(("system", what, sure, "labelled"), rates, right=(1, 2, 3)),
        ]
        if full or len(self.systems) <= _FEW:
            blocks.append(Table(("difference", "", sure, "order"), pairs, right=(1, 2)))
        shares = {name: x.share for name, x in self.systems.items()}
        shares |= {f"{d.a} - {d.b}": d.share for d in self.differences}
        notes = [guarantee(is_random=self.is_random, is_chosen=self.is_chosen, level=_TOGETHER), *outside_note(shares)]
        return [*blocks, Notes(notes, width=80)]

    def _cells(self, share: Share) -> tuple[str | None, str]:
        x, (low, high) = share.printed, share.interval
        if self.good is None:
            return None if x is None else f"{x:.2f}", f"{low:.2f} – {high:.2f}"
        return percent(x), percent_range(share.interval)

    def sentences(self) -> list[str]:
        """The answer, and whether to go on labelling.

        Returns
        -------
        list of str
        """
        proved = sum(d.proved for d in self.differences)
        lines = [f"{self.ranking[0][0]} is proved to be the best."] if len(self.ranking[0]) == 1 else []
        if self.passed:
            return [*lines, "The order of all systems is proved: you can stop labelling."]
        of = f"{proved} of {len(self.differences)} orders are proved."
        lines.append(of if len(self.differences) > 1 else "The order is not proved.")
        nearest = nearest_order(self.differences)
        if self.more is not None and nearest is not None:
            a, b = (nearest.a, nearest.b) if (nearest.difference or 0.0) > 0 else (nearest.b, nearest.a)
            lines.append(f"About {self.more:,} more labels would prove {a} over {b}, if the rates stay as they are.")
        if self.gaps:
            lines.append(f"Skipped items count as the worst case ({self.gaps}). Label the items in order.")
        return lines


def nearest_order(differences: Sequence[AuditedDifference]) -> AuditedDifference | None:
    """The difference that is closest to being proved; None where there is none left, or none has a sign.

    Returns
    -------
    AuditedDifference or None
    """
    open_ = [d for d in differences if not d.proved and d.difference]
    return max(open_, key=lambda d: abs(d.difference or 0.0) / (d.high - d.low), default=None)


@verb(SourceOptions)
def systems(
    source: Any,
    answers: Any,
    *,
    by: Any,
    good: Label | None = None,
    level: float = 0.95,
    **reading: Unpack[SourceOptions],
) -> SystemAudit:
    """What a person's labels prove about systems: each one's rate, and all differences.

    Parameters
    ----------
    source
        The votes that the sheet was drawn from, as in `plan`.
    answers
        The sheet with its labels, as in `result`. Intervals of differences are narrowest if it was drawn by system
        (`by=` of `plan`).
    by, good
        The system of each item, and the label that counts, as in `jurors.systems`.
    level
        Confidence of all rates together, and of all differences.

    Returns
    -------
    SystemAudit

    Examples
    --------
    >>> from dataclasses import replace
    >>> from jurors.audit import plan
    >>> votes = [["pass", "pass"]] * 90 + [["fail", "fail"]] * 110
    >>> by = ["new"] * 100 + ["old"] * 100
    >>> sheet = plan(votes, 40, by=by, seed=1)
    >>> answered = replace(sheet, labels=tuple("pass" if item < 90 else "fail" for item in sheet.items))
    >>> audit = systems(votes, answered, by=by)
    >>> audit.ranking, audit.passed
    ((('new',), ('old',)), True)
    """
    Grading(level=level)  # a level of 95 is refused at once
    votes, groups = votes_by_system(source, by, reading)
    sheet = read_sheet(answers)
    groups = drawn_systems(votes, groups, sheet)
    values, good = label_values(votes, good)
    unit, lowest = float(np.ptp(values)) or 1.0, float(values.min())
    bets = SystemBets.of(votes, groups, sheet, (values - lowest) / unit)
    audited, design = bets.audited, bets.design
    rates, leads = bets.prove(level)
    drawn = dict.fromkeys(audited.rows[audited.codes >= 0].tolist())
    labelled = [sum(row in drawn for row in rows[rows >= 0].tolist()) for rows in design.row]
    of_system = []
    for (rate, low, high), n, m in zip(rates, design.sizes.tolist(), labelled, strict=True):
        ends = None if rate is None else lowest + unit * rate, lowest + unit * low, lowest + unit * high
        of_system.append(AuditedRate(*ends, n, m))
    order = sorted(range(len(of_system)), key=lambda k: (-(of_system[k].rate or 0.0), design.systems[k]))
    by_pair = dict(zip(combinations(range(len(order)), 2), leads, strict=True))
    found, is_better = [], np.zeros((len(order),) * 2, dtype=bool)
    for a, b in combinations(order, 2):
        lead, low, high = by_pair[min(a, b), max(a, b)]
        if a > b:
            low, high = -high, -low
        first, second = rates[a][0], rates[b][0]
        if lead is not None and first is not None and second is not None:  # what the rates say
            lead = first - second
        paired = bets.questions is not None and bool((design.row[[a, b]] >= 0).all(axis=0).any())
        ends = None if lead is None else unit * lead, unit * low, unit * high
        found.append(AuditedDifference(design.systems[a], design.systems[b], *ends, paired))
        is_better[a, b], is_better[b, a] = low > 0, high < 0
    at = np.array(order)
    return SystemAudit(
        good=good, systems={design.systems[k]: of_system[k] for k in order}, differences=tuple(found),
        ranking=tiers([design.systems[k] for k in order], is_better[np.ix_(at, at)]),
        labelled=audited.labelled, drawn=len(audited.rows), items=int(design.sizes.sum()),
        gaps=audited.gaps, level=level, is_random=audited.is_random, is_chosen=has_chosen_seed(audited.sheet),
        more=_more(nearest_order(found), audited.labelled, int(design.sizes.sum())),
    )  # fmt: skip


def _more(d: AuditedDifference | None, labelled: int, items: int) -> int | None:
    if d is None or labelled >= items:
        return None
    lead = abs(d.difference or 0.0)
    half = lead - d.low if (d.difference or 0.0) > 0 else d.high + lead
    return labels_more(half, lead, labelled, items)


# ---------------------------------------------------------------------------------------------------------------------
# Betting on blocks: an item of one system, or those of two systems on a question
# ---------------------------------------------------------------------------------------------------------------------

_PRIOR = 8.0  # how many labels the expected variances count as
_TRUST = 4.0  # and that the control has the slope 1
_UNSURE = 0.1  # squares by which the control is taken for useless, until labels show otherwise


@dataclass(frozen=True, eq=False)
class _Blocks:
    """One statistic: the mean of values over blocks, of which some were drawn in random order."""

    rows: Integers  #: 2 x blocks: the row of the first system's item, and of the second's; -1 where there is none
    scale: Floats  #: 2 x blocks: what the value of each item counts
    drawn: Integers  #: the blocks in their order
    at: Integers  #: the draw of the sheet at which each was complete
    share: float  #: how many are complete for each draw of the sheet, about
    chances: Floats | None = None  #: draws x blocks: the chance of each, in proportion; None: all the same


@dataclass(frozen=True, eq=False)
class SystemBets:
    """An audit's draws, seen by each statistic on its own."""

    audited: AuditedVotes
    design: SystemDesign
    values: Floats  #: of labels, from 0 to 1
    questions: Integers | None  #: the random order of the questions; None of a sheet that was not drawn by system

    @classmethod
    def of(cls, votes: Votes, groups: Sequence[Any], sheet: Sheet, values: Floats) -> SystemBets:
        """Align the answers with the votes; VotesError where they are not answers to a draw from these votes."""
        design = SystemDesign.of(votes, groups)
        if not is_by_system(sheet):
            return cls(AuditedVotes.of(votes, sheet), design, values, None)
        check_same_votes(sheet, votes, groups)
        rows, codes = replay_systems(sheet, votes, design), answer_codes(sheet, votes)
        audited = AuditedVotes(votes, sheet, Design.of(votes), rows, codes, is_random_seed(sheet))
        return cls(audited, design, values, design.questions(int(sheet.seed[0] or 0)))

    def prove(self, level: float) -> tuple[list[Any], list[Any]]:
        """(estimate, low, high) of each system, and of each pair, all of one kind at once with this confidence."""
        systems, sizes = range(len(self.design.systems)), self.design.sizes
        pairs = list(combinations(systems, 2))
        low, high, middle = self._ends([self.of_system(k) for k in systems], 1 - (1 - level) / len(systems))
        low, high = np.ceil(low * sizes - 1e-6) / sizes, np.floor(high * sizes + 1e-6) / sizes  # whole items
        rates = [(m, min(x, y), max(x, y)) for m, x, y in zip(middle, low.tolist(), high.tolist(), strict=True)]
        low, high, middle = self._ends([self.of_pair(a, b) for a, b in pairs], 1 - (1 - level) / len(pairs))
        low, high = _closed(low, high, pairs, len(systems))
        return rates, list(zip(middle, low.tolist(), high.tolist(), strict=True))

    def _ends(self, statistics: Sequence[_Blocks], level: float) -> tuple[Floats, Floats, list[float | None]]:
        """The ends of their intervals, each with this confidence, and their estimates."""
        lows, highs = self.steps(statistics)
        least, most = np.zeros(len(statistics)), np.zeros(len(statistics))
        for k, blocks in enumerate(statistics):
            seen, total = np.zeros(blocks.rows.shape[1], dtype=bool), blocks.rows.shape[1]
            seen[blocks.drawn] = True
            below, above = np.minimum(blocks.scale, 0).sum(axis=0), np.maximum(blocks.scale, 0).sum(axis=0)
            least[k] = (below[~seen].sum() + lows.event[: len(blocks.drawn), k].sum()) / total
            most[k] = (above[~seen].sum() + highs.event[: len(blocks.drawn), k].sum()) / total
        low, high = search_end(lows, level, least, most), search_end(highs, level, most, least)
        is_known = lows.event == highs.event
        middle = estimates(replace(lows, event=np.where(is_known, lows.event, np.nan)))
        seen_any = (lows.counts & is_known).any(axis=0)
        return low, high, [float(m) if known else None for m, known in zip(middle, seen_any, strict=True)]

    def of_system(self, k: int) -> _Blocks:
        """The rate of a system."""
        rows = self.design.row[k] if self.questions is None else self.design.row[k][self.questions]
        rows = rows[rows >= 0]
        weights = self.design.depth * self.design.sizes
        share = weights[k] / weights.sum() if self.questions is not None else len(rows) / self.audited.votes.rows
        return self._drawn(np.array([rows, np.full(len(rows), -1)]), np.array([1.0, 0.0]), float(share))

    def of_pair(self, a: int, b: int) -> _Blocks:
        """The difference of two systems."""
        design, (n_a, n_b) = self.design, self.design.sizes[[a, b]]
        rows = design.row[[a, b]]
        if self.questions is None:  # each item is drawn on its own
            empty = np.full((2, rows.shape[1]), -1)
            rows = np.array([[rows[0], empty[0]], [empty[1], rows[1]]]).reshape(2, -1)
        else:
            rows = rows[:, self.questions]
        rows = rows[:, (rows >= 0).any(axis=0)]
        total = rows.shape[1]
        share = total / self.audited.votes.rows
        if self.questions is not None:
            share = total * float(design.depth[[a, b]].min() / (design.depth * design.sizes).sum())
        return self._drawn(rows, np.array([total / n_a, -total / n_b]), share)

    def _drawn(self, rows: Integers, scale: Floats, share: float) -> _Blocks:
        """The blocks of these rows, with those that are complete: of a sheet by system, up to the first that is not."""
        place = np.full(self.audited.votes.rows + 1, self.audited.used)
        place[-1] = -1  # of no item
        place[self.audited.rows[: self.audited.used]] = np.arange(self.audited.used)
        at = place[rows].max(axis=0)
        if self.questions is None:
            drawn = np.argsort(at, kind="stable")[: int((at < self.audited.used).sum())]
        else:
            at = np.maximum.accumulate(at)
            drawn = np.flatnonzero(at < self.audited.used)
        chances = None
        if self.questions is None and len(drawn):
            chances = self._tuple_chances[at[drawn]][:, self.audited.design.tuple_of_row[rows.max(axis=0)]]
        return _Blocks(rows, scale[:, None] * (rows >= 0), drawn, at[drawn], share, chances)

    @cached_property
    def _tuple_chances(self) -> Floats:
        """Draws x decision tuples: the chance of each item, of a sheet that was not drawn by system."""
        draw, chances = SequentialDraw(self.audited.design), []
        for row in self.audited.rows[: self.audited.used]:
            chances.append(draw.chances())
            draw.take(int(self.audited.design.tuple_of_row[row]))
        return np.array(chances)

    def steps(self, statistics: Sequence[_Blocks]) -> tuple[Steps, Steps]:
        """What bets know of every draw, with missing labels at their lowest, and at their highest."""
        traces = [self._trace(blocks) for blocks in statistics]
        shape = max(1, *(len(blocks.drawn) for blocks in statistics)), len(statistics)
        by_name: dict[str, Any] = {}
        for name in ("counts", *_TRACED):
            by_name[name] = np.ones(shape) if name != "counts" else np.zeros(shape, dtype=bool)
            for k, trace in enumerate(traces):
                by_name[name][: len(trace[name]), k] = trace[name]
        fall, rise, event_low, event_high = (by_name.pop(name) for name in ("fall", "rise", "event_low", "event_high"))
        size = np.array([float(blocks.rows.shape[1]) for blocks in statistics])
        common = dict(
            by_name, numerator=np.ones(shape), control_numerator=by_name["control_mean"], noise=np.zeros((2, *shape)),
            extremes=np.array([fall, rise, np.zeros(shape), np.zeros(shape)]), is_ratio=np.zeros(shape[1], dtype=bool),
            is_difference=np.array([bool((blocks.scale < 0).any()) for blocks in statistics]), size=size,
            size_numerator=size,
        )  # fmt: skip
        common["is_first"] = common["is_first"] > 0
        return Steps(**common, event=event_low), Steps(**common, event=event_high)

    def _trace(self, blocks: _Blocks) -> dict[str, list[float]]:
        """What is known before each block's labels, and the labels."""
        trace: dict[str, list[float]] = {name: [] for name in ("counts", *_TRACED)}
        posteriors, weights = self.audited.label_predictors.posteriors, self.audited.label_predictors.weights
        tuples = self.audited.design.tuple_of_row[blocks.rows]
        of_item = (posteriors @ self.values)[:, tuples]  # predictors x 2 x blocks
        predicted = (blocks.scale * of_item).sum(axis=1)
        doubt = np.tensordot(weights, (posteriors @ self.values**2)[:, tuples] - of_item**2, 1)
        noise = float((blocks.scale**2 * doubt).sum(axis=0).mean())
        below, above = np.minimum(blocks.scale, 0).sum(axis=0), np.maximum(blocks.scale, 0).sum(axis=0)
        mixed = weights @ predicted
        left = np.ones(len(mixed), dtype=bool)
        count, total = _PRIOR, _PRIOR * float(mixed.mean())
        residuals, events = _PRIOR * noise, _PRIOR * max(noise + float(mixed.var()), 1e-6)
        products = squares = _TRUST * float(mixed.var())
        is_difference, batch = bool((blocks.scale < 0).any()), -1
        for m, (block, at) in enumerate(zip(blocks.drawn.tolist(), blocks.at.tolist(), strict=True)):
            slope = min(max(products / (squares + _UNSURE), 0.0), 1.0)
            control, n = slope * mixed, int(left.sum())
            weight = max_weight = 1.0
            if blocks.chances is not None:
                chance = blocks.chances[m]
                mean = float(chance[left].mean())
                weight, max_weight = mean / float(chance[block]), mean / float(chance[left].min())
            low, high, labels = self._values(blocks, block)
            end = int(self.audited.sheet.of[at])
            mean_control = float(control[left].mean())
            found = {
                "counts": True, "horizon": 1 + (end - at - 1) * blocks.share, "is_first": end != batch, "left": n,
                "weight": weight, "max_weight": max_weight, "event_low": low, "event_high": high,
                "control": control[block], "control_mean": mean_control,
                "fall": (control - below)[left].max(), "rise": (above - control)[left].max(),
                "unexplained": residuals / count if is_difference else (residuals + _UNSURE) / (events + _UNSURE),
                "control_variance": float(control[left].var()),
            }  # fmt: skip
            for name, value in found.items():
                trace[name].append(value)
            batch, left[block] = end, False
            if low == high:
                off, away = low - total / count, float(mixed[block] - mixed.mean())
                products, squares = products + off * away, squares + away**2
                residuals, events = residuals + (weight * (off - slope * away)) ** 2, events + off**2
                count, total = count + 1, total + low
            for row, code in labels:
                weights = weights * posteriors[:, self.audited.design.tuple_of_row[row], code]
                weights = weights / weights.sum()
            mixed = weights @ predicted
        return trace

    def _values(self, blocks: _Blocks, block: int) -> tuple[float, float, list[tuple[int, int]]]:
        """The least and the greatest value that a block can have by its labels; and these."""
        low = high = 0.0
        labels = []
        for row, scale in zip(blocks.rows[:, block].tolist(), blocks.scale[:, block].tolist(), strict=True):
            code = -1 if row < 0 else int(self.audited.codes[self._draw_of[row]])
            ends = (0.0, 1.0) if code < 0 else (float(self.values[code]),) * 2
            low, high = low + min(scale * x for x in ends), high + max(scale * x for x in ends)
            labels += [(row, code)] if code >= 0 else []
        return low, high, labels

    @cached_property
    def _draw_of(self) -> dict[int, int]:
        """The draw of each row of the sheet."""
        return {row: t for t, row in enumerate(self.audited.rows.tolist())}


_TRACED = (
    "horizon", "is_first", "left", "weight", "max_weight", "event_low", "event_high", "control", "control_mean", "fall",
    "rise", "unexplained", "control_variance",
)  # fmt: skip


def _closed(low: Floats, high: Floats, pairs: Sequence[tuple[int, int]], size: int) -> tuple[Floats, Floats]:
    """The same intervals, narrowed by those of a - c and c - b, which hold at the same time."""
    least = np.full((size, size), -np.inf)
    for (a, b), x, y in zip(pairs, low, high, strict=True):
        least[a, b], least[b, a] = x, -y
    for c, a, b in permutations(range(size), 3):
        least[a, b] = max(least[a, b], least[a, c] + least[c, b])
    first, second = np.array(pairs).T
    return least[first, second], -least[second, first]
