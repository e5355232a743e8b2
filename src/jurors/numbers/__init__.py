"""Exact arithmetic that knows no jurors: rationals go in, numbers x + y√d come out."""

from jurors.numbers.surd import Exact, Surd

__all__ = ["Exact", "Surd"]
