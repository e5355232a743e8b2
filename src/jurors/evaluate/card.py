"""The report card: how an `Evaluation` and a `KeyedEvaluation` print, as blocks of text and as columns of a table.

The short card has the answer in 80 columns: alarms first, who leads, how many labels are wrong, one row per juror.
`CardOptions(full=True)` adds what the independent-errors model says, intervals of every number, dependence and notes.
`card_columns` is what `to_frame` and CSV hold: one row per juror. The cards of numbers and preferences share which of
many rows are shown, which columns fit, how alarms are shortened, and the sentence about the leaders.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from textwrap import wrap
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, TypeVar

import numpy as np

from jurors.errors import format_first_names, short_names
from jurors.evaluate.alarms import Alarm, sort_by_severity
from jurors.evaluate.confidence import confidence_tables
from jurors.evaluate.consistency import describe_bias
from jurors.evaluate.family import suggest_families
from jurors.options import Label
from jurors.results import LONGEST_NAME, Block, Columns, Notes, Table, columns_of, replace_names, shorten, shorten_names

if TYPE_CHECKING:
    from jurors.evaluate.consistency import SelfAgreement
    from jurors.evaluate.evaluation import Evaluation, IndependentGrades, KeyedEvaluation

WIDTH = 80  #: columns of a terminal
MOST_ROWS = 20  #: of a card; of more jurors, the best and the worst known
_MOST_ALARM_LINES, _LEAST_ALARM_LINES = 5, 4  # the most severe alarm has room in any case
_LINES = 24  # of a terminal: a card of eight jurors fits, if need be with fewer lines of alarms
_SHORTEST_NAME = 16  # of a juror, to make room for columns
_LONGEST_LABEL = 20
_MOST_LABELS = 6  # with more labels, a full card's rows show the best and the worst
_DEPENDENT = 0.7  # of the jurors: a panel that is worth less than this says so
_MOST_PREVALENCES = 4  # in the line of a short card
_MOST_PAIRS = 20
_FEWEST_NAME = 12  # characters
ENOUGH_VOTES = 20  #: with fewer, a juror is neither best nor worst; half of the most votes where that is less
FEW_GOLD = 20  #: gold labels that every user can afford
_FEW_NAMES = 3  # in a sentence
_MOST_UNRANKED = 5  # names beside each reason
_WORTH = 0.9  # of the width: gold that narrows it less is not worth a sentence
_NARROW = 0.04  # intervals narrower than this need a decimal
_PASS_FAIL = {"pass": "fail", "passed": "failed"}
_SIGNS = {"alarm": "ALARM  ", "warning": "warning", "note": "note   "}
_MARKS = {"alarm": "!!", "warning": "!"}
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class CardOptions:
    """What a card shows."""

    full: bool = False  #: everything, in as many lines as that takes
    top: int | None = None  #: so many of the best known and of the worst; None: all up to 20 jurors, else ten of each
    sort: str = "rank"  #: by the lower end of the interval (of levels, the error); or "accuracy", "votes", "name"
    min_votes: int = 0  #: leave out jurors with fewer votes
    plan: str = "jurors audit plan FILE"  #: the command that draws items to label


SHORT = CardOptions()


# -- numbers ----------------------------------------------------------------------------------------------------


def percent(value: Any, decimals: int = 1) -> str:
    """A share as a percentage; a dash where there is none.

    Returns
    -------
    str

    Examples
    --------
    >>> percent(0.873), percent(0.873, 0), percent(None)
    ('87.3%', '87%', '–')
    """
    if value is None or value != value:
        return "–"
    if isinstance(value, complex):
        return f"{value.real * 100:z.1f}{value.imag * 100:+z.1f}i%"
    return f"{value * 100:z.{decimals}f}%"


def percent_range(ends: tuple[float, float], decimals: int = 1) -> str:
    """An interval in percent; empty where there is none.

    Returns
    -------
    str
    """
    low, high = ends
    return "" if low != low or high != high else f"{low * 100:z.{decimals}f} – {high * 100:z.{decimals}f}"


def with_range(value: Any, ends: tuple[float, float], digits: int) -> str:
    """A share and its interval, "87% (72 – 94)"; without an interval, the share alone."""
    shown = percent_range(ends, digits)
    return percent(value, digits) + (f" ({shown})" if shown else "")


def _decimals(e: Evaluation) -> int:
    """Decimals that the intervals of scores deserve: none, unless they are very narrow."""
    widths = sorted(high - low for low, high in (e.interval_of("score", j) for j in e.jurors) if low == low)
    return 1 if widths and widths[len(widths) // 2] < _NARROW else 0


# -- names ------------------------------------------------------------------------------------------------------


def _list_labels(labels: Sequence[Label], between: str, room: int) -> str:
    """As many labels as have room, and how many more there are."""
    shown: list[str] = []
    for k, label in enumerate(labels):
        text = between.join([*shown, _label_text(label)])
        more = f" and {len(labels) - k - 1} more" if k + 1 < len(labels) else ""
        if shown and len(text) + len(more) > room:
            return f"{between.join(shown)} and {len(labels) - k} more"
        shown.append(_label_text(label))
    return between.join(shown)


def _label_text(label: Label) -> str:
    return shorten(str(_level(label)), _LONGEST_LABEL)


# -- what every card has ----------------------------------------------------------------------------------------


def enough_votes(votes: Iterable[int]) -> float:
    """How many votes a juror needs to be called best or worst: 20, or half of the most that any juror has.

    Returns
    -------
    float
    """
    return min(ENOUGH_VOTES, max(votes, default=0) / 2)


@dataclass(frozen=True)
class CardColumn:
    """A column of a card."""

    head: str
    cells: Sequence[str]
    is_optional: bool = False  #: whether it is left out where the table is too wide


def select_rows(order: Sequence[T], options: CardOptions, ranked: Sequence[T] | None = None) -> list[T]:
    """Of many rows, the first and the last; all of up to 20 rows, and of a full card.

    Parameters
    ----------
    order
        All rows.
    ranked
        Those that may be called best or worst: of many rows, the others are left out.

    Returns
    -------
    list
        In the same order.

    Examples
    --------
    >>> select_rows(range(100), CardOptions(top=2))
    [0, 1, 98, 99]
    """
    if options.full or (options.top is None and len(order) <= MOST_ROWS):
        return list(order)
    top = MOST_ROWS // 2 if options.top is None else options.top
    if ranked is not None and len(ranked) > 2 * top:
        among = set(ranked)
        order = [row for row in order if row in among]
    return list(order) if len(order) <= 2 * top else [*order[:top], *order[len(order) - top :]]


def fitted_table(columns: Sequence[CardColumn], width: int = WIDTH) -> Table:
    """A table of at most so many characters: optional columns are left out, the last first; names are shortened.

    Returns
    -------
    Table
        The first column is a name, all others are right-aligned.

    Examples
    --------
    >>> wide = CardColumn("notes", ["x" * 80], is_optional=True)
    >>> print(fitted_table([CardColumn("juror", ["ann"]), CardColumn("score", ["0.9"]), wide]).to_text())
      juror  score
      ann      0.9
    """
    names = [shorten(name) for name in columns[0].cells]
    kept = [CardColumn(columns[0].head, names), *columns[1:]]
    while (excess := sum(2 + max(map(len, (each.head, *each.cells))) for each in kept) - width) > 0:
        optional = [each for each in kept if each.is_optional]
        if not optional:
            most = max(max(map(len, names), default=0) - excess, _FEWEST_NAME)
            kept[0] = CardColumn(columns[0].head, [shorten(name, most) for name in columns[0].cells])
            break
        kept.remove(optional[-1])
    rows = tuple(zip(*(each.cells for each in kept), strict=True))
    return Table(tuple(each.head for each in kept), rows, right=tuple(range(1, len(kept))))


def name_leaders(leaders: Sequence[T], ranked: int, describe: Callable[[T], str], what: str = "best") -> str:
    """Who is the best, or who may be: a sentence, empty where nobody can be ranked.

    Parameters
    ----------
    leaders
        Those whose intervals reach the best end of all.
    ranked
        How many can be ranked.
    describe
        A leader with its number.

    Returns
    -------
    str

    Examples
    --------
    >>> name_leaders(["ann", "bob", "cy"], 5, str)
    'No clear best: ann and bob may be the best, and so may 1 more.'
    >>> name_leaders(["ann"], 5, str)
    'Best: ann.'
    """
    if not leaders:
        return ""
    if len(leaders) == 1:
        only = describe(leaders[0])
        return f"{what.capitalize()}: {only}." if ranked > 1 else f"Only {only} is ranked."
    more = len(leaders) - 2
    others = f", and so may {more:,} more" if more else ""
    return f"No clear {what}: {' and '.join(map(describe, leaders[:2]))} may be the best{others}."


def wrapped(*sentences: str) -> Notes:
    """The sentences that are not empty, in lines of 80 columns."""
    return Notes([text for text in sentences if text], width=WIDTH)


def card_alarms(
    alarms: tuple[Alarm, ...], options: CardOptions, jurors: Sequence[str] = (), room: int = _MOST_ALARM_LINES
) -> Notes:
    """The alarms of a card: all of them where it is full, else the most severe in so many lines, if there is room."""
    if options.full:
        return Notes(alarm_lines(alarms, jurors))
    lines = min(max(room, _LEAST_ALARM_LINES), _MOST_ALARM_LINES)
    names = shorten_names(jurors, LONGEST_NAME)
    return Notes(short_alarm_lines(alarms, lines, names), width=WIDTH, hanging="  ")


def result_card(
    title: str, result: Any, answer: Sequence[str], table: Table, left: int, full: Iterable[Block],
    options: CardOptions, what: str = "jurors",
) -> list[Block]:  # fmt: skip
    """A card of numbers or preferences: alarms, the answer, the tables, and the remarks of the result.

    The table leaves out `left` jurors (or `what` it shows); `full` is what a full card has beside it.
    """
    remarks = wrapped(*(f"{line[:1].upper()}{line[1:]}." for line in result.remarks))
    more = [f"{left:,} more {what}: full=True shows all, top= selects."] if left else []
    blocks = [table, *more, *(_renamed(block, result) for block in (full if options.full else ()))]
    alarms = card_alarms(result.alarms, options, _jurors_of(result))
    card = [title, alarms, wrapped(*answer), *blocks, remarks]
    return [block for block in card if not isinstance(block, Notes) or block.lines]


def _renamed(block: Block, result: Any) -> Block:
    """A block that calls the result's jurors by their short names."""
    if not isinstance(block, Table):
        return block
    names = short_names(_jurors_of(result))
    return replace(block, rows=tuple(tuple(names.get(cell, cell) for cell in row) for row in block.rows))


