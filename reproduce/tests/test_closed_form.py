"""The closed form, derived from the eight polynomials of Theorem 1 by a Gröbner basis: nobody has to believe us.

Unknowns: x the prevalence of A; a_i, b_i the accuracies of juror i on A and on B. Moments as in the paper: m_i the
share of B answers, C_ij the pair moments, T the trio moment, P = C_12 C_13 C_23.
"""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Any

import pytest
import sympy as sp

from jurors.evaluate.trio import evaluate_trio
from jurors.sketch.sketch import Sketch

pytestmark = pytest.mark.slow  # sympy takes seconds to import

x = sp.Symbol("x")
a = sp.symbols("a1:4")
b = sp.symbols("b1:4")
m = sp.symbols("m1:4")
C12, C13, C23, T = sp.symbols("C12 C13 C23 T")
OPPOSITE = (C23, C13, C12)  # the pair moment of the other two jurors
P = C12 * C13 * C23
UNKNOWNS = (*a, *b, x)
TUPLES = ["".join(t) for t in product("AB", repeat=3)]

TABLE_1 = {"AAA": 568, "AAB": 553, "ABA": 649, "BAA": 1813, "BBA": 3534, "BAB": 3607, "ABB": 1068, "BBB": 8208}
JURIES = {
    "rational": {"AAA": 21, "AAB": 24, "ABA": 27, "BAA": 9, "BBA": 15, "BAB": 16, "ABB": 48, "BBB": 40},
    "Table 1": TABLE_1,
    "complex": {"AAA": 5, "AAB": 30, "ABA": 28, "BAA": 29, "BBA": 31, "BAB": 27, "ABB": 32, "BBB": 7},
    "out of range": {"AAA": 2, "ABA": 19, "ABB": 6, "BAA": 24, "BAB": 1, "BBA": 189, "BBB": 40},
}


def polynomial(decisions: str) -> Any:
    """Theorem 1: the share of a decision tuple."""
    from_a, from_b = x, 1 - x
    for i, said in enumerate(decisions):
        from_a *= a[i] if said == "A" else 1 - a[i]
        from_b *= 1 - b[i] if said == "A" else b[i]
    return from_a + from_b


def moments_of(share: dict[str, Any]) -> dict[Any, Any]:
    """The paper's moments of eight shares, symbolic or numeric."""
    mean = [sum(share[t] for t in TUPLES if t[i] == "B") for i in range(3)]
    pair = {
        (i, j): sum(share[t] for t in TUPLES if t[i] == t[j] == "B") - mean[i] * mean[j]
        for i, j in ((0, 1), (0, 2), (1, 2))
    }
    mixed = mean[0] * pair[1, 2] + mean[1] * pair[0, 2] + mean[2] * pair[0, 1]
    trio = share["BBB"] - mean[0] * mean[1] * mean[2] - mixed
    return {m[0]: mean[0], m[1]: mean[1], m[2]: mean[2], C12: pair[0, 1], C13: pair[0, 2], C23: pair[1, 2], T: trio}


def moment_equations() -> dict[Any, Any]:
    """What each moment is in the unknowns, if the errors are independent."""
    spread = x * (1 - x)
    d = [a[i] + b[i] - 1 for i in range(3)]
    return {
        **{m[i]: x * (1 - a[i]) + (1 - x) * b[i] for i in range(3)},
        C12: spread * d[0] * d[1],
        C13: spread * d[0] * d[2],
        C23: spread * d[1] * d[2],
        T: spread * (2 * x - 1) * d[0] * d[1] * d[2],
    }


@cache
def symbolic_basis() -> Any:
    """The lexicographic Gröbner basis over the field of rational functions of the seven moments."""
    field = sp.QQ.frac_field(*m, C12, C13, C23, T)
    generators = [moment - value for moment, value in moment_equations().items()]
    return sp.groebner(generators, *UNKNOWNS, order="lex", domain=field)


@cache
def numeric_basis(name: str) -> Any:
    """The Gröbner basis of the eight quartics themselves, for given counts."""
    counts = {t: JURIES[name].get(t, 0) for t in TUPLES}
    total = sum(counts.values())
    generators = [sp.expand(polynomial(t) - sp.Rational(counts[t], total)) for t in TUPLES]
    return sp.groebner(generators, *UNKNOWNS, order="lex")


def numeric_moments(name: str) -> dict[Any, Any]:
    total = sum(JURIES[name].values())
    return moments_of({t: sp.Rational(JURIES[name].get(t, 0), total) for t in TUPLES})


def quadratic() -> Any:
    return (T**2 + 4 * P) * x**2 - (T**2 + 4 * P) * x + P


def linear_equations() -> list[Any]:
    """The accuracies' equations as they hold: on A for i, j, k, then on B."""
    on_a = [T * (T - OPPOSITE[i] * (1 - m[i])) + 2 * P - (4 * P + T**2) * x + OPPOSITE[i] * T * a[i] for i in range(3)]
    on_b = [m[i] * OPPOSITE[i] * T - 2 * P + (T**2 + 4 * P) * x - OPPOSITE[i] * T * b[i] for i in range(3)]
    return on_a + on_b


