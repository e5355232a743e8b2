"""The sheet that a person labels and the sampling design behind it: votes come in, a `Sheet` goes out and comes back.

**The sheet.** As CSV it has the columns `draw` (1, 2 …), `of` (the last draw of its batch), `item`, the votes (`vote of
ann` …, left out of a blind sheet), whatever shows the item (`text`), an empty `label`, `chance` (of this item at its
draw, among the items left), `seed` (of the random numbers of its draw) and `drawn_from` (a checksum of the votes: a
word, so that no spreadsheet makes a number of it). Rows may be sorted, columns added: `read_sheet` goes by the names of
columns and by `draw`. Other shapes of the sheet (`export`: a page to label on, another tool's import) are made from
`Sheet.records`, and give back item and label.

**The design** is sampling without replacement, stratified by decision tuple. Nine tenths of every draw are uniform over
the items left, one tenth goes where jurors disagree; a large decision tuple that is overdue gets four tenths to itself.
(More focus would pay where jurors err alone; where they share errors, on items on which all agree, it makes every
guarantee wider.) No label enters, and neither does the size of the batch: so the chances of a finished sheet can be
computed again from the votes, one draw after the other, and two batches are one long draw.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import combinations, groupby, islice
from pathlib import Path
from typing import Any, NamedTuple, Unpack

import numpy as np

from jurors._numeric import Floats, Integers
from jurors.audit.system_design import SystemDesign
from jurors.errors import JurorsError, OptionError, SketchError, VotesError, closest_name, match_name
from jurors.jury.groups import votes_and_groups
from jurors.jury.inputs import as_votes, check_labels
from jurors.jury.label import VOTE_OF, votes_on
from jurors.jury.systems import system_names
from jurors.options import Label, Reading, SourceOptions, verb
from jurors.results import Columns, Result, Table
from jurors.sketch.sketch import count_votes
from jurors.votes.frame import collect_frame, is_frame
from jurors.votes.io.duckdb_table import ToolLog, open_source
from jurors.votes.key import ItemTexts
from jurors.votes.layout import quoted_names
from jurors.votes.read import cells, clean_cells
from jurors.votes.table import Votes

COLUMNS = ("draw", "of", "item", "label", "chance", "drawn_from")
SEED = "seed"  #: a column that sheets of earlier versions lack
_SEED_BITS = 32  # so few digits that spreadsheets keep them all
_CHOSEN_SEEDS = 1 << 16  # seeds below are those that people choose; the system's are above


class _Row(NamedTuple):
    draw: int
    of: int
    item: Any
    label: Any
    chance: float
    checksum: str
    seed: int | None


@dataclass(frozen=True, eq=False)
class Sheet(Result):
    """Items drawn at random, one row each. A person gives the `labels`; None if not yet."""

    draw: tuple[int, ...]  #: the place in the whole draw, from 1
    of: tuple[int, ...]  #: the last draw of the batch it was planned in
    items: tuple[Any, ...]
    labels: tuple[Label | None, ...]
    chance: tuple[float, ...]  #: of having been drawn at its place, among the items left
    checksum: str  #: of the votes it was drawn from
    seed: tuple[int | None, ...]  #: of the random numbers of each draw; None where the sheet does not say
    votes: Mapping[str, tuple[Label | None, ...]] | None = None  #: juror -> votes on the items, for the analyst
    texts: Mapping[str, tuple[Any, ...]] | None = None  #: column -> what to show of the items
    blind: bool = True  #: whether the votes are hidden from whoever labels
    choices: tuple[Label, ...] = ()  #: the labels to choose from
    words: Mapping[Label, str] = field(default_factory=dict)  #: label -> the word for it, where the log has one

    _is_bare = True

    def open(self) -> Sheet:
        """The same with the votes: for the analyst, not for whoever labels."""
        return replace(self, blind=False)

    @property
    def records(self) -> list[dict[str, Any]]:
        """Each row by the names of its columns."""
        columns = self._columns()
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def __len__(self) -> int:
        return len(self.items)

    def _columns(self) -> Columns:
        votes = {} if self.blind or self.votes is None else {f"{VOTE_OF}{j}": v for j, v in self.votes.items()}
        return {
            "draw": self.draw,
            "of": self.of,
            "item": self.items,
            **votes,
            **(self.texts or {}),
            "label": self.labels,
            "chance": self.chance,
            SEED: self.seed,
            "drawn_from": (self.checksum,) * len(self),
        }

    def _blocks(self) -> tuple[Table]:
        columns = dict(self._columns())
        del columns["drawn_from"], columns[SEED]
        return (Table.of({**columns, "chance": [f"{p:.6f}" for p in self.chance]}),)


def checksum(votes: Votes, groups: Sequence[Any] | None = None) -> str:
    """A word that distinguishes these votes from others, whatever the order of items, jurors and labels.

    With the system of each row, it begins with an s, and distinguishes these, too.

    >>> one = Votes.from_matrix([["a", "b"], ["b", "b"]], items=[7, 8], jurors=["x", "y"])
    >>> other = Votes.from_matrix([["b", "b"], ["b", "a"]], items=["8", "7"], jurors=["y", "x"])
    >>> checksum(one) == checksum(other), checksum(one)[0]
    (True, 'v')
    """
    names = [str(name).encode() for name in votes.item_names().tolist()]

    @cache
    def vote(juror: int, label: int) -> bytes:
        return f"\x1f{votes.jurors[juror]}\x1f{votes.labels[label]}".encode()

    triples = zip(*(part.tolist() for part in votes.triples()), strict=True)
    total = votes.rows + sum(_hash(names[row] + vote(juror, label)) for row, juror, label in triples)
    if groups is None:
        return f"v{total % (1 << 48):012x}"
    total += sum(_hash(name + f"\x1e{group}".encode()) for name, group in zip(names, groups, strict=True))
    return f"s{total % (1 << 48):012x}"


def _hash(name: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(name, digest_size=6).digest(), "little")


def check_same_votes(sheet: Sheet, votes: Votes, groups: Sequence[Any] | None = None) -> None:
    """VotesError where the sheet was drawn from other votes, or by other systems."""
    needed = checksum(votes, groups)
    if groups is None and is_by_system(sheet):
        raise VotesError(
            "the sheet was drawn by system: evaluate it with `jurors audit result --system` (jurors.audit.systems), or "
            "take its labels as gold (gold=)"
        )
    if sheet.checksum != needed:
        raise VotesError(
            f"the sheet was drawn from other votes (checksum {sheet.checksum}, these have {needed}); give the votes it "
            "was drawn from, read with the same options, or draw again with `jurors audit plan`"
        )


def is_by_system(sheet: Sheet) -> bool:
    """Whether the sheet was drawn by system: `plan` with by=.

    Returns
    -------
    bool
    """
    return sheet.checksum.startswith("s")


def read_sheet(source: Any) -> Sheet:
    """Read a labelled sheet of `jurors audit plan`: CSV, JSON lines, Parquet or Label Studio.

    A dataframe with its columns will do, and a `Sheet` is returned as it is. Of several sheets (rounds of one draw, or
    a sheet and a copy of it with labels) the rows are one sheet; a later copy of a row may only fill in the label.

    Returns
    -------
    Sheet
        In the order of the draw.

    Raises
    ------
    VotesError
        It is no such sheet; or a row is missing, contradicts another, or was drawn from other votes than the rest.
    """
    if isinstance(source, Sheet):
        return source
    several = source if isinstance(source, (list, tuple)) else [source]
    rows = [row for part in several for row in _rows(part)]
    if str(several[0]).endswith(".votes.csv") and all(row.label is None for row in rows):
        raise VotesError("these are the votes that the sheet hides; name the labelled sheet").in_file(str(several[0]))
    if not rows:
        raise VotesError("there is no sheet of answers")
    sums = {row.checksum for row in rows}
    if len(sums) > 1:
        raise VotesError(f"the sheets were drawn from different votes (checksums {', '.join(sorted(sums))})")
    try:
        return _checked(rows, sums.pop())
    except VotesError as error:
        is_file = len(several) == 1 and isinstance(several[0], (str, os.PathLike))
        raise (error.in_file(str(several[0])) if is_file else error) from None


def labels_in(path: Path) -> int:
    """How many labels a person has filled into a file; 0 where it is no sheet.

    Returns
    -------
    int
    """
    with suppress(JurorsError):
        return sum(row.label is not None for row in _rows(path))
    return 0


def _rows(source: Any) -> list[_Row]:
    """The rows of one sheet, as they are."""
    if isinstance(source, Sheet):
        columns = (source.draw, source.of, source.items, source.labels, source.chance)
        return list(map(_Row, *columns, (source.checksum,) * len(source), source.seed))
    if is_frame(source):
        table = collect_frame(source)
        return _from_columns(tuple(map(str, table.columns)), lambda k: table[:, k].to_list())
    if not isinstance(source, (str, os.PathLike)) and not hasattr(source, "read"):
        raise VotesError(
            f"answers are a sheet of `jurors audit plan` (a file, a frame or a Sheet), not {type(source).__name__}; "
            "give labels of other items as gold="
        )
    page = Path(f"{str(source).removesuffix('.answers.csv')}.html")
    if str(source).endswith(".answers.csv") and page.exists() and not Path(str(source)).exists():
        message = f"there is no such file; label the items in {page}, which saves it"
        raise VotesError(message, code="no_file").in_file(str(source))
    with open_source(source, Reading()) as opened:
        if isinstance(opened, ToolLog):
            answers = _of_log(opened)
            return _from_columns(tuple(answers), lambda k: list(answers.values())[k])
        return _from_columns(opened.names, lambda k: cells(opened.keep((k,)), k))


def _of_log(log: ToolLog) -> dict[str, list[Any]]:
    """The columns of a sheet from another tool's tasks: their data, and the label that a person chose."""
    records = log.read()
    if isinstance(records, Votes) or not records.texts:
        raise VotesError(f"this is a log ({log.reader.TITLE}), not a sheet of answers")
    labels: dict[Any, Any] = {}
    for item, label in zip(records.item, records.label, strict=True):
        if label is not None and labels.setdefault(item, label) != label:
            raise VotesError(f"task {item!r} has two labels, {labels[item]!r} and {label!r}; choose one")
    names = [name for name in (*COLUMNS, SEED) if any(name in data for data in records.texts.values())]
    columns: dict[str, list[Any]] = {name: [data.get(name) for data in records.texts.values()] for name in names}
    return {**columns, "label": [labels.get(task) for task in records.texts]}


