"""AgreementStatistics."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from jurors._numeric import Floats, Integers
from jurors.errors import SketchError
from jurors.evaluate.agreement_coefficients import (
    BeyondChance,
    Coefficient,
    ExactAgreement,
    PairableVotes,
    PairKappa,
    Weights,
    interval,
    kendall_w,
    krippendorff_alpha,
    number_pairs,
    one_way,
    pair_kappas,
    two_way,
)
from jurors.evaluate.partition import vote_counts
from jurors.results import Columns, Drawable, Notes, Table
from jurors.sketch import Sketch
from jurors.sketch.pairs import Pairs
from jurors.votes import Label
from jurors.votes.recode import numerals

# How much the jurors agree, and how much of it chance would give: the coefficients people ask for, scale by scale.
#
#     labels   agreement, Fleiss' kappa, Krippendorff's alpha, Gwet's AC1, Cohen's kappa of each pair and their mean
#     levels   the same, and with weights: ordinal alpha, AC2, linear and quadratic kappas; ICC, Kendall's W
#     numbers  alpha for intervals, ranks and ratios, correlation and quadratic kappa of each pair, ICC, Kendall's W
# None measures accuracy: jurors who share an error agree on it.
#
# No library was found that takes counts of decision tuples: krippendorff wants one column per item, irrCAC one row
# per item, pingouin one row per vote, statsmodels' fleiss_kappa no missing votes, scikit-learn's cohen_kappa_score one
# pair per call. The tests compare.


_SHOWN_PAIRS = 30
_MOST_VOTES = 20_000_000  # beyond so many, pairs have no intervals: each vote stands beside each other one
_KAPPAS: dict[Weights, str] = {"nominal": "cohen_kappa", "linear": "linear_kappa", "quadratic": "quadratic_kappa"}
_HEADS = {"cohen_kappa": "Cohen's kappa"}


@dataclass(frozen=True, eq=False, kw_only=True)
class AgreementStatistics(Drawable):
    """Coefficients of agreement; None where one does not exist (chance agrees always, or no item has two votes)."""

    items: int
    jurors: tuple[str, ...]
    labels: tuple[Label, ...]
    scale: Literal["nominal", "ordinal", "interval"] = "nominal"
    scale_why: str = ""  #: by what that is known, in a line
    level: float = 0.95
    agreement: Fraction | None  #: P_o: two votes on the same item are the same with this chance
    fleiss_kappa: Fraction | None
    krippendorff_alpha: Fraction | None  #: of unordered labels; `coefficients` has the others
    gwet_ac1: Fraction | None
    coefficients: tuple[Coefficient, ...] = ()  #: all that suit the scale, with intervals
    first: Integers = field(repr=False)  #: positions of each pair's first juror, and
    second: Integers = field(repr=False)  #: of its second; pairs without a common item are left out
    pair_items: Integers = field(repr=False)  #: items that both voted on
    pair_agreement: Floats = field(repr=False)  #: the share on which they said the same
    cohen_kappa: Floats = field(repr=False)  #: NaN where both always said the same one label, and of numbers
    correlation: Floats | None = field(default=None, repr=False)  #: Pearson's, of numbers
    kappas: tuple[PairKappa, ...] = field(default=(), repr=False)  #: with the weights that suit the scale, and errors
    left_out: tuple[str, ...] = ()  #: what is not worked out of so many votes: names of coefficients and of columns

    def __getitem__(self, name: str) -> Coefficient:
        """A coefficient by its name, and its weights where several have it: "krippendorff_alpha ordinal"."""
        for one in self.coefficients:
            if name in (one.name, f"{one.name} {one.weights}"):
                return one
        known = ", ".join(f"{one.name} {one.weights or ''}".strip() for one in self.coefficients)
        raise KeyError(f"there is no {name!r}; there are: {known}" + f". {self.about_left_out}" * bool(self.left_out))

    @property
    def about_left_out(self) -> str:
        """What is not worked out of so many votes, in a line; "" where everything is."""
        if not self.left_out:
            return ""
        names = ", ".join(name.replace("_", " ") for name in self.left_out)
        most = f"beyond {_MOST_VOTES:,} votes (those of equal decision tuples counted once)"
        return f"Left out {most}: {names}. For these take some of the items, or of the jurors."

    def pairs(self) -> list[tuple[str, str, int, float, float | None]]:
        """Each pair's names, common items, agreement and Cohen's kappa."""
        names = np.array(self.jurors, dtype=object)
        kappa = [None if k != k else k for k in self.cohen_kappa.tolist()]
        shares = self.pair_agreement.tolist()
        pairs = zip(names[self.first], names[self.second], self.pair_items.tolist(), shares, kappa, strict=True)
        return list(pairs)

    def _document(self) -> dict[str, Any]:
        columns = self._columns()
        keys, values = list(columns)[2:], list(columns.values())
        pairs = [
            {"jurors": [i, j], **dict(zip(keys, rest, strict=True))}
            for i, j, *rest in zip(*(v.tolist() for v in values), strict=True)
        ]
        about = {"items": self.items, "jurors": self.jurors, "labels": self.labels, "scale": self.scale}
        about["scale_why"] = self.scale_why
        exact = {name: getattr(self, name) for name in ("agreement", "fleiss_kappa", "krippendorff_alpha", "gwet_ac1")}
        rest = {"level": self.level, "coefficients": [one.to_dict() for one in self.coefficients], "pairs": pairs}
        return {**about, **exact, **rest, "left_out": self.left_out}

    def _columns(self) -> Columns:
        """One row per pair."""
        names = np.array(self.jurors, dtype=object)
        columns: dict[str, Any] = {
            "first": names[self.first],
            "second": names[self.second],
            "items": self.pair_items,
            "agreement": self.pair_agreement,
        }
        if self.correlation is not None:
            columns["correlation"] = self.correlation
        if self.scale != "interval":
            columns["cohen_kappa"] = self.cohen_kappa
        for one in self.kappas:
            name = _KAPPAS[one.weights]
            low, high = interval(one.kappa, one.error, self.pair_items, self.level)
            columns |= {name: columns.get(name, one.kappa), f"{name}_low": low, f"{name}_high": high}
        return columns

    def _blocks(self) -> tuple[Table, Notes, Table]:
        """The whole jury's coefficients, and the pairs' (the first thirty), to read."""
        cells = tuple(
            (_named(one), _shown(one.value), _shown(one.low), _shown(one.high), f"{one.items:,}")
            for one in self.coefficients
        )
        about = f"Agreement of {len(self.jurors)} jurors on {self.items:,} items (it is not accuracy)"
        whole = Table(("statistic", "value", "low", "high", "items"), cells, title=about, right=(1, 2, 3, 4))
        return whole, Notes(tuple(filter(None, (self._about_intervals(), self.about_left_out)))), self._pair_table()

    def _about_intervals(self) -> str:
        ratios = ", those of icc by F ratios" if self.scale != "nominal" else ""
        return f"{self.level:.0%} intervals: where other such items would put it (jackknife over items){ratios}."

    def _pair_table(self) -> Table:
        columns = {name: values[:_SHOWN_PAIRS].tolist() for name, values in self._columns().items()}
        last = _KAPPAS[self.kappas[-1].weights] if self.kappas else ""
        ends = {f"{last}_low": "low", f"{last}_high": "high"}  # of the kappa that suits the scale best
        kept = [name for name in columns if name in ends or not name.endswith(("_low", "_high"))]
        heads = tuple(ends.get(name, _HEADS.get(name, name.replace("_", " "))) for name in kept)
        shown: dict[str, Callable[[Any], Any]] = {"first": str, "second": str, "items": "{:,}".format}
        rows = zip(*([shown.get(name, _shown)(x) for x in columns[name]] for name in kept), strict=True)
        more = len(self.first) > _SHOWN_PAIRS
        title = "Pairs" + (f" (the first {_SHOWN_PAIRS} of {len(self.first):,})" if more else "")
        return Table(heads, tuple(rows), title=title, right=tuple(range(2, len(kept))))


def agreement_statistics(sketch: Sketch, *, level: float = 0.95) -> AgreementStatistics:
    """How much the jurors agree, by the coefficients that suit the scale of their votes.

    Examples
    --------
    >>> pair = agreement_statistics(Sketch.from_counts({"AA": 20, "AB": 5, "BA": 10, "BB": 15}, jurors=("i", "j")))
    >>> pair.agreement, round(float(pair.cohen_kappa[0]), 3), pair.gwet_ac1
    (Fraction(7, 10), 0.4, Fraction(41, 101))
    >>> round(pair["gwet_ac1"].low, 2), round(pair["gwet_ac1"].high, 2)
    (0.07, 0.62)
    """
    if len(sketch.jurors) < 2:
        raise SketchError(f"agreement needs at least 2 jurors, got {len(sketch.jurors)}: {', '.join(sketch.jurors)}")
    scale = sketch.tuples.scale
    pairs = Pairs(sketch)
    kappas, correlation = _pairwise(sketch, pairs, level)
    exact = ExactAgreement() if scale == "interval" else ExactAgreement.of(sketch)
    whole, means = (*_of_labels(sketch, exact, level), *_of_levels(sketch, level)), (one.mean for one in kappas)
    return AgreementStatistics(
        items=sketch.items,
        jurors=sketch.jurors,
        labels=sketch.labels,
        scale=scale,
        scale_why=sketch.tuples.scale_why,
        level=level,
        **vars(exact),
        coefficients=(*whole, *means, *_of_numbers(sketch, level)),
        first=pairs.first,
        second=pairs.second,
        pair_items=pairs.items.astype(np.int64),
        pair_agreement=pairs.agreed / pairs.items,
        cohen_kappa=_cohen(pairs, len(sketch.labels)) if scale != "interval" else np.full(len(pairs.first), np.nan),
        correlation=correlation,
        kappas=kappas,
        left_out=_left_out(sketch),
    )


def _of_labels(sketch: Sketch, exact: ExactAgreement, level: float) -> Iterator[Coefficient]:
    """The coefficients of unordered labels, whose values are exact."""
    if sketch.tuples.scale == "interval":
        return
    by_label = BeyondChance(vote_counts(sketch), sketch.counts, "nominal")
    alpha = krippendorff_alpha(_said(sketch), "nominal", level)
    for one in (by_label.agreement(level), by_label.fleiss(level), alpha, by_label.gwet(level)):
        yield replace(one, value=getattr(exact, one.name))


def _of_levels(sketch: Sketch, level: float) -> Iterator[Coefficient]:
    """Alpha and AC2 with the weights that suit levels and numbers."""
    scale = sketch.tuples.scale
    suited: dict[str, tuple[Weights, ...]] = {"ordinal": ("ordinal",), "interval": ("interval", "ordinal", "ratio")}
    for weights in suited.get(scale, ()):
        yield krippendorff_alpha(_said(sketch), weights, level)
    if scale == "ordinal":
        votes, steps = vote_counts(sketch), ("ordinal", "linear", "quadratic")
        yield from (BeyondChance(votes, sketch.counts, weights).gwet(level) for weights in steps)  # type: ignore[arg-type]


def _of_numbers(sketch: Sketch, level: float) -> Iterator[Coefficient]:
    """ICC and Kendall's W; of levels, their places in the order are the numbers."""
    if sketch.tuples.scale == "nominal":
        return
    (values, place), full = _levels(sketch), sketch.complete()
    row, _, code = sketch.tuples.triples()
    yield from one_way(row, values[place[code]], sketch.counts, level)
    codes = place[full.tuples.codes]
    yield from two_way(codes, values, full.counts, level)
    yield kendall_w(codes, len(values), full.counts, level)


