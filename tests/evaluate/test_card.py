"""The report card, and statistics with an answer key."""

from __future__ import annotations

import csv
import io
import re
import time
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from panels import TABLE1, coins, crowd
from strategies import examples

import jurors
from jurors import Sketch, Votes
from jurors.errors import short_names
from jurors.evaluate.alarms import Alarm
from jurors.evaluate.card import CardOptions, select_rows, shown_jurors
from jurors.evaluate.ranking import rank_jurors
from jurors.jury.compare import score_labels
from jurors.options import Label
from jurors.reporting.charts.base import in_rank_order
from jurors.reporting.page import report_html
from jurors.results import shorten_names


def test_all_pairs_at_once_have_the_correlations_that_each_has_alone() -> None:
    rng = np.random.default_rng(5)
    codes = np.where(rng.random((60, 5)) < 0.6, rng.integers(0, 3, (60, 5)), -1)
    truth = dict(zip(range(60), rng.integers(0, 3, 60).tolist(), strict=True))
    keyed = score_labels(Votes.from_matrix(codes, labels=[0, 1, 2], items=range(60)), truth)
    for label, pairs in keyed.correlations(2).items():
        assert list(pairs) == list(combinations(keyed.jurors, 2))
        assert all(value == keyed.correlation(label, pair) for pair, value in pairs.items())
    alone = jurors.score(Votes.from_matrix([["a"], ["b"]]), ["a", "a"])
    assert alone.correlations(2) == {"a": {}, "b": {}}


def test_the_pairs_of_many_jurors_take_seconds() -> None:
    rng = np.random.default_rng(6)
    codes = np.where(rng.random((400, 250)) < 0.05, rng.integers(0, 2, (400, 250)), -1)
    keyed = score_labels(Votes.from_matrix(codes, labels=[0, 1], items=range(400)), dict.fromkeys(range(400), 1))
    start = time.process_time()
    both = (codes >= 0).astype(int).T @ (codes >= 0)
    assert len(keyed.correlations(2)[1]) == np.count_nonzero(np.triu(both, 1))  # the pairs that share items
    assert time.process_time() - start < 3  # one by one they took ten times as long


@pytest.mark.slow
def test_many_labels_cost_what_they_hold() -> None:
    rng = np.random.default_rng(7)
    truth = rng.integers(0, 510, 1500)
    codes = np.where(rng.random((1500, 4)) < 0.8, truth[:, None], rng.integers(0, 510, (1500, 4)))
    key = dict(zip(range(1500), truth.tolist(), strict=True))
    start = time.process_time()
    keyed = score_labels(Votes.from_matrix(codes, labels=range(510), items=range(1500)), key)
    document = keyed.to_dict()
    assert time.process_time() - start < 10
    assert "confusion" not in document  # of a million cells, nearly all of them 0
    counted = [sum(codes[truth == 5, 0] == 5), sum(truth == 5)]
    assert keyed.accuracy["1"][5] == Fraction(*map(int, counted))
    assert keyed.confusion["1"][5][6] == Fraction(int(sum(codes[truth == 5, 0] == 6)), int(counted[1]))


def test_by_a_key_ordered_levels_are_off_by_what_they_are() -> None:
    votes = Votes.from_matrix([[1, 2], [2, 3], [3, 3], [2, 2]], jurors=["ann", "bob"], scale="ordinal")
    keyed = score_labels(votes, [1, 2, 3, 3])
    assert keyed.ordered is not None
    assert keyed.ordered.mean_error == {"ann": 0.25, "bob": 0.75}
    assert keyed.ordered.bias == {"ann": -0.25, "bob": 0.25}
    assert keyed.to_dict()["ordered"]["bias"]["bob"] == 0.25
    assert "+0.25 lenient" in str(keyed)
    assert score_labels(replace(votes, scale="nominal"), [1, 2, 3, 3]).ordered is None


# -- The short card: the answer first, in 80 columns --------------------------------------------------


