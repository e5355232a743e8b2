"""`systems`: which of several systems is better, by a panel of judges whose errors are shared.

Votes on items of several systems (models, prompts, releases) come in; each system's rate of the good label, the
differences of all pairs and a ranking in tiers go out.

**Without gold.** A system's rate is the mean share of votes for the good label. Its error is a shift b that all systems
share and a shift d of its own, which more items do not narrow. Both are predicted from what the votes show,

    sd(b)² = (.063² + gap²) k²,      sd(d)² = .03² + (.095 disagreement)² + interaction² / judges,

where `gap` is how far the mean share is from the calibrated rate, and k is 2.68 where the judges are not informative or
an alarm is raised, else 1. `disagreement` is the part of the votes' variance that is within items: judges who disagree
show a part of a difference only. `interaction` is the standard deviation of what a judge gives one system beyond both
their means, without the noise of sampling. v is what stays unknown about the labels of the items. A rate has the
variance sd(b)² + sd(d)² + v, a difference 2 sd(d)² + v + v': the common shift cancels.

**With gold.** Each gold item of system s shows b + d_s and noise, whose variance is predicted from the votes and found
from the gold items. The posterior of b and all d is normal.

**Of two runs**, what is unknown of the label of an item that is the same in both is common to both, and the shifts of a
system's own correlate by the share of such items, |S ∩ S'| / √(|S| |S'|). Items with the same votes are the same, but
for those that agree by chance: of a share x with the same votes, (x - c) / (1 - c) are the same, where c is how often
two items of the system in the two runs have the same votes. Where all votes are the same, so are the runs.

**An order** is settled where the difference is beyond chance over all pairs at once, the judges are informative and no
alarm is raised; leaning where only its own interval excludes 0. The systems that are settled as better and as worse
leave each system the ranks that it may have. Systems are in different tiers where every order between the tiers is
settled (docs/guides/systems.md; `benchmarks/systems.py` measures all of this).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from statistics import NormalDist
from types import NoneType
from typing import Any, Literal, TypeAlias, Unpack

import numpy as np
from numpy.typing import NDArray

from jurors._numeric import Flags, Floats, Integers
from jurors.errors import OptionError, format_names, match_name
from jurors.evaluate.alarms import Alarm
from jurors.evaluate.card import WIDTH, percent, percent_range, short_alarm_lines
from jurors.evaluate.consistency import level_values
from jurors.evaluate.evaluation import Evaluation
from jurors.evaluate.solution import majority_shares
from jurors.jury.grade import grade_rows
from jurors.jury.groups import take_rows, votes_and_groups
from jurors.jury.inputs import CountedVotes, as_votes, votes_and_column
from jurors.jury.leanings import (
    Leaning,
    SelfPreference,
    covariate_contrasts,
    double_centred,
    find_leanings,
    self_preference,
)
from jurors.options import DEFAULTS, Grading, GradingOptions, Label, SourceOptions, verb
from jurors.results import Block, Columns, Notes, Result, Table, columns_of
from jurors.sketch.sketch import Sketch
from jurors.votes.codes import ordered_labels
from jurors.votes.key import Key, as_key
from jurors.votes.layout import ITEM_SEPARATOR, escaped, split_item
from jurors.votes.table import Votes

Order: TypeAlias = Literal["settled", "leaning", "not settled"]

_COMMON, _UNINFORMED = 0.063, 2.68  # least sd of the shift that all systems share; its factor for a doubtful panel
_OWN, _DISAGREEING = 0.03, 0.095  # sd of a system's own shift: the least, and where votes depend on no item
_MOST_ALARM_LINES = 4
_MOST_LEANINGS = 3
_FEW_SYSTEMS = 4  # the card lists the differences of so many
_MOST_ROWS = 20  # and so many systems, the best first
_FEWEST_ITEMS = 10  # with fewer, a system is shown but not ranked
_MOST_SYSTEMS = 500  # more are a column of something else
_GOLD_NUMBERS = (20, 50, 100)
_LEAST_NOISE = 0.02  # variance of one gold item's error
_NOISE_ITEMS = 5  # gold items that its prediction from the votes is worth
_GOOD_WORDS = ("pass", "passed", "yes", "true", "correct", "right", "good", "satisfied", "safe", "win")
_INSPECT_LABELS = ("c", "i", "p", "n")  # Inspect AI: correct, incorrect, partly, no answer
_INFORMATIVE = 0.5  # share of the judges that must be better than a constant answer before an order is settled


@dataclass(frozen=True, slots=True)
class SystemRate:
    """How often a system is good; of ordered levels, its mean level."""

    rate: float
    low: float
    high: float
    items: int
    raw: float  #: by majority vote; of levels, the mean of the votes
    gold: int = 0  #: items with a known label
    best_rank: int | None = None  #: 1 and the number of systems that are settled as better; None where not ranked
    worst_rank: int | None = None  #: likewise, the last place that it may have


@dataclass(frozen=True, slots=True)
class SystemDifference:
    """By how much one system is better than another."""

    a: str
    b: str
    difference: float
    low: float
    high: float
    paired: bool  #: whether they answered the same questions
    order: Order
    chance: float  #: that a is better than b


@dataclass(frozen=True, slots=True)
class GoldWidths:
    """Half widths of intervals, in the mean over the systems that are ranked and over their pairs."""

    rate: float
    difference: float


@dataclass(frozen=True, eq=False, kw_only=True)
class SystemComparison(Result):
    """Each system's rate, the differences of all pairs, and the ranking in tiers."""

    good: Label | None  #: the label that is counted; None of ordered levels
    systems: Mapping[str, SystemRate]
    differences: tuple[SystemDifference, ...]
    ranking: tuple[tuple[str, ...], ...]  #: tiers, the best first
    level: float
    judges: int
    alarms: tuple[Alarm, ...] = ()
    reasons: tuple[str, ...] = field(default=())  #: why no order is settled, where the panel is the reason
    leanings: tuple[Leaning, ...] = ()  #: how judges' rates change with covariates
    self_preference: SelfPreference | None = None  #: whether judges favour systems of their own family
    adjusted: str | None = None  #: the covariate at whose mean systems are compared
    with_gold: Mapping[int, GoldWidths] = field(default_factory=dict)  #: what so many gold labels would narrow to
    evaluation: Evaluation = field(repr=False)  #: of the judges

    _kind = "systems"
    _version = 1

    def _document(self) -> dict[str, Any]:
        names = ("good", "level", "judges", "systems", "differences", "ranking", "leanings", "self_preference")
        return {name: getattr(self, name) for name in (*names, "adjusted", "with_gold", "alarms")}

    def _columns(self) -> Columns:
        tier = {name: k for k, names in enumerate(self.ranking, 1) for name in names}
        of_rate = ("rate", "low", "high", "items", "raw", "gold", "best_rank", "worst_rank")
        rows = [(name, *(getattr(x, k) for k in of_rate), tier.get(name)) for name, x in self.systems.items()]
        return columns_of(("system", *of_rate, "tier"), rows)

    def _blocks(self, *, full: bool = False, **_: Any) -> list[Block]:
        head = f"{len(self.systems)} systems, {self.judges} judges"
        alarms = short_alarm_lines(self.alarms, _MOST_ALARM_LINES, {})
        folded = [Notes(lines, width=WIDTH, hanging="  ") for lines in (alarms, self.sentences()) if lines]
        table = self.rate_table()
        blocks: list[Block] = [head, *folded, table]
        if not full and len(self.systems) > _MOST_ROWS:
            blocks[-1] = replace(table, rows=table.rows[:_MOST_ROWS])
            blocks.append(f"{len(self.systems) - _MOST_ROWS:,} more systems: full=True lists them.")
        if full or len(self.systems) <= _FEW_SYSTEMS:
            blocks.append(self.difference_table())
        return [*blocks, self.leaning_table()] if full and self.leanings else blocks

    def leaning_table(self) -> Table:
        """How much each judge's rate changes with each covariate.

        Returns
        -------
        Table
        """
        heads = ("judge", "covariate", "beside", "points", f"{self.level * 100:g}%", "p")
        rows = tuple(
            (
                "all" if x.judge is None else x.judge[:28], f"{x.covariate} {x.contrast}"[:24],
                "the truth" if x.by == "gold" else "the panel", f"{x.slope * 100:+.1f}",
                f"{x.low * 100:+.1f} – {x.high * 100:+.1f}", f"{x.p:.3f}",
            )
            for x in self.leanings
        )  # fmt: skip
        return Table(heads, rows, right=(3, 4, 5), title="how judges' rates change with covariates, at equal truth")

    def rate_table(self) -> Table:
        """Each system's place in the ranking, rate with its interval, raw rate and number of items.

        Returns
        -------
        Table
        """
        what = f"rate of {self.good}" if self.good is not None else "mean level"
        what += "" if self.adjusted is None else f" at equal {self.adjusted}"
        heads = ("rank", "system", what, f"{self.level * 100:g}%", "raw", "items")
        rows = []
        for name, x in self.systems.items():
            rate, ends, raw = percent(x.rate), percent_range((x.low, x.high)), percent(x.raw)
            if self.good is None:
                rate, ends, raw = f"{x.rate:.2f}", f"{x.low:.2f} – {x.high:.2f}", f"{x.raw:.2f}"
            rows.append((rank_text(x), name[:36], rate, ends, raw, f"{x.items:,}"))
        return Table(heads, tuple(rows), right=(2, 3, 4, 5))

    def difference_table(self) -> Table:
        """The difference of each pair with its interval, and whether their order is settled.

        Returns
        -------
        Table
        """
        unit = "" if self.good is None else " points"
        pairs = []
        for d in self.differences:
            lead, low, high = (self._points(x, "+", 1) for x in (d.difference, d.low, d.high))
            pairs.append((f"{d.a} - {d.b}"[:44], f"{lead}{unit}", f"{low} – {high}", d.order))
        return Table(("difference", "", f"{self.level * 100:g}%", "order"), tuple(pairs), right=(1, 2))

    def _points(self, value: float, sign: str = "+", digits: int = 0) -> str:
        """A difference: of levels as it is, of rates in points."""
        return f"{value:{sign}.2f}" if self.good is None else f"{value * 100:{sign}.{digits}f}"

    def _about_gold(self) -> str:
        """Why intervals are wide, and what gold labels would make of them."""
        why = "Most of the uncertainty is bias that the judges share, which more items do not narrow."
        if len(self.with_gold) < 2 or len(self.systems) < 2:
            return why
        halves = [(x.high - x.low) / 2 for x in self.systems.values() if x.best_rank is not None]
        now, gold = sum(halves) / len(halves), self.gold
        more = {n: widths.rate for n, widths in self.with_gold.items() if n > gold and (widths.rate < now or not gold)}
        if not more:
            return why
        numbers = _names([str(number) for number in more], "or")
        then = _names([f"± {self._points(width, '')}" for width in more.values()], "or")
        then += "" if self.good is None else " points"
        if gold:
            return f"{why} Gold labels do: with {numbers} in all, rates are known to about {then}."
        before = f"± {self._points(self.with_gold[0].rate, '')}"
        return f"{why} Gold labels do: {numbers} would narrow rates from {before} to about {then}."

    @property
    def gold(self) -> int:
        """How many items have a known label."""
        return sum(rate.gold for rate in self.systems.values())

    def sentences(self) -> list[str]:
        """The answer, and why it is no more certain.

        Returns
        -------
        list of str
        """
        settled = sum(d.order == "settled" for d in self.differences)
        ranked = [name for tier in self.ranking for name in tier]
        leaders = [name for name in ranked if self.systems[name].best_rank == 1]
        if len(ranked) < 2:
            return [f"There is no ranking: it needs two systems with at least {_FEWEST_ITEMS} items each."]
        if len(leaders) == 1:
            lines = [f"{leaders[0]} is the best."]
        elif len(leaders) == len(ranked):
            lines = ["No system is settled as the best."]
        elif len(leaders) <= _FEW_SYSTEMS:
            lines = [f"The best is {_names(leaders, 'or')}: their order is not settled."]
        else:
            lines = [f"The best is one of the first {len(leaders)}: their order is not settled."]
        pairs = len(ranked) * (len(ranked) - 1) // 2
        lines[0] += f" {settled} of {pairs} orders are settled." if pairs > 1 else ""
        if self.reasons:
            lines.append(f"Nothing is settled because {' and '.join(self.reasons)}.")
        if settled < pairs and self.gold < 50:
            lines.append(self._about_gold())
        unpaired = sum(not d.paired for d in self.differences)
        if unpaired == len(self.differences):
            lines.append("By the items' names, no systems share questions: differences are not paired.")
        elif unpaired:
            pairs_of = f"{unpaired} of {len(self.differences)} pairs of systems share few questions"
            lines.append(f"By the items' names, {pairs_of}: these differences are not paired.")
        found = [leaning for leaning in self.leanings if leaning.found]
        lines += [leaning.sentence for leaning in found[:_MOST_LEANINGS]]
        if found[_MOST_LEANINGS:]:
            lines.append(f"{len(found) - _MOST_LEANINGS} more leanings are found; full=True lists them.")
        if self.self_preference is not None:
            lines.append(self.self_preference.sentence)
        if self.leanings and not found:
            names = list(dict.fromkeys(leaning.covariate for leaning in self.leanings))
            lines.append(f"No judge is found to favour answers by {_names(names, 'or')} beyond the others.")
        return lines


