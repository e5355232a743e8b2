"""Which level each place of the hidden line is: the jurors' own thresholds, by how closely they follow the items.

A juror goes from level r - 1 to level r at the place t_jr / a_j. The panel's place is Σ w_j t_jr / Σ w_j a_j with
w_j = a_j⁴ √n_j, for slope a_j and n_j votes: what a level means is learned from those who follow the items closely, and
not much more from who votes often. Jurors who turn the scale round have no say. This is the truth that the panel means:
what a juror would say who never erred.

The powers: of 1 to 5 for the slope, and 0, ½, 1 for the votes, these graded jurors and items best on seven of the eight
sets of `benchmarks/ordered_levels.py` whichever one was left out; with a_j² n_j, many careless jurors outvote the good.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jurors.evaluate.ordered.graded_response import Responses
from jurors.numbers.arrays import Floats

_FAR = 1e6  # beyond every place
_LEAST = 1e-9


@dataclass(frozen=True, slots=True)
class Bands:
    """Where levels end, and the level of each place of the grid."""

    edges: Floats  #: (stack, levels - 1)
    share: Floats  #: (stack, C, levels) how much of a place's cell lies in each level; rows add up to one


def level_bands(responses: Responses, places: Floats, votes: Floats, heard: Floats | float = 1.0) -> Bands:
    """The bands of each panel of a stack; `votes` are (stack, jurors, C, levels).

    `heard` (stack, jurors) makes some jurors' say larger or smaller: to see how far the bands hang on who was asked.
    """
    follow = np.maximum(responses.slopes, _LEAST)
    say = heard * follow**4 * np.sqrt(votes.sum(axis=(2, 3)) + _LEAST)
    edges = (say[..., None] * responses.thresholds).sum(axis=1) / (say * follow).sum(axis=1)[:, None]
    half = (places[1] - places[0]) / 2
    low, high = places - half, places + half
    low[0], high[-1] = -_FAR, _FAR
    ends = np.concatenate([np.full((len(edges), 1), -_FAR), edges, np.full((len(edges), 1), _FAR)], axis=1)
    start = np.maximum(low[:, None], ends[:, None, :-1])
    overlap = np.maximum(np.minimum(high[:, None], ends[:, None, 1:]) - start, 0.0)
    return Bands(edges, overlap / overlap.sum(axis=2, keepdims=True))
