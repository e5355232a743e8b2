"""`fit_reference`: one jury with its key becomes a row of the table of reference juries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Unpack

from jurors.doubt.shared.measured import measure_jury
from jurors.doubt.shared.reference import ReferenceJury
from jurors.errors import SketchError
from jurors.evaluate import Evaluation
from jurors.jury.accept import accept
from jurors.jury.calibration import basis_of, has_too_few_voices, jury_of, without_silent_tuples
from jurors.jury.counted import count_gradable
from jurors.jury.grade import grade_counted
from jurors.numbers.arrays import Integers
from jurors.numbers.threads import one_thread
from jurors.options import Grading, SourceOptions
from jurors.sketch import Sketch


def fit_reference(
    votes: Any, key: Any, *, name: str, kind: str = "", source: str = "", **reading: Unpack[SourceOptions]
) -> ReferenceJury:
    """Measure how far the errors of a jury were shared, now that its key is known.

    The jury is graded as `grade` would without the key; then the key says how far that was off, and in which way. A
    handful of such juries of your own (`reference=`) tell more of the next one than strangers do.

    Parameters
    ----------
    votes, key
        As in `score`.
    name, kind, source
        What the jury is called, who the jurors are, and where it comes from: free text, for whoever reads the table.

    Raises
    ------
    SketchError
        Where the jury cannot be graded without a key.

    Examples
    --------
    >>> from jurors.lab import load_example
    >>> votes, key = load_example("llm_graders")
    >>> jury = fit_reference(votes, key, name="graders", kind="LLMs")
    >>> jury.items, jury.jurors, 0 < jury.rho < 5
    (281, 3, True)
    """
    graded = grade_blind(votes, key, intervals=False, **reading)
    with one_thread():
        _, posterior, _ = basis_of(graded.evaluation, graded.evaluation, graded.sketch)
        jury = jury_of(graded.sketch, posterior, graded.evaluation.voices)
        jury = without_silent_tuples(graded.evaluation, jury)
        return measure_jury(jury, graded.key.astype(float), name=name, kind=kind, source=source)


@dataclass(frozen=True, eq=False)
class GradedBlind:
    """A jury graded without its key, and the key beside it."""

    evaluation: Evaluation
    sketch: Sketch
    key: Integers  #: tuples x labels, how many items


def grade_blind(source: Any, key: Any, *, intervals: bool = True, **reading: Unpack[SourceOptions]) -> GradedBlind:
    """Grade a jury as if its key were not known, and count the key by decision tuple."""
    counted, truth = count_gradable(accept(source, **reading)).align(key)
    evaluation = grade_counted(counted, None, Grading(), intervals=intervals)
    if has_too_few_voices(evaluation):
        raise SketchError(
            "these jurors are fewer than three voices (copies of each other): such a jury is not graded without a key, "
            "and tells nothing of one that is",
            code="few_jurors",
        )
    return GradedBlind(evaluation, counted.sketch, counted.by_tuple(truth))
