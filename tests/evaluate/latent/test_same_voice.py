from __future__ import annotations

import shlex

import numpy as np
import pytest
from panels import simulate

import jurors
from jurors.evaluate.latent.models import find_repeated_jurors, named_alike, possible_repeats, repeated_name
from jurors.sketch import Sketch

NAMES = ("gpt#1", "gpt#2", "gpt#3", "ann", "bob", "cy", "di")


@pytest.mark.parametrize(
    ("name", "judge"),
    [
        ("gpt#1", "gpt"), ("gpt-4o #2", "gpt-4o"), ("gpt-4 (2)", "gpt-4"),
        ("Claude 3.5 Sonnet (run 2)", "claude 3.5 sonnet"),
        ("llama_run_3", "llama"), ("llama-run3", "llama"), ("qwen/epoch 2", "qwen"), ("qwen:seed=1234", "qwen"),
        ("mistral@2", "mistral"), ("gemini [3]", "gemini"), ("ann sample 2", "ann"), ("gpt-4-0613 #1", "gpt-4-0613"),
        ("deepseek, attempt 2", "deepseek"), ("o1-mini.rep2", "o1-mini"),
    ],
)  # fmt: skip
def test_names_that_say_once_more(name: str, judge: str) -> None:
    repeat = repeated_name(name)
    assert repeat is not None
    assert repeat[0] == judge


@pytest.mark.parametrize(
    "name",
    [
        "judge_1", "judge_2", "annotator 3", "annotator #3", "w12", "worker#7", "rater (2)", "gpt-4", "gpt-3.5",
        "llama-2",
        "claude@20240229", "gpt-4 (0613)", "Meta-Llama-3_1-8B", "lf0", "juror 12", "expert run", "human rater #2",
        "#3", "(2)",
        "run 3", "A1", "j #1", "model@7b", "sample", "Qwen1.5-72B", "gemini-1.0-pro-001", "user_42", "the judge (3)",
    ],
)  # fmt: skip
def test_names_that_do_not(name: str) -> None:
    assert repeated_name(name) is None


@pytest.mark.parametrize("name", ["judge (run 2)", "judge-sample-3", "annotator run 2", "model_epoch_1"])
def test_a_word_for_once_more_counts_after_a_role_too(name: str) -> None:
    assert repeated_name(name) is not None


def one_judge(base: str, others: tuple[str, ...], seed: int = 0, blind: float = 0.25) -> Sketch:
    """Three answers of a judge with a blind spot, and other jurors."""
    rng = np.random.default_rng(seed)
    truth, wrong = rng.random(300) < 0.5, rng.random(300) < blind
    right = [wrong ^ (rng.random(300) < 0.95) for _ in range(3)] + [rng.random(300) < 0.8 for _ in others]
    names = (*(f"{base}{k + 1}" for k in range(3)), *others)
    return Sketch.from_votes(jurors.Votes.from_matrix(np.column_stack(right) == truth[:, None], jurors=names))


@pytest.mark.parametrize("base", ["judge_", "judge", "judge ", "llm-", "gpt-4_", "sample", "answer "])
def test_a_number_may_count_how_often_one_was_asked(base: str) -> None:
    sketch = one_judge(base, ("ann", "bob"))
    (group,) = possible_repeats(sketch).values()
    assert group == (0, 1, 2)
    (alarm,) = [alarm for alarm in jurors.grade(sketch).alarms if alarm.kind == "possible_repeats"]
    assert alarm.level == "warning"
    assert f"say so with --join {shlex.quote(next(iter(possible_repeats(sketch))))}" in alarm.message
    assert jurors.grade(sketch, join=list(possible_repeats(sketch))).jurors[1:] == ("ann", "bob")


@pytest.mark.parametrize("base", ["annotator", "juror ", "r", "w", "expert_", "text-davinci-00", "v0.", "phi-", "gpt"])
def test_people_and_versions_are_not_taken_for_repeats(base: str) -> None:
    assert possible_repeats(one_judge(base, ("ann", "bob"))) == {}


def test_judges_who_err_apart_are_not_taken_for_one() -> None:
    rng = np.random.default_rng(1)
    truth = rng.random(400) < 0.5
    right = rng.random((400, 6)) < 0.85
    names = ("judge_1", "judge_2", "judge_3", "ann", "bob", "cy")
    assert possible_repeats(Sketch.from_votes(jurors.Votes.from_matrix(right == truth[:, None], jurors=names))) == {}


def test_where_all_are_called_judge_it_is_a_note_and_no_voice_is_taken_away() -> None:
    sketch = one_judge("judge_", ())
    result = jurors.grade(sketch)
    (alarm,) = [alarm for alarm in result.alarms if alarm.kind == "possible_repeats"]
    assert alarm.level == "note"
    assert len(set(result.voices)) == 3
    assert possible_repeats(one_judge("classifier ", ())) == {}


def test_the_plain_name_is_the_first_time_and_a_spelling_twice_is_none() -> None:
    assert named_alike(["gpt", "ann", "GPT (2)"]) == [(0, 2)]
    assert named_alike(["gpt #1", "GPT #1", "ann"]) == []
    assert named_alike(["gpt #1", "ann"]) == []


def repeats(items: int, again: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Votes of seven jurors, the truth; the first three are one judge who thinks again about some items."""
    panel = simulate(items, 7, seed=seed)
    rng = np.random.default_rng(seed)
    for k in (1, 2):
        panel.votes[:, k] = np.where(rng.random(items) < again, panel.votes[:, k], panel.votes[:, 0])
    return panel.votes, panel.truth


def test_votes_must_confirm_the_names() -> None:
    alike = [
        find_repeated_jurors(
            Sketch.from_votes(jurors.Votes.from_matrix(simulate(200, 7, seed=seed).votes, jurors=NAMES))
        )
        for seed in range(60)
    ]
    assert sum(map(bool, alike)) <= 3  # independent jurors with such names


def test_one_judge_asked_three_times_is_one_voice() -> None:
    votes, _ = repeats(1000, 0.1, seed=3)
    result = jurors.grade(votes, jurors=NAMES)
    assert result.voices == (0, 0, 0, 3, 4, 5, 6)
    alarm = next(a for a in result.alarms if a.kind == "same_voice")
    assert (alarm.level, alarm.value, alarm.jurors) == ("warning", 3, NAMES[:3])
    assert result.details["heard_as_one"] == [list(NAMES[:3])]
    assert "correlated_errors" not in {a.kind for a in result.alarms}  # that is how repeats are


def test_two_voices_are_too_few_however_often_they_speak() -> None:
    votes, _ = repeats(500, 0.1, seed=4)
    result = jurors.grade(votes[:, [0, 1, 3]], jurors=("gpt#1", "gpt#2", "ann"))
    assert (result.alarms[0].kind, result.alarms[0].level) == ("same_voice", "alarm")
    assert result.voices == (0, 0, 2)


def test_a_judge_does_not_win_by_being_asked_often() -> None:
    votes, truth = repeats(600, 0.1, seed=0)
    own = (votes == truth[:, None]).mean(axis=0)
    named, nameless = (jurors.grade(votes, jurors=names) for names in (NAMES, "abcdefg"))
    assert list(named.score.values()) == pytest.approx(own, abs=0.04)
    assert list(nameless.score.values()) != pytest.approx(own, abs=0.1)  # what three against four did
