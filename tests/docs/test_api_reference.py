"""`docs/api.md` explains exactly the public names, and every field of the results."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

import jurors

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "api.md").read_text(encoding="utf-8")
_PARTS = re.split(r"^### `(\w+)`$", PAGE, flags=re.MULTILINE)
SECTIONS = dict(zip(_PARTS[1::2], _PARTS[2::2], strict=True))


def test_the_page_explains_exactly_the_public_names() -> None:
    assert sorted(_PARTS[1::2]) == sorted(jurors.__all__)


@pytest.mark.parametrize("name", jurors.__all__)
def test_every_public_name_has_a_sentence_and_an_example(name: str) -> None:
    text = SECTIONS[name].strip()
    assert text[0].isupper()
    assert "." in text.split("\n\n")[0]
    assert ">>>" in text


@pytest.mark.parametrize("result", [jurors.Evaluation, jurors.Labelling, jurors.Alarm, jurors.KeyedEvaluation])
def test_every_field_of_a_result_is_explained_and_nothing_else(result: type) -> None:
    own = {name for name in vars(result) if not name.startswith("_")}
    public = own | {field.name for field in fields(result) if not field.name.startswith("_")}
    named = re.findall(r"^\| `(\w+)` \|", SECTIONS[result.__name__], flags=re.MULTILINE)
    assert sorted(named) == sorted(public)
