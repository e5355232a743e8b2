"""The numbers of an experiment as one document: errors of AE and of majority vote beside what was true and measured."""

from __future__ import annotations

from typing import Any

import numpy as np

from jurors._numeric import Floats
from jurors.lab.census.acs import HELD_OUT, LABEL_MEANING, LABELS, MEANING
from jurors.lab.census.acs_groups import evaluate_groups
from jurors.lab.census.experiment import Experiment, PrevalenceTests, shown
from jurors.lab.census.trial import Trio, TrioTests, all_trios, estimated_partition, evaluate_tests

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
_OTHERS = ((1, 2), (0, 2), (0, 1))
_NUMBERS = ("mean", "bias", "rmse", "typical", "median")


def summary(experiment: Experiment) -> dict[str, Any]:
    """As JSON: nothing in it but what the tests gave."""
    settings = experiment.settings
    trios = all_trios(len(experiment.jurors))
    return {
        "experiment": "acs",
        "source": experiment.source,
        "population": experiment.population,
        "draw": settings.draw,
        "labels": list(LABELS),
        "label_meaning": LABEL_MEANING,
        "held_out": list(HELD_OUT),
        "stand_ins": [
            {"column": column, "meaning": MEANING[column], "replaced_by": used, "its_meaning": MEANING[used]}
            for column, used in experiment.stand_ins.items()
        ],
        "missing_code": experiment.missing,
        "settings": {
            "prevalences": [shown(p) for p in settings.prevalences],
            "tests": settings.tests,
            "items": settings.items,
            "seed": settings.seed,
            "training_records": experiment.jury.records,
        },
        "jurors": _jurors(experiment),
        "results": [_result(experiment, tests, trio) for tests in experiment.results for trio in trios],
        "example": _example(experiment),
        "groups": evaluate_groups(
            experiment.jury.groups, draw=settings.draw, trios=trios, labels=("a", "b"), seed=settings.seed
        ),
    }


def _jurors(experiment: Experiment) -> list[dict[str, Any]]:
    """Each juror, as it answers everybody who trained none of them."""
    jury = experiment.jury
    width = len(jury.jurors)
    bits = (np.arange(1 << width)[:, None] >> np.arange(width)[::-1]) & 1
    said = jury.pool @ bits / jury.pool.sum(axis=1, keepdims=True)
    return [
        {
            "juror": k + 1, "name": name, "training_records": jury.records, "epochs": jury.iterations[k],
            "accuracy": {"a": float(1 - said[0, k]), "b": float(said[1, k])},
        }
        for k, name in enumerate(jury.jurors)
    ]  # fmt: skip


def _result(experiment: Experiment, tests: PrevalenceTests, trio: Trio) -> dict[str, Any]:
    """Everything about one trio at one prevalence."""
    of_trio = tests.trios[trio]
    answered = of_trio.decoded.outcome <= 1
    return {
        "prevalence": shown(tests.prevalence),
        "trio": [k + 1 for k in trio],
        "answered": float(answered.mean()),
        "prevalence_of_a": {
            "truth": float(of_trio.truth.prevalence.mean()),
            "algebraic": _errors_of(of_trio.algebraic.prevalence, of_trio.truth.prevalence),
            "majority": _errors_of(of_trio.majority.prevalence, of_trio.truth.prevalence),
        },
        "accuracy": [_accuracy(of_trio, trio, place, label) for place in range(3) for label in (0, 1)],
        "all_accuracies": {
            "algebraic": _sizes(of_trio.algebraic.accuracy, of_trio.truth.accuracy),
            "majority": _sizes(of_trio.majority.accuracy, of_trio.truth.accuracy),
        },
        "labelling_errors": {
            "algebraic": float(of_trio.errors["algebraic"].mean()),
            "majority": float(of_trio.errors["majority"].mean()),
            "best_possible": float(of_trio.errors["best_possible"].mean()),
            "algebraic_expects": _mean(of_trio.errors["expected"]),
        },
        "alarms": {kind: float(rang.mean()) for kind, rang in of_trio.alarms().items()},
        "correlation": _correlation(of_trio, trio),
        "bounds": _bounds(of_trio),
        "smallest_correlation": of_trio.severity(),
    }


def _accuracy(tests: TrioTests, trio: Trio, place: int, label: int) -> dict[str, Any]:
    truth = tests.truth.accuracy[:, place, label]
    return {
        "juror": trio[place] + 1,
        "label": LABELS[label],
        "truth": float(truth.mean()),
        "algebraic": _errors_of(tests.algebraic.accuracy[:, place, label], truth),
        "majority": _errors_of(tests.majority.accuracy[:, place, label], truth),
    }


