from __future__ import annotations

import random
import re
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, TypeAlias
from xml.etree import ElementTree

import numpy as np
import pytest
from panels import TABLE1
from report_pages import contrast
from simulated_juries import simulate, two_label_tables

import jurors
from jurors import Sketch, SketchError, Votes, plot
from jurors.errors import JurorsError
from jurors.evaluate.evaluation import KeyedEvaluation
from jurors.jury.compare import score_labels
from jurors.monitor.monitor import History
from jurors.reporting.charts.accuracy import OUTSIDE, WORSE
from jurors.reporting.charts.base import PALETTE, THEMES, config, place_names

pytestmark = pytest.mark.slow  # every chart is checked against the whole of Vega-Lite's schema

GRADERS = {"AAA": 2, "ABA": 19, "ABB": 6, "BAA": 24, "BAB": 1, "BBA": 189, "BBB": 40}
COMPLEX = {"AAA": 2, "AAB": 30, "ABA": 30, "BAA": 30, "ABB": 30, "BAB": 30, "BBA": 30, "BBB": 2}
Graded: TypeAlias = tuple[jurors.Evaluation, KeyedEvaluation]


def trio(counts: dict[str, int] = TABLE1, names: tuple[str, ...] = ("i", "j", "k")) -> jurors.Evaluation:
    return jurors.grade(jurors.Sketch.from_counts(counts, jurors=names))


def key_of(counts: dict[str, int]) -> tuple[jurors.Votes, list[str]]:
    """The same votes, one a row, with the first juror's votes as an answer key."""
    rows = [list(row) for row, n in counts.items() for _ in range(n)]
    return jurors.Votes.from_matrix(np.array(rows), jurors=("i", "j", "k")), [row[0] for row in rows]


@pytest.fixture(scope="module")
def panel() -> Graded:
    """Six jurors, of whom two are copies of one another half of the time."""
    sketch, codes, truth = simulate([0.4, 0.6], two_label_tables([(0.8, 0.7)] * 6), 1500, seed=3)
    rng = np.random.default_rng(1)
    codes[:, 1] = np.where(rng.random(len(codes)) < 0.6, codes[:, 0], codes[:, 1])
    votes = jurors.Votes.from_matrix(codes, jurors=sketch.jurors, labels=("A", "B"))
    return jurors.grade(votes), score_labels(votes, ["AB"[t] for t in truth])


@pytest.fixture(scope="module")
def labels5() -> jurors.Evaluation:
    confusion = np.array([np.full((5, 5), 0.06) + np.eye(5) * 0.7] * 4)
    return jurors.grade(simulate([0.2] * 5, confusion, 1200, seed=5)[0])


def rows_of(chart: Any) -> list[dict[str, Any]]:
    """Every row of inline data."""
    return [row for rows in chart.to_dict()["datasets"].values() for row in rows]


def walk(node: Any) -> Iterator[dict[str, Any]]:
    """Every mapping inside a specification."""
    if isinstance(node, dict):
        yield node
    for child in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from walk(child)


def domains(chart: Any) -> list[list[float]]:
    found = [node["scale"]["domain"] for node in walk(chart.to_dict()) if isinstance(node.get("scale"), dict)
             and isinstance(node["scale"].get("domain"), list)]  # fmt: skip
    return [domain for domain in found if all(isinstance(x, (int, float)) for x in domain)]


# -- the numbers ------------------------------------------------------------------------------------------


def test_the_plane_holds_the_very_numbers_of_the_evaluation_and_of_the_key() -> None:
    votes, truth = key_of(TABLE1)
    result, keyed = jurors.grade(votes), score_labels(votes, truth)
    drawn = rows_of(plot.accuracy(result, keyed))
    by_juror = {row["juror"]: row for row in drawn if "score" in row}
    for j in result.jurors:
        assert by_juror[j]["x"] == result.accuracy[j]["A"]
        assert by_juror[j]["y"] == result.accuracy[j]["B"]
        assert (by_juror[j]["x_low"], by_juror[j]["x_high"]) == result.interval_of("accuracy", j, "A")
        assert by_juror[j]["actual_x"] == float(keyed.accuracy[j]["A"])
        assert by_juror[j]["actual_y"] == float(keyed.accuracy[j]["B"])
    # A key that knows its labels in another order is matched by name.
    swapped = score_labels(replace(votes, labels=("B", "A"), _dense=1 - votes.codes), truth)
    assert swapped.labels == keyed.labels[::-1]
    assert rows_of(plot.accuracy(result, swapped)) == drawn


