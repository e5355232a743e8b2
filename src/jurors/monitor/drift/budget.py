"""How the stated error rate is shared out: over what is watched, over jurors who may still come, over borders.

All shares add up to 1 at most, whoever comes and however long the stream lasts, so the chance that a stream on which
nothing changes ever rings is at most alpha (Ville's inequality for each series and border, added up).
"""

from __future__ import annotations

import numpy as np
from scipy.special import zeta

from jurors.numbers.arrays import Floats

#: Of what is watched, by subject.
SUBJECTS = {"prevalence": 0.2, "juror": 0.35, "pair": 0.2, "silence": 0.15, "panel": 0.1}
_FOR_THE_FIRST = 0.75  # of a subject's share: what is left is for jurors who come later
_FALL = 1.2  # border j is worth j^-1.2/ζ(1.2): the sum over all borders that will ever be is 1


def shares(members: int, first: int) -> Floats:
    """The share of each member: the `first` split three quarters, each doubling of their number half of what is left.

    >>> shares(4, 2).tolist()
    [0.375, 0.375, 0.0625, 0.0625]
    """
    first = max(first, 1)
    place = np.arange(members)
    doubling = np.where(place < first, 0, np.floor(np.log2(np.maximum(place, first) / first)) + 1)
    late = (1 - _FOR_THE_FIRST) * 0.5**doubling / (first * 2.0 ** (doubling - 1))
    return np.where(doubling == 0, _FOR_THE_FIRST / first, late)


def log_border_shares(numbers: Floats) -> Floats:
    """ln of the share of the first border, of the second …"""
    logs: Floats = -_FALL * np.log(numbers) - np.log(zeta(_FALL))
    return logs
