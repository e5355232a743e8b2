"""The paper's jury: four small neural networks with disjoint records and features, and what they say to all others.

A network of three coded inputs says the same to everybody with the same three codes, so it is asked once for each
combination that occurs. What is kept are counts by true label and decision tuple, for everybody who trained no network
and for each sex, race and age group: all that tests are drawn from.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jurors._numeric import Flags, Integers, single_threaded
from jurors.errors import VotesError
from jurors.lab.census.acs import Census
from jurors.lab.census.draws import count_by_true_label

Progress: TypeAlias = Callable[[str], None]

WIDTH, DEPTH = 9, 5
#: Of each juror, as many records as the paper's totals leave: 168,000 for four.
PAPER_RECORDS = 42_000
AGES = ((0, 15), (16, 24), (25, 34), (35, 44), (45, 54), (55, 64), (65, 200))
SEXES = {1: "male", 2: "female"}
RACES = {
    1: "White", 2: "Black", 3: "American Indian", 4: "Alaska Native", 5: "American Indian or Alaska Native",
    6: "Asian", 7: "Pacific Islander", 8: "another race", 9: "two or more races",
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class CensusJury:
    """Four trained networks, known by what they say to everybody who trained none of them."""

    fingerprint: str  #: of the records and settings it was trained with
    jurors: tuple[str, ...]
    records: int  #: that trained each juror, half of each label
    iterations: tuple[int, ...]  #: epochs of training
    pool: Integers  #: (2, 16) counts by true label and decision tuple
    groups: Mapping[str, Mapping[str, Integers]]  #: column -> group -> the same

    def to_dict(self) -> dict[str, Any]:
        """As JSON, to be read again by `from_dict`."""
        return asdict(self) | {
            "pool": self.pool.tolist(),
            "groups": {c: {g: n.tolist() for g, n in groups.items()} for c, groups in self.groups.items()},
        }

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> CensusJury:
        """What `to_dict` gave; KeyError, TypeError or ValueError where it did not."""
        groups = {
            column: {group: np.asarray(counts, dtype=np.int64) for group, counts in groups.items()}
            for column, groups in document["groups"].items()
        }
        return cls(
            fingerprint=str(document["fingerprint"]),
            jurors=tuple(document["jurors"]),
            records=int(document["records"]),
            iterations=tuple(document["iterations"]),
            pool=np.asarray(document["pool"], dtype=np.int64).reshape(2, -1),
            groups=groups,
        )


def training_records(census: Census) -> int:
    """How many records train each juror: as in the paper, unless that left less than half of a label for the tests."""
    each = min(census.totals) // (2 * len(census.feature_sets))
    each = each // 1_000 * 1_000 if each > 1_000 else each
    return min(PAPER_RECORDS, 2 * each)


def jury_fingerprint(census: Census, records: int, seed: int) -> str:
    """Changes with the records, the columns each juror sees, the size of its training, and the seed."""
    # The last number is the way of training. 2: Ctrl-C ends it; a jury kept before that may be half trained.
    settings = [census.digest, census.feature_sets, records, seed, WIDTH, DEPTH, "tanh", 2]
    return hashlib.blake2b(json.dumps(settings).encode(), digest_size=12).hexdigest()


def train_jury(census: Census, *, records: int, seed: int, progress: Progress | None = None) -> CensusJury:
    """Train the four networks on disjoint records, half of them employed, and ask them about everybody else."""
    jury, rest = _train(census, records, seed, progress)
    votes = np.stack(list(_answers(census, jury, rest)), axis=1)
    truth = census.employed[rest]
    return CensusJury(
        fingerprint=jury_fingerprint(census, records, seed),
        jurors=census.jurors,
        records=records,
        iterations=tuple(int(network[-1].n_iter_) for network in jury.estimators_),
        pool=count_by_true_label(votes, truth),
        groups={
            column: {name: count_by_true_label(votes[who], truth[who]) for name, who in _groups(column, codes)}
            for column, codes in ((c, census.codes[c][rest]) for c in ("SEX", "RAC1P", "AGEP"))
        },
    )


def _train(census: Census, records: int, seed: int, progress: Progress | None) -> tuple[Any, Integers]:
    """The fitted jury, and the persons who trained none of its networks."""
    try:
        from sklearn.exceptions import ConvergenceWarning

        from jurors.lab.independence import DisjointJury
    except ImportError:
        raise VotesError("training the jury needs scikit-learn: pip install 'jurors[lab]'") from None

    width, each = len(census.feature_sets), records // 2
    needed, fewest = width * each, min(census.totals)
    if each < 1 or needed >= fewest:
        raise VotesError(
            f"{width} jurors with {records:,} training records each need {needed:,} of each label, and some left for "
            f"the tests; {census.name} has {fewest:,} of the rarer one: train with fewer"
        )
    rng = np.random.default_rng([seed, 1])
    by_label = [rng.permutation(np.flatnonzero(census.employed == label)) for label in (False, True)]
    chosen = np.concatenate([rows[:needed] for rows in by_label])
    rest = np.sort(np.concatenate([rows[needed:] for rows in by_label]))
    columns = [column for own in census.feature_sets for column in own]
    X = np.stack([census.codes[column][chosen] for column in columns], axis=1).astype(float)
    places = [[columns.index(column) for column in own] for own in census.feature_sets]
    members = [(name, network()) for name in census.jurors]
    jury = DisjointJury(members, places, seed, balanced=True)
    with warnings.catch_warnings(), single_threaded():
        warnings.simplefilter("ignore", ConvergenceWarning)  # `iterations` says how long it took
        for name in jury.fit_each(X, census.employed[chosen]):
            if progress is not None:
                progress(name)
    return jury, rest


def network() -> Any:
    """3 inputs (codes, standardised), five hidden layers of 9, a logistic output (a two-way softmax)."""
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    layers = MLPClassifier((WIDTH,) * DEPTH, activation="tanh", early_stopping=True, max_iter=100)
    return make_pipeline(StandardScaler(), layers)


def _answers(census: Census, jury: Any, rest: Integers) -> Iterator[Flags]:
    """Each network's answer to everybody who trained none of them."""
    for network_, own in zip(jury.estimators_, census.feature_sets, strict=True):
        codes = np.stack([census.codes[column][rest] for column in own], axis=1).astype(np.int64)
        codes -= codes.min(axis=0)
        key = np.ravel_multi_index(tuple(codes.T), tuple(codes.max(axis=0) + 1))
        _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
        asked = np.stack([census.codes[column][rest[first]] for column in own], axis=1).astype(float)
        with single_threaded():
            said = network_.predict(asked)
        yield np.asarray(said, dtype=bool)[inverse]


def _groups(column: str, codes: NDArray[np.int16]) -> Iterator[tuple[str, Flags]]:
    """The groups that occur, by name, and who is in them."""
    if column == "AGEP":
        for low, high in AGES:
            who = (codes >= low) & (codes <= high)
            if who.any():
                yield f"{low}+" if high == AGES[-1][1] else f"{low}-{high}", who
        return
    names = SEXES if column == "SEX" else RACES
    for code in np.unique(codes).tolist():
        yield names.get(code, f"code {code}"), codes == code
