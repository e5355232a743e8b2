"""Grading the graders: judges of agents' work, first made up (so that the truth is known), then real.

python examples/grading_the_graders.py                        the DevAI shape: 55 tasks, 365 requirements
python examples/grading_the_graders.py --repeat 40            how often that goes well
python examples/grading_the_graders.py --data ../shared/data  the LLM judges in this folder

`docs/what-independence-means.md` says what follows from it.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import jurors
from jurors.jury.compare import score_labels

SIZES = [7] * 35 + [6] * 20  # DevAI: 55 tasks, 365 requirements
JUDGES = ("ann", "bob", "agent_gray", "agent_black", "llm")
ACCURACY = {"satisfied": (0.92, 0.90, 0.88, 0.84, 0.93), "unsatisfied": (0.95, 0.92, 0.90, 0.86, 0.72)}
MADE_UP = {0: "independent judges", 2: "two share a blind spot", 3: "three of five share it"}
REAL = ("triviaqa_judges_v1", "llmbar_humanpref", "ntqr_bbm_arithmetic")


def said_and_truth(blind: int, seed: int = 7) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Requirements x judges: who said "satisfied"; and whether it is. The last `blind` judges share a blind spot."""
    rng = np.random.default_rng(seed)
    truth = rng.random(sum(SIZES)) < 0.4
    accuracy = np.where(truth[:, None], ACCURACY["satisfied"], ACCURACY["unsatisfied"])
    right = rng.random(accuracy.shape) < accuracy
    unseen = rng.random(len(truth)) < 0.2
    right[:, len(JUDGES) - blind :] &= ~unseen[:, None]
    return np.where(truth[:, None], right, ~right), truth


def answer_key(truth: NDArray[np.bool_]) -> dict[str, str]:
    """The true label of every requirement."""
    names = [f"task_{task:02}/{k}" for task, size in enumerate(SIZES, 1) for k in range(size)]
    return dict(zip(names, np.where(truth, "satisfied", "unsatisfied").tolist(), strict=True))


def show_made_up(blind: int) -> None:
    """Grade the judgments without a key, and print the truth beside it."""
    said, truth = said_and_truth(blind)
    key = answer_key(truth)
    votes = jurors.Votes.from_matrix(np.where(said, "satisfied", "unsatisfied"), jurors=JUDGES, items=list(key))
    result, true = jurors.grade(votes), score_labels(votes, key)
    intervals = score_intervals(result)
    print(f"== {MADE_UP[blind]}: {len(votes.jurors)} judges, {votes.rows} requirements ==")
    show_prevalence(result, true, votes, "satisfied")
    print("judge        score  95% interval    in truth   passes what is not satisfied   in truth")
    for judge in sorted(result.jurors):
        low, high = intervals[judge]
        passed, truly = (1 - float(by.accuracy[judge]["unsatisfied"]) for by in (result, true))
        print(
            f"{judge:11} {result.score[judge]:6.1%}  {low:.1%} to {high:.1%}    {float(true.score[judge]):.1%}"
            f"   {passed:28.1%}   {truly:8.1%}"
        )
    show_doubt(result, true)
    print("with 50 gold requirements:", "; ".join(gold_alarms(votes, key)) or "no contradiction")
    print()


def score_intervals(result: Any) -> dict[str, tuple[float, float]]:
    """The interval of each judge's score."""
    found: dict[str, tuple[float, float]] = result.interval.score
    return found


def gold_alarms(votes: jurors.Votes, key: dict[str, str], seed: int = 1) -> list[str]:
    """The alarms that are raised when a person checks 50 requirements, drawn at random."""
    picked = np.random.default_rng(seed).choice(list(key), 50, replace=False).tolist()
    result = jurors.grade(votes, gold={name: key[name] for name in picked})
    return [f"{alarm.level} {alarm.kind}" for alarm in result.alarms if alarm.kind.startswith("gold")]


