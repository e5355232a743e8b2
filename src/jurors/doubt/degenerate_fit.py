"""A fit that is too sure to be believed: jurors contradict each other, and it expects none of its labels to be wrong.

Likelihood can make one juror (or one group) the truth: its accuracies go to 1 and every item is settled, whatever the
others say. Such a fit expects no errors, so every number made from its probabilities is void. It shows on *contested*
items: those on which at least a third of the votes go to one other label. Sound fits doubt those most; votes that
scatter over many labels contest nothing.
"""

from __future__ import annotations

import numpy as np

from jurors.evaluate.alarm import Alarm
from jurors.evaluate.majority import vote_counts
from jurors.evaluate.partition import Partition

_AGAINST, _VOTES = 1 / 3, 3  # an item is contested where this share of at least so many votes names one other label
_ENOUGH = 20  # contested items from which the fit is judged: fewer may be as clear as it says
# Expected wrong labels for each contested item below which the fit is too sure. Of the 45 reference juries one lies
# below (llmbar, .003); the next are bluebirds .012 and xstest_refusal .017, the middle one .09. Hundreds of weak jurors
# could earn such certainty: that was not measured.
_TOO_SURE = 0.005


def degenerate_alarms(partition: Partition) -> list[Alarm]:
    """The warning of a fit that expects next to no error where jurors contradict each other."""
    items, wrong = contested(partition)
    if items < _ENOUGH or not wrong < _TOO_SURE * items:  # NaN: the labels earned no probability, and claim none
        return []
    message = (
        f"on {items:,.0f} items at least a third of the votes go to one other label, yet the fit expects only "
        f"{wrong:,.2f} of these labels to be wrong: it has made some jurors the truth, so its probabilities and "
        "expected errors are not to be believed"
    )
    return [Alarm("degenerate_fit", "warning", message, wrong / items)]


def contested(partition: Partition) -> tuple[float, float]:
    """How many items are contested, and how many of their labels are expected to be wrong."""
    votes, counts = vote_counts(partition.sketch), partition.sketch.counts
    cast = votes.sum(axis=1)
    votes[np.arange(len(votes)), partition.chosen] = 0
    against = votes.max(axis=1)
    which = (cast >= _VOTES) & (against >= _AGAINST * cast) & (counts > 0)
    return float(counts[which].sum()), float((counts * (1 - partition.probability))[which].sum())
