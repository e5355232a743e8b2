"""What an experiment showed, in plain words: read first, and taken from the numbers of its tables alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jurors.lab.census.trial import DROWNED

_QUIET = 0.05
_WHERE = {"shared": "on the same records for all jurors", "separate": "on separate records for each juror"}


def verdict(document: Mapping[str, Any]) -> list[str]:
    """A few short paragraphs."""
    return list(_paragraphs(document))


def _paragraphs(document: Mapping[str, Any]) -> Iterator[str]:
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
    """In how many settings error correlations add as much as the signal, and whether an alarm told."""
    drowned = [r for r in results if r["correlation"]["added_over_signal"] >= DROWNED]
    if not drowned:
        largest = max(r["correlation"]["added_over_signal"] for r in results)
        return (
            "In no setting do error correlations add as much to a pair's covariance as the truth puts there (typically "
            f"{largest:.2f} of it at most): they do not drown the signal."
        )
    quiet = sum(r["alarms"]["out_of_range"] + r["alarms"]["complex"] < _QUIET for r in drowned)
    told = (
        f" In {quiet} of these neither an impossible number nor a complex root shows in more than {_QUIET:.0%} of "
        "tests: a quiet alarm proves nothing."
    )
    return (
        f"In {len(drowned)} of {len(results)} settings error correlations add as much to some pair's covariance as the "
        "truth puts there: AE takes them for skill, and is right by luck only." + told * bool(quiet)
    )


def bounded_settings(results: Sequence[Mapping[str, Any]]) -> str:
    """In how many settings the robust bounds say anything."""
    bounded = sum(r["bounds"]["bounded"] > 0.5 for r in results)
    return f"Bounds at the measured correlation say something in most tests of {bounded} of {len(results)} settings."


def _closer(entries: Sequence[Any], size: str) -> int:
    return sum(_less(entry["algebraic"][size], entry["majority"][size]) for entry in entries)


def _less(first: float | None, second: float | None) -> bool:
    return first is not None and second is not None and first < second
