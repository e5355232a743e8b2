"""The report of an experiment: who, drawn how, what came out, and in plain words whether the method worked here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from jurors.lab.census.experiment_verdict import verdict
from jurors.results import Block, Prose, Table

_WIDTH = 118

_DRAWN = {
    "shared": "the same records for all jurors, as in practice",
    "separate": (
        "records drawn separately for each juror within a true label, so that errors are independent by construction. "
        "No real test is like this: jurors who label the same records are measured with the shared draw"
    ),
}  # fmt: skip


def report_blocks(document: Mapping[str, Any]) -> list[Block]:
    """The verdict first, then who and how, then the tables."""
    prose = [Prose(line, _WIDTH) for line in (*verdict(document), *_head(document))]
    return [*prose, *_tables(document)]


def _head(document: Mapping[str, Any]) -> list[str]:
    settings = document["settings"]
    lines = [
        f"Census: {document['source']}.",
        f"Label a is not employed, b employed. {', '.join(document['held_out'])} are hidden from all jurors.",
        _stand_ins(document),
        f"Draw: {document['draw']}: {_DRAWN[document['draw']]}.",
        f"{settings['tests']:,} tests of {settings['items']:,} records at each prevalence; seed {settings['seed']}.",
    ]
    return [line for line in lines if line]


def _stand_ins(document: Mapping[str, Any]) -> str:
    used = [
        f"{s['replaced_by']} ({s['its_meaning']}) for {s['column']} ({s['meaning']})" for s in document["stand_ins"]
    ]
    blank = document["missing_code"]
    code = f" Blank answers reach the jurors as the code {blank}." if blank is not None else ""
    return f"Stand-ins: {'; '.join(used) or 'none, every column of the paper is there'}.{code}"


def _tables(document: Mapping[str, Any]) -> list[Table]:
    """The tables of the report."""
    return [
        _jurors(document),
        _pairs(document),
        _prevalences(document),
        _accuracies(document),
        _labels(document),
        _doubts(document),
        _example(document),
        *_groups(document),
    ]


def _jurors(document: Mapping[str, Any]) -> Table:
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
        "How common label a is (errors in points). Least Γ: the smallest that the votes prove, all tests together;\n"
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
        "six;\nthe largest |Γ|"
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
        "expects fewer than none\nwhere its accuracies are out of range: that is an alarm, not a number of labels"
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
    title = "Alarms: the share of tests in which each rang; and where robust bounds say anything"
    return Table(columns, tuple(rows), title=title, right=tuple(range(2, len(columns))))


def _example(document: Mapping[str, Any]) -> Table:
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


def _groups(document: Mapping[str, Any]) -> Iterator[Table]:
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
        title=f"By group, trio {trio}, everybody who trained no juror: how common label a is. The intervals allow for\n"
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
        title=f"By group, trio {trio}: accuracies in percent, the truth: AE; and the label that a rule gives to\n"
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