def _jurors_of(result: Any) -> tuple[str, ...]:
    """The names of a result's jurors; a ranking of objects has only their number."""
    jurors = getattr(result, "jurors", ())
    return jurors if isinstance(jurors, tuple) else ()


def sort_rows(
    order: list[T], votes: Callable[[T], int], options: CardOptions, value: Callable[[T], Any],
    name: Callable[[T], str] = str,
) -> list[T]:  # fmt: skip
    """Jurors in the order that the options choose, without those that have too few votes; `order` is by rank."""
    if options.sort == "accuracy":
        known = {row: x for row in order if (x := value(row)) is not None and x == x}
        order = sorted(order, key=lambda row: -known.get(row, -np.inf))
    elif options.sort == "votes":
        order = sorted(order, key=lambda row: -votes(row))
    elif options.sort == "name":
        order = sorted(order, key=name)
    return [row for row in order if votes(row) >= options.min_votes]


class RankedJurors:
    """Grades by which jurors are ranked: by the lower end of one estimate's interval."""

    jurors: tuple[str, ...]
    alarms: tuple[Alarm, ...]
    _ranked_by: ClassVar[str]  #: the estimate; its intervals are called the same with `_ends`
    _votes_in: ClassVar[str]  #: how many answers each juror gave
    _unranked: ClassVar[tuple[str, ...]]  #: alarms about jurors who are neither best nor worst

    def _ranked(self) -> list[int]:
        """The jurors that may be called best or worst: with an interval, enough votes and no such alarm."""
        value, ends = getattr(self, self._ranked_by), getattr(self, f"{self._ranked_by}_ends")
        votes = getattr(self, self._votes_in)
        out = {name for alarm in self.alarms if alarm.reason in self._unranked for name in alarm.jurors}
        known = np.isfinite(ends).all(axis=1) & (votes >= enough_votes(votes.tolist()))
        known &= np.array([name not in out for name in self.jurors])
        return sorted(np.flatnonzero(known).tolist(), key=lambda k: (-ends[k, 0], -value[k]))

    def _ordered(self, options: CardOptions) -> list[int]:
        """The ranked jurors, then the others by their estimate; or as the options choose."""
        ranked, value = self._ranked(), np.nan_to_num(getattr(self, self._ranked_by), nan=-np.inf)
        others = sorted(set(range(len(self.jurors))) - set(ranked), key=lambda k: (-value[k], k))
        votes = getattr(self, self._votes_in)
        return sort_rows([*ranked, *others], votes.__getitem__, options, value.__getitem__, self.jurors.__getitem__)

    @property
    def leaders(self) -> tuple[str, ...]:
        """The jurors that may be the best: their intervals reach the highest lower end."""
        ranked, ends = self._ranked(), getattr(self, f"{self._ranked_by}_ends")
        return tuple(self.jurors[k] for k in ranked if ends[k, 1] >= ends[ranked[0], 0])

    @property
    def best(self) -> str | None:
        """The juror whose interval lies above all others'; None where intervals overlap."""
        leaders = self.leaders
        return leaders[0] if len(leaders) == 1 and len(self._ranked()) > 1 else None