@verb(SourceOptions)
def systems(
    source: Any,
    *,
    by: Any = None,
    good: Label | None = None,
    covariate: str | Sequence[str] | Mapping[str, Any] = (),
    adjust: str | Mapping[str, Any] | None = None,
    family: Mapping[str, Sequence[str]] | Sequence[str] = (),
    not_own_family: bool = False,
    gold: Any = None,
    level: float = DEFAULTS["level"],
    **reading: Unpack[SourceOptions],
) -> SystemComparison:
    """Compare systems by the judges' votes on their answers.

    Parameters
    ----------
    source
        As in `grade`. Each item is one system's answer.
    by
        The system of each item: the column that names it, one system per row, or a mapping from item to system. Some
        logs name it.
    good
        The label that counts as good. By default, one that means so, such as "pass". Ordered levels need none.
    covariate
        Columns, such as the length of answers, or a mapping from names to values per row. Tests whether judges favour
        answers by them.
    adjust
        A column of numbers: compare systems at its mean.
    family
        Judges and systems of one family: `{"openai": ["gpt-4o-judge", "gpt-4o"]}`. Tests whether judges favour their
        own family. Judges alone: they are related, as in `grade`.
    not_own_family
        Whether to leave out judges' votes on systems of their own family.
    gold
        A few items with their true labels, as in `grade`.
    level
        Confidence level of the intervals.

    Returns
    -------
    SystemComparison

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> truth = np.repeat([True, False, True, False], [160, 40, 90, 110])
    >>> votes = np.where((rng.random((400, 3)) < 0.9) == truth[:, None], "pass", "fail")
    >>> result = systems(votes, by=["new"] * 200 + ["old"] * 200)
    >>> list(result.systems), result.differences[0].difference > 0.2
    (['new', 'old'], True)
    """
    Grading(level=level)  # a level of 95 is refused at once
    names = tuple(dict.fromkeys((*_column_names(covariate), *_column_names(adjust))))
    given = {name: x for some in (covariate, adjust) if isinstance(some, Mapping) for name, x in some.items()}
    columns = tuple(name for name in names if name not in given)
    others: dict[str, Any] = {}
    if isinstance(by, Key) and by.beside:  # the command line has read them
        votes = as_votes(source, **reading)
        groups, others = by.by_row(votes), {name: key.by_row(votes) for name, key in by.beside.items()}
    elif columns or by is None:
        if isinstance(source, (Votes, Sketch, np.ndarray, list, tuple)) or not isinstance(by, (str, NoneType)):
            missing = f"covariate {columns[0]!r}: give its values, as in covariate={{{columns[0]!r}: values}}"
            raise OptionError(
                missing if columns else "name the systems with by=", name="covariate" if columns else "by"
            )
        votes, groups, others = votes_and_column(source, by, "system", columns, **reading)
    else:
        votes, groups, _ = votes_and_groups(source, by, "system", reading)
    others |= {name: votes_and_groups(votes, value, name, {})[1] for name, value in given.items()}
    return compare_systems(
        votes, groups, good=good, covariates={name: others[name] for name in _column_names(covariate)},
        adjust=None if adjust is None else (_column_names(adjust)[0], others[_column_names(adjust)[0]]),
        fewest=1 if covariate else 2, families=Grading(family=family).families, not_own_family=not_own_family,
        level=level, gold=gold,
    )  # fmt: skip


