"""`Jury`: the scikit-learn-shaped front. Columns of X are jurors, and there is no y."""

from __future__ import annotations

import inspect
from html import escape
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jurors.errors import SketchError
from jurors.evaluate import Evaluation
from jurors.evaluate.partition import partition_by_label
from jurors.evaluate.posterior import tuple_posterior
from jurors.jury.grade import grade
from jurors.sketch import Sketch, count_votes
from jurors.votes import Label, Votes


class Jury:
    """Grade the jurors in the columns of X, then label new items with what was learnt.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(0, 2, (500, 1))
    >>> X = np.where(rng.random((500, 3)) < 0.8, truth, 1 - truth)
    >>> jury = Jury().fit(X)
    >>> jury.predict([[0, 0, 0], [1, 1, 1]]).tolist()
    [0, 1]
    >>> jury.evaluation_.jurors
    ('1', '2', '3')
    """

    evaluation_: Evaluation
    classes_: NDArray[Any]
    sketch_: Sketch

    def __init__(
        self,
        *,
        method: str = "auto",
        trust: str | None = None,
        common: Label | None = None,
        labels: tuple[Label, ...] | None = None,
        jurors: tuple[str, ...] | None = None,
        seed: int = 0,
    ) -> None:
        self.method = method
        self.trust = trust
        self.common = common
        self.labels = labels
        self.jurors = jurors
        self.seed = seed

    def fit(self, X: ArrayLike, y: object = None) -> Jury:
        """Forget everything and grade the jurors on X; y is ignored: there is no answer key."""
        return self._learn(Sketch.from_votes(self._votes(X, self.labels)))

    def partial_fit(self, X: ArrayLike, y: object = None, classes: ArrayLike | None = None) -> Jury:
        """Add the items of X to what was seen before; the first batch must show (or `classes` name) every label."""
        if hasattr(self, "sketch_"):
            return self._learn(self.sketch_ + Sketch.from_votes(self._votes(X, self.sketch_.labels)))
        labels = self.labels if classes is None else tuple(np.asarray(classes).tolist())
        return self._learn(Sketch.from_votes(self._votes(X, labels)))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The best label of each row."""
        chosen, _ = self._partition(X)
        return self.classes_[chosen]

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """The probability of each label, columns in the order of `classes_`."""
        return self._partition(X)[1]

    def _partition(self, X: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        if not hasattr(self, "evaluation_"):
            raise SketchError("this Jury is not fitted yet; call fit(X) first")
        if self.evaluation_.solution is None:
            raise SketchError("no real evaluation explains the votes it was fitted on; see evaluation_.alarms")
        sketch, inverse = count_votes(self._votes(X, self.sketch_.labels))
        posterior = tuple_posterior(sketch, self.evaluation_.solution)
        seen, rows, likely = self._seen(sketch)
        posterior[seen] = likely[rows]
        partition = partition_by_label(sketch, self.evaluation_.solution, posterior)
        return partition.chosen[inverse], posterior[inverse]

    def _seen(self, sketch: Sketch) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """Tuples that the fit has seen keep the shares it gave them: it knows more than the grades say (difficulty)."""
        partition = self.evaluation_.partition
        if partition is None:
            return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros((0, len(sketch.labels)))
        place = {row.tobytes(): k for k, row in enumerate(partition.sketch.tuples.codes)}
        found = np.array([place.get(row.tobytes(), -1) for row in sketch.tuples.codes], dtype=np.int64)
        with np.errstate(divide="ignore", invalid="ignore"):
            likely = partition.by_true_label / partition.sketch.counts[:, None]
        seen = np.flatnonzero(found >= 0)
        seen = seen[np.isfinite(likely[found[seen]]).all(axis=1)]
        return seen, found[seen], likely

    def _votes(self, X: ArrayLike, labels: tuple[Label, ...] | None) -> Votes:
        cells = X if isinstance(X, list) else np.asarray(X)
        if labels is not None and not isinstance(cells, list) and cells.dtype.kind in "iuf":
            # Numbers are labels here, not positions in a list of labels as in Votes.from_matrix.
            cells = _positions_of(cells, labels)
        return Votes.from_matrix(cells, labels=labels, jurors=self.jurors)

    def _learn(self, sketch: Sketch) -> Jury:
        self.evaluation_ = grade(sketch, method=self.method, trust=self.trust, common=self.common, seed=self.seed)
        self.sketch_ = sketch
        self.classes_ = np.array(sketch.labels)
        return self

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The constructor's arguments, as scikit-learn wants them."""
        return {
            name: getattr(self, name) for name in inspect.signature(type(self).__init__).parameters if name != "self"
        }

    def set_params(self, **params: Any) -> Jury:
        """Change constructor arguments."""
        known = self.get_params()
        for name, value in params.items():
            if name not in known:
                raise SketchError(f"Jury has no parameter {name!r}; it has {', '.join(known)}")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        shown = ", ".join(f"{k}={v!r}" for k, v in self.get_params().items() if v not in (None, "auto", 0))
        return f"Jury({shown})"

    def _repr_html_(self) -> str:
        fitted = getattr(self, "evaluation_", None)
        return f"<p>{escape(repr(self))}</p>{'' if fitted is None else fitted._repr_html_()}"


def _positions_of(cells: NDArray[Any], labels: tuple[Label, ...]) -> NDArray[np.int64]:
    """Each number's position among the labels; -1 for a negative number that is no label, and for NaN."""
    numbers = np.array(labels, dtype=float)
    order = np.argsort(numbers)
    place = np.minimum(np.searchsorted(numbers[order], cells), len(labels) - 1)
    found = numbers[order][place] == cells
    stranger = ~found & (cells >= 0)
    if stranger.any():
        raise SketchError(f"label {cells[stranger][0]} was not there when the jury was fitted: {labels}")
    return np.where(found, order[place], -1)
