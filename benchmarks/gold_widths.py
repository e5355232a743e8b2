"""How well the half widths that gold items would leave are foretold: beside those of gold drawn at random.

    python benchmarks/gold_widths.py FOLDER [SET …]

FOLDER holds a folder per set, with votes.csv.gz and truth.csv.gz.
"""

from __future__ import annotations

import sys
from pathlib import Path
from time import perf_counter

import numpy as np

import jurors

SETS = ("bluebirds", "ntqr_bbm_arithmetic", "rte", "css_flute", "judgebench")
GOLD = (20, 100)
DRAWS = 6


def half_widths(result: jurors.Evaluation) -> list[float]:
    """Of every score, as real juries go."""
    assert result.calibrated is not None
    return [(high - low) / 2 for low, high in result.calibrated.interval["score"].values()]


def main(folder: Path, sets: tuple[str, ...]) -> None:
    print(f"{'set':22} {'gold':>4} {'now':>6} {'foretold':>8} {'drawn':>6} {'lowest':>6} {'highest':>7} {'ms':>5}")
    for name in sets:
        votes = jurors.read_votes(folder / name / "votes.csv.gz", scale="nominal")
        key = dict(np.loadtxt(folder / name / "truth.csv.gz", str, delimiter=",", skiprows=1, usecols=(0, 1)).tolist())
        result = jurors.grade(votes)
        random = np.random.default_rng(1)
        for size in GOLD:
            start = perf_counter()
            foretold = None if result.calibrated is None else result.calibrated.with_gold(size)
            spent = perf_counter() - start
            drawn = []
            for _ in range(DRAWS):
                gold = {item: key[item] for item in random.choice(list(key), min(size, len(key)), replace=False)}
                drawn.append(np.mean(half_widths(jurors.grade(votes, gold=gold))))
            if foretold is not None:
                now, then = np.mean(half_widths(result)), np.nanmean(list(foretold.values()))
                print(
                    f"{name:22} {size:4} {now:6.3f} {then:8.3f} "
                    f"{np.mean(drawn):6.3f} {min(drawn):6.3f} {max(drawn):7.3f} {spent * 1000:5.0f}"
                )


if __name__ == "__main__":
    main(Path(sys.argv[1]), tuple(sys.argv[2:]) or SETS)
