"""Juries with given statistics, exactly: prevalences, confusion matrices and error correlations; votes drawn from them.

Numbers are taken as the decimals they are written as. Error correlations are the paper's Γ: jurors who share an error
have a latent shift Z in common. On an item of true label l, juror i is right with chance P_il + Z, where Z = a with
chance b/(a+b) and -b otherwise. Its mean is 0 and its variance ab, so that given the label

    Γ_ij = cov(i right, j right) = ab   for every two who share it,   Γ_ijk = ab(a - b)   for every three,

and independent shifts add up. Nothing is approximated: with rational a and b every decision tuple has a rational share.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from numbers import Number
from typing import Any, TypeGuard

import numpy as np

from jurors._numeric import Floats, Integers
from jurors.errors import OptionError, SketchError, format_names
from jurors.evaluate.evaluation import KeyedEvaluation
from jurors.jury.compare import score_labels
from jurors.options import Label, verb
from jurors.sketch.sketch import Sketch
from jurors.votes.codes import NO_VOTE, code_type
from jurors.votes.key import Key
from jurors.votes.table import Votes

# -- numbers as written --

Row = tuple[Fraction, ...]


def fraction(value: Any, what: str) -> Fraction:
    """Parse a number as it is written: 0.1 is 1/10, "1/3" is 1/3.

    Returns
    -------
    Fraction

    Examples
    --------
    >>> fraction(0.1, "x"), fraction("1/3", "x")
    (Fraction(1, 10), Fraction(1, 3))
    """
    try:
        text = str(value).strip()
        if len(text.lower().partition("e")[2]) > 4:  # a million zeros take forever to write out
            raise ValueError
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise SketchError(f"{what} must be a number such as 0.8, got {value!r}") from None


def parse_probability(value: Any, what: str) -> Fraction:
    """Parse a number from 0 to 1.

    Returns
    -------
    Fraction
    """
    number = fraction(value, what)
    if not 0 <= number <= 1:
        raise SketchError(f"{what} must lie between 0 and 1, got {value}")
    return number


def _is_number(value: Any) -> TypeGuard[Any]:
    """A number, of Python or numpy, or the text of one; not several."""
    return isinstance(value, (str, Number))


def prevalences(given: Any, labels: Sequence[Label]) -> Row:
    """Parse the share of each label; the last may be left out, or all of them: then they are equal.

    Returns
    -------
    tuple of Fraction
        They add up to 1.
    """
    if given is None:
        return (Fraction(1, len(labels)),) * len(labels)
    if isinstance(given, Mapping):
        if unknown := [label for label in given if label not in labels]:
            raise SketchError(f"prevalence names the label {unknown[0]!r}; there are: {', '.join(map(str, labels))}")
        given = [given.get(label, 0) for label in labels]
    listed = [given] if _is_number(given) else list(given)
    shares = [parse_probability(value, "a prevalence") for value in listed]
    if len(shares) == len(labels) - 1:
        shares.append(1 - sum(shares, Fraction(0)))
    if len(shares) != len(labels) or sum(shares) != 1 or min(shares) < 0:
        shown = ", ".join(map(str, listed))
        raise SketchError(f"the prevalences of {len(labels)} labels must add up to 1, got {shown}")
    return tuple(shares)


def confusion_tables(given: Any, jurors: Sequence[str], labels: Sequence[Label]) -> tuple[tuple[Row, ...], ...]:
    """Parse a confusion matrix per juror, from one number for all, or an entry for each.

    Returns
    -------
    nested tuples of Fraction
        Juror, true label, label given.
    """
    if isinstance(given, Mapping):
        if unknown := [name for name in given if name not in jurors]:
            raise SketchError(f"accuracy names the juror {unknown[0]!r}; there are: {', '.join(jurors)}")
        if absent := [name for name in jurors if name not in given]:
            raise SketchError(f"accuracy has no entry for juror {absent[0]!r}")
        given = [given[name] for name in jurors]
    if _is_number(given):
        given = [given] * len(jurors)
    if len(given) != len(jurors):
        raise SketchError(f"{len(jurors)} jurors need {len(jurors)} accuracies, got {len(given)}")
    return tuple(_table(entry, labels, name) for entry, name in zip(given, jurors, strict=True))


def _table(given: Any, labels: Sequence[Label], juror: str) -> tuple[Row, ...]:
    """Parse a confusion matrix: a number, one per label, or the matrix itself."""
    size, what = len(labels), f"the accuracy of juror {juror!r}"
    if isinstance(given, Mapping) and set(given) != set(labels):
        raise SketchError(f"{what} needs an entry for each of {', '.join(map(str, labels))}, and for no other label")
    entry: Any = [given[label] for label in labels] if isinstance(given, Mapping) else given
    rows: list[Any] = [entry] * size if _is_number(entry) else list(entry)
    if len(rows) != size:
        raise SketchError(f"{what} needs one number, or {size} (one per label), got {len(rows)}")
    if all(map(_is_number, rows)):
        right = [parse_probability(value, what) for value in rows]
        return tuple(tuple(r if k == a else (1 - r) / (size - 1) for k in range(size)) for a, r in enumerate(right))
    table = tuple(
        tuple(parse_probability(value, what) for value in ([row] if _is_number(row) else row)) for row in rows
    )
    if any(len(row) != size or sum(row) != 1 for row in table):
        raise SketchError(
            f"each row of the confusion matrix of juror {juror!r} must have {size} shares that add up to 1"
        )
    return table


# -- the model of a jury --

_MAX_CELLS = 1 << 16
_MAX_JURORS = 100_000
_STEP = 40  # multiples of 1/40 are tried as shifts first: small denominators make small exact tests


@dataclass(frozen=True)
class Shift:
    """A latent shift that jurors share on one true label: up by `up` or down by `down`; a sign for each member."""

    members: tuple[int, ...]
    signs: tuple[int, ...]
    up: Fraction
    down: Fraction

    @property
    def chance_up(self) -> Fraction:
        """The probability of an upward shift, so that its mean is 0."""
        return self.down / (self.up + self.down)


@dataclass(frozen=True, kw_only=True)
class JuryModel:
    """Who the jurors are and how they err; build one with `jury_model`."""

    jurors: tuple[str, ...]
    labels: tuple[Label, ...]
    prevalence: Row  #: of each label
    confusion: tuple[tuple[Row, ...], ...]  #: juror, true label, label given
    shifts: tuple[tuple[Shift, ...], ...]  #: of each true label

    def shares(self) -> dict[tuple[tuple[int, ...], int], Fraction]:
        """Compute the share of every decision tuple and true label, exactly; those of share 0 are left out.

        Returns
        -------
        dict
            (decisions, true label) as positions of labels -> Fraction.
        """
        size, width = len(self.labels), len(self.jurors)
        if size ** (width + 1) > _MAX_CELLS:
            raise SketchError(
                f"{size} labels and {width} jurors have {size}^{width} decision tuples, too many to list exactly; "
                "simulate votes instead (without exact), or fewer jurors"
            )
        shares = {}
        for truth, share in enumerate(self.prevalence):
            states = self._states(truth)
            for decisions in itertools.product(range(size), repeat=width):
                chances = (
                    math.prod((row[k] for row, k in zip(rows, decisions, strict=True)), start=weight)
                    for weight, rows in states
                )
                if chance := share * sum(chances):
                    shares[decisions, truth] = chance
        return shares

    def _states(self, truth: int) -> list[tuple[Fraction, list[Row]]]:
        """List every combination of the shifts of a label: its chance, and each juror's answers under it."""
        shifts = self.shifts[truth]
        states = []
        for ups in itertools.product((True, False), repeat=len(shifts)):
            weight, right = Fraction(1), [table[truth][truth] for table in self.confusion]
            for is_up, shift in zip(ups, shifts, strict=True):
                weight *= shift.chance_up if is_up else 1 - shift.chance_up
                for member, sign in zip(shift.members, shift.signs, strict=True):
                    right[member] += sign * (shift.up if is_up else -shift.down)
            rows = []
            for table, share in zip(self.confusion, right, strict=True):  # errors keep their proportions
                row, wrong = table[truth], 1 - table[truth][truth]
                others = [x / wrong if wrong else Fraction(1, len(row) - 1) for x in row]
                rows.append(tuple(share if k == truth else (1 - share) * x for k, x in enumerate(others)))
            states.append((weight, rows))
        return states


