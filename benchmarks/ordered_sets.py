"""Sets of votes on ordered levels with a key, as `ordered_levels` reads them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from ordered_truths import Named, by_values

import jurors
from jurors._numeric import Flags, Floats
from jurors.evaluate.consistency import level_values

_FEWEST = 20  # votes on items of the key, for a juror to count

SETS = {  # folder, levels from the lowest on; other labels and items whose key is another are left out
    "care": ("kinds/care_civilcomments_ordinal", range(10)),
    "rewardbench2": ("kinds/rewardbench2_ordinal", range(1, 11)),
    "adult": ("adult_content2", "GPRX"),
    "relevance": ("relevance4", range(3)),  # highly relevant, relevant, not; 3 is a broken link, which is no level
    "web": ("web", range(5)),
    "politeness": ("css_wiki_politeness", "cba"),  # impolite, neutral, polite
    "refusal": ("xstest_refusal", ("1_full_compliance", "3_partial_refusal", "2_full_refusal")),
    "weather": ("weather_amt", range(3)),  # negative, neutral, positive; 3 and 4: not about weather, cannot tell
}
UNORDERED = {"relevance, broken links above": ("relevance4", range(4)), "weather, all": ("weather_amt", range(5))}
OTHER_SCALE = ("care", "rewardbench2")


@dataclass(frozen=True)
class OrderedSet:
    """Votes on levels, with a key."""

    name: str
    frame: pd.DataFrame  #: item, juror, label
    levels: tuple[Any, ...]
    key: dict[str, float]  #: of items, in level values or on the key's own scale

    @cached_property
    def votes(self) -> jurors.Votes:
        """As ordered levels."""
        return jurors.Votes.from_frame(self.frame, labels=self.levels, scale="ordinal")

    @cached_property
    def unordered(self) -> jurors.Votes:
        """As labels without order."""
        return jurors.Votes.from_frame(self.frame, labels=self.levels, scale="nominal")

    @cached_property
    def truth(self) -> Floats:
        """By row of the votes; NaN where the key is silent."""
        return np.array([self.key.get(str(item), np.nan) for item in self.votes.item_names()])

    @cached_property
    def values(self) -> Floats:
        """The number of each level."""
        return level_values(self.levels)

    @cached_property
    def counted(self) -> Flags:
        """Which jurors have enough votes on items of the key."""
        row, juror, _ = self.votes.triples()
        known = ~np.isnan(self.truth)[row]
        return np.bincount(juror[known], minlength=len(self.votes.jurors)) >= _FEWEST

    @cached_property
    def true_grades(self) -> Named:
        """By the key."""
        return by_values(self.votes, self.truth, self.values).grades


def load(base: Path, name: str, folder: str, levels: Any) -> OrderedSet:
    votes, key = (pd.read_csv(base / folder / f"{part}.csv.gz", dtype=str) for part in ("votes", "truth"))
    names = [str(level) for level in levels]
    votes = votes[votes["label"].isin(names)]
    if isinstance(levels, range):
        votes = votes.assign(label=votes["label"].astype(int))
    if name in OTHER_SCALE:
        truth = dict(zip(key["item"], key["label"].astype(float), strict=True))
    else:
        key = key[key["label"].isin(names)]
        worth = dict(zip(names, level_values(tuple(levels)).tolist(), strict=True))
        truth = {item: worth[label] for item, label in zip(key["item"], key["label"], strict=True)}
    return OrderedSet(name, votes, tuple(levels), truth)
