"""At the command line: a cut, an empty or a strange file of another tool is one line and exit status 2."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from jurors.cli.main import main

SAMPLES = Path(__file__).parent / "samples"
FILES = {
    "label-studio": SAMPLES / "label_studio" / "json.json",
    "argilla": SAMPLES / "argilla" / "nested.json",
    "devai": SAMPLES / "devai/judgment/OpenHands/human_as_a_judge/ann/01_Image_Classification.json",
    "matrix": SAMPLES / "matrix" / "snorkel.npy",
}
BROKEN: dict[str, Callable[[bytes], bytes]] = {
    "cut in half": lambda data: data[: len(data) // 2],
    "empty": lambda data: b"",
    "an empty list": lambda data: b"[]",
    "an empty record": lambda data: b"{}",
    "other records": lambda data: b'[{"item": 1, "juror": "a", "label": "x"}]',
    "one huge line": lambda data: b"[" + b'"x",' * 1_000_000 + b'"x"]',
    "deep": lambda data: b"[" * 100_000,
    "text": lambda data: b"item,juror,label\n1,a,x\n",
    "binary": lambda data: bytes(range(256)) * 50,
}


@pytest.mark.slow
@pytest.mark.parametrize("how", BROKEN)
@pytest.mark.parametrize("tool", FILES)
def test_a_broken_file_is_one_line_and_status_two(tmp_path: Path, tool: str, how: str) -> None:
    path = tmp_path / FILES[tool].name
    path.write_bytes(BROKEN[how](FILES[tool].read_bytes()))
    result = CliRunner().invoke(main, ["grade", str(path), "--from", tool])
    assert result.exit_code == 2, result.output
    assert result.stderr.startswith(f"jurors: {path}: ")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("tool", FILES)
def test_the_whole_file_is_read_by_name_and_by_content(tool: str) -> None:
    told = CliRunner().invoke(main, ["agreement", str(FILES[tool]), "--from", tool])
    seen = CliRunner().invoke(main, ["agreement", str(FILES[tool])])
    assert told.stdout == seen.stdout
    assert told.stdout or "at least" in told.stderr  # a single judge has nobody to agree with