def _pairwise(sketch: Sketch, pairs: Pairs, level: float) -> tuple[tuple[PairKappa, ...], Floats | None]:
    if sketch.tuples.n_votes > _MOST_VOTES:
        return (), None
    if sketch.tuples.scale == "interval":
        numbers = number_pairs(sketch, _numbers(sketch.labels), pairs.first, pairs.second, level)
        return (numbers.kappa,), numbers.correlation
    weights: tuple[Weights, ...] = tuple(_KAPPAS) if sketch.tuples.scale == "ordinal" else ("nominal",)
    return tuple(pair_kappas(sketch, pairs.first, pairs.second, weights, level)), None


def _left_out(sketch: Sketch) -> tuple[str, ...]:
    """What `_pairwise` would have given of fewer votes."""
    if sketch.tuples.n_votes <= _MOST_VOTES:
        return ()
    if sketch.tuples.scale == "interval":
        return ("mean_kappa", "quadratic_kappa", "correlation")
    weighted = ("linear_kappa", "quadratic_kappa") if sketch.tuples.scale == "ordinal" else ()
    return ("mean_kappa", "cohen_kappa_low", "cohen_kappa_high", *weighted)


def _said(sketch: Sketch) -> PairableVotes:
    row, _, code = sketch.tuples.triples()
    values, place = _levels(sketch)
    return PairableVotes.of(row, place[code], values, sketch.counts)


