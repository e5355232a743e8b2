"""Recorded figures of small juries by everything that grades: `python tests/figures.py` records them anew.

A change that moves a figure moves it here, too, and says why. Figures are kept in short: of all numbers under one key
how many there are, how many are missing, and one sum that weighs them by their place.
"""

from __future__ import annotations

import json
import math
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields, is_dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from votes.panels import cells

import jurors

KEPT = Path(__file__).parent / "figures.json"
Short: TypeAlias = tuple[int, int, float]
_WORDS = ("message", "schema", "advice", "basis", "rule", "decisions")


def made(seed: int, *, items: int, rates: Sequence[float], labels: str, answered: float = 1.0) -> tuple[Any, list[str]]:
    """Votes and truth, by Python's own random numbers: the same for ever. The second juror often repeats the first."""
    dice = random.Random(seed)
    truth = dice.choices(labels, weights=range(len(labels) + 1, 1, -1), k=items)
    rows: list[list[str | None]] = []
    for label in truth:
        row: list[str | None] = [label if dice.random() < rate else dice.choice(labels) for rate in rates]
        if dice.random() < 0.1:
            row[1] = row[0]
        rows.append([vote if dice.random() < answered else None for vote in row])
    return jurors.Votes.from_matrix(rows, jurors=[f"j{k}" for k in range(len(rates))], labels=list(labels)), truth


def apart(seed: int) -> tuple[Any, list[str]]:
    """Two groups of jurors who share no item."""
    (one, first), (other, second) = (
        made(seed + k, items=90, rates=(0.8, 0.7, 0.6, 0.5), labels="yn") for k in range(2)
    )
    nobody: list[None] = [None] * 4
    codes = [[*row, *nobody] for row in cells(one)] + [[*nobody, *row] for row in cells(other)]
    return jurors.Votes.from_matrix(codes, jurors=[f"j{k}" for k in range(8)], labels=["y", "n"]), [*first, *second]


JURIES: Mapping[str, Callable[[], tuple[Any, list[str]]]] = {
    "three": partial(made, 1, items=240, rates=(0.8, 0.6, 0.7), labels="yn"),
    "three_of_three_labels": partial(made, 2, items=300, rates=(0.8, 0.6, 0.7), labels="abc"),
    "six_with_gaps": partial(made, 3, items=160, rates=(0.9, 0.5, 0.7, 0.6, 0.8, 0.1), labels="yn", answered=0.7),
    "five_of_four_labels": partial(made, 4, items=200, rates=(0.8, 0.5, 0.7, 0.6, 0.7), labels="abcd", answered=0.9),
    "many_with_few_votes": partial(made, 5, items=150, rates=(0.8, 0.4, 0.6, 0.7) * 4, labels="yn", answered=0.3),
    "in_two_groups": partial(apart, 6),
    "few_items": partial(made, 7, items=25, rates=(0.9, 0.8, 0.6, 0.7), labels="yn"),
}


def _graded(votes: Any, truth: list[str], **options: Any) -> Any:
    return jurors.grade(votes, **options).to_dict()


def _with_gold(votes: Any, truth: list[str]) -> Any:
    return jurors.grade(votes, gold=dict(zip(votes.item_names()[:12], truth[:12], strict=True))).to_dict()


def _with_own_reference(votes: Any, truth: list[str]) -> Any:
    own = jurors.theory.fit_reference(votes, truth, name="own")
    return {"fitted": asdict(own), **jurors.grade(votes, reference=[own] * 9).to_dict()}


def _by_sketch(votes: Any, truth: list[str]) -> Any:
    """What is known of the counts alone, as far as so many jurors and labels have it."""
    sketch = jurors.Sketch.from_votes(votes)
    document = {}
    for ask in (jurors.theory.goodness_of_fit, jurors.theory.correlation_curve):
        try:
            document[ask.__name__] = _plain(ask(sketch))
        except jurors.JurorsError as refused:
            document[ask.__name__] = type(refused).__name__
    dependence = jurors.theory.dependence_with_key(jurors.score(votes, truth))
    return document | {"dependence": _plain(dependence), "largest": sketch.counts.tolist()}


