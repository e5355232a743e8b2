"""Grades, labels and scores by group are those of each group's own votes, and say what they could not do."""

from __future__ import annotations

from typing import Any, cast
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import polars as pl
import pytest
from panels import crowd

import jurors
from jurors.errors import JurorsError, SketchError, VotesError
from jurors.jury.groups import ByGroup, label_by
from jurors.lab.simulate import simulate

NAMES = ("ann", "bob", "cy", "dee")


def grade_by(source: Any, by: Any, **options: Any) -> ByGroup[jurors.Evaluation]:
    return cast("Any", jurors.grade(source, by=by, **options))  # type: ignore[no-any-return]


def part(group: str, items: int, prevalence: Any, *, labels: str = "AB", seed: int = 0, **options: Any) -> pd.DataFrame:
    """One group of simulated votes, with their truth."""
    test = simulate(items, jurors=NAMES, labels=tuple(labels), prevalence=prevalence, seed=seed, **options)
    names = np.array([*labels, None], dtype=object)
    frame = pd.DataFrame(names[test.votes.codes], columns=list(NAMES))
    return frame.assign(item=[f"{group}{k}" for k in range(items)], sex=group, truth=names[test.truth])


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return pd.concat([part("f", 600, "0.7", seed=1), part("m", 500, "0.2", seed=2)], ignore_index=True)


def votes_of(table: pd.DataFrame) -> pd.DataFrame:
    return table.drop(columns="truth")


def alone(table: pd.DataFrame, group: str) -> pd.DataFrame:
    return votes_of(table[table.sex == group]).drop(columns="sex")


@pytest.mark.parametrize("method", ["auto", "dawid_skene", "majority"])
def test_each_group_is_graded_as_if_it_were_alone(table: pd.DataFrame, method: str) -> None:
    found = grade_by(votes_of(table), "sex", method=method)
    for group in ("f", "m"):
        assert found[group].to_dict() == jurors.grade(alone(table, group), method=method).to_dict()
    assert found.sizes == {"f": 600, "m": 500}
    assert repr(found) == "ByGroup('sex', 2 groups graded, 0 left out)"


@pytest.mark.slow
def test_a_label_of_one_group_is_no_label_of_another() -> None:
    """Nobody says C in group f; it must not get a prevalence there, nor an accuracy."""
    table = pd.concat([part("f", 400, "0.5"), part("m", 400, ["0.3", "0.3"], labels="ABC", accuracy="0.85")])
    found = grade_by(votes_of(table), "sex")
    female, male = found["f"], found["m"]
    assert isinstance(female, jurors.Evaluation)
    assert isinstance(male, jurors.Evaluation)
    assert female.labels == ("A", "B")
    assert male.labels == found.labels == ("A", "B", "C")
    told = {"scale_why": "the labels are words"}  # all groups are on one scale, by what the whole table shows
    assert found["f"].to_dict() == jurors.grade(alone(table, "f")).to_dict() | told
    assert "600" not in str(found)
    labelling, groups, _ = label_by(votes_of(table), "sex")
    for group in ("f", "m"):
        own = jurors.label(alone(table, group))
        assert (labelling.label[groups == group] == own.label).all()
        assert labelling.probability[groups == group] == pytest.approx(own.probability)
    right = labelling.label == table.truth.to_numpy()
    assert right.mean() > 0.85


@pytest.mark.slow
def test_engines_layouts_lists_and_mappings_give_the_same(table: pd.DataFrame) -> None:
    wide = votes_of(table)
    long = wide.melt(["item", "sex"], list(NAMES), "juror", "label")
    counts = wide.groupby([*NAMES, "sex"]).size().reset_index(name="count")
    wanted = grade_by(wide, "sex").to_dict()
    for source in (pl.from_pandas(wide), pl.from_pandas(wide).lazy(), long, pl.from_pandas(long).lazy(), counts):
        assert grade_by(source, "sex").to_dict() == wanted
    matrix = wide[list(NAMES)].to_numpy()
    for by in (table.sex, pl.Series("sex", table.sex.tolist())):
        assert grade_by(matrix, by, jurors=NAMES).to_dict() == wanted
    by_item = dict(zip(table["item"], table.sex, strict=True))
    for of, by in ((matrix, table.sex.tolist()), (wide.drop(columns="sex"), by_item)):
        named = {"jurors": NAMES} if of is matrix else {}
        assert grade_by(of, by, **named).to_dict() == wanted | {"by": "group"}


