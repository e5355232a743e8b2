"""Alarms, notes and dependence that nobody has read yet: none is lost, whatever becomes of the result meanwhile."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

import jurors
from jurors import Evaluation, Votes
from jurors._lazy import replace_unread
from jurors.jury.calibration import has_too_few_jurors
from jurors.jury.grade import grade_rows

_STANDING = ("clearly_weak_juror", "labels_swapped")  # said where intervals are, which labels need not


def panel(accuracies: tuple[float, ...], *, labels: int = 2, items: int = 400, names: str = "juror {}") -> Votes:
    rng = np.random.default_rng(7)
    truth = rng.integers(labels, size=items)
    wrong = (truth[:, None] + rng.integers(1, labels, (items, len(accuracies)))) % labels
    codes = np.where(rng.random((items, len(accuracies))) < accuracies, truth[:, None], wrong)
    called = [names.format(k) for k in range(1, len(accuracies) + 1)]
    return Votes.from_matrix(codes, jurors=called, labels=tuple("abcd"[:labels]))


def with_copies(votes: Votes, *copied: int) -> Votes:
    """With one more juror for each of these, who says the same."""
    codes = np.column_stack([votes.codes, *(votes.codes[:, k] for k in copied)])
    more = [f"copy of {votes.jurors[k]} {place}" for place, k in enumerate(copied)]
    return Votes.from_matrix(codes, jurors=[*votes.jurors, *more], labels=votes.labels)


PANELS = {
    "a coin": panel((0.9, 0.85, 0.8, 0.8, 0.5)),
    "a coin, three labels": panel((0.9, 0.85, 0.8, 0.8, 1 / 3), labels=3),
    "a liar": panel((0.9, 0.85, 0.8, 0.1)),
    "repeats": panel((0.9, 0.8, 0.85, 0.8), names="judge (run {})"),
    "numbered": panel((0.9, 0.8, 0.85, 0.8), names="judge_{}"),
    "a copy": with_copies(panel((0.9, 0.8, 0.85, 0.8)), 3),
    "two voices": with_copies(panel((0.8, 0.7)), 0, 1),
}


@pytest.mark.parametrize("votes", PANELS.values(), ids=PANELS)
def test_labels_come_with_the_alarms_of_the_grades(votes: Votes) -> None:
    graded = [alarm for alarm in jurors.grade(votes).alarms if alarm.reason not in _STANDING]
    labelling = jurors.label(votes)
    of_grades = [alarm for alarm in labelling.alarms if alarm.reason != "majority_fallback"]
    assert of_grades == graded
    assert (len(labelling.alarms) > len(of_grades)) == np.isnan(labelling.probability).any()
    again = jurors.label(votes, evaluation=jurors.grade(votes)).alarms
    assert [alarm for alarm in again if alarm.reason != "majority_fallback"] == list(jurors.grade(votes).alarms)
    assert labelling.to_dict()["alarms"] == [alarm.to_dict() for alarm in labelling.alarms]


@pytest.mark.parametrize(
    "moved",
    [
        copy.copy,
        copy.deepcopy,
        lambda result: pickle.loads(pickle.dumps(result)),
        lambda result: replace(result, level=0.5),
        lambda result: replace_unread(result, level=0.5),
    ],
    ids=["copy", "deepcopy", "pickle", "replace", "changed"],
)
@pytest.mark.parametrize("votes", PANELS.values(), ids=PANELS)
def test_doubts_that_were_not_read_go_with_the_result(votes: Votes, moved: Callable[[Evaluation], Evaluation]) -> None:
    read, unread = (grade_rows(votes, intervals=False)[0] for _ in range(2))
    known = read.alarms, read.notes, repr(read)
    found = moved(unread)
    assert (found.alarms, found.notes, repr(found)) == known
    assert (unread.alarms, unread.notes, repr(unread)) == known
    assert (found.dependence is None) == (read.dependence is None)


def islands(*parts: Votes) -> Votes:
    """Panels that share no item."""
    rows, width = sum(part.rows for part in parts), sum(len(part.jurors) for part in parts)
    codes, row, juror = np.full((rows, width), -1), 0, 0
    for part in parts:
        codes[row : row + part.rows, juror : juror + len(part.jurors)] = part.codes
        row, juror = row + part.rows, juror + len(part.jurors)
    return Votes.from_matrix(codes, jurors=[f"j{k}" for k in range(width)], labels=parts[0].labels)


@pytest.mark.parametrize(
    "votes",
    [
        *PANELS.values(),
        with_copies(panel((0.8, 0.7)), 0),
        with_copies(panel((0.8, 0.7), labels=3), 0),
        islands(PANELS["a coin"], PANELS["two voices"]),
        islands(PANELS["two voices"], PANELS["two voices"]),
    ],
)
def test_too_few_distinct_show_in_the_labels_before_any_alarm_is_read(votes: Votes) -> None:
    """Why nothing is calibrated then may be asked of the partition: it must say what the alarms say."""
    result = grade_rows(votes, intervals=False)[0]
    kinds = [alarm.reason for alarm in result.alarms]
    assert result.independent.partition is not None
    assert ("too_few_distinct" in kinds) == (result.independent.partition.by_majority is not None)
    unheard = {name for alarm in result.alarms if alarm.reason == "too_few_distinct" for name in alarm.jurors}
    heard = bool(set(result.jurors) - unheard) if result.islands else "too_few_distinct" not in kinds
    assert has_too_few_jurors(result) is not heard


def test_one_distinct_juror_is_counted_in_the_singular() -> None:
    (note,) = (x for x in jurors.grade([["a", "b", "a", "a"], ["b", "b", "b", "b"]] * 40).notes if "worth" in x)
    assert note == "These 4 jurors are worth at most 1 independent juror."
