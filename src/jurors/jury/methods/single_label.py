"""All jurors say the same of everything: a result, of which the label's prevalence is no part."""

from __future__ import annotations

import numpy as np

from jurors.evaluate import Alarm, Evaluation
from jurors.jury.accept import refusals, without_silent
from jurors.jury.counted import count_rows
from jurors.sketch import Sketch
from jurors.votes import Label, Votes
from jurors.votes.table import NO_VOTE


def grade_single_label(source: Votes | Sketch, level: float) -> Evaluation | None:
    """What is known where only one label was ever said; None where more were.

    A panel that passes everything because everything is right, and one whose default answer is to pass, cast the same
    votes. So no share is known, not even the prevalence: an error would hide what the votes do say.
    """
    votes = source.tuples if isinstance(source, Sketch) else source
    label = _only_label(votes)
    if label is None:
        return None
    votes, silent = without_silent(votes)
    for refusal in refusals(votes):
        if refusal.code != "few_labels":
            raise refusal
    sketch = count_rows(votes).sketch
    message = (
        f"all {len(votes.jurors)} jurors only ever said {label!r}, on {sketch.items:,} items: whether that is the "
        "truth or a default answer they share, votes do not tell"
    )
    alarm = Alarm("single_label", "warning", message, labels=(label,))
    return Evaluation(
        items=sketch.items, jurors=sketch.jurors, labels=sketch.labels, method="none", solution=None,
        alarms=(alarm, *silent), sketch=sketch, level=level,
    )  # fmt: skip


def _only_label(votes: Votes) -> Label | None:
    """The one label that was said; None where several were, or none."""
    if len(votes.labels) > 2:  # declared, and hardly all but one unsaid: not worth a look at every vote
        return None
    codes = votes.codes if votes.is_dense else votes.triples()[2]
    if len({*codes[:1].ravel().tolist(), *codes[-1:].ravel().tolist()} - {NO_VOTE}) > 1:  # nearly always
        return None
    said = [k for k in range(len(votes.labels)) if np.any(codes == k)]
    return votes.labels[said[0]] if len(said) == 1 else None
