"""A small made-up census, in the columns and codes of the American Community Survey."""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np

CODES = {
    "SCHL": 24, "MIG": 3, "DREM": 2, "MAR": 5, "CIT": 5, "DEAR": 2, "RELP": 17, "DIS": 2, "ANC": 4, "MIL": 4,
    "NATIVITY": 2, "DEYE": 2,
}  # fmt: skip


def write_census(
    path: Path, people: int = 6_000, *, without: tuple[str, ...] = (), extra: tuple[str, ...] = ()
) -> Path:
    """Persons whose work goes with some of their answers; Parquet, columns left out or added."""
    rng = np.random.default_rng(7)
    employed = rng.random(people) < 0.55
    columns = {
        "AGEP": rng.integers(0, 95, people),
        "SEX": rng.integers(1, 3, people),
        "RAC1P": rng.integers(1, 10, people),
    }
    for name, most in CODES.items():
        low = rng.integers(1, most + 1, people)
        helped = np.maximum(low, rng.integers(1, most + 1, people))
        columns[name] = np.where(employed, helped, low)
    columns["ESR"] = np.where(employed, 1, rng.choice([3, 6], people))
    columns |= {name: rng.integers(0, 3, people) for name in extra}
    kept = {name: values.astype(np.int8) for name, values in columns.items() if name not in without}
    with duckdb.connect() as con:
        con.register("census", kept)
        con.execute(f"COPY census TO '{path}' (FORMAT parquet)")
    return path
