"""What is known of the truth, beside the grades: what an answer key says of them, and what an audit's labels prove."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from jurors.audit.result import Audit
from jurors.doubt.key_check import KeyCheck, Labels
from jurors.evaluate.card import REAL, percent, percent_range
from jurors.report.method import PageTable
from jurors.report.wording import counted, names

_MOST_ROWS = 1_000  # of a table of an audit
_PROVED = {
    "score": "The share of its votes that each juror has right",
    "wrong_labels": "The share of items whose label is wrong, by each method, blind to these labels",
    "prevalence": "How common each label is",
    "accuracy": "Of the items of a true label, the share each juror gets right",
}
_HEADS = {"score": ["juror"], "wrong_labels": ["method"], "prevalence": ["label"], "accuracy": ["juror", "true label"]}


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


def audit_lines(audit: Audit) -> list[str]:
    """What the two columns of an audit are worth."""
    first = f"A person labelled {audit.labelled:,} of the {counted(audit.items, 'item')}, which chance had drawn."
    real = f"{REAL.capitalize()}: by reference juries, with these labels as gold. As good as your jury is like them."
    return [first, *audit.notes, *([] if audit.calibrated is None else [real])]


def audit_tables(audit: Audit) -> list[PageTable]:
    """Guaranteed beside as real juries go: scores, wrong labels, prevalences, accuracies."""
    return [_audit_table(audit, statistic) for statistic in _PROVED]


def _audit_table(audit: Audit, statistic: str) -> PageTable:
    sure, heads = f"{audit.level * 100:g}% interval", _HEADS[statistic]
    names = [name for name in audit.guaranteed if name[0] == statistic]
    shown = names[:_MOST_ROWS]
    left = len(names) - len(shown)
    return PageTable(
        f"audit-{statistic.replace('_', '-')}", _PROVED[statistic], (*heads, "guaranteed", sure, REAL, sure),
        tuple((*map(str, name[1:]), *_audit_cells(audit, name)) for name in shown), named=tuple(range(len(heads))),
        note=f"{left:,} more rows are in the embedded numbers." if left else "",
    )  # fmt: skip


def _audit_cells(audit: Audit, name: tuple[Any, ...]) -> list[str]:
    real = (audit.calibrated or {}).get(name)
    cells = []
    for share in (audit.guaranteed[name], real):
        cells += ["–", "–"] if share is None else [percent(share.estimate), percent_range(share.interval) or "–"]
    return cells
