"""`agreement`: how much jurors agree, and how much of that chance would give."""

from __future__ import annotations

from typing import Any, Unpack

from jurors.evaluate.accord.agreement_statistics import AgreementStatistics, agreement_statistics
from jurors.jury.accept import as_sketch, refusals
from jurors.options import SourceOptions, Sureness


def agreement(source: Any, *, level: float = 0.95, **reading: Unpack[SourceOptions]) -> AgreementStatistics:
    """Krippendorff's alpha, Fleiss', Cohen's and weighted kappas, Gwet's AC1 and AC2, ICC, Kendall's W, with intervals.

    Those that suit the scale of the votes: of labels, of levels, of numbers; and agreement and kappa of every pair.
    None of them measures accuracy: jurors who share an error agree on it. Sources as in `grade`, two jurors or more.

    Examples
    --------
    >>> agreed = agreement([["yes", "yes"], ["no", "yes"], ["no", "no"]], jurors=("ann", "bob"))
    >>> agreed.agreement, agreed.krippendorff_alpha
    (Fraction(2, 3), Fraction(4, 9))
    """
    sure = Sureness(level=level)
    sketch = as_sketch(source, **reading)
    for refusal in refusals(sketch.tuples, fewest=2):
        if refusal.code != "numbers" and (sketch.tuples.scale == "nominal" or refusal.code != "many_labels"):
            raise refusal  # levels and numbers may be many
    return agreement_statistics(sketch, level=sure.level)