def test_an_estimate_outside_the_square_or_below_the_line_of_chance_is_shown_there_and_named_so() -> None:
    result = jurors.grade(jurors.Sketch.from_counts(GRADERS, jurors=("i", "j", "k")), errors="independent")
    assert max(max(row.values()) for row in result.accuracy.values()) > 1
    chart = plot.accuracy(result)
    outside = [row for row in rows_of(chart) if row.get("kind") == OUTSIDE]
    assert [row["juror"] for row in outside] == ["j"]
    assert max(domain[1] for domain in domains(chart)) > max(outside[0]["x"], outside[0]["y"]) > 1
    assert all(domain[1] < 1.05 for domain in domains(plot.accuracy(trio())))
    sketch = simulate([0.4, 0.6], two_label_tables([(0.8, 0.8)] * 4 + [(0.2, 0.3)]), 1000, seed=2)[0]
    kinds = {row["juror"]: row["kind"] for row in rows_of(plot.accuracy(jurors.grade(sketch))) if "score" in row}
    assert [j for j, kind in kinds.items() if kind == WORSE] == ["juror 4"]


def test_prevalences_of_every_method_and_the_truth_or_beside_majority_vote() -> None:
    votes, truth = key_of(TABLE1)
    compared, result = jurors.compare(votes, truth), trio()
    chart = plot.prevalence(compared)
    shares = {row["method"]: row["share"] for row in rows_of(chart) if "method" in row}
    assert result.majority is not None
    counted = float(result.majority.prevalence["A"])
    methods = {e.method: float(e.prevalence["A"]) for e in compared.evaluations if e.has_grades}
    assert methods.pop("majority") != counted  # an estimate from the votes, and no share of them
    assert shares == methods | {"counted majority votes": counted}
    assert compared.truth is not None
    assert [row["share"] for row in rows_of(chart) if "text" in row] == [float(compared.truth.prevalence["A"])]
    assert "bars are 95% intervals" in chart.to_dict()["title"]["subtitle"][0]
    assert "Every method is calibrated" in compared.to_text()
    shares = {row["method"]: row["share"] for row in rows_of(plot.prevalence(result)) if "method" in row}
    assert shares == {"algebraic": result.prevalence["A"], "counted majority votes": counted}


def test_the_partition_splits_every_tuple_as_the_evaluation_does() -> None:
    partition = trio().partition
    assert partition is not None
    found = sorted(row["items"] for row in rows_of(plot.partition(trio())) if "items" in row)
    assert found == sorted([*partition.by_true_label.ravel().tolist(), *partition.sketch.counts.tolist()])


def test_tuples_that_hardly_occur_twice_are_joined_by_vote_share_and_no_item_is_lost() -> None:
    sketch = simulate([0.4, 0.6], two_label_tables([(0.8, 0.7)] * 20), 500, seed=3)[0]
    rows = [row for row in rows_of(plot.partition(jurors.grade(sketch))) if "low" in row]
    assert sum(row["items"] for row in rows) == pytest.approx(2 * 500)  # as estimated, and by majority


def pairs_of(chart: Any) -> tuple[list[str], dict[frozenset[str], float]]:
    """The jurors of a heat map in their order, and the numbers of their pairs."""
    names = chart.to_dict()["layer"][0]["encoding"]["x"]["scale"]["domain"]
    return names, {frozenset((row["juror"], row["other"])): row["value"] for row in rows_of(chart)}