def _from_columns(names: Sequence[str], column: Any) -> list[_Row]:
    """The rows, by the names of the columns."""
    place = {name.strip().lower(): k for k, name in reversed(list(enumerate(names)))}
    absent = [name for name in COLUMNS if name not in place]
    if absent:
        raise VotesError(
            f"a sheet of answers needs the columns {', '.join(COLUMNS)} as `jurors audit plan` writes them; "
            f"{quoted_names(names)} has no {absent[0]!r}. Labels of other items go with gold= (of `jurors grade`)"
        )
    draw, of, items, labels, chance, sums = (clean_cells(column(place[name]), column=name) for name in COLUMNS)
    seeds = clean_cells(column(place[SEED]), column=SEED) if SEED in place else [None] * len(draw)
    filled = [k for k, item in enumerate(items) if item is not None or draw[k] is not None]
    if not filled:
        raise VotesError("the sheet is empty: it has no item")
    rows = []
    for k in filled:
        seed = None if seeds[k] is None else _whole(seeds, k, SEED)
        at, last = _whole(draw, k, "draw"), _whole(of, k, "of")
        rows.append(_Row(at, last, items[k], labels[k], _share(chance[k], k), str(sums[k]), seed))
    return rows


def _whole(cells: Sequence[Any], k: int, column: str) -> int:
    cell = cells[k]
    try:
        return int(str(cell).removesuffix(".0"))
    except ValueError:
        raise VotesError(f"row {k + 1}: {column} is {cell!r}, not a whole number", code="bad_row", row=k + 1) from None


