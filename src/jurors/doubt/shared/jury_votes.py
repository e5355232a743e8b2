"""`Jury`: votes by decision tuple with a method's posterior, and what can be seen of shared error without a key."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jurors.numbers.arrays import Floats, Integers

_MOST_AT_ONCE = 1 << 22  # votes: a hundred million need not be held by cell as well
MOST_PER_VOICE = 3.0  #: log-odds one voice may add (20 to 1): a fit that claims more is not believed


@dataclass(frozen=True)
class Jury:
    """Votes by decision tuple, and what a method makes of them as if errors were independent."""

    posterior: Floats  #: (T, R) probability of each label
    weights: Floats  #: (T,) how many items have the tuple
    row: Integers  #: the tuple of each vote
    juror: NDArray[np.signedinteger[Any]]  #: who cast it
    label: NDArray[np.signedinteger[Any]]  #: what was said
    jurors: int
    voices: Floats  #: (T,) how many voices answered: one judge asked five times is one voice

    @property
    def labels(self) -> int:
        """How many labels there are."""
        return int(self.posterior.shape[1])


def count_voices(row: Integers, juror: NDArray[np.signedinteger[Any]], tuples: int, voice: Integers) -> Floats:
    """(T,) how many voices answered each tuple."""
    if len(voice) == 0 or int(voice.max()) + 1 == len(voice):
        return np.bincount(row, minlength=tuples).astype(np.float64)
    width = int(voice.max()) + 1
    heard = np.unique(row * width + voice[juror])
    return np.bincount(heard // width, minlength=tuples).astype(np.float64)


def with_labels(jury: Jury, chosen: Integers) -> Jury:
    """One more juror, who says these labels of the tuples: they are graded as everybody's answers are."""
    last = np.full(len(chosen), jury.jurors, dtype=jury.juror.dtype)
    return replace(
        jury,
        row=np.concatenate([jury.row, np.arange(len(chosen))]),
        juror=np.concatenate([jury.juror, last]),
        label=np.concatenate([jury.label, chosen.astype(jury.label.dtype)]),
        jurors=jury.jurors + 1,
    )


def log_odds(posterior: Floats, voices: Floats) -> Floats:
    """Log-probabilities relative to the likeliest label; none lower than so many voices can honestly make it.

    A degenerate fit, certain of thousands of items, is not believed that far.
    """
    with np.errstate(divide="ignore"):
        likely = np.log(posterior.T, order="C")  # a maximum over a short last axis takes four times as long
    if np.isnan(likely[0]).any():
        likely = np.where(np.isnan(likely), 0.0, likely)
    likely -= likely.max(axis=0)
    np.maximum(likely, -MOST_PER_VOICE * np.maximum(voices, 1.0), out=likely)
    return np.ascontiguousarray(likely.T)


def answer_spread(jury: Jury) -> float:
    """How far the jurors' own answer rates lie apart: root of the vote-weighted variance, mean over labels.

    The one visible trace of shared error: jurors with a default answer err together where the truth is another.
    """
    sums = np.zeros(jury.jurors * jury.labels)
    for start in range(0, len(jury.row), _MOST_AT_ONCE):
        votes = slice(start, start + _MOST_AT_ONCE)
        cell = jury.juror[votes] * jury.labels + jury.label[votes]
        sums += np.bincount(cell, weights=jury.weights[jury.row[votes]], minlength=len(sums))
    said = sums.reshape(jury.jurors, jury.labels)
    cast, rates = np.add.reduce(said, axis=1), np.add.reduce(said, axis=0)
    total = np.add.reduce(rates)
    apart = said / np.maximum(cast, 1e-12)[:, None] - rates / total
    return float(np.sqrt(cast.dot(apart * apart) / total).mean())


def majority_posterior(jury: Jury) -> Floats:
    """What the votes say if all jurors are equally good and errors independent: the votes' logarithm is their count.

    Their accuracy a follows from how often two agree, a² + (1 - a)² / (R - 1).
    """
    size = jury.labels
    cell = jury.row * size + jury.label
    said = np.bincount(cell, minlength=len(jury.weights) * size).reshape(-1, size).astype(float)
    cast = said.sum(axis=1)
    pairs = float(jury.weights @ (cast * (cast - 1)))
    agreed = float(jury.weights @ ((said**2).sum(axis=1) - cast)) / pairs if pairs else 1.0
    # a solves a² R/(R-1) - 2a/(R-1) + 1/(R-1) - agreed = 0
    inner = max(1.0 - size * (1.0 - agreed * (size - 1)), 0.0)
    accuracy = min(max((1.0 + np.sqrt(inner)) / size, 1.0 / size + 0.02), 0.995)
    z = said * np.log(accuracy * (size - 1) / (1.0 - accuracy))
    z = np.exp(z - z.max(axis=1, keepdims=True))
    return np.asarray(z / z.sum(axis=1, keepdims=True))