def test_dependence_is_drawn_from_the_kappas_of_the_evaluation(panel: Graded) -> None:
    result = panel[0]
    _, drawn = pairs_of(plot.dependence(result))
    assert drawn == pytest.approx({frozenset(pair.jurors): pair.kappa for pair in result.dependence})
    assert max(drawn, key=drawn.__getitem__) == {"juror 0", "juror 1"}
    assert f"worth about {result.effective_jurors:.1f}" in plot.dependence(result).to_dict()["title"]["subtitle"][0]


def test_agreement_is_drawn_from_the_numbers_found() -> None:
    found = jurors.agreement(jurors.Sketch.from_counts(TABLE1, jurors=("i", "j", "k")))
    _, drawn = pairs_of(plot.agreement(found))
    assert list(drawn.values()) == found.pair_agreement.tolist()
    assert rows_of(plot.agreement(trio())) == rows_of(plot.agreement(found))
    votes = [["A", "A", None], ["B", "A", None], ["B", None, "A"], ["A", None, "B"]]  # y and z share no item
    chart = plot.agreement(jurors.agreement(votes, jurors=("x", "y", "z")))
    assert pairs_of(chart)[1] == {frozenset("xy"): 0.5, frozenset("xz"): 0.0}


def test_agreement_of_a_crowd_takes_no_memory_for_pairs_that_are_not_shown() -> None:
    crowd = 5_000  # all pairs would take 200 MB; the first 20 share two more items with their neighbour
    votes = [(f"{k}-{again}", f"w{j}", "ab"[(k + j) % 2]) for k in range(crowd) for again in range(1 + 2 * (k < 20))
             for j in (k, (k + 1) % crowd)]  # fmt: skip
    found = jurors.agreement(votes)
    tracemalloc.start()
    drawn = pairs_of(plot.agreement(found))[1]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 50e6
    assert len(drawn) == 19
    assert set(drawn.values()) == {0.0}


def test_bounds_widen_along_the_curve_that_was_computed() -> None:
    sketch = jurors.Sketch.from_counts(TABLE1, jurors=("i", "j", "k"))
    curve = jurors.theory.correlation_curve(sketch, [0, 0.001, 0.002])
    rows = [row for row in rows_of(plot.bounds(curve)) if row.get("panel") == "prevalence"]
    shown = (curve["statistic"] == "prevalence") & (curve["label"] == "A")
    for end in ("low", "high"):
        assert [row[end] for row in rows] == curve[end][shown].tolist()
    spec = plot.bounds(curve).to_dict()
    assert spec["resolve"]["axis"]["x"] == "independent"  # no axes where a row of panels is not full
    assert "error covariance ε" in str(spec)
    assert "error correlation" not in str(spec)


def test_estimates_stand_over_the_actual_numbers(panel: Graded) -> None:
    result, keyed = panel
    chart = plot.against_key(result, keyed)
    rows = [row for row in rows_of(chart) if "statistic" in row]
    assert len(rows) == 2 + 2 * 6
    one = next(row for row in rows if (row["juror"], row["label"]) == ("juror 2", "B"))
    assert (one["value"], one["actual"]) == (result.accuracy["juror 2"]["B"], float(keyed.accuracy["juror 2"]["B"]))
    held = sum(row["value_low"] <= row["actual"] <= row["value_high"] for row in rows)
    assert chart.to_dict()["title"]["subtitle"][1] == f"{held} of {len(rows)} intervals contain the actual number"


def test_confusion_matrices_of_the_jurors_asked_for_or_with_the_most_votes(labels5: jurors.Evaluation) -> None:
    rows = rows_of(plot.confusion(labels5, jurors=["juror 2", "juror 0"]))
    assert len(rows) == 2 * 5 * 5
    for row in rows:
        assert row["share"] == labels5.independent.confusion[row["juror"]][row["true"]][row["said"]]
    with pytest.raises(JurorsError, match=r"no juror 'juror x'.*Did you mean"):
        plot.confusion(labels5, jurors=["juror x"])
    _, codes, _ = simulate([1 / 3] * 3, np.array([np.full((3, 3), 0.1) + np.eye(3) * 0.7] * 15), 400, seed=5)
    codes[200:, :3] = -1  # the first three vote half as often
    votes = jurors.Votes.from_matrix(codes, jurors=[f"juror {k}" for k in range(15)], labels=("a", "b", "c"))
    shown = {row["juror"] for row in rows_of(plot.confusion(jurors.grade(votes)))}
    assert shown == {f"juror {k}" for k in range(3, 15)}


