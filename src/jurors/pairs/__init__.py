"""Preferences: who found which of two objects better; comes out ranked, and the jurors graded, without a key."""

from jurors.pairs.object_ranking import Ranking, rank
from jurors.pairs.pair_grades import PairGrades, grade_pairs
from jurors.pairs.preferences import Preferences
from jurors.pairs.read_pairs import read_pairs

__all__ = ["PairGrades", "Preferences", "Ranking", "grade_pairs", "rank", "read_pairs"]