def _column_names(given: Any) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given or ())


def compare_systems(
    votes: Votes, groups: NDArray[Any], *, good: Label | None = None, fewest: int = 2,
    covariates: Mapping[str, NDArray[Any]] | None = None, adjust: tuple[str, NDArray[Any]] | None = None,
    families: Mapping[str, Sequence[str]] | None = None, not_own_family: bool = False, twins: Integers | None = None,
    **grading: Unpack[GradingOptions],
) -> SystemComparison:  # fmt: skip
    """Compare the systems of votes that are read; `fewest` systems are needed.

    Covariates, and the one to adjust for, have one value per row. `families` name judges and systems. `twins` is the
    row of the same item in another run, -1 where there is none.

    Returns
    -------
    SystemComparison
    """
    names = system_names(groups, fewest)
    values, _ = label_values(votes, good)  # both raise before the work
    preference, place = None, {name: k for k, name in enumerate(names)}
    judges = set(votes.jurors) - set(names)
    if related := {name: who for name, who in (families or {}).items() if judges.issuperset(who)}:
        grading["family"] = related
        families = {name: who for name, who in (families or {}).items() if name not in related}
    if families or not_own_family:
        own = _own_family(families or {}, votes.jurors, names)
        system = np.array([place.get(str(g), -1) if g is not None else -1 for g in groups.tolist()])
        row, juror, code = votes.triples()
        total, cast = _by_cell(row, juror, values[code], system, votes.weights, own.shape)
        with np.errstate(invalid="ignore"):
            preference = self_preference(total / cast / (float(np.ptp(values)) or 1.0), own)
        if not_own_family:
            kept = (system[row] < 0) | ~own[juror, system[row]]
            bare = replace(votes, _dense=None, _sparse=None, repeats=None)
            votes = bare._with_triples(row[kept], juror[kept], code[kept])
    if grading.get("gold") is not None:
        grading["gold"] = as_key(grading["gold"], votes)
    contrasts = {name: covariate_contrasts(name, x.tolist()) for name, x in (covariates or {}).items()}
    at_mean: tuple[str, Floats] | None = None
    if adjust is not None:
        of_column = covariate_contrasts(adjust[0], adjust[1].tolist())
        if "per sd" not in of_column:
            message = f"adjust={adjust[0]}: this column holds texts; name a column of numbers"
            raise OptionError(message, name="adjust")
        at_mean = adjust[0], of_column["per sd"]
    if not_own_family and len(votes.jurors) == 3:  # the exact method leaves out every item that lacks a vote
        grading.setdefault("method", "latent")
    evaluation, counted, known = grade_rows(votes, **grading) if twins is None else _grade_once(votes, twins, grading)
    compared = compare_graded(evaluation, counted, known, groups, good=good, fewest=fewest, adjust=at_mean, twins=twins)
    compared = replace(compared, self_preference=preference)
    if not contrasts:
        return compared
    if compared.good is None:
        raise OptionError("covariate= needs the label that counts; name it with good=", name="good")
    is_good = np.array([float(label == compared.good) for label in counted.votes.labels] + [np.nan])
    truth = None if known is None else is_good[np.asarray(known)]
    if votes.counts is not None:
        raise OptionError("covariate= needs one row per item, and these votes are counts", name="covariate")
    leanings = find_leanings(is_good[counted.votes.codes], counted.votes.jurors, contrasts, truth, compared.level)
    return replace(compared, leanings=leanings)


