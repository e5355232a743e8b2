"""Every method obeys the contract, on every kind of data it is for; and the contract notices methods that do not."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Event

import numpy as np
import pytest

from jurors import Sketch
from jurors import testing as contract
from jurors.errors import SketchError
from jurors.evaluate.solution import Fit, evaluate_majority, float_solution
from jurors.theory import METHODS

METHODS_AND_DATA = (*METHODS, "numbers", "preferences")
#: `make quick` leaves these out: together they take several seconds
SLOW = ("three labels", "levels", "preferences")
#: (method, law, kind, seed) that failed once
MENDED = (
    ("numbers", "order_of_jurors", "numbers", 1), ("latent", "order_of_labels", "two labels", 0),
    ("latent", "order_of_labels", "trio", 2),
)  # fmt: skip


def marks(name: str, kind: str) -> list[pytest.MarkDecorator]:
    return [pytest.mark.slow] * (kind in SLOW or "edge" in name or "order" in name)


CASES = [
    pytest.param(method, name, kind, marks=marks(name, kind))
    for method in METHODS_AND_DATA
    for name, kind in contract.method_checks(method)
]


@pytest.mark.parametrize(("method", "name", "kind"), CASES)
def test_the_method_obeys_the_law(method: str, name: str, kind: str) -> None:
    contract.run_check(method, name, kind)


@pytest.mark.parametrize(("method", "name", "kind", "seed"), MENDED)
def test_the_method_obeys_the_law_on_other_answers(method: str, name: str, kind: str, seed: int) -> None:
    contract.run_check(method, name, kind, seed=seed)


def majority(sketch: Sketch) -> Fit:
    return Fit(evaluate_majority(sketch).to_float(), posterior=None)


def with_numbers(sketch: Sketch, accuracy: float) -> Fit:
    size = len(sketch.labels)
    confusion = np.full((len(sketch.jurors), size, size), (1 - accuracy) / (size - 1))
    confusion[:, range(size), range(size)] = accuracy
    return Fit(float_solution(sketch, np.full(size, 1 / size), confusion), posterior=None)


def believes_the_first_juror(sketch: Sketch) -> Fit:
    agree = sketch.tuples.codes == sketch.tuples.codes[:, :1]
    return with_numbers(sketch, float(np.average(agree.mean(axis=1), weights=sketch.counts)))


def believes_the_first_label(sketch: Sketch) -> Fit:
    return with_numbers(sketch, float(np.average((sketch.tuples.codes == 0).mean(axis=1), weights=sketch.counts)))


def trusts_longer_names(sketch: Sketch) -> Fit:
    return with_numbers(sketch, 0.5 + len("".join(map(str, sketch.labels))) / 1000)


def gives_nan(sketch: Sketch) -> Fit:
    return with_numbers(sketch, float("nan"))


def crashes_on_missing_votes(sketch: Sketch) -> Fit:
    if (sketch.tuples.codes < 0).any():
        raise IndexError("index -1 is out of bounds")
    return majority(sketch)


def crashes_on_one_item(sketch: Sketch) -> Fit:
    if sketch.items == 1:
        raise ZeroDivisionError
    return majority(sketch)


def refuses_at_length(sketch: Sketch) -> Fit:
    raise SketchError("no\nno\nno")


@pytest.mark.parametrize(
    ("method", "broken"),
    [
        (believes_the_first_juror, "order_of_jurors"),
        (believes_the_first_label, "order_of_labels"),
        (trusts_longer_names, "renaming"),
        (gives_nan, "json"),
        (crashes_on_missing_votes, "missing_answers"),
        (crashes_on_one_item, "one_item"),
        (refuses_at_length, "one_item"),
    ],
)
def test_a_method_that_breaks_a_law_is_caught(method: Callable[[Sketch], Fit], broken: str) -> None:
    with pytest.raises(AssertionError):
        contract.run_check(method, broken, "two labels")


def test_a_method_that_hangs_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contract, "_SECONDS", 0.05)
    with pytest.raises(AssertionError, match=r"hangs takes more than 0\.05 seconds"):
        contract.run_check(hangs, "one_item", "two labels")
    ENDS.set()
    while METHODS_AND_DATA[: len(METHODS)] != (*METHODS,):  # until its thread has taken the method out again
        time.sleep(0.01)


ENDS = Event()


def hangs(sketch: Sketch) -> Fit:
    ENDS.wait(60)
    return majority(sketch)


def test_all_broken_laws_are_named_and_the_method_is_forgotten() -> None:
    with pytest.raises(AssertionError, match=r"laws are broken: .*missing_answers \(trio\): .*crashes: IndexError"):
        contract.check_method(crashes_on_missing_votes, kinds=["trio"])
    assert METHODS_AND_DATA[: len(METHODS)] == (*METHODS,)


def test_a_method_that_refuses_everything_is_no_method() -> None:
    with pytest.raises(AssertionError, match="all data are refused: trio, two labels"):
        contract.check_method(refuses, kinds=["trio", "two labels"])


def refuses(sketch: Sketch) -> Fit:
    raise SketchError("not today")


def test_an_estimator_of_ones_own_is_checked_as_the_methods_are() -> None:
    contract.check_method(majority, kinds=["two labels"])
