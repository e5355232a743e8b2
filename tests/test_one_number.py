"""Every name has one value: text, JSON, frame, page, server, metrics, gates and labels show the same number."""

from __future__ import annotations

import json
import re
from importlib.util import find_spec
from pathlib import Path

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


def plain(page: str) -> str:
    """The text of a page, a line for each row of a table."""
    page = re.sub(r"<(style|script|svg)\b.*?</\1>", "", page, flags=re.S)
    return re.sub(r"<[^>]*>", "", re.sub(r"</t[hd]>", "  ", page.replace("</tr>", "\n")))


@pytest.mark.slow
def test_every_text_has_the_numbers_of_the_result(votes: jurors.Votes, result: Evaluation) -> None:
    groups, gated = jurors.grade(votes, by=["one"] * votes.rows), jurors.check(votes, min_score=0.5, max_wrong=0.5)
    texts = {
        "card": result.to_text(),
        "full": result.to_text(full=True),
        "Markdown": result.to_markdown(),
        "groups": groups.to_text(full=True),
        "check": gated.to_text(full=True),
        "page": plain(report_html(votes)) if find_spec("altair") else result.to_text(),
    }
    number, who = r"(\d+(?:\.\d)?)", "|".join(map(re.escape, sorted(map(str, result.jurors), key=len, reverse=True)))
    ends = rf"{number}%?\s(?:–|to)\s{number}"
    share = re.compile(  # a juror's score, its accuracy on a label, or the label's prevalence
        rf"(?<![\w-])({who})?[\s|]*({'|'.join(map(str, result.labels))})?(?<=\w)(?: may be| no better than chance)*"
        rf"[\s|:]+{number}%[\s|(]+(?:95%: )?{ends}"
    )
    for route, text in texts.items():
        text = re.split(r"independent-errors model|If errors were independent", text)[0]
        text = re.sub(r"(?m)^ +juror +(?:false|on) .*\n(?: +.*\n)+", "", text)  # the card says which errors these are
        found: set[str] = set()
        for juror, label, value, low, high in share.findall(text):
            name = ("accuracy" if label else "score") if juror else "prevalence"
            stored = getattr(result, name)
            stored = stored[juror] if juror else stored
            of = [which for which in (juror, label) if which]
            shown = (stored[label] if label else stored, *result.interval_of(name, *of))
            for printed, exact in zip((value, low, high), shown, strict=True):
                assert abs(float(printed) - 100 * exact) <= (0.0501 if "." in printed else 0.501), (route, name, of)
            found.add(name)
        assert "score" in found, text
        wrong = rf"(?i)about {number}% (?:are wrong|of [\d,]+ labels are)|max-wrong: {number}%"
        shares = ["".join(each) for each in re.findall(wrong, text)]
        for shown_ends in re.findall(r"are wrong \((\d+) – (\d+)%\)", text):
            assert shown_ends == tuple(f"{100 * end:.0f}" for end in result.interval_of("wrong_labels"))
        worth = re.findall(r"worth about (\d+\.\d)", text)
        assert shares or route == "groups", text
        assert {float(share) for share in shares} <= {round(100 * float(result.wrong_labels or 0), k) for k in (0, 1)}
        assert set(worth) <= {f"{result.effective_jurors:.1f}"}, route
        assert "prevalence" in found or route in ("groups", "check"), text
    (document,) = groups.to_dict()["groups"].values()
    names = ("score", "accuracy", "prevalence", "wrong_labels", "interval", "effective_jurors", "leaders")
    whole = result.to_dict()
    assert {name: document[name] for name in names} == {name: whole[name] for name in names}


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


def test_independent_errors_make_both_readings_the_same(votes: jurors.Votes) -> None:
    result = jurors.grade(votes, errors="independent")
    assert result.score == result.independent.score
    assert result.prevalence == result.independent.prevalence
    assert not result.is_calibrated
