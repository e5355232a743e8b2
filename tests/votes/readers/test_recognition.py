"""No reader claims what another tool wrote, nor a plain table."""

from __future__ import annotations

from pathlib import Path

import pytest

from jurors.votes.readers import READERS, find_reader
from jurors.votes.readers.base import Files

SAMPLES = Path(__file__).parent / "samples"
FILES = sorted(
    path
    for path in SAMPLES.glob("*/**/*")
    if path.is_file() and path.suffix not in (".py", ".pyc", ".parquet", ".csv") and path.name != "tree_structure.json"
)
PLAIN = (
    '[{"item": 1, "juror": "ann", "label": "yes"}, {"item": 1, "juror": "bob", "label": "no"}]',
    '{"item": 1, "ann": "yes", "bob": "no"}\n{"item": 2, "ann": "no", "bob": "no"}\n',
    '{"task": 7, "worker": "ann", "label": true}\n',
    '[{"id": 3, "annotator": "ann", "satisfied": true, "responses": "x", "annotations": 2}]',
)


def claims(path: Path) -> list[str]:
    """Every tool whose reader recognises the file."""
    readers = [one for tool in READERS if (one := find_reader([], SAMPLES, tool)) is not None]
    return [tool for tool, reader in readers if reader.recognises(Files((path,), path.parent))]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SAMPLES)))
def test_only_the_reader_of_a_tool_claims_its_files(path: Path) -> None:
    folder = path.relative_to(SAMPLES).parts[0]
    assert [tool for tool in claims(path) if folder not in (tool, READERS[tool])] == []


@pytest.mark.parametrize("text", PLAIN)
def test_nobody_claims_a_plain_table(tmp_path: Path, text: str) -> None:
    (tmp_path / "votes.json").write_text(text)
    assert claims(tmp_path / "votes.json") == []


def test_other_files_before_a_log_do_not_hide_it(tmp_path: Path) -> None:
    others = [tmp_path / f"note{k:02}.txt" for k in range(30)]
    for path in others:
        path.write_text("read me")
    (tmp_path / "results.json").write_bytes((SAMPLES / "promptfoo" / "results.json").read_bytes())
    found = find_reader([*others, tmp_path / "results.json"], tmp_path)
    assert found is not None
    assert found[0] == "promptfoo"
