"""What is to know about some votes is found once, and said alike whoever holds them and whatever is asked."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from command_line import run

import jurors
from jurors import Sketch, Votes, VotesError, read_votes
from jurors.sketch.count import read_sketch
from jurors.votes.findings import find_findings

ROWS = [
    ["yes", "yes", "no"], ["no", "N/A", "no"], ["yes", "pass", "pass"], ["no", "no", "-"], ["yes", "no", "yes"],
    ["no", "no", "no"], ["yes", "yes", "yes"], ["no", "yes", "no"], ["yes", "N/A", "yes"], ["no", "no", "yes"],
]  # fmt: skip
WIDE = "item,ann,bob,cy\n" + "".join(f"{k},{','.join(row)}\n" for k, row in enumerate(ROWS))
LONG = "item,juror,label\n" + "".join(
    f"{k},{juror},{row[j]}\n" for k, row in enumerate(ROWS) for j, juror in enumerate(("ann", "bob", "cy"))
)


def said(findings: Any) -> dict[str, tuple[str, float | None]]:
    return {finding.kind: (finding.message, finding.value) for finding in findings}


@pytest.mark.parametrize("text", [WIDE, LONG], ids=["wide", "long"])
def test_words_for_no_vote_and_abstentions_are_counted_alike_everywhere(text: str) -> None:
    frame = pd.read_csv(io.StringIO(text), keep_default_na=False)
    for found in (
        read_votes(io.StringIO(text), abstain=["pass"]).findings,
        read_sketch(io.StringIO(text), abstain=["pass"]).tuples.findings,
        Votes.from_frame(frame, abstain=["pass"]).findings,
        Sketch.from_frame(pl.from_pandas(frame).lazy(), abstain=["pass"]).tuples.findings,
    ):
        kinds = said(found)
        assert kinds["missing_words"][1] == 3.0
        assert "'N/A' (2)" in kinds["missing_words"][0]
        assert kinds["abstentions"] == ("'pass': 2 abstentions, which are never a true label ('bob' 1, 'cy' 1)", 2.0)
        assert set(kinds) == {"missing_words", "abstentions"}


def test_grade_says_what_the_reader_found(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text(WIDE)
    result = run("grade", path, "--abstain", "pass", "--format", "json")
    alarms = {alarm["reason"] or alarm["kind"]: alarm for alarm in json.loads(result.stdout)["alarms"]}
    assert alarms["abstentions"]["jurors"] == ["bob", "cy"]
    assert alarms["missing_words"]["level"] == "note"
    assert {"abstentions", "missing_words"} <= {f.kind for f in jurors.inspect(path, abstain=["pass"]).findings}


def test_a_word_that_may_be_an_answer_is_an_alarm_until_somebody_chooses() -> None:
    text = WIDE.replace("pass", "undecided")
    (alarm,) = (a for a in jurors.grade(io.StringIO(text), method="majority").alarms if a.reason == "ambiguous_words")
    assert (alarm.level, alarm.labels, alarm.value) == ("alarm", ("undecided",), 2.0)
    for option in ("missing=['undecided']", "abstain=['undecided']", "labels=['no', 'undecided', 'yes']"):
        assert option in alarm.message
    for chosen in (
        {"missing": ["undecided"]},
        {"abstain": ["undecided"]},
        {"labels": ["no", "undecided", "yes", "N/A", "-"]},
    ):
        votes = read_votes(io.StringIO(text), **chosen)  # type: ignore[arg-type]
        assert "ambiguous_words" not in said(find_findings(votes))


@pytest.mark.parametrize("word", ["(blank)", "(Blank)", "[empty]", "<NA>", "(no answer)"])
def test_a_word_in_brackets_is_no_answer(word: str) -> None:
    votes = read_votes(io.StringIO(WIDE.replace("pass", word)))
    assert votes.labels == ("no", "yes")
    assert word in said(votes.findings)["missing_words"][0]


def test_pass_beside_yes_and_no_may_be_no_answer() -> None:
    assert "'pass' (2)" in said(find_findings(read_votes(io.StringIO(WIDE))))["ambiguous_words"][0]
    verdicts = WIDE.replace("yes", "fail").replace("no", "pass")
    assert "ambiguous_words" not in said(find_findings(read_votes(io.StringIO(verdicts))))


def test_a_key_that_may_say_nothing_is_refused_with_the_way_out() -> None:
    votes = Votes.from_matrix([["yes", "no"], ["no", "no"], ["yes", "yes"]])
    with pytest.raises(VotesError, match=r"a true label is 'unsure'.*missing="):
        jurors.score(votes, ["yes", "unsure", "yes"])
    assert jurors.score(votes, ["yes", "N/A", "no"]).items == 2


def test_a_juror_of_another_alphabet_is_named_with_the_mapping_that_mends_it() -> None:
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 2, 60)
    rows = [[["no", "yes"][t ^ int(rng.random() < 0.1)] for _ in range(4)] + [str(t)] for t in truth]
    votes = Votes.from_matrix(rows, jurors=("ann", "bob", "cy", "dee", "eve"))
    (finding,) = (f for f in find_findings(votes) if f.kind == "another_alphabet")
    assert (finding.level, finding.about) == ("alarm", ("eve",))
    assert "map={'0': 'no', '1': 'yes'}" in finding.message


def test_what_several_files_were_taken_for_is_said(tmp_path: Path) -> None:
    for name, start in (("a", 0), ("b", 10)):
        (tmp_path / f"{name}.csv").write_text("item,ann,bob\n" + "".join(f"{start + k},x,y\n" for k in range(4)))
    found = said(read_sketch([tmp_path / "a.csv", tmp_path / "b.csv"]).tuples.findings)
    assert "taken for the same item" in found["items_across_files"][0]
    (tmp_path / "c.csv").write_bytes((tmp_path / "a.csv").read_bytes())
    with pytest.raises(VotesError, match=r"a\.csv: this file and .*c\.csv hold the same bytes") as error:
        read_votes([tmp_path / "a.csv", tmp_path / "c.csv"])
    assert error.value.code == "same_files"


def test_commands_without_alarms_of_their_own_warn_on_stderr(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text(WIDE.replace("pass", "undecided"))
    for command in ("agreement", "convert", "bounds"):
        result = run(command, path)
        assert result.exit_code == 0, (command, result.output)
        assert "ambiguous_answers" in result.stderr


@pytest.mark.parametrize("written", [str, "{}%".format, "{:e}".format, lambda x: str(x).replace(".", ",")])
def test_many_numbers_are_no_free_text_however_they_are_written(written: Any) -> None:
    said = np.random.default_rng(2).integers(100, 10_000, (60, 3)) / 100
    votes = Votes.from_matrix([[written(x) for x in row] for row in said.tolist()], scale=None)
    assert "free_text" not in {finding.kind for finding in find_findings(votes)}
