"""The alternative annotator test, by hand and on simulated annotators."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from command_line import run
from panels import coins

import jurors

NAMES = ("ann", "bob", "cy", "llm")


def test_a_test_by_hand() -> None:
    """Three annotators who always agree, and a candidate that differs from them on 6 of 40 items.

    d is 1 on 6 items and 0 on 34: mean .15, variance 40 · .15 · .85 / 39, so t = -.05 / (.36162 / √40) = -.8745 with 39
    degrees of freedom, p = .1936. Three equal p-values are multiplied by 1 + 1/2 + 1/3.
    """
    votes = np.tile(np.arange(40)[:, None] % 2, (1, 4))
    votes[:6, 3] = 1 - votes[:6, 3]
    (found,) = jurors.score(votes, jurors=NAMES, alt_test=["llm"]).candidates
    assert [x.advantage for x in found.annotators] == [34 / 40] * 3
    assert [x.p for x in found.annotators] == pytest.approx([0.1936 * 11 / 6] * 3, abs=2e-4)
    assert (found.winning_rate, found.passes) == (0.0, False)
    # four items on which one annotator differs from all, and the candidate from nobody else
    votes[:, 3] = votes[:, 0]
    votes[:4, 0] = 1 - votes[:4, 0]
    (found,) = jurors.score(votes, jurors=NAMES, alt_test=["llm"]).candidates
    assert [x.advantage for x in found.annotators] == [1.0, 1.0, 1.0]
    assert (found.winning_rate, found.advantage) == (1.0, 1.0)
    (strict,) = jurors.score(votes, jurors=NAMES, alt_test=["llm"], epsilon=0).candidates
    assert [x.wins for x in strict.annotators] == [False, False, False]  # never behind, but no better than bob and cy


def test_good_candidates_pass_and_bad_ones_do_not() -> None:
    rng = np.random.default_rng(0)
    passed = {0.85: 0, 0.5: 0}
    for _ in range(40):
        truth = rng.integers(2, size=(150, 1))
        right = rng.random((150, 7)) < [0.8] * 5 + list(passed)
        votes = np.where(right, truth, 1 - truth)
        votes[rng.random(votes.shape) < 0.2] = -1
        found = jurors.score(votes, jurors=[*"abcde", "good", "bad"], alt_test=["good", "bad"]).candidates
        for share, candidate in zip(passed, found, strict=True):
            passed[share] += candidate.passes
    assert passed[0.85] >= 36
    assert passed[0.5] == 0


def test_on_the_command_line(tmp_path: Path) -> None:
    votes = coins(60, [0.8, 0.8, 0.8, 0.8, 0.9], seed=1)[0].astype(object)
    votes[20:, 3] = ""  # too few items for an annotator
    table = "\n".join(",".join(map(str, row)) for row in [["ann", "bob", "cy", "dee", "llm"], *votes.tolist()])
    (tmp_path / "votes.csv").write_text(table + "\n")

    shown = run("score", tmp_path / "votes.csv", "--alt-test", "llm")
    assert shown.exit_code == 0, shown.output
    assert "llm may take an annotator's place: it wins against 3 of 3" in shown.output
    assert "Left out, with fewer than 30 items in common: dee" in shown.output
    for words, message in (
        (("--alt-test", "lm"), "Did you mean 'llm'?"),
        (("--alt-test", "llm", "--key", "ann"), "--key does not apply with --alt-test"),
        (("--alt-test", "ann,bob,cy"), "needs 2 annotators that share 30 items"),
        ((), "Missing option '--key'"),
    ):
        refused = run("score", tmp_path / "votes.csv", *words)
        assert refused.exit_code == 2
        assert message in refused.output
