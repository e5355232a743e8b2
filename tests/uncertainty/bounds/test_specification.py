"""Shares of a specification: exact, and never outside 0 and 1."""

from __future__ import annotations

from fractions import Fraction

import pytest

from jurors.errors import OptionError
from jurors.uncertainty.bounds_trio import _share


@pytest.mark.parametrize(
    ("text", "share"), [("0", 0), ("1", 1), ("100%", 1), ("0.6", Fraction(3, 5)), (" 60 % ", Fraction(3, 5))],
    ids=["nothing", "all", "all in percent", "decimal", "percent"],
)  # fmt: skip
def test_a_share_is_exact(text: str, share: Fraction) -> None:
    assert _share(text) == share


@pytest.mark.parametrize("text", ["1.001", "-0.001", "101%", "2"], ids=["above", "below", "percent", "two"])
def test_a_share_outside_is_refused(text: str) -> None:
    with pytest.raises(OptionError, match="lies between 0 and 1"):
        _share(text)