def _errors_of(estimate: Floats, truth: Floats) -> dict[str, Any]:
    """How the estimates lie around the truth, over the tests that have one; nothing is clamped."""
    has = np.isfinite(estimate)
    if not has.any():
        return {"mean": None, "bias": None, "rmse": None, "typical": None, "median": None, "quantiles": None}
    error = (estimate - truth)[has]
    quantiles = np.quantile(estimate[has], QUANTILES)
    return {
        "mean": float(estimate[has].mean()),
        "bias": float(error.mean()),
        "rmse": float(np.sqrt((error**2).mean())),
        "typical": float(np.median(np.abs(error))),
        "median": float(quantiles[2]),
        "quantiles": {f"{q:g}": float(value) for q, value in zip(QUANTILES, quantiles, strict=True)},
    }


def _sizes(estimate: Floats, truth: Floats) -> dict[str, Any]:
    """The size of the errors of all six accuracies together."""
    errors = _errors_of(estimate, truth)
    return {name: errors[name] for name in ("rmse", "typical")}


def _mean(values: Floats) -> float | None:
    has = np.isfinite(values)
    return float(values[has].mean()) if has.any() else None


def _correlation(tests: TrioTests, trio: Trio) -> dict[str, Any]:
    """Γ as measured in the tests; and what it adds to a pair's covariance, beside what the truth puts there."""
    pairs = [
        {
            "jurors": [trio[j] + 1, trio[k] + 1],
            "a": float(tests.pair_correlation[:, 0, out].mean()),
            "b": float(tests.pair_correlation[:, 1, out].mean()),
            "signal": float(tests.signal[:, out].mean()),
            "added": float(tests.noise[:, out].mean()),
        }
        for out, (j, k) in enumerate(_OTHERS)
    ]
    return {
        "largest": float(tests.largest_correlation.mean()),
        "added_over_signal": float(np.median(tests.added_over_signal)),
        "pairs": pairs,
        "trio": {"a": float(tests.trio_correlation[:, 0].mean()), "b": float(tests.trio_correlation[:, 1].mean())},
    }


def _bounds(tests: TrioTests) -> dict[str, Any]:
    """What is certain of the prevalence if no correlation exceeds the largest one measured in that test."""
    ends = [(pair, float(truth)) for pair, truth in zip(tests.bounds(), tests.truth.prevalence, strict=True) if pair]
    if not ends:
        return {"bounded": 0.0, "low": None, "high": None, "truth_inside": None}
    low, high = np.median([pair for pair, _ in ends], axis=0).tolist()
    inside = np.mean([pair[0] <= truth <= pair[1] for pair, truth in ends])
    return {"bounded": len(ends) / len(tests.counts), "low": low, "high": high, "truth_inside": float(inside)}


def _example(experiment: Experiment) -> dict[str, Any]:
    """The paper's Table 1 for the first test and the first trio."""
    first = experiment.results[0]
    trio = all_trios(len(experiment.jurors))[0]
    tests = evaluate_tests(first.trios[trio].counts[:1])
    observed = tests.counts[0].sum(axis=0)
    likely = estimated_partition(tests.algebraic)[0] * observed.sum()
    return {
        "prevalence": shown(first.prevalence),
        "trio": [k + 1 for k in trio],
        "partition": [
            {
                "decisions": [LABELS[(tuple_ >> bit) & 1] for bit in (2, 1, 0)],
                "count": int(observed[tuple_]),
                "algebraic": _pair(likely[:, tuple_]),
                "actual": {"a": int(tests.counts[0, 0, tuple_]), "b": int(tests.counts[0, 1, tuple_])},
                "majority": LABELS[int(tuple_.bit_count() >= 2)],
            }
            for tuple_ in range(8)
        ],
    }


def _pair(values: Floats) -> dict[str, float] | None:
    return {"a": float(values[0]), "b": float(values[1])} if np.isfinite(values).all() else None


def error_rows(document: dict[str, Any]) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    """One row for each prevalence, trio, statistic and method."""
    names = ("prevalence", "trio", "statistic", "juror", "label", "method", "truth", *_NUMBERS)
    rows = []
    for result in document["results"]:
        trio = " ".join(map(str, result["trio"]))
        statistics = [("prevalence", None, "a", result["prevalence_of_a"])]
        statistics += [("accuracy", entry["juror"], entry["label"], entry) for entry in result["accuracy"]]
        for statistic, juror, label, entry in statistics:
            for method in ("algebraic", "majority"):
                numbers = [entry[method][name] for name in _NUMBERS]
                rows.append((result["prevalence"], trio, statistic, juror, label, method, entry["truth"], *numbers))
    return names, rows