def show_repeated(blind: int, times: int) -> None:
    """How often the same made-up test goes well."""
    off, kept, best, worse, gold = [], 0, 0, 0, 0
    for seed in range(times):
        said, truth = said_and_truth(blind, seed)
        key = answer_key(truth)
        votes = jurors.Votes.from_matrix(np.where(said, "satisfied", "unsatisfied"), jurors=JUDGES, items=list(key))
        result, true = jurors.grade(votes), score_labels(votes, key)
        intervals = score_intervals(result)
        exact = {judge: float(true.score[judge]) for judge in JUDGES}
        off += [abs(result.score[judge] - exact[judge]) for judge in JUDGES]
        kept += sum(low <= exact[judge] <= high for judge, (low, high) in intervals.items())
        best += max(result.score, key=result.score.__getitem__) in JUDGES[:2]
        worse += any(alarm.level != "note" for alarm in result.alarms)
        gold += bool(gold_alarms(votes, key, seed))
    print(
        f"{MADE_UP[blind]}, {times} tests: scores wrong by {np.mean(off):.1%} on average, "
        f"{kept / len(off):.0%} inside their intervals;\n    a person graded best in {best}, "
        f"a warning or an alarm in {worse}, contradicted by 50 gold requirements in {gold}"
    )


def show_prevalence(result: Any, true: Any, votes: jurors.Votes, label: Any) -> None:
    """How common a label is, by three accounts."""
    low, high = result.interval.prevalence[label]
    majority = float(jurors.grade(votes, method="majority").independent.prevalence[label])
    print(
        f"{label}: graded {result.prevalence[label]:.1%} ({low:.1%} to {high:.1%}), "
        f"majority vote {majority:.1%}, in truth {float(true.prevalence[label]):.1%}"
    )


def show_doubt(result: Any, true: Any) -> None:
    """The alarms, and the effective number of judges."""
    few = {alarm: f" ({', '.join(alarm.jurors)})" if 0 < len(alarm.jurors) < 4 else "" for alarm in result.alarms}
    print("alarms:", "; ".join(f"{alarm.level} {alarm.kind}{names}" for alarm, names in few.items()) or "nothing")
    if result.effective_jurors is not None:
        truly = jurors.theory.dependence_with_key(true).effective_jurors
        print(f"graded as worth {result.effective_jurors:.1f} independent judges, in truth {truly:.1f}")


def show_real(folder: Path, name: str) -> None:
    """Grade real judges without a key, and print what the key says."""
    votes = jurors.read_votes(folder / name / "votes.csv.gz")
    key = jurors.read_key(folder / name / "truth.csv.gz")
    result, true = jurors.grade(votes), score_labels(votes, key)
    majority = jurors.grade(votes, method="majority").independent
    print(f"== {name}: {len(votes.jurors)} judges, {votes.rows:,} items ==")
    show_prevalence(result, true, votes, votes.labels[0])
    for method, found in (("graded", result), ("majority vote", majority)):
        errors = [abs(float(found.score[judge]) - float(true.score[judge])) for judge in votes.jurors]
        print(f"scores, {method}: wrong by {np.mean(errors):.1%} on average, by {max(errors):.1%} at worst")
    labels = jurors.label(votes, evaluation=result)
    _, truth = key.align(votes)
    wrong = int((labels.codes != truth)[truth >= 0].sum())
    print(
        f"labels: {(labels.wrong_labels or 0) * len(labels):.0f} expected to be wrong, {wrong} are; "
        f"by majority vote {float(true.majority_errors):.0f} are"
    )
    show_doubt(result, true)
    print()


def main() -> None:
    """Print what was asked for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeat", type=int, metavar="N", help="make N tests of each kind up")
    parser.add_argument("--data", type=Path, help="the folder with " + ", ".join(REAL))
    asked = parser.parse_args()
    if asked.data is not None:
        for name in REAL:
            show_real(asked.data, name)
    for blind in MADE_UP if asked.data is None else ():
        if asked.repeat is None:
            show_made_up(blind)
        else:
            show_repeated(blind, asked.repeat)


if __name__ == "__main__":
    main()
