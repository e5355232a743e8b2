from __future__ import annotations

import pytest
from hypothesis import given
from strategies import examples, juries

from jurors import Sketch, SketchError, Solution, encode
from jurors.evaluate.trio import independence_invariants


@given(juries(jurors=4))
@examples(40)
def test_all_six_vanish_for_independent_jurors(truth: Solution) -> None:
    assert set(independence_invariants(encode(truth)).values()) == {0}


def test_one_item_more_is_enough_to_break_them() -> None:
    counts = {"AAAA": 30, "AAAB": 9, "AABA": 8, "ABAA": 7, "BAAA": 6, "BBBA": 9, "BBAB": 8, "BABB": 7, "BBBB": 41}
    assert any(independence_invariants(Sketch.from_counts(counts, jurors="ijkl")).values())


def test_three_jurors_are_refused() -> None:
    with pytest.raises(SketchError, match="need 4 jurors, got 3"):
        independence_invariants(Sketch.from_counts({"AAB": 1, "BBA": 1}, jurors="ijk"))