def jury_model(
    *,
    jurors: int | Sequence[str] = 3,
    labels: Sequence[Label] = ("A", "B"),
    prevalence: Any = None,
    accuracy: Any = "0.8",
    pairs: Any = 0,
    groups: Mapping[Sequence[str], Any] | None = None,
    difficulty: Any = 0,
) -> JuryModel:
    """Build a jury with these statistics; numbers are taken as the decimals they are written as.

    Parameters
    ----------
    jurors
        How many, or their names.
    prevalence
        One share per label; for two labels the first alone is enough. Default: all equal.
    accuracy
        One number for all, or one entry per juror (a sequence, or a mapping by name): a number, one per label, or
        a confusion matrix with one row per true label.
    pairs, groups, difficulty
        Error correlations Γ on every label: of the first and second juror, third and fourth …; of named groups, which
        must not overlap; of all jurors, because items differ in difficulty. They add up.

    Returns
    -------
    JuryModel

    Examples
    --------
    >>> jury = jury_model(accuracy=["0.8", ("0.9", "0.7"), "0.6"], prevalence="0.4", pairs="0.03")
    >>> jury.prevalence, jury.confusion[1]
    ((Fraction(2, 5), Fraction(3, 5)), ((Fraction(9, 10), Fraction(1, 10)), (Fraction(3, 10), Fraction(7, 10))))
    >>> [shift.members for shift in jury.shifts[0]]
    [(0, 1)]
    """
    names = juror_names(jurors)
    labels = tuple(labels)
    if len(labels) < 2 or len(set(labels)) < len(labels):
        raise SketchError(f"a jury needs two different labels or more, got {', '.join(map(str, labels)) or 'none'}")
    tables = confusion_tables(accuracy, names, labels)
    of_pairs, of_all = fraction(pairs, "pairs"), fraction(difficulty, "difficulty")
    shared: list[tuple[tuple[int, ...], Fraction]] = [(tuple(range(len(names))), of_all)]  # who shares how much
    shared += [((k - 1, k), of_pairs) for k in range(1, len(names), 2)]
    taken: set[int] = set()
    for group, gamma in (groups or {}).items():
        members = []
        for name in map(str, (group.split(",") if isinstance(group, str) else group)):
            known = name if name in names else name.strip()
            if known not in names:
                raise SketchError(f"a group names the juror {name!r}; there are: {', '.join(names)}")
            members.append(names.index(known))
        if len(members) < 2 or len({*taken, *members}) < len(taken) + len(members):
            raise SketchError(f"a group needs two jurors or more, each once and in no other group, got {group!r}")
        taken |= set(members)
        shared.append((tuple(members), fraction(gamma, "the correlation of a group")))
    if (of_all or of_pairs) and len(names) < 2:
        raise SketchError("one juror alone cannot share errors")
    shifts = tuple(_shifts(names, [table[a][a] for table in tables], shared, label) for a, label in enumerate(labels))
    return JuryModel(
        jurors=names, labels=labels, prevalence=prevalences(prevalence, labels), confusion=tables, shifts=shifts
    )