# -- the short card ---------------------------------------------------------------------------------------------


def card_blocks(e: Evaluation, options: CardOptions = SHORT) -> list[Block]:
    """The report card, to read.

    Returns
    -------
    list of blocks
        Lines, tables and notes.
    """
    shown, left = shown_jurors(e, options) if e.has_grades else ([], 0)
    names, answers, last = card_names(e) if e.has_grades else {}, answer_lines(e), []
    if left and shown:
        which = ", the first and the last by lower end" if options.sort == "rank" and not options.min_votes else ""
        last.append(f"Shown: {len(shown)} of {len(e.jurors):,} jurors{which}. See full=True, top=.")
    if e.ranking.ranked and (unranked := e.ranking.unranked):
        most = len(e.jurors) if options.full else _MOST_UNRANKED
        why = (f"{format_first_names([names[j] for j in who], most)} ({reason})" for reason, who in unranked.items())
        last.append(f"Not ranked: {'; '.join(why)}.")
    if e.family is None and e.is_calibrated and e.method == "latent" and e.ordered is None and not e.islands:
        distinct = [j for j, k in zip(e.jurors, e.representatives, strict=True) if e.jurors[k] == j]
        for family, who in suggest_families(distinct).items():  # whose names begin alike
            short = [short_names(e.jurors)[j] for j in who]
            option = {family: short}
            they = " and ".join(short) if len(short) <= _FEW_NAMES else f"{len(short)} jurors"
            last.append(f"If {they} share a family, add family={option}.")
    if e.calibrated is not None and 0 < e.calibrated.shared_error.gold_items < FEW_GOLD // 2:
        last.append(f"Fewer than {FEW_GOLD // 2} gold items can make intervals wider than none do.")
    if step := gold_step(e):
        last.append("Next: label {} ({} {}): {}.".format(step[0], options.plan, *step[1:]))
    folded = sum(len(wrap(line, WIDTH, break_on_hyphens=False)) for line in (*answers, *last))
    room = _LINES - folded - len(shown) - 6  # the heading, the head of the table, and four blank lines
    blocks: list[Block] = [
        heading(e),
        card_alarms(e.alarms, options, e.jurors, room),
        Notes(answers, width=WIDTH),
        *([_fitting_table({j: names[j] for j in shown}, *card_cells(e, shown))] if e.has_grades else []),
        Notes(last, width=WIDTH),
        *(_full_blocks(e) if options.full else []),
    ]
    return [block for block in blocks if not isinstance(block, Notes) or block.lines]


def heading(e: Evaluation) -> str:
    """One line: how many jurors and items, and which labels.

    Returns
    -------
    str
    """
    what, between = ("labels", ", ") if e.ordered is None else ("levels", " < ")
    counts = f"{len(e.jurors):,} jurors, {e.items:,} items, {what} "
    return counts + _list_labels(e.labels, between, WIDTH - len(counts))


def _level(label: Label) -> Label:
    """A level as people write it: 1, not 1.0."""
    return int(label) if isinstance(label, float) and label.is_integer() else label


