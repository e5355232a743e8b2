"""The catalogue has every kind of alarm in the source, at its level, and no other; the docs print the catalogue."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from docs.refresh import with_alarm_tables

from jurors.errors import SketchError
from jurors.evaluate.alarms import KINDS, Alarm

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "guides" / "reading-the-report.md"


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_kind_says_what_it_means_and_what_to_do(kind: str) -> None:
    assert KINDS[kind].meaning
    assert KINDS[kind].advice.format(who="ann")


@pytest.mark.parametrize(("kind", "level"), [("correlated_error", "warning"), ("irrational", "alarm")])
def test_an_alarm_that_the_catalogue_does_not_know_cannot_be_made(kind: str, level: Any) -> None:
    with pytest.raises(SketchError, match=kind):
        Alarm(kind, level, "something is odd")


def test_the_page_prints_the_catalogue() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert with_alarm_tables(page) == page, "run python tests/docs/refresh.py"