def _grade_once(
    votes: Votes, twins: Integers, grading: GradingOptions
) -> tuple[Evaluation, CountedVotes, Integers | None]:
    """Grade votes of which some rows are the twins of others: these count once, and are as the others."""
    kept, row = np.setdiff1d(np.arange(votes.rows), twins), np.arange(votes.rows)
    row[kept], found = np.arange(len(kept)), np.flatnonzero(twins >= 0)
    row[twins[found]] = row[found]
    if (gold := grading.get("gold")) is not None:
        grading["gold"] = Key.from_array(np.array([*gold.by_row(votes), None], dtype=object)[kept])
    evaluation, counted, known = grade_rows(take_rows(votes, kept), **grading)
    counted = replace(counted, votes=take_rows(counted.votes, row), tuple_of_row=counted.tuple_of_row[row])
    return evaluation, counted, None if known is None else known[row]


def _own_family(families: Mapping[str, Sequence[str]], judges: Sequence[str], names: Sequence[str]) -> Flags:
    """(judges, systems): whether both are of one family."""
    own = np.zeros((len(judges), len(names)), dtype=bool)
    for members in families.values():
        found = {match_name(x, [*judges, *names], "judge or system", error=OptionError) for x in members}
        own |= np.outer([judge in found for judge in judges], [name in found for name in names])
    if not own.any():
        message = (
            "no family= holds both a judge and a system, and only such families show whether judges favour their own; "
            "name a system too, as in openai=judge-1,gpt-4o"
        )
        raise OptionError(message, name="family")
    return own


