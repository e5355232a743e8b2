"""What to do: two to four actions from the alarms and the numbers, the most pressing first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from markupsafe import Markup, escape

from jurors.doubt.key_check import KeyCheck, check_with_key
from jurors.doubt.standing import clearly_weak, swapped
from jurors.evaluate import Alarm, Evaluation, KeyedEvaluation
from jurors.evaluate.catalogue import ANOTHER_KIND, KINDS
from jurors.jury.labelling import Labelling
from jurors.report.beside_truth import label_advice
from jurors.report.moving_together import groups_together, is_most, pairs_apart
from jurors.report.wording import names

_MOST = 4
_REVIEW = 40
_FEW_ITEMS = 30
_NAMED = 3  # of the clearly weakest


@dataclass(frozen=True)
class Action:
    """Something to do, and what to type for it."""

    text: str | Markup
    command: str | None = None


def actions(
    e: Evaluation,
    labelling: Labelling | None,
    file: str,
    *,
    has_key: bool = False,
    keyed: KeyedEvaluation | None = None,
) -> list[Action]:
    """Two to four things to do; `file` is how the commands name the votes."""
    loud = [a for a in e.alarms if a.level != "note"]
    check = check_with_key(e, keyed)
    first = _few_items(e) + _by_key(check)
    texts = dict.fromkeys(_merged(loud, e, keyed))
    steps = first + [Action(text) for text in texts][: max(1, _MOST - 1 - len(first))]
    untrusted = e.solution is None or any(a.level == "alarm" for a in loud)
    if keyed is not None or not (untrusted or any(a.kind == "correlated_errors" for a in loud)):
        steps += _swapped(e, keyed) + _weaker(e, keyed)
    if not (has_key or keyed) and e.gold is None and (loud or len(e.jurors) == 3):
        test = "Test the grades: let a person label a few dozen random items, then grade again with them"
        steps = [*steps[: _MOST - 1], Action(test, f"jurors grade {file} --gold gold.csv")]
    if not untrusted and labelling is not None and not (check and check.is_alarming):
        steps += _review(labelling, file)
    if not loud and not (check and check.speaks_against):
        watch = "Keep watching: in a pipeline, this exits with status 3 when an alarm rings"
        steps.append(Action(watch, f"jurors check {file}"))
    return steps[:_MOST]


def _few_items(e: Evaluation) -> list[Action]:
    if e.items >= _FEW_ITEMS:
        return []
    return [Action(f"Get more items first: {e.items:,} are too few to grade anybody")]


def _by_key(check: KeyCheck | None) -> list[Action]:
    """Whose labels to use, and whether to go by the actual scores."""
    if check is None:
        return []
    steps = [] if check.labels is None or not (text := label_advice(check.labels)) else [Action(text)]
    if check.speaks_against:
        steps.append(Action("Go by the actual scores, not by the estimates: the key contradicts them"))
    return steps


def _merged(loud: list[Alarm], e: Evaluation, keyed: KeyedEvaluation | None) -> list[Markup]:
    """One advice per kind of alarm, about everybody whom alarms of that kind name."""
    kinds: dict[str, list[Alarm]] = {}
    for alarm in loud:
        kinds.setdefault(alarm.kind, []).append(alarm)
    advice = []
    for kind, alarms in kinds.items():
        if kind == "correlated_errors":
            advice.append(_together(alarms[0], e, keyed))
        elif kind == "twin_jurors":
            pairs = Markup("; ").join(names(alarm.jurors) for alarm in alarms[:_NAMED])
            more = Markup("; and {} more pairs").format(len(alarms) - _NAMED) if len(alarms) > _NAMED else Markup("")
            advice.append(escape(KINDS[kind].advice).format(who=pairs + more))
        else:
            who = list(dict.fromkeys(j for alarm in alarms for j in alarm.jurors))
            advice.append(escape(KINDS[kind].advice).format(who=names(who) if who else Markup("the jurors it names")))
    return advice


def _together(alarm: Alarm, e: Evaluation, keyed: KeyedEvaluation | None) -> Markup:
    """Groups where they were found; else pairs that avoid each other; else nobody in particular."""
    groups = groups_together(e, keyed)
    small = [group for group in groups if not is_most(group, e)][:_NAMED]
    large = [group for group in groups if is_most(group, e)]
    advice = []
    if small:
        listed = Markup("; ").join(names(group) for group in small)
        advice.append(
            Markup("Count jurors who err together as one voice, or keep one of each group: {}").format(listed)
        )
    for group in large:
        rest = [j for j in e.jurors if j not in group]
        leaning = Markup("the grades lean on the rest ({})").format(names(rest)) if rest else "nobody stands outside"
        advice.append(
            Markup("Most of the panel shares errors ({} of {}: {}), so {}: add jurors of another kind").format(
                len(group), len(e.jurors), names(group), leaning
            )
        )
    if advice:
        return Markup(". ").join(advice)
    apart = list(dict.fromkeys(j for pair in pairs_apart(alarm) for j in pair))
    if apart and keyed is None:
        return Markup(
            "Look at {}: some of these pairs disagree more than their grades explain; one side may follow another rule"
        ).format(names(apart))
    return escape(ANOTHER_KIND)


def _swapped(e: Evaluation, keyed: KeyedEvaluation | None) -> list[Action]:
    flagged = {j for a in e.alarms if a.kind == "inverted_juror" for j in a.jurors}
    who = [] if e.exam else [j for j in swapped(keyed or e) if j not in flagged]
    text = Markup("Ask whether {} had the labels swapped: clearly wrong more often than a coin")
    return [Action(text.format(names(who)))] if who else []


def _weaker(e: Evaluation, keyed: KeyedEvaluation | None) -> list[Action]:
    """Those clearly below most of the others, if no other line speaks of them."""
    flagged = {j for a in e.alarms if a.kind in ("uninformative_juror", "constant_juror") for j in a.jurors}
    flagged |= set() if e.exam else set(swapped(keyed or e))
    who = [j for j in clearly_weak(keyed or e) if j not in flagged][:_NAMED]
    text = Markup("Weakest: look at {}, five points or more below most of the others, beyond chance{}")
    by = ", by the key" if keyed is not None else ""
    return [Action(text.format(names(who), by))] if who else []


def _review(labelling: Labelling, file: str) -> list[Action]:
    """Reviewing the items that teach most, with what it is expected to mend."""
    first = labelling.review(_REVIEW)
    mended, total = float(np.sum(1 - labelling.probability[first])), labelling.expected_errors
    if not total >= 1 or not mended >= 1 or len(first) == len(labelling):
        return []
    text = f"Let a person look at the {len(first)} items where a look helps most"
    text += f": about {mended:,.0f} of their labels are expected to be wrong"
    return [Action(text, f"jurors label {file} --review {len(first)}")]
