"""`DisjointJury`: scikit-learn classifiers made as independent as data allow, and a search for independent features.

Each juror learns from records that no other juror has seen, and sees features that no other sees. They then label new
records without an answer key, and `evaluation_` grades them on these. None of this makes errors independent; it only
removes two reasons why they would not be.

The search. The paper selected four disjoint sets of three of its thirteen features, 200,200 ways, by a random search of
about 100. A search by error correlation alone finds jurors who know nothing: coins err independently. What spoils an
evaluation is correlation relative to signal, C_jk = P_A P_B d_j d_k + Γ_jk, so juries are ranked by

    noise / signal = max |Γ_jk| / min P_A P_B d_j d_k

over pairs of jurors, both measured on labelled records that no juror learnt from. The best of many ways tried owes
something to luck on these records: measure it again on others.
"""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone

from jurors._numeric import Floats, Integers
from jurors.errors import OptionError, SketchError
from jurors.evaluate.alarms import Alarm
from jurors.evaluate.evaluation import Evaluation
from jurors.evaluate.solution import majority_partition
from jurors.jury.compare import score_labels
from jurors.jury.grade import grade
from jurors.jury.label import Labelling, label, label_rows
from jurors.results import Block, Columns, Result, Table, row_documents
from jurors.sketch.sketch import count_votes
from jurors.votes.codes import is_missing
from jurors.votes.frame import collect_frame, is_frame
from jurors.votes.io.local_files import INTERRUPTED_FIT, is_interrupt
from jurors.votes.table import Votes

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
        """Split the records among the jurors and train each on its own, with its own features.

        Returns
        -------
        DisjointJury
            Itself.
        """
        for _ in self.fit_each(X, y):
            pass
        return self

    def fit_each(self, X: Any, y: ArrayLike) -> Iterator[str]:
        """Fit like `fit`, naming each juror when it is trained: for progress bars."""
        table = _Records(X)
        rng = np.random.default_rng(self.seed)
        members = self._members()
        if self.features is None:
            if len(table.columns) < len(members):
                raise SketchError(
                    f"{len(table.columns)} columns are too few for {len(members)} jurors with features of their own"
                )
            order = rng.permutation(len(table.columns))
            sets = [[table.columns[c] for c in np.sort(part)] for part in np.array_split(order, len(members))]
        else:
            if len(self.features) != len(members):
                raise SketchError(f"there are {len(members)} estimators and {len(self.features)} sets of features")
            sets = [[table.column(c) for c in columns] for columns in self.features]
            if not all(sets):
                raise SketchError("a juror without any feature has nothing to judge by")
        self.features_ = sets
        self.classes_, codes = np.unique(np.asarray(y), return_inverse=True)
        if len(codes) != table.rows:
            raise SketchError(f"there are {table.rows:,} records and {len(codes):,} labels")
        self.parts_ = disjoint_parts(codes, len(members), rng, balanced=self.balanced)
        self.jurors_ = tuple(name for name, _ in members)
        self.n_features_in_ = len(table.columns)
        self.estimators_ = []
        labels = np.asarray(y)
        for k, ((name, estimator), part) in enumerate(zip(members, self.parts_, strict=True)):
            fresh = clone(estimator)
            parameters = fresh.get_params(deep=True).items()
            no_seed = [name for name, x in parameters if x is None and name.rpartition("__")[2] == "random_state"]
            fresh.set_params(**dict.fromkeys(no_seed, self.seed + k))
            with _interruptible():
                fresh.fit(table.take(self.features_[k], part), labels[part])
            self.estimators_.append(fresh)
            yield name

    def votes(self, X: Any) -> Votes:
        """Predict the label of each record by each juror.

        Returns
        -------
        Votes
        """
        if not hasattr(self, "estimators_") or len(self.estimators_) < len(self.jurors_):
            raise SketchError("this DisjointJury is not fitted yet; call fit(X, y) first")
        table = _Records(X)
        if len(table.columns) != self.n_features_in_:
            raise SketchError(f"X has {len(table.columns)} columns; the jury was fitted on {self.n_features_in_}")
        predictions = [e.predict(table.take(own)) for e, own in zip(self.estimators_, self.features_, strict=True)]
        codes = np.searchsorted(self.classes_, np.stack(predictions, axis=1))
        return Votes.from_matrix(codes, labels=tuple(self.classes_.tolist()), jurors=self.jurors_)

    def predict(self, X: Any) -> NDArray[Any]:
        """Label the records by the jurors' votes and estimated grades; `evaluation_` grades them on these records.

        If the votes cannot be graded (few records, jurors who always agree), majority vote decides, with a warning.

        Returns
        -------
        array (records,)
            Labels.
        """
        codes = self._label(self.votes(X)).codes  # first: raises if the jury is not fitted
        return self.classes_[codes]

    def predict_proba(self, X: Any) -> Floats:
        """Estimate the share of each label among records with the same votes; NaN if majority vote had to decide.

        Shares outside [0, 1] are an alarm, not a mistake: see `evaluation_.alarms`.

        Returns
        -------
        array (records, labels)
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


def disjoint_parts(codes: Integers, parts: int, rng: np.random.Generator, *, balanced: bool = False) -> list[Integers]:
    """Split records at random into parts with the same mixture of labels (or equally many of each).

    Returns
    -------
    list of arrays
        Sorted positions.

    Examples
    --------
    >>> codes = np.array([0] * 6 + [1] * 3)
    >>> parts = disjoint_parts(codes, 3, np.random.default_rng(0), balanced=True)
    >>> [codes[part].tolist() for part in parts]
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
    """Let Ctrl-C end a fit: scikit-learn's networks catch it, warn, and go on as if trained."""
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=INTERRUPTED_FIT, category=UserWarning)
        try:
            yield
        except UserWarning as warning:
            if is_interrupt(warning):
                raise KeyboardInterrupt from None
            raise