def system_names(groups: Sequence[Any] | NDArray[Any], fewest: int = 2) -> list[str]:
    """The systems' names in order.

    Returns
    -------
    list of str
        OptionError where there are fewer than `fewest`.
    """
    names = ordered_labels(group for group in groups if group is not None)
    if len(names) < fewest:
        found = f"only {str(names[0])!r}" if len(names) else "none"
        message = f"a comparison needs at least two systems, and the column of systems names {found}"
        raise OptionError(message if fewest > 1 else "no item has a system", name="by")
    if len(names) > _MOST_SYSTEMS:
        some = f"the column of systems has {len(names):,} values, such as {str(names[0])!r}"
        raise OptionError(f"{some}; at most {_MOST_SYSTEMS} systems can be compared", name="by")
    return [str(name) for name in names]


def label_values(votes: Votes, good: Label | None) -> tuple[Floats, Label | None]:
    """What each label counts: 1 for the good one and 0 for others, or the value of an ordered level.

    Returns
    -------
    values : ndarray, (labels,)
    good
        The label that counts as good; None of ordered levels. OptionError where none is known to be good, and of
        numbers.
    """
    if votes.scale == "ordinal" and good is None:
        return level_values(votes.labels), None
    if votes.scale == "interval":
        raise OptionError("systems are compared by labels or levels; make levels of these numbers: bins=7", name="bins")
    if good is None:
        words = {str(label).casefold(): label for label in votes.labels}
        good = words.get("1") if set(words) == {"0", "1"} else None
        good = next((words[word] for word in _GOOD_WORDS if word in words), good)
        if good is None and {"c", "i"} <= set(words) <= set(_INSPECT_LABELS):
            good = words["c"]
        if good is None:
            shown = format_names(votes.labels, 8)
            raise OptionError(f"no label is known to be the good one; name it with good=, one of {shown}", name="good")
    alike = [label for label in votes.labels if str(label).casefold() == str(good).casefold()]
    good = alike[0] if len(alike) == 1 else match_name(good, votes.labels, "label", error=OptionError)
    return np.array([float(label == good) for label in votes.labels]), good


def questions_of(votes: Votes, groups: NDArray[Any]) -> Iterator[tuple[int, str, str]]:
    """Find the question that each item answers.

    Yields
    ------
    (row, system, question)
        Of the items that have a name and a system.
    """
    if votes.items is not None:
        for row, (item, group) in enumerate(zip(votes.item_names().tolist(), groups.tolist(), strict=True)):
            if group is not None:
                yield row, str(group), votes.questions.get(item) or question_of(str(item), str(group))


def question_of(item: str, system: str) -> str:
    """The question that an item answers: its name without the system's.

    Returns
    -------
    str

    Examples
    --------
    >>> question_of("task-1|a", "a"), question_of("say a-a", "a"), question_of("a1", "a"), question_of("1", "a")
    ('task-1', 'say a-', '1', '1')
    """
    parts = split_item(item)
    if system in parts:
        parts.remove(system)
        return ITEM_SEPARATOR.join(map(escaped, parts))
    name, before, after = re.escape(system), r"(?<![^\W_])", r"(?![^\W_])"
    # as a word of its own at either end or inside; else the beginning or the end of a word
    for pattern in (f"^{name}{after}", f"{before}{name}$", f"{before}{name}{after}", f"^{name}", f"{name}$"):
        if found := re.search(pattern, item):
            return item[: found.start()] + item[found.end() :]
    return item


def _reasons_not_to_settle(evaluation: Evaluation) -> list[str]:
    """Why the panel itself keeps an order from being settled; empty where it does not."""
    reasons = []
    if any(alarm.level == "alarm" for alarm in evaluation.alarms):
        reasons.append("an alarm is raised about the judges")
    informative = len(evaluation.jurors) - len(evaluation.ranking.uninformative)
    if not evaluation.exam and informative < _INFORMATIVE * len(evaluation.jurors):
        reasons.append("too few judges are known to do better than a constant answer")
    return reasons


