"""Commuting matrices of a trio with many labels: which mix of them tells the labels apart."""

from __future__ import annotations

from fractions import Fraction

from flint import fmpq, fmpq_mat

from jurors.evaluate.trio_decomposition import Algebra, _separating_mix

TURN = fmpq_mat(4, 4, [1, 2, 0, 1, 0, 1, 1, 0, 3, 0, 1, 1, 0, 1, 0, 1])
ROWS = ((1, 2, 1), (1, 2, 1), (2, 1, 1), (3, 0, 1))  # what the slicer says on each label, in quarters: two are alike


def diagonal(values: list[Fraction]) -> fmpq_mat:
    size = len(values)
    cells = [[values[i] if i == j else Fraction(0) for j in range(size)] for i in range(size)]
    return fmpq_mat(size, size, [fmpq(x.numerator, x.denominator) for row in cells for x in row])


def algebra(rows: tuple[tuple[int, ...], ...]) -> Algebra:
    answers = zip(*rows, strict=True)
    matrices = [TURN * diagonal([Fraction(x, 4) for x in answer]) * TURN.inv() for answer in answers]
    whole = diagonal([Fraction(1)] * len(rows))
    return Algebra(tuple(matrices), whole, whole, True)


def test_labels_that_the_slicer_cannot_tell_apart_stay_together() -> None:
    slices = algebra(ROWS)
    mixed, factors = _separating_mix(slices)
    assert sorted(multiplicity for _, multiplicity in factors) == [1, 1, 2]
    assert slices.is_generated_by(mixed, 3)


def test_a_mix_that_merges_more_than_the_slicer_does_is_told() -> None:
    slices = algebra(ROWS)
    assert not slices.is_generated_by(slices.matrices[2], 1)  # the third answer is as frequent on all labels


def test_the_first_mix_merges_labels_and_another_is_taken() -> None:
    # 0 x + 1 y + 3 z is 7/4 on the first and on the second row
    slices = algebra(((1, 1, 2), (-4, 4, 1), (2, 1, 1), (3, 0, 1)))
    _, factors = _separating_mix(slices)
    assert [multiplicity for _, multiplicity in factors] == [1] * 4


def test_another_mix_is_taken_though_two_labels_stay_together() -> None:
    _, factors = _separating_mix(algebra(((1, 1, 2), (-4, 4, 1), (1, 1, 2), (3, 0, 1))))
    assert sorted(multiplicity for _, multiplicity in factors) == [1, 1, 2]
