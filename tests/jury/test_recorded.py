"""Every figure of small juries stays what it is, unless somebody says so by `python tests/figures.py`."""

from __future__ import annotations

import json

import pytest
from figures import JURIES, KEPT, QUESTIONS, figures


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("jury", JURIES)
def test_the_figures_are_what_was_written_down(jury: str, question: str) -> None:
    kept, now = json.loads(KEPT.read_text())[jury][question], figures(jury, question)
    if isinstance(now, str) or isinstance(kept, str):
        assert now == kept
        return
    assert list(now) == list(kept)
    for key, (count, missing, weighed) in now.items():
        assert [count, missing] == kept[key][:2], key
        assert weighed == pytest.approx(kept[key][2], rel=1e-4, abs=1e-5), key