def answer_lines(e: Evaluation) -> list[str]:
    """The answer in a few sentences: who leads, how many labels are wrong, how common each label is.

    Returns
    -------
    list of str
    """
    if not e.has_grades:
        is_single = any(alarm.reason == "single_label" for alarm in e.alarms)
        return [f"No grades: {'every vote is for the same label' if is_single else 'the votes contradict each other'}."]
    digits, lines = _decimals(e), []
    if e.rules is not None:
        lines.append("Each juror knows one label, so its grade is its precision: the share of its votes that is right.")
    if e.family is not None:  # what the user declared, and how often each family gives one answer
        names = card_names(e)
        families = [
            f"{' and '.join(names[j] for j in who)} ({family}, one common answer on {percent(common, 0)} of the items)"
            for (family, who), common in zip(e.family.families.items(), e.family.common.values(), strict=True)
        ]
        lines.append(f"You declared as related: {'; '.join(families)}.")
    lines.append(leader_sentence(e, digits))
    if e.wrong_labels is not None and not e.exam:
        ends = percent_range(e.interval_of("wrong_labels"), digits)
        about = f" ({ends}%)" if ends else ""
        best = "gold, or else the best label," if e.gold is not None else "the best label of each item,"
        lines.append(f"Taking {best} about {percent(e.wrong_labels, digits)} are wrong{about}.")
    if e.ordered is not None:
        shows = "votes cannot show" if e.gold is None else "gold may show only part of"
        lines.append(f"Bias is relative to the panel: {shows} a severity that all jurors share.")
    if e.effective_jurors is not None and e.effective_jurors < _DEPENDENT * len(e.jurors):
        low, high = e.interval_of("effective_jurors")
        worth = f"about {e.effective_jurors:.1f} independent ones ({low:.1f} – {high:.1f})"
        lines.append(f"These {len(e.jurors):,} jurors are worth {worth}.")
    if not e.exam and e.rules is None and len(e.labels) <= _MOST_PREVALENCES:
        known = {a: with_range(e.prevalence.get(a), e.interval_of("prevalence", a), digits) for a in e.labels}
        lines.append(f"Prevalence: {', '.join(f'{_label_text(a)} {share}' for a, share in known.items())}.")
    if e.without_family is not None:
        other, text = e.without_family, leader_sentence(e.without_family, digits)
        wrong = f"; about {percent(other.wrong_labels, digits)} of the labels are wrong" if not e.exam else ""
        lines.append(f"Without the declared family: {text[0].lower()}{text[1:-1]}{wrong}.")
    return lines


def leader_sentence(e: Evaluation, digits: int = 0) -> str:
    """Who is the best, or who may be.

    Returns
    -------
    str
    """
    ranking, names = e.ranking, card_names(e)

    def graded(juror: str) -> str:
        name = f"juror {names[juror]}" if names[juror].isdecimal() else names[juror]
        if e.ordered is not None:
            error, bias, _ = e.ordered.row(juror)
            return f"{name} ({_decimal(error)} levels off, bias {describe_bias(bias)})"
        return f"{name} {with_range(e.score[juror], e.interval_of('score', juror), digits)}"

    if not ranking.ranked:
        return "No clear best: no juror is known to beat one that always gives the same answer."
    if ranking.best is not None:
        return f"Best: {graded(ranking.best)}."
    first, more = list(map(graded, ranking.leaders[:2])), len(ranking.leaders) - 2
    if len(first) == 1:  # a single juror that can be ranked
        return f"No clear best: only {first[0]} can be ranked."
    if more > 0 and len(ranking.leaders) == len(e.jurors):
        return f"No clear best: any of the {len(e.jurors):,} may be the best."
    who = f"{', '.join(first)} and {more:,} more" if more > 0 else " and ".join(first)
    return f"No clear best: {who} may be the best."


def card_names(e: Evaluation) -> dict[str, str]:
    """What a card calls each juror: short enough for the table to have all its columns, where that is possible.

    Returns
    -------
    dict
    """
    return _fitting_names(e.jurors, *card_cells(e, e.jurors))


def gold_step(e: Evaluation) -> tuple[str, str, str] | None:
    """What a few (more) gold labels would gain: the advice of the card and of the report.

    Returns
    -------
    (str, str, str) or None
        How many items to label, the words of `jurors audit plan` for it, and the gain; None where gold would not help.
    """
    if not e.ranking.order or e.calibrated is None or e.items < 2 * FEW_GOLD:
        return None
    widths = {j: x for j, x in (e.calibrated.with_gold(FEW_GOLD) or {}).items() if x == x}
    now, then = 100 * mean_half_width(e, widths), 100 * sum(widths.values()) / len(widths) if widths else np.nan
    if not then < _WORTH * now:
        return None
    more, after = ("", "") if e.gold is None else (" more", " --after SHEET")  # draws no item of the sheet again
    return f"{FEW_GOLD}{more} items", f"-n {FEW_GOLD}{after}", f"mean ± {now:.0f} becomes ± {max(then, 1):.0f}"


def mean_half_width(e: Evaluation, jurors: Iterable[str]) -> float:
    """The mean half width of the intervals of these jurors' scores that are known; infinite where none is.

    Returns
    -------
    float
    """
    ends = (e.interval_of("score", j) for j in jurors)
    known = [(high - low) / 2 for low, high in ends if low == low]
    return sum(known) / len(known) if known else float("inf")


def shown_jurors(e: Evaluation, options: CardOptions) -> tuple[list[str], int]:
    """The jurors of a card in their order, and how many are left out.

    Jurors that are not ranked come last. Of a large panel: the best that are ranked, and the worst with enough votes.

    Returns
    -------
    (list of str, int)
    """
    votes, ranking, ranked = e.votes, e.ranking, set(e.ranking.ranked)

    def chosen(*order: str) -> list[str]:
        return sort_rows(list(dict.fromkeys(order)), lambda j: votes.get(j, 0), options, e.score.get)

    known = chosen(*ranking.ranked, *ranking.order, *e.jurors)
    shown = select_rows(known, options)
    if len(shown) < len(known) and options.sort in ("rank", "accuracy") and ranked:
        enough = enough_votes(votes.values())
        by_end = [j for j in chosen(*ranking.order) if votes.get(j, enough) >= enough]
        shown = select_rows(by_end, options)
        if len(shown) < len(by_end):
            half = len(shown) // 2
            best = [j for j in by_end if j in ranked][:half]
            shown = list(dict.fromkeys([*best, *shown[half:]]))
    return shown, len(e.jurors) - len(shown)


