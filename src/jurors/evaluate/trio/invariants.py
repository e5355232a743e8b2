"""Four binary jurors: six exact numbers that are all zero if their errors were independent.

With C, T and M the pair, trio and fourth central moments and P = C_12 C_13 C_23, independence gives C_ij = b_i b_j,
T_ijk = tau·b_i b_j b_k and M_1234 = (1 + tau²) b_1 b_2 b_3 b_4, hence
    C_12 C_34 = C_13 C_24 = C_14 C_23,
    T_123 C_14 = T_124 C_13,  T_123 C_14 = T_134 C_12,  T_123 C_24 = T_234 C_12,
    M_1234 P = C_12 C_34 (P + T_123²).
Fifteen free counts less nine parameters: six equations. Where C_12, C_13 and C_23 are not zero, all six holding means
that some independent evaluation (perhaps complex or out of range) explains the counts.
"""

from __future__ import annotations

from fractions import Fraction

from jurors.errors import SketchError
from jurors.sketch import Sketch, moments


def independence_invariants(sketch: Sketch) -> dict[str, Fraction]:
    """The six invariants of four complete binary jurors, exactly.

    Examples
    --------
    >>> counts = {"AAAA": 3, "AABB": 2, "ABAB": 4, "BBBB": 5}
    >>> invariants = independence_invariants(Sketch.from_counts(counts, jurors="ijkl"))
    >>> invariants["C12 C34 - C13 C24"]
    Fraction(-15, 1372)
    """
    if len(sketch.jurors) != 4:
        raise SketchError(f"the invariants need 4 jurors, got {len(sketch.jurors)}; keep four with sketch.take([…])")
    m = moments(sketch)
    i, j, k, n = sketch.jurors
    c12, c13, c14 = m.pair[i, j], m.pair[i, k], m.pair[i, n]
    c23, c24, c34 = m.pair[j, k], m.pair[j, n], m.pair[k, n]
    t123, t124, t134, t234 = m.trio[i, j, k], m.trio[i, j, n], m.trio[i, k, n], m.trio[j, k, n]
    p = c12 * c13 * c23
    return {
        "C12 C34 - C13 C24": c12 * c34 - c13 * c24,
        "C12 C34 - C14 C23": c12 * c34 - c14 * c23,
        "T123 C14 - T124 C13": t123 * c14 - t124 * c13,
        "T123 C14 - T134 C12": t123 * c14 - t134 * c12,
        "T123 C24 - T234 C12": t123 * c24 - t234 * c12,
        "M1234 P - C12 C34 (P + T123²)": _fourth_moment(sketch) * p - c12 * c34 * (p + t123**2),
    }


def _fourth_moment(sketch: Sketch) -> Fraction:
    """Mean of Π (x_i - f_i), exactly."""
    shares = list(moments(sketch).single.values())
    total = Fraction(0)
    for row, count in zip(sketch.tuples.codes.tolist(), sketch.counts.tolist(), strict=True):
        term = Fraction(count, sketch.items)
        for said, share in zip(row, shares, strict=True):
            term *= said - share
        total += term
    return total
