"""With a key, the page goes by it: headline, order, labels to use, who errs with whom; an audit has its own section."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import panels
import pytest
from command_line import run
from report_pages import parse

import jurors
from jurors.errors import OptionError
from jurors.evaluate.card import percent, percent_range
from jurors.jury.compare import score_labels
from jurors.reporting.content import actions, ranking, verdict
from jurors.reporting.page import command_writer, report_html
from jurors.reporting.sections import tabs
from jurors.reporting.tables import find_findings, number_tables
from jurors.uncertainty.alarms import check_with_key
from jurors.votes.key import as_key


def _plain(text: Any) -> str:
    return re.sub(r"<[^>]*>", "", str(text))


def _graded(votes: Any, truth: Any) -> tuple[jurors.Evaluation, Any]:
    return jurors.grade(votes), score_labels(votes, truth)


def _sharing(items: int = 3_000, share: float = 0.5) -> tuple[Any, Any]:
    """Six of seven jurors copy the first on half of the items: their errors look like truth."""
    panel = panels.simulate(items, 7, seed=3)
    votes = panel.votes.copy()
    rng = np.random.default_rng(0)
    for k in range(1, 6):
        copied = rng.random(items) < share
        votes[copied, k] = votes[copied, 0]
    return votes, panel.truth


def test_a_key_that_contradicts_the_grades_makes_the_headline() -> None:
    votes, truth = _sharing()
    result, keyed = jurors.grade(votes, errors="independent"), score_labels(votes, truth)
    check = check_with_key(result, keyed)
    assert check is not None
    assert check.speaks_against
    found = verdict(result, keyed)
    assert "answer key contradicts" in found.headline
    assert found.tone == "alarm"
    assert "Contradicted by the answer key" in _plain(found.lines[0])


@pytest.mark.parametrize("seed", range(2))
def test_a_key_that_agrees_leaves_the_verdict_to_the_alarms(seed: int) -> None:
    panel = panels.simulate(2_000, 5, seed=seed)
    result, keyed = _graded(panel.votes, panel.truth)
    found = verdict(result, keyed)
    assert "contradict" not in found.headline
    assert found.headline == verdict(result).headline


def test_with_a_key_the_jurors_stand_in_the_order_of_their_actual_scores() -> None:
    result, keyed = _graded(*_sharing())
    actual = [row.actual for row in ranking(result, keyed) if row.actual is not None]
    assert actual == sorted(actual, reverse=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "labels"),
    [
        ("faces", "no difference beyond chance"),
        ("bluebirds", "Use the best labels"),
        ("triviaqa_judges_v1", "Use majority vote, not"),
    ],
)
def test_on_real_panels_the_key_is_heard(shared_data: Path, name: str, labels: str) -> None:
    votes = jurors.read_votes(shared_data / name / "votes.csv.gz")
    found = find_findings(votes, as_key(shared_data / name / "truth.csv.gz"))
    e, keyed = found.evaluation, found.keyed
    assert "answer key contradicts" not in verdict(e, keyed).headline  # calibrated intervals hold
    plain = replace(e, calibration=None)
    assert "answer key contradicts" in verdict(plain, keyed).headline
    advice = [_plain(one.text) for one in actions(e, found.labelling, command_writer("v.csv", {}), keyed=keyed)]
    assert labels in advice[0]
    assert "replace" not in " ".join(advice)
    advice = [_plain(one.text) for one in actions(plain, found.labelling, command_writer("v.csv", {}), keyed=keyed)]
    assert "least likely to be right" not in " ".join(advice)  # a review by probabilities that the key contradicts


def _audited(items: int = 120) -> tuple[jurors.Votes, jurors.audit.Sheet]:
    panel = panels.simulate(items, 4, seed=5)
    votes = jurors.Votes.from_matrix(panel.votes, items=[f"q{k}" for k in range(items)])
    sheet = jurors.audit.plan(votes, 25, seed=0)
    return votes, replace(sheet, labels=tuple(votes.labels[panel.truth[int(item[1:])]] for item in sheet.items))


def test_errors_among_the_least_certain_labels_are_part_of_the_total_in_the_sentence() -> None:
    panel = panels.simulate(150, 5, seed=1)
    gold = dict(enumerate(panel.truth[:20].tolist()))
    found = find_findings(jurors.Votes.from_matrix(panel.votes), None, gold=gold)
    (items,) = (x for tab in tabs(found) for x in tab.exhibits if x.id == "items")
    wrong = found.evaluation.wrong_labels
    assert wrong is not None
    assert items.finding == f"About {wrong:.1%} of 150 labels are wrong."
    assert found.comparison is not None
    tested = {x.gold and x.gold.items for x in found.comparison.evaluations}
    assert tested == {20}  # every method has the same gold
    assert "and uses the gold" in found.comparison.basis
    plain = find_findings(jurors.Votes.from_matrix(panel.votes))
    for one, card, page in (
        (plain, "of real pairs with that kappa", "that this suggests"),
        (found, "that kappa and gold suggest", "that this and gold suggest"),
    ):
        assert f"the error correlation {card}" in one.evaluation.to_text(full=True)
        (table,) = (x for x in number_tables(one) if x.id == "table-dependence")
        assert table.title.endswith(f"the error correlation {page}")
        (chart,) = (x for tab in tabs(one) for x in tab.exhibits if x.id == "dependence")
        assert ("which with gold suggests" in chart.finding) == (one is found)
    caught, share = re.search(r"about (\d+) of these errors \((\d+)%\)", " ".join(items.about)).groups()  # type: ignore[union-attr]
    assert float(caught) == pytest.approx(wrong * 150 * float(share) / 100, abs=1)


def test_commands_repeat_every_option_of_grading_where_the_command_takes_it(tmp_path: Path) -> None:
    path, gold = tmp_path / "v.csv", tmp_path / "g.csv"
    votes = panels.simulate(80, 4, seed=1).votes
    rows = [",".join([f"q{k}", *("ny"[x] for x in row)]) for k, row in enumerate(votes)]
    path.write_text("\n".join(["item,a,b,c,d", *rows]))
    gold.write_text("item,label\nq1,y\nq2,n\n")
    options = {
        "family": {"f": ["a", "b"]}, "level": 0.9, "seed": 3, "target": "population",
        "gold": str(gold), "exam": False,
    }  # fmt: skip
    write = command_writer(str(path), {"item": "item"}, options)
    flags = ["--family", "f=a,b", "--level", "0.9", "--seed", "3"]
    flags += ["--target", "population", "--gold", str(gold), "--item", "item"]
    for name in ("grade", "check", "label"):
        words = shlex.split(write(name))[1:]
        assert sorted(words) == sorted([name, str(path), *flags])
        assert run(*words).exit_code in (0, 3)
    assert write("convert") == f"jurors convert {path} --item item"


@pytest.mark.slow
def test_the_page_shows_what_an_audit_guarantees_beside_what_is_calibrated() -> None:
    votes, answered = _audited()
    html = report_html(votes, answers=answered)
    audit, page = jurors.audit.result(votes, answered), parse(html)
    assert (2, "What the audit proves") in page.headings
    shares = audit.guaranteed["score", "1"], (audit.calibrated or {})["score", "1"]
    cells = [cell for share in shares for cell in (percent(share.estimate), percent_range(share.interval))]
    assert page.tables["audit-score"][1] == ["1", *cells]
    assert [row[0] for row in page.tables["audit-wrong-labels"][1:]] == [
        n[1] for n in audit.guaranteed if "wrong" in n[0]
    ]
    assert json.loads(page.scripts["audited"][1]) == json.loads(audit.to_json())
    assert "They use 25 gold items" in html
    assert "They use no answer key" not in html


def test_gold_and_answers_at_once_are_refused() -> None:
    votes, answered = _audited(40)
    with pytest.raises(OptionError, match="give gold or answers, not both"):
        find_findings(votes, answers=answered, gold={"q1": votes.labels[0]})
