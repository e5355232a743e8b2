"""Numerical tools: equal rows, sorting, BLAS threads, freed memory."""

from __future__ import annotations

from threading import Event, Thread

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import special

from jurors import _numeric as module
from jurors import _numeric as threads
from jurors._numeric import Codes, chi_square_tail, row_keys, single_threaded, stable_argsort, unique_rows


@given(
    rows=st.integers(0, 70),
    width=st.integers(1, 70),
    kinds=st.sampled_from([1, 2, 3, 5, 200]),
    low=st.sampled_from([-1, 0]),
    seed=st.integers(0, 1_000),
)
def test_equal_rows_are_what_sorting_finds(rows: int, width: int, kinds: int, low: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    codes: Codes = rng.integers(low, kinds, (rows, width)).astype(np.int8 if kinds < 127 else np.int16)
    codes[rows // 2 :] = codes[: rows - rows // 2]
    for table in (codes, np.asfortranarray(codes)):
        distinct, place, sizes = unique_rows(table, kinds)
        assert distinct.dtype == codes.dtype
        if rows:
            found = np.unique(codes, axis=0, return_inverse=True, return_counts=True)
            assert np.array_equal(distinct, found[0])
            assert np.array_equal(place, found[1].ravel())
            assert np.array_equal(sizes, found[2])
        else:
            assert len(distinct) == len(place) == len(sizes) == 0


@pytest.mark.parametrize("width", range(1, 27))
def test_zeros_and_ones_are_read_as_a_number_whatever_the_blocks(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_BIT_BLOCK", 16)
    codes = np.random.default_rng(width).integers(0, 2, (43, width)).astype(np.int8)
    expected = [int("".join(map(str, row)), 2) for row in codes.tolist()]
    assert row_keys(codes, 2).tolist() == expected


@given(
    st.sampled_from([np.int8, np.uint8, np.int32, np.int64, np.float64]).flatmap(
        lambda kind: arrays(kind, st.integers(0, 30))
    )
)
def test_the_order_is_that_of_any_numbers(values: np.ndarray[tuple[int], np.dtype[np.int64]]) -> None:
    assert stable_argsort(values).tolist() == np.argsort(values, kind="stable").tolist()


class Library:
    """A linear algebra library that counts how often it is set."""

    def __init__(self, count: int) -> None:
        self.count, self.times = count, 0

    def get_num_threads(self) -> int:
        """As it is now."""
        return self.count

    def set_num_threads(self, count: int) -> None:
        """For the whole process."""
        self.count, self.times = count, self.times + 1


@pytest.fixture
def libraries(monkeypatch: pytest.MonkeyPatch) -> tuple[Library, Library]:
    many, single = Library(4), Library(1)
    monkeypatch.setattr(threads, "_libraries", lambda: [many, single])
    return many, single


def test_threads_come_back_after_the_outermost_block(libraries: tuple[Library, Library]) -> None:
    many, single = libraries
    with single_threaded():
        with pytest.raises(ValueError, match="stop"), single_threaded():
            raise ValueError("stop")
        assert many.count == 1
    assert (many.count, many.times) == (4, 2)
    assert single.times == 0  # it had one thread all the time


def test_blocks_of_two_threads_may_overlap(libraries: tuple[Library, Library]) -> None:
    """The first that began ends first: what was before both of them comes back, not what was in between."""
    began, may_end = Event(), Event()

    def other() -> None:
        with single_threaded():
            began.set()
            may_end.wait(10)

    with single_threaded():
        beside = Thread(target=other)
        beside.start()
        assert began.wait(10)
    assert libraries[0].count == 1  # the other is still at it
    may_end.set()
    beside.join(10)
    assert libraries[0].count == 4


def test_the_libraries_at_hand_are_found() -> None:
    found = threads._libraries()
    assert found
    before = [one.get_num_threads() for one in found]
    with single_threaded():
        assert {one.get_num_threads() for one in found} == {1}
    assert [one.get_num_threads() for one in found] == before


@given(st.floats(0.1, 2_000), st.floats(0.01, 20))
def test_the_tail_of_chi_square_is_that_of_scipy(degrees: float, ratio: float) -> None:
    expected = float(special.chdtrc(degrees, degrees * ratio))
    assert chi_square_tail(degrees, degrees * ratio) == pytest.approx(expected, rel=1e-10, abs=1e-12)
