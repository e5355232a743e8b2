from __future__ import annotations

import pytest

from jurors import Sketch, grade
from jurors.doubt.voice_alarms import chance_of_constant, chance_of_copies


@pytest.mark.parametrize(("items", "level"), [(10, "warning"), (100, "alarm")])
def test_copies_are_an_alarm_from_so_many_items_on_that_good_jurors_would_differ(items: int, level: str) -> None:
    counts = {"AAA": 2 * items, "AAB": items, "BBA": items, "BBB": 2 * items}
    few = next(a for a in grade(Sketch.from_counts(counts, jurors="ijk")).alarms if a.kind == "too_few_voices")
    assert few.level == level
    assert few.chance == pytest.approx(chance_of_copies([6 * items], jurors=3))
    assert ("chance can do that" in few.message) == (level == "warning")


def test_many_copies_of_one_are_less_likely_than_one() -> None:
    assert chance_of_copies([200, 200, 200], jurors=5) < chance_of_copies([200], jurors=5)


def test_few_votes_do_not_make_a_constant_juror() -> None:
    assert chance_of_constant([30], jurors=4) > 0.5
    assert chance_of_constant([300], jurors=4) < 1e-6
    assert chance_of_constant([], jurors=4) == 0