def test_many_labels_make_dots_and_intervals_or_a_heat_map(labels5: jurors.Evaluation) -> None:
    rows = [row for row in rows_of(plot.accuracy(labels5)) if "value" in row]
    assert {(row["juror"], row["label"]): row["value"] for row in rows} == {
        (j, str(a)): x for j, by in labels5.accuracy.items() for a, x in by.items()
    }
    confusion = np.array([np.full((7, 7), 0.05) + np.eye(7) * 0.65] * 8)
    wide = jurors.grade(simulate([1 / 7] * 7, confusion, 900, seed=5)[0])
    assert plot.accuracy(wide).to_dict()["mark"]["type"] == "rect"


def test_the_area_under_the_items_is_the_number_of_expected_errors(panel: Graded) -> None:
    labelling = jurors.label(panel[0].sketch)
    chart = plot.items(labelling)
    steps = [row for row in rows_of(chart) if "wrong" in row]
    assert steps[-1]["to"] == panel[0].items
    assert [row["wrong"] for row in steps] == sorted((row["wrong"] for row in steps), reverse=True)
    many = replace(labelling, probability=np.random.default_rng(0).beta(8, 1, 100_000), counts=None,
                   codes=np.zeros(100_000, int), items=np.arange(100_000))  # fmt: skip
    drawn = [row for row in rows_of(plot.items(many)) if "wrong" in row]
    assert len(drawn) <= 400  # and no error is lost
    for rows, labels in ((steps, labelling), (drawn, many)):
        area = sum((row["to"] - row["from"]) * row["wrong"] for row in rows) / rows[-1]["to"]
        assert area == pytest.approx(labels.wrong_labels)


def test_of_an_exam_only_the_scores_are_drawn() -> None:
    result = replace(trio(), exam=True)
    rows = [row for row in rows_of(plot.accuracy(result)) if "value" in row]
    assert {row["juror"]: row["value"] for row in rows} == dict(result.score)
    for kind in ("prevalence", "partition", "confusion"):
        with pytest.raises(SketchError, match="choices of an exam mean nothing"):
            result.plot(kind)


# -- any name, any size, any page -------------------------------------------------------------------------


def test_every_theme_only_repaints() -> None:
    chart = plot.accuracy(trio())
    specs = [plot.themed(chart, theme).to_dict() for theme in THEMES]
    assert len({spec["config"]["background"] for spec in specs}) == 3
    assert all({**spec, "config": None} == {**specs[0], "config": None} for spec in specs)
    with pytest.raises(JurorsError, match="there is no theme 'pink'; there are: both, light, dark"):
        plot.themed(chart, "pink")  # type: ignore[arg-type]


def test_colours_and_text_stand_out_on_white_and_on_near_black() -> None:
    for page in ("#FFFFFF", "#121212"):
        assert all(contrast(colour, page) >= 3 for colour in PALETTE)
        assert contrast(config("both")["axis"]["labelColor"], page) >= 4


def test_of_150_jurors_20_are_drawn() -> None:
    rng = np.random.default_rng(4)
    tables = two_label_tables(list(zip(rng.uniform(0.55, 0.95, 150), rng.uniform(0.55, 0.95, 150), strict=True)))
    sketch = simulate([0.4, 0.6], tables, 400, seed=4)[0]
    result = jurors.grade(sketch, method="majority")
    for chart in (plot.agreement(result), plot.accuracy(result), plot.partition(result), plot.confusion(result)):
        assert len(plot.render(chart, "json")) < 110_000
    for pairs in (plot.agreement(result), plot.dependence(result)):
        assert len(pairs_of(pairs)[1]) == 20 * 19 // 2
        assert "20 of 150 jurors" in pairs.to_dict()["title"]["subtitle"][1]
    shown = [row["juror"] for row in rows_of(plot.accuracy(result)) if "score" in row]
    assert shown == [*result.ranking.ranked[:10], *result.ranking.order[-10:]]
    named = [row["juror"] for row in rows_of(plot.accuracy(result, jurors=["juror 7"])) if "score" in row]
    assert named == ["juror 7"]