def _levels(sketch: Sketch) -> tuple[Floats, Integers]:
    """The numbers that were said, lowest first, and the place of each label among them; of labels, their own places."""
    if sketch.tuples.scale != "interval":
        return np.arange(len(sketch.labels), dtype=np.float64), np.arange(len(sketch.labels))
    values, place = np.unique(_numbers(sketch.labels), return_inverse=True)
    return values, place


def _numbers(labels: tuple[Label, ...]) -> Floats:
    read = numerals(labels)
    if read.doubt:
        raise SketchError(read.doubt, code="two_readings")
    if None in read.sizes:
        odd = labels[read.sizes.index(None)]
        message = f"{odd!r} is no number: leave it out (--missing VALUE), or say --scale nominal"
        raise SketchError(message, code="bad_vote")
    return np.array(read.sizes, dtype=np.float64)


def _cohen(pairs: Pairs, labels: int) -> Floats:
    chance = np.zeros(len(pairs.first))
    for label in range(labels):
        chance += np.multiply(*pairs.said(label))
    observed, expected = pairs.agreed * pairs.items, chance
    room = pairs.items**2 - expected
    return np.divide(observed - expected, room, out=np.full_like(room, np.nan), where=room > 0)


def _named(one: Coefficient) -> str:
    return one.name.replace("_", " ") + ("" if one.weights in (None, "nominal") else f", {one.weights}")


def _shown(value: Fraction | float | None) -> str | None:
    return None if value is None or value != value else f"{float(value):.4f}"
