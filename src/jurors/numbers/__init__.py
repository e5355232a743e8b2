"""Exact arithmetic that knows no jurors: rationals go in; x + y√d and isolated algebraic roots come out."""

from jurors.numbers.algebraic import Algebraic
from jurors.numbers.exact import algebraic_roots, exact_sum
from jurors.numbers.surd import Exact, Surd

__all__ = ["Algebraic", "Exact", "Surd", "algebraic_roots", "exact_sum"]
