"""Exact arithmetic that knows no jurors: rationals go in; x + y√d and isolated algebraic roots come out."""

from jurors.numbers.algebraic import Algebraic
from jurors.numbers.by_sign import Exact
from jurors.numbers.exact import exact_sum
from jurors.numbers.surd import Surd

__all__ = ["Algebraic", "Exact", "Surd", "exact_sum"]
