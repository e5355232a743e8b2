"""The partition of Table 1: each decision tuple's items split by true label, and the label that loses the fewest."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jurors.evaluate import Partition, Solution
from jurors.evaluate.majority import majority_shares, vote_counts
from jurors.evaluate.posterior import decide, tuple_posterior
from jurors.sketch import Sketch


def partition_by_label(sketch: Sketch, solution: Solution, posterior: NDArray[np.float64] | None = None) -> Partition:
    """Split every tuple's items by estimated true label.

    A method that has its own posterior (an EM with strata, say) hands it over; otherwise it follows from the solution.

    Examples
    --------
    >>> from jurors.evaluate import evaluate_trio
    >>> sketch = Sketch.from_counts({"AAA": 568, "AAB": 553, "ABA": 649, "BAA": 1813,
    ...                              "BBA": 3534, "BAB": 3607, "ABB": 1068, "BBB": 8208}, jurors="ijk")
    >>> partition = partition_by_label(sketch, evaluate_trio(sketch)[0])
    >>> partition.by_true_label[0].round().tolist(), round(partition.expected_errors, 1)
    ([399.0, 169.0], 1545.4)
    """
    likely = tuple_posterior(sketch, solution) if posterior is None else posterior
    counts = sketch.counts[:, None]
    by_true_label = np.multiply(likely, counts, where=counts > 0, out=np.zeros_like(likely))  # a tuple nobody gave: 0
    return Partition(sketch, by_true_label, decide(likely, vote_counts(sketch)))


def majority_partition(sketch: Sketch) -> Partition:
    """The same table as majority vote fills it: every item of a tuple goes to the majority's label."""
    shares = majority_shares(sketch)
    return Partition(sketch, shares * sketch.counts[:, None], np.asarray(shares.argmax(axis=1)), is_sure_of_itself=True)