FEW = {name: count // 40 for name, count in TABLE1.items()}
LONG = "openrouter/anthropic/claude-sonnet-4.5-20250929:temperature=0.7:judge-{}"


def trio(counts: dict[str, int] = TABLE1, **options: object) -> jurors.Evaluation:
    return jurors.grade(Sketch.from_counts(counts, jurors="ijk"), **options)  # type: ignore[arg-type]


def panel(width: int, labels: tuple[Label, ...], *, density: float = 1.0, seed: int = 0, **options: Any) -> Votes:
    """400 items and jurors with long names."""
    rng, size = np.random.default_rng(seed), len(labels)
    truth = rng.integers(0, size, 400)
    wrong = (truth[:, None] + rng.integers(1, size, (400, width))) % size
    codes = np.where(rng.random((400, width)) < rng.uniform(0.6, 0.9, width), truth[:, None], wrong)
    codes = np.where(rng.random(codes.shape) < density, codes, -1)
    return Votes.from_matrix(codes, labels=labels, jurors=[LONG.format(k) for k in range(width)], **options)


MANY = tuple(f"category number {k} of many" for k in range(8))


@pytest.mark.parametrize("labels", [("pass", "fail"), ("yes", "no", "unclear"), MANY], ids=len)
@pytest.mark.parametrize("width", [3, 5, 10, 20, pytest.param(200, marks=pytest.mark.slow)])
def test_a_card_fits_the_terminal(width: int, labels: tuple[str, ...]) -> None:
    votes = panel(width, labels, density=0.1 if width > 20 else 1.0)
    graded = jurors.grade(votes)
    noisy = replace(graded, alarms=(Alarm("weak_pair", "warning", "agree hardly " * 20, None, votes.jurors[:2]),) * 9)
    keyed = jurors.score(votes, np.zeros(400, dtype=int).tolist() if width > 20 else [labels[0]] * 400)
    for card in (graded, noisy, keyed):
        lines = card.to_text().splitlines()
        assert max(map(len, lines)) <= 80
        assert len(lines) <= {3: 24, 5: 24, 10: 28}.get(width, 60)
    assert "agree hardly agree" in " ".join(noisy.to_text().split())  # one alarm in any case
    assert len(graded.to_text(full=True).splitlines()) > width


def test_pass_and_fail_have_their_two_kinds_of_errors() -> None:
    votes = panel(5, ("fail", "pass"))
    result, keyed = jurors.grade(votes), jurors.score(votes, ["pass", "fail"] * 200)
    for card in (result, keyed):
        head = next(line for line in card.to_text().splitlines() if "accuracy" in line)
        assert head.split("  ")[-3:] == ["false fail", "false pass", "votes"]
    first = result.leaders[0]
    row = next(line for line in result.to_text().splitlines() if line.startswith(f"  {first[-7:]}"))
    assert f"{1 - result.accuracy[first]['fail']:.0%}" == row.split()[-2]  # false passes
    low, high = keyed.interval.accuracy[first]["fail"]
    lines = keyed.to_text(full=True).split("kappa")[-1].splitlines()
    row = next(line for line in lines if line.startswith(f"  {first[-7:]}"))
    assert row.endswith(f"{100 - 100 * high:.1f} – {100 - 100 * low:.1f}")


def test_pass_and_fail_beside_another_label_name_no_kind_of_error() -> None:
    labels = ("Pass", "fail", "pass")
    card = jurors.score(panel(3, labels), ["pass", "fail", "Pass", "pass"] * 100)
    for text in (card.to_text(), card.to_markdown()):
        assert "false" not in text
        assert all(text.count(f"on {label}") == 1 for label in labels)


@pytest.mark.parametrize(("patterns", "has_bound"), [(4, True), (40, False)])
def test_the_best_rule_is_shown_only_where_items_share_their_votes(patterns: int, has_bound: bool) -> None:
    codes = np.array([[k % patterns >> j & 1 for j in range(6)] for k in range(40)])
    keyed = jurors.score(codes, [k % 3 % 2 for k in range(40)])
    assert ("and no rule on these" in keyed.to_text()) == keyed.has_shared_votes == has_bound
    assert "no rule on these" not in jurors.score(codes, codes[:, 0].tolist()).to_text()  # none is below 0%


def test_levels_print_as_whole_numbers() -> None:
    text = jurors.grade(panel(5, (1.0, 2.0, 3.0), scale="ordinal")).to_text(full=True)
    assert "levels 1 < 2 < 3\n" in text
    assert " on 1 " in text
    assert "on 1.0" not in text


def test_the_headline_and_the_first_row_name_the_same_juror() -> None:
    for seed in range(6):
        result = jurors.grade(panel(5, ("yes", "no"), seed=seed))
        lines = result.to_text().splitlines()
        first = lines[next(k for k, line in enumerate(lines) if line.startswith("  juror")) + 1].split()[0]
        headline = next(line for line in lines if "best:" in line.casefold())
        named = f"any of the {len(result.jurors)} may be" if len(result.leaders) == len(result.jurors) else first
        assert headline.split("best: ")[1].startswith(named)
        assert result.leaders[0].endswith(first)


def test_jurors_are_sorted_by_rank_or_by_the_estimate_and_charts_have_the_order_of_the_card() -> None:
    pytest.importorskip("altair")
    votes = panel(8, ("yes", "no"), seed=3)
    votes.codes[40:, 0] = -1  # one juror is known less well than the others
    result, key = jurors.grade(votes), dict(enumerate(jurors.label(votes).label.tolist()))
    both: tuple[Any, ...] = (result, jurors.score(votes, key))
    for graded in both:
        low = {j: graded.interval.score[j][0] for j in graded.jurors}
        value = dict(graded.score if graded is result else graded.solution.to_float().score)
        by_name, orders = {short: j for j, short in short_names(graded.jurors).items()}, {}
        for order in ("rank", "accuracy"):
            table = next(x for x in graded.to_text(sort=order).split("\n\n") if x.startswith("  juror"))
            orders[order] = [by_name[line.split()[0]] for line in table.splitlines()[1:]]
        assert orders["accuracy"] == sorted(value, key=lambda j: -value[j])
        assert orders["rank"] == in_rank_order(graded, graded.jurors) == sorted(low, key=lambda j: -low[j])
        assert orders["rank"] != orders["accuracy"]


def test_long_names_lose_what_all_share_and_stay_distinct() -> None:
    names = [LONG.format(k) for k in range(12)]
    assert shorten_names(names, 16)[names[3]] == "judge-3"
    alike = [f"{'a' * 20}{k}{'b' * 20}" for k in range(3)]
    short = shorten_names([*alike, "c"], 16)
    assert len(set(short.values())) == 4
    assert max(map(len, short.values())) <= 16
    assert set(shorten_names(["x" * 40, "x" * 41], 16).values()) == {"xxxxxxx…xxxxxx#1", "xxxxxxx…xxxxxx#2"}


def test_jurors_lose_a_shared_beginning_in_what_people_read_and_options_take_both_names(tmp_path: Path) -> None:
    names = [f"worker-number-{k}" for k in (17, 4, 9, 23)]
    codes = panel(4, ("no", "yes")).codes
    path = tmp_path / "votes.csv"
    rows = [f"{item},{names[k]},{'ny'[code]}" for item, row in enumerate(codes.tolist()) for k, code in enumerate(row)]
    path.write_text("\n".join(["item,juror,label", *rows]) + "\n")
    result, page = jurors.grade(path), report_html(path, key={str(k): "y" for k in range(200)})
    numbers = result.plot().to_json() + jurors.agreement(path).plot().to_json()
    texts = [result.to_text(full=True), result.to_markdown(), jurors.agreement(path).to_text(), numbers]
    texts += [jurors.score(path, {str(k): "y" for k in range(200)}).to_text(full=True)]
    texts += [re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)]
    assert not any("worker-number" in text for text in texts)
    assert set(result.score) == set(result.to_frame()["juror"]) == set(result.to_dict()["jurors"]) == set(names)
    for name in ("17", "worker-number-17"):
        assert names[0] not in jurors.grade(path, drop=[name]).jurors
        assert jurors.check(result, min_score=[f"{name}:0.1"]).gates[0].outcome == "pass"
        related = jurors.grade(path, family={"w": [name, "4"]}).family
        assert related is not None
        assert related.families == {"w": (names[0], names[1])}