def _share(cell: Any, k: int) -> float:
    try:
        share = float(str(cell).replace(",", "."))  # as some spreadsheets write it
    except ValueError:
        share = float("nan")
    if not 0 < share <= 1:
        raise VotesError(f"row {k + 1}: chance is {cell!r}, not a share", code="bad_row", row=k + 1)
    return share


def _checked(rows: Sequence[_Row], checksum: str) -> Sheet:
    """The sheet of these rows, if none is missing and no two contradict each other."""
    by_draw: dict[int, _Row] = {}
    for row in sorted(rows, key=lambda row: (row.draw, row.label is None)):
        known = by_draw.setdefault(row.draw, row)
        if str(known.item) != str(row.item):
            raise VotesError(f"draw {row.draw} occurs twice, with item {known.item!r} and item {row.item!r}")
        if row.label is not None and str(known.label) != str(row.label):
            raise VotesError(f"item {row.item!r} has two labels, {known.label!r} and {row.label!r}; choose one")
    items = Counter(str(row.item) for row in by_draw.values())
    if repeated := next((name for name, times in items.items() if times > 1), None):
        raise VotesError(f"item {repeated!r} occurs twice; an item is drawn once")
    gone = next((k for k in range(1, len(by_draw) + 1) if k not in by_draw), None)
    if gone is not None:
        raise VotesError(
            f"the row of draw {gone} is missing; keep every row of the sheet, also those without a label, or give the "
            "sheet as it was planned beside this one"
        )
    draw, of, names, labels, chance, _, _ = zip(*(by_draw[k] for k in sorted(by_draw)), strict=True)
    seed_of = {row.draw: row.seed for row in rows if row.seed is not None}
    seeds = tuple(map(seed_of.get, draw))
    return Sheet(draw=draw, of=of, items=names, labels=labels, chance=chance, checksum=checksum, seed=seeds)


