"""The laws of gates: three outcomes, of which two need the whole interval."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from jurors.jury.gates import Ends, Gate, judge

shares = st.floats(0, 1, allow_nan=False)
intervals = st.tuples(shares, shares).map(lambda pair: (min(pair), max(pair)))


@given(intervals, shares)
def test_what_passes_as_a_floor_and_as_a_ceiling_is_the_limit_itself(ends: Ends, limit: float) -> None:
    floor, ceiling = judge(ends, limit, at_least=True), judge(ends, limit, at_least=False)
    assert (floor == ceiling == "pass") == (ends == (limit, limit))
    assert not floor == ceiling == "fail"
    assert (floor == "fail") <= (ceiling == "pass")


@given(intervals, shares, shares, shares, st.booleans())
def test_a_wider_interval_decides_nothing_more(ends: Ends, limit: float, less: float, more: float, floor: bool) -> None:
    wider = ends[0] - less, ends[1] + more
    assert judge(wider, limit, at_least=floor) in ("not known", judge(ends, limit, at_least=floor))


@given(intervals, shares, shares, st.booleans())
def test_asking_for_more_never_helps(ends: Ends, limit: float, more: float, floor: bool) -> None:
    order = ("fail", "not known", "pass")
    harder = limit + more if floor else limit - more
    assert order.index(judge(ends, harder, at_least=floor)) <= order.index(judge(ends, limit, at_least=floor))


@given(shares, st.booleans())
def test_without_an_interval_nothing_is_known(limit: float, floor: bool) -> None:
    for ends in (None, (float("nan"), float("nan"))):
        assert judge(ends, limit, at_least=floor) == "not known"


def test_only_what_is_not_passed_rings_and_what_is_allowed_is_a_note() -> None:
    def rung(outcome: str, **how: bool) -> tuple[str, str] | None:
        alarm = Gate(name="max-wrong", outcome=outcome, limit=0.1, at_least=False).alarm(**how)  # type: ignore[arg-type]
        return None if alarm is None else (alarm.kind, alarm.level)

    assert rung("pass") is None
    assert rung("fail", allow_unknown=True) == ("gate_failed", "alarm")
    assert rung("not known") == ("gate_unknown", "alarm")
    assert rung("not known", allow_unknown=True) == ("gate_unknown", "note")
