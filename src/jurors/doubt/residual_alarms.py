"""The alarm of a panel whose errors go together: its level by how much, once it is more than chance."""

from __future__ import annotations

from collections.abc import Sequence

from jurors.evaluate.alarm import Alarm, AlarmPair
from jurors.evaluate.catalogue import Level
from jurors.evaluate.together.agreement_residual import AgreementTest
from jurors.evaluate.together.residual import ResidualTest
from jurors.evaluate.together.thresholds import (
    ENOUGH_BY_LABEL,
    FEWEST_JURORS,
    LARGE_EXCESS,
    LARGE_SHARE,
    SIGNIFICANT,
)

_MOST_NAMED = 5  # pairs


def residual_alarms(
    jurors: tuple[str, ...], test: ResidualTest | None, groups: Sequence[tuple[int, ...]] = ()
) -> list[Alarm]:
    """What the residual test says of these jurors; groups already heard as one explain all of it."""
    if test is None or not test.is_significant:
        return []
    pairs = _named(jurors, test.striking_pairs())
    message = (
        f"errors go together beyond chance: what the truth does not explain is {test.share:.0%} of what it does"
        f"{_listed(pairs)}"
    )
    is_large = test.share > LARGE_SHARE or len(jurors) == FEWEST_JURORS
    level: Level = "alarm" if is_large and test.rests_on_enough else "warning"
    if len(jurors) == FEWEST_JURORS:  # two pairs of two: either may be the one that shares an error
        message += "; with four jurors nobody can tell which of them share an error, and the grades may be upside down"
    if groups:
        one = len(groups) == 1
        message += f". {len(groups)} such {'group explains' if one else 'groups explain'} all of it and "
        message += "was heard as one voice" if one else "were heard as one voice each"
    return [Alarm("correlated_errors", level, message, test.share, _concerned(pairs), pairs=pairs)]


def agreement_alarms(jurors: tuple[str, ...], test: AgreementTest | None, items_by_label: float) -> list[Alarm]:
    """The same for any number of labels, from pairs that agree more (or less) often than the model says.

    It rings from some items for each label on: the fit's pseudo-votes (about two for each label) lower the agreement
    that it expects, and on few items that looks like an excess of every pair.
    """
    if test is None or test.p_value >= SIGNIFICANT:
        return []
    pairs = _named(jurors, test.striking_pairs())
    message = (
        f"errors go together beyond chance: pairs agree on {test.size:.1%} of the items more (or less) than the model "
        f"explains{_listed(pairs)}"
    )
    level: Level = "alarm" if test.size > LARGE_EXCESS and items_by_label >= ENOUGH_BY_LABEL else "warning"
    return [Alarm("correlated_errors", level, message, test.size, _concerned(pairs), pairs=pairs)]


def _named(jurors: tuple[str, ...], pairs: list[tuple[int, int, float]]) -> tuple[AlarmPair, ...]:
    """The most striking pairs by name."""
    return tuple(AlarmPair(jurors[i], jurors[j], z) for i, j, z in pairs[:_MOST_NAMED])


def _listed(pairs: tuple[AlarmPair, ...]) -> str:
    who = ", ".join(f"{pair.first} + {pair.second} ({pair.value:+z.1f} se)" for pair in pairs)
    return f"; most of all {who}" if who else ""


def _concerned(pairs: tuple[AlarmPair, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for pair in pairs for name in (pair.first, pair.second)))