# ---------------------------------------------------------------------------------------------------------------------
# The sampling design
# ---------------------------------------------------------------------------------------------------------------------

FLOOR = 0.9  #: the uniform share of every draw: no item's chance is less than this part of an even one
OVERDUE = 3.0  #: a tuple is overdue when so many of its items were to be expected, and none was drawn
FLOOR_OVERDUE = 0.6  #: the uniform share while one is
AGREED = 0.05  #: the focus on full agreement, where that on full disagreement is 1


@dataclass(frozen=True, eq=False)
class Design:
    """Items by decision tuple, in an order that neither rows nor names of jurors change."""

    rank: Integers  #: the rows of the votes, by the items' names
    tuple_of_row: Integers
    sizes: Integers  #: tuples: how many items each has
    focus: Floats  #: tuples: the weight of an item in the tenth of draws that is not uniform

    @classmethod
    def of(cls, votes: Votes) -> Design:
        """The design for some votes."""
        _, tuple_of = count_votes(votes)
        rank = np.array(sorted(range(votes.rows), key=[str(name) for name in votes.item_names().tolist()].__getitem__))
        _, first, inverse = np.unique(tuple_of[rank], return_index=True, return_inverse=True)
        place = np.argsort(np.argsort(first))  # tuples in the order of their first items
        tuple_of_row = np.empty(votes.rows, dtype=np.int64)
        tuple_of_row[rank] = place[inverse]
        row, _, code = votes.triples()
        given = np.zeros((votes.rows, max(len(votes.labels), 1)))
        np.add.at(given, (row, code.astype(np.int64)), 1.0)
        total = given.sum(axis=1)
        labels = max(int(given.any(axis=0).sum()), 2)  # those that only a person gives change no chance
        top = np.divide(given.max(axis=1), total, out=np.full(votes.rows, 1.0 / labels), where=total > 0)
        disagreement = (1 - top) * labels / (labels - 1)  # 0: all vote the same; 1: every label has as many votes
        focus = np.zeros(len(first))
        focus[tuple_of_row] = AGREED + (1 - AGREED) * disagreement
        return cls(rank, tuple_of_row, np.bincount(tuple_of_row, minlength=len(first)), focus)


class SequentialDraw:
    """Sampling without replacement, one item after the other, with the chance of each."""

    def __init__(self, design: Design) -> None:
        self.design = design
        self.left = design.sizes.astype(np.float64)  #: tuples: items not drawn yet
        self.drawn = 0

    def chances(self) -> Floats:
        """Tuples: the chance of each of its items left to be drawn next."""
        floor, focus = self.rule()
        return np.asarray(floor / self.left.sum() + (1 - floor) * focus / (self.left * focus).sum())

    def rule(self) -> tuple[float, Floats]:
        """The uniform share of the next draw, and the tuples' focus in the rest of it."""
        sizes = self.design.sizes
        overdue = np.asarray((self.left == sizes) & (sizes * self.drawn >= OVERDUE * sizes.sum()))
        return (FLOOR_OVERDUE, overdue.astype(np.float64)) if overdue.any() else (FLOOR, self.design.focus)

    def take(self, tuple_index: int) -> None:
        """Advance by an item of this tuple."""
        self.left[tuple_index] -= 1
        self.drawn += 1


