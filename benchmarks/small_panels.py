"""Panels of 3, 5, 7 and 10 jurors drawn from the reference juries: what most users have.

Jurors that answered at least half of the items are drawn at random. Panels are graded once, without the key, and kept
in the cache. `calibration.py` measures them.
"""

from __future__ import annotations

import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from reference_sets import CACHE, VoteSet, folders, graded_arrays, vote_set_of

import jurors
from jurors.errors import JurorsError

SIZES = (3, 5, 7, 10)
FIRST = {
    "acsincome_models", "adult_content2", "beyond_consensus_fc", "bluebirds", "brain_region_1", "brain_region_4",
    "cifar10n", "css_conv_go_awry", "css_discourse", "css_flute", "css_ibc", "css_mrf", "css_reddit_humor",
    "css_talklife", "css_wiki_politeness", "cueconflict16", "dices350", "dogs", "ducks", "faces", "judgebench",
    "labelme", "llmbar", "llmbar_humanpref", "mmlu_pro", "mozafari_binary", "music_genre", "nell_animal", "nell_drug",
    "ntqr_bbm_arithmetic", "product", "realmistake12", "relevance4", "rte", "sentiment_polarity", "sentiment_tweets",
    "trec", "triviaqa_judges_v1", "triviaqa_judges_v2", "video_lf", "weather_amt", "web", "xstest_refusal",
    "zencrowd_in", "zencrowd_us",
}  #: the sets that were known first; the others are later  # fmt: skip
MOST_ITEMS = 4_000
LEAST_ITEMS = 30  # in the key


def draw_panels(folder: Path, draws: int, seed: int, sizes: tuple[int, ...] = SIZES) -> list[tuple[int, Any, Any]]:
    """Panels of each size, as (size, votes, key); jurors that answered at least half of the items."""
    votes = jurors.read_votes(folder / "votes.csv.gz", scale="nominal")
    key = jurors.read_key(folder / "truth.csv.gz")
    rows = np.arange(votes.rows)
    rng = np.random.default_rng(seed)
    if votes.rows > MOST_ITEMS:
        rows = np.sort(rng.choice(votes.rows, MOST_ITEMS, replace=False))
    codes: Any = votes.codes[rows] if votes.is_dense else None
    if codes is None:
        at, juror, code = votes.triples()
        if len(votes.jurors) * votes.rows > 50_000_000:
            return []
        codes = np.full((votes.rows, len(votes.jurors)), -1, dtype=np.int16)
        codes[at, juror] = code
        codes = codes[rows]
    often = np.flatnonzero((codes >= 0).mean(axis=0) >= 0.5)
    names = votes.item_names()[rows]
    panels = []
    for size in sizes:
        if len(often) <= size:
            continue
        for _ in range(draws):
            chosen = np.sort(rng.choice(often, size, replace=False))
            part = codes[:, chosen]
            answered = (part >= 0).any(axis=1)
            panel = jurors.Votes.from_matrix(
                part[answered], labels=votes.labels, jurors=tuple(votes.jurors[k] for k in chosen),
                items=names[answered], scale="nominal",
            )  # fmt: skip
            panels.append((size, panel, key))
    return panels


def load_panels(base: Path, draws: int = 6, cache: Path = CACHE) -> list[VoteSet]:
    """All panels that can be graded and have 30 items in the key; those that are not in the cache are graded first."""
    panels = []
    for folder in folders(base):
        file = cache / f"{folder.name}.panels{draws}.npz"
        if not file.exists():
            print(f"panels of {folder.name}", file=sys.stderr, flush=True)
            cache.mkdir(parents=True, exist_ok=True)
            stored: dict[str, Any] = {}
            for number, (size, votes, key) in enumerate(draw_panels(folder, draws, zlib.crc32(folder.name.encode()))):
                try:
                    arrays = graded_arrays(votes, key)
                except JurorsError:
                    continue
                stored |= {f"{number}/{size}/{name}": value for name, value in arrays.items()}
            np.savez_compressed(file, **stored)
        by_panel: dict[tuple[str, str], dict[str, Any]] = {}
        with np.load(file) as kept:
            for path, value in kept.items():
                number_, size_, name = path.split("/")
                by_panel.setdefault((number_, size_), {})[name] = value
        panels += [vote_set_of(folder, arrays, int(size)) for (_, size), arrays in by_panel.items()]
    return [panel for panel in panels if panel.key.sum() >= LEAST_ITEMS]