def tiers(ranked: Sequence[str], is_better: NDArray[np.bool_]) -> tuple[tuple[str, ...], ...]:
    """The ranking, cut wherever every system above is settled against every system below.

    Returns
    -------
    tuple of tuple of str
    """
    cut: list[list[str]] = []
    for k, name in enumerate(ranked):
        if is_better[:k, k:].all():
            cut.append([])
        cut[-1].append(name)
    return tuple(map(tuple, cut))


def compare_graded(
    evaluation: Evaluation, counted: CountedVotes, known: Any, groups: NDArray[Any], *, good: Label | None = None,
    fewest: int = 2, adjust: tuple[str, Floats] | None = None, twins: Integers | None = None,
) -> SystemComparison:  # fmt: skip
    """Compare the systems of votes that are graded (`grade_rows`); `known` is the gold label of each row.

    `twins` is the row of the same item in another run, -1 where there is none.

    Returns
    -------
    SystemComparison
    """
    names, level, votes = system_names(groups, fewest), evaluation.level, counted.votes
    values, good = label_values(votes, good)
    unit = float(np.ptp(values)) or 1.0
    lowest, scaled = float(values.min()), (values - values.min()) / unit  # rates from 0 to 1
    group_names = np.array([None if g is None else str(g) for g in groups.tolist()], dtype=object)
    place, size = {name: k for k, name in enumerate(names)}, len(names)
    system = np.array([place.get(g, -1) for g in group_names.tolist()])
    row, juror, code = votes.triples()
    cast = np.bincount(row, minlength=votes.rows)
    share = np.bincount(row, weights=scaled[code], minlength=votes.rows) / np.maximum(cast, 1)
    weight: Floats = votes.weights.astype(float) * (cast > 0) * (system >= 0)

    def total(values: Floats | float, at: Any = None) -> Floats:
        """Sum over the items of each system, or over those of them that `at` selects."""
        chosen = system >= 0 if at is None else at
        return np.asarray(np.bincount(system[chosen], (weight * values)[chosen], size), dtype=np.float64)

    def mean(values: Floats) -> float:
        """Over all items."""
        return float((weight * values).sum() / max(weight.sum(), 1.0))

    # what stays unknown about each item's own label
    partition, doubt, expected = evaluation.partition, share * (1 - share), share
    if partition is not None:
        posterior = partition.posterior[counted.tuple_of_row]
        calibrated = posterior @ scaled
        of_label = posterior @ scaled**2 - calibrated**2
        doubt = np.where(np.isfinite(of_label), np.maximum(of_label, 0.0), doubt)
        expected = np.where(np.isfinite(calibrated), calibrated, share)
    is_gold = np.zeros(votes.rows, dtype=bool) if known is None else np.asarray(known) >= 0
    doubt = np.where(is_gold, 0.0, doubt)
    items = total(1.0)
    safe = np.maximum(items, 1.0)
    rate, unknown = total(share) / safe, total(doubt) / safe**2
    common_items, common_doubt = _in_both_runs(counted, twins, system, weight, doubt, safe)
    by_majority = majority_shares(counted.sketch)[counted.tuple_of_row] @ scaled  # a tie counts half
    raw = rate if good is None else total(by_majority) / safe
    of_slope = np.zeros((size, size))
    if adjust is not None:
        shift, of_slope = _at_equal(adjust[1], share, system, weight, size, adjust[0])
        rate = rate - shift
    reasons = _reasons_not_to_settle(evaluation)
    square = np.bincount(row, weights=scaled[code] ** 2, minlength=votes.rows) / np.maximum(cast, 1)
    within = (square - share**2) * cast / np.maximum(cast - 1, 1)
    common, own = _shift_sds(
        gap=mean(expected - share), disagreement=mean(within) / max(mean(square) - mean(share) ** 2, 1e-9),
        interaction=_interaction(row, juror, scaled[code], system, votes.weights, len(votes.jurors), items),
        is_doubtful=bool(reasons),
    )  # fmt: skip
    bias, covariance = np.zeros(size), np.full((size, size), common**2) + own**2 * (np.eye(size) + common_items)
    prior, unknown_before = covariance, unknown
    golden = np.zeros(size, dtype=int)
    # how far one item's vote share is from its truth
    noise = max(mean((share - expected) ** 2 + doubt), _LEAST_NOISE)
    if is_gold.any():
        truth = scaled[np.where(is_gold, np.asarray(known), 0)]
        at = is_gold & (system >= 0) & (cast > 0)
        golden = np.bincount(system[at], minlength=size)
        once = at if twins is None else at & ~np.isin(np.arange(votes.rows), twins)
        bias, covariance = _bias_given_gold((share - truth)[once], system[once], covariance, noise)
        left = 1 - total(1.0, at) / safe  # the share of items whose label is not known
        rate, covariance = rate + total(truth - share, at) / safe - bias * left, covariance * np.outer(left, left)
    covariance = covariance + of_slope
    order = np.argsort(-rate, kind="stable")
    z = NormalDist().inv_cdf(0.5 + level / 2)
    half = z * np.sqrt(np.diag(covariance) + unknown)
    low, high = np.maximum(rate - half, 0.0), np.minimum(rate + half, 1.0)
    ranked = [k for k in order.tolist() if items[k] >= _FEWEST_ITEMS]
    questions: dict[str, set[str]] = {name: set() for name in names}
    for _, name, question in questions_of(votes, group_names):
        questions[name].add(question)
    strict = NormalDist().inv_cdf(1 - (1 - level) / 2 / max(len(list(combinations(ranked, 2))), 1))
    differences, is_better = [], np.zeros((size, size), dtype=bool)  # settled: the row's system over the column's
    for a, b in combinations(order.tolist(), 2):
        gap, apart = float(rate[a] - rate[b]), 2 * (covariance[a, b] + common_doubt[a, b])
        error = float(np.sqrt(max(covariance[a, a] + covariance[b, b] + unknown[a] + unknown[b] - apart, 0.0)))
        if common_items[a, b] == 1:  # the same items
            gap = error = 0.0
        is_ranked = a in ranked and b in ranked
        is_better[a, b] = is_ranked and not reasons and gap > strict * error
        settled: Order = "settled" if is_better[a, b] else "leaning" if is_ranked and gap > z * error else "not settled"
        of_a, of_b = questions[names[a]], questions[names[b]]
        paired = bool(of_a & of_b) and 2 * len(of_a & of_b) >= min(len(of_a), len(of_b))
        ends = unit * max(gap - z * error, -1.0), unit * min(gap + z * error, 1.0)
        chance = NormalDist().cdf(gap / error) if error > 0 else float(gap > 0)
        differences.append(SystemDifference(names[a], names[b], unit * gap, *ends, paired, settled, chance))
    best, worst = 1 + is_better.sum(axis=0), len(ranked) - is_better.sum(axis=1)
    rates = {
        names[k]: SystemRate(
            rate=lowest + unit * float(rate[k]), low=lowest + unit * float(low[k]), high=lowest + unit * float(high[k]),
            items=int(items[k]), raw=lowest + unit * float(raw[k]), gold=int(golden[k]),
            best_rank=int(best[k]) if k in ranked else None, worst_rank=int(worst[k]) if k in ranked else None,
        )
        for k in order.tolist()
    }  # fmt: skip
    return SystemComparison(
        good=good, systems=rates, differences=tuple(differences),
        ranking=tiers([names[k] for k in ranked], is_better[np.ix_(ranked, ranked)]),
        level=level, judges=len(votes.jurors),
        alarms=tuple(alarm for alarm in evaluation.alarms if alarm.level != "note"), reasons=tuple(reasons),
        evaluation=evaluation, adjusted=None if adjust is None else adjust[0],
        with_gold=_gold_widths(prior, unknown_before, items, noise, z, unit),
    )  # fmt: skip


