"""Small tables: what is read from each, or why it is refused.

`tables.jsonl` has a line per table: what it is `about`, its `text` (in a `file` of this name, as Latin-1, or in
memory), the `options` of `read_votes` (or of another `reader`), perhaps the column that is the `key`, and what the
votes are (`read`) or the parts of a message (`refused`).
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from votes.panels import cells

from jurors import JurorsError, read_key, read_votes
from jurors.sketch.count import read_sketch
from jurors.votes.io import duckdb_table
from jurors.votes.key import read_item_texts, read_votes_with_key
from jurors.votes.table import Votes

TABLES = [
    json.loads(line) for line in Path(__file__).with_name("tables.jsonl").read_text(encoding="utf-8").splitlines()
]


READERS: dict[str, Any] = {"votes": read_votes, "key": read_key, "texts": read_item_texts}


def tables(outcome: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("table", [pytest.param(t, id=t["about"]) for t in TABLES if outcome in t])


def source(table: dict[str, Any], folder: Path) -> Any:
    if "file" not in table:
        return io.StringIO(table["text"])
    (folder / table["file"]).write_bytes(table["text"].encode("latin-1"))
    return folder / table["file"]


@tables("read")
def test_a_table_is_read(table: dict[str, Any], tmp_path: Path) -> None:
    options, parts = table.get("options", {}), {}
    if "key" in table:
        votes, key = read_votes_with_key(source(table, tmp_path), table["key"])
        parts["truths"] = key.by_row(votes).tolist()
        options = {"ignore": [table["key"]]}
    else:
        votes = read_votes(source(table, tmp_path), **options)
    parts |= {"jurors": list(votes.jurors), "labels": list(votes.labels), "items": votes.item_names().tolist()}
    parts |= {"cells": cells(votes), "codes": votes.codes.tolist(), "total": votes.total, "scale": votes.scale}
    parts["abstained"] = 0 if votes.abstained is None else len(votes.abstained[0])
    expected = {name: part for name, part in table["read"].items() if name != "scale_why"}
    assert {name: parts[name] for name in expected} == expected
    assert table["read"].get("scale_why", "") in votes.scale_why
    sketch = read_sketch(source(table, tmp_path), **options)
    assert (sketch.items, set(sketch.jurors), sketch.labels) == (votes.total, set(votes.jurors), votes.labels)


def outcomes(source: Any, options: dict[str, Any]) -> Iterator[str]:
    """All that is read from a table, or why it is refused."""
    for read in (read_votes, read_sketch):
        try:
            result: Any = read(io.StringIO(source.getvalue()) if isinstance(source, io.StringIO) else source, **options)
        except JurorsError as error:
            yield str(error)
        else:
            votes = result if isinstance(result, Votes) else result.tuples
            yield from (f"{field.name}={getattr(votes, field.name)!r}" for field in fields(votes))


def assert_duckdb_reads_the_same(source: Any, **options: Any) -> None:
    at_once = list(outcomes(source, options))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(duckdb_table, "plain_cells", lambda *_: None)
        assert list(outcomes(source, options)) == at_once


@pytest.mark.parametrize("table", [pytest.param(t, id=t["about"]) for t in TABLES])
def test_small_files_are_read_as_duckdb_reads_them(table: dict[str, Any], tmp_path: Path) -> None:
    assert_duckdb_reads_the_same(source(table, tmp_path), **table.get("options", {}))


@pytest.mark.slow
def test_real_sets_are_read_as_duckdb_reads_them(shared_data: Path) -> None:
    for path in shared_data.glob("*/votes.csv.gz"):
        assert_duckdb_reads_the_same(path)


@tables("refused")
def test_a_table_is_refused_in_one_line(table: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(JurorsError) as caught:
        READERS[table.get("reader", "votes")](source(table, tmp_path), **table.get("options", {}))
    message = str(caught.value)
    assert type(caught.value).__name__ == table.get("error", "VotesError")
    assert len(message.splitlines()) == 1
    assert message.startswith(f"{tmp_path / table['file']}: " if "file" in table else "")
    assert not re.search(r"(?<![\w-])--[a-z]", message)  # arguments, not flags
    assert [part for part in table["refused"] if part not in caught.value.args[0]] == []
