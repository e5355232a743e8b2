from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jurors import _numeric as module
from jurors._numeric import Codes, row_keys, unique_rows


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
