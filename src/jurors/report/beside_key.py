"""What an answer key says about the grades beside it, in sentences."""

from __future__ import annotations

from markupsafe import Markup

from jurors.doubt.key_check import KeyCheck, Labels
from jurors.evaluate.card import percent
from jurors.report.wording import counted, names


def key_lines(check: KeyCheck) -> list[Markup]:
    """What the key says, in sentences."""
    who, estimate, true = check.worst
    start = "By" if not check.speaks_against else "They are contradicted by"
    line = Markup("{} the answer key ({}): the score furthest off is that of {}, {} estimated, {} actual.").format(
        start, counted(check.items, "item"), names([who]), percent(estimate), percent(true)
    )
    if check.known:
        promised = f", where {check.level * 100:g}% should" if check.is_contradicted else ""
        line += Markup(" {} of {} score intervals hold the actual score{}.").format(
            f"{check.held:,}", f"{check.known:,}", promised
        )
    if check.independent is not None and check.independent[1]:
        line += Markup(" If errors were independent: {} of {}.").format(*map("{:,}".format, check.independent))
    return [line, *([] if check.labels is None else [_label_line(check.labels)])]


def _label_line(labels: Labels) -> Markup:
    wrong, majority = labels.wrong / labels.items, labels.majority / labels.items
    expected = ""
    if labels.are_far_off:
        expected = f", where {labels.expected / labels.items:.1%} were expected to be"
    return Markup("By the key, {} of the best labels are wrong ({:.1%}){}, and {:.1%} of majority vote's.").format(
        f"{labels.wrong:,}", wrong, expected, majority
    )


def label_advice(labels: Labels) -> str | None:
    """Whose labels to use, by the key."""
    best, majority = f"{labels.wrong / labels.items:.1%}", f"{labels.majority / labels.items:.1%}"
    if labels.wrong == labels.majority == 0:
        return None
    if labels.better == "best":
        return f"Use the best labels, not majority vote's: by the key {best} of them are wrong, against {majority}"
    if labels.better == "majority":
        return (
            f"Use majority vote's labels, not the best labels: by the key {majority} of them are wrong, against {best}"
        )
    return (
        f"The key does not tell the best labels from majority vote's ({best} and {majority} wrong, within chance): "
        "majority vote is the simpler choice"
    )
