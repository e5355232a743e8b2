"""`import jurors.pandas`, and every dataframe of pandas has `df.jurors`: grade, label, check … on its votes.

>>> import pandas as pd
>>> import jurors.pandas
>>> df = pd.DataFrame({"ann": list("xxyyxyxxyyxy"), "bob": list("xxyyyyxyyyxy"), "cy": list("xyyyxyxxyxxy")})
>>> df.jurors.label().to_frame()["label"].to_list() == df["ann"].to_list()
True

Importing `jurors` does not do it: that loads no pandas. Options and results are those of the functions of the same
names.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Unpack

import pandas as pd

import jurors
from jurors.evaluate.evaluation import KeyedEvaluation
from jurors.inspection.result import Inspection
from jurors.jury.check import Verdict
from jurors.jury.compare import Comparison
from jurors.numeric.grade import grade_numbers
from jurors.numeric.score import NumberScores
from jurors.options import GradeOptions, LimitOptions, SourceOptions, TableOptions, check_known, column_names

__all__ = ["JurorsAccessor"]


@pd.api.extensions.register_dataframe_accessor("jurors")
class JurorsAccessor:
    """The votes of a dataframe, in any layout: a vote a row, a juror a column, or counts."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self._frame = frame

    def votes(self, **reading: Unpack[TableOptions]) -> jurors.Votes:
        """Read the votes, as `Votes.from_frame` does.

        Returns
        -------
        Votes
        """
        return jurors.Votes.from_frame(self._frame, **reading)

    def inspect(self, **reading: Unpack[TableOptions]) -> Inspection:
        """What each column was taken for, who voted and what looks odd; grades nothing.

        Returns
        -------
        Inspection
        """
        return jurors.inspect(self._frame, **reading)

    def grade(self, **options: Unpack[GradeOptions]) -> jurors.Evaluation:
        """The report card of every juror, without an answer key.

        Returns
        -------
        Evaluation
        """
        return jurors.grade(self._frame, **options)

    def label(self, **options: Unpack[GradeOptions]) -> jurors.Labelling:
        """One label per item, and how sure it is; `.to_frame()` for a dataframe.

        Returns
        -------
        Labelling
        """
        return jurors.label(self._frame, **options)

    def check(self, **options: Any) -> Verdict:
        """Whether the grades can be trusted and keep your limits (`min_score=0.7`); options also as in `grade`.

        Numbers are graded by `grade_numbers`, whose limit is `min_reliability`.

        Returns
        -------
        Verdict
        """
        limits = ("fail_on", *column_names(LimitOptions))
        check_known(options, (*limits, *column_names(GradeOptions)))
        given = {name: options.pop(name) for name in limits if name in options}
        try:
            return jurors.check(self.grade(**options), **given)
        except jurors.JurorsError as error:
            if error.code != "numbers":
                raise
        return jurors.check(grade_numbers(self._frame, **options), **given)

    def score(self, key: Any, **reading: Unpack[SourceOptions]) -> KeyedEvaluation | NumberScores:
        """With the true labels (a mapping, a frame, one per row): the true statistics and error correlations.

        Returns
        -------
        KeyedEvaluation or NumberScores
        """
        scored: KeyedEvaluation | NumberScores = jurors.score(self._frame, key, **reading)
        return scored

    def compare(self, key: Any = None, **options: Any) -> Comparison:
        """All methods side by side; with a key, beside the truth.

        Returns
        -------
        Comparison
        """
        return jurors.compare(self._frame, key, **options)

    def agreement(self, **options: Any) -> Any:
        """How much the jurors agree, which is not how good they are.

        Returns
        -------
        AgreementStatistics
        """
        return jurors.agreement(self._frame, **options)

    def report(self, path: str | Path, **options: Any) -> Path:
        """The report as one HTML file; options as in `report_html`.

        Returns
        -------
        Path
        """
        return jurors.report(self._frame, path, **options)