_Column: TypeAlias = tuple[str, list[str]]  # its name and cells


def card_cells(e: Evaluation | KeyedEvaluation, jurors: Sequence[str]) -> tuple[list[_Column], list[_Column]]:
    """The columns that every card has, and those by label, each as its name and its cells.

    Returns
    -------
    (list, list)
    """
    own: Any = e
    if is_keyed := not hasattr(e, "calibrated"):
        graded, level, digits = own.solution.to_float(), 0.95, 1
    else:
        graded, level, digits = own, own.level, _decimals(own)
    ends = {j: own.interval_of("score", j) for j in jurors}
    columns: list[_Column] = []
    if e.ordered is not None:
        columns.append(("mean error", [_decimal(e.ordered.mean_error[j]) for j in jurors]))
        columns.append(("bias", [describe_bias(e.ordered.bias[j]) for j in jurors]))
    columns += [
        ("accuracy", [percent(graded.score.get(j), digits) for j in jurors]),
        (f"{level * 100:g}%", [percent_range(ends[j], digits) or "–" for j in jurors]),
        ("votes", [f"{e.votes[j]:,}" if j in e.votes else "–" for j in jurors]),
    ]
    if is_keyed:
        if e.ordered is None:
            columns.insert(-1, ("kappa", [_decimal(own.kappa[j]) for j in jurors]))
        return columns, _label_columns(e, graded.accuracy, jurors, digits)
    if (other := own.without_family) is not None:
        ends = {j: other.interval_of("score", j) for j in jurors}
        cells = [f"{percent(other.score.get(j), digits)} ({percent_range(ends[j], digits)})" for j in jurors]
        columns.insert(-1, ("without family", cells))
    if own.rules is not None:
        rows = [own.rules.row(e.jurors.index(j)) for j in jurors]
        columns[0] = ("precision", columns[0][1])
        columns[-1:] = [("coverage", [percent(row[4]) for row in rows]), columns[-1]]
        return columns, [("label", ["–" if row[0] is None else _label_text(row[0]) for row in rows])]
    return columns, [] if own.exam else _label_columns(e, own.accuracy, jurors, digits)


def _label_columns(
    e: Evaluation | KeyedEvaluation, accuracy: Mapping[str, Any], jurors: Sequence[str], digits: int, level: str = ""
) -> list[_Column]:  # fmt: skip
    """A column per label: its accuracy, or the rates of false passes and false fails; with `level`, intervals, too."""
    labels, words = e.labels, {str(a).casefold() for a in e.labels}
    is_pair = len(labels) == 2 and any(words == set(pair) for pair in _PASS_FAIL.items())
    columns = []
    for a, other in zip(labels[::-1], labels, strict=True) if is_pair else ((a, None) for a in labels):
        head = f"on {_label_text(a)}"
        values = [accuracy[j].get(a) if j in accuracy else None for j in jurors]
        ends = [e.interval_of("accuracy", j, a) for j in jurors] if level else []
        if is_pair:  # an item of one label that gets the other is an error of that name
            head, values = f"false {other}", [None if x is None else 1 - x for x in values]
            ends = [(1 - high, 1 - low) for low, high in ends]
        columns.append((head, [percent(x, digits) for x in values]))
        columns += [(level, [percent_range(x, digits) for x in ends])] if level else []
    return columns


def _fitting_names(jurors: Sequence[str], columns: list[_Column], by_label: list[_Column]) -> dict[str, str]:
    """Names short enough for all columns to fit; where that takes too much of them, for those that are always there."""
    room = WIDTH - sum(map(_width, (*columns, *by_label))) - 2
    if room < _SHORTEST_NAME:
        room = WIDTH - sum(map(_width, columns)) - 2
    return shorten_names(jurors, min(max(room, _SHORTEST_NAME), LONGEST_NAME))


def _fitting_table(names: Mapping[str, str], columns: list[_Column], by_label: list[_Column]) -> Table:
    """A row per name; with the columns by label where 80 columns have room for them."""
    first = ("juror", list(names.values()))
    if sum(map(_width, (first, *columns, *by_label))) <= WIDTH:
        columns = [*columns[:-1], *by_label, columns[-1]]  # votes last
    heads, cells = zip(first, *columns, strict=True)
    return Table(heads, tuple(zip(*cells, strict=True)), right=tuple(range(1, len(heads))))


def _width(column: tuple[str, Sequence[str]]) -> int:
    """Characters of a column and the two blanks before it."""
    return 2 + max(map(len, (column[0], *column[1])))


def short_alarm_lines(alarms: tuple[Alarm, ...], room: int, names: Mapping[str, str]) -> list[str]:
    """As many alarms and warnings as so many lines have room for, the most severe in any case; and how many more.

    Returns
    -------
    list of str
        One text each.
    """
    loud = [alarm for alarm in sort_by_severity(alarms) if alarm.level != "note"]
    texts: list[str] = []
    for k, alarm in enumerate(loud):
        text = replace_names(alarm.sentence, names)
        if not any(text.startswith(names.get(juror, juror)) for juror in alarm.jurors):
            text = f"{text[:1].upper()}{text[1:]}"
        folded = wrap(f"{_MARKS[alarm.level]} {text}", WIDTH, subsequent_indent="  ", break_on_hyphens=False)
        if texts and len(folded) > room - (k + 1 < len(loud)):
            return [*texts, f"! {len(loud) - k} more; full=True shows all."]
        texts.append(" ".join(line.strip() for line in folded))
        room -= len(folded)
    return texts