class _Records:
    """Rows and columns of a dataframe or an array, by one interface."""

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
        """Find a column by name or position."""
        if named in self.columns:
            return named
        if isinstance(named, (int, np.integer)) and 0 <= named < len(self.columns):
            return self.columns[named]
        raise SketchError(f"there is no column {named!r} in X; there are: {', '.join(map(str, self.columns))}")

    def take(self, columns: list[Any], rows: Integers | None = None) -> Any:
        """Take some columns, of some rows or of all, in the given kind of table."""
        if self.frame is None:
            part = self.array[:, columns]
            return part if rows is None else part[rows]
        part = self.frame.select(columns)
        return (part if rows is None else part[rows.tolist()]).to_native()


# -- search for features whose jurors' errors are nearly independent --

Partition: TypeAlias = tuple[tuple[int, ...], ...]
Progress: TypeAlias = Callable[[float], None]
_SHOWN = 10
_NO_SIGNAL = (
    "In every jury that was tried somebody was no better than a coin on the held-out records: none can be graded."
)


@dataclass(frozen=True)
class Trial:
    """One way to divide the features, and how its jury did on held-out records."""

    features: tuple[tuple[Any, ...], ...]  #: one set per juror
    correlation: float  #: the largest error correlation of a pair, on any label
    signal: float  #: the least P_A P_B d_j d_k of a pair; not above 0 if one of them is no better than a coin
    scores: tuple[float, ...]  #: the share of records each juror labels right

    @property
    def ratio(self) -> float:
        """Noise relative to signal; infinite if a juror knows nothing."""
        return self.correlation / self.signal if self.signal > 0 else math.inf


