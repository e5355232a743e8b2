"""A few items with a known label test the grades: are as many of them labelled right as the grades promise?"""

from __future__ import annotations

import math

import numpy as np

from jurors.evaluate import Alarm, Partition
from jurors.evaluate.beside import GoldTest
from jurors.numbers.arrays import Integers

_SURPRISE = 3.0  # standard errors below the promise


def check_gold(partition: Partition, gold: Integers) -> tuple[GoldTest, list[Alarm]]:
    """How many gold items the votes alone would have labelled right, how many that labelling promised, and an alarm.

    Parameters
    ----------
    partition
        The labelling of the decision tuples.
    gold
        Tuples x labels: how many gold items there are.
    """
    each = gold.sum(axis=1)
    right = int(gold[np.arange(len(gold)), partition.chosen].sum())
    promised, each = partition.probability[each > 0], each[each > 0]
    if np.isnan(promised).any():  # majority votes, and shares outside [0, 1], promise nothing
        return GoldTest(int(each.sum()), right, None), []
    expected = float(promised @ each)
    spread = math.sqrt(max(float((promised * (1 - promised)) @ each), 1e-12))
    test = GoldTest(int(each.sum()), right, expected)
    if (right - expected) / max(spread, 0.5) > -_SURPRISE:
        return test, []
    message = (
        f"only {right} of {int(each.sum())} gold items are labelled right where the grades promise {expected:.0f}: "
        "the grades contradict the key"
    )
    return test, [Alarm("gold_contradicts", "alarm", message, right - expected)]