@pytest.mark.slow
def test_groups_dealt_like_cards_are_looked_at_once_each(table: pd.DataFrame) -> None:
    """Sparse votes: order and rows must not get mixed up."""
    sparse = table.sample(frac=1, random_state=0).reset_index(drop=True)
    sparse.loc[::3, "ann"] = None
    long = sparse.melt(["item", "sex", "truth"], list(NAMES), "juror", "label").dropna(subset="label")
    truths = dict(zip(sparse["item"], sparse.truth, strict=True))
    found = jurors.score(long[["item", "sex", "juror", "label"]], truths, by="sex")
    for group in ("f", "m"):
        own = sparse[sparse.sex == group]
        key = dict(zip(own["item"], own.truth, strict=True))
        assert found[group].to_dict() == jurors.score(votes_of(own).drop(columns="sex"), key).to_dict()
    many = table[:100].assign(sex=[f"g{k // 2}" for k in range(100)])
    each = jurors.score(votes_of(many), dict(zip(many["item"], many.truth, strict=True)), by="sex")
    assert (len(each), set(each.sizes.values())) == (50, {2})
    assert [alarm.value for alarm in each.alarms if alarm.reason == "small_group"] == [50]


@pytest.mark.slow
def test_gold_items_are_used_in_the_groups_they_are_in(table: pd.DataFrame) -> None:
    gold = dict(zip(table["item"][:60], table.truth[:60], strict=True))
    found = grade_by(votes_of(table), "sex", gold=gold)
    female, male = found["f"], found["m"]
    assert isinstance(female, jurors.Evaluation)
    assert isinstance(male, jurors.Evaluation)
    assert "gold" in female.details
    assert "gold" not in male.details
    labelling, groups, _ = label_by(votes_of(table), "sex", gold=gold)
    assert (labelling.label[:60] == table.truth[:60].to_numpy()).all()
    assert (labelling.probability[:60] == 1).all()
    own = jurors.label(alone(table, "m"))
    assert labelling.probability[groups == "m"] == pytest.approx(own.probability)
    with pytest.raises(VotesError, match=r"the true label 'a'\. Did you mean 'A'"):
        grade_by(votes_of(table), "sex", gold={"f0": "a"})


def test_a_gold_label_that_no_juror_gave_is_a_label() -> None:
    truth = np.arange(200) % 2
    rng = np.random.default_rng(5)
    votes = jurors.Votes.from_matrix(np.where(rng.random((200, 4)) < 0.8, truth[:, None], 1 - truth[:, None]))
    graded = jurors.grade(votes, gold={k: "rare" if k < 4 else int(truth[k]) for k in range(40)})
    words = jurors.Votes.from_matrix(np.array(["pass", "fail"])[votes.codes])
    with pytest.raises(VotesError, match=r"the true label 'fial'\. Did you mean 'fail'"):
        jurors.grade(words, gold={0: "pass", 1: "fial"})
    levels = [alarm.level for alarm in graded.alarms if alarm.kind == "rare_labels"]
    assert levels == ["warning"]
    low, high = graded.interval_of("prevalence", "rare")
    assert 0.02 <= low < graded.prevalence["rare"] < high  # four of forty
    assert [alarm.labels for alarm in graded.alarms if alarm.reason == "rare_labels"] == [("rare",)]


def test_labels_by_group_with_a_gold_label_that_no_juror_gave_and_gold_without_votes() -> None:
    rng, items = np.random.default_rng(5), 200
    truth = np.array(["no", "yes"])[np.arange(items) % 2]
    wrong = rng.random((items, 4)) < 0.2
    votes = jurors.Votes.from_matrix(np.where(wrong, truth[::-1, None], truth[:, None]))
    gold = {0: "maybe", 1: "yes", 2: "no", 3: "yes", 150: "no", 999: "yes"}
    labels = jurors.label(votes, by=["a", "b"] * 100, gold=gold)
    assert [labels.label[k] for k in gold if k < items] == ["maybe", "yes", "no", "yes", "no"]
    assert [labels.probability[k] for k in gold if k < items] == [1.0] * 5
    fitted = jurors.Jury(gold=gold)
    assert fitted.fit_predict(votes)[:4].tolist() == ["maybe", "yes", "no", "yes"]
    assert fitted.predict_proba(votes).shape == (items, 3)
    graded = jurors.grade(votes, gold=gold)
    for result in (labels, graded, jurors.grade(votes, by=["a", "b"] * 100, gold=gold)):
        [alarm] = [alarm for alarm in result.alarms if alarm.reason == "unvoted_gold"]
        assert alarm.message == "1 of 6 gold items has no votes and so no effect: 999"
    assert jurors.label(votes, evaluation=graded, gold=gold).labels == ("maybe", "no", "yes")
    # a method that cannot grade all items together: majority votes, and the gold label all the same
    votes = jurors.Votes.from_matrix(np.where(np.arange(items)[:, None] + [0, 100, 100, 100] < 100, -1, votes.codes))
    by_majority = jurors.label(votes, by=["a"] * 100 + ["b"] * 100, gold={0: 2, 1: 1, 2: 0}, method="algebraic")
    assert (by_majority.labels, by_majority.label[:3].tolist()) == ((0, 1, 2), [2, 1, 0])