def juror_names(jurors: int | Sequence[str]) -> tuple[str, ...]:
    """Name the jurors: as given, or 1, 2, 3 … for a number of them.

    Returns
    -------
    tuple of str
    """
    given = None if isinstance(jurors, int) or hasattr(jurors, "__index__") else tuple(map(str, jurors))
    count = int(jurors) if given is None else len(given)  # type: ignore[arg-type]  # a number of Python or numpy
    if not 1 <= count <= _MAX_JURORS:
        raise SketchError(f"a jury needs one juror or more, and at most {_MAX_JURORS:,}; got {count:,}")
    names = tuple(map(str, range(1, count + 1))) if given is None else given
    if repeated := [name for name, times in Counter(names).items() if times > 1]:
        raise SketchError(f"jurors need different names, but two are called {repeated[0]!r}")
    return names


def _shifts(
    jurors: Sequence[str],
    accuracies: Sequence[Fraction],
    shared: Sequence[tuple[tuple[int, ...], Fraction]],
    label: Label,
) -> tuple[Shift, ...]:
    """Find shifts that give these correlations and leave every chance between 0 and 1."""
    room_up, room_down = [1 - accuracy for accuracy in accuracies], list(accuracies)
    shifts = []
    for members, gamma in shared:
        if not gamma:
            continue
        if gamma < 0 and len(members) > 2:
            raise SketchError(f"only two jurors can share a negative correlation, got {gamma} for {len(members)}")
        signs = (1, -1) if gamma < 0 else (1,) * len(members)
        ups = [room_up[i] if s > 0 else room_down[i] for i, s in zip(members, signs, strict=True)]
        downs = [room_down[i] if s > 0 else room_up[i] for i, s in zip(members, signs, strict=True)]
        ends = _ends(abs(gamma), min(ups), min(downs))
        if ends is None:
            who = format_names((jurors[i] for i in members), 6)
            raise SketchError(
                f"jurors {who} with these accuracies cannot share an error correlation of {float(gamma):g} on items of "
                f"label {str(label)!r}: at most {float(min(ups) * min(downs)):.4g} is possible beside what they share "
                "already"
            )
        up, down = ends
        shifts.append(Shift(members, signs, up, down))
        for i, sign in zip(members, signs, strict=True):
            room_up[i] -= up if sign > 0 else down
            room_down[i] -= down if sign > 0 else up
    return tuple(shifts)