@dataclass(frozen=True, eq=False)
class IndependenceSearch(Result):
    """The best jury, ready to predict, and all trials, best first."""

    jury: DisjointJury
    trials: tuple[Trial, ...]
    possible: int  #: in how many ways the features can be divided
    held_out: Integers  #: the held-out records

    @property
    def best(self) -> Trial:
        """The least noise relative to signal."""
        return self.trials[0]

    def table(self) -> Table:
        """Tabulate the best and the worst trials.

        Returns
        -------
        Table
        """
        shown = self.trials if len(self.trials) <= _SHOWN else (*self.trials[: _SHOWN - 1], self.trials[-1])
        rows = tuple(
            (
                " | ".join(", ".join(map(str, own)) for own in trial.features),
                f"{trial.correlation:.4f}", f"{trial.signal:.4f}",
                "–" if math.isinf(trial.ratio) else f"{trial.ratio:.2f}",
                ", ".join(f"{x:.1%}" for x in trial.scores),
            )
            for trial in shown
        )  # fmt: skip
        title = (
            f"{len(self.trials):,} of {self.possible:,} ways tried, measured on {len(self.held_out):,} held-out records"
        )
        columns = ("features of each juror", "largest error correlation", "least signal", "noise/signal", "scores")
        return Table(columns, rows, title=title, right=(1, 2, 3))

    def _document(self) -> dict[str, Any]:
        return {"possible": self.possible, "held_out": len(self.held_out), "trials": row_documents(self._columns())}

    def _columns(self) -> Columns:
        """One row per trial."""
        names = ("features", "correlation", "signal", "ratio", "scores")
        return {name: [getattr(trial, name) for trial in self.trials] for name in names}

    def _blocks(self) -> list[Block]:
        return [self.table(), *([] if math.isfinite(self.best.ratio) else [_NO_SIGNAL])]


def find_independent_jury(
    X: Any,
    y: ArrayLike,
    estimators: Any,
    *,
    jurors: int = 4,
    features_each: int | None = None,
    tries: int = 100,
    held_out: float = 0.3,
    balanced: bool = False,
    seed: int = 0,
    progress: Progress | None = None,
) -> IndependenceSearch:
    """Search for features, one disjoint set per juror, whose jurors' errors are nearly uncorrelated.

    Parameters
    ----------
    X, y
        Labelled records of two labels: a dataframe or an array, and one label per record.
    estimators
        A scikit-learn classifier, or one per juror: different algorithms err differently.
    features_each
        How many features each juror gets; by default as many as there are for everybody.
    tries
        How many ways to try; all of them where there are no more.
    held_out
        The share of the records that measures the juries; the others train them, in disjoint parts.
    progress
        Called with the share that is done.

    Returns
    -------
    IndependenceSearch

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = make_classification(3_000, n_features=6, n_informative=6, n_redundant=0, random_state=1)
    >>> search = find_independent_jury(X, y, DecisionTreeClassifier(max_depth=3), jurors=3, tries=20)
    >>> search.possible, len(search.trials), search.best.ratio <= search.trials[-1].ratio
    (15, 15, True)
    >>> len(search.jury.predict(X[:500]))
    500
    """
    records = _Records(collect_frame(X).to_native() if is_frame(X) else X)
    names = records.columns
    values = np.asarray(y)
    members = list(estimators) if isinstance(estimators, (list, tuple)) else [estimators] * max(jurors, 0)
    each = len(names) // max(len(members), 1) if features_each is None else features_each
    if values.ndim != 1 or len(values) != records.rows:
        raise SketchError(f"there are {records.rows:,} records and {len(values) if values.ndim else 0:,} labels")
    if any(is_missing(value) for value in values.tolist()):
        raise SketchError("the target has missing values; leave those records out")
    if (labels := len(set(values.tolist()))) != 2:
        raise SketchError(f"the search needs two labels, the target has {labels}")
    if not 0 < held_out < 1:
        raise OptionError(f"held_out must lie between 0 and 1, got {held_out}")
    if seed < 0:
        raise OptionError(f"seed must not be negative, got {seed}")
    for member in members:
        if not hasattr(member[1] if isinstance(member, tuple) else member, "fit"):
            raise SketchError(f"a juror is a scikit-learn classifier or a (name, classifier) pair, not {member!r}")
    if len(members) < 3:
        raise SketchError(f"a jury needs three jurors or more, got {len(members)}")
    if each < 1 or len(members) * each > len(names):
        raise SketchError(
            f"{len(names)} features are too few for {len(members)} jurors with {max(each, 1)} features each"
        )
    if tries < 1:
        raise OptionError(f"at least one way must be tried, got {tries}")
    differ = len({repr(member[1] if isinstance(member, tuple) else member) for member in members}) > 1
    rng = np.random.default_rng(seed)
    # The records that measure and those that train; each has its share of both labels.
    shuffled = [rng.permutation(np.flatnonzero(values == label)) for label in np.unique(values)]
    sizes = [max(1, round(held_out * len(rows))) for rows in shuffled]
    test = np.sort(np.concatenate([rows[:n] for rows, n in zip(shuffled, sizes, strict=True)]))
    train = np.sort(np.concatenate([rows[n:] for rows, n in zip(shuffled, sizes, strict=True)]))
    partitions = list(_partitions(len(names), len(members), each, tries, rng, ordered=differ))
    trials: list[Trial] = []
    best: Any = None
    least = (math.inf, math.inf)
    for k, partition in enumerate(partitions):
        jury = DisjointJury(members, [[names[c] for c in own] for own in partition], seed, balanced=balanced)
        jury.fit(records.take(names, train), values[train])
        keyed = score_labels(jury.votes(records.take(names, test)), values[test].tolist())
        solution = keyed.solution.to_float()
        p = [float(x) for x in solution.prevalence.values()]
        informed = [sum(float(x) for x in row.values()) - 1 for row in solution.accuracy.values()]
        pairs = list(itertools.combinations(range(len(informed)), 2))
        size = [p[0] * p[1] * abs(informed[i] * informed[j]) for i, j in pairs]
        # Two jurors who are both worse than coins agree as much as two good ones: only the sign distinguishes them.
        signal = min(x if min(informed[i], informed[j]) > 0 else -x for x, (i, j) in zip(size, pairs, strict=True))
        correlations = [abs(float(x)) for by in keyed.correlations(2).values() for x in by.values() if x is not None]
        trial = Trial(
            features=tuple(map(tuple, jury.features_)),
            correlation=max(correlations),
            signal=signal,
            scores=tuple(float(x) for x in solution.score.values()),
        )
        if best is None or _rank(trial) < least:
            best, least = jury, _rank(trial)  # the others are dropped: a hundred fitted juries are large
        trials.append(trial)
        if progress is not None:
            progress((k + 1) / len(partitions))
    possible = count_partitions(len(names), len(members), each, ordered=differ)
    return IndependenceSearch(best, tuple(sorted(trials, key=_rank)), possible, test)


