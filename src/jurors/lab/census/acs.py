"""Census records for the paper's experiment: who they are, which columns jurors see, what replaces a missing column.

Folktables' own files (`root/2018/1-Year/psam_p*.csv`) become its ACSEmployment task; Parquet extracts of the American
Community Survey are told apart by their columns and codes. Label A is "not employed", label B "employed" (ESR = 1).
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jurors._numeric import Flags
from jurors.errors import VotesError
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
        return tuple(f"NN({','.join(own)})" for own in self.feature_sets)

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
    """
    path = _find(str(data))
    columns, kind = _folktables(path) if path.is_dir() else _extract(path)
    features, stand_ins = choose_features(set(columns), path.name)
    wanted = {*HELD_OUT, *(column for own in features for column in own)}
    codes = {column: np.asarray(columns[column], dtype=np.int16) for column in sorted(wanted)}
    employed = np.asarray(columns[TARGET] == 1)
    kept = codes["AGEP"] >= min_age
    if min_age > 0:
        codes = {column: values[kept] for column, values in codes.items()}
        employed = employed[kept]
    if not len(employed) or employed.all() or not employed.any():
        raise VotesError(f"{path.name}: of {len(employed):,} persons, {int(employed.sum()):,} are employed; need both")
    return Census(
        name=path.name,
        population=_population(kind, codes["AGEP"], employed, min_age),
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
    >>> held = {c for own in FEATURE_SETS for c in own} | {"ESR", "AGEP", "SEX", "RAC1P"} - {"RELP"}
    >>> choose_features(held - {"RELP"} | {"ESP"}, "extract")[1]
    {'RELP': 'ESP'}
    """
    needed = (TARGET, *HELD_OUT, *(column for own in FEATURE_SETS for column in own))
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
    sets = tuple(tuple(stand_ins.get(column, column) for column in own) for own in FEATURE_SETS)
    return sets, stand_ins


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


def _extract(path: Path) -> tuple[dict[str, Any], str]:
    """All columns that the experiment may need, and what the file seems to be."""
    if not path.name.endswith((".parquet", ".csv", ".csv.gz")):
        raise VotesError(f"{path.name} is no Parquet file; name an extract that ends in .parquet or .csv")
    columns = _read(f"'{_quoted(path)}'", path.name)
    return columns, _kind(columns)


def _read(source: str, where: str) -> dict[str, Any]:
    """The columns the experiment may need, blanks as -1."""
    import duckdb

    may = {
        TARGET,
        "ST",
        *HELD_OUT,
        *(c for own in FEATURE_SETS for c in own),
        *(s for all_ in STAND_INS.values() for s in all_),
    }
    try:
        with duckdb.connect() as con:
            con.execute("SET enable_progress_bar = false")
            there = [row[0] for row in con.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()]
            chosen = [name for name in there if name in may]
            if not chosen:
                raise VotesError(f"{where} has none of the census columns; it has {', '.join(there[:30])}")
            cells = ", ".join(f'COALESCE(CAST("{name}" AS SMALLINT), -1) AS "{name}"' for name in chosen)
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
    features, target = _task(ACSEmployment, columns, folder.name)
    return features | {TARGET: target}, f"ACS {YEAR} {HORIZON}, folktables' ACSEmployment: everyone in {_states(files)}"


def _task(task: Any, columns: Mapping[str, Any], where: str) -> tuple[dict[str, Any], Any]:
    """The task's features and target, by folktables' own rules."""
    import pandas

    absent = [c for c in (*task.features, task.target) if c not in columns]
    if absent:
        raise VotesError(f"the files in {where} lack {', '.join(absent)}, which ACSEmployment of {YEAR} needs")
    frame = pandas.DataFrame({c: np.where(columns[c] == -1, np.nan, columns[c]) for c in (*task.features, task.target)})
    values, target, _ = task.df_to_numpy(frame)
    return dict(zip(task.features, values.T.astype(np.int16), strict=True)), target.astype(np.int16)


def _states(files: Sequence[Path]) -> str:
    return "one state" if len(files) == 1 else f"{len(files)} states"


def _missing_code(codes: Mapping[str, Codes]) -> int | None:
    """-1, or 0 in a column that has no such census code (RELP has: the reference person)."""
    seen = {column: set(np.unique(values).tolist()) for column, values in codes.items() if column in _NEVER_ZERO}
    return next((code for code in (-1, 0) if any(code in values for values in seen.values())), None)


def _population(kind: str, age: Codes, employed: Flags, min_age: int) -> str:
    younger = f", younger than {min_age} left out" if min_age > 0 else ""
    return f"{kind}; {len(age):,} persons aged {age.min()} to {age.max()}{younger}, {employed.mean():.1%} employed"