def _shift_sds(*, gap: float, disagreement: float, interaction: float, is_doubtful: bool) -> tuple[float, float]:
    """The standard deviations of the shift that all systems share, and of a system's own."""
    own = float(np.sqrt(_OWN**2 + (_DISAGREEING * disagreement) ** 2 + interaction**2))
    return float(np.hypot(_COMMON, gap)) * (_UNINFORMED if is_doubtful else 1.0), own


def _at_equal(
    x: Floats, share: Floats, system: NDArray[Any], weight: Floats, size: int, name: str
) -> tuple[Floats, Floats]:
    """What each rate loses (S,) at the mean of a covariate, and the covariance (S, S) of that.

    The slope is that of vote shares on the covariate within systems.
    """
    at = np.isfinite(x) & (system >= 0) & (weight > 0)
    own, w = system[at], weight[at]
    total = np.bincount(own, w, size)
    if (total < 2).any():
        raise OptionError(f"adjust={name}: a system has fewer than two items with this column", name="adjust")
    mean_x, mean_share = (np.bincount(own, w * v[at], size) / total for v in (x, share))
    inside, left = x[at] - mean_x[own], share[at] - mean_share[own]
    spread = float((w * inside**2).sum())
    if spread <= 0:
        raise OptionError(f"adjust={name}: this column does not vary within systems", name="adjust")
    slope = float((w * inside * left).sum()) / spread
    error = float((w * (inside * (left - slope * inside)) ** 2).sum()) / spread**2
    away = mean_x - float((w * x[at]).sum()) / float(w.sum())
    return slope * away, error * np.outer(away, away)


def _interaction(
    row: NDArray[Any], juror: NDArray[Any], value: Floats, system: NDArray[Any], weights: NDArray[Any], jurors: int,
    items: Floats,
) -> float:  # fmt: skip
    """The standard error of a system's rate by what judges give it beyond both their means, were other judges drawn.

    Systems with few items (S,) would show the noise of sampling instead.
    """
    total, votes = _by_cell(row, juror, value, system, weights, (jurors, len(items)))
    total, votes = (x[:, items >= _FEWEST_ITEMS] for x in (total, votes))
    complete, size = (votes > 0).all(axis=1), votes.shape[1]
    rate, judges = total[complete] / votes[complete], int(complete.sum())
    if judges < 2 or size < 2:
        return 0.0
    noise = rate * (1 - rate) / votes[complete]
    variance = (double_centred(rate) ** 2).sum() / ((judges - 1) * (size - 1)) - noise.mean()
    return float(np.sqrt(max(variance, 0.0) / judges))


