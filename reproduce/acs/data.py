"""Census records, the jury of four networks that labels them, and tests drawn from what the jury answered.

**Records.** Folktables' own files (`root/2018/1-Year/psam_p*.csv`) become its ACSEmployment task; Parquet extracts of
the American Community Survey are recognised by their columns and codes. Label a is "not employed", label b "employed"
(ESR = 1).

**Jury.** Four small neural networks with disjoint records and features. A network of three coded inputs gives the same
answer to everybody with the same three codes, so it predicts once for each combination that occurs. What is stored are
counts by true label and decision tuple, for everybody who trained no network and for each sex, race and age group: all
that tests are drawn from.

**Draws.** A test is drawn as counts by true label, in one of two ways that must never be confused:

- `shared`: all jurors answer the same items. Counts of decision tuples drawn without replacement from those of the pool
  are multivariate hypergeometric, so no item needs to be touched.
- `separate`: each juror answers items of its own, drawn separately within a true label, and the answers are put side by
  side in random order. How often a juror is right is hypergeometric, and where its answers fall beside those of the
  others is hypergeometric again. Errors are independent by construction, whatever the jurors have in common.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jurors._numeric import Flags, Integers, single_threaded
from jurors.errors import SketchError, VotesError
from jurors.votes.io.local_files import first_line, is_interrupt

Codes: TypeAlias = NDArray[np.int16]

YEAR, HORIZON = "2018", "1-Year"  #: of the paper's records
TARGET = "ESR"
HELD_OUT = ("AGEP", "SEX", "RAC1P")  #: age, sex and race: no juror sees them
#: The paper's partition of features, one set per juror; ESP is left over.
FEATURE_SETS = (("SCHL", "MIG", "DREM"), ("MAR", "CIT", "DEAR"), ("RELP", "DIS", "ANC"), ("MIL", "NATIVITY", "DEYE"))
#: What replaces a column that a file lacks, the closest first.
STAND_INS: Mapping[str, tuple[str, ...]] = {"RELP": ("RELPX", "RELSHIPP", "ESP"), "ANC": ("LANX",)}
MEANING = {
    "RELP": "relationship to the reference person",
    "RELPX": "relationship, coarser: reference person, other member, group quarters",
    "RELSHIPP": "relationship, as coded since 2019",
    "ESP": "employment of parents",
    "ANC": "ancestry recode",
    "LANX": "speaks another language at home",
}
_NEVER_ZERO = ("SCHL", "MIL", "DREM", "DIS", "MAR", "CIT", "ESP", "LANX")
LABELS = ("a", "b")
LABEL_MEANING = {"a": "does-not-have-employment", "b": "has-employment"}


@dataclass(frozen=True, eq=False)
class Census:
    """Persons, as integer codes, and whether each is employed."""

    name: str  #: of the file or folder
    population: str  #: in words
    codes: Mapping[str, Codes]  #: column -> one code per person
    employed: Flags
    feature_sets: tuple[tuple[str, ...], ...]  #: the columns each juror sees
    stand_ins: Mapping[str, str]  #: missing column -> the one used for it
    missing: int | None  #: the code of a blank answer, where there is one

    def __len__(self) -> int:
        return len(self.employed)

    @property
    def totals(self) -> tuple[int, int]:
        """How many are not employed, and how many are."""
        employed = int(self.employed.sum())
        return len(self) - employed, employed

    @property
    def jurors(self) -> tuple[str, ...]:
        """A name for the juror of each set of features."""
        return tuple(f"NN({','.join(columns)})" for columns in self.feature_sets)

    @property
    def digest(self) -> str:
        """A fingerprint of all that the experiment reads."""
        digest = hashlib.blake2b(digest_size=16)
        for column in sorted(self.codes):
            digest.update(column.encode())
            digest.update(self.codes[column].tobytes())
        digest.update(self.employed.tobytes())
        return digest.hexdigest()


def load_census(data: str | Path, *, min_age: int = 0) -> Census:
    """The census records at `data`: a Parquet extract, a folder with one, or folktables' folder of downloads.

    Where the environment variable JURORS_DATA names a folder, part of the name of an extract in its folder `acs` will
    do. Nothing is ever downloaded.

    Parameters
    ----------
    data
        A path, or part of the name of an extract.
    min_age
        Leave younger persons out. The paper's records are of everyone; children are rarely employed, and all jurors
        are right about them together.

    Returns
    -------
    Census
        The columns that the experiment uses, as codes, and who is employed.

    Raises
    ------
    VotesError
        In one line: what is missing, and what to do.
    """
    path = _find(str(data))
    if path.is_dir():
        columns, kind = _folktables(path)
    elif path.name.endswith((".parquet", ".csv", ".csv.gz")):
        columns = _read(f"'{_quoted(path)}'", path.name)
        kind = _kind(columns)
    else:
        raise VotesError(f"{path.name} is no Parquet file; name an extract that ends in .parquet or .csv")
    features, stand_ins = choose_features(set(columns), path.name)
    used = {*HELD_OUT, *chain(*features)}
    codes = {column: np.asarray(columns[column], dtype=np.int16) for column in sorted(used)}
    employed = np.asarray(columns[TARGET] == 1)
    old_enough = codes["AGEP"] >= min_age
    if min_age > 0:
        codes = {column: values[old_enough] for column, values in codes.items()}
        employed = employed[old_enough]
    if not len(employed) or employed.all() or not employed.any():
        raise VotesError(f"{path.name}: of {len(employed):,} persons, {int(employed.sum()):,} are employed; need both")
    age = codes["AGEP"]
    return Census(
        name=path.name,
        population=(
            f"{kind}; {len(age):,} persons aged {age.min()} to {age.max()}"
            f"{f', younger than {min_age} left out' if min_age > 0 else ''}, {employed.mean():.1%} employed"
        ),
        codes=codes,
        employed=employed,
        feature_sets=features,
        stand_ins=stand_ins,
        missing=_missing_code(codes),
    )


def choose_features(columns: set[str], where: str) -> tuple[tuple[tuple[str, ...], ...], dict[str, str]]:
    """The feature sets with stand-ins for columns that are not there.

    Examples
    --------
    >>> there = {*chain(*FEATURE_SETS), *HELD_OUT, "ESR", "ESP"} - {"RELP"}
    >>> choose_features(there, "extract")[1]
    {'RELP': 'ESP'}
    """
    needed = (TARGET, *HELD_OUT, *chain(*FEATURE_SETS))
    stand_ins: dict[str, str] = {}
    for column in needed:
        if column in columns:
            continue
        stand_in = next((other for other in STAND_INS.get(column, ()) if other in columns), None)
        if stand_in is None:
            others = STAND_INS.get(column, ())
            hint = f", nor {' or '.join(others)} to stand in for it" if others else ""
            raise VotesError(f"{where} has no column {column}{hint}; it has {', '.join(sorted(columns)[:30])}")
        stand_ins[column] = stand_in
    return tuple(tuple(stand_ins.get(c, c) for c in columns) for columns in FEATURE_SETS), stand_ins


def _find(data: str) -> Path:
    path = Path(data)
    if path.is_dir() and not _years(path):
        return _only_extract(sorted(path.glob("*.parquet")), data, f"the folder {data}")
    if path.exists():
        return path
    named = os.environ.get("JURORS_DATA")
    if named and os.sep not in data and (Path(named) / "acs").is_dir():
        extracts = [p for p in sorted((Path(named) / "acs").glob("*.parquet")) if data in p.name]
        return _only_extract(extracts, data, f"the name {data}")
    raise VotesError(
        f"there is no file or folder {data}; name a Parquet extract of the census, or the folder of folktables' "
        f"downloads (with {YEAR}/{HORIZON} in it), with --data"
    )


def _only_extract(extracts: Sequence[Path], data: str, what: str) -> Path:
    if len(extracts) == 1:
        return extracts[0]
    if extracts:
        names = ", ".join(p.name for p in extracts)
        raise VotesError(f"{what} fits {len(extracts)} extracts: {names}; name one of them")
    raise VotesError(
        f"{what} fits no census data: no Parquet extract, and no folder {YEAR}/{HORIZON} with folktables' files; "
        "nothing is downloaded by itself"
    )


def _years(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir() if p.is_dir() and re.fullmatch(r"(19|20)\d\d", p.name))


def _read(source: str, where: str) -> dict[str, Any]:
    """The columns the experiment may need, blanks as -1."""
    import duckdb

    useful = {TARGET, "ST", *HELD_OUT, *chain(*FEATURE_SETS), *chain(*STAND_INS.values())}
    try:
        with duckdb.connect() as con:
            con.execute("SET enable_progress_bar = false")
            there = [row[0] for row in con.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()]
            names = [name for name in there if name in useful]
            if not names:
                raise VotesError(f"{where} has none of the census columns; it has {', '.join(there[:30])}")
            cells = ", ".join(f'COALESCE(CAST("{name}" AS SMALLINT), -1) AS "{name}"' for name in names)
            arrays: dict[str, Any] = con.execute(f"SELECT {cells} FROM {source}").fetchnumpy()
    except duckdb.Error as error:
        raise VotesError(f"cannot read {where}: {first_line(error)}") from None
    except RuntimeError as error:
        if is_interrupt(error):
            raise KeyboardInterrupt from None
        raise
    return arrays


def _quoted(path: Path) -> str:
    return str(path).replace("'", "''")


def _kind(columns: Mapping[str, Any]) -> str:
    """What an extract is, as far as its columns and codes tell."""
    age = columns.get("AGEP", np.zeros(0))
    low, high = (int(age.min()), int(age.max())) if len(age) else (0, 0)
    states = set(np.unique(columns["ST"]).tolist()) if "ST" in columns else set()
    if "RELPX" in columns and len(states) == 49 and not states & {6, 48}:
        return "ACS 2024 1-Year, everyone in 48 states and the District of Columbia; California and Texas are absent"
    is_2018 = {"ANC", "ESP"} <= set(columns) and "RELSHIPP" not in columns
    if is_2018 and "RELP" in columns and (low, high) == (19, 34) and set(np.unique(columns["MIG"]).tolist()) <= {0, 1}:
        return "ACS 2018 1-Year, the population of folktables' ACSMobility; MIG says only whether somebody moved"
    if is_2018 and "RELP" not in columns and (low, high) == (15, 64):
        return "ACS 2018 1-Year, the population of folktables' ACSPublicCoverage: an income of 30,000 or less"
    return "census records of a year and population that the file does not tell"


def _folktables(folder: Path) -> tuple[dict[str, Any], str]:
    """ACSEmployment as folktables defines it, from the files it has downloaded; all states that are there."""
    place = folder / YEAR / HORIZON
    files = sorted(place.glob("psam_p*.csv"))
    if not files:
        held = [
            f"{p.parent.name}/{p.name}" for y in _years(folder) for p in sorted((folder / y).iterdir()) if p.is_dir()
        ]
        raise VotesError(
            f"the folder {folder.name} holds {', '.join(held) or 'no files'}, not {YEAR}/{HORIZON}/psam_p*.csv, the "
            "persons of the paper's year; fetch them with folktables' ACSDataSource (nothing is downloaded by itself)"
        )
    try:
        from folktables import ACSEmployment
    except ImportError:
        raise VotesError(f"{folder.name} holds folktables' files: pip install folktables to read them") from None
    paths = ", ".join(f"'{_quoted(p)}'" for p in files)
    columns = _read(f"read_csv([{paths}], union_by_name=true)", str(place.relative_to(folder.parent)))
    absent = [c for c in (*ACSEmployment.features, ACSEmployment.target) if c not in columns]
    if absent:
        raise VotesError(f"the files in {folder.name} lack {', '.join(absent)}, which ACSEmployment of {YEAR} needs")
    import pandas

    used = (*ACSEmployment.features, ACSEmployment.target)
    frame = pandas.DataFrame({c: np.where(columns[c] == -1, np.nan, columns[c]) for c in used})
    values, target, _ = ACSEmployment.df_to_numpy(frame)  # features and target by folktables' own rules
    features = dict(zip(ACSEmployment.features, values.T.astype(np.int16), strict=True))
    states = "one state" if len(files) == 1 else f"{len(files)} states"
    kind = f"ACS {YEAR} {HORIZON}, folktables' ACSEmployment: everyone in {states}"
    return features | {TARGET: target.astype(np.int16)}, kind


def _missing_code(codes: Mapping[str, Codes]) -> int | None:
    """-1, or 0 in a column that has no such census code (RELP has: the reference person)."""
    seen = {column: set(np.unique(values).tolist()) for column, values in codes.items() if column in _NEVER_ZERO}
    return next((code for code in (-1, 0) if any(code in values for values in seen.values())), None)


# -- the jury --------------------------------------------------------------------------------------------------------

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
    # The last number is the way of training. 2: Ctrl-C ends it; a jury stored before that may be half trained.
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

        from reproduce.independence import DisjointJury
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
    training = np.concatenate([rows[:needed] for rows in by_label])
    rest = np.sort(np.concatenate([rows[needed:] for rows in by_label]))
    columns = list(chain(*census.feature_sets))
    X = np.stack([census.codes[column][training] for column in columns], axis=1).astype(float)
    places = [[columns.index(column) for column in features] for features in census.feature_sets]
    members = [(name, network()) for name in census.jurors]
    jury = DisjointJury(members, places, seed, balanced=True)
    with warnings.catch_warnings(), single_threaded():
        warnings.simplefilter("ignore", ConvergenceWarning)  # `iterations` says how long it took
        for name in jury.fit_each(X, census.employed[training]):
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
    for network_, features in zip(jury.estimators_, census.feature_sets, strict=True):
        codes = np.stack([census.codes[column][rest] for column in features], axis=1).astype(np.int64)
        codes -= codes.min(axis=0)
        key = np.ravel_multi_index(tuple(codes.T), tuple(codes.max(axis=0) + 1))
        _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
        inputs = np.stack([census.codes[column][rest[first]] for column in features], axis=1).astype(float)
        with single_threaded():
            labels = network_.predict(inputs)
        yield np.asarray(labels, dtype=bool)[inverse]


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


# -- tests drawn from the jury's answers -----------------------------------------------------------------------------

Draw: TypeAlias = Literal["shared", "separate"]
DRAWS: tuple[Draw, ...] = ("shared", "separate")


def count_by_true_label(votes: Flags, truth: Flags) -> Integers:
    """Counts by true label and decision tuple, (2, 2^N), from votes (items x jurors) and true labels, all binary.

    The first juror is the most significant bit of a tuple's position.

    Examples
    --------
    >>> count_by_true_label(np.array([[True, False], [True, True]]), np.array([False, True])).tolist()
    [[0, 0, 1, 0], [0, 0, 0, 1]]
    """
    width = votes.shape[1]
    tuples = votes @ (1 << np.arange(width)[::-1])
    return np.bincount(truth * (1 << width) + tuples, minlength=2 << width).reshape(2, 1 << width)


def draw_tests(pool: Integers, sizes: tuple[int, int], tests: int, rng: np.random.Generator, *, draw: Draw) -> Integers:
    """Draw tests of `sizes[l]` items of true label l each from a pool (2, 2^N): counts (tests, 2, 2^N).

    Examples
    --------
    >>> pool = np.array([[50, 10, 10, 30], [20, 20, 20, 40]])
    >>> tests = draw_tests(pool, (10, 90), 3, np.random.default_rng(0), draw="shared")
    >>> tests.shape, tests.sum(axis=-1).tolist()
    ((3, 2, 4), [[10, 90], [10, 90], [10, 90]])
    """
    for held, size in zip(pool.sum(axis=1).tolist(), sizes, strict=True):
        if size > held:
            raise SketchError(f"a test needs {size:,} items of a label of which the pool has {held:,}")
    drawn = []
    for row, size in zip(pool, sizes, strict=True):
        if draw == "shared":
            drawn.append(rng.multivariate_hypergeometric(row, size, size=tests))
        else:
            second_votes = second_label_votes(row)
            marks = rng.hypergeometric(
                second_votes, int(row.sum()) - second_votes, size, size=(tests, len(second_votes))
            )
            drawn.append(join_at_random(marks, size, rng))
    return np.stack(drawn, axis=1)


def second_label_votes(counts: Integers) -> Integers:
    """How many items each juror gave the second label, (…, N), from counts (…, 2^N)."""
    width = counts.shape[-1].bit_length() - 1
    bits = (np.arange(counts.shape[-1])[:, None] >> np.arange(width)[::-1]) & 1
    return counts @ bits


def join_at_random(second_votes: Integers, size: int, rng: np.random.Generator) -> Integers:
    """Jurors who gave `second_votes` (tests, N) of `size` items the second label, side by side in random order.

    Returns counts, (tests, 2^N).

    Examples
    --------
    >>> joined = join_at_random(np.array([[3, 7]]), 10, np.random.default_rng(0))
    >>> int(joined.sum()), second_label_votes(joined).tolist()
    (10, [[3, 7]])
    """
    cells = np.full((len(second_votes), 1), size, dtype=np.int64)
    for marks in second_votes.T:  # split every cell into its unmarked and marked items, the marks falling anywhere
        marked = np.empty_like(cells)
        left, items = marks.copy(), cells.sum(axis=1)
        for k in range(cells.shape[1]):
            marked[:, k] = rng.hypergeometric(left, items - left, cells[:, k])
            left, items = left - marked[:, k], items - cells[:, k]
        cells = np.stack([cells - marked, marked], axis=2).reshape(len(cells), -1)
    return cells
