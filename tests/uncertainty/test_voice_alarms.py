from __future__ import annotations

import pytest

from jurors import Sketch, grade
from jurors.uncertainty.trio_alarms import (
    chance_of_constant,
    chance_of_copies,
    repeated_juror_alarms,
    too_few_juror_alarms,
)


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


def test_chances_by_hand() -> None:
    agree = 0.99**2 + 0.01**2  # two who are right 99 times in 100
    assert chance_of_copies([400], jurors=3) == pytest.approx(3 * agree**400)
    assert chance_of_copies([300, 400, 350], jurors=6) == pytest.approx(15 * agree**400 * 0.99**650)
    said = 0.05 * 0.99 + 0.95 * 0.01  # how often a label of 5% is said
    assert chance_of_constant([100, 90], jurors=4) == pytest.approx(4 * (1 - said) ** 90)
    assert chance_of_constant([1], jurors=4) == chance_of_copies([1], jurors=4) == 1


def test_the_likeliest_of_copies_and_constant_jurors_is_the_chance() -> None:
    # bob copies ann on 400 items, dot denies her; cy has 30 votes, of which hardly any tells of the other label
    counts = {("A", "A", "A", "B"): 30, ("A", "A", None, "B"): 170, ("B", "B", None, "A"): 200}
    (alarm,) = too_few_juror_alarms(Sketch.from_counts(counts, jurors=("ann", "bob", "cy", "dot")))
    assert alarm.chance == pytest.approx(max(chance_of_copies([400, 400], 4), chance_of_constant([30], 4)))
    assert (alarm.value, alarm.jurors, alarm.level) == (1, ("ann", "bob", "cy", "dot"), "warning")
    assert alarm.message.startswith(
        "'bob' never disagrees with 'ann', 'dot' never agrees with 'ann', 'cy' says one label only: "
        "only one voice is left"
    )


@pytest.mark.parametrize(
    ("counts", "left"), [({"AA": 90}, "no voice is"), ({"AB": 50, "BA": 45, "AA": 30}, "two voices are")]
)
def test_the_voices_left_are_counted_in_words(counts: dict[str, int], left: str) -> None:
    (alarm,) = too_few_juror_alarms(Sketch.from_counts(counts, jurors="ij", labels="AB"))
    assert f"only {left} left" in alarm.message


def test_three_voices_are_enough() -> None:
    counts = {"AAB": 9, "ABA": 8, "BAA": 7, "BBB": 5}
    assert too_few_juror_alarms(Sketch.from_counts(counts, jurors="ijk")) == []


def test_two_jurors_need_no_chance_to_be_too_few() -> None:
    (alarm,) = too_few_juror_alarms(Sketch.from_counts({"AB": 5, "BA": 4, "AA": 3}, jurors="ij"))
    assert (alarm.level, alarm.chance, alarm.value, alarm.jurors) == ("alarm", None, 2, ())
    assert alarm.message.startswith("only two voices are left")
    assert "chance can do that" not in alarm.message


@pytest.mark.parametrize(("voices", "level"), [((0, 0, 1, 2), "warning"), ((0, 0, 1, 1), "alarm")])
def test_one_judge_asked_twice_is_an_alarm_below_three_voices(voices: tuple[int, ...], level: str) -> None:
    (alarm,) = repeated_juror_alarms(("ann", "ann 2", "bob", "cy"), [(0, 1)], voices)
    assert (alarm.kind, alarm.level, alarm.value, alarm.jurors) == ("same_voice", level, 2, ("ann", "ann 2"))
    assert "one judge asked 2 times" in alarm.message
    assert ("fewer than three are left" in alarm.message) == (level == "alarm")
