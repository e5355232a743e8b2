"""How much the jurors agree, and how much of it chance would give, by the coefficients that suit the scale.

    labels   agreement, Fleiss' kappa, Krippendorff's alpha, Gwet's AC1, Cohen's kappa of each pair and their mean
    levels   the same, and with weights: ordinal alpha, AC2, linear and quadratic kappas; ICC, Kendall's W
    numbers  alpha for intervals, ranks and ratios, correlation and quadratic kappa of each pair, ICC, Kendall's W

In: a `Sketch`. Out: `AgreementStatistics`. None of them measures accuracy: jurors who share an error agree on it.
`agreement_coefficients` has the formulas.

No library takes counts of decision tuples: krippendorff takes one column per item, irrCAC one row per item, pingouin
one row per vote, statsmodels' fleiss_kappa no missing votes, scikit-learn's cohen_kappa_score one pair per call. The
tests compare with them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Literal, cast

import numpy as np

from jurors._numeric import Floats, Integers
from jurors.errors import SketchError
from jurors.evaluate.agreement_coefficients import (
    EXACT,
    BeyondChance,
    Coefficient,
    PairableVotes,
    PairKappa,
    Weights,
    exact_agreement,
    interval,
    kendall_w,
    krippendorff_alpha,
    number_pairs,
    one_way,
    pair_kappas,
    two_way,
)
from jurors.evaluate.card import shorten_names
from jurors.evaluate.partition import vote_counts
from jurors.options import Label
from jurors.results import Columns, Drawable, Notes, Table
from jurors.sketch.pairs import Pairs
from jurors.sketch.sketch import Sketch
from jurors.votes.codes import numerals

_SHOWN_PAIRS = 10  # that agree most, and that agree least
_LONGEST_NAME = 14
_MOST_VOTES = 20_000_000  # beyond so many, pairs have no intervals: each vote is paired with each other one
_KAPPAS: dict[Weights, str] = {"nominal": "cohen_kappa", "linear": "linear_kappa", "quadratic": "quadratic_kappa"}
_HEADS = {"cohen_kappa": "Cohen's kappa"}


@dataclass(frozen=True, eq=False, kw_only=True)
class AgreementStatistics(Drawable):
    """Coefficients of agreement; None where one does not exist (chance agrees always, or no item has two votes)."""

    _kind = "agreement"

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
    pair_agreement: Floats = field(repr=False)  #: the share on which they gave the same label
    cohen_kappa: Floats = field(repr=False)  #: NaN where both always gave the same one label, and of numbers
    correlation: Floats | None = field(default=None, repr=False)  #: Pearson's, of numbers
    kappas: tuple[PairKappa, ...] = field(default=(), repr=False)  #: with the weights that suit the scale, and errors
    left_out: tuple[str, ...] = ()  #: what is not computed for so many votes: names of coefficients and of columns

    def __getitem__(self, name: str) -> Coefficient:
        """A coefficient by its name, and its weights where several have it: "krippendorff_alpha ordinal"."""
        for coefficient in self.coefficients:
            if name in (coefficient.name, f"{coefficient.name} {coefficient.weights}"):
                return coefficient
        known = ", ".join(f"{c.name} {c.weights or ''}".strip() for c in self.coefficients)
        raise KeyError(
            f"there is no coefficient {name!r}; available: {known}" + f". {self.about_left_out}" * bool(self.left_out)
        )

    @property
    def about_left_out(self) -> str:
        """What is not computed for so many votes, in a line; "" where everything is."""
        if not self.left_out:
            return ""
        names = ", ".join(name.replace("_", " ") for name in self.left_out)
        most = f"beyond {_MOST_VOTES:,} votes (those of equal decision tuples counted once)"
        return f"Not computed {most}: {names}. To compute them, select fewer items or jurors."

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
        exact = {name: getattr(self, name) for name in EXACT}
        rest = {"level": self.level, "coefficients": [c.to_dict() for c in self.coefficients], "pairs": pairs}
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
        for pair in self.kappas:
            name = _KAPPAS[pair.weights]
            low, high = interval(pair.kappa, pair.error, self.pair_items, self.level)
            columns |= {name: columns.get(name, pair.kappa), f"{name}_low": low, f"{name}_high": high}
        return columns

    def _blocks(self) -> tuple[Table, Notes, Table]:
        """The whole jury's coefficients, and those of the pairs that agree most and least, to read."""
        cells = []
        for c in self.coefficients:
            name = c.name.replace("_", " ") + ("" if c.weights in (None, "nominal") else f", {c.weights}")
            cells.append((name, _shown(c.value), _shown(c.low), _shown(c.high), f"{c.items:,}"))
        about = f"Agreement of {len(self.jurors)} jurors on {self.items:,} items (agreement is not accuracy)"
        whole = Table(("statistic", "value", "low", "high", "items"), tuple(cells), title=about, right=(1, 2, 3, 4))
        ratios = "; F ratios for ICC" if self.scale != "nominal" else ""
        note = f"{self.level:.0%} intervals are for items of the same kind (jackknife over items{ratios})."
        last = _KAPPAS[self.kappas[-1].weights] if self.kappas else ""
        every = self._columns()
        order = np.argsort(-np.nan_to_num(np.asarray(every[last or "agreement"], dtype=float), nan=-2.0), kind="stable")
        more = len(order) > 2 * _SHOWN_PAIRS
        at = np.concatenate([order[:_SHOWN_PAIRS], order[-_SHOWN_PAIRS:]]) if more else order
        columns = {name: values[at].tolist() for name, values in every.items()}
        ends = {f"{last}_low": "low", f"{last}_high": "high"}  # of the kappa that suits the scale best
        others = {f"{name}{end}" for name in _KAPPAS.values() for end in ("", "_low", "_high")} - {last, *ends}
        names = [name for name in columns if name not in others]
        headers = tuple(ends.get(name, _HEADS.get(name, name.replace("_", " "))) for name in names)
        short = shorten_names(self.jurors, _LONGEST_NAME)
        shown: dict[str, Callable[[Any], Any]] = {
            "first": short.__getitem__,
            "second": short.__getitem__,
            "items": "{:,}".format,
        }
        rows = zip(*([shown.get(name, _shown)(x) for x in columns[name]] for name in names), strict=True)
        ends_shown = f"the {_SHOWN_PAIRS} that agree most and the {_SHOWN_PAIRS} that agree least, of {len(order):,}"
        title = "Pairs" + (f" ({ends_shown})" if more else "")
        pairs = Table(headers, tuple(rows), title=title, right=tuple(range(2, len(names))), width=80)
        return whole, Notes(tuple(filter(None, (note, self.about_left_out))), width=80), pairs


