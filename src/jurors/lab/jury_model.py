"""A jury whose statistics are chosen: prevalences, confusion matrices, and error correlations exactly as the paper's Γ.

Jurors who share an error get a hidden shift Z in common: on an item of true label l, juror i is right with chance
P_il + Z, where Z = a with chance b/(a+b) and -b otherwise. Its mean is 0 and its variance ab, so that given the label
    Γ_ij = cov(i right, j right) = ab   for every two who share it,   Γ_ijk = ab(a - b)   for every three,
and shifts drawn apart add up. Nothing is approximated: with rational a and b every decision tuple has a rational share.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from jurors.errors import SketchError
from jurors.lab.jury_numbers import Row, confusion_tables, fraction, prevalences
from jurors.names import some
from jurors.votes import Label

_MOST_CELLS = 1 << 16
_MOST_JURORS = 100_000
_STEP = 40  # shifts are looked for among the multiples of 1/40 first: small denominators make small exact tests


@dataclass(frozen=True)
class Shift:
    """What some jurors share on one true label: up by `up` or down by `down`; a sign for each member."""

    members: tuple[int, ...]
    signs: tuple[int, ...]
    up: Fraction
    down: Fraction

    @property
    def chance_up(self) -> Fraction:
        """How often the shift is upwards, so that its mean is 0."""
        return self.down / (self.up + self.down)


@dataclass(frozen=True, kw_only=True)
class JuryModel:
    """Who the jurors are and how they err; build one with `jury_model`."""

    jurors: tuple[str, ...]
    labels: tuple[Label, ...]
    prevalence: Row  #: of each label
    confusion: tuple[tuple[Row, ...], ...]  #: juror, true label, label said
    shifts: tuple[tuple[Shift, ...], ...]  #: true label -> what jurors share on its items

    def shares(self) -> dict[tuple[tuple[int, ...], int], Fraction]:
        """The share of every decision tuple and true label, exactly; those that never happen are left out."""
        size, width = len(self.labels), len(self.jurors)
        if size ** (width + 1) > _MOST_CELLS:
            raise SketchError(
                f"{size} labels and {width} jurors have {size}^{width} decision tuples, too many to list exactly; "
                "simulate votes instead (without exact), or fewer jurors"
            )
        shares = {}
        for truth, share in enumerate(self.prevalence):
            states = list(self._states(truth))
            for decisions in itertools.product(range(size), repeat=width):
                chance = sum((weight * _product(rows, decisions) for weight, rows in states), Fraction(0))
                if share * chance:
                    shares[decisions, truth] = share * chance
        return shares

    def correlation(self, label: Label, jurors: Sequence[str]) -> Fraction:
        """The paper's Γ of two or three jurors on items of this true label."""
        at = [self.jurors.index(name) for name in jurors]
        if len(set(at)) not in (2, 3) or len(set(at)) < len(at):
            raise SketchError(f"a jury's error correlations are known of two or three jurors, got {', '.join(jurors)}")
        total = Fraction(0)
        for shift in self.shifts[self.labels.index(label)]:
            if set(at) <= set(shift.members):
                sign = math.prod(shift.signs[shift.members.index(k)] for k in at)
                total += sign * shift.up * shift.down * (1 if len(at) == 2 else shift.up - shift.down)
        return total

    def _states(self, truth: int) -> list[tuple[Fraction, list[Row]]]:
        """Every combination of the shifts of a label: its chance, and how each juror answers then."""
        shifts = self.shifts[truth]
        states = []
        for ups in itertools.product((True, False), repeat=len(shifts)):
            weight, moved = Fraction(1), [table[truth][truth] for table in self.confusion]
            for is_up, shift in zip(ups, shifts, strict=True):
                weight *= shift.chance_up if is_up else 1 - shift.chance_up
                for member, sign in zip(shift.members, shift.signs, strict=True):
                    moved[member] += sign * (shift.up if is_up else -shift.down)
            rows = [shifted_row(table[truth], truth, right) for table, right in zip(self.confusion, moved, strict=True)]
            states.append((weight, rows))
        return states


def shifted_row(row: Row, truth: int, right: Fraction) -> Row:
    """A juror's answers when right with this chance; errors fall on the other labels as they always do."""
    wrong = 1 - row[truth]
    others = [x / wrong if wrong else Fraction(1, len(row) - 1) for x in row]
    return tuple(right if k == truth else (1 - right) * x for k, x in enumerate(others))


def _product(rows: Sequence[Row], decisions: tuple[int, ...]) -> Fraction:
    return math.prod((row[said] for row, said in zip(rows, decisions, strict=True)), start=Fraction(1))