# ---------------------------------------------------------------------------------------------------------------------
# Replaying a sheet against the votes: the row of each draw, and that the draw is one that these votes give
# ---------------------------------------------------------------------------------------------------------------------

_ROUNDED = 1e-3  # spreadsheets save what they show


def replay_draws(sheet: Sheet, votes: Votes, draw: SequentialDraw) -> Integers:
    """Take every draw of the sheet again, in order, which advances `draw`.

    Returns
    -------
    ndarray
        The row of each item of the sheet.

    Raises
    ------
    VotesError
        An item is not among the votes, or the design would have given it another chance.
    """
    place = {str(name): row for row, name in enumerate(votes.item_names().tolist())}
    unknown = next((item for item in sheet.items if str(item) not in place), None)
    if unknown is not None:
        raise VotesError(f"item {unknown!r} of the sheet is not among the {votes.rows:,} items voted on")
    rows = [place[str(item)] for item in sheet.items]
    for number, item, row, chance in zip(sheet.draw, sheet.items, rows, sheet.chance, strict=True):
        tuple_index = int(draw.design.tuple_of_row[row])
        expected = float(draw.chances()[tuple_index])
        if abs(chance - expected) > _ROUNDED * expected:
            raise VotesError(
                f"draw {number}: item {item!r} was never drawn with the chance {chance:g}, which these votes make "
                f"{expected:.6g}; only items that `jurors audit plan` drew, in its order, can be answered"
            )
        draw.take(tuple_index)
    return np.array(rows, dtype=np.int64)


def check_seeds(sheet: Sheet, design: Design, rows: Integers) -> bool:
    """Draw again with the seeds that the sheet records.

    Returns
    -------
    bool
        Whether the sheet records them all, and none was chosen: else nothing shows that the draw was random.

    Raises
    ------
    VotesError
        They give other items.
    """
    if None in sheet.seed:
        return False
    draw, start = SequentialDraw(design), 0
    for seed, batch in groupby(sheet.seed):
        end = start + len(list(batch))
        again, _ = _draw(draw, rows[:start], end - start, int(seed or 0))
        if again != rows[start:end].tolist():
            raise _other_items(seed)
        start = end
    return is_random_seed(sheet)


def is_random_seed(sheet: Sheet) -> bool:
    """Whether the operating system supplied every seed of the sheet.

    Returns
    -------
    bool
    """
    return min((int(seed or 0) for seed in sheet.seed), default=0) >= _CHOSEN_SEEDS


def has_chosen_seed(sheet: Sheet) -> bool:
    """Whether a person, and not the operating system, supplied a seed of the sheet.

    Returns
    -------
    bool
    """
    return any(seed is not None and int(seed) < _CHOSEN_SEEDS for seed in sheet.seed)


def _other_items(seed: int | None) -> VotesError:
    return VotesError(
        f"the seed {seed} draws other items than those of the sheet; only items that `jurors audit plan` drew, in its "
        "order, can be answered"
    )


def replay_systems(sheet: Sheet, votes: Votes, design: SystemDesign) -> Integers:
    """Draw the items of a sheet by system again with its seed.

    Returns
    -------
    ndarray
        The row of each item of the sheet.

    Raises
    ------
    VotesError
        The seed gives other items, or there are several.
    """
    seed = sheet.seed[0]
    if seed is None or set(sheet.seed) != {seed}:
        raise VotesError("a sheet by system needs its one seed in the column 'seed'")
    names, rows = votes.item_names().tolist(), [row for row, _ in islice(design.order(seed), len(sheet))]
    if [str(names[row]) for row in rows] != list(map(str, sheet.items)):
        raise _other_items(seed)
    return np.array(rows, dtype=np.int64)


