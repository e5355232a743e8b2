"""An experiment in numbers, words and tables.

`summary` is the document: errors of AE and of majority vote (MV) beside what was true and measured, nothing but what
the tests gave. `verdict` says in a few sentences what it shows, taken from those numbers alone. `report_blocks` puts
the verdict first, then who and how, then the tables.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from jurors._numeric import Floats
from jurors.results import Prose, Table
from reproduce.acs.data import HELD_OUT, LABEL_MEANING, LABELS, MEANING
from reproduce.acs.run import Experiment, PrevalenceTests, shown
from reproduce.acs.trials import (
    DROWNED,
    Trio,
    TrioTests,
    all_trios,
    estimated_partition,
    evaluate_groups,
    evaluate_tests,
)

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
    second_share = jury.pool @ bits / jury.pool.sum(axis=1, keepdims=True)
    return [
        {
            "juror": k + 1, "name": name, "training_records": jury.records, "epochs": jury.iterations[k],
            "accuracy": {"a": float(1 - second_share[0, k]), "b": float(second_share[1, k])},
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
        "alarms": {kind: float(flags.mean()) for kind, flags in of_trio.alarms().items()},
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


# -- the verdict -----------------------------------------------------------------------------------------------------

_QUIET = 0.05
_WHERE = {"shared": "on the same records for all jurors", "separate": "on separate records for each juror"}


def verdict(document: Mapping[str, Any]) -> Iterator[str]:
    """A few short paragraphs."""
    results = document["results"]
    used = ", ".join(f"{s['replaced_by']} for {s['column']}" for s in document["stand_ins"])
    yield (
        f"{document['population']}; {_WHERE[document['draw']]}; {'stand-ins ' + used if used else 'no stand-ins'}. A "
        f"setting is one of {len(document['settings']['prevalences'])} prevalences and one trio of jurors. AE is the "
        "paper's algebraic evaluation of three jurors, MV their majority vote."
    )
    yield f"AE against MV: {against_majority(results)}"
    yield f"{drowned_settings(results)} {bounded_settings(results)}"
    if document["draw"] == "separate":
        yield (
            "These tests are independent by construction: what is left of AE's error is chance, large where jurors are "
            "weak (`weak pair`). Do not quote these figures for jurors who label the same records."
        )


def against_majority(results: Sequence[Mapping[str, Any]]) -> str:
    """In how many settings AE was closer than majority vote, and at which prevalences."""
    prevalences = [r["prevalence_of_a"] for r in results]
    accuracies = [e for r in results for e in r["accuracy"]]
    labels = sum(_less(r["labelling_errors"]["algebraic"], r["labelling_errors"]["majority"]) for r in results)
    total = len(results)
    return (
        f"closer to the prevalence in {_closer(prevalences, 'typical')} of {total} settings by the typical error "
        f"({_by_prevalence(results)}), in {_closer(prevalences, 'rmse')} by RMSE; closer to "
        f"{_closer(accuracies, 'typical')} of {len(accuracies)} accuracies by the typical error, to "
        f"{_closer(accuracies, 'rmse')} by RMSE; fewer wrong labels in {labels} of {total} settings."
    )


def _by_prevalence(results: Sequence[Mapping[str, Any]]) -> str:
    names = dict.fromkeys(r["prevalence"] for r in results)
    inside = {name: [r["prevalence_of_a"] for r in results if r["prevalence"] == name] for name in names}
    return ", ".join(f"{_closer(some, 'typical')} of {len(some)} at {name}" for name, some in inside.items())


def drowned_settings(results: Sequence[Mapping[str, Any]]) -> str:
    """In how many settings error correlations add as much as the signal, and whether an alarm shows it."""
    drowned = [r for r in results if r["correlation"]["added_over_signal"] >= DROWNED]
    if not drowned:
        largest = max(r["correlation"]["added_over_signal"] for r in results)
        return (
            "In no setting do error correlations add as much to a pair's covariance as the truth puts there (typically "
            f"{largest:.2f} of it at most): they do not drown the signal."
        )
    quiet = sum(r["alarms"]["out_of_range"] + r["alarms"]["complex"] < _QUIET for r in drowned)
    quiet_note = (
        f" In {quiet} of these neither an impossible number nor a complex root shows in more than {_QUIET:.0%} of "
        "tests: a quiet alarm proves nothing."
    )
    return (
        f"In {len(drowned)} of {len(results)} settings error correlations add as much to some pair's covariance as the "
        "truth puts there: AE takes them for skill, and is right by luck only." + quiet_note * bool(quiet)
    )


def bounded_settings(results: Sequence[Mapping[str, Any]]) -> str:
    """In how many settings the robust bounds say anything."""
    bounded = sum(r["bounds"]["bounded"] > 0.5 for r in results)
    return f"Bounds at the measured correlation say something in most tests of {bounded} of {len(results)} settings."


def _closer(entries: Sequence[Any], size: str) -> int:
    return sum(_less(entry["algebraic"][size], entry["majority"][size]) for entry in entries)


def _less(first: float | None, second: float | None) -> bool:
    return first is not None and second is not None and first < second


# -- the tables ------------------------------------------------------------------------------------------------------

_WIDTH = 118

_DRAWN = {
    "shared": "the same records for all jurors, as in practice",
    "separate": (
        "records drawn separately for each juror within a true label, so that errors are independent by construction. "
        "No real test is like this: jurors who label the same records are measured with the shared draw"
    ),
}  # fmt: skip


def report_blocks(document: Mapping[str, Any]) -> list[Prose | Table]:
    """The verdict first, then who and how, then the tables.

    Parameters
    ----------
    document
        What `summary` returns, or the content of a `report.json`.
    """
    settings, blank = document["settings"], document["missing_code"]
    stand_ins = [
        f"{s['replaced_by']} ({s['its_meaning']}) for {s['column']} ({s['meaning']})" for s in document["stand_ins"]
    ]
    code = f" Blank answers reach the jurors as the code {blank}." if blank is not None else ""
    lines = [
        *verdict(document),
        f"Census: {document['source']}.",
        f"Label a is not employed, b employed. {', '.join(document['held_out'])} are hidden from all jurors.",
        f"Stand-ins: {'; '.join(stand_ins) or 'none, every column of the paper is there'}.{code}",
        f"Draw: {document['draw']}: {_DRAWN[document['draw']]}.",
        f"{settings['tests']:,} tests of {settings['items']:,} records at each prevalence; seed {settings['seed']}.",
    ]
    tables = (_jurors_table, _pairs, _prevalences, _accuracies, _labels, _doubts, _example_table)
    return [
        *(Prose(line, _WIDTH) for line in lines),
        *(table(document) for table in tables),
        *_groups_tables(document),
    ]


def _jurors_table(document: Mapping[str, Any]) -> Table:
    rows = tuple(
        (
            entry["juror"], entry["name"], f"{entry['training_records']:,}", entry["epochs"],
            _percent(entry["accuracy"]["a"]), _percent(entry["accuracy"]["b"]),
        )
        for entry in document["jurors"]
    )  # fmt: skip
    columns = ("juror", "features", "trained on", "epochs", "accuracy on a", "accuracy on b")
    return Table(columns, rows, title="The jurors, on everybody who trained none of them", right=(0, 2, 3, 4, 5))


def _pairs(document: Mapping[str, Any]) -> Table:
    """Γ of every pair at every prevalence, and what it adds to the pair's covariance beside the signal."""
    seen: dict[tuple[str, str], dict[str, Any]] = {}
    for result in document["results"]:
        for pair in result["correlation"]["pairs"]:
            seen.setdefault((result["prevalence"], " ".join(map(str, pair["jurors"]))), pair)
    pairs = sorted({name for _, name in seen})
    prevalences = document["settings"]["prevalences"]
    rows = []
    for name in pairs:
        first = seen[prevalences[0], name]
        ratios = [f"{_small(seen[p, name]['added'])} / {_small(seen[p, name]['signal'])}" for p in prevalences]
        rows.append((name, _small(first["a"]), _small(first["b"]), *ratios))
    columns = ("pair", "Γ on a", "Γ on b", *(f"added / signal at {p}" for p in prevalences))
    title = (
        "Error correlations Γ, mean of the tests; what they add to a pair's covariance, and what the truth puts there"
    )
    return Table(columns, tuple(rows), title=title, right=tuple(range(1, len(columns))))


