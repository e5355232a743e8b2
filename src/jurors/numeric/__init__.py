"""Jurors' numbers: ratings and scores on a scale come in; graded jurors and valued items go out, without a key."""

from jurors.numeric.data import Numbers, read_numbers
from jurors.numeric.grade import ItemValues, NumberGrades, grade_numbers, value_items
from jurors.numeric.score import NumberScores, score_numbers

__all__ = [
    "ItemValues",
    "NumberGrades",
    "NumberScores",
    "Numbers",
    "grade_numbers",
    "read_numbers",
    "score_numbers",
    "value_items",
]
