"""Which methods are run unasked, and what is said of the others."""

from __future__ import annotations

import numpy as np
import pytest

from jurors import Votes, compare
from jurors.jury.compare import default_methods, skipped_methods
from jurors.jury.grade import METHODS
from jurors.jury.inputs import count_gradable


def votes(jurors: int, labels: str = "ab") -> Votes:
    rng = np.random.default_rng(1)
    truth = rng.integers(len(labels), size=40)
    said = np.where(rng.random((40, jurors)) < 0.8, truth[:, None], rng.integers(len(labels), size=(40, jurors)))
    return Votes.from_matrix(np.array(list(labels))[said])


@pytest.mark.parametrize(("jurors", "is_left_out"), [(40, False), (41, True)], ids=["forty", "more"])
def test_the_trios_of_many_jurors_are_left_out(jurors: int, is_left_out: bool) -> None:
    sketch = count_gradable(votes(jurors)).sketch
    assert ("algebraic" not in default_methods(sketch)) == is_left_out
    assert set(default_methods(sketch)) | set(skipped_methods(sketch)) == set(METHODS)
    assert default_methods(sketch)[0] == "latent"


@pytest.mark.slow
def test_what_is_left_out_is_told_in_a_line() -> None:
    refused = compare(votes(41)).refused
    assert refused["algebraic"] == "it would solve all 10,660 trios of 41 jurors: ask for it by its name"


def test_what_is_named_is_run() -> None:
    graded = compare(votes(41), methods=["algebraic", "majority"])
    assert [one.method for one in graded.evaluations] == ["algebraic", "majority"]
    assert graded.refused == {}


def test_of_more_labels_the_method_itself_says_why_not() -> None:
    assert skipped_methods(count_gradable(votes(41, "abc")).sketch) == {}
