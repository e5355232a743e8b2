"""Every name has one value: text, JSON, frame, page, server, metrics, gates and labels show the same number."""

from __future__ import annotations

import json
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import jurors
from jurors.evaluate.evaluation import Evaluation
from jurors.jury.compare import compare
from jurors.reporting.page import report_html


def panel(size: int, labels: tuple[str, ...], items: int, seed: int) -> jurors.Votes:
    """Jurors of several accuracies, the last two of which share errors; some votes are missing."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, len(labels), items)
    other = (truth + rng.integers(1, len(labels), items)) % len(labels)
    shared = rng.random(items) < 0.2
    codes = []
    for j in range(size):
        is_wrong = rng.random(items) < 0.1 + 0.05 * j
        if j >= size - 2:
            is_wrong |= shared
        code = np.where(is_wrong, other, truth)
        codes.append(np.where(rng.random(items) < 0.05, -1, code))
    return jurors.Votes.from_matrix(
        np.stack(codes, axis=1), labels=labels, jurors=[f"judge-{chr(97 + j)}" for j in range(size)], scale="nominal"
    )


PANELS = {
    "three LLM judges": lambda: jurors.load_example("llm_graders")[0],
    "a trio": lambda: panel(3, ("pass", "fail"), 400, 1),
    "five judges": lambda: panel(5, ("pass", "fail"), 480, 2),
    "three labels": lambda: panel(6, ("a", "b", "c"), 300, 3),
    "many jurors": lambda: panel(24, ("no", "yes"), 200, 4),
}


@pytest.fixture(scope="module", params=PANELS)
def votes(request: pytest.FixtureRequest) -> jurors.Votes:
    return PANELS[request.param]()


@pytest.fixture(scope="module")
def result(votes: jurors.Votes) -> Evaluation:
    return jurors.grade(votes)


def test_json_and_frame_have_the_numbers_of_the_result(result: Evaluation) -> None:
    document, frame = json.loads(result.to_json()), result.to_frame().set_index("juror")
    assert document["schema"] == "jurors.grade/2"
    for juror in result.jurors:
        low, high = result.interval_of("score", juror)
        assert document["score"][juror] == result.score[juror] == frame.score[juror]
        assert document["interval"]["score"][juror] == [low, high] == [frame.low[juror], frame.high[juror]]
        assert document["votes"][juror] == result.votes[juror] == frame.votes[juror]
        for label in result.labels:
            accuracy = result.accuracy[juror][label]
            assert document["accuracy"][juror][label] == accuracy == frame[f"accuracy_{label}"][juror]
    assert document["prevalence"] == dict(result.prevalence)
    assert document["wrong_labels"] == result.wrong_labels
    assert (document["best"], document["leaders"]) == (result.best, list(result.leaders))
    assert document["independent"]["score"] == dict(result.independent.score)


@pytest.mark.parametrize("options", [{}, {"full": True}])
def test_the_card_shows_the_scores_of_the_result(result: Evaluation, options: dict[str, Any]) -> None:
    text = result.to_text(**options)
    (table,) = [block for block in text.split("\n\n") if block.startswith("  juror") and "votes" in block]
    shown = dict(re.findall(r"^  (judge-\w|[A-Z][\w-]+(?: Pro)?) +(\d+)(?:\.\d)?%", table, re.M))
    assert shown, text
    for juror, score in shown.items():
        assert abs(int(score) - 100 * result.score[juror]) <= 1, (juror, text)
    assert f"about {result.wrong_labels:.0%} are wrong" in text


def test_labels_have_the_expected_share_of_wrong_ones(votes: jurors.Votes, result: Evaluation) -> None:
    labels = jurors.label(votes)
    assert labels.wrong_labels == pytest.approx(result.wrong_labels, abs=1e-6)
    assert jurors.label(votes, evaluation=result).wrong_labels == pytest.approx(result.wrong_labels, abs=1e-6)
    frame = labels.to_frame()
    wrong = np.average(1 - frame.probability, weights=votes.counts)
    assert wrong == pytest.approx(result.wrong_labels, abs=1e-6)


@pytest.fixture(scope="module")
def with_gold() -> tuple[jurors.Votes, dict[int, str], Evaluation]:
    """Five judges, and the true labels of 40 items, on which the best labels are wrong more often than expected."""
    votes = panel(5, ("pass", "fail"), 480, 2)
    is_pass = (jurors.label(votes).label[:40] == "pass") ^ (np.arange(40) % 4 == 0)
    gold = dict(enumerate(np.where(is_pass, "pass", "fail").tolist()))
    return votes, gold, jurors.grade(votes, gold=gold)


def test_with_gold_there_is_one_expected_share_of_wrong_labels(
    with_gold: tuple[jurors.Votes, dict[int, str], Evaluation], tmp_path: Path
) -> None:
    votes, gold, result = with_gold
    wrong = result.wrong_labels
    assert wrong is not None
    labels = jurors.label(votes, evaluation=result, gold=gold)
    assert float(np.mean(1 - labels.probability)) != pytest.approx(wrong, abs=0.002)  # so only one can be printed
    assert labels.wrong_labels == jurors.label(votes, gold=gold).wrong_labels == wrong
    assert json.loads(labels.to_json())["wrong_labels"] == wrong == json.loads(result.to_json())["wrong_labels"]
    assert f"{wrong:.1%} of the labels wrong" in repr(labels)
    groups = jurors.label(votes, gold=gold, by=["one"] * votes.rows)
    assert groups.wrong_labels == pytest.approx(wrong)
    with pytest.raises(jurors.OptionError, match="graded with other gold items"):
        jurors.label(votes, evaluation=result)
    assert jurors.check(votes, gold=gold, max_wrong=0.5).gates[-1].value == wrong
    page = re.sub(r"<[^>]*>", "", report_html(votes, gold=gold)) if find_spec("altair") else result.to_text()
    shares = re.findall(r"([\d.]+)%(?:\)| of [\d,]+ labels)? (?:are wrong|of the labels)", page)
    shares += re.findall(r"labels are wrong \(([\d.]+)%\)", page)
    assert shares, page
    for share in shares:
        assert abs(float(share) / 100 - wrong) <= (0.0005 if "." in share else 0.005), shares


def test_the_estimator_gives_the_probabilities_of_label(votes: jurors.Votes) -> None:
    if votes.counts is not None:
        votes = jurors.Votes.from_matrix(votes.codes.repeat(votes.counts, axis=0), labels=votes.labels, scale="nominal")
    names = np.array([*votes.labels, None], dtype=object)
    X = names[votes.codes]
    jury, labels = jurors.Jury(labels=votes.labels).fit(X), jurors.label(votes)
    assert jury.predict_proba(X).max(axis=1) == pytest.approx(labels.probability, abs=1e-6)
    assert jury.predict(X).tolist() == labels.label.tolist()


def test_gates_metrics_and_methods_use_the_same_scores(votes: jurors.Votes, result: Evaluation) -> None:
    verdict = jurors.check(votes, min_score=0.5, max_wrong=0.5)
    by_name = {gate.name: gate.value for gate in verdict.gates}
    assert by_name["max-wrong"] == result.wrong_labels
    scores = jurors.metrics.estimated_accuracy_score(votes)
    for juror, score in zip(votes.jurors, scores, strict=True):
        assert score == result.score[juror] == by_name[f"min-score {juror}"]
    names, rows = compare(votes, methods=[result.method]).rows()
    shown = dict(rows)
    assert names[1] == result.method
    assert shown == {f"accuracy of {j}": result.score[j] for j in result.jurors} | {
        f"prevalence of {a}": result.prevalence[a] for a in result.labels
    } | {"expected wrong labels": result.wrong_labels}  # fmt: skip


@pytest.mark.slow
def test_the_page_shows_the_scores_of_the_result(votes: jurors.Votes, result: Evaluation, tmp_path: Path) -> None:
    pytest.importorskip("altair")
    page = report_html(votes)
    table = page.split('id="table-scores"', 1)[1].split("</table>")[0]
    rows = re.findall(r"<tr><th[^>]*>(.*?)</th><td[^>]*>(.*?)</td>", table)
    assert len(rows) == len(result.jurors)
    for cell, score in rows:
        juror = re.sub("<[^>]*>", "", cell)
        assert score == f"{result.score[juror] * 100:.1f}%"
    ranking = page.split('id="ranking"', 1)[1].split("</table>")[0]
    assert re.findall(r"<bdi[^>]*>(.*?)</bdi>", ranking)[0] == result.ranking.order[0]
    assert f"about {result.wrong_labels:.0%} are wrong" in page


def test_independent_errors_make_both_readings_the_same(votes: jurors.Votes) -> None:
    result = jurors.grade(votes, errors="independent")
    assert result.score == result.independent.score
    assert result.prevalence == result.independent.prevalence
    assert not result.is_calibrated