@pytest.mark.parametrize(
    ("names", "short"),
    [
        (("model_graded_qa:openai/a", "model_graded_qa:google/b"), ("openai/a", "google/b")),
        (("gpt-4o-2024-08-06", "gpt-4o-2024-11-20"), ("gpt-4o-2024-08-06", "gpt-4o-2024-11-20")),
        (("claude-sonnet-4-5", "claude-sonnet-4-6"), ("claude-sonnet-4-5", "claude-sonnet-4-6")),
        (("qa:", "qa:b"), ("qa:", "qa:b")),  # nothing would be left of the first
        (("a/a/b", "a/b"), ("a/a/b", "a/b")),  # a/b would be two jurors
        (("judge_1", "judge_2"), ("judge_1", "judge_2")),
    ],
)
def test_only_a_beginning_that_ends_at_a_separator_and_is_no_part_of_a_name_is_left_out(
    names: tuple[str, ...], short: tuple[str, ...]
) -> None:
    assert tuple(short_names(names).values()) == short


def test_the_last_line_says_what_a_few_gold_labels_would_gain() -> None:
    result = jurors.grade(panel(5, ("yes", "no")))
    assert result.calibrated is not None
    now = jurors.panels(panel(5, ("yes", "no"))).whole.half_width  # one meaning of ±
    predicted = result.calibrated.with_gold(20)
    assert predicted is not None
    gain = f"mean ± {now * 100:.0f} becomes ± {np.mean(list(predicted.values())) * 100:.0f}."
    text = " ".join(result.to_text().split())
    assert text.endswith(f"Next: label 20 items (jurors audit plan FILE -n 20): {gain}")
    assert "Next: label 20 items (jurors audit plan FILE -n 20): " in result.to_text(full=True)
    votes = panel(5, ("yes", "no"))
    again = " ".join(jurors.grade(votes, gold=["yes", "no"] * 5 + [None] * 390).to_text().split())
    assert "Next: label 20 more items (jurors audit plan FILE -n 20 --after SHEET): mean ±" in again
    assert not trio().leaders
    assert "Next: label 20 items" in trio().to_text()  # also where no juror leads
    assert "Next" not in trio({name: max(count // 1000, 1) for name, count in TABLE1.items()}).to_text()


def test_csv_has_a_row_per_juror() -> None:
    result = trio()
    rows = list(csv.DictReader(io.StringIO(result.to_csv())))
    by_label = [f"accuracy_{label}{end}" for label in "AB" for end in ("", "_low", "_high")]
    assert list(rows[0]) == ["juror", "score", "low", "high", "votes", *by_label]
    assert [row["juror"] for row in rows] == ["i", "j", "k"]
    assert float(rows[0]["score"]) == result.score["i"]
    assert float(rows[1]["accuracy_A"]) == result.accuracy["j"]["A"]
    assert (float(rows[2]["low"]), float(rows[2]["high"])) == result.interval_of("score", "k")


def test_in_markdown_a_folded_sentence_is_one_point() -> None:
    result = jurors.grade(panel(4, ("yes", "no", "unclear")))
    points = [line for line in result.to_markdown().splitlines() if line.startswith("- ")]
    assert all(line.endswith((".", "…")) for line in points)


def test_more_gold_is_predicted_to_narrow_intervals_more() -> None:
    real = trio(FEW).calibrated
    assert real is not None
    widths = [real.with_gold(size) for size in (1, 20, 100)]
    halves = [max(width.values()) for width in widths if width is not None]
    low, high = real.interval["score"]["i"]
    assert halves == sorted(halves, reverse=True)
    assert halves[-1] < (high - low) / 2


def test_the_predicted_width_is_about_the_one_that_gold_gives() -> None:
    random = np.random.default_rng(3)
    truth = random.random(400) < 0.4
    right = random.random((400, 7)) < np.linspace(0.65, 0.9, 7)
    votes = Votes.from_matrix(np.where(right, truth[:, None], ~truth[:, None]).astype(int))
    blind = jurors.grade(votes).calibrated
    gold = {str(k): int(truth[k]) for k in random.choice(400, 40, replace=False)}
    seen = jurors.grade(votes, gold=gold).calibrated
    assert blind is not None
    assert seen is not None
    predicted = blind.with_gold(40)
    assert predicted is not None
    drawn = [(high - low) / 2 for low, high in seen.interval["score"].values()]
    assert np.mean(list(predicted.values())) == pytest.approx(np.mean(drawn), abs=0.05)


# -- Who leads ------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_judge_that_passes_bad_answers_is_never_best() -> None:
    """At 92% prevalence such a judge is nearly always right."""
    passes = np.array([[0.2, 0.25, 0.3, 0.2, 0.9], [0.93, 0.9, 0.95, 0.88, 0.99]])  # by true label
    highest, others = 0, 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        truth = (rng.random(480) < 0.92).astype(int)
        codes = (rng.random((480, 5)) < passes[truth]).astype(int)
        result = jurors.grade(Votes.from_matrix(codes, labels=("fail", "pass"), jurors="abcde"))
        assert "e" not in (result.best, *result.leaders)
        assert result.leaders
        highest += max(result.score, key=result.score.__getitem__) == "e"
        unranked = result.to_text().splitlines()[-2].removeprefix("Not ranked: ").split(" (")[0].split(", ")
        assert "e" in unranked
        others += len(unranked) - 1
    assert others <= 2  # of 80 that tell good answers from bad
    assert highest  # by its score alone it would lead now and then


@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.02, 0.05]), st.integers(1, 6), st.floats(0.5, 0.97))
@examples(10)
def test_neither_constant_jurors_nor_a_handful_of_votes_are_best(
    seed: int, noise: float, votes: int, prevalence: float
) -> None:
    rng = np.random.default_rng(seed)
    truth = (rng.random(150) < prevalence).astype(int)
    codes = np.where(rng.random((150, 4)) < [0.85, 0.8, 0.75, 0.9], truth[:, None], 1 - truth[:, None])
    constant = np.where(rng.random(150) < noise, rng.integers(0, 2, 150), 1)
    rare = np.full(150, -1)
    rare[:votes] = truth[:votes]
    names = ("a", "b", "c", "d", "constant", "rare")
    result = jurors.grade(Votes.from_matrix(np.column_stack([codes, constant, rare]), labels=(0, 1), jurors=names))
    assert not {"constant", "rare"} & {result.best, *result.leaders}
    shown, _ = shown_jurors(result, CardOptions())
    assert shown[: len(result.ranking.ranked)] == list(result.ranking.ranked)


