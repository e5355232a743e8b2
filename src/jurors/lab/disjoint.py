"""`DisjointJury`: scikit-learn classifiers made as independent as data allow: disjoint records, disjoint features.

Each juror learns from records that no other has seen, and sees features that no other sees. They then label new records
without an answer key, and `evaluation_` says how good each of them was at it. None of this makes errors independent;
it only removes two reasons why they would not be.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jurors._numeric import Floats, Integers
from jurors.errors import SketchError
from jurors.evaluate import Alarm, Evaluation
from jurors.evaluate.partition import majority_partition
from jurors.jury import grade, label
from jurors.jury.label import Labelling, label_rows
from jurors.sketch import count_votes
from jurors.votes import Votes
from jurors.votes.io.local_files import INTERRUPTED_FIT, is_interrupt

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, clone
except ImportError:  # pragma: no cover
    raise ImportError("this part of the lab needs scikit-learn: pip install 'jurors[lab]'") from None

Feature: TypeAlias = str | int


class DisjointJury(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A jury of classifiers, each with records and features of its own.

    Parameters
    ----------
    estimators
        Three scikit-learn classifiers or more, or (name, classifier) pairs, or one classifier, of which each set of
        features gets a copy. They are cloned, never fitted themselves.
    features
        One set of columns per juror, by name or position; None splits the columns evenly, at random.
    seed
        For the split of records and columns, and for estimators whose `random_state` is None.
    balanced
        Train every juror on equally many records of each label; the surplus of the commoner ones is left out.
    method
        How to grade the votes; as in `jurors.grade`.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = make_classification(4_000, n_features=9, n_informative=9, n_redundant=0, random_state=3)
    >>> jury = DisjointJury([DecisionTreeClassifier(max_depth=4)] * 3).fit(X[:2_000], y[:2_000])
    >>> [len(part) for part in jury.parts_], sorted(column for own in jury.features_ for column in own)
    ([667, 667, 666], [0, 1, 2, 3, 4, 5, 6, 7, 8])
    >>> labels = jury.predict(X[2_000:])
    >>> jury.evaluation_.items, jury.evaluation_.jurors
    (2000, ('1', '2', '3'))
    """

    classes_: NDArray[Any]  #: the labels
    jurors_: tuple[str, ...]  #: the jurors' names
    estimators_: list[Any]  #: the fitted classifiers
    features_: list[list[Any]]  #: each juror's columns
    parts_: list[Integers]  #: each juror's records, as positions in what `fit` was given
    evaluation_: Evaluation  #: of the records that were labelled last, without a key
    labelling_: Labelling  #: the labels they got

    def __init__(
        self,
        estimators: Any,
        features: Sequence[Sequence[Feature]] | None = None,
        seed: int = 0,
        *,
        balanced: bool = False,
        method: str = "auto",
    ) -> None:
        self.estimators = estimators
        self.features = features
        self.seed = seed
        self.balanced = balanced
        self.method = method

    def fit(self, X: Any, y: ArrayLike) -> DisjointJury:
        """Split the records among the jurors and train each on its own, with its own features."""
        for _ in self.fit_each(X, y):
            pass
        return self

    def fit_each(self, X: Any, y: ArrayLike) -> Iterator[str]:
        """As `fit`, naming each juror when it has learnt: for progress bars."""
        table = _Records(X)
        rng = np.random.default_rng(self.seed)
        members = self._members()
        self.features_ = self._feature_sets(table, len(members), rng)
        self.classes_, codes = np.unique(np.asarray(y), return_inverse=True)
        if len(codes) != table.rows:
            raise SketchError(f"there are {table.rows:,} records and {len(codes):,} labels")
        self.parts_ = disjoint_parts(codes, len(members), rng, balanced=self.balanced)
        self.jurors_ = tuple(name for name, _ in members)
        self.n_features_in_ = len(table.columns)
        self.estimators_ = []
        labels = np.asarray(y)
        for k, ((name, estimator), part) in enumerate(zip(members, self.parts_, strict=True)):
            fresh = _seeded(clone(estimator), self.seed + k)
            with _interruptible():
                fresh.fit(table.take(self.features_[k], part), labels[part])
            self.estimators_.append(fresh)
            yield name

    def votes(self, X: Any) -> Votes:
        """What each juror says to each record."""
        if not hasattr(self, "estimators_") or len(self.estimators_) < len(self.jurors_):
            raise SketchError("this DisjointJury is not fitted yet; call fit(X, y) first")
        table = _Records(X)
        if len(table.columns) != self.n_features_in_:
            raise SketchError(f"X has {len(table.columns)} columns; the jury was fitted on {self.n_features_in_}")
        said = [e.predict(table.take(own)) for e, own in zip(self.estimators_, self.features_, strict=True)]
        codes = np.searchsorted(self.classes_, np.stack(said, axis=1))
        return Votes.from_matrix(codes, labels=tuple(self.classes_.tolist()), jurors=self.jurors_)

    def predict(self, X: Any) -> NDArray[Any]:
        """Label the records by what the jurors say about each other: `evaluation_` grades them on these records.

        Where the votes cannot be graded (few records, jurors who always agree), majority vote decides, with a warning.
        """
        chosen = self._label(self.votes(X)).codes
        return self.classes_[chosen]

    def predict_proba(self, X: Any) -> Floats:
        """The estimated share of each label among records with the same votes; NaN where majority vote had to decide.

        Shares outside [0, 1] are an alarm, not a mistake: see `evaluation_.alarms`.
        """
        votes = self.votes(X)
        partition = self._label(votes).partition
        sketch, inverse = count_votes(votes)
        if partition.is_sure_of_itself:
            return np.full((len(inverse), len(self.classes_)), np.nan)
        shares: Floats = partition.by_true_label / sketch.counts[:, None]
        return shares[inverse]

    def _label(self, votes: Votes) -> Labelling:
        try:
            self.evaluation_ = grade(votes, method=self.method, seed=self.seed)
            self.labelling_ = label(votes, evaluation=self.evaluation_)
        except SketchError as error:
            reason = f"the votes cannot be graded ({error}), so the labels are majority votes"
            fallback = Alarm("majority_fallback", "warning", reason)
            graded = grade(votes, method="majority", seed=self.seed)
            self.evaluation_ = replace(graded, alarms=(*graded.alarms, fallback))
            sketch, inverse = count_votes(votes)
            self.labelling_ = label_rows(
                votes, inverse, majority_partition(sketch), method="majority", alarms=self.evaluation_.alarms
            )
        if self.labelling_.method == "majority" != self.method:
            warnings.warn(f"DisjointJury: {self.labelling_.alarms[-1].message}", stacklevel=3)
        return self.labelling_

    def _members(self) -> list[tuple[str, Any]]:
        given = self.estimators
        if hasattr(given, "fit"):
            if self.features is None:
                raise SketchError("one estimator makes a jury only with `features`, one set of columns per juror")
            given = [given] * len(self.features)
        members = [e if isinstance(e, tuple) else (str(k), e) for k, e in enumerate(given, start=1)]
        if len(members) < 3:
            raise SketchError(f"a jury needs three jurors or more, got {len(members)}")
        if len({name for name, _ in members}) < len(members):
            raise SketchError("two estimators have the same name")
        return members

    def _feature_sets(self, table: _Records, jurors: int, rng: np.random.Generator) -> list[list[Any]]:
        if self.features is None:
            if len(table.columns) < jurors:
                raise SketchError(
                    f"{len(table.columns)} columns are too few for {jurors} jurors with features of their own"
                )
            order = rng.permutation(len(table.columns))
            return [[table.columns[c] for c in np.sort(own)] for own in np.array_split(order, jurors)]
        if len(self.features) != jurors:
            raise SketchError(f"there are {jurors} estimators and {len(self.features)} sets of features")
        sets = [[table.column(c) for c in own] for own in self.features]
        if not all(sets):
            raise SketchError("a juror without any feature has nothing to judge by")
        return sets


