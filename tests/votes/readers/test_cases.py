"""What each tool's files hold: the votes in them, or the one line that refuses them.

A case of `cases/TOOL.json` has `files` as the tool writes them, or names a `sample` that it wrote itself (samples of a
pattern are read together), and perhaps the `place` to read among them and the `question` to select. `votes` has (item,
vote) pairs by juror, `refused` a pattern of the message, `findings` the warnings; without votes and refusal, no reader
claims the files.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from other_tools import SAMPLES, files_of, recognised_as, refusal, table

from jurors import read_votes
from jurors.votes.readers import Records, load_reader

CASES = [
    pytest.param(path.stem, case, id=f"{path.stem}: {case['case']}")
    for path in sorted((Path(__file__).parent / "cases").glob("*.json"))
    for case in json.loads(path.read_text(encoding="utf-8"))
]


def place_of(case: dict[str, Any], folder: Path) -> Path:
    """Where the files of a case are; those that are written here are written first."""
    if "sample" in case and "*" not in case["sample"]:
        return SAMPLES / str(case["sample"])
    for path in SAMPLES.glob(case.get("sample", "nothing")):
        shutil.copy(path, folder)
    for name, content in case.get("files", {}).items():
        lines = [content] if not name.endswith(".jsonl") else content
        text = content if isinstance(content, str) else "".join(json.dumps(line) + "\n" for line in lines)
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    files = list(case.get("files", ()))
    return folder / str(case.get("place", files[0] if len(files) == 1 else ""))


@pytest.mark.parametrize(("tool", "case"), CASES)
def test_the_votes_are_read_or_refused_in_one_line(tmp_path: Path, tool: str, case: dict[str, Any]) -> None:
    place, question = place_of(case, tmp_path), case.get("question")
    if "refused" in case:
        assert re.search(case["refused"], refusal(place, f"{tool}:{question}" if question else tool))
        return
    assert recognised_as(place) == (tool if "votes" in case else None)
    if "votes" not in case:
        return
    reader = load_reader(tool)
    records: Records = reader.read(files_of(place), *([question] if question else []))
    assert table(records) == {juror: dict(pairs) for juror, pairs in case["votes"].items()}
    assert case.get("time", records.time) == records.time
    if "findings" in case:
        assert [found.message for found in read_votes(place).findings if found.level == "warning"] == case["findings"]