def test_a_group_without_true_labels_is_left_out_of_the_scores(table: pd.DataFrame) -> None:
    key = dict(zip(table["item"][:300], table.truth[:300], strict=True))
    found = jurors.score(votes_of(table), key, by="sex")
    assert found.sizes["f"] == 300  # the items that have a true label
    assert found.left_out == {"m": "no item of the group has a true label"}


def test_items_outside_the_graded_groups_get_the_labels_of_all(table: pd.DataFrame) -> None:
    holes = votes_of(table)
    holes.loc[:99, "sex"] = None
    holes.loc[100:101, [*NAMES, "sex"]] = [*"AAAAx"]
    labelling, groups, graded = label_by(holes, "sex")
    together = jurors.label(holes.drop(columns="sex"))
    outside = np.array([group in (None, "x") for group in groups])
    assert outside.sum() == 102
    assert (labelling.label[outside] == together.label[outside]).all()
    kinds = {alarm.reason: alarm.message for alarm in labelling.alarms}
    assert kinds["no_group"].startswith("100 items have no group, so they get the labels of a grading of all")
    assert "group 'x' cannot be graded, so its items get the labels of a grading of all" in kinds["ungraded_group"]
    assert list(graded.left_out) == ["x"]
    left_out = {alarm.reason: alarm.message for alarm in grade_by(holes, "sex").alarms}
    assert left_out["no_group"] == "100 items have no group, and are left out"


def test_a_majority_fallback_in_a_group_is_told_by_label_too() -> None:
    odd = [[*said] for said in ("AAB", "ABA", "BAA", "BBA", "BAB", "ABB") for _ in range(40)]  # all pairs disagree
    fine = jurors.simulate(400, accuracy="0.85", seed=1)
    names = np.array(["A", "B"], dtype=object)
    rows = [*odd, *names[fine.votes.codes].tolist()]
    by = ["odd"] * len(odd) + ["fine"] * 400
    labelling, _, graded = label_by(rows, by, errors="independent")
    assert graded["odd"].independent.solution is None
    assert np.isnan(labelling.probability[: len(odd)]).all()
    assert any(alarm.reason == "majority_fallback" and "group 'odd'" in alarm.message for alarm in labelling.alarms)


def test_where_no_group_can_be_graded_one_line_says_why() -> None:
    rows = [[*"AAB"], [*"BAB"], [*"ABB"]]
    with pytest.raises(
        SketchError, match="none of the 3 groups can be graded; for example 'x': no two of 1, 2, 3 agree"
    ):
        grade_by(rows, ["x", "y", "z"])


def test_small_groups_come_with_a_warning_and_large_ones_without(table: pd.DataFrame) -> None:
    small = pd.concat([table, part("x", 120, "0.5", seed=9)], ignore_index=True)
    warned = [a.message for a in grade_by(votes_of(small), "sex").alarms if a.reason == "small_group"]
    assert warned == ["1 group has too few items for narrow intervals: 'x' (120)"]
    many = pd.concat([part(f"g{k}", 90, "0.5", seed=k) for k in range(5)], ignore_index=True)
    (alarm,) = (a for a in grade_by(votes_of(many), "sex").alarms if a.kind == "small_group")
    assert alarm.value == 5
    assert alarm.message.startswith("5 groups have too few items")
    assert alarm.message.endswith("'g0' (90), 'g1' (90), 'g2' (90) and 2 more")


def test_groups_of_a_crowd_show_best_and_worst_and_say_that_votes_per_juror_are_few() -> None:
    found: Any = jurors.grade(crowd(), by=np.arange(800) % 2)
    assert [a.message for a in found.alarms if a.reason == "small_group"] == [
        "2 groups have too few votes per juror for narrow intervals: 0 (from 1), 1 (from 1)"
    ]
    lines = found.to_text().splitlines()
    for evaluation, rows in zip(found.groups.values(), (lines[-38:-20], lines[-20:-2]), strict=True):
        shown = [row[16:25].strip() for row in rows]
        assert shown[:9] == list(evaluation.ranking.ranked[:9])
        assert shown[9:] == [j for j in evaluation.ranking.order if j != "new"][-9:]