def alarm_lines(alarms: tuple[Alarm, ...], jurors: Sequence[str] = ()) -> list[str]:
    """One line an alarm, the most severe first; these jurors by their short names.

    Returns
    -------
    list of str
    """
    names = short_names(tuple(jurors))
    return [f"{_SIGNS[a.level]} {a.kind}: {replace_names(a.sentence, names)}" for a in sort_by_severity(alarms)]


# -- the full card ----------------------------------------------------------------------------------------------


def _full_blocks(e: Evaluation) -> list[Block]:
    """Intervals of every number, dependence, abstentions, repeats, the independent-errors model, and notes."""
    blocks: list[Block] = []
    level, short = f"{e.level * 100:g}%", short_names(e.jurors)
    if e.has_grades and not e.exam and e.rules is None:
        blocks += [
            _beside_majority(e, e, "prevalence", ("label", "prevalence")),
            _accuracy_table(e, [j for j in e.jurors if j in e.accuracy]),
        ]
    if e.dependence:
        rows = tuple(
            (*(short[j] for j in pair.jurors), f"{pair.kappa:+z.2f}", f"{pair.correlation:+z.2f}",
             " – ".join(f"{end:+z.2f}" for end in pair.interval))
            for pair in e.dependence[:_MOST_PAIRS]
        )  # fmt: skip
        by = "that kappa and gold suggest" if e.dependence_has_gold else "of real pairs with that kappa"
        title = f"most dependent pairs: kappa, and the error correlation {by}"
        blocks.append(Table(("first", "second", "kappa", "correlation", level), rows, title=title, right=(2, 3, 4)))
    blocks += [Notes(lines, width=WIDTH) for lines in (_leaders_without(e),) if lines]
    blocks += [*abstention_tables(e), *repeat_tables(e.repeats), *confidence_tables(e.confidence, e.level)]
    if e.is_calibrated and e.independent.solution is not None:
        title = f"independent-errors model (method {e.method})"
        blocks.append(_beside_majority(e, e.independent, "score", ("juror", "accuracy"), title))
    return [*blocks, Notes(footnotes(e))]


def _leaders_without(e: Evaluation) -> list[str]:
    """Whose absence would let another juror than now lead; the first of the others leads without the leader."""
    short, by_leader = short_names(e.jurors), dict[str, list[str]]()
    for x in e.leaders_without:
        if x.leader != next((j for j in e.ranking.ranked if j not in x.without), None):
            names = by_leader.setdefault(x.leader, [])
            names += [] if set(x.without) <= set(names) else [" and ".join(x.without)]
    if not by_leader:
        known = {x.without for x in e.leaders_without}
        is_sure = e.best is not None and all((j,) in known for j in e.jurors if j != e.best)
        return [f"{short[e.best]} leads whichever other juror is left out."] if is_sure else []
    lines = [f"Without {' or '.join(names)}, {leader} would lead." for leader, names in by_leader.items()]
    return [replace_names(line, short) for line in lines]


def _beside_majority(
    e: Evaluation, grades: Evaluation | IndependentGrades, statistic: str, heads: tuple[str, str], title: str = ""
) -> Table:
    """Prevalences or scores with their intervals, beside those by majority vote."""
    majority = getattr(e.majority.to_float(), statistic) if e.majority else {}
    values, rows, short = getattr(grades, statistic), [], short_names(e.jurors)
    for x in e.labels if statistic == "prevalence" else e.jurors:
        cells = percent(values.get(x)), percent_range(grades.interval_of(statistic, x)), percent(majority.get(x))
        rows.append((short[x] if statistic == "score" else str(_level(x)), *cells))
    return Table((*heads, f"{e.level * 100:g}%", "if majority is right"), tuple(rows), title=title, right=(1, 2, 3))


def _accuracy_table(e: Evaluation | KeyedEvaluation, jurors: Sequence[str]) -> Table:
    """Each juror's accuracy on each label, and kappa with a key, with intervals; of many labels, best and worst."""
    own: Any = e
    keyed = None if hasattr(e, "calibrated") else own
    graded, level = (own, f"{own.level * 100:g}%") if keyed is None else (own.solution.to_float(), "95%")
    columns: list[_Column] = []
    if len(e.labels) > _MOST_LABELS:
        known = [[(x, str(a)) for a, x in graded.accuracy[j].items() if x is not None and x == x] for j in jurors]
        for head, pick in (("best on", max), ("worst on", min)):
            best = [pick(some) if some else None for some in known]
            columns.append((head, ["–" if x is None else f"{x[1]} {percent(x[0])}" for x in best]))
    else:
        columns = _label_columns(e, graded.accuracy, jurors, 1, level)
    if keyed is not None and e.ordered is None:
        ends = [" – ".join(map(_decimal, keyed.interval.kappa[j] or ())) for j in jurors]
        columns = [("kappa", [_decimal(keyed.kappa[j]) for j in jurors]), (level, ends), *columns]
    rows = zip([short_names(e.jurors)[j] for j in jurors], *(cells for _, cells in columns), strict=True)
    return Table(("juror", *(head for head, _ in columns)), tuple(rows), right=tuple(range(1, len(columns) + 1)))


def level_tables(e: Evaluation | KeyedEvaluation) -> list[Table]:
    """Of ordered levels: how far off every juror is, and to which side.

    Returns
    -------
    list of Table
        Empty for labels without order.
    """
    if e.ordered is None:
        return []
    rows = []
    for j in e.jurors:
        error, bias, kappa = e.ordered.row(j)
        rows.append((short_names(e.jurors)[j], _decimal(error), describe_bias(bias), _decimal(kappa)))
    headers = ("juror", "mean error", "bias", "weighted kappa")
    return [Table(headers, tuple(rows), right=(1, 2, 3))]