def test_no_name_is_written_over_another() -> None:
    points = [(100.0 + 3 * k, 100.0 + 2 * k) for k in range(12)]
    placed = place_names([f"juror number {k}" for k in range(12)], points, (400, 400))
    places = [p.at for p in placed]
    assert len(placed) >= 4
    assert len(set(places)) == len(places)


# -- what cannot be drawn ---------------------------------------------------------------------------------


def test_what_cannot_be_drawn_is_said_in_one_line(panel: Graded, labels5: jurors.Evaluation) -> None:
    unsure = jurors.label(panel[0].sketch, method="majority", errors="independent")
    cases: list[tuple[Callable[[], Any], str]] = [
        (lambda: plot.accuracy(replace(trio(COMPLEX), calibration=None)), "no real solution explains these votes"),
        (lambda: plot.dependence(replace(trio(), calibration=None)), "how far errors are correlated is not known"),
        (lambda: plot.draw(trio(), "items"), "made from Labelling, got Evaluation"),
        (lambda: plot.items(unsure), "have no probabilities"),
        (lambda: plot.bounds({"a": 1}), "the columns of theory.correlation_curve"),
        (lambda: plot.draw(trio(), "pie"), "no chart 'pie'"),
        (lambda: plot.history(History("1000", by_time=False, windows=())), "no window has grades yet"),
    ]
    for draw, line in cases:
        with pytest.raises(JurorsError) as caught:
            draw()
        assert line in str(caught.value)
        assert "\n" not in str(caught.value)


def test_results_draw_themselves(panel: Graded) -> None:
    result, keyed = panel
    assert result.sketch is not None
    results = (
        result, keyed, jurors.label(result.sketch), jurors.compare(result.sketch, methods=["majority"]),
        jurors.agreement(result.sketch), jurors.theory.dependence_with_key(keyed),
    )  # fmt: skip
    assert len({one.plot().to_dict()["title"]["text"] for one in results}) == len(results) - 1
    assert result.plot("against_key", keyed, width=200).to_dict()["width"] == 200


WITHOUT = {
    "altair": (
        "try: grade(counts).plot()\nexcept JurorsError as error: print(error)",
        "charts need altair: pip install 'jurors[plot]'",
    ),
    "pandas polars pyarrow": ("print(len(plot.render(grade(counts).plot('confusion'), 'json')) > 100)", "True"),
}


@pytest.mark.parametrize("missing", WITHOUT)
def test_charts_need_altair_and_no_dataframe_library(missing: str) -> None:
    script, printed = WITHOUT[missing]
    start = (
        f"import sys; sys.modules |= dict.fromkeys({missing.split()})\n"
        "from jurors import JurorsError, Sketch, grade, plot\n"
        "counts = Sketch.from_counts({'AAB': 9, 'BBB': 9, 'ABA': 5, 'BAA': 4}, jurors='ijk')\n"
    )
    done = subprocess.run([sys.executable, "-c", start + script], capture_output=True, text=True, check=True)
    assert done.stdout == f"{printed}\n"


def test_what_stands_below_the_accuracies_is_no_wider_than_their_plane() -> None:
    """A browser may write a saved chart's text a sixth wider than it was measured, and cuts off what lies outside."""
    shown = plot.accuracy(trio(GRADERS, ("GPT-4-Turbo", "Gemini Pro", "Mistral"))).to_dict()["title"]["subtitle"]
    assert max(map(len, shown)) <= 60  # of 420 points


# -- scores over time ---------------------------------------------------------------------------------------

JURORS = ("ann", 'b\\o"b', "cy", "dee\x1b[31m")


