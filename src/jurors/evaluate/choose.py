"""Which of the solutions is the truth: the counts cannot say, so a rule must, and the rule is part of the result.

By default the greatest total label accuracy (the paper's choice). Better where one knows more: a juror one trusts,
which label is the more common one, or a few items whose true label is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from jurors.errors import OptionError
from jurors.evaluate.partition import tuple_posterior
from jurors.evaluate.solution import Solution, add_up
from jurors.names import nearest
from jurors.numbers.arrays import Integers
from jurors.sketch import Sketch
from jurors.votes import Label

DEFAULT_RULE = "greatest total label accuracy"


@dataclass(frozen=True)
class Choice:
    """What the user knows that settles which solution is the truth. At most one of the three is used."""

    trust: str | None = None  #: a juror known to be right more often than wrong
    common: Label | None = None  #: the label known to be the most common one
    gold: Integers | None = None  #: tuples x labels: how many gold items of that tuple have that true label

    def __post_init__(self) -> None:
        if sum(x is not None for x in (self.trust, self.common, self.gold)) > 1:
            raise OptionError("give one of: a trusted juror, the common label, gold items")


def choose_solution(sketch: Sketch, solutions: Sequence[Solution], choice: Choice = Choice()) -> tuple[int, str, bool]:
    """(position of the chosen solution, the rule in words, whether the rule left a tie).

    Complex solutions are mirror images; the first one stands for both.
    """
    if not solutions[0].is_real:
        return 0, "none: the solutions are complex", False
    if choice.trust is not None:
        juror = nearest(choice.trust, sketch.jurors, "juror")
        chosen, tied = _greatest([_total(s, (juror,)) for s in solutions])
        rule = f"juror {juror!r} is trusted: greatest total label accuracy of that juror"
    elif choice.common is not None:
        label = nearest(choice.common, sketch.labels, "label")
        chosen, tied = _greatest([s.prevalence[label] for s in solutions])
        rule = f"label {label} is known to be the more common one"
    elif choice.gold is not None:
        right = [_gold_right(sketch, s, choice.gold) for s in solutions]
        chosen, tied = _greatest(right)
        rule = (
            f"{max(right):g} of {int(choice.gold.sum())} gold items labelled right (the other solution: {min(right):g})"
        )
    else:
        chosen, tied = _greatest([_total(s, s.jurors) for s in solutions])
        rule = DEFAULT_RULE
    return chosen, rule, tied


def _greatest(values: Sequence[Any]) -> tuple[int, bool]:
    best = max(values)
    where = [k for k, value in enumerate(values) if value is best or not value < best]
    return where[0], len(where) > 1


def _total(solution: Solution, jurors: Sequence[str]) -> Any:
    tables = [t for j, t in zip(solution.jurors, solution.confusions, strict=True) if j in jurors]
    terms: list[Any] = [row[k] for table in tables for k, row in enumerate(table) if row[k] is not None]
    return add_up(terms)


def _gold_right(sketch: Sketch, solution: Solution, gold: Integers) -> float:
    posterior = tuple_posterior(sketch, solution)
    chosen = posterior.argmax(axis=1)
    return float(gold[np.arange(len(chosen)), chosen].sum())
