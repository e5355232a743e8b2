"""What the paper prints and needs no census file: Table 1, the exact evaluation behind it, and three LLM graders.

Each function returns one `Section` of the page. The counts by true label of Table 1 and of the LLM graders come with
the package (`jurors.load_example`); everything else is computed from them here, beside what the paper prints.
`reproduce/tests` holds every one of these numbers, and the algebra by a Gröbner basis.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import altair as alt

import jurors
from jurors.evaluate.trio import trio_invariants
from jurors.jury.compare import score_labels
from jurors.results import Prose, Table
from reproduce.page import Figure, Section

#: Decision tuple -> the seven numbers that Table 1 prints: count; AE a, b; actual a, b; MV a, b.
TABLE_1 = {
    "AAA": (568, 399, 169, 424, 144, 568, 0),
    "AAB": (553, 133, 420, 168, 385, 553, 0),
    "ABA": (649, 253, 396, 283, 366, 649, 0),
    "BAA": (1813, 416, 1397, 415, 1398, 1813, 0),
    "BBA": (3534, 264, 3270, 252, 3282, 0, 3534),
    "BAB": (3607, 139, 3468, 194, 3413, 0, 3607),
    "ABB": (1068, 84, 984, 129, 939, 0, 1068),
    "BBB": (8208, 88, 8120, 135, 8073, 0, 8208),
}
#: The leading coefficient of the quadratic that the paper prints for Table 1.
PRINTED_LEADING = (3190087950361, 16 * 10**18)


def sections() -> Iterator[Section]:
    """Everything that can be made from the package alone."""
    yield table_1()
    yield exact_evaluation()
    yield llm_graders()


def computed_table_1() -> dict[str, tuple[int, ...]]:
    """Table 1 as computed from the shipped counts; the same numbers in the same order as `TABLE_1`."""
    votes, key = jurors.load_example("census")
    truth = score_labels(votes, key)
    algebraic = jurors.grade(votes).independent.partition
    majority = jurors.grade(votes, method="majority").independent.partition
    if algebraic is None or majority is None:
        raise ValueError("Table 1 has a real evaluation")
    names = ["".join(map(str, decisions)) for decisions in truth.sketch.decisions()]
    columns = (algebraic.by_true_label, truth.by_true_label, majority.by_true_label)
    rows = {
        name: tuple(round(float(part[k][label])) for part in columns for label in (0, 1))
        for k, name in enumerate(names)
    }
    return {name: (rows[name][2] + rows[name][3], *rows[name]) for name in TABLE_1}


def table_1() -> Section:
    """Table 1: the partition of 20,000 census records by true label, estimated and actual; and how far off each is."""
    votes, key = jurors.load_example("census")
    graded, truth = jurors.grade(votes, errors="independent"), score_labels(votes, key)
    computed = computed_table_1()
    other = [name for name in TABLE_1 if computed[name] != TABLE_1[name]]
    verdict = f"not as printed: {', '.join(other)}" if other else "all 56 numbers as the paper prints them"
    rows = tuple((" ".join(name), *(f"{n:,}" for n in numbers)) for name, numbers in computed.items())
    columns = ("decisions", "count", "AE A", "AE B", "actual A", "actual B", "MV A", "MV B")
    partition = graded.independent.partition
    assert partition is not None
    errors = (truth.errors_of(partition.chosen), truth.majority_errors, truth.best_errors)
    return Section(
        "Table 1: 20,000 census records, three networks",
        (
            Prose(
                "Each of the eight decision tuples, split by true label: by algebraic evaluation (AE), which sees the "
                f"counts alone; by the answer key; by majority vote (MV). Computed here: {verdict}."
            ),
            Table(columns, rows, right=tuple(range(1, 8))),
            Prose(
                f"Wrong labels among 20,000: {float(errors[0]):,.0f} by AE, {float(errors[1]):,.0f} by majority vote, "
                f"{float(errors[2]):,.0f} by the best rule. AE itself expects {partition.expected_errors:,.0f}."
            ),
            Figure("table1-partition", graded.plot("partition"), "The same as a picture: the partition by AE."),
            _estimates(graded, truth, "Table 1 in terms of grades"),
            _correlations(truth),
        ),
    )


def exact_evaluation() -> Section:
    """Theorem 2 on Table 1: one quadratic, two solutions, and what correlated errors would change."""
    votes, _ = jurors.load_example("census")
    sketch = jurors.Sketch.from_votes(votes)
    graded = jurors.grade(votes, errors="independent")
    invariants, moments = trio_invariants(sketch), jurors.theory.moments(sketch)
    constant = math.prod(moments.pair.values())
    leading = moments.trio["i", "j", "k"] ** 2 + 4 * constant
    printed, over = PRINTED_LEADING
    likely, mirror = graded.independent.solutions
    rows = (
        (
            "leading coefficient",
            f"{leading}",
            f"{printed}/{over}: {float(leading) * over / printed:.0f} times too small",
        ),
        ("constant", f"{constant}", "as printed"),
        ("hyperdeterminant of the counts", f"{invariants.hyperdeterminant:,}", "no square: the root is irrational"),
        ("prevalence of A", f"{likely.prevalence['A']}", f"{float(likely.prevalence['A']):.7f}"),
        ("the mirror solution", f"{mirror.prevalence['A']}", f"{float(mirror.prevalence['A']):.7f}"),
    )
    test = jurors.simulate(exact=True, accuracy=["0.9", "0.8", "0.7"], prevalence="0.3")
    again = jurors.grade(test.sketch).exact
    assert again is not None
    accuracies = ", ".join(str(again.accuracy[juror]["A"]) for juror in again.jurors)
    return Section(
        "Theorems 1 and 2: the exact evaluation",
        (
            Prose(
                "Three jurors' errors that are independent on the test leave one quadratic for the prevalence and six "
                "linear equations for the accuracies; the square root is irrational, so errors were correlated on "
                "these 20,000 records, if only a little. docs/theory.md lists the paper's misprints."
            ),
            Table(("of Table 1", "exactly", "beside the paper"), rows),
            Figure(
                "table1-solutions", draw_solutions(graded), "Both solutions; the likelier has the greater accuracies."
            ),
            Figure(
                "table1-bounds",
                jurors.plot.bounds(jurors.theory.correlation_curve(sketch)),
                "What is certain if no error correlation exceeds ε: bounds widen fast.",
            ),
            Prose(
                "Encode and decode: jurors who are right on 9/10, 8/10 and 7/10 of the items, a prevalence of 3/10, "
                f"put into counts and solved again: a prevalence of {again.prevalence['A']}, accuracies {accuracies}."
            ),
        ),
    )


def draw_solutions(graded: jurors.Evaluation) -> Any:
    """Both evaluations of a trio: each is the other's reflection at the dashed line, on which guessing lies.

    An accuracy pair (a, b) becomes (1 - b, 1 - a), a prevalence p becomes 1 - p.
    """
    first, second = graded.labels
    rows = [
        {"juror": juror, "solution": name, "x": accuracy[first], "y": accuracy[second]}
        for name, solution in zip(("likelier", "mirror"), graded.independent.solutions, strict=True)
        for juror, accuracy in solution.to_float().accuracy.items()
    ]
    points = alt.Chart(alt.Data(values=rows)).encode(
        x=alt.X("x:Q", title=f"accuracy on {first}", scale=alt.Scale(domain=[0, 1])),
        y=alt.Y("y:Q", title=f"accuracy on {second}", scale=alt.Scale(domain=[0, 1])),
        color=alt.Color("solution:N", title=None),
    )
    guessing = alt.Chart(alt.Data(values=[{"x": 0, "y": 1}, {"x": 1, "y": 0}]))
    line = guessing.mark_line(strokeDash=[5, 4], color="grey").encode(x="x:Q", y="y:Q")
    return (line + points.mark_point(filled=True, size=80) + points.mark_text(dx=12).encode(text="juror:N")).properties(
        width=420, height=420, title="The two solutions that explain the votes"
    )


def llm_graders() -> Section:
    """Three LLMs grade 281 chains of thought: AE labels most right, majority vote most wrong, and chance is large."""
    votes, key = jurors.load_example("llm_graders")
    graded, truth = jurors.grade(votes, errors="independent"), score_labels(votes, key)
    partition = graded.independent.partition
    assert partition is not None
    right = [float(truth.items - errors) for errors in (truth.errors_of(partition.chosen), truth.majority_errors)]
    low, high = graded.independent.interval_of("prevalence", "wrong")
    return Section(
        "Three LLM graders: right where the majority is wrong, and little to prove it",
        (
            Prose(
                f"Of {truth.items} labels {right[0]:.0f} are right by AE ({right[0] / truth.items:.1%}) and "
                f"{right[1]:.0f} by majority vote ({right[1] / truth.items:.1%}). The 95% interval of the prevalence "
                f"runs from {low:.0%} to {high:.0%}: being right here proves nothing, and the card says so."
            ),
            _estimates(graded, truth, "Three LLMs on 281 chains of thought of PaLM 2 (BIG-Bench-Mistake)"),
            Figure(
                "llm-graders", jurors.plot.accuracy(graded, truth), "Accuracies by AE with intervals, and the truth."
            ),
        ),
    )


def _estimates(graded: Any, truth: Any, title: str) -> Table:
    """Prevalence and accuracies by the key, by AE and by majority vote, in percent."""
    majority, first = graded.majority, graded.labels[0]
    rows = [
        (
            f"prevalence of {first}",
            truth.prevalence[first],
            graded.independent.prevalence[first],
            majority.prevalence[first],
        )
    ]
    for juror in graded.jurors:
        for label in graded.labels:
            name = f"accuracy of {juror} on {label}"
            methods = (truth, graded.independent, majority)
            rows.append((name, *(method.accuracy[juror][label] for method in methods)))
    shown = tuple((name, *(f"{float(value):.2%}" for value in values)) for name, *values in rows)
    return Table(("", "actual", "AE", "MV"), shown, title=title, right=(1, 2, 3))


def _correlations(truth: Any) -> Table:
    """Γ of every pair on each label, by the key."""
    by_label = truth.correlations(2)
    pairs = list(by_label[truth.labels[0]])
    rows = tuple(
        (" ".join(pair), *(f"{float(by_label[label][pair]):z.6f}" for label in truth.labels)) for pair in pairs
    )
    title = "Error correlations Γ by the key: no larger than chance gives to unrelated draws (docs/theory.md)"
    return Table(("pair", *(f"Γ on {label}" for label in truth.labels)), rows, title=title, right=(1, 2))