def _prevalences(document: Mapping[str, Any]) -> Table:
    rows = []
    for result in document["results"]:
        errors = result["prevalence_of_a"]
        ae, mv = errors["algebraic"], errors["majority"]
        rows.append(
            (
                result["prevalence"], _trio(result), _percent(ae["median"]), _range(ae), _points(ae["typical"]),
                _points(ae["rmse"]), _percent(mv["median"]), _points(mv["rmse"]),
                _small(result["correlation"]["largest"]), _interval(result["bounds"]),
                _small(result["smallest_correlation"]),
            )
        )  # fmt: skip
    columns = (
        "share of a", "trio", "AE median", "AE 5 to 95%", "typical error", "RMSE", "MV median", "RMSE",
        "largest |Γ|", "certain at it", "least Γ",
    )  # fmt: skip
    title = (
        "How common label a is (errors in points). Least Γ: the smallest that the votes prove, all tests together; "
        "0.0000 proves no independence, as three jurors' votes can look independent when they are not: see largest |Γ|"
    )
    return Table(columns, tuple(rows), title=title, right=tuple(range(2, len(columns))))


def _accuracies(document: Mapping[str, Any]) -> Table:
    rows = []
    for result in document["results"]:
        cells = [
            f"{_points(e['truth'])}: {_points(e['algebraic']['typical'])}/{_points(e['majority']['typical'])}"
            for e in result["accuracy"]
        ]
        sizes = result["all_accuracies"]
        all_six = f"{_points(sizes['algebraic']['rmse'])}/{_points(sizes['majority']['rmse'])}"
        rows.append((result["prevalence"], _trio(result), *cells, all_six, _small(result["correlation"]["largest"])))
    columns = (
        "of a", "trio", "1st on a", "1st on b", "2nd on a", "2nd on b", "3rd on a", "3rd on b", "RMSE", "Γ",
    )  # fmt: skip
    title = (
        "Accuracies of the trio's jurors in percent: the truth: the typical (median) error of AE/of MV; RMSE of all "
        "six; the largest |Γ|"
    )
    return Table(columns, tuple(rows), title=title, right=tuple(range(2, len(columns))))


