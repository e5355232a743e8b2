"""How much a request may ask: sizes, lengths, numbers of things, and how often."""

from __future__ import annotations

import re
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from jurors.quoting import visible
from jurors.serve.refused import Refused

# Letters and digits of any script, so that a name is safe as part of a path, a file name, a line of a log or a label.
_PROJECT = re.compile(r"[^\W_][\w.-]*")


@dataclass(frozen=True)
class Limits:
    """What a server takes. Each is refused in one line that says the limit."""

    body: int = 32 << 20  #: bytes of a request's body
    body_seconds: float = 30.0  #: for a body to arrive
    votes: int = 100_000  #: of one request
    projects: int = 1_000
    jurors: int = 2_000  #: of a project
    labels: int = 250  #: of a project: a decision tuple holds a byte per juror
    name: int = 500  #: characters of an item, a juror or a label
    project_name: int = 100
    rate: float = 500.0  #: requests per second of one key, or of one address where there are no keys
    burst: int = 2_000  #: requests at once before the rate holds


def check_project(name: str, limits: Limits) -> str:
    """The name of a project; refused where it could mean something elsewhere.

    >>> check_project("checkout-judges", Limits())
    'checkout-judges'
    """
    if len(name) > limits.project_name or not _PROJECT.fullmatch(name):
        shown = visible(name[: limits.project_name])
        raise Refused(
            422, "bad_name", f"{shown!r} is no name for a project: begin with a letter or digit, then letters, "
            f"digits, '.', '-', '_'; at most {limits.project_name} characters",
        )  # fmt: skip
    return name


@dataclass
class Rate:
    """A bucket of requests per caller, filled at a steady rate; the callers heard of last are remembered.

    >>> clock = iter([0.0, 0.0, 0.0, 2.0])
    >>> rate = Rate(per_second=1, burst=2, clock=lambda: next(clock))
    >>> [rate.wait("ann") for _ in range(4)]
    [0.0, 0.0, 1.0, 0.0]
    """

    per_second: float
    burst: int
    clock: Callable[[], float] = time.monotonic
    most: int = 10_000  #: callers
    _buckets: OrderedDict[str, tuple[float, float]] = field(default_factory=OrderedDict, repr=False)

    def wait(self, caller: str) -> float:
        """Take one request out of the caller's bucket: 0, or in how many seconds there will be one."""
        now = self.clock()
        left, since = self._buckets.pop(caller, (float(self.burst), now))
        left = min(float(self.burst), left + (now - since) * self.per_second)
        taken = left >= 1
        self._buckets[caller] = (left - taken, now)
        if len(self._buckets) > self.most:
            self._buckets.popitem(last=False)
        return 0.0 if taken else (1 - left) / self.per_second