def _ends(gamma: Fraction, most_up: Fraction, most_down: Fraction) -> tuple[Fraction, Fraction] | None:
    """Find a and b with ab = Γ that use up nearly equal parts of the available room: others may need the rest."""
    if gamma > most_up * most_down:
        return None
    ideal = math.sqrt(gamma * most_up / most_down)
    steps = range(max(1, math.floor(ideal * _STEP * 0.75)), math.ceil(ideal * _STEP * 1.3) + 1)
    nearby = [Fraction(k, _STEP) for k in steps if 0.75 * ideal <= k / _STEP <= 1.3 * ideal]
    nearby += [Fraction(ideal).limit_denominator(1000), most_up]  # the last fits whenever anything does
    fitting = [up for up in nearby if 0 < up <= most_up and gamma / up <= most_down]
    # The smaller these denominators, the smaller the smallest exact test.
    best = min(
        fitting[:-1] or fitting, key=lambda up: (gamma / up).denominator * (gamma / (gamma + up * up)).denominator
    )
    return best, gamma / best


# -- votes drawn from a jury --

_BLOCK = 1 << 22  # cells drawn at once
_MAX_VOTES = 1 << 32  # a byte each, held at once
_MAX_COUNT = (1 << 63) - 1


@dataclass(frozen=True, eq=False)
class Simulation:
    """Votes, the true label of every row, and the jury they came from."""

    model: JuryModel
    votes: Votes
    truth: Integers  #: the position of each row's true label among the labels

    @cached_property
    def sketch(self) -> Sketch:
        """The counts of decision tuples."""
        return Sketch.from_votes(self.votes)

    @property
    def key(self) -> Key:
        """The answer key."""
        return Key.from_array(np.array(self.votes.labels, dtype=object)[self.truth])

    @cached_property
    def score(self) -> KeyedEvaluation:
        """The statistics and error correlations of this very test, exactly."""
        return score_labels(self.votes, self.key)

    def __repr__(self) -> str:
        return f"Simulation({self.votes.total:,} items, {len(self.votes.jurors)} jurors)"


@verb()
def simulate(
    items: int | None = None,
    *,
    jurors: int | Sequence[str] = 3,
    labels: Sequence[Label] = ("A", "B"),
    prevalence: Any = None,
    accuracy: Any = "0.8",
    pairs: Any = 0,
    groups: Mapping[Sequence[str], Any] | None = None,
    difficulty: Any = 0,
    missing: Any = 0,
    votes_per_item: int | None = None,
    exact: bool = False,
    seed: int = 0,
) -> Simulation:
    """Simulate the votes of a panel with these statistics.

    Parameters
    ----------
    items
        The number of items. With `exact`, the default is the smallest possible number.
    jurors, labels, prevalence, accuracy, pairs, groups, difficulty
        The panel. Correlations of pairs, groups and difficulty are covariances (the paper's Γ), on every label.
    missing, votes_per_item
        The probability that a vote is missing (one number, or one per juror), or how many jurors vote on each item.
    exact
        Without random draws: whole counts of items, so that every statistic and every error correlation has exactly the
        given value.
    seed
        Equal seeds give equal votes.

    Returns
    -------
    Simulation

    Examples
    --------
    >>> test = simulate(exact=True, accuracy=["0.8", "0.7", "0.9"], prevalence="0.4")
    >>> test.votes.total, test.score.prevalence["A"], test.score.correlation("A", ["1", "2"])
    (2500, Fraction(2, 5), Fraction(0, 1))
    >>> round(float(simulate(100_000, accuracy="0.8", pairs="0.05", seed=1).score.correlation("A", ["1", "2"])), 2)
    0.05
    """
    model = jury_model(
        jurors=jurors, labels=labels, prevalence=prevalence, accuracy=accuracy,
        pairs=pairs, groups=groups, difficulty=difficulty,
    )  # fmt: skip
    size = len(model.jurors)
    chances = [missing] * size if isinstance(missing, (str, Number)) else list(missing)
    if len(chances) != size:
        raise SketchError(f"missing needs one probability, or {size} (one per juror), got {len(chances)}")
    missing_rates = [float(parse_probability(chance, "missing")) for chance in chances]
    if not isinstance(items, (int, np.integer, type(None))):
        raise OptionError(f"items must be a whole number, got {items!r}")
    if exact:
        if any(missing_rates) or votes_per_item is not None:
            raise OptionError("an exact test has no missing votes; to simulate them, leave exact out")
        return exact_test(model, items)
    if items is None or items < 1:
        raise OptionError(f"give the number of items to simulate, at least 1; got {'none' if items is None else items}")
    if items * len(model.jurors) > _MAX_VOTES:
        raise SketchError(
            f"{items:,} items are too many votes to hold at once (at most {_MAX_VOTES:,}); simulate parts with seeds "
            "of their own, or an exact test"
        )
    if not isinstance(seed, (int, np.integer)) or seed < 0:
        raise OptionError(f"seed must be a whole number from 0, got {seed!r}")
    rng = np.random.default_rng(seed)
    codes, truth = _draw(model, items, rng)
    if votes_per_item is not None:
        if not 1 <= votes_per_item <= len(model.jurors):
            raise SketchError(
                f"votes_per_item must lie between 1 and {len(model.jurors)}, the number of jurors; got {votes_per_item}"
            )
        order = np.argsort(rng.random(codes.shape), axis=1)
        np.put_along_axis(codes, order[:, votes_per_item:], NO_VOTE, axis=1)
    for i, rate in enumerate(missing_rates):
        if rate:
            codes[rng.random(items) < rate, i] = NO_VOTE
    votes = Votes.from_matrix(codes, items=np.arange(1, items + 1), jurors=model.jurors, labels=model.labels)
    return Simulation(model, votes, truth)