def disjoint_parts(codes: Integers, parts: int, rng: np.random.Generator, *, balanced: bool = False) -> list[Integers]:
    """Split records at random into parts with the same mixture of labels (or equally many of each): sorted positions.

    Examples
    --------
    >>> codes = np.array([0] * 6 + [1] * 3)
    >>> found = disjoint_parts(codes, 3, np.random.default_rng(0), balanced=True)
    >>> [codes[part].tolist() for part in found]
    [[0, 1], [0, 1], [0, 1]]
    """
    by_label = [rng.permutation(np.flatnonzero(codes == code)) for code in range(int(codes.max(initial=-1)) + 1)]
    fewest = min((len(rows) for rows in by_label), default=0)
    if len(by_label) < 2:
        raise SketchError("all records have the same label; a jury needs two labels or more to learn from")
    if fewest < parts:
        raise SketchError(
            f"the rarest label has {fewest} records, too few for {parts} jurors with records of their own"
        )
    if balanced:
        by_label = [rows[: fewest // parts * parts] for rows in by_label]
    shuffled = np.concatenate(by_label)
    # Dealt like cards, one after another: parts differ by one record at most, and by one of each label.
    dealt = np.arange(len(shuffled)) % parts
    return [np.sort(shuffled[dealt == k]) for k in range(parts)]


@contextmanager
def _interruptible() -> Iterator[None]:
    """Let Ctrl-C end a fit: scikit-learn's networks catch it, warn, and pass for trained."""
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=INTERRUPTED_FIT, category=UserWarning)
        try:
            yield
        except UserWarning as warning:
            if is_interrupt(warning):
                raise KeyboardInterrupt from None
            raise


def _seeded(estimator: Any, seed: int) -> Any:
    """Fix every `random_state` that nobody fixed."""
    open_seeds = {
        name: seed
        for name, value in estimator.get_params(deep=True).items()
        if value is None and name.rpartition("__")[2] == "random_state"
    }
    return estimator.set_params(**open_seeds) if open_seeds else estimator


class _Records:
    """Rows and columns of a dataframe or an array, the same way for both."""

    def __init__(self, X: Any) -> None:
        self.frame = None
        if hasattr(X, "columns"):
            import narwhals as nw

            self.frame = nw.from_native(X, eager_only=True)
            self.columns: list[Any] = list(self.frame.columns)
            self.rows = len(self.frame)
            return
        self.array = np.asarray(X)
        if self.array.ndim != 2:
            raise SketchError(f"X must have rows and columns, got the shape {self.array.shape}")
        self.columns = list(range(self.array.shape[1]))
        self.rows = len(self.array)

    def column(self, named: Feature) -> Any:
        """A column by name or position."""
        if named in self.columns:
            return named
        if isinstance(named, (int, np.integer)) and 0 <= named < len(self.columns):
            return self.columns[named]
        raise SketchError(f"there is no column {named!r} in X; there are: {', '.join(map(str, self.columns))}")

    def take(self, columns: list[Any], rows: Integers | None = None) -> Any:
        """Some columns, of some rows or of all, in the kind of table that came."""
        if self.frame is None:
            part = self.array[:, columns]
            return part if rows is None else part[rows]
        chosen = self.frame.select(columns)
        return (chosen if rows is None else chosen[rows.tolist()]).to_native()