def _labels(document: Mapping[str, Any]) -> Table:
    rows = []
    for result in document["results"]:
        errors = result["labelling_errors"]
        rows.append(
            (
                result["prevalence"], _trio(result), _count(errors["algebraic"]), _count(errors["majority"]),
                _count(errors["best_possible"]), _count(errors["algebraic_expects"]),
                _small(result["correlation"]["largest"]),
            )
        )  # fmt: skip
    columns = ("share of a", "trio", "AE", "MV", "best possible", "AE expects", "largest |Γ|")
    title = (
        f"Wrong labels among {document['settings']['items']:,} (mean; MV labels where AE has no real answer). AE "
        "expects fewer than none where its accuracies are out of range: that is an alarm, not a number of labels"
    )
    return Table(columns, tuple(rows), title=title, right=tuple(range(2, len(columns))))


def _doubts(document: Mapping[str, Any]) -> Table:
    kinds = ("irrational", "out_of_range", "complex", "degenerate", "weak_pair")
    rows = []
    for result in document["results"]:
        bounds = result["bounds"]
        rates = [_percent(result["alarms"][kind]) for kind in kinds]
        ratio = f"{result['correlation']['added_over_signal']:.2f}"
        rows.append(
            (
                result["prevalence"], _trio(result), *rates, ratio, _percent(bounds["bounded"]),
                _percent(bounds["truth_inside"]),
            )
        )  # fmt: skip
    columns = (
        "share of a", "trio", *(kind.replace("_", " ") for kind in kinds), "added / signal", "bounded",
        "truth inside",
    )  # fmt: skip
    title = "Alarms: the share of tests in which each went off; and where robust bounds say anything"
    return Table(columns, tuple(rows), title=title, right=tuple(range(2, len(columns))))


