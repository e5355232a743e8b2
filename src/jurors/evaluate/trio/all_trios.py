"""Every trio of a binary panel at once, decoded in floats: what each says by itself."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from jurors.evaluate.card import percent
from jurors.evaluate.trio.trios import OUTCOMES, DecodedTrios, decode_trios
from jurors.numbers.arrays import Floats, Integers
from jurors.sketch import Sketch
from jurors.sketch.panel_moments import trio_moments
from jurors.tables import Columns, Result, Table, data_frame


@dataclass(frozen=True, eq=False)
class PanelTrios(Result):
    """What each trio of a panel says by itself; where trios disagree about a juror, errors are correlated."""

    sketch: Sketch
    trios: Integers  #: (M, 3) positions of the jurors
    decoded: DecodedTrios

    def medians(self) -> tuple[float, Floats]:
        """The median over real trios of the prevalence of the first label, and of each juror's accuracies (N, 2)."""
        real = self.decoded.outcome <= 1
        accuracy = np.full((len(self.sketch.jurors), 2), np.nan)
        for juror, values in enumerate(self._by_juror()):
            if len(values):
                accuracy[juror] = np.median(values, axis=0)
        prevalence = float(np.median(self.decoded.prevalence[real])) if real.any() else np.nan
        return prevalence, accuracy

    def _by_juror(self) -> list[Floats]:
        """For each juror its accuracies (…, 2) in the real trios it sits in."""
        real = self.decoded.outcome <= 1
        members, accuracies = self.trios[real].ravel(), self.decoded.accuracy[real].reshape(-1, 2)
        order = np.argsort(members, kind="stable")
        ends = np.searchsorted(members[order], np.arange(len(self.sketch.jurors) + 1))
        return [accuracies[order[a:b]] for a, b in pairwise(ends)]

    def by_juror(self) -> Any:
        """A dataframe, one row per juror: its trios, how many are real, and how far apart they put its accuracies."""
        labels = self.sketch.labels
        total = np.bincount(self.trios.ravel(), minlength=len(self.sketch.jurors))
        columns: dict[str, list[Any]] = {"juror": list(self.sketch.jurors), "trios": total.tolist(), "real": []}
        for name in (f"{what} on {label}" for label in labels for what in ("median", "quarter", "three quarters")):
            columns[name] = []
        for values in self._by_juror():
            columns["real"].append(len(values))
            for side, label in enumerate(labels):
                ends = np.quantile(values[:, side], (0.5, 0.25, 0.75)) if len(values) else np.full(3, np.nan)
                for what, end in zip(("median", "quarter", "three quarters"), ends, strict=True):
                    columns[f"{what} on {label}"].append(float(end))
        return data_frame(columns)

    def _blocks(self) -> tuple[Table]:
        first, second = self.sketch.labels
        prevalence, accuracy = self.medians()
        rows = tuple((j, *map(percent, row)) for j, row in zip(self.sketch.jurors, accuracy.tolist(), strict=True))
        title = f"medians over {len(self.trios):,} trios; prevalence of {first}: {percent(prevalence)}"
        return (Table(("juror", f"accuracy on {first}", f"accuracy on {second}"), rows, title=title),)

    def _columns(self) -> Columns:
        """One row per trio: its jurors, items, outcome, prevalence and accuracies."""
        names = np.array(self.sketch.jurors, dtype=object)
        first, second = self.sketch.labels
        columns: dict[str, Any] = {f"juror {k + 1}": names[self.trios[:, k]] for k in range(3)}
        columns["items"] = self.decoded.moments.items.astype(np.int64)
        columns["outcome"] = np.array(OUTCOMES, dtype=object)[self.decoded.outcome]
        columns[f"prevalence of {first}"] = self.decoded.prevalence
        for k in range(3):
            columns[f"accuracy {k + 1} on {first}"] = self.decoded.accuracy[:, k, 0]
            columns[f"accuracy {k + 1} on {second}"] = self.decoded.accuracy[:, k, 1]
        return columns


def evaluate_all_trios(sketch: Sketch) -> PanelTrios:
    """Decode every trio of a binary panel, each on the items all three answered.

    Examples
    --------
    >>> counts = {"AAAA": 30, "AAAB": 9, "AABA": 8, "ABAA": 7, "BAAA": 6, "BBBA": 9, "BBAB": 8, "BABB": 7, "BBBB": 40}
    >>> every = evaluate_all_trios(Sketch.from_counts(counts, jurors="ijkl"))
    >>> every.trios.tolist(), every.decoded.prevalence.round(2).tolist()
    ([[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]], [0.51, 0.51, 0.52, 0.49])
    """
    trios, moments = trio_moments(sketch)
    return PanelTrios(sketch, trios, decode_trios(moments))