def misprinted_equations() -> dict[str, Any]:
    """The same as the paper prints them, one entry a misprint."""
    b_coefficient = 4 * P - T**2
    jk = zip("ij", range(2), OPPOSITE, strict=False)
    printed = {
        f"A accuracy of {name}": T * (T - c * (1 - m[i])) + 2 * P + b_coefficient * x + c * T * a[i]
        for name, i, c in jk
    }
    printed["A accuracy of k"] = T * (T - C13 * (1 - m[1])) + 2 * P + b_coefficient * x + C12 * T * a[2]
    # even with the sign of b put right, the first coefficient is juror j's
    printed["A accuracy of k, b corrected"] = T * (T - C13 * (1 - m[1])) + 2 * P - (4 * P + T**2) * x + C12 * T * a[2]
    printed["B accuracy of k"] = m[2] * C13 * T - 2 * P + (T**2 + 4 * P) * x - C12 * T * b[2]
    return printed


# -- the eight polynomials and the seven moment equations say the same ---------------------------------------


def test_the_eight_polynomials_have_these_moments() -> None:
    found = moments_of({t: polynomial(t) for t in TUPLES})
    for moment, value in moment_equations().items():
        assert sp.expand(found[moment] - value) == 0


def test_the_moments_give_the_eight_shares_back_so_nothing_is_lost() -> None:
    share = dict(zip(TUPLES, sp.symbols("f0:8"), strict=True))
    share["AAA"] = 1 - sum(share[t] for t in TUPLES[1:])
    found = moments_of(share)
    m1, m2, m3, c12, c13, c23, trio = (found[s] for s in (*m, C12, C13, C23, T))
    bbb = trio + m1 * c23 + m2 * c13 + m3 * c12 + m1 * m2 * m3
    bb = {"BBA": c12 + m1 * m2 - bbb, "BAB": c13 + m1 * m3 - bbb, "ABB": c23 + m2 * m3 - bbb}
    one = {
        "BAA": m1 - bb["BBA"] - bb["BAB"] - bbb,
        "ABA": m2 - bb["BBA"] - bb["ABB"] - bbb,
        "AAB": m3 - bb["BAB"] - bb["ABB"] - bbb,
    }
    for decisions, value in {"BBB": bbb, **bb, **one}.items():
        assert sp.expand(value - share[decisions]) == 0


# -- the closed form, for all moments at once ------------------------------------------------------------------


def test_the_basis_is_one_quadratic_for_the_prevalence_and_six_linear_equations() -> None:
    basis = symbolic_basis().exprs
    assert len(basis) == 7
    *linear, last = basis
    assert last.free_symbols >= {x}
    assert not last.free_symbols & {*a, *b}
    assert sp.simplify(last * (T**2 + 4 * P) - quadratic()) == 0
    for expression, unknown in zip(linear, (*a, *b), strict=True):
        assert sp.Poly(expression, *UNKNOWNS).total_degree() == 1
        assert expression.free_symbols & {*a, *b} == {unknown}


def test_the_corrected_linear_equations_are_the_ones_in_the_basis() -> None:
    *linear, _ = symbolic_basis().exprs
    for expression, equation, unknown in zip(linear, linear_equations(), (*a, *b), strict=True):
        scale = sp.Poly(equation, *UNKNOWNS).coeff_monomial(unknown)
        assert sp.simplify(expression * scale - equation) == 0


@pytest.mark.parametrize("place", misprinted_equations())
def test_the_misprinted_linear_equations_do_not_hold(place: str) -> None:
    assert sp.simplify(symbolic_basis().reduce(misprinted_equations()[place])[1]) != 0


def test_at_a_prevalence_of_one_half_the_linear_equations_vanish_and_the_roots_remain() -> None:
    """T = 0: all six linear equations are 0 = 0 at x = 1/2, yet C_jk (b_i - m_i)² = C_ij C_ik still fixes b_i."""
    for equation in linear_equations():
        assert sp.expand(equation.subs({T: 0, x: sp.Rational(1, 2)})) == 0
    field = sp.QQ.frac_field(*m, C12, C13, C23)
    generators = [(moment - value).subs(T, 0) for moment, value in moment_equations().items()]
    basis = sp.groebner(generators, *UNKNOWNS, order="lex", domain=field)
    assert basis.contains(x - sp.Rational(1, 2))
    for i, (near, far) in enumerate(((C12, C13), (C12, C23), (C13, C23))):
        assert basis.contains(OPPOSITE[i] * (b[i] - m[i]) ** 2 - near * far)
        assert basis.contains(a[i] - (1 - m[i]) - (b[i] - m[i]))


# -- the same from the eight quartics themselves, for counts ------------------------------------------------------


@pytest.mark.parametrize("name", JURIES)
def test_the_eight_quartics_of_given_counts_reduce_to_the_closed_form(name: str) -> None:
    basis, values = numeric_basis(name), numeric_moments(name)
    assert len(basis.exprs) == 7
    for equation in (quadratic(), *linear_equations()):
        assert basis.contains(sp.expand(equation.subs(values)))
    for equation in misprinted_equations().values():
        assert not basis.contains(sp.expand(equation.subs(values)))


@pytest.mark.parametrize("name", JURIES)
def test_our_solutions_are_the_points_of_the_basis(name: str) -> None:
    sketch = Sketch.from_counts({t: JURIES[name].get(t, 0) for t in TUPLES}, jurors="ijk")
    for solution in evaluate_trio(sketch):
        point = {x: _symbolic(solution.prevalence["A"])}
        for i, juror in enumerate("ijk"):
            point[a[i]] = _symbolic(solution.accuracy[juror]["A"])
            point[b[i]] = _symbolic(solution.accuracy[juror]["B"])
        for expression in numeric_basis(name).exprs:
            assert sp.expand(expression.subs(point)) == 0


def _symbolic(value: Any) -> Any:
    root = sp.Rational(value.root_part.numerator, value.root_part.denominator) * sp.sqrt(value.radicand)
    return sp.Rational(value.rational_part.numerator, value.rational_part.denominator) + root