@pytest.mark.slow
def test_groups_of_any_kind_keep_their_kind_and_a_natural_order(table: pd.DataFrame) -> None:
    votes = votes_of(table).drop(columns="sex")
    for names in ([2, 10, 1], [True, False], [0.5, 2.5], ["10", "9"]):
        by = [names[k % len(names)] for k in range(len(votes))]
        assert list(grade_by(votes, by).groups) == sorted(names, key=float)
    text = str(grade_by(votes, ["<b>,=\nü"] * len(votes)))
    assert "<b>,= ü" in text
    assert "&lt;b&gt;" in grade_by(votes, ["<b>"] * len(votes))._repr_html_()


@pytest.mark.parametrize(
    ("by", "options", "message"),
    [
        ("sax", {}, r"there is no column 'sax'. Did you mean 'sex'"),
        ("count", {}, r"column 'count' counts items"),
        (3, {}, r"one group per row or a mapping from item to group, not int"),
        (["a"], {}, r"by= has 1 groups, and the votes have 1,100 rows"),
        ([["a"]] * 1100, {}, r"which is not a single value"),
        ([None] * 1100, {}, r"no row has a group"),
        ("sex", {"trust": "eve"}, r"there is no juror 'eve'"),
        ("sex", {"method": "magic"}, r"there is no method 'magic'"),
        ("sex", {"level": 2}, r"level must lie between 0 and 1, got 2"),
        ("sex", {"banana": 1}, r"there is no option 'banana'"),
    ],
)
def test_what_cannot_be_grouped_is_said_in_one_line(table: pd.DataFrame, by: Any, options: Any, message: str) -> None:
    with pytest.raises(JurorsError, match=message) as raised:
        grade_by(votes_of(table), by, **options)
    assert "\n" not in str(raised.value)
    for source in (jurors.Votes.from_matrix([["A", "B"]]), jurors.Sketch.from_counts({("A", "B"): 1}), [["A"]]):
        with pytest.raises(VotesError, match="these votes have no column 'sex'"):
            grade_by(source, "sex")


# -- every verb ----------------------------------------------------------------------------------------------------


VERBS: dict[str, Any] = {
    "grade": jurors.grade,
    "compare": lambda votes, **options: jurors.compare(votes, methods=["latent", "majority"], **options),
    "agreement": jurors.agreement,
    "bounds": jurors.bounds,
    "inspect": jurors.inspect,
    "panels": jurors.panels,
    "check": lambda votes, **options: jurors.check(votes, min_score=0.6, **options),
}


@pytest.mark.parametrize("name", VERBS)
def test_every_verb_gives_each_group_the_result_of_its_own_votes(table: pd.DataFrame, name: str) -> None:
    call = VERBS[name]
    found = call(votes_of(table), by="sex")
    whole = {"f": alone(table, "f"), "m": alone(table, "m")}
    for group, own in whole.items():
        wanted = call(jurors.Votes.from_frame(own)).to_dict()
        assert found[group].to_dict() == wanted
        assert found.to_dict()["groups"][group] == {key: value for key, value in wanted.items() if key != "schema"}
    assert list(found.to_dict()["items"].values()) == [600, 500]
    lines = found.to_text().splitlines()
    assert max(map(len, lines)) <= 80
    assert len(lines) <= 60
    assert set(found.to_frame()["group"]) <= {"f", "m"}


def test_preferences_are_ranked_and_their_jurors_graded_by_group() -> None:
    rng = np.random.default_rng(3)
    names, sides = np.array([*"xyz"]), rng.permuted(np.tile([0, 1, 2], (300, 1)), axis=1)[:, :2]
    winner = names[np.where(rng.random(300) < 0.8, sides.min(axis=1), sides.max(axis=1))]
    left, right = names[sides].T
    pairs = pd.DataFrame({"left": left, "right": right, "winner": winner, "juror": ["ann", "bob", "cy"] * 100})
    pairs["topic"] = ["maths"] * 200 + ["law"] * 100
    maths = pairs[:200].drop(columns="topic")
    for verb in (jurors.rank, jurors.grade):
        found: Any = verb(pairs, by="topic")
        assert found["maths"].to_dict() == verb(maths).to_dict()
        assert found.sizes == {"law": 100, "maths": 200}
        assert max(map(len, found.to_text().splitlines())) <= 80
        by_answer: Any = verb(pairs.drop(columns="topic"), by=pairs.topic)
        assert by_answer.to_dict() == found.to_dict() | {"by": "group"}
        blank: Any = verb(pairs.assign(topic=pairs.topic.where(pairs.index > 9)), by="topic")
        assert blank.sizes == {"law": 100, "maths": 190}
        assert any(alarm.reason == "no_group" for alarm in blank.alarms)
    with pytest.raises(jurors.OptionError, match="check takes labels or numbers, and these are preferences"):
        jurors.check(maths)


