"""`jurors grade` and `jurors label` where votes are numbers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import Result
from command_line import refused, run

ROWS = "item,ann,bob,cy\nq1,1,2,10\nq2,4,5,14\nq3,3,4,22\nq4,2,9,18\nq5,6,7,27\nq6,5,12,25\n"


@pytest.fixture(autouse=True)
def scores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("scores.csv").write_text(ROWS)


def _run(*arguments: str, text: str | None = None) -> Result:
    return run(*arguments, "--scale", "interval", stdin=text)


def test_grade_prints_jurors_in_every_format() -> None:
    assert _run("grade", "scores.csv").output == _run("grade", "-", text=ROWS).output
    card = _run("grade", "scores.csv").output
    ann = next(line.split() for line in card.splitlines() if line.startswith("  ann"))
    assert ann == ["ann", "8.56", "-8.18", "0.30", "0.01", "–", "1.00", "0.37", "-0.86", "1.01", "6"]
    document = json.loads(_run("grade", "scores.csv", "--format", "json").output)
    assert document["scale"] == "interval"
    assert document["schema"] == "jurors.grade/2"
    assert document["independent"]["exact"]["reliability"] == {"ann": "49/75", "bob": "375/917", "cy": "315/323"}
    head = _run("grade", "scores.csv", "--format", "csv").output.splitlines()[0]
    assert head.startswith("juror,numbers,reliability,reliability_low,reliability_high,rmse,bias,slope")
    assert head.endswith("independent_reliability,independent_reliability_low,independent_reliability_high")
    assert _run("grade", "scores.csv", "--format", "md").output.count("|") > 20


def test_label_values_the_items_in_every_format() -> None:
    assert _run("label", "scores.csv").output.splitlines()[1].split() == ["q1", "5.91", "0.48", "11.34", "3"]
    document = json.loads(_run("label", "scores.csv", "--format", "json").output)
    assert [row["item"] for row in document["items"]] == ["q1", "q2", "q3", "q4", "q5", "q6"]
    assert _run("label", "scores.csv", "--format", "csv").output.startswith("item,value,low,high,independent_low,")


@pytest.mark.parametrize(
    "arguments, message",
    [
        pytest.param(("grade", "--method", "latent"), "--method does not apply to numbers", id="method"),
        pytest.param(("label", "--by", "ann"), "--by does not apply to numbers", id="by"),
        pytest.param(("grade", "--by", "ann", "--exam"), "--exam does not apply to numbers", id="exam"),
        pytest.param(("label", "--review", "2"), "--review does not apply to numbers", id="review"),
    ],
)
def test_what_is_not_for_numbers_is_refused_in_one_line(arguments: tuple[str, ...], message: str) -> None:
    assert message in refused(arguments[0], "scores.csv", *arguments[1:], "--scale", "interval")


def test_a_word_among_numbers_is_named_with_its_place() -> None:
    message = refused("grade", "-", "--scale", "interval", stdin=ROWS.replace("q4,2,9", "q4,2,high"))
    assert "juror bob, item q4: 'high' is not a number" in message


def test_score_prints_jurors_by_the_key_in_every_format() -> None:
    Path("truth.csv").write_text("item,label\nq1,1\nq2,3\nq3,4\nq4,3\nq5,6\nq6,5\n")
    card = _run("score", "scores.csv", "--key", "truth.csv").stdout
    assert card == _run("score", "-", "--key", "truth.csv", text=ROWS).stdout
    ann = next(line.split() for line in card.splitlines() if line.startswith("  ann"))
    assert (ann[:2], ann[-1]) == (["ann", "0.71"], "6")
    document = json.loads(_run("score", "scores.csv", "--key", "truth.csv", "--format", "json").output)
    assert [one["by"] for one in document["values"]] == ["grades", "mean", "median"]
    assert document["jurors"][0]["rmse"] == pytest.approx((1 / 2) ** 0.5)
    head = _run("score", "scores.csv", "--key", "truth.csv", "--format", "csv").output.splitlines()[0]
    assert head.startswith("juror,numbers,correlation,correlation_low,correlation_high,reliability")
    assert _run("score", "scores.csv", "--key", "truth.csv", "--format", "md").output.count("|") > 20


def test_a_column_can_be_the_key_of_numbers() -> None:
    document = json.loads(_run("score", "scores.csv", "--key", "cy", "--format", "json").output)
    assert [row["juror"] for row in document["jurors"]] == ["ann", "bob"]


def test_a_key_of_words_is_refused_in_one_line() -> None:
    Path("truth.csv").write_text("item,label\nq1,good\nq2,bad\n")
    message = refused("score", "scores.csv", "--key", "truth.csv", "--scale", "interval")
    assert "has 'good' for item q1, which is not a number" in message


def _grouped() -> str:
    """Thirty items of each of two topics, on one of which nobody errs much."""
    lines = []
    for k in range(60):
        wide = 1 if k % 2 else 8
        said = [k % 17 + wide * ((k * step) % 7 - 3) / 4 + 0.25 for step in (1, 3, 5)]
        lines.append(",".join(map(str, (f"q{k}", "sums" if k % 2 else "essays", k % 17, *said))))
    return "\n".join(["item,topic,truth,ann,bob,cy", *lines]) + "\n"


def test_score_and_grade_take_numbers_apart_by_group() -> None:
    Path("topics.csv").write_text(_grouped())
    for scale in ((), ("--scale", "interval")):
        shown = run("score", "topics.csv", "--key", "truth", "--by", "topic", *scale)
        assert shown.exit_code == 0
        assert shown.stdout.splitlines()[2].split()[:3] == ["essays", "30", "ann"]
        assert "note    scale" not in shown.stderr  # it is on the card
    scored = json.loads(_run("score", "topics.csv", "--key", "truth", "--by", "topic", "--format", "json").stdout)
    Path("sums.csv").write_text("\n".join(line for line in _grouped().splitlines() if "essays" not in line))
    alone = json.loads(_run("score", "sums.csv", "--key", "truth", "--ignore", "topic", "--format", "json").stdout)
    assert scored["groups"]["sums"]["jurors"] == alone["jurors"]
    assert scored["labels"] == []
    assert [alarm["kind"] for alarm in scored["alarms"]].count("small_group") == 2
    head = _run("score", "topics.csv", "--key", "truth", "--by", "topic", "--format", "csv").stdout.splitlines()
    assert head[0].startswith("group,juror,numbers,correlation,")
    assert len(head) == 7
    graded = json.loads(_run("grade", "topics.csv", "--ignore", "truth", "--by", "topic", "--format", "json").stdout)
    assert graded["groups"]["sums"]["jurors"][0]["slope"] == pytest.approx(alone["jurors"][0]["estimated_slope"])


def test_a_group_without_a_true_value_is_left_out_by_name() -> None:
    Path("topics.csv").write_text(_grouped())
    Path("key.csv").write_text("item,label\n" + "".join(f"q{k},{k % 17}\n" for k in range(1, 60, 2)))
    result = _run("score", "topics.csv", "--ignore", "truth", "--key", "key.csv", "--by", "topic")
    assert result.exit_code == 0
    assert "group 'essays' cannot be graded, and is left out: no item of it has a true value" in result.stdout
