"""Preferences: who found which of two objects better; comes out ranked, and the jurors graded, without a key."""

from jurors.pairwise.data import Preferences, read_pairs
from jurors.pairwise.grade import PairGrades, Ranking, grade_pairs, rank

__all__ = ["PairGrades", "Preferences", "Ranking", "grade_pairs", "rank", "read_pairs"]