def _decimal(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def abstention_tables(e: Evaluation) -> list[Table]:
    """How often each juror abstains on which true label.

    Returns
    -------
    list of Table
        Empty where no juror abstains.
    """
    if (rates := e.abstentions) is None:
        return []
    headers = ["juror", "items", "abstains", *(head for a in e.labels for head in (f"on {a}", f"{e.level * 100:g}%"))]
    rows = []
    for j in e.jurors:
        items = rates.asked[j]
        cells = [f"{items:,}", percent(rates.abstained[j] / items if items else None)]
        for a in e.labels:
            cells += percent(rates.rate[j][a]), percent_range(rates.interval[j][a] or (float("nan"),) * 2)
        rows.append((short_names(e.jurors)[j], *cells))
    title = "how often jurors abstain, by true label"
    return [Table(tuple(headers), tuple(rows), title=title, right=tuple(range(1, len(headers))))]


def repeat_tables(repeats: SelfAgreement | None) -> list[Table]:
    """How consistent jurors are who answered items several times.

    Returns
    -------
    list of Table
        Empty where no juror did.
    """
    if repeats is None:
        return []
    level = f"{repeats.level * 100:g}%"
    headers = ("juror", "items", "answers each", "ties", "agrees with itself", level, "alpha")
    rows, short = [], short_names(tuple(repeats.agreement))
    for j in repeats.agreement:
        times = f"{repeats.items[j]:,}", f"{repeats.times[j]:.1f}".removesuffix(".0"), f"{repeats.ties[j]:,}"
        agrees = percent(repeats.agreement[j]), percent_range(repeats.interval[j]), _decimal(repeats.alpha[j])
        rows.append((short[j], *times, *agrees))
    title = "how consistent jurors are that answered an item several times"
    return [Table(headers, tuple(rows), title=title, right=tuple(range(1, len(headers))))]


def footnotes(e: Evaluation) -> list[str]:
    """What the numbers are about and what they rest on.

    Returns
    -------
    list of str
    """
    lines = [f"Method: {e.method}."]
    if e.interval is not None:
        what = "these items" if e.target == "test" else "the population that the items were drawn from"
        lines.append(f"Intervals are for {what}.")
    if e.ordered is not None:
        lines.append(
            "Levels: mean error and bias compare a juror's votes with the estimated levels. Neither has an interval."
        )
    lines += [*basis_lines(e), *e.notes]
    if e.repeats is not None:
        lines.append("Repeated answers: repetition does not correct an answer that is consistently wrong.")
    if e.independent.solution is not None and len(e.independent.solutions) > 1:
        lines.append(f"{len(e.independent.solutions)} solutions explain the counts; selected: {e.independent.rule}.")
    if e.exam:
        lines.append("Exam: choices have no meaning across questions, so only scores are shown.")
    return lines


def basis_lines(e: Evaluation) -> list[str]:
    """What the calibrated numbers rest on, or that there are none.

    Returns
    -------
    list of str
    """
    if e.calibrated is None:
        return ["Not calibrated: these grades assume independent errors."] if e.has_grades else []
    shared = e.calibrated.shared_error
    if e.rules is not None:
        gold = f" and {shared.gold_items:,} gold items" if shared.gold_items else ""
        return [f"Precision is estimated from how far rules agree{gold}; agreement alone shows little of it."]
    if e.calibrated.is_independent:
        return ["Not calibrated: you chose errors='independent'. If errors are correlated, intervals are too narrow."]
    source = {
        "reference juries": f"measured on {shared.juries} reference juries with known answers",
        "own reference juries": f"measured on your {shared.juries} reference juries",
        "given": "as you gave it",
    }[shared.source]
    gold = f" and {shared.gold_items:,} gold items" if shared.gold_items else ""
    low, high = shared.interval
    about = f"{shared.median:.2f}" + ("" if low == high else f" ({low:.2f} – {high:.2f})")
    what = "It says how overconfident such panels are, not how far the errors of these jurors are correlated."
    return [f"Calibrated with a shared error of {about}, {source}{gold}. {what}"]


# -- a table of rows: CSV and data frames -----------------------------------------------------------------------


def card_columns(e: Evaluation) -> Columns:
    """One row per juror: score, its interval, votes, accuracy by label with intervals, and what else is known.

    Returns
    -------
    Columns
    """
    labels = () if e.exam or e.rules is not None else e.labels
    names = ["juror", "score", "low", "high", "votes", *(["label", "precision", "coverage"] * (e.rules is not None))]
    names += [f"{name}_without_family" for name in ("score", "low", "high") if e.without_family is not None]
    names += [f"accuracy_{_level(a)}{end}" for a in labels for end in ("", "_low", "_high")]
    abstaining = labels if e.abstentions is not None else ()
    names += [f"abstention_{_level(a)}{end}" for a in abstaining for end in ("", "_low", "_high")]
    names += ["mean_error", "bias", "weighted_kappa"] * (e.ordered is not None)
    names += ["self_agreement", "self_agreement_low", "self_agreement_high"] * (e.repeats is not None)
    rows: list[tuple[Any, ...]] = []
    ids = _juror_ids(e)
    for k, j in enumerate(e.jurors if e.has_grades else ()):
        row: list[Any] = [ids[j], e.score.get(j), *e.interval_of("score", j), e.votes.get(j)]
        if e.rules is not None:
            label, precision, _, _, coverage = e.rules.row(k)
            row += [label, precision, coverage]
        if e.without_family is not None:
            row += [e.without_family.score.get(j), *e.without_family.interval_of("score", j)]
        for a in labels:
            row += [e.accuracy[j].get(a), *e.interval_of("accuracy", j, a)]
        if e.abstentions is not None:
            for a in labels:
                row += [e.abstentions.rate[j][a], *(e.abstentions.interval[j][a] or (None, None))]
        if e.ordered is not None:
            row += e.ordered.row(j)
        if e.repeats is not None:
            row += [e.repeats.agreement.get(j), *e.repeats.interval.get(j, (None, None))]
        rows.append(tuple(row))
    return columns_of(names, rows)


def _juror_ids(e: Evaluation | KeyedEvaluation) -> dict[str, Any]:
    """Each juror as the source names it, so that frames join: a whole number, or its name."""
    is_numbered = e.sketch is not None and e.sketch.tuples.jurors_are_numbered
    return {j: int(j) if is_numbered and j.isdecimal() else j for j in e.jurors}


def keyed_columns(keyed: KeyedEvaluation) -> Columns:
    """One row per juror: score by the key, its interval, votes, accuracy by label, and for levels how far off.

    Returns
    -------
    Columns
    """
    solution, labels, ids = keyed.solution.to_float(), keyed.labels, _juror_ids(keyed)
    names = ["juror", "score", "low", "high", "votes", *(f"accuracy_{_level(a)}" for a in labels), "kappa"]
    names += ["mean_error", "bias", "weighted_kappa"] * (keyed.ordered is not None)
    rows = []
    for j in keyed.jurors:
        row = [ids[j], solution.score[j], *(keyed.interval.score[j] or (None, None)), keyed.votes[j]]
        row += [*(solution.accuracy[j][a] for a in labels), keyed.kappa[j]]
        rows.append(row if keyed.ordered is None else [*row, *keyed.ordered.row(j)])
    return columns_of(names, rows)


# -- against an answer key --------------------------------------------------------------------------------------


def scored_jurors(keyed: KeyedEvaluation, options: CardOptions) -> list[str]:
    """The jurors to show, by the lower end of their interval or by how many levels they are off; of many, the ends.

    Those with few votes come last, unless the options choose another order.

    Returns
    -------
    list of str
    """
    votes, interval = keyed.votes, keyed.interval.score
    enough, levels = enough_votes(votes.values()), keyed.ordered
    known = [j for j in keyed.jurors if interval[j] is not None]
    known.sort(key=lambda j: (votes[j] < enough, -interval[j][0] if levels is None else levels.mean_error[j]))
    known = sort_rows(known, votes.__getitem__, options, keyed.solution.to_float().score.get)
    is_ranked = options.sort in ("rank", "accuracy")
    return select_rows(known, options, [j for j in known if votes[j] >= enough] if is_ranked else None)


def score_tables(keyed: KeyedEvaluation, options: CardOptions = SHORT) -> list[Block]:
    """Accuracies by the key, labelling errors, and with `full` all prevalences and error correlations, to read.

    Returns
    -------
    list of blocks
    """
    prevalence, labels = keyed.solution.to_float().prevalence, keyed.labels
    shown = scored_jurors(keyed, options)
    is_bound = keyed.best_errors and keyed.has_shared_votes
    best = f", and no rule on these votes less than {percent(keyed.best_errors / keyed.items)}" if is_bound else ""
    wrong = percent(keyed.majority_errors / keyed.items)
    lines = [f"Majority vote gets {wrong} of the labels wrong{best}."]
    if len(keyed.jurors) <= MOST_ROWS and (worth := keyed.effective_jurors) is not None:
        lines.append(f"{len(keyed.jurors)} jurors are worth about {worth:.1f} independent ones.")
    if len(labels) <= _MOST_PREVALENCES:
        shares = (f"{_label_text(a)} {percent(x)}" for a, x in prevalence.items())
        lines.append(f"Prevalence: {', '.join(shares)}.")
    columns, by_label = card_cells(keyed, shown)
    if sum(map(_width, (*columns, *by_label))) + 2 + _SHORTEST_NAME > WIDTH:  # accuracies by label say more than kappa
        columns = [column for column in columns if column[0] != "kappa"]
    names = _fitting_names(keyed.jurors, columns, by_label)
    blocks: list[Block] = [
        f"{keyed.items:,} items with a true label, {len(keyed.jurors):,} jurors",
        Notes(lines, width=WIDTH),
        _fitting_table({j: names[j] for j in shown}, columns, by_label),
    ]
    if len(shown) < len(keyed.jurors):
        blocks.append(f"Shown: {len(shown)} of {len(keyed.jurors):,} jurors. See full=True, top=.")
    if not options.full:
        return blocks
    rows = [(str(_level(a)), percent(prevalence[a]), percent_range(x)) for a, x in keyed.interval.prevalence.items()]
    blocks += [
        *(_accuracy_table(keyed, shown), Table(("label", "prevalence", "95%"), tuple(rows), right=(1, 2))),
        *level_tables(keyed),
        *repeat_tables(keyed.repeats),
        *confidence_tables(keyed.confidence, 0.95),
    ]
    groups: list[tuple[Any, ...]] = []  # pairs and trios, the most correlated first
    short = short_names(keyed.jurors)
    for size in (2, 3) if len(keyed.jurors) <= 12 else (2,):
        of_size = keyed.correlations(size)
        for group in of_size[labels[0]]:
            values = [of_size[a][group] for a in labels]
            groups.append((" + ".join(short[j] for j in group), *(None if x is None else float(x) for x in values)))
    groups.sort(key=lambda row: -max((abs(x) for x in row[1:] if x is not None), default=0.0))
    cells = tuple((who, *(None if x is None else f"{x:+z.6f}" for x in values)) for who, *values in groups[:60])
    title = "error correlations" + f" (the 60 largest of {len(groups):,})" * (len(groups) > 60)
    heads = ("jurors", *(f"on {_level(a)}" for a in labels))
    return [*blocks, Table(heads, cells, title=title, right=tuple(range(1, len(heads))))]