def jury_model(
    *,
    jurors: int | Sequence[str] = 3,
    labels: Sequence[Label] = ("A", "B"),
    prevalence: Any = None,
    accuracy: Any = "0.8",
    pairs: Any = 0,
    groups: Mapping[Sequence[str], Any] | None = None,
    difficulty: Any = 0,
    towards: JuryModel | None = None,
) -> JuryModel:
    """A jury with these statistics; numbers are taken as the decimals they are written as.

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
    towards
        Another jury that this one is to drift to: shared errors must be possible for both.

    Examples
    --------
    >>> jury = jury_model(jurors=4, accuracy=["0.8", ("0.9", "0.7"), "0.6", "0.75"], pairs="0.03", difficulty="0.01")
    >>> jury.correlation("A", ["1", "2"]), jury.correlation("B", ["1", "3"])
    (Fraction(1, 25), Fraction(1, 100))
    """
    names = juror_names(jurors)
    kinds = tuple(labels)
    if len(kinds) < 2 or len(set(kinds)) < len(kinds):
        raise SketchError(f"a jury needs two different labels or more, got {', '.join(map(str, kinds)) or 'none'}")
    tables = confusion_tables(accuracy, names, kinds)
    wanted = _wanted(names, fraction(pairs, "pairs"), groups or {}, fraction(difficulty, "difficulty"))
    both = [tables] if towards is None else [tables, towards.confusion]
    shifts = tuple(
        _shifts(names, [[t[a][a] for t in each] for each in both], wanted, kinds[a]) for a in range(len(kinds))
    )
    return JuryModel(
        jurors=names, labels=kinds, prevalence=prevalences(prevalence, kinds), confusion=tables, shifts=shifts
    )


def juror_names(jurors: int | Sequence[str]) -> tuple[str, ...]:
    """The names given, or 1, 2, 3 … for a number of jurors."""
    listed = None if isinstance(jurors, int) or hasattr(jurors, "__index__") else tuple(map(str, jurors))
    many = int(jurors) if listed is None else len(listed)  # type: ignore[arg-type]  # a number of Python or numpy
    if not 1 <= many <= _MOST_JURORS:
        raise SketchError(f"a jury needs one juror or more, and at most {_MOST_JURORS:,}; got {many:,}")
    names = tuple(map(str, range(1, many + 1))) if listed is None else listed
    if twice := [name for name, times in Counter(names).items() if times > 1]:
        raise SketchError(f"a jury needs jurors with names of their own, but two are called {twice[0]!r}")
    return names


def _wanted(
    jurors: Sequence[str], pairs: Fraction, groups: Mapping[Sequence[str], Any], difficulty: Fraction
) -> list[tuple[tuple[int, ...], Fraction]]:
    """Who shares how much: (members, Γ), without those that share nothing."""
    together: list[tuple[tuple[int, ...], Fraction]] = [(tuple(range(len(jurors))), difficulty)]
    together += [((k - 1, k), pairs) for k in range(1, len(jurors), 2)]
    taken: set[int] = set()
    for names, gamma in groups.items():
        members = []
        for name in map(str, (names.split(",") if isinstance(names, str) else names)):
            written = name if name in jurors else name.strip()
            if written not in jurors:
                raise SketchError(f"a group names the juror {name!r}; there are: {', '.join(jurors)}")
            members.append(jurors.index(written))
        if len(members) < 2 or len({*taken, *members}) < len(taken) + len(members):
            raise SketchError(f"a group needs two jurors or more, each once and in no other group, got {names!r}")
        taken |= set(members)
        together.append((tuple(members), fraction(gamma, "the correlation of a group")))
    if (difficulty or pairs) and len(jurors) < 2:
        raise SketchError("one juror alone shares no error with anybody")
    return [(members, gamma) for members, gamma in together if gamma]


def _shifts(
    jurors: Sequence[str],
    accuracies: Sequence[Sequence[Fraction]],
    wanted: Sequence[tuple[tuple[int, ...], Fraction]],
    label: Label,
) -> tuple[Shift, ...]:
    """Shifts that give these correlations and leave every chance between 0 and 1."""
    room_up = [min(1 - each[i] for each in accuracies) for i in range(len(jurors))]
    room_down = [min(each[i] for each in accuracies) for i in range(len(jurors))]
    shifts = []
    for members, gamma in wanted:
        if gamma < 0 and len(members) > 2:
            raise SketchError(f"only two jurors can share a negative correlation, got {gamma} for {len(members)}")
        signs = (1, -1) if gamma < 0 else (1,) * len(members)
        ups = [room_up[i] if s > 0 else room_down[i] for i, s in zip(members, signs, strict=True)]
        downs = [room_down[i] if s > 0 else room_up[i] for i, s in zip(members, signs, strict=True)]
        up, down = _ends(abs(gamma), min(ups), min(downs)) or _too_much(
            jurors, members, label, gamma, min(ups), min(downs)
        )
        shifts.append(Shift(members, signs, up, down))
        for i, sign in zip(members, signs, strict=True):
            room_up[i] -= up if sign > 0 else down
            room_down[i] -= down if sign > 0 else up
    return tuple(shifts)


def _ends(gamma: Fraction, most_up: Fraction, most_down: Fraction) -> tuple[Fraction, Fraction] | None:
    """a and b with ab = Γ that use up equal parts of the room there is, nearly: others may need the rest."""
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


def _too_much(
    jurors: Sequence[str], members: Sequence[int], label: Label, gamma: Fraction, up: Fraction, down: Fraction
) -> tuple[Fraction, Fraction]:
    who = some((jurors[i] for i in members), 6)
    raise SketchError(
        f"jurors {who} with these accuracies cannot share an error correlation of {float(gamma):g} on items of label "
        f"{str(label)!r}: at most {float(up * down):.4g} is possible beside what they share already"
    )
