"""Small numbers are put in order as any others are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from jurors._numeric import stable_argsort


@given(
    st.sampled_from([np.int8, np.uint8, np.int32, np.int64, np.float64]).flatmap(
        lambda kind: arrays(kind, st.integers(0, 30), elements={"allow_nan": False} if kind is np.float64 else None)
    )
)
def test_the_order_is_that_of_any_numbers(values: np.ndarray[tuple[int], np.dtype[np.int64]]) -> None:
    assert stable_argsort(values).tolist() == np.argsort(values, kind="stable").tolist()


@pytest.mark.parametrize("values", [[3.0, 1.0, 3.0, 2.0], [2.5, 2.25, 2.0], [1e9, 0.0, 5.0], [np.nan, 1.0, 0.0]])
def test_fractions_far_numbers_and_none_are_no_trouble(values: list[float]) -> None:
    assert stable_argsort(np.array(values)).tolist() == np.argsort(values, kind="stable").tolist()