def _by_cell(
    row: NDArray[Any], juror: NDArray[Any], value: Floats, system: NDArray[Any], weights: NDArray[Any],
    shape: tuple[int, ...],
) -> tuple[Floats, Floats]:  # fmt: skip
    """The sum of values, and the number of votes, of each judge on each system."""
    at = system[row] >= 0
    cell, weight = juror[at].astype(np.int64) * shape[1] + system[row][at], weights[row][at].astype(float)
    size = shape[0] * shape[1]
    total, votes = (np.bincount(cell, weights=weight * x, minlength=size).reshape(shape) for x in (value[at], 1.0))
    return np.asarray(total, dtype=np.float64), np.asarray(votes, dtype=np.float64)


def _in_both_runs(
    counted: CountedVotes, twins: Integers | None, system: Integers, weight: Floats, doubt: Floats, items: Floats
) -> tuple[Floats, Floats]:
    """How far two systems have the same items, as a correlation, and the doubt that is common to both (S, S).

    Of the items that have the same votes in both, those that chance explains are not the same.
    """
    alike, common = np.zeros((2, len(items), len(items)))
    if twins is None:
        return alike, common
    at = (twins >= 0) & (system >= 0) & (system[twins] >= 0)
    for sums, values in ((alike, weight), (common, weight * doubt)):
        np.add.at(sums, (system[at], system[twins[at]]), values[at])
        sums += sums.T
    alike, common = alike / np.sqrt(np.outer(items, items)), common / np.outer(items, items)
    for a, b in np.argwhere((alike > 0) & (alike < 1)).tolist():
        of_a, of_b = (
            np.bincount(counted.tuple_of_row, weight * (system == k), len(counted.sketch.counts)) / items[k]
            for k in (a, b)
        )
        by_chance, share = float(of_a @ of_b), float(alike[a, b])
        alike[a, b] = max((share - by_chance) / (1 - by_chance), 0.0) if by_chance < 1 else 0.0
        common[a, b] *= alike[a, b] / share
    return alike, common


def _bias_given_gold(errors: Floats, system: NDArray[Any], prior: Floats, noise: float) -> tuple[Floats, Floats]:
    """The posterior mean (S,) and covariance (S, S) of each system's shift, from vote shares minus true values."""
    counts = np.bincount(system, minlength=len(prior)).astype(float)
    sums = np.bincount(system, weights=errors, minlength=len(prior))
    squares = float(((errors - (sums / np.maximum(counts, 1.0))[system]) ** 2).sum())
    noise = (squares + _NOISE_ITEMS * noise) / (len(errors) - int((counts > 0).sum()) + _NOISE_ITEMS)
    covariance = _given_gold(prior, counts / noise)
    return np.asarray(covariance @ (sums / noise)), np.asarray(covariance)


def _given_gold(prior: Floats, precision: Floats) -> Floats:
    """The posterior covariance of shifts that gold items show with this precision (S,); the prior may be singular."""
    return np.asarray(np.linalg.solve(np.eye(len(prior)) + prior * precision, prior))


def _gold_widths(
    prior: Floats, unknown: Floats, items: Floats, noise: float, z: float, unit: float
) -> dict[int, GoldWidths]:
    """Predict half widths without gold (0) and with so many gold items, drawn at random from all."""
    widths, ranked = dict[int, GoldWidths](), np.flatnonzero(items >= _FEWEST_ITEMS)
    first, second = ranked[np.array(np.triu_indices(len(ranked), 1))]
    for number in (0, *_GOLD_NUMBERS):
        if 2 * number > items.sum():
            break
        drawn = number * items / max(float(items.sum()), 1.0)
        left = 1 - drawn / np.maximum(items, 1.0)
        known = _given_gold(prior, drawn / noise) * np.outer(left, left)
        alone = np.diag(known) + unknown * left
        pairs = alone[first] + alone[second] - 2 * known[first, second]
        halves = (np.minimum(z * np.sqrt(np.maximum(x, 0.0)), most) for x, most in ((alone[ranked], 0.5), (pairs, 1.0)))
        widths[number] = GoldWidths(*(float(half.mean()) * unit if len(half) else 0.0 for half in halves))
    return widths


def rank_text(rate: SystemRate) -> str:
    """The places that a system may have.

    Returns
    -------
    str
        Such as "1 – 3"; a dash where it has too few items.
    """
    if rate.best_rank is None or rate.best_rank == rate.worst_rank:
        return "–" if rate.best_rank is None else str(rate.best_rank)
    return f"{rate.best_rank} – {rate.worst_rank}"


def _names(names: Sequence[str], between: str) -> str:
    return ", ".join(names[:-1]) + f" {between} {names[-1]}" if len(names) > 1 else names[0]
