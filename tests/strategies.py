"""Juries and sketches for property tests: exact, rational, and none of them degenerate unless asked for."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

from jurors.evaluate.solution import Solution
from jurors.sketch.sketch import Sketch

shares = st.fractions(min_value=0, max_value=1, max_denominator=12)
inner_shares = st.fractions(min_value=Fraction(1, 12), max_value=Fraction(11, 12), max_denominator=12)


def examples(number: int, **options: Any) -> settings:
    """How many examples of a law are tried; in `make quick`, which tries few of every law, a tenth."""
    quick = settings.default is not None and settings.default.max_examples < 100
    return settings(max_examples=max(2, number // 10) if quick else number, **options)


@st.composite
def juries(draw: st.DrawFn, jurors: int = 3) -> Solution:
    """Exact binary juries: any prevalence inside (0, 1), 1/2 often; any accuracies but a coin's (sum 1)."""
    prevalence = draw(st.one_of(st.just(Fraction(1, 2)), inner_shares))
    accuracies = [draw(st.tuples(shares, shares).filter(lambda pair: pair[0] + pair[1] != 1)) for _ in range(jurors)]
    names = [f"juror {k}" for k in range(jurors)]
    return Solution.of_two_labels(names, ("A", "B"), prevalence, accuracies)


@st.composite
def sketches(draw: st.DrawFn, jurors: int = 3, labels: str = "AB", *, missing: bool = False) -> Sketch:
    """Any counts at all."""
    cells: tuple[str | None, ...] = (*labels, None) if missing else tuple(labels)
    tuples = list(product(cells, repeat=jurors))
    chosen = draw(st.lists(st.sampled_from(tuples), min_size=1, max_size=12, unique=True))
    counts = {t: draw(st.integers(0, 60)) for t in chosen}
    return Sketch.from_counts(counts, jurors=[f"juror {k}" for k in range(jurors)], labels=tuple(labels))
