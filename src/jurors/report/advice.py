"""What to do: two to four actions from the alarms and the numbers, the most pressing first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from markupsafe import Markup, escape

from jurors.decide import Labelling
from jurors.evaluate import Alarm, Evaluation
from jurors.report.wording import names

_MOST = 4
_REVIEW = 40
_CLEARLY_BELOW = 3  # of the jurors weaker than half of the others, how many are named

_ANOTHER_KIND = (
    "Find the jurors who share errors: leave out or change one of a pair, or add jurors that work another way"
)
_DEFAULT = "Use the default method (leave --method out); this one did not settle on these votes"

#: What to do about each kind of alarm or warning, `{who}` being the jurors it names.
ADVICE = {
    "gold_contradicts": "Believe the gold items, not the grades: look for jurors who share errors, and for mistakes in "
    "the gold items",
    "out_of_range": _ANOTHER_KIND,
    "complex": _ANOTHER_KIND,
    "zero_radicand": _ANOTHER_KIND,
    "purely_triple": "Look for a mistake in the file first: no pair moves together, but all three do",
    "contradictory_pairs": _ANOTHER_KIND,
    "contradictory_trio": _ANOTHER_KIND,
    "contradictory_signs": "Check whether one juror answers the opposite question: the pairs contradict each other",
    "correlation_limit": _ANOTHER_KIND,
    "effective_limit": "Add jurors of another kind: more of the same do not help",
    "correlated_errors": "Compare {who} with the others: errors go together beyond chance, and one side shares them",
    "twin_jurors": "Leave out one of {who}, unless you know that they worked apart: one may copy the other",
    "uninformative_juror": "Retrain or replace {who}: the votes tell nothing about the truth. Check first that they "
    "are on the right items",
    "inverted_juror": "Ask whether {who} had the labels swapped: wrong more often than chance",
    "constant_juror": "Ask {who}, or leave out: one label only shows no judgement",
    "no_votes": "Check the column of {who}: no vote was found there",
    "similar_labels": "Make labels that differ only by case or blanks one label, and grade again",
    "no_signal": "Get other jurors or more items: no two agree more than chance would have it",
    "unidentifiable": "Merge labels that nobody tells apart, or add jurors",
    "visible_labels": "Merge or drop the labels that the counts do not show",
    "blind_juror": "Merge the labels that {who} does not tell apart, or change the juror",
    "ambiguous_relabeling": "Give a few gold items (--gold): two ways of naming the labels fit equally well",
    "tie_between_solutions": "Say what you know (--trust, --common or --gold): both solutions fit equally well",
    "weak_pair": "Get more items or better jurors: {who} agree hardly more than chance, so the grades hang on little",
    "disconnected_groups": "Let some items go to jurors of both groups: nothing compares one group with the other",
    "missing_votes": "Fill the gaps, or use --method latent, which uses every vote",
    "majority_fallback": "Take the labels as majority votes: no real evaluation explains the counts",
    "trios_out_of_range": _DEFAULT,
    "not_identified": _DEFAULT,
    "not_converged": _DEFAULT,
    "held_at_bound": _DEFAULT,
    "mixed_signs": _DEFAULT,
    "zero_cell": "Add items if you can: a decision tuple never occurred, as on small or very easy tests",
}


@dataclass(frozen=True)
class Action:
    """Something to do, and what to type for it."""

    text: str | Markup
    command: str | None = None


def actions(e: Evaluation, labelling: Labelling | None, file: str, *, has_key: bool) -> list[Action]:
    """Two to four things to do; `file` is how the commands name the votes."""
    loud = [a for a in e.alarms if a.level != "note"]
    texts = dict.fromkeys(advice for a in loud if (advice := _advice(a, e)) is not None)
    found = [Action(text) for text in texts][: _MOST - 1]
    untrusted = e.solution is None or any(a.level == "alarm" for a in loud)
    if not untrusted and len(found) < _MOST - 1:
        found += _weaker(e)
    if not has_key and "gold" not in e.details and (loud or len(e.jurors) == 3):
        test = "Test the grades: let a person label a few dozen random items, then grade again with them"
        found.append(Action(test, f"jurors grade {file} --gold gold.csv"))
    if not untrusted and labelling is not None:
        found += _review(labelling, file)
    if not loud:
        watch = "Keep watching: in a pipeline, this exits with status 3 when an alarm rings"
        found.append(Action(watch, f"jurors check {file}"))
    return found[:_MOST]


def _advice(alarm: Alarm, e: Evaluation) -> Markup | None:
    if alarm.kind == "correlated_errors":
        return _together(alarm, e)
    text = ADVICE.get(alarm.kind)
    return None if text is None else _filled(text, alarm)


def _filled(text: str, alarm: Alarm) -> Markup:
    who = names(alarm.jurors) if alarm.jurors else Markup("the jurors it names")
    return escape(text).format(who=who)


def _together(alarm: Alarm, e: Evaluation) -> Markup:
    """Groups where they were found; else the jurors of the most striking pairs; else nobody in particular."""
    dependence = e.details.get("dependence")
    groups = getattr(dependence, "groups", ())
    if groups and len(groups) <= 3 and all(len(group) <= len(e.jurors) / 2 for group in groups):
        listed = Markup("; ").join(names(group) for group in groups)
        return Markup("Count jurors who err together as one voice, or keep one of each group: {}").format(listed)
    if not alarm.jurors or len(alarm.jurors) == len(e.jurors):
        return escape(_ANOTHER_KIND)
    return _filled(ADVICE["correlated_errors"], alarm)


def _weaker(e: Evaluation) -> list[Action]:
    """Those whose interval lies wholly below the intervals of at least half of the others."""
    flagged = {j for a in e.alarms if a.kind in ("uninformative_juror", "constant_juror") for j in a.jurors}
    ends = {j: e.interval_of("score", j) for j in e.jurors}
    below = [
        (high, j)
        for j, (_, high) in ends.items()
        if j not in flagged and 2 * sum(high < low for low, _ in ends.values()) >= len(ends) - 1
    ]
    if not below:
        return []
    weakest = names([j for _, j in sorted(below)[:_CLEARLY_BELOW]])
    return [Action(Markup("Retrain or replace {} first: clearly below half of the others or more").format(weakest))]


def _review(labelling: Labelling, file: str) -> list[Action]:
    """Reviewing the least certain items, with what it is expected to mend."""
    first = labelling.review(_REVIEW)
    mended, total = float(np.sum(1 - labelling.probability[first])), labelling.expected_errors
    if not total >= 1 or not mended >= 1 or len(first) == len(labelling):
        return []
    text = f"Let a person look at the {len(first)} least certain items"
    text += f": about {mended:,.0f} of the {total:,.0f} wrong labels are expected there"
    return [Action(text, f"jurors label {file} --review {len(first)}")]
