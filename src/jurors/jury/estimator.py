"""`Jury`: the scikit-learn-shaped front. Columns of X are jurors, and there is no y."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray

from jurors.errors import OptionError, SketchError, VotesError
from jurors.evaluate.evaluation import Evaluation
from jurors.evaluate.solution import decide, tuple_posterior
from jurors.jury.grade import grade
from jurors.jury.inputs import check_labels
from jurors.options import Label
from jurors.sketch.sketch import Sketch, count_votes
from jurors.votes.codes import as_cells, is_missing
from jurors.votes.frame import index_names
from jurors.votes.key import as_key
from jurors.votes.table import Votes, recode_labels

FEWEST = 3
"""The fewest jurors that can be graded without an answer key."""


@dataclass(kw_only=True, eq=False, repr=False)
class Jury:
    """Grade the jurors in the columns of X, then label new items by these grades.

    The columns of a dataframe are matched by name, in any order; X may also be `Votes`. `gold` has the true labels of
    some items: a mapping or series by the item's name (of `Votes`, or the index of a dataframe) or the row's number.
    All other options are those of `jurors.grade`.

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

    method: str = "auto"
    trust: str | None = None
    common: Label | None = None
    labels: tuple[Label, ...] | None = None
    jurors: tuple[str, ...] | None = None
    gold: Any = None
    family: Mapping[str, Sequence[str]] | Sequence[str] = ()
    errors: str | float = "real"
    seed: int = 0
    evaluation_: Evaluation = field(init=False)
    classes_: NDArray[Any] = field(init=False)
    sketch_: Sketch = field(init=False)
    n_features_in_: int = field(init=False)
    feature_names_in_: NDArray[np.object_] = field(init=False)  # the columns of X; not there where they have no names

    def fit(self, X: ArrayLike | Votes, y: object = None) -> Jury:
        """Grade the jurors on X, discarding earlier fits; y is ignored.

        Returns
        -------
        Jury
            This one.
        """
        return self._start(X, self.labels)

    def fit_predict(self, X: ArrayLike | Votes, y: object = None) -> NDArray[Any]:
        """Grade the jurors on X and label its rows; gold rows have their own label.

        Returns
        -------
        ndarray, (rows,)
        """
        chosen = self.fit(X).predict(X)
        if self.gold is not None:
            votes = self._known_votes(X)
            aligned, codes = as_key(self.gold, votes).align(votes)
            for row in np.flatnonzero(codes >= 0):
                chosen[row] = aligned.labels[codes[row]]
        return chosen

    def partial_fit(self, X: ArrayLike | Votes, y: object = None, classes: ArrayLike | None = None) -> Jury:
        """Add the items of X to those of earlier fits. The first batch, or `classes`, must have every label.

        Returns
        -------
        Jury
            This one.
        """
        if self.gold is not None:
            raise OptionError("gold names items of one X: use fit(X), not partial_fit", name="gold")
        if hasattr(self, "sketch_"):
            return self._learn(self.sketch_ + Sketch.from_votes(self._known_votes(X)))
        return self._start(X, self.labels if classes is None else tuple(np.asarray(classes).tolist()))

    def predict(self, X: ArrayLike | Votes) -> NDArray[Any]:
        """The best label of each row.

        Returns
        -------
        ndarray, (rows,)
        """
        chosen, _ = self._partition(X)
        return self.classes_[chosen]

    def predict_proba(self, X: ArrayLike | Votes) -> NDArray[np.float64]:
        """The probability of each label; columns in the order of `classes_`.

        Returns
        -------
        ndarray, (rows, labels)
        """
        return self._partition(X)[1]

    def score(self, X: ArrayLike | Votes, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """The share of rows whose label is the true label y, weighted by `sample_weight`.

        Returns
        -------
        float
        """
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=float)
        return float(np.average(self.predict(X) == np.asarray(y), weights=weights))

    def _partition(self, X: ArrayLike | Votes) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        if not hasattr(self, "evaluation_"):
            sklearn: Any = sys.modules.get("sklearn.exceptions")
            kind: Any = SketchError
            if sklearn is not None:  # in use: then it is scikit-learn's NotFittedError too
                kind = type("NotFittedError", (SketchError, sklearn.NotFittedError), {})
            raise kind("this Jury is not fitted yet; call fit(X) first")
        fitted = self.evaluation_.partition
        if fitted is None or self.evaluation_.independent.solution is None:
            raise SketchError("no real evaluation explains the votes it was fitted on; see evaluation_.alarms")
        sketch, inverse = count_votes(self._known_votes(X))
        posterior = tuple_posterior(sketch, self.evaluation_.independent.solution)
        calibration = self.evaluation_.calibration
        if calibration is not None:
            posterior = calibration.new_posterior(self.evaluation_, sketch, posterior)
        # Tuples of the fit have the probabilities that `label` gives them.
        place = {row.tobytes(): k for k, row in enumerate(fitted.sketch.tuples.codes)}
        rows = np.array([place.get(row.tobytes(), -1) for row in sketch.tuples.codes], dtype=np.int64)
        of_fit = fitted.posterior
        known = np.flatnonzero(rows >= 0)
        known = known[np.isfinite(of_fit[rows[known]]).all(axis=1)]
        posterior[known] = of_fit[rows[known]]
        chosen = decide(posterior, sketch)
        chosen[known] = fitted.chosen[rows[known]]
        return chosen[inverse], posterior[inverse]

    def _start(self, X: ArrayLike | Votes, labels: tuple[Label, ...] | None) -> Jury:
        names, cells = _columns(X)
        if cells.shape[1] < FEWEST:
            raise SketchError(
                f"X has {cells.shape[1]} feature(s) (shape={cells.shape}) while a minimum of {FEWEST} is required: "
                f"grading without an answer key needs at least {FEWEST} jurors, each a column"
            )
        votes = X if isinstance(X, Votes) else Votes.from_matrix(
            _coded(cells, labels), labels=labels, jurors=self.jurors or names, scale="nominal", items=self._items(X)
        )  # fmt: skip
        check_labels(votes)
        vars(self).pop("feature_names_in_", None)
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        self.n_features_in_ = len(votes.jurors)
        return self._learn(Sketch.from_votes(votes), votes)

    def _known_votes(self, X: ArrayLike | Votes) -> Votes:
        """Votes by the jurors of the fit: matched by column names, or by order where either has no names."""
        if isinstance(X, Votes):
            return recode_labels(X.take(self.sketch_.jurors), self.sketch_.labels)
        names, cells = _columns(X)
        if names is not None and hasattr(self, "feature_names_in_"):
            cells = cells[:, _places(list(self.feature_names_in_), names)]
        elif cells.shape[1] != self.n_features_in_:
            raise VotesError(
                f"X has {cells.shape[1]} features, but Jury is expecting {self.n_features_in_} features as input: "
                "one column for each juror of the fit"
            )
        labels, jurors = self.sketch_.labels, self.sketch_.jurors
        return Votes.from_matrix(
            _coded(cells, labels), labels=labels, jurors=jurors, scale="nominal", items=self._items(X)
        )

    def _items(self, X: Any) -> list[Any] | None:
        """The items' names by the index of a dataframe; None where there are none, or gold uses the rows' numbers."""
        names = None if self.gold is None else index_names(getattr(X, "index", None))
        known = None if names is None else as_key(self.gold).items
        uses_names = known is not None and names is not None and not {*map(str, known)}.isdisjoint(map(str, names))
        return names if uses_names else None

    def _learn(self, sketch: Sketch, votes: Votes | None = None) -> Jury:
        self.evaluation_ = grade(
            sketch if votes is None or self.gold is None else votes, method=self.method, trust=self.trust,
            common=self.common, gold=self.gold, family=self.family, errors=self.errors, seed=self.seed,
        )  # fmt: skip
        if len(self.evaluation_.labels) > len(sketch.labels):  # gold has labels that no juror gives
            sketch = Sketch.from_votes(recode_labels(sketch.tuples, self.evaluation_.labels))
        self.sketch_ = sketch
        self.classes_ = np.array(sketch.labels)
        return self

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The constructor's arguments, as scikit-learn requires.

        Returns
        -------
        dict
        """
        return {
            name: getattr(self, name) for name in inspect.signature(type(self).__init__).parameters if name != "self"
        }

    def set_params(self, **params: Any) -> Jury:
        """Change constructor arguments.

        Returns
        -------
        Jury
            This one.
        """
        known = self.get_params()
        for name, value in params.items():
            if name not in known:
                raise OptionError(f"Jury has no parameter {name!r}; it has {', '.join(known)}")
            setattr(self, name, value)
        return self

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn may expect: columns of labels, with text and missing values, and no y."""
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

        return Tags(
            estimator_type="classifier",
            target_tags=TargetTags(required=False),
            classifier_tags=ClassifierTags(),
            input_tags=InputTags(categorical=True, string=True, allow_nan=True),
        )

    def __repr__(self) -> str:
        given = {k: f"{v!r}" for k, v in self.get_params().items() if v is not None}
        shown = ", ".join(f"{k}={v}" for k, v in given.items() if v not in ("'auto'", "'real'", "0", "()"))
        return f"Jury({shown})"

    def _repr_html_(self) -> str:
        fitted = getattr(self, "evaluation_", None)
        return f"<p>{escape(repr(self))}</p>{'' if fitted is None else fitted._repr_html_()}"


