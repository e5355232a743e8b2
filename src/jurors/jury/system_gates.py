"""Limits on systems, for CI: a difference that is required, and a regression against an earlier run.

A comparison of systems and `Limits` come in, a `Gate` for each limit goes out. A limit is tested against the interval
of the difference, and is *not known* where the panel itself keeps orders from being settled.

Votes of the earlier run are compared together with those of this one, so that the bias that the judges share in both
runs cancels. Of a JSON document only rates are known: the half widths of both are combined by their squares, which is
rather too wide.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jurors.errors import OptionError, format_names, match_name
from jurors.jury.gates import Ends, Gate, difference, judge, read_document
from jurors.jury.groups import votes_and_groups
from jurors.jury.systems import SystemComparison, compare_systems
from jurors.options import GradingOptions, Label, Limits, SourceOptions
from jurors.votes.codes import NO_VOTE
from jurors.votes.key import Key, as_key
from jurors.votes.table import Votes

_ANEW = "write one with `jurors systems FILE --system COLUMN -o baseline.json`"
_BEFORE = " in the baseline"  # after the name of a system of the earlier run


@dataclass(frozen=True)
class SystemVotes:
    """What a comparison was made from: to compare it with an earlier run."""

    votes: Votes
    groups: NDArray[Any]
    by: Any  #: as the caller named the systems
    good: Label | None
    grading: GradingOptions
    reading: SourceOptions


def system_gates(compared: SystemComparison, limits: Limits, source: SystemVotes | None) -> tuple[Gate, ...]:
    """Test every limit on systems.

    Returns
    -------
    tuple of Gate
        By name.
    """
    gates = list(_difference_gates(compared, limits.min_difference))
    if limits.max_regression is not None:
        if limits.baseline is None:
            raise OptionError("max_regression= needs an earlier run; name it with baseline=", name="max_regression")
        if compared.good is not None and limits.max_regression > 1:
            message = f"max_regression={limits.max_regression:g}: a drop of a rate is a share from 0 to 1, such as 0.02"
            raise OptionError(message, code="out_of_range", name="max_regression", value=limits.max_regression)
        gates += _regression_gates(compared, limits.baseline, limits.max_regression, source)
    return tuple(sorted(gates, key=lambda gate: gate.name))


def _gate(
    compared: SystemComparison, name: str, limit: float, value: float, ends: Ends, reason: str, **about: Any
) -> Gate:
    outcome = judge(ends, limit, at_least=True)
    advice = ""
    if compared.reasons and outcome != "not known":
        outcome, reason = "not known", " and ".join(compared.reasons)
    elif outcome == "not known":
        enough = [n for n, widths in compared.with_gold.items() if n and widths.difference < abs(value - limit)]
        advice = f"about {enough[0]} gold labels may decide it" if enough else ""
    return Gate(
        name=name, outcome=outcome, limit=limit, at_least=True, value=value, interval=ends, level=compared.level,
        reason=reason, advice=advice, is_change=True, in_percent=compared.good is not None, **about,
    )  # fmt: skip


# -- differences -------------------------------------------------------------------------------------------------------


def _difference_gates(compared: SystemComparison, given: Any) -> Iterator[Gate]:
    known = {(d.a, d.b): (d.difference, (d.low, d.high)) for d in compared.differences}
    known |= {(d.b, d.a): (-d.difference, (-d.high, -d.low)) for d in compared.differences}
    seen: set[tuple[str, str]] = set()
    for pair, limit in _pairs(given):
        better, worse = _two_systems(pair, tuple(compared.systems))
        if compared.good is not None and not -1 <= limit <= 1:
            message = f"min_difference={better}-{worse}:{limit:g}: a difference of rates is from -1 to 1, such as 0.02"
            raise OptionError(message, code="out_of_range", name="min_difference", value=limit)
        if (better, worse) in seen:
            raise OptionError(f"min_difference= is given twice for {better}-{worse}", name="min_difference")
        seen.add((better, worse))
        value, ends = known[better, worse]
        name = f"min-difference {better} - {worse}"
        yield _gate(compared, name, limit, value, ends, "", systems=(better, worse))


def _pairs(given: Any) -> Iterator[tuple[Any, float]]:
    """(two systems as given, limit) of text, of a mapping, or of several of these."""
    if given is None:
        return
    if isinstance(given, Mapping):
        for pair, limit in given.items():
            yield pair, _number(limit, f"{pair}:{limit}")
    elif isinstance(given, (list, tuple)):
        for part in given:
            yield from _pairs(part)
    else:
        pair, colon, limit = str(given).rpartition(":")
        if not colon:
            raise OptionError(
                f"min_difference={given}: name two systems and the limit, as B-A:0.02", name="min_difference"
            )
        yield pair, _number(limit, given)


def _number(limit: Any, given: Any) -> float:
    try:
        number = float(limit)
    except (TypeError, ValueError):
        number = float("nan")
    if not isfinite(number):
        raise OptionError(f"min_difference={given}: the limit is a number, as in B-A:0.02", name="min_difference")
    return number


def _two_systems(pair: Any, names: tuple[str, ...]) -> tuple[str, str]:
    """The two systems of `B-A`, whose names may hold hyphens."""
    if isinstance(pair, tuple) and len(pair) == 2:
        first, second = (match_name(str(name), names, "system", error=OptionError) for name in pair)
    else:
        text = str(pair)
        places = [k for k, letter in enumerate(text) if letter == "-"]
        splits = [(text[:k].strip(), text[k + 1 :].strip()) for k in places]
        found = [split for split in splits if split[0] in names and split[1] in names]
        if len(found) > 1:
            shown = " or ".join(f"{a!r} and {b!r}" for a, b in found)
            message = f"min_difference={text} may mean {shown}; in Python, write {{(better, worse): limit}}"
            raise OptionError(message, name="min_difference")
        if not found:
            if not splits:
                message = f"min_difference={text}: name two systems with a hyphen between them, as B-A:0.02"
                raise OptionError(message, name="min_difference")
            near = next((split for split in splits if split[0] in names or split[1] in names), splits[0])
            for name in near:
                match_name(name, names, "system", error=OptionError)
        first, second = found[0]
    if first == second:
        raise OptionError(f"min_difference= compares {first!r} with itself; name two systems", name="min_difference")
    return first, second


# -- regressions -------------------------------------------------------------------------------------------------------


def _regression_gates(
    compared: SystemComparison, baseline: Any, most: float, source: SystemVotes | None
) -> Iterator[Gate]:
    document = baseline.to_dict() if isinstance(baseline, SystemComparison) else read_document(baseline)
    if document is not None:
        before = _rates_of_document(document, compared)
        reason = "the rates of both runs are compared; the votes of the earlier run would be more precise"
        for now, then in _same_systems(tuple(compared.systems), tuple(before)):
            rate = compared.systems[now]
            value, ends = difference(rate.rate, (rate.low, rate.high), before[then][0], before[then][1:])
            yield _gate(compared, f"max-regression {now}", -most, value, ends, reason, systems=(now,))
        return
    if source is None:
        message = "baseline= is votes, so give the votes of this run and system=, not the comparison of systems"
        raise OptionError(message, name="baseline")
    if isinstance(baseline, tuple) and len(baseline) == 2 and isinstance(baseline[0], Votes):
        votes, by = baseline
        reading: SourceOptions = {}
    else:
        votes, by, reading = baseline, source.by, source.reading
        if not isinstance(by, str):
            message = "baseline= is votes, so name the column of systems in both runs (system='model')"
            raise OptionError(message, name="baseline")
    earlier, groups, _ = votes_and_groups(votes, by, "system", reading)
    both = _compare_runs(source, earlier, groups)
    then_names = tuple(name.removesuffix(_BEFORE) for name in both.systems if name.endswith(_BEFORE))
    pairs = {(d.a, d.b): (d.difference, (d.low, d.high)) for d in both.differences}
    pairs |= {(d.b, d.a): (-d.difference, (-d.high, -d.low)) for d in both.differences}
    for now, then in _same_systems(tuple(compared.systems), then_names):
        value, ends = pairs[now, then + _BEFORE]
        yield _gate(both, f"max-regression {now}", -most, value, ends, "", systems=(now,))


def _same_systems(now: tuple[str, ...], before: tuple[str, ...]) -> list[tuple[str, str]]:
    """The systems of both runs; where each run has one system, these two."""
    both = [(name, name) for name in now if name in before]
    if not both and len(now) == len(before) == 1:
        return [(now[0], before[0])]
    if not both:
        raise OptionError(f"baseline= has none of these systems; it has {format_names(before, 8)}", name="baseline")
    return both


def _rates_of_document(
    document: Mapping[str, Any], compared: SystemComparison
) -> dict[str, tuple[float, float, float]]:
    """Rate, low and high of each system of an earlier run."""
    schema, _, version = str(document.get("schema", "")).rpartition("/")
    if schema == "jurors.systems" and version.isdecimal() and int(version) != SystemComparison._version:
        message = f"baseline= has schema {version}, and this version reads {SystemComparison._version}; {_ANEW}"
        raise OptionError(message, name="baseline")
    if not isinstance(document.get("systems"), Mapping):
        raise OptionError(f"baseline= holds no systems; {_ANEW}", name="baseline")
    try:
        rates = {
            str(name): (float(rate["rate"]), float(rate["low"]), float(rate["high"]))
            for name, rate in document["systems"].items()
        }
    except (TypeError, ValueError, KeyError):
        raise OptionError(f"baseline= is not a document of systems; {_ANEW}", name="baseline") from None
    for name, now in (("good", compared.good), ("level", compared.level)):
        if document.get(name) != now:
            message = f"baseline= has {name} {document.get(name)!r}, and this comparison {now!r}"
            raise OptionError(f"{message}; make them the same", name="baseline")
    return rates


def _compare_runs(source: SystemVotes, earlier: Votes, groups: NDArray[Any]) -> SystemComparison:
    """Compare the systems of two runs at once; those of the earlier run have `_BEFORE` after their names."""
    now = source.votes
    if (now.scale == "ordinal") != (earlier.scale == "ordinal"):
        raise OptionError("baseline= has another kind of votes: one run has ordered levels", name="baseline")
    jurors = tuple(dict.fromkeys((*now.jurors, *earlier.jurors)))
    labels = tuple(dict.fromkeys((*now.labels, *earlier.labels)))
    if now.scale == "ordinal" and labels != now.labels:
        labels = tuple(sorted(labels, key=lambda label: (isinstance(label, str), label)))
    parts = []
    for votes, first_row in ((now, 0), (earlier, now.rows)):
        row, juror, code = votes.triples()
        juror_of = np.array([jurors.index(name) for name in votes.jurors])
        label_of = np.array([labels.index(name) for name in votes.labels])
        parts.append((row + first_row, juror_of[juror], label_of[code]))
    row, juror, code = (np.concatenate(part) for part in zip(*parts, strict=True))
    rows = now.rows + earlier.rows
    both = Votes.from_codes(
        items=np.arange(rows), jurors=jurors, values=labels, item=row, juror=juror, value=code, labels=labels
    )
    both = replace(both, scale=now.scale, scale_why=now.scale_why, labels_told=True)
    if now.counts is not None or earlier.counts is not None:
        both = replace(both, counts=np.concatenate([now.weights, earlier.weights]))
    names = np.empty(rows, dtype=object)
    names[:] = [*groups_of(source.groups), *(None if g is None else g + _BEFORE for g in groups_of(groups))]
    grading = source.grading.copy()
    if grading.get("gold") is not None:
        aligned, known = as_key(grading["gold"], now).align(now)
        truths = [None if code == NO_VOTE else aligned.labels[code] for code in known.tolist()]
        grading["gold"] = Key.from_array([*truths, *[None] * earlier.rows])
    return compare_systems(both, names, good=source.good, **grading)


def is_of_systems(baseline: Any) -> bool:
    """Whether an earlier run is a comparison of systems, or its JSON.

    Returns
    -------
    bool
    """
    document = None if isinstance(baseline, SystemComparison) else read_document(baseline)
    schema = "" if document is None else str(document.get("schema"))
    return isinstance(baseline, SystemComparison) or schema.startswith("jurors.systems/")


def groups_of(groups: NDArray[Any]) -> list[str | None]:
    """The names of systems as text, None where an item has none.

    Returns
    -------
    list of str or None
    """
    return [None if group is None else str(group) for group in groups.tolist()]
