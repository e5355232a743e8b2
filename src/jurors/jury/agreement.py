"""`agreement`: how much jurors agree, and how much of that chance would give."""

from __future__ import annotations

from typing import Any, Unpack

from jurors.evaluate.together.agreement_statistics import AgreementStatistics, agreement_statistics
from jurors.jury.accept import as_sketch, check_gradable
from jurors.options import SourceOptions


def agreement(source: Any, **reading: Unpack[SourceOptions]) -> AgreementStatistics:
    """Krippendorff's alpha, Fleiss' kappa, Gwet's AC1, and agreement and Cohen's kappa of every pair.

    None of them measures accuracy: jurors who share an error agree on it. Sources as in `grade`, two jurors or more.

    Examples
    --------
    >>> found = agreement([["yes", "yes"], ["no", "yes"], ["no", "no"]], jurors=("ann", "bob"))
    >>> found.agreement, found.krippendorff_alpha
    (Fraction(2, 3), Fraction(4, 9))
    """
    sketch = as_sketch(source, **reading)
    check_gradable(sketch.tuples, fewest=2)
    return agreement_statistics(sketch)