def test_a_family_is_graded_in_a_group_where_one_of_its_members_never_voted(table: pd.DataFrame) -> None:
    votes = votes_of(table)
    absent = votes.assign(dee=votes.dee.where(votes.sex != "f"))
    found: Any = jurors.grade(absent, by="sex", family={"two": ["cy", "dee"]})
    assert found["m"].family is not None
    assert found["f"].family is None
    assert not found.left_out
    labels = jurors.label(absent, by="sex", family={"two": ["cy", "dee"]})
    assert not any(alarm.reason == "ungraded_group" for alarm in labels.alarms)


def test_groups_with_other_labels_have_empty_cells_in_the_frame() -> None:
    table = pd.concat([part("f", 300, "0.5"), part("m", 300, ["0.3", "0.3"], labels="ABC", accuracy="0.85")])
    frame = grade_by(votes_of(table), "sex").to_frame()
    assert frame.accuracy_C.isna().tolist() == [True] * 4 + [False] * 4


def test_a_check_by_group_is_as_bad_as_its_worst_group(table: pd.DataFrame) -> None:
    weak = part("x", 600, "0.5", accuracy="0.55", seed=4)
    votes = votes_of(pd.concat([table, weak], ignore_index=True))
    passed: Any = jurors.check(votes, by="sex", max_wrong=0.99)
    assert passed.passed is not any(a.level == "alarm" for a in passed.alarms)
    failed: Any = jurors.check(votes, by="sex", min_score={"ann": 0.99})
    assert not failed.passed
    assert failed.verdict.startswith("FAIL: 3 groups")
    assert {gate.outcome for of_group in failed.groups.values() for gate in of_group.gates} <= {"fail", "not known"}
    suites = ElementTree.fromstring(failed.to_junit())
    assert [suite.get("name") for suite in suites] == ["sex f", "sex m", "sex x"]
    absent = votes.assign(dee=votes.dee.where(votes.sex != "x"))
    unknown: Any = jurors.check(absent, by="sex", min_score={"dee": 0.01})
    assert list(unknown.left_out) == ["x"]
    assert not unknown.passed
    assert jurors.check(absent, by="sex", min_score={"dee": 0.01}, allow_unknown=True).passed


def test_a_check_by_groups_with_long_names_shows_a_group(table: pd.DataFrame) -> None:
    long_names = votes_of(table).assign(sex=[f"{sex} {'lorem ipsum ' * 50}" for sex in table.sex])
    failed: Any = jurors.check(long_names, by="sex", min_score=0.99, max_wrong=0.001)
    lines = failed.to_text().splitlines()
    assert "by sex: 2 groups, 4 jurors" in lines
    assert any(line.startswith("  f lorem") and " 600 " in line for line in lines)


def test_each_group_is_compared_with_the_same_group_of_the_baseline(table: pd.DataFrame) -> None:
    before = grade_by(votes_of(table), "sex")
    after: Any = jurors.check(votes_of(table), by="sex", baseline=before.to_dict(), max_drop=0.99)
    alone_after = jurors.check(alone(table, "m"), baseline=before["m"].to_dict(), max_drop=0.99)
    assert [gate.line for gate in after["m"].gates] == [gate.line for gate in alone_after.gates] != []
    with pytest.raises(jurors.OptionError, match="with the same groups"):
        jurors.check(votes_of(table), by="sex", baseline=before["m"].to_dict())
    with pytest.raises(jurors.OptionError, match="system= does not apply with by="):
        jurors.check(votes_of(table), by="sex", system="item")


def test_confidences_go_with_the_rows_of_their_group() -> None:
    names = list("abcd")
    frame = pd.DataFrame(np.array(["no", "yes"])[simulate(400, jurors=4, seed=3).votes.codes], columns=names)
    frame = frame.assign(**{f"{name}_confidence": np.repeat([0.95, 0.6], 200) for name in names})
    groups = cast("ByGroup[Any]", jurors.grade(frame, by=["sure"] * 200 + ["unsure"] * 200))
    assert [groups[name].confidence["a"].mean for name in ("sure", "unsure")] == pytest.approx([0.95, 0.6])
