"""Exact numbers: surds and algebraic numbers."""
