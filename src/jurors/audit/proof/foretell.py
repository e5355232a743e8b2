"""What votes alone make of every item's true label: several posteriors, of which labels will tell the best.

How far jurors share their errors cannot be seen in votes (docs/calibration.md), so the posterior stands here several
times, tempered by q^(1 / (1 + rho (n - 1))) for several shared errors rho and n voices; beside it the votes themselves,
and what is the same for all items. None may rule a label out: a surprise must stay possible.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jurors.numbers.arrays import Floats

_SHARED = (0.0, 0.1, 0.3, 1.0, 3.0)  #: shared errors: from none to more than any reference jury's
_SHARED_VOTES = (0.3, 1.0)
_PRIOR = (0.1, 0.15, 0.3, 0.15, 0.1, 0.1, 0.05, 0.05)
_POSSIBLE = 1e-3  #: no label is less likely than this, shared among the labels


@dataclass(frozen=True, eq=False)
class Foretellers:
    """Posteriors of the tuples, with how far each is trusted before the first label."""

    posteriors: Floats  #: foretellers x tuples x labels
    weights: Floats


def foretellers(posterior: Floats, votes: Floats, voices: Floats, sizes: Floats) -> Foretellers:
    """The posteriors of tuples by a model and by the votes given, tempered; and the shares of labels overall."""
    rows = [_tempered(posterior, rho, voices) for rho in _SHARED]
    rows += [_tempered(votes, rho, voices) for rho in _SHARED_VOTES]
    rows.append(np.broadcast_to(sizes @ rows[2] / sizes.sum(), posterior.shape))
    possible = (1 - _POSSIBLE) * np.array(rows) + _POSSIBLE / posterior.shape[1]
    return Foretellers(possible, np.array(_PRIOR))


def _tempered(posterior: Floats, rho: float, voices: Floats) -> Floats:
    log = np.log(np.maximum(posterior, 1e-12)) / (1 + rho * np.maximum(voices - 1, 0))[:, None]
    q = np.exp(log - log.max(axis=1, keepdims=True))
    return np.asarray(q / q.sum(axis=1, keepdims=True))


def votes_given(counts: Floats) -> Floats:
    """Tuples x labels: the posterior if every vote were right with odds 2 to 1, from how often each label was voted."""
    log = counts * np.log(2.0)
    q = np.exp(log - log.max(axis=1, keepdims=True))
    return np.asarray(q / q.sum(axis=1, keepdims=True))
