"""The alarm of a panel whose errors go together: its level by how much, once it is more than chance."""

from __future__ import annotations

from jurors.evaluate.alarm import Alarm, Level
from jurors.evaluate.residual import ResidualTest

_LARGE = 0.5  # share of the common covariance from which the grades should not be trusted


def residual_alarms(
    jurors: tuple[str, ...], test: ResidualTest | None, coupled: list[tuple[int, int]] | None = None
) -> list[Alarm]:
    """What the residual test says of these jurors; couples already heard as one explain their part of it."""
    if test is None or not test.is_significant:
        return []
    named = test.striking_pairs()[:5]
    who = ", ".join(f"{jurors[i]} + {jurors[j]} ({z:+.1f} se)" for i, j, z in named)
    message = f"errors go together beyond chance: what the truth does not explain is {test.share:.0%} of what it does"
    level: Level = "alarm" if test.share > _LARGE else "warning"
    if named:
        message += f"; most of all {who}"
    if coupled:
        message += f". {len(coupled)} such couples explain all of it and were heard as one voice each"
        level = "warning"
    concerned = tuple(dict.fromkeys(jurors[k] for i, j, _ in named for k in (i, j)))
    return [Alarm("correlated_errors", level, message, test.share, concerned)]