def _rank(trial: Trial) -> tuple[float, float]:
    """Order by noise relative to signal; among trials without signal, by how much is lacking."""
    return trial.ratio, -trial.signal


def count_partitions(columns: int, jurors: int, each: int, *, ordered: bool = False) -> int:
    """Count the ways to select `jurors` disjoint sets of `each` columns; ordered if jurors differ.

    Returns
    -------
    int

    Examples
    --------
    >>> count_partitions(13, 4, 3)
    200200
    """
    ways: int = math.factorial(columns) // (math.factorial(each) ** jurors * math.factorial(columns - jurors * each))
    return ways if ordered else ways // math.factorial(jurors)


def _partitions(
    columns: int, jurors: int, each: int, tries: int, rng: np.random.Generator, *, ordered: bool
) -> Iterator[Partition]:
    """List different ways to divide the columns: all of them if there are few, else drawn at random."""
    if count_partitions(columns, jurors, each, ordered=ordered) <= tries:
        yield from _all_partitions(tuple(range(columns)), jurors, each, ordered=ordered)
        return
    seen: set[Partition] = set()
    while len(seen) < tries:
        drawn = rng.permutation(columns)[: jurors * each].reshape(jurors, each)
        sets = tuple(tuple(sorted(own)) for own in drawn.tolist())
        partition = sets if ordered else tuple(sorted(sets))
        if partition not in seen:
            seen.add(partition)
            yield partition


def _all_partitions(left: tuple[int, ...], jurors: int, each: int, *, ordered: bool) -> Iterator[Partition]:
    if not jurors:
        yield ()
        return
    for own in itertools.combinations(left, each):
        # Unordered sets are listed once: by their least columns, in ascending order.
        rest = tuple(c for c in left if c not in own and (ordered or c > own[0]))
        for others in _all_partitions(rest, jurors - 1, each, ordered=ordered):
            yield (own, *others)
