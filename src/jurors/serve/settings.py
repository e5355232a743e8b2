"""What `jurors serve` was told."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass

from jurors.errors import OptionError

_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How a server runs; workers get it as JSON."""

    store: str = "votes.db"
    host: str = "127.0.0.1"
    port: int = 8000
    workers: int = 1
    keep: float | None = None  #: seconds that votes are kept; None: always

    def to_json(self) -> str:
        """For another process."""
        return json.dumps(asdict(self))


def duration(text: str) -> float:
    """Seconds: a number and its unit, s, m, h, d or w.

    >>> duration("90d"), duration("12h")
    (7776000.0, 43200.0)
    """
    told = re.fullmatch(r"(\d+(?:\.\d+)?)([smhdw])", text.strip())
    if told is None or not float(told[1]):
        raise OptionError(f"{text!r} is no length of time; write 90d, 12h, 30m", code="out_of_range", value=text)
    return float(told[1]) * _UNITS[told[2]]
