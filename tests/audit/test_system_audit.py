"""An audit by system: one random order of the questions, and what its labels prove about rates and differences."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import jurors
from jurors.audit import SystemAudit, plan, read_sheet, result, systems
from jurors.audit.system_design import SystemDesign
from jurors.cli.main import main
from jurors.errors import JurorsError, OptionError, VotesError

pytestmark = pytest.mark.slow

GOOD = (0.8, 0.75, 0.3)


def _case(seed: int, questions: int = 60, spread: float = 1.5) -> tuple[Any, list[str], dict[str, str], Any]:
    """Three systems on the same questions, which are hard for all or for none: votes, systems, key, true rates."""
    random = np.random.default_rng(seed)
    hard = random.normal(size=questions) * spread
    rates = np.log(np.array(GOOD) / (1 - np.array(GOOD)))[:, None] - hard
    truth = (random.random((3, questions)) < 1 / (1 + np.exp(-rates))).ravel()
    votes = np.where((random.random((len(truth), 3)) < 0.85) == truth[:, None], "pass", "fail")
    items = [f"s{k}/q{q}" for k in range(3) for q in range(questions)]
    by, key = [item[:2] for item in items], dict(zip(items, np.where(truth, "pass", "fail").tolist(), strict=True))
    return jurors.Votes.from_matrix(votes, items=items), by, key, truth.reshape(3, -1).mean(axis=1)


VOTES, BY, KEY, TRUE = _case(0)


def _answered(sheet: Any, key: dict[str, str] = KEY) -> Any:
    return replace(sheet, labels=tuple(key[item] for item in sheet.items))


def test_close_systems_are_drawn_more_and_on_the_same_questions_whatever_the_order_of_rows() -> None:
    sheet = plan(VOTES, 60, by=BY, seed=3)
    drawn = {name: {item[3:] for item in sheet.items if item.startswith(name)} for name in ("s0", "s1", "s2")}
    assert len(drawn["s0"] ^ drawn["s1"]) <= 1
    assert len(drawn["s0"]) > 2 * len(drawn["s2"]) > 0
    assert drawn["s2"] < drawn["s0"] | drawn["s1"]
    whole = plan(VOTES, 45, by=BY, seed=3)
    assert whole.items + plan(VOTES, 15, by=BY, after=whole).items == sheet.items
    order = np.random.default_rng(1).permutation(180)
    again = jurors.Votes.from_matrix(VOTES.codes[order], items=VOTES.item_names()[order], labels=VOTES.labels)
    assert plan(again, 60, by=[BY[k] for k in order], seed=3).items == sheet.items
    assert sorted(plan(VOTES, 500, by=BY, seed=3).items) == sorted(KEY)


def test_every_order_of_the_questions_is_as_likely() -> None:
    design = SystemDesign.of(VOTES, BY)
    first = [next(iter(design.order(seed)))[0] % 60 for seed in range(3000)]
    counts = np.bincount(first, minlength=60)
    assert ((counts - 50) ** 2 / 50).sum() < 110  # chi-square with 59 degrees of freedom


def test_all_rates_and_all_differences_hold_at_once_at_every_look() -> None:
    """At a level of 80%, 3 of 12 audits may miss, and by chance 3 more."""
    draws: dict[str, Any] = {"by system": {"by"}, "not by system": set(), "between": {"by", "between"}}
    missed = {name: [0, 0] for name in draws}
    for seed in range(12):
        votes, by, key, true = _case(seed, questions=40)
        of: dict[str, Any] = {"by": by, "between": ("s0", "s1")}
        for name, given in draws.items():
            sheet = _answered(plan(votes, 60, seed=seed, **{option: of[option] for option in given}), key)
            bad = np.zeros(2, dtype=bool)
            for labelled in (20, 60):
                labels = sheet.labels[:labelled] + (None,) * (60 - labelled)
                audit = systems(votes, replace(sheet, labels=labels), by=by, good="pass", level=0.8)
                bad[0] |= any(not x.low <= true[int(s[1])] <= x.high for s, x in audit.systems.items())
                gaps = [(d, true[int(d.a[1])] - true[int(d.b[1])]) for d in audit.differences]
                bad[1] |= any(not d.low - 1e-9 <= gap <= d.high + 1e-9 for d, gap in gaps)
            missed[name] = [n + int(b) for n, b in zip(missed[name], bad, strict=True)]
    assert max(max(counts) for counts in missed.values()) <= 3 + 3


def test_pairs_on_the_same_questions_prove_an_order_with_fewer_labels() -> None:
    """Two systems, judges that know nothing: what makes questions hard cancels."""
    widths = []
    for seed in range(3):
        random = np.random.default_rng(seed)
        hard = random.random(100)
        truth = np.concatenate([hard < 0.6, hard < 0.5])  # a question that one passes, the other mostly passes too
        votes = np.where(random.random((200, 3)) < 0.5, "pass", "fail")
        items = [f"{name}{q}" for name in "ab" for q in range(100)]
        table = jurors.Votes.from_matrix(votes, items=items)
        by, key = [item[0] for item in items], dict(zip(items, np.where(truth, "pass", "fail"), strict=True))
        for groups in (by, None):
            audit = systems(table, _answered(plan(table, 100, seed=seed, by=groups), key), by=by)
            widths.append(audit.differences[0].high - audit.differences[0].low)
    assert np.mean(widths[::2]) < 0.7 * np.mean(widths[1::2])


def test_all_items_labelled_prove_everything_and_a_missing_label_is_the_worst_case() -> None:
    sheet = _answered(plan(VOTES, 180, by=BY, seed=0))
    audit = systems(VOTES, sheet, by=BY)
    for name, rate in audit.systems.items():
        assert rate.low == pytest.approx(TRUE[int(name[1])]) == pytest.approx(rate.high)
    assert audit.passed
    assert audit.ranking == (("s0",), ("s1",), ("s2",))
    assert "you can stop labelling" in audit.to_text()
    gap = systems(VOTES, replace(sheet, labels=(None, *sheet.labels[1:])), by=BY)
    assert gap.gaps == 1
    name = sheet.items[0][:2]
    assert gap.systems[name].high - gap.systems[name].low == pytest.approx(1 / 60)


def test_a_difference_is_no_wider_than_by_a_third_system() -> None:
    audit = systems(VOTES, _answered(plan(VOTES, 90, by=BY, seed=1)), by=BY)
    ends = {(d.a, d.b): d.low for d in audit.differences} | {(d.b, d.a): -d.high for d in audit.differences}
    for a, b in combinations(("s0", "s1", "s2"), 2):
        (c,) = {"s0", "s1", "s2"} - {a, b}
        assert ends[a, b] >= ends[a, c] + ends[c, b] - 1e-9


def test_a_sheet_is_refused_without_its_systems_or_with_others() -> None:
    sheet = _answered(plan(VOTES, 10, by=BY, seed=1))
    with pytest.raises(VotesError, match="drawn by system"):
        result(VOTES, sheet)
    with pytest.raises(VotesError, match="drawn from other votes"):
        systems(VOTES, sheet, by=BY[::-1])
    with pytest.raises(VotesError, match="the seed 2 draws other items"):
        systems(VOTES, replace(sheet, seed=(2,) * 10), by=BY)
    with pytest.raises(OptionError, match="continues with the seed"):
        plan(VOTES, 5, by=BY, after=sheet, seed=9)
    with pytest.raises(JurorsError, match="at least two systems"):
        plan(VOTES, 5, by=["one"] * 180)
    for between, message in (("s0", "s3"), "no system 's3'"), (("s0", "s0"), "needs two systems, got s0, s0"):
        with pytest.raises(OptionError, match=message):
            plan(VOTES, 5, by=BY, between=between)
    with pytest.raises(OptionError, match="name the system of each item, too"):
        plan(VOTES, 5, between=("s0", "s1"))


def test_a_draw_between_two_systems_goes_on_and_is_read_without_naming_them() -> None:
    first = plan(VOTES, 1, by=BY, between=("s1", "s0"), seed=3)
    sheet = plan(VOTES, 40, by=BY, between=("s0", "s1"), seed=3)
    assert {item[:2] for item in sheet.items} == {"s0", "s1"}
    for between in ((), ("s0", "s1")):  # a sheet of one item shows one of the two only
        assert first.items + plan(VOTES, 39, by=BY, between=between, after=first).items == sheet.items
    audit = systems(VOTES, _answered(sheet), by=BY)
    assert (list(audit.systems), audit.items, audit.labelled) == (["s0", "s1"], 120, 40)
    (d,) = audit.differences
    assert d.paired
    wider = systems(VOTES, _answered(plan(VOTES, 40, by=BY, seed=3)), by=BY)
    assert d.high - d.low < min(w.high - w.low for w in wider.differences if {w.a, w.b} == {"s0", "s1"})
    with pytest.raises(VotesError, match="drawn from other votes"):
        plan(VOTES, 5, by=BY, between=("s0", "s2"), after=sheet)


def test_the_command_draws_by_system_and_exits_by_the_order(tmp_path: Path) -> None:
    votes, sheet = tmp_path / "votes.csv", tmp_path / "sheet.csv"
    names = VOTES.labels
    with votes.open("w") as file:
        file.write("question,model,answer,a,b,c\n")
        for k, item in enumerate(VOTES.item_names().tolist()):
            given = ",".join(names[code] for code in VOTES.codes[k])
            file.write(f"{item[3:]},{item[:2]},answer of {item},{given}\n")

    def run(*arguments: object) -> tuple[int, str]:
        ran = CliRunner().invoke(main, ["audit", *map(str, arguments)])
        return ran.exit_code, ran.output

    two = tmp_path / "two.csv"
    assert run("plan", votes, "--system", "model", "--between", "s0,s1", "--text", "answer", "-o", two)[0] == 0
    assert {row["answer"][10:12] for row in csv.DictReader(two.read_text().splitlines())} == {"s0", "s1"}
    assert run("plan", votes, "--between", "s0,s1")[0] == 2
    status, printed = run("plan", votes, "--system", "model", "--text", "answer", "-n", 170, "-o", sheet)
    assert (status, "--system model --answers" in printed) == (0, True)
    rows = list(csv.DictReader(sheet.read_text().splitlines()))
    for row in rows:
        item = row["answer"].removeprefix("answer of ")
        row["label"] = KEY[item]
    labelled = [rows, [{**row, "label": "" if k > 20 else row["label"]} for k, row in enumerate(rows)]]
    for some, expected in zip(labelled, (0, 3), strict=True):
        with sheet.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(some)
        status, printed = run(
            "result", votes, "--system", "model", "--answers", sheet, "--until", "order", "--format", "json"
        )
        assert (status, json.loads(printed)["passed"]) == (expected, expected == 0)
    assert run("result", votes, "--system", "model", "--answers", sheet, "--until", "score:a >= 0.5")[0] == 2
    assert len(read_sheet(str(sheet))) == 170
    assert isinstance(systems(str(votes), str(sheet), by="model"), SystemAudit)