@pytest.mark.parametrize("full", [False, True])
def test_a_card_of_a_crowd_shows_the_worst_and_names_who_is_not_ranked_and_why(full: bool) -> None:
    result = jurors.grade(crowd())
    shown, left = shown_jurors(result, CardOptions())
    assert (shown[:10], left) == (list(result.ranking.ranked[:10]), 20)
    assert shown[10:] == [j for j in result.ranking.order if j != "new"][-10:]
    assert {"fixed", "off"} <= set(shown[10:])
    text = " ".join(result.to_text(full=full).split())
    assert "Not ranked: fixed (one label only); off (no clear agreement with the others); new (too few votes)." in text
    assert not {"fixed", "off", "new"} & {result.best, *result.leaders}


def test_the_best_is_named_by_distances_which_are_known_better_than_scores() -> None:
    codes, _ = coins(1_500, [0.99, 0.75, 0.75, 0.75, 0.75], seed=2)
    votes = Votes.from_matrix(codes, labels=(0, 1), jurors="abcde")
    result = jurors.grade(votes)
    assert result.interval_of("score", "a")[0] < result.interval_of("score", "b")[1]  # the intervals overlap
    assert (result.best, result.leaders) == ("a", ("a",))
    assert jurors.grade(votes.take("bcde")).best is None


