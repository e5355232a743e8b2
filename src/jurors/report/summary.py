"""The first screen: can these grades be trusted.

Every sentence comes from the alarms and numbers of the evaluation, and from the answer key where there is one; the
levels of alarms mean what `jurors check` means by them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from markupsafe import Markup

from jurors.doubt.key_check import KeyCheck, check_with_key
from jurors.evaluate import Alarm, Evaluation, KeyedEvaluation
from jurors.evaluate.alarm import loudest, ranked
from jurors.evaluate.card import plain_verdict
from jurors.report.beside_truth import key_lines
from jurors.report.wording import counted, of_which

Tone: TypeAlias = Literal["alarm", "warning", "quiet"]

_NO_PROOF = "That is no proof: jurors who share errors in just the right way look independent."
_AS_EVIDENCE = "The numbers below are shown as they were found, as evidence, not as grades to act on."


@dataclass(frozen=True)
class Verdict:
    """Can these grades be trusted?"""

    tone: Tone
    headline: str
    lines: tuple[str | Markup, ...]


def verdict(e: Evaluation, keyed: KeyedEvaluation | None = None) -> Verdict:
    """The answer to "can I trust these grades": by the loudest alarm, and by the answer key where there is one."""
    check = check_with_key(e, keyed)
    tone, headline, lines = _by_alarms(e)
    if check is not None and check.speaks_against:
        tone, headline = _by_key(check, tone, headline)
    lines[:0] = plain_verdict(e)
    if tone != "alarm" or e.as_real is not None:
        lines += _expected_errors(e)
    if e.as_real is None and any(a.kind == "correlated_errors" for a in e.alarms):
        lines.append("Errors go together, so take the intervals as too narrow and the expected errors as a floor.")
    if check is None:
        return Verdict(tone, headline, tuple(lines))
    if check.speaks_against:  # what is known for certain comes first
        return Verdict(tone, headline, (*key_lines(check), *(line for line in lines if _NO_PROOF not in line)))
    return Verdict(tone, headline, (*lines, *key_lines(check)))


def _by_alarms(e: Evaluation) -> tuple[Tone, str, list[str | Markup]]:
    level = loudest(e.alarms)
    loud = [a for a in e.alarms if a.level == "alarm"]
    warnings = [a for a in e.alarms if a.level == "warning"]
    if e.solution is None and level != "alarm" and e.as_real is not None:
        nothing = "If errors were independent, no real evaluation explains these counts, as chance can have it."
        return "warning", "With care: look at the warnings first.", [nothing]
    if e.solution is None and level != "alarm":
        return "warning", "There are no grades.", ["No real evaluation explains these counts, as chance can have it."]
    if level == "alarm":
        rang = f"{counted(len(loud), 'alarm')} rang"
        known = f"{rang}. {_AS_EVIDENCE}"
        return (
            "alarm",
            "No: do not trust these grades.",
            [f"No real evaluation explains these counts, and {rang}." if e.solution is None else known],
        )
    if level == "warning":
        rang = f"No alarm rang, but {counted(len(warnings), 'warning')} did."
        return "warning", "With care: look at the warnings first.", [rang]
    return "quiet", "No alarm rang.", [f"Nothing in the counts speaks against these grades. {_NO_PROOF}"]


def _by_key(check: KeyCheck, tone: Tone, headline: str) -> tuple[Tone, str]:
    if tone == "alarm":
        return tone, "No: do not trust these grades. The answer key contradicts them too."
    if check.is_alarming:
        return "alarm", "No: the answer key contradicts these grades."
    return "warning", "With care: the answer key contradicts the intervals."


def _expected_errors(e: Evaluation) -> list[str]:
    if e.exam:
        return []
    if e.as_real is not None:
        low, high = e.as_real.interval_of("wrong_labels")
        share = of_which(e.as_real.wrong_labels * e.items, e.items)
        ends = f"between {low:.0%} and {high:.0%}"
        return [f"With the best label for every item, {share} expected to be wrong as real juries go, {ends}."]
    if e.partition is None or not e.partition.expected_errors >= 0:
        return []
    share = of_which(e.partition.expected_errors, e.partition.sketch.items)
    return [f"With the best label for every item, {share} expected to be wrong."]


@dataclass(frozen=True)
class Rung:
    """Alarms of one kind and level: the first in full, the others folded."""

    first: Alarm
    more: tuple[Alarm, ...] = ()

    @property
    def level(self) -> str:
        """Of all of them."""
        return self.first.level


def shown_alarms(alarms: tuple[Alarm, ...]) -> list[Rung]:
    """Loudest first; those of one kind together."""
    kinds: dict[tuple[str, str], list[Alarm]] = {}
    for alarm in ranked(dict.fromkeys(alarms)):
        kinds.setdefault((alarm.level, alarm.kind), []).append(alarm)
    return [Rung(first, tuple(more)) for first, *more in kinds.values()]
