"""The formats of votes and the endings of their files' names: the only list of them."""

from __future__ import annotations

from pathlib import PurePath

from jurors.options import Format

ENDINGS: dict[str, Format] = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".xlsx": "xlsx",
    ".xlsm": "xlsx",
}
TITLES: dict[Format, str] = {
    "csv": "CSV", "tsv": "TSV", "json": "JSON array", "jsonl": "JSON lines", "parquet": "Parquet",
    "xlsx": "Excel workbook", "sqlite": "SQLite database", "duckdb": "DuckDB database",
    "postgresql": "PostgreSQL database",
}  # fmt: skip
CELLS: tuple[Format, ...] = ("csv", "tsv")  #: the formats whose cells are text between delimiters
WRITTEN: tuple[Format, ...] = ("csv", "tsv", "json", "jsonl", "parquet")  #: the formats that we write, too
SUPPORTED = "CSV, TSV, JSON lines, Parquet or Excel"
PACKED = ".gz"
SKETCH_ENDING = ".sketch.json"


def unpacked_name(name: str) -> str:
    """A file's name in small letters, as it would be without gzip.

    >>> unpacked_name("Votes.CSV.gz")
    'votes.csv'
    """
    return name.lower().removesuffix(PACKED)


def named_format(name: str) -> Format | None:
    """The format that a file's name says; None where it says none.

    >>> named_format("votes.tab.gz"), named_format("votes.docx")
    ('tsv', None)
    """
    return ENDINGS.get(PurePath(unpacked_name(name)).suffix)


def is_sketch_name(name: str) -> bool:
    """Whether a file of this name is written as a sketch.

    >>> is_sketch_name("monday.sketch.json.gz"), is_sketch_name("monday.json")
    (True, False)
    """
    return unpacked_name(name).endswith(SKETCH_ENDING)