def _plain(result: Any) -> Any:
    """Any result as plain numbers."""
    if isinstance(result, np.ndarray):
        return result.tolist()
    if is_dataclass(result):
        return {one.name: _plain(getattr(result, one.name)) for one in fields(result) if one.name != "sketch"}
    return {key: _plain(one) for key, one in result.items()} if isinstance(result, Mapping) else result


def _printed(votes: Any, truth: list[str]) -> Any:
    """Every number that a reader sees."""
    results = {
        "card": jurors.grade(votes), "score": jurors.score(votes, truth), "bounds": jurors.bounds(votes),
        "compare": jurors.compare(votes, truth, methods=["majority", "dawid_skene"]),
        "agreement": jurors.agreement(votes),
    }  # fmt: skip
    return {
        name: [float(x) for x in re.findall(r"-?[0-9]+(?:[.][0-9]+)?", one.to_text())] for name, one in results.items()
    }


QUESTIONS: Mapping[str, Callable[[Any, list[str]], Any]] = {
    **{method: partial(_graded, method=method) for method in jurors.theory.METHODS},
    "of_a_population": partial(_graded, target="population", level=0.8),
    "if_independent": partial(_graded, errors="independent"),
    "if_shared_so_far": partial(_graded, errors=0.4),
    "gold": _with_gold, "own_juries": _with_own_reference, "sketch": _by_sketch, "printed": _printed,
    "compare": lambda votes, truth: jurors.compare(votes, truth, methods=["majority", "latent"]).to_dict(),
    "label": lambda votes, _: jurors.label(votes).to_dict(),
    "score": lambda votes, truth: jurors.score(votes, truth).to_dict(),
    "agreement": lambda votes, _: jurors.agreement(votes).to_dict(),
    "bounds": lambda votes, _: jurors.bounds(votes).to_dict(),
    "bounds_if_little_shared": lambda votes, _: jurors.bounds(votes, correlation=0.02).to_dict(),
}  # fmt: skip


def figures(jury: str, question: str) -> dict[str, Short] | str:
    """Key -> its numbers in short; or what is said where there is no answer."""
    votes, truth = JURIES[jury]()
    try:
        document = QUESTIONS[question](votes, truth)
    except jurors.JurorsError as refused:
        return type(refused).__name__
    shorts = {key: _short(list(_numbers(part))) for key, part in _parts(document)}
    return {key: short for key, short in shorts.items() if short[0] or key.startswith("alarm ")}


def _parts(document: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, part in document.items():
        if key in _WORDS:
            continue
        if key == "alarms":
            yield from ((f"alarm {one['reason'] or one['kind']} {one['level']}", one["value"]) for one in part)
        elif isinstance(part, Mapping) and key in ("independent", "interval", "details"):
            yield from ((f"{key} {inner}", value) for inner, value in _parts(part))
        else:
            yield key, part


def _numbers(part: Any) -> Iterator[float | None]:
    if isinstance(part, Mapping):
        for key, one in part.items():
            yield from _numbers(one) if key not in _WORDS else ()
    elif isinstance(part, (list, tuple)):
        for one in part:
            yield from _numbers(one)
    elif part is None or (isinstance(part, (int, float)) and math.isfinite(part)):
        yield part


def _short(numbers: list[float | None]) -> Short:
    weighed = sum(x * (1 + k % 11 / 10) for k, x in enumerate(numbers) if x is not None)
    return len(numbers), numbers.count(None), float(f"{weighed:.8g}")


if __name__ == "__main__":
    everything = {jury: {question: figures(jury, question) for question in QUESTIONS} for jury in JURIES}
    KEPT.write_text(json.dumps(everything, indent=None, separators=(",", ":")).replace('},"', '},\n"') + "\n")