@pytest.mark.parametrize("gold", [0, 40])
def test_a_full_card_says_who_would_lead_without_whom(gold: int) -> None:
    rng = np.random.default_rng(1)
    truth, shared = rng.integers(0, 2, 480), rng.random(480) < 0.14
    errors = [shared | (rng.random(480) < x) for x in (0.02, 0.05)] + [rng.random(480) < x for x in (0.1, 0.28, 0.32)]
    votes = Votes.from_matrix(truth[:, None] ^ np.column_stack(errors), labels=(0, 1), jurors="abcde", items=range(480))
    known = dict(enumerate(truth[:gold].tolist())) or None
    result = jurors.grade(votes, gold=known)
    assert "leaders_without" not in result.to_dict()  # grading without full takes no longer
    assert "would lead" not in result.to_text()
    found = {x.without: x.leader for x in result.leaders_without}
    assert set(found) == {*((j,) for j in "abcde"), ("a", "b")}
    for out, leader in found.items():
        alone = jurors.grade(votes.take([j for j in "abcde" if j not in out]), gold=known)
        assert alone.ranking.ranked[0] == leader
    assert result.to_dict()["leaders_without"][0] == {"without": ["a"], "leader": found["a",]}
    assert gold or "Without a or b, c would lead." in result.to_text(full=True)


@pytest.mark.parametrize("options", [{}, {"errors": "independent"}, {"errors": "independent", "target": "population"}])
def test_one_vote_says_next_to_nothing(options: dict[str, Any]) -> None:
    codes, truth = coins(300, [0.9] * 7, seed=1)
    codes[:, 6] = -1
    codes[0] = truth[0]
    votes = Votes.from_matrix(codes, labels=(0, 1), items=range(300))
    low, high = jurors.grade(votes, **options).interval_of("score", "7")
    assert low < 0.3
    assert high == 1
    low, high = score_labels(votes, dict(enumerate(truth.tolist()))).interval.score["7"]
    assert low < 0.3


def test_without_intervals_there_is_no_best() -> None:
    result = trio()
    bare = rank_jurors(replace(result, calibration=None, independent=replace(result.independent, interval=None)))
    assert bare.best is None
    assert set(bare.leaders) == set("ijk")


def test_rows_of_a_crowd_are_looked_up_and_not_searched() -> None:
    class Ranked(list[int]):
        passes = 0

        def __iter__(self) -> Iterator[int]:
            self.passes += 1
            return super().__iter__()

    ranked = Ranked(range(900))
    assert select_rows(range(1000), CardOptions(top=1), ranked) == [0, 899]
    assert ranked.passes == 1