def exact_test(model: JuryModel, items: int | None = None) -> Simulation:
    """Make whole counts in exactly the model's shares, one row per decision tuple and true label.

    Returns
    -------
    Simulation
    """
    shares = model.shares()
    least = math.lcm(*(value.denominator for value in shares.values()))
    items = least if items is None else items
    if least > _MAX_COUNT:
        raise SketchError(
            f"this jury has whole counts only on multiples of {_large(least)} items, more than can be counted; give it "
            "rounder numbers or fewer jurors"
        )
    if not 1 <= items <= _MAX_COUNT or items % least:
        raise SketchError(f"this jury has whole counts only on multiples of {least:,} items, got {_large(items)}")
    codes = np.array([decisions for decisions, _ in shares])
    counts = [int(value * items) for value in shares.values()]
    votes = Votes.from_matrix(codes, jurors=model.jurors, labels=model.labels, counts=counts)
    return Simulation(model, votes, np.array([truth for _, truth in shares]))


def _large(number: int) -> str:
    return f"{number:,}" if number < 10**18 else f"about 10^{len(str(number)) - 1}"


def _draw(model: JuryModel, items: int, rng: np.random.Generator) -> tuple[Any, Integers]:
    """Draw votes (items, jurors) as positions of labels, and the true labels, block by block.

    Each juror is right with its own chance plus the shared shifts; errors fall on the other labels.
    """
    width = len(model.jurors)
    codes = np.empty((items, width), dtype=code_type(len(model.labels)))
    truth = np.empty(items, dtype=np.int64)
    step = max(1, _BLOCK // width)
    prevalence, tables = np.array(model.prevalence, dtype=float), np.array(model.confusion, dtype=float)
    for first in range(0, items, step):
        block = slice(first, min(items, first + step))
        true = truth[block] = _pick(np.broadcast_to(prevalence, (block.stop - first, len(prevalence))), rng)
        shifts = np.zeros((len(true), width))
        for label, by_label in enumerate(model.shifts):
            met = np.flatnonzero(true == label)
            for shift in by_label:
                is_up = rng.random(len(met)) < float(shift.chance_up)
                size = np.where(is_up, float(shift.up), -float(shift.down))
                shifts[np.ix_(met, np.array(shift.members))] += size[:, None] * np.array(shift.signs)
        at = np.arange(len(true))
        for i in range(width):
            rows = tables[i, true]
            is_right = rng.random(len(true)) < rows[at, true] + shifts[:, i]
            rows[at, true] = 0.0
            none = rows.sum(axis=1) == 0  # a juror who is never wrong by itself errs on any other label
            rows[none] = 1.0
            rows[none, true[none]] = 0.0
            codes[block, i] = np.where(is_right, true, _pick(rows / rows.sum(axis=1, keepdims=True), rng))
    return codes, truth


def _pick(chances: Floats, rng: np.random.Generator) -> Integers:
    """Draw one position per row, each with its chance."""
    ends = np.cumsum(chances, axis=1)[:, :-1]
    return np.asarray((rng.random((len(chances), 1)) >= ends).sum(axis=1))
