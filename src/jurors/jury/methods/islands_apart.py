"""Grade each group of jurors by itself, then put the report cards together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from jurors.doubt import interval_around
from jurors.errors import SketchError
from jurors.evaluate import Alarm, Evaluation, Named, Solution
from jurors.evaluate.beside import Island
from jurors.evaluate.panel.islands import juror_groups, part_of
from jurors.evaluate.partition import Partition, partition_by_label
from jurors.names import and_more
from jurors.sketch import Sketch

_MOST_NAMED = 8
MOST_GROUPS = 50  #: more are graded together: so many small groups have little to say each


def grade_groups(sketch: Sketch, grade: Callable[[Sketch], Evaluation]) -> Evaluation:
    """Grade a sketch whose jurors may fall into groups that share no item; say so where they do."""
    group = juror_groups(sketch)
    count = int(group.max()) + 1
    if count == 1:
        return grade(sketch)
    message = f"the jurors fall into {count} groups that share no item: nothing compares one group with another"
    if count > MOST_GROUPS:
        whole = grade(sketch)
        alarm = Alarm("disconnected_groups", "warning", f"{message}; so many are graded as one", float(count))
        return replace(whole, alarms=(alarm, *whole.alarms))
    parts = [part_of(sketch, group, k) for k in range(count)]
    cards = [grade(part) for part, _ in parts]
    if any(card.solution is None or card.partition is None for card in cards):
        raise SketchError(f"{message}, and one of them has no real evaluation; grade them one by one")
    alarm = Alarm("disconnected_groups", "warning", f"{message}; each was graded by itself", float(count))
    return _join(sketch, parts, cards, alarm)


def _join(sketch: Sketch, parts: list[Any], cards: list[Evaluation], alarm: Alarm) -> Evaluation:
    shares = np.array([card.items for card in cards], dtype=float)
    shares /= shares.sum()
    prevalence = shares @ np.array([list(card.prevalence.values()) for card in cards], dtype=float)
    grades = {juror: grade for card in cards for juror, grade in _grades(card)}
    confusions, scores = zip(*(grades[juror] for juror in sketch.jurors), strict=True)
    solution = Solution(sketch.jurors, sketch.labels, tuple(prevalence.tolist()), confusions, scores)
    result = replace(
        cards[0], items=sketch.items, jurors=sketch.jurors, labels=sketch.labels, solution=solution,
        solutions=(solution,), interval=None, standard_error=None,
        partition=_partition(sketch, parts, cards, solution),
        alarms=(alarm, *(_of_island(a, card) for card in cards for a in card.alarms)),
        islands=tuple(Island(card.jurors, card.items, card.prevalence, card.model) for card in cards),
        voices=_voices(sketch, cards),
        notes=(), dependence=None, model=None, iterations=None, converged=None, measured={},
    )  # fmt: skip
    if all(card.standard_error is None for card in cards):
        return result
    return replace(
        result, interval=_intervals(cards, shares, prevalence, result), standard_error=_errors(cards, shares)
    )


def _partition(sketch: Sketch, parts: list[Any], cards: list[Evaluation], solution: Solution) -> Partition:
    """Each island's items as the island labels them: by majority vote where its voices are too few."""
    posterior = np.repeat(np.array(solution.prevalences)[None], sketch.tuples.rows, axis=0)  # items nobody saw
    by_majority = np.zeros(sketch.tuples.rows, dtype=bool)
    for (part, rows), card in zip(parts, cards, strict=True):
        if card.partition is not None:
            with np.errstate(divide="ignore", invalid="ignore"):
                posterior[rows] = card.partition.by_true_label / part.counts[:, None]
            by_majority[rows] = card.partition.is_sure_of_itself
    whole = partition_by_label(sketch, solution, np.nan_to_num(posterior))
    return replace(whole, by_majority=by_majority if by_majority.any() else None)


def _voices(sketch: Sketch, cards: list[Evaluation]) -> tuple[int, ...]:
    """Each juror's voice, as the positions among all jurors say it."""
    place = {juror: k for k, juror in enumerate(sketch.jurors)}
    speaker = {j: card.jurors[voice] for card in cards for j, voice in zip(card.jurors, card.voices, strict=True)}
    return tuple(place[speaker[juror]] for juror in sketch.jurors)


def _of_island(alarm: Alarm, card: Evaluation) -> Alarm:
    """Too few voices are said of their own island, and of everybody on it."""
    if alarm.kind != "too_few_voices":
        return alarm
    who = and_more(map(repr, card.jurors), _MOST_NAMED)
    return replace(alarm, message=f"in the group of {who}, {alarm.message}", jurors=card.jurors)


def _grades(card: Evaluation) -> Iterator[tuple[str, tuple[Any, Any]]]:
    """Each juror's confusion matrix and score."""
    solution: Any = card.solution
    return zip(solution.jurors, zip(solution.confusions, solution.score.values(), strict=True), strict=True)


def _none(card: Evaluation, nothing: Any) -> Named:
    """The statistics of an island that has none: of its jurors, and so of how common the labels are."""
    by_label = Named((a, nothing) for a in card.labels)
    accuracy, score = Named((j, by_label) for j in card.jurors), Named((j, nothing) for j in card.jurors)
    return Named(prevalence=by_label, accuracy=accuracy, score=score)


def _errors(cards: list[Evaluation], shares: np.ndarray[Any, Any]) -> Named:
    """Groups share no item, so their errors are independent."""
    labels = cards[0].labels
    errors = [card.standard_error or _none(card, np.nan) for card in cards]
    each = np.array([[e["prevalence"][a] for a in labels] for e in errors])
    together = np.sqrt(((shares[:, None] * each) ** 2).sum(axis=0))
    return Named(
        prevalence=Named(zip(labels, together.tolist(), strict=True)),
        accuracy=Named((j, row) for e in errors for j, row in e["accuracy"].items()),
        score=Named((j, x) for e in errors for j, x in e["score"].items()),
    )


def _intervals(
    cards: list[Evaluation], shares: np.ndarray[Any, Any], prevalence: np.ndarray[Any, Any], whole: Evaluation
) -> Named:
    errors = _errors(cards, shares)
    spread = np.array(list(errors["prevalence"].values()))
    low, high = interval_around(prevalence, spread, np.full(len(prevalence), float(whole.items)), whole.level)
    intervals = [card.interval or _none(card, (np.nan, np.nan)) for card in cards]
    return Named(
        prevalence=Named((a, (float(x), float(y))) for a, x, y in zip(whole.labels, low, high, strict=True)),
        accuracy=Named((j, row) for e in intervals for j, row in e["accuracy"].items()),
        score=Named((j, ends) for e in intervals for j, ends in e["score"].items()),
    )