def test_every_window_is_a_point_with_its_interval_and_an_alarm_a_line_in_the_panels_of_those_it_names() -> None:
    dice = random.Random(5)
    monitor = jurors.Monitor(window=150)
    for item in range(450):
        truth = dice.choice("yn")
        for juror in JURORS:
            monitor.learn_one(item, juror, truth if dice.random() < 0.8 else dice.choice("yn"))
    history = monitor.history()
    alarm = {"since": 150, "since_time": None, "jurors": ["cy", "gone"], "message": "cy agrees less"}
    chart = jurors.plot.history(history, [alarm])
    rows, first = [row for row in rows_of(chart) if row["kind"] == "score"], history.windows[0]
    assert len(rows) == len(history.windows) * len(JURORS)
    assert rows[0]["score"] == first.score["ann"]
    assert (rows[0]["low"], rows[0]["high"]) == first.interval["score"]["ann"]
    marks = [row for row in rows_of(chart) if row["kind"] == "alarm"]
    assert [(mark["juror"], mark["at"], mark["message"]) for mark in marks] == [("cy", 150, "cy agrees less")]
    assert jurors.plot.render(chart, "svg").startswith(b"<svg")


# -- names are data: nothing of them is ever code of an expression, and every chart is drawn ----------------

vl_convert = pytest.importorskip("vl_convert")
MARK = "QQ"
TWO = [f"{MARK}yes\\", f'{MARK}no"+now()//']
THREE = [f"{MARK}a\\", f"{MARK}b'\x1b[31m", f"{MARK}c\nd\ud800"]
EXPRESSIONS = {"signal", "expr", "test", "update", "init", "field", "calculate", "filter", "groupby", "key", "lookup"}
TEXT = re.compile(r""""(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'""")
HOSTILE = (*(f'{MARK}{k}\\"' for k in range(4)), f"{MARK}\vOK: no alarm")


def simulated(labels: list[str]) -> tuple[Votes, dict[Any, Any]]:
    dice = random.Random(3)
    truth = [dice.choice(labels) for _ in range(120)]
    rows = [[right if dice.random() < 0.8 else dice.choice(labels) for _ in HOSTILE] for right in truth]
    items = [f'{MARK}\\item{k}"' for k in range(len(rows))]
    return Votes.from_matrix(rows, items=items, jurors=HOSTILE), dict(zip(items, truth, strict=True))


def hostile_charts(labels: list[str]) -> Iterator[tuple[str, Any]]:
    votes, key = simulated(labels)
    graded, keyed, draw = jurors.grade(votes), jurors.score(votes, key), plot.draw
    yield "accuracy", draw(graded, "accuracy", keyed)
    yield "against_key", draw(graded, "against_key", keyed)
    yield "prevalence", draw(jurors.compare(votes, key), "prevalence")
    yield "agreement", draw(jurors.agreement(votes), "agreement")
    yield "items", draw(jurors.label(votes), "items")
    for kind in ("partition", "confusion", *["dependence"] * (len(labels) == 2)):
        yield kind, draw(graded, kind)
    if len(labels) == 2:
        yield "curve", draw(jurors.theory.correlation_curve(Sketch.from_votes(votes)), "bounds")


def code(node: Any, key: str = "") -> Iterator[str]:
    """The expressions of a Vega specification, without the texts in them."""
    if isinstance(node, dict):
        for name, value in node.items():
            yield from code(value, name)
    elif isinstance(node, list):
        for value in node:
            yield from code(value, key)
    elif isinstance(node, str) and key in EXPRESSIONS:
        yield TEXT.sub("", node)


def texts(node: Any) -> Iterator[str]:
    """Every text of a specification."""
    if isinstance(node, dict | list | tuple):
        for value in node.values() if isinstance(node, dict) else node:
            yield from texts(value)
    elif isinstance(node, str):
        yield node


@pytest.mark.parametrize("labels", [TWO, THREE], ids=["two labels", "three labels"])
def test_names_are_never_code_and_every_chart_is_drawn(labels: list[str]) -> None:
    for kind, chart in hostile_charts(labels):
        assert [text for text in texts(chart.to_dict()) if not text.isprintable()] == [], kind
        vega = vl_convert.vegalite_to_vega(chart.to_dict())
        assert [expression for expression in code(vega) if MARK in expression] == [], kind
        ElementTree.fromstring(plot.render(chart, "svg"))