def answer_codes(sheet: Sheet, votes: Votes) -> Integers:
    """Each label of the sheet as a position in the votes' labels, -1 where there is none yet.

    Raises
    ------
    VotesError
        A label is none of the votes', or there is no label at all.
    """
    place = {str(label): code for code, label in enumerate(votes.labels)}
    for item, label in zip(sheet.items, sheet.labels, strict=True):
        if label is not None and str(label) not in place:
            hint = "" if (close := closest_name(str(label), place)) is None else f" Did you mean {close!r}?"
            raise VotesError(
                f"item {item!r} has the label {str(label)!r}, which no juror gives.{hint} To allow it, list all "
                f"labels: labels={','.join(map(str, (*votes.labels, label)))!r}",
                code="unknown_name", name=label, what="label", known=votes.labels,
            )  # fmt: skip
    codes = np.array([-1 if label is None else place[str(label)] for label in sheet.labels], dtype=np.int64)
    if (codes < 0).all():
        raise VotesError("the sheet has no label yet: fill in its column 'label'", code="empty")
    return codes


# ---------------------------------------------------------------------------------------------------------------------
# `plan`
# ---------------------------------------------------------------------------------------------------------------------


@verb(SourceOptions)
def plan(
    source: Any,
    n: int = 30,
    *,
    by: Any = None,
    between: Sequence[Any] = (),
    after: Any = None,
    texts: ItemTexts | Mapping[Any, Any] | None = None,
    blind: bool = True,
    seed: int | None = None,
    **reading: Unpack[SourceOptions],
) -> Sheet:
    """Draw the next `n` items for a person to label.

    Parameters
    ----------
    source
        Votes, a dataframe, an items x jurors matrix, or the path of a file (options as in `read_votes`).
    n
        How many items. Plan as many as you may label at most: one may look, and stop, after every label.
    by
        The system of each item, as in `jurors.systems`: items are drawn to find out which system is better, on the
        same questions, and more of systems that are close (`audit.systems` reads the answers).
    between
        Two of the systems: only their items are drawn, which proves their order with the fewest labels.
    after
        The sheet of earlier rounds, as `plan` gave it or as a file: the draw goes on where it ended.
    texts
        What to show of the items: as `read_item_texts` reads it, or a text by item.
    blind
        Whether the sheet hides the votes from whoever labels.
    seed
        Of the random numbers, for a draw that you can repeat: it is the same for the same votes and seed, whatever the
        order of rows. By default, the operating system supplies one, or `after` does. The sheet records it.

    Returns
    -------
    Sheet
        With empty labels; fewer than `n` items where no more are left.

    Raises
    ------
    VotesError
        The votes are counts without items, or `after` was drawn from other votes.
    SketchError
        There is no item left to draw.

    Examples
    --------
    >>> votes = [["yes", "yes", "no"]] * 30 + [["no", "no", "no"]] * 50 + [["yes", "no", "yes"]] * 10
    >>> sheet = plan(votes, 5)
    >>> len(sheet), len(plan(votes, 5, after=sheet)), plan(votes, 10, seed=sheet.seed[0]).items[:5] == sheet.items
    (5, 5, True)
    """
    if n < 1:
        raise OptionError(f"n must be at least 1, got {n}", code="out_of_range", name="n", value=n)
    if seed is not None and seed < 0:
        raise OptionError(f"seed must not be negative, got {seed}", code="out_of_range", name="seed", value=seed)
    earlier = None if after is None else read_sheet(after)
    if by is None:
        if between:
            raise OptionError("between= names systems; name the system of each item, too", name="between")
        votes, groups = auditable_votes(as_votes(source, **reading)), None
    else:
        votes, groups = votes_by_system(source, by, reading)
        groups = drawn_systems(votes, groups, earlier) if not between else _only(groups, between)
    if earlier is not None:
        check_same_votes(earlier, votes, groups)
        seed = earlier.seed[-1] if seed is None else seed
    if seed is None:
        seed = _CHOSEN_SEEDS + secrets.randbelow((1 << _SEED_BITS) - _CHOSEN_SEEDS)
    drawn = np.zeros(0, dtype=np.int64)
    if groups is not None:
        systems = SystemDesign.of(votes, groups)
        if earlier is not None:
            drawn = replay_systems(earlier, votes, systems)
            if seed != earlier.seed[0]:
                raise OptionError("a draw by system continues with the seed of its first sheet; leave seed= out")
        following = list(islice(systems.order(seed), len(drawn), len(drawn) + n))
        rows, chances = [row for row, _ in following], [chance for _, chance in following]
    else:
        draw = SequentialDraw(Design.of(votes))
        drawn = drawn if earlier is None else replay_draws(earlier, votes, draw)
        rows, chances = _draw(draw, drawn, n, seed)
    if not rows:
        raise SketchError(f"all {len(drawn):,} items have been drawn: there is nothing left to draw", code="no_items")
    items, last = tuple(votes.item_names()[rows].tolist()), len(drawn) + len(rows)
    shown = texts if texts is None or isinstance(texts, ItemTexts) else ItemTexts.from_mapping(texts)
    return Sheet(
        draw=tuple(range(len(drawn) + 1, last + 1)), of=(last,) * len(rows), items=items, labels=(None,) * len(rows),
        chance=tuple(chances), checksum=checksum(votes, groups), seed=(seed,) * len(rows), votes=votes_on(votes, rows),
        texts=None if shown is None else shown.of(items, taken=(*COLUMNS, SEED)), blind=blind, choices=votes.labels,
        words=votes.label_words,
    )  # fmt: skip


