"""Make the table of reference juries that comes with the package, from vote sets with keys.

Every jury is graded as `jurors.grade` would without its key, then measured against it (`jurors.theory.fit_reference`).
Prints how each row moved, the population, and the constants that were chosen (`benchmarks/calibration.py`), not fitted.

Run: python benchmarks/reference_juries.py [-o src/jurors/data/reference_juries.csv]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from reference_sets import CACHE, ROOT, data_folder, load_sets

from jurors.uncertainty import calibrate, reference, scenarios
from jurors.uncertainty.reference import ReferenceJuries, ReferenceJury, fit_population, shipped_juries

SHIPPED = ROOT / "src" / "jurors" / "data" / "reference_juries.csv"
CHOSEN = {
    reference: ("SMALL_SHIFT", "SMALL_KAPPA", "CORE", "SMALL_DEVIATION", "LEAST_SHARED", "ON_A_LINE", "LENT"),
    scenarios: ("MOST_PER_JUROR", "MOST_JURORS"),
    calibrate: ("PANEL_DEVIATION", "FIRST_METHOD"),
}  #: constants of calibration, by module


def differences(before: ReferenceJury, after: ReferenceJury) -> str:
    """How far a row moved."""
    spread = [np.sqrt(max(jury.deviation, 0.0)) for jury in (before, after)]
    return (
        f"{after.name:22s} shared error {before.rho:.3f} -> {after.rho:.3f}, label_bias {before.label_bias:.2f} -> "
        f"{after.label_bias:.2f}, deviation {spread[0]:.3f} -> {spread[1]:.3f}"
    )


def main() -> None:
    """Print the rows beside those that are shipped, and write the table where asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path, default=CACHE)
    parser.add_argument("-o", "--output", type=Path, help=f"the table to write; {SHIPPED.name} is shipped")
    options = parser.parse_args()
    base = data_folder()
    if base is None:
        print("skipped: no vote sets here; set JURORS_DATA to the folder that holds them")
        return
    rows = [vote_set.row for vote_set in load_sets(base, options.cache)]
    shipped = {jury.name: jury for jury in shipped_juries()}
    for row in rows:
        print(differences(shipped.get(row.name, row), row))
    print("shipped", fit_population(list(shipped.values())))
    print("now    ", fit_population(rows))
    print("chosen ", ", ".join(f"{name} {getattr(module, name):g}" for module in CHOSEN for name in CHOSEN[module]))
    if options.output is not None:
        ReferenceJuries(tuple(rows)).write(options.output)


if __name__ == "__main__":
    main()