def _columns(X: ArrayLike | Votes) -> tuple[list[str] | None, NDArray[Any]]:
    """The names of the columns, if they are words, and the cells."""
    if isinstance(X, Votes):
        return list(X.jurors), np.empty((X.rows, len(X.jurors)), dtype=np.int8)  # whose shape is checked
    if hasattr(X, "toarray"):
        raise VotesError("a sparse matrix is not supported: its zeros could be labels or missing; give X.toarray()")
    frame: Any = nw.from_native(X, eager_only=True, pass_through=True)
    names = list(frame.columns) if isinstance(frame, nw.DataFrame) else []
    cells = as_cells(X) if isinstance(X, list) else np.asarray(X)
    if cells.ndim != 2:
        raise VotesError(
            f"X needs 2 dimensions, a row per item and a column per juror, and has {cells.ndim}. Reshape your data: "
            "X.reshape(1, -1) if it is one item"
        )
    if cells.dtype.kind == "c":
        raise VotesError("Complex data not supported: a vote is a label")
    return names if names and all(isinstance(name, str) for name in names) else None, cells


def _places(known: list[str], names: list[str]) -> list[int]:
    """The position of each column of the fit."""
    missing, unknown = [[n for n in a if n not in b] for a, b in ((known, names), (names, known))]
    if missing or unknown:
        what = [
            f"{word} {', '.join(map(repr, some))}" for word, some in (("without", missing), ("with", unknown)) if some
        ]
        raise VotesError(f"X comes {' and '.join(what)}, but the jury was fitted on the columns {', '.join(known)}")
    return [names.index(name) for name in known]


def _coded(cells: NDArray[Any], labels: tuple[Label, ...] | None) -> NDArray[Any]:
    """Numeric labels as positions, as Votes.from_matrix takes them; -1 for NaN and other negative numbers."""
    if labels is None or not all(isinstance(label, int | float) for label in labels):
        return cells
    if cells.dtype.kind == "O":
        cells = np.where(np.frompyfunc(is_missing, 1, 1)(cells).astype(bool), np.nan, cells)
    values = cells.astype(float)
    numbers = np.array(labels, dtype=float)
    order = np.argsort(numbers)
    place = np.minimum(np.searchsorted(numbers[order], values), len(labels) - 1)
    known = numbers[order][place] == values
    unknown = ~known & (values >= 0)
    if unknown.any():
        raise SketchError(f"label {values[unknown][0]} was not there when the jury was fitted: {labels}")
    return np.where(known, order[place], -1)