def agreement_statistics(sketch: Sketch, *, level: float = 0.95) -> AgreementStatistics:
    """How much the jurors agree, by the coefficients that suit the scale of their votes.

    Returns
    -------
    AgreementStatistics
        Of the whole jury and of all pairs that share an item.

    Raises
    ------
    SketchError
        There are fewer than two jurors, or labels of the scale `interval` that are no numbers.

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
    scale, pairs = sketch.tuples.scale, Pairs(sketch)
    kappas: tuple[PairKappa, ...] = ()
    correlation: Floats | None = None
    left_out: tuple[str, ...] = ()  # of so many votes
    if sketch.tuples.n_votes > _MOST_VOTES:
        left_out = {
            "interval": ("mean_kappa", "quadratic_kappa", "correlation"),
            "ordinal": ("mean_kappa", "cohen_kappa_low", "cohen_kappa_high", "linear_kappa", "quadratic_kappa"),
        }.get(scale, ("mean_kappa", "cohen_kappa_low", "cohen_kappa_high"))
    elif scale == "interval":
        kappa, correlation = number_pairs(sketch, _numbers(sketch.labels), pairs.first, pairs.second, level)
        kappas = (kappa,)
    else:
        weights: tuple[Weights, ...] = tuple(_KAPPAS) if scale == "ordinal" else ("nominal",)
        kappas = tuple(pair_kappas(sketch, pairs.first, pairs.second, weights, level))
    exact = dict.fromkeys(EXACT) if scale == "interval" else exact_agreement(sketch)
    cohen = np.full(len(pairs.first), np.nan)
    if scale != "interval":
        by_chance = np.zeros(len(pairs.first))
        for label in range(len(sketch.labels)):
            by_chance += np.multiply(*pairs.label_counts(label))
        room = pairs.items**2 - by_chance
        np.divide(pairs.agreed * pairs.items - by_chance, room, out=cohen, where=room > 0)
    return AgreementStatistics(
        items=sketch.items,
        jurors=sketch.jurors,
        labels=sketch.labels,
        scale=scale,
        scale_why=sketch.tuples.scale_why,
        level=level,
        **exact,
        coefficients=_coefficients(sketch, exact, kappas, level),
        first=pairs.first,
        second=pairs.second,
        pair_items=pairs.items.astype(np.int64),
        pair_agreement=pairs.agreed / pairs.items,
        cohen_kappa=cohen,
        correlation=correlation,
        kappas=kappas,
        left_out=left_out,
    )


def _coefficients(
    sketch: Sketch, exact: dict[str, Fraction | None], kappas: Sequence[PairKappa], level: float
) -> tuple[Coefficient, ...]:
    """All coefficients of the whole jury that suit the scale, in the order in which they are printed."""
    scale, (row, _, code) = sketch.tuples.scale, sketch.tuples.triples()
    # the numbers of the labels, lowest first, and the place of each label among them; of levels, their places
    values, place = np.arange(len(sketch.labels), dtype=np.float64), np.arange(len(sketch.labels))
    if scale == "interval":
        values, place = np.unique(_numbers(sketch.labels), return_inverse=True)
    pairable = PairableVotes.of(row, place[code], values, sketch.counts)
    coefficients: list[Coefficient] = []
    if scale != "interval":  # of unordered labels, whose values are exact
        by_label = BeyondChance(vote_counts(sketch), sketch.counts, "nominal")
        alpha = krippendorff_alpha(pairable, "nominal", level)
        nominal = by_label.agreement(level), by_label.fleiss(level), alpha, by_label.gwet(level)
        coefficients += [replace(c, value=exact[c.name]) for c in nominal]
    suited: dict[str, tuple[Weights, ...]] = {"ordinal": ("ordinal",), "interval": ("interval", "ordinal", "ratio")}
    coefficients += [krippendorff_alpha(pairable, weights, level) for weights in suited.get(scale, ())]
    if scale == "ordinal":
        votes, steps = vote_counts(sketch), cast("tuple[Weights, ...]", ("ordinal", "linear", "quadratic"))
        coefficients += [BeyondChance(votes, sketch.counts, weights).gwet(level) for weights in steps]
    coefficients += [pair.mean for pair in kappas]
    if scale != "nominal":
        full = sketch.complete()
        codes = place[full.tuples.codes]
        coefficients += one_way(row, values[place[code]], sketch.counts, level)
        coefficients += two_way(codes, values, full.counts, level)
        coefficients.append(kendall_w(codes, len(values), full.counts, level))
    return tuple(coefficients)


def _numbers(labels: tuple[Label, ...]) -> Floats:
    """The labels as numbers; SketchError where one is none."""
    read = numerals(labels)
    if read.doubt:
        raise SketchError(read.doubt, code="two_readings")
    if None in read.sizes:
        odd = labels[read.sizes.index(None)]
        message = f"{odd!r} is not a number. Exclude it (--missing VALUE), or use --scale nominal"
        raise SketchError(message, code="bad_vote")
    return np.array(read.sizes, dtype=np.float64)


def _shown(value: Fraction | float | None) -> str | None:
    return None if value is None or value != value else f"{float(value):.4f}"
