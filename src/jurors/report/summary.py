"""The first screen: can these grades be trusted, who is good and who is not.

Every sentence comes from the alarms and numbers of the evaluation; the levels mean what `jurors check` means by them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from markupsafe import Markup

from jurors.evaluate import Alarm, Evaluation, KeyedEvaluation
from jurors.evaluate.alarm import loudest
from jurors.evaluate.card import percent, percent_range
from jurors.report.wording import counted, names

Tone: TypeAlias = Literal["alarm", "warning", "quiet"]

_NO_PROOF = "That is no proof: jurors who share errors in just the right way look independent."
_REMARKS = {
    "uninformative_juror": "answers as if by chance",
    "constant_juror": "says one label only",
    "inverted_juror": "wrong more often than chance",
    "twin_jurors": "may be a copy, or a negative, of another juror",
    "weak_pair": "hardly agrees with another juror",
    "correlated_errors": "errs together with others",
    "blind_juror": "does not tell some labels apart",
}


@dataclass(frozen=True)
class Verdict:
    """Can these grades be trusted?"""

    tone: Tone
    headline: str
    lines: tuple[str | Markup, ...]


@dataclass(frozen=True)
class Ranked:
    """One juror in the order of the scores."""

    rank: int
    juror: str
    score: float | None
    ends: tuple[float, float]
    actual: float | None  #: with a key
    remarks: tuple[str, ...]
    is_doubtful: bool  #: not told apart from somebody who has no idea


def verdict(e: Evaluation, keyed: KeyedEvaluation | None = None) -> Verdict:
    """The answer to "can I trust these grades", by the loudest alarm."""
    level = loudest(e.alarms)
    loud = [a for a in e.alarms if a.level == "alarm"]
    warnings = [a for a in e.alarms if a.level == "warning"]
    beside = _beside_key(e, keyed)
    if e.solution is None or level == "alarm":
        tone: Tone = "alarm"
        headline = "No: do not trust these grades."
        rang = f"{counted(len(loud), 'alarm')} rang"
        if e.solution is None:
            lines: list[str | Markup] = [f"No real evaluation explains these counts, and {rang}."]
        else:
            lines = [f"{rang}. The numbers below are shown as they were found, as evidence, not as grades to act on."]
    elif level == "warning":
        tone, headline = "warning", "With care: look at the warnings first."
        lines = [f"No alarm rang, but {counted(len(warnings), 'warning')} did."]
    else:
        tone, headline = "quiet", "No alarm rang."
        lines = [f"Nothing in the counts speaks against these grades. {_NO_PROOF}"]
    if tone != "alarm":
        lines += _expected_errors(e)
    if any(a.kind == "correlated_errors" for a in e.alarms):
        lines.append("Errors go together, so take the intervals as too narrow and the expected errors as a floor.")
    return Verdict(tone, headline, (*lines, *beside))


def _expected_errors(e: Evaluation) -> list[str]:
    if e.exam or e.partition is None or not e.partition.expected_errors >= 0:
        return []
    errors, total = e.partition.expected_errors, e.partition.sketch.items
    share = f"{errors:,.0f} of {total:,} ({errors / total:.1%})"
    return [f"With the best label for every item, {share} are expected to be wrong."]


def _beside_key(e: Evaluation, keyed: KeyedEvaluation | None) -> list[Markup]:
    """What the answer key says about the grades, where there is one."""
    if keyed is None or e.solution is None:
        return []
    actual = actual_scores(keyed)
    pairs = [(j, e.score[j], actual[j]) for j in e.jurors if _is_number(e.score[j]) and _is_number(actual.get(j))]
    if not pairs:
        return []
    who, estimate, true = max(pairs, key=lambda pair: abs(pair[1] - pair[2]))
    held, known = intervals_held(e, keyed)
    found = Markup("Beside the answer key ({}), the score furthest off is that of {}: {} estimated, {} actual.").format(
        counted(keyed.items, "item"), names([who]), percent(estimate), percent(true)
    )
    found += _labels_beside_key(e, keyed)
    if known:
        found += Markup(" {} of {} score intervals hold the actual score.").format(f"{held:,}", f"{known:,}")
    return [found]


def _labels_beside_key(e: Evaluation, keyed: KeyedEvaluation) -> Markup:
    """How many of the best labels the key finds wrong, where both speak of the same decision tuples."""
    if e.partition is None or e.exam or keyed.labels != e.labels:
        return Markup("")
    if len(e.partition.chosen) != len(keyed.by_true_label) or keyed.jurors != e.jurors:
        return Markup("")
    wrong, majority = keyed.errors_of(e.partition.chosen), keyed.majority_errors
    return Markup(" By the key, {} of the best labels are wrong ({:.1%}), and {:.1%} of majority vote's.").format(
        f"{wrong:,}", wrong / keyed.items, majority / keyed.items
    )


def actual_scores(keyed: KeyedEvaluation) -> dict[str, Any]:
    """Each juror's score by the key, in floats."""
    return dict(keyed.solution.to_float().score)


