"""Numbers that a juror gave one item several times: their mean is its number."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jurors.errors import VotesError
from jurors.numbers.arrays import Integers
from jurors.values.repeatability import Again
from jurors.votes.repeated.own_answers import Repeats

_DIGITS = 15  # a mean of decimals is one of few digits again, or has no end


def with_means(
    texts: Sequence[str], codes: Integers, repeats: Repeats, *, is_counted: bool = False
) -> tuple[list[str], Integers, Again]:
    """The distinct numbers and the items x jurors positions among them, each repeated one as its mean; and all of them.

    >>> said = np.array([[0, 0, 1]], dtype=np.int8)
    >>> own = Repeats(np.array([0]), np.array([0], dtype=np.int32), said, np.array([1]))
    >>> texts, codes, again = with_means(["1", "4"], np.array([[0, 1]]), own)
    >>> texts, codes.tolist(), again.said.tolist()
    (['1', '4', '2.0'], [[2, 1]], [[1.0, 1.0, 4.0]])
    """
    if is_counted:
        raise VotesError("numbers that were given several times and are counted already have no mean; read the votes")
    values = np.array([*map(float, texts), np.nan])  # abstaining is the last code, and -1
    said = values[np.minimum(repeats.said, len(texts))]
    given = ~np.isnan(said)
    spoke = given.any(axis=1)
    means = np.divide(np.nansum(said, axis=1), given.sum(axis=1), out=np.full(len(said), np.nan), where=spoke)
    known = {float(text): place for place, text in reversed(list(enumerate(texts)))}
    shown = list(texts)
    for mean in dict.fromkeys(float(f"{mean:.{_DIGITS}g}") for mean in means[spoke].tolist()):
        if mean not in known:
            known[mean] = len(shown)
            shown.append(repr(mean))
    codes = codes.copy()
    codes[repeats.row, repeats.juror] = [
        -1 if mean != mean else known[float(f"{mean:.{_DIGITS}g}")] for mean in means.tolist()
    ]
    several = given.sum(axis=1) > 1
    return shown, codes, Again(repeats.row[several], repeats.juror[several].astype(np.int64), said[several])
