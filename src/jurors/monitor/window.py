"""Windows: how a stream is cut into panes, and which panes are looked at together."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

from jurors.errors import OptionError

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([smhdw]?)")
_PANES = 8  #: per half-life
_FORMS = "items (1000), a time (90s, 15m, 1h, 7d), SIZE/STEP (1h/5m), or 'half-life 1d'"


@dataclass(frozen=True)
class Window:
    """A window of so many items, or of so much of the votes' own time.

    Examples
    --------
    >>> tumbling, sliding, fading = Window.of(1000), Window.of("1h/15m"), Window.of("half-life 800")
    >>> tumbling.panes(3), sliding.panes(7), fading.step
    ([3], [4, 5, 6, 7], 100)
    >>> str(sliding), sliding.by_time, sliding.span(7)
    ('1h/15m', True, (3600.0, 7200.0))
    """

    size: float  #: items, or seconds
    step: float  #: how far it moves: the size of a pane
    by_time: bool
    fades: bool = False  #: whether `size` is a half-life

    @classmethod
    def of(cls, told: Window | int | str) -> Window:
        """The window that is meant by a number of items or a text; OptionError says what can be."""
        if isinstance(told, Window):
            return told
        text = str(told).strip()
        fades = text.startswith("half-life ")
        size, _, step = text.removeprefix("half-life ").partition("/")
        (wide, by_time), (narrow, same) = _size(size, told), _size(step or size, told)
        if fades and not step:
            return cls(wide, wide / _PANES if by_time else math.ceil(wide / _PANES), by_time, True)
        if fades or by_time != same or narrow > wide or wide % narrow:
            raise _unknown(told, "the step must go into the window without a rest" if step else "")
        return cls(wide, narrow, by_time)

    def __str__(self) -> str:
        if self.fades:
            return f"half-life {self._text(self.size)}"
        return self._text(self.size) + (f"/{self._text(self.step)}" if self.step != self.size else "")

    def _text(self, size: float) -> str:
        if not self.by_time:
            return f"{size:g}" if size < 1e6 else str(int(size))
        unit = max((u for u, seconds in _SECONDS.items() if size % seconds == 0), key=_SECONDS.__getitem__, default="s")
        return f"{size / _SECONDS[unit]:.12g}{unit}"

    def number(self, place: float) -> int:
        """The pane of an item, by its number from 0 or by the time of its first vote."""
        return math.floor(place / self.step)

    def panes(self, number: int) -> list[int]:
        """The panes of the window whose last pane this is; of a half-life, those that still weigh something."""
        many = 16 * _PANES if self.fades else round(self.size / self.step)
        return list(range(number - many + 1, number + 1))

    def weights(self, number: int, known: Iterable[int]) -> dict[int, float] | None:
        """Of a half-life, how much an item of each pane weighs when this is the last; None where all weigh the same."""
        if not self.fades:
            return None
        return {one: 0.5 ** ((number - one) * self.step / self.size) for one in known if one <= number}

    def span(self, number: int) -> tuple[float, float]:
        """Where the window with this last pane begins and ends; a half-life has no beginning."""
        end = (number + 1) * self.step
        return (-math.inf if self.fades else end - self.size), end


def _size(text: str, told: object) -> tuple[float, bool]:
    match = _SIZE.fullmatch(text.strip())
    if match is None or not (number := float(match[1])) or (not match[2] and not number.is_integer()):
        raise _unknown(told)
    return number * _SECONDS.get(match[2], 1), bool(match[2])


def _unknown(told: object, why: str = "") -> OptionError:
    reason = f" ({why})" if why else ""
    return OptionError(f"window must be {_FORMS}, got {told!r}{reason}", code="out_of_range", name="window", value=told)