def intervals_held(e: Evaluation, keyed: KeyedEvaluation) -> tuple[int, int]:
    """How many score intervals hold the actual score, of how many."""
    actual = actual_scores(keyed)
    held = [
        low <= actual[j] <= high
        for j in e.jurors
        for low, high in [e.interval_of("score", j)]
        if low == low and _is_number(actual.get(j))
    ]
    return sum(held), len(held)


def ranking(e: Evaluation, keyed: KeyedEvaluation | None = None) -> list[Ranked]:
    """The jurors by score, best first; those without one last."""
    if e.solution is None:
        return []
    actual = {} if keyed is None else actual_scores(keyed)
    order = sorted(e.jurors, key=lambda j: -e.score[j] if _is_number(e.score[j]) else float("inf"))
    by_juror = _remarks(e)
    return [
        Ranked(
            rank=k,
            juror=j,
            score=e.score[j] if _is_number(e.score[j]) else None,
            ends=e.interval_of("score", j),
            actual=actual.get(j),
            remarks=tuple(by_juror.get(j, ())),
            is_doubtful=is_doubtful(e, j),
        )
        for k, j in enumerate(order, 1)
    ]


def is_doubtful(e: Evaluation, juror: str) -> bool:
    """Whether an alarm says that the juror answers by chance, or its intervals allow it.

    Somebody who says each label at a fixed rate whatever the item is has accuracies that add up to 1. Where the
    lower ends do not add up to more, that is not excluded.
    """
    if any(a.kind in ("uninformative_juror", "constant_juror") and juror in a.jurors for a in e.alarms):
        return True
    if e.exam:
        return False
    ends = [e.interval_of("accuracy", juror, a) for a in e.labels]
    known = [(low, high) for low, high in ends if low == low]
    return len(known) == len(ends) and sum(low for low, _ in known) <= 1 <= sum(high for _, high in known)


def _remarks(e: Evaluation) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for alarm in e.alarms:
        if alarm.kind in _REMARKS and len(alarm.jurors) < len(e.jurors):
            for juror in alarm.jurors:
                found.setdefault(juror, []).append(_REMARKS[alarm.kind])
    for juror in e.jurors:
        if any(_is_number(x) and not 0 <= x <= 1 for x in (e.score[juror], *e.accuracy[juror].values())):
            found.setdefault(juror, []).append("a number outside 0–100%")
        if is_doubtful(e, juror) and not any("chance" in one or "one label" in one for one in found.get(juror, ())):
            found.setdefault(juror, []).append("intervals do not exclude a coin")
    return found


def people(e: Evaluation, rows: list[Ranked]) -> list[Markup]:
    """Who is best, who is weakest, whom nobody can tell from a coin: one line each."""
    known = [row for row in rows if row.score is not None]
    if not known:
        return []
    lines = [_best(known), _weakest(known)]
    doubtful = [row.juror for row in rows if row.is_doubtful]
    if doubtful:
        lines.append(Markup("Not told apart from coin flips: {}.").format(names(doubtful)))
    elif not e.exam and e.interval is not None:
        lines.append(Markup("All are told apart from coin flips, as far as the intervals go."))
    return lines


def _best(known: list[Ranked]) -> Markup:
    best = known[0]
    line = Markup("Best: {}, {}").format(names([best.juror]), _with_range(best))
    level = [row.juror for row in known[1:] if row.ends[1] >= best.ends[0]]  # False where there is no interval
    if level:
        line += Markup("; the {} of {} overlap{}, so the order among them is open").format(
            "interval" if len(level) == 1 else "intervals", names(level, most=3), "s" if len(level) == 1 else ""
        )
    return line + Markup(".")


def _weakest(known: list[Ranked]) -> Markup:
    last = known[-1]
    line = Markup("Weakest: {}, {}").format(names([last.juror]), _with_range(last))
    level = [row.juror for row in known[-2::-1] if row.ends[0] <= last.ends[1]]
    if level and len(level) == len(known) - 1:
        line += Markup("; no interval sets it apart from the others")
    elif level:
        line += Markup("; not clearly below {}").format(names(level, most=3))
    return line + Markup(".")


def _with_range(row: Ranked) -> str:
    ends = percent_range(row.ends)
    return f"{percent(row.score)} right" + (f" ({ends})" if ends else "")


def _is_number(value: Any) -> bool:
    return value is not None and not isinstance(value, complex) and value == value


def shown_alarms(alarms: tuple[Alarm, ...]) -> list[Alarm]:
    """Loudest first."""
    order = ("alarm", "warning", "note")
    return sorted(alarms, key=lambda alarm: order.index(alarm.level))
