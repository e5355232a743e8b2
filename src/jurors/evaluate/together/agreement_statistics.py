"""How much the jurors agree, and how much of it chance would give: the coefficients people ask for.

With n_tl votes for label l among the n_t votes of tuple t, over the items with at least two votes:
    agreement              P_o = mean of Σ_l n_tl (n_tl - 1) / (n_t (n_t - 1))
    Fleiss' kappa          (P_o - P_e) / (1 - P_e),  P_e = Σ π_l²,  π_l = mean of n_tl / n_t over items with a vote
    Gwet's AC1             the same with P_e = Σ π_l (1 - π_l) / (R - 1)
    Krippendorff's alpha   1 - D_o / D_e, nominal, from coincidences of the items with at least two votes
    Cohen's kappa          of each pair, over the items that both voted on
(Gwet's forms for missing votes; with none missing, Fleiss' own.) All but the pairs' are exact fractions.
None measures accuracy: jurors who share an error agree on it.

No library was found that takes counts of decision tuples: krippendorff wants one column per item, irrCAC one row
per item, statsmodels' fleiss_kappa no missing votes, scikit-learn's cohen_kappa_score one pair per call. The tests
compare.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jurors.errors import SketchError
from jurors.evaluate.majority import vote_counts
from jurors.numbers.arrays import Floats, Integers
from jurors.sketch import Sketch
from jurors.sketch.pairs import Pairs
from jurors.tables import Columns, Drawable, Table
from jurors.votes import Label

_SHOWN_PAIRS = 30


@dataclass(frozen=True, eq=False, kw_only=True)
class AgreementStatistics(Drawable):
    """Coefficients of agreement; None where one does not exist (chance agrees always, or no item has two votes)."""

    items: int
    jurors: tuple[str, ...]
    labels: tuple[Label, ...]
    agreement: Fraction | None  #: P_o: two votes on the same item are the same with this chance
    fleiss_kappa: Fraction | None
    krippendorff_alpha: Fraction | None
    gwet_ac1: Fraction | None
    first: Integers = field(repr=False)  #: positions of each pair's first juror, and
    second: Integers = field(repr=False)  #: of its second; pairs without a common item are left out
    pair_items: Integers = field(repr=False)  #: items that both voted on
    pair_agreement: Floats = field(repr=False)  #: the share on which they said the same
    cohen_kappa: Floats = field(repr=False)  #: NaN where both always said the same one label

    def pairs(self) -> list[tuple[str, str, int, float, float | None]]:
        """Each pair's names, common items, agreement and Cohen's kappa."""
        names = np.array(self.jurors, dtype=object)
        kappa = [None if k != k else k for k in self.cohen_kappa.tolist()]
        shares = self.pair_agreement.tolist()
        pairs = zip(names[self.first], names[self.second], self.pair_items.tolist(), shares, kappa, strict=True)
        return list(pairs)

    def _document(self) -> dict[str, Any]:
        keys = ("items", "agreement", "cohen_kappa")
        pairs = [{"jurors": [i, j], **dict(zip(keys, rest, strict=True))} for i, j, *rest in self.pairs()]
        about = {"items": self.items, "jurors": self.jurors, "labels": self.labels}
        return {**about, **dict(self._overall()), "pairs": pairs}

    def _columns(self) -> Columns:
        """One row per pair."""
        names = np.array(self.jurors, dtype=object)
        return {
            "first": names[self.first],
            "second": names[self.second],
            "items": self.pair_items,
            "agreement": self.pair_agreement,
            "cohen_kappa": self.cohen_kappa,
        }

    def _blocks(self) -> tuple[Table, Table]:
        """The whole jury's coefficients, and the pairs' (the first thirty), to read."""
        named = tuple((name.replace("_", " "), _shown(x)) for name, x in self._overall())
        rows = self.pairs()[:_SHOWN_PAIRS]
        cells = tuple((i, j, f"{n:,}", _shown(share), _shown(kappa)) for i, j, n, share, kappa in rows)
        more = len(self.first) - len(rows)
        title = "Pairs" + (f" (the first {len(rows)} of {len(self.first):,})" if more else "")
        heads = ("first", "second", "items", "agreement", "Cohen's kappa")
        about = f"Agreement of {len(self.jurors)} jurors on {self.items:,} items (it is not accuracy)"
        whole = Table(("statistic", "value"), named, title=about, right=(1,))
        return whole, Table(heads, cells, title=title, right=(2, 3, 4))

    def _overall(self) -> list[tuple[str, Fraction | None]]:
        names = ("agreement", "fleiss_kappa", "krippendorff_alpha", "gwet_ac1")
        return [(name, getattr(self, name)) for name in names]


def agreement_statistics(sketch: Sketch) -> AgreementStatistics:
    """How much the jurors agree: raw, Cohen's and Fleiss' kappa, Krippendorff's alpha, Gwet's AC1.

    Examples
    --------
    >>> pair = agreement_statistics(Sketch.from_counts({"AA": 20, "AB": 5, "BA": 10, "BB": 15}, jurors=("i", "j")))
    >>> pair.agreement, round(float(pair.cohen_kappa[0]), 3), pair.gwet_ac1
    (Fraction(7, 10), 0.4, Fraction(41, 101))
    """
    if len(sketch.jurors) < 2:
        raise SketchError(f"agreement needs at least 2 jurors, got {len(sketch.jurors)}: {', '.join(sketch.jurors)}")
    agreement, chance, coincidence = _agreement(sketch), _label_shares(sketch), _alpha(sketch)
    fleiss = sum((share**2 for share in chance), Fraction(0))
    size = len(sketch.labels)
    gwet = (1 - fleiss) / (size - 1) if size > 1 else Fraction(1)
    pairs = Pairs(sketch)
    return AgreementStatistics(
        items=sketch.items,
        jurors=sketch.jurors,
        labels=sketch.labels,
        agreement=agreement,
        fleiss_kappa=_beyond_chance(agreement, fleiss),
        krippendorff_alpha=coincidence,
        gwet_ac1=_beyond_chance(agreement, gwet),
        first=pairs.first,
        second=pairs.second,
        pair_items=pairs.items.astype(np.int64),
        pair_agreement=pairs.agreed / pairs.items,
        cohen_kappa=_cohen(pairs, size),
    )


def _beyond_chance(observed: Fraction | None, chance: Fraction) -> Fraction | None:
    return None if observed is None or chance == 1 else (observed - chance) / (1 - chance)


def _by_votes(sketch: Sketch, values: NDArray[Any]) -> dict[int, list[int]]:
    """Σ_t w_t values_t (tuples x columns) exactly, apart for each number of votes n_t."""
    cast = vote_counts(sketch).sum(axis=1)
    largest = int(values.max(initial=0)) * max(int(sketch.counts.sum(dtype=object)), 1)
    kind = object if largest > 1 << 62 else np.int64
    sizes, place = np.unique(cast, return_inverse=True)
    sums = np.zeros((len(sizes), values.shape[1]), dtype=kind)
    np.add.at(sums, place, values.astype(kind) * sketch.counts.astype(kind)[:, None])
    return {int(n): [int(x) for x in row] for n, row in zip(sizes, sums, strict=True)}


def _items_by_votes(sketch: Sketch) -> dict[int, int]:
    ones = np.ones((sketch.tuples.rows, 1), dtype=np.int64)
    return {n: row[0] for n, row in _by_votes(sketch, ones).items()}


def _agreement(sketch: Sketch) -> Fraction | None:
    votes = vote_counts(sketch)
    alike = _by_votes(sketch, (votes * (votes - 1)).sum(axis=1, keepdims=True))
    items = sum(count for n, count in _items_by_votes(sketch).items() if n > 1)
    total = sum((Fraction(row[0], n * (n - 1)) for n, row in alike.items() if n > 1), Fraction(0))
    return total / items if items else None


def _label_shares(sketch: Sketch) -> list[Fraction]:
    """π_l: every item with a vote counts once, however many votes it has."""
    votes = _by_votes(sketch, vote_counts(sketch))
    items = sum(count for n, count in _items_by_votes(sketch).items() if n)
    by_label = zip(*([Fraction(x, n) for x in row] for n, row in votes.items() if n), strict=True)
    return [sum(column, Fraction(0)) / max(items, 1) for column in by_label]


def _alpha(sketch: Sketch) -> Fraction | None:
    votes = vote_counts(sketch)
    alike = _by_votes(sketch, (votes * (votes - 1)).sum(axis=1, keepdims=True))
    by_label = [row for n, row in _by_votes(sketch, votes).items() if n > 1]
    cast = [sum(column) for column in zip(*by_label, strict=True)]
    total = int(sum(cast))
    same = sum((Fraction(row[0], n - 1) for n, row in alike.items() if n > 1), Fraction(0))
    by_chance = sum(n * (n - 1) for n in cast)
    if total < 2 or by_chance == total * (total - 1):
        return None
    expected = Fraction(by_chance, total * (total - 1))
    return 1 - (1 - same / total) / (1 - expected)


def _cohen(pairs: Pairs, labels: int) -> Floats:
    chance = np.zeros(len(pairs.first))
    for label in range(labels):
        chance += pairs.count(label, None) * pairs.count(None, label)
    observed, expected = pairs.agreed * pairs.items, chance
    room = pairs.items**2 - expected
    return np.divide(observed - expected, room, out=np.full_like(room, np.nan), where=room > 0)


def _shown(value: Fraction | float | None) -> str | None:
    return None if value is None else f"{float(value):.4f}"