def votes_by_system(source: Any, by: Any, reading: SourceOptions) -> tuple[Votes, list[Any]]:
    """Read votes that a person can audit, and the system of each row.

    Returns
    -------
    tuple
    """
    votes, groups, _ = votes_and_groups(source, by, "system", reading)
    return auditable_votes(votes), groups.tolist()


def _only(groups: list[Any], between: Sequence[Any]) -> list[Any]:
    """The system of each row, None of those that are not one of two."""
    names = system_names(groups)
    kept = {str(match_name(name, names, "system", error=OptionError)) for name in between}
    if len(kept) != 2:
        raise OptionError(f"between= needs two systems, got {', '.join(map(str, between))}", name="between")
    return [group if group is not None and str(group) in kept else None for group in groups]


def drawn_systems(votes: Votes, groups: list[Any], sheet: Sheet | None) -> list[Any]:
    """The system of each row, None of those that are not one of the two that a sheet was drawn between.

    Returns
    -------
    list
    """
    if sheet is None or not is_by_system(sheet) or sheet.checksum == checksum(votes, groups):
        return groups
    system = dict(zip(map(str, votes.item_names().tolist()), groups, strict=True))
    drawn = {str(system[name]) for name in map(str, sheet.items) if system.get(name) is not None}
    pairs = (_only(groups, pair) for pair in combinations(system_names(groups), 2) if drawn <= set(pair))
    return next((some for some in pairs if sheet.checksum == checksum(votes, some)), groups)


def auditable_votes(votes: Votes) -> Votes:
    """The votes unchanged, if a person can be shown their items; VotesError or SketchError if not."""
    if votes.counts is not None:
        raise VotesError("an audit shows items to a person, but these are counts of decision tuples; give the votes")
    check_labels(votes)
    if not votes.rows:
        raise SketchError("there is no item to draw", code="no_items")
    return votes


def _draw(draw: SequentialDraw, drawn: Integers, n: int, seed: int) -> tuple[list[int], list[float]]:
    """The rows of the next items and their chances; all that are left where they are fewer than `n`."""
    design, is_drawn = draw.design, set(drawn.tolist())
    members: list[list[int]] = [[] for _ in design.sizes]  # of each tuple the rows that are left, in the order of names
    for row in design.rank.tolist():
        if row not in is_drawn:
            members[design.tuple_of_row[row]].append(row)
    rows, chances = [], []
    for _ in range(min(n, len(design.rank) - len(drawn))):
        for_tuple, for_item = np.random.default_rng((seed, draw.drawn)).random(2)
        chance = draw.chances()
        shares = np.cumsum(chance * draw.left)
        tuple_index = int(np.searchsorted(shares, for_tuple * shares[-1], side="right"))
        in_tuple = members[tuple_index]
        rows.append(in_tuple.pop(int(for_item * len(in_tuple))))
        chances.append(float(chance[tuple_index]))
        draw.take(tuple_index)
    return rows, chances
