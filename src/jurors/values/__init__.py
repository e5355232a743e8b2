"""Jurors' numbers: ratings and scores on a scale come in; graded jurors and valued items go out, without a key."""

from jurors.values.by_key.number_scores import NumberScores, score_numbers
from jurors.values.item_values import ItemValues, value_items
from jurors.values.number_grades import NumberGrades, grade_numbers
from jurors.values.numbers_table import Numbers
from jurors.values.read_numbers import read_numbers

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