def _example_table(document: Mapping[str, Any]) -> Table:
    example = document["example"]
    rows = []
    for entry in example["partition"]:
        likely, actual = entry["algebraic"], entry["actual"]
        mine = ("–", "–") if likely is None else (f"{likely['a']:,.0f}", f"{likely['b']:,.0f}")
        mv = (f"{entry['count']:,}", "0")
        mv = mv if entry["majority"] == "a" else mv[::-1]
        rows.append(
            (" ".join(entry["decisions"]), f"{entry['count']:,}", *mine, f"{actual['a']:,}", f"{actual['b']:,}", *mv)
        )
    columns = ("decisions", "count", "AE a", "AE b", "actual a", "actual b", "MV a", "MV b")
    title = (
        f"The first test at {example['prevalence']}, trio {' '.join(map(str, example['trio']))}, by true label "
        "(as Table 1 of the paper)"
    )
    return Table(columns, tuple(rows), title=title, right=tuple(range(1, 8)))


def _groups_tables(document: Mapping[str, Any]) -> Iterator[Table]:
    """The first trio by group; the others are in the JSON document."""
    entries = [entry for entry in document["groups"] if entry["trio"] == document["groups"][0]["trio"]]
    if not entries:
        return
    rows = tuple(
        (
            _group(entry), f"{entry['items']:,}", _percent(entry["prevalence"]["truth"]),
            _percent(entry["prevalence"]["algebraic"]), _ends(entry["prevalence"]["interval"]),
            _percent(entry["prevalence"]["majority"]), _small(entry["largest_correlation"]),
            "; ".join(entry["warnings"]),
        )
        for entry in entries
    )  # fmt: skip
    trio = _trio(entries[0])
    yield Table(
        ("group", "records", "a", "AE", "95% by chance", "MV", "largest |Γ|", "beware"),
        rows,
        title=f"By group, trio {trio}, everybody who trained no juror: how common label a is. The intervals allow for "
        "chance alone: they miss where error correlations count",
        right=(1, 2, 3, 4, 5, 6),
    )
    rows = tuple(
        (_group(e), *_group_accuracies(e), e["rule"]["algebraic"], e["rule"]["best_possible"]) for e in entries
    )
    columns = ("group", *(f"{place} on {label}" for place in ("1st", "2nd", "3rd") for label in "ab"))
    yield Table(
        (*columns, "AE's rule", "best rule"),
        rows,
        title=f"By group, trio {trio}: accuracies in percent, the truth: AE; and the label that a rule gives to "
        "aaa aab aba abb baa bab bba bbb (95% intervals are in the JSON)",
        right=tuple(range(1, 7)),
    )


def _group(entry: Mapping[str, Any]) -> str:
    return f"{entry['column']} {entry['group']}"


def _group_accuracies(entry: Mapping[str, Any]) -> Iterator[str]:
    for true, estimated in zip(entry["accuracy"]["truth"], entry["accuracy"]["algebraic"], strict=True):
        for label in (0, 1):
            yield f"{_points(true[label])}: {_points(estimated[label])}"


def _ends(interval: list[float | None]) -> str:
    low, high = interval
    return "–" if low is None or high is None else f"{100 * low:.1f} – {100 * high:.1f}"


def _trio(result: Mapping[str, Any]) -> str:
    return " ".join(map(str, result["trio"]))


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{value:.1%}"


def _points(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f}"


def _small(value: float | None) -> str:
    return "–" if value is None else f"{value:z.4f}"


def _count(value: float | None) -> str:
    return "–" if value is None else f"{value:,.0f}"


def _range(errors: Mapping[str, Any]) -> str:
    ends = errors["quantiles"]
    return "–" if ends is None else f"{100 * ends['0.05']:.1f} – {100 * ends['0.95']:.1f}"


def _interval(bounds: Mapping[str, Any]) -> str:
    if bounds["bounded"] <= 0.5:  # the typical test has none
        return "nothing"
    return f"{100 * bounds['low']:.0f} – {100 * bounds['high']:.0f}%"
