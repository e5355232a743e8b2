"""`systems`: rates, differences and tiers of systems by a panel of judges."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd
import pytest
from command_line import refused, run

import jurors
from jurors.errors import JurorsError, OptionError
from jurors.jury.leanings import self_preference
from jurors.jury.systems import SystemComparison


def judged(rates: dict[str, float], items: int = 300, judges: int = 5, accuracy: float = 0.85, seed: int = 0) -> Any:
    """A table with a row per answer: question, model and the judges' verdicts; and the truth by item."""
    rng = np.random.default_rng(seed)
    rows, truth = [], {}
    for model, rate in rates.items():
        for question in range(items):
            is_good = rng.random() < rate
            truth[f"q{question}:{model}"] = "pass" if is_good else "fail"
            votes = np.where((rng.random(judges) < accuracy) == is_good, "pass", "fail")
            rows.append((f"q{question}:{model}", model, *votes))
    return pd.DataFrame(rows, columns=["item", "model", *(f"judge_{k}" for k in range(judges))]), truth


def compare(frame: Any, **options: Any) -> SystemComparison:
    return jurors.systems(frame.drop(columns="model"), by=frame["model"].tolist(), **options)


def test_json_has_the_documented_keys_and_the_numbers_of_the_result() -> None:
    frame, _ = judged({"new": 0.8, "old": 0.6, "base": 0.4})
    result = compare(frame)
    document = json.loads(result.to_json())
    assert (document["schema"], document["good"]) == ("jurors.systems/1", "pass")
    assert list(document["systems"]) == ["new", "old", "base"]
    assert {"a", "b", "difference", "low", "high", "paired", "order"} <= set(document["differences"][0])
    assert sorted(name for tier in document["ranking"] for name in tier) == ["base", "new", "old"]
    frame_of_rates = result.to_frame().set_index("system")
    assert frame_of_rates.rate["new"] == result.systems["new"].rate == document["systems"]["new"]["rate"]


def test_a_large_difference_by_good_judges_is_settled_and_a_small_one_is_not() -> None:
    far = compare(judged({"a": 0.9, "b": 0.2}, accuracy=0.95)[0])
    assert far.differences[0].order == "settled"
    assert far.ranking == (("a",), ("b",))
    near = compare(judged({"a": 0.62, "b": 0.58})[0])
    assert near.differences[0].order == "not settled"
    assert len(near.ranking) == 1


def test_an_interval_holds_the_difference_of_which_weak_judges_show_a_part() -> None:
    wide, held = [], []
    for accuracy in (0.7, 0.95):
        some = [judged({"a": 0.75, "b": 0.45}, 150, 4, accuracy, seed) for seed in range(5)]
        for d, truth in [(compare(frame).differences[0], truth) for frame, truth in some]:
            good = [np.mean([label == "pass" for item, label in truth.items() if item.endswith(n)]) for n in (d.a, d.b)]
            held.append(d.low < good[0] - good[1] < d.high)
            wide.append(d.high - d.low)
    assert sum(held) >= 9
    assert min(wide[:5]) > 1.3 * max(wide[5:])


def test_nothing_is_settled_by_judges_who_know_nothing() -> None:
    rng = np.random.default_rng(3)
    votes = np.where(rng.random((600, 4)) < np.repeat([0.55, 0.45], 300)[:, None], "pass", "fail")  # of no answer
    result = jurors.systems(votes, by=["a"] * 300 + ["b"] * 300)
    assert result.reasons
    assert result.differences[0].order != "settled"
    assert 0.3 < result.with_gold[0].rate <= 0.5  # no wider than all rates
    (gate,) = jurors.check(replace(result, reasons=("the panel says so",)), min_difference="b-a:0.5").gates
    assert (gate.outcome, gate.reason) == ("not known", "the panel says so")


@pytest.mark.slow
def test_gold_narrows_rates_and_moves_them_to_the_truth() -> None:
    errors = []
    for seed in range(6):
        frame, truth = judged({"a": 0.7, "b": 0.5}, accuracy=0.85, seed=seed)
        rng, judges = np.random.default_rng(seed), frame.filter(like="judge").columns
        lenient = np.repeat(rng.random((len(frame), 1)) < 0.3, len(judges), axis=1)
        frame[judges] = frame[judges].mask(lenient, "pass")  # judges share a bias: some answers pass with all of them
        items = list(truth)
        gold = {items[k]: truth[items[k]] for k in rng.choice(len(items), 100, replace=False)}
        without, with_gold = compare(frame), compare(frame, gold=gold)
        for name in ("a", "b"):
            rate = np.mean([label == "pass" for item, label in truth.items() if item.endswith(name)])
            before, after = without.systems[name], with_gold.systems[name]
            assert after.high - after.low < before.high - before.low
            assert after.gold > 20
            errors.append((abs(before.rate - rate), abs(after.rate - rate)))
    before, after = np.mean(errors, axis=0)
    assert after < 0.8 * before


def test_the_card_predicts_what_gold_labels_would_narrow() -> None:
    frame, truth = judged({"a": 0.7, "b": 0.6}, accuracy=0.8)
    without = compare(frame)
    assert any("Gold labels do: 20, 50 or 100 would narrow rates from ± " in line for line in without.sentences())
    known = compare(frame, gold=dict(list(truth.items())[::15]))  # 40 of them
    (advice,) = (line for line in known.sentences() if "Gold labels do" in line)
    assert "with 20" not in advice
    assert "100 in all" in advice
    widths = [without.with_gold[number].rate for number in (0, 20, 50, 100)]
    assert widths == sorted(widths, reverse=True)
    assert widths[0] == pytest.approx(np.mean([(x.high - x.low) / 2 for x in without.systems.values()]), abs=0.01)
    gold = {item: truth[item] for item in np.random.default_rng(0).choice(list(truth), 100, replace=False)}
    found = np.mean([(x.high - x.low) / 2 for x in compare(frame, gold=gold).systems.values()])
    assert found == pytest.approx(widths[-1], rel=0.35)


def test_with_all_labels_known_the_rates_are_the_true_ones() -> None:
    frame, truth = judged({"a": 0.7, "b": 0.5}, items=100, accuracy=0.7)
    result = compare(frame, gold=truth)
    for name in ("a", "b"):
        true = np.mean([label == "pass" for item, label in truth.items() if item.endswith(name)])
        rate = result.systems[name]
        assert rate.rate == pytest.approx(true)
        assert (rate.low, rate.high) == pytest.approx((true, true))


def test_the_order_of_rows_and_of_systems_changes_nothing() -> None:
    frame, _ = judged({"a": 0.8, "b": 0.5, "c": 0.45})
    shuffled = frame.sample(frac=1, random_state=1)
    first, second = compare(frame), compare(shuffled)
    for name, rate in first.systems.items():
        assert second.systems[name].rate == pytest.approx(rate.rate)
        assert second.systems[name].low == pytest.approx(rate.low, abs=1e-6)
    assert first.ranking == second.ranking


def test_a_system_with_three_items_is_shown_and_in_no_tier() -> None:
    frame, _ = judged({"a": 0.9, "b": 0.3}, items=100)
    few = frame[frame.model == "a"].head(3).assign(model="tiny", item=["t1", "t2", "t3"])
    result = compare(pd.concat([frame, few]))
    assert result.systems["tiny"].items == 3
    assert "tiny" not in {name for tier in result.ranking for name in tier}


def test_levels_have_a_mean_level() -> None:
    rng = np.random.default_rng(0)
    level = np.repeat([4, 2], 150)[:, None] + rng.integers(-1, 2, (300, 4))
    result = jurors.systems(level, by=["a"] * 150 + ["b"] * 150, scale="ordinal")
    assert result.good is None
    assert result.systems["a"].rate == pytest.approx(4, abs=0.2)
    assert result.differences[0].difference == pytest.approx(2, abs=0.3)


@pytest.mark.parametrize(
    ("by", "options", "message"),
    [(["a"] * 80, {}, "at least two systems"), (["a", "b"] * 40, {"good": "pas"}, "pass"), (["a"] * 3, {}, "rows")],
)
def test_bad_input_is_one_line(by: list[str], options: dict[str, Any], message: str) -> None:
    frame, _ = judged({"a": 0.8}, items=80)
    with pytest.raises(JurorsError, match=message) as caught:
        jurors.systems(frame.drop(columns="model"), by=by, **options)
    assert "\n" not in str(caught.value)


def test_labels_without_a_word_for_good_need_one() -> None:
    with pytest.raises(OptionError, match="name it with good="):
        jurors.systems([["x", "y", "x"], ["y", "y", "x"]] * 20, by=["a", "b"] * 20)


def test_the_command_prints_a_short_card_and_json(tmp_path: Path) -> None:
    frame, _ = judged({f"model-{k}": 0.3 + 0.06 * k for k in range(10)}, items=40)
    path = tmp_path / "votes.csv"
    frame.to_csv(path, index=False)
    shown = run("systems", path, "--system", "model", "--good", "pass")
    assert shown.exit_code == 0, shown.output
    lines = shown.stdout.splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    document = json.loads(run("systems", path, "--system", "model", "--format", "json").stdout)
    assert len(document["systems"]) == 10


# -- gates -------------------------------------------------------------------------------------------------------------


def outcomes(verdict: Any) -> dict[str, str]:
    return {gate.name: gate.outcome for gate in verdict.gates}


def test_a_required_difference_passes_fails_or_is_not_known_by_its_interval() -> None:
    frame, _ = judged({"gpt-4-new": 0.85, "gpt-4": 0.5}, accuracy=0.9)
    (d,) = jurors.systems(frame, by="model").differences
    limits = [f"gpt-4-new-gpt-4:{d.low - 0.01}", {("gpt-4", "gpt-4-new"): 0.0}]
    verdict = jurors.check(frame, system="model", min_difference=limits)
    assert outcomes(verdict) == {"min-difference gpt-4 - gpt-4-new": "fail", "min-difference gpt-4-new - gpt-4": "pass"}
    assert not verdict.passed
    unknown = jurors.check(frame, system="model", min_difference=f"gpt-4-new-gpt-4:{d.difference}")
    assert list(outcomes(unknown).values()) == ["not known"]
    assert unknown.gates[0].interval == (d.low, d.high)


def test_a_regression_is_found_and_votes_of_the_last_run_say_more_than_its_rates(tmp_path: Path) -> None:
    before, now = judged({"a": 0.9, "b": 0.6}, accuracy=0.95)[0], judged({"a": 0.5, "b": 0.6}, accuracy=0.95, seed=1)[0]
    last = tmp_path / "last.json"
    last.write_text(jurors.systems(before, by="model").to_json())
    by_rates = jurors.check(now, system="model", max_regression=0.02, baseline=last)
    by_votes = jurors.check(now, system="model", max_regression=0.02, baseline=before)
    assert outcomes(by_rates) == outcomes(by_votes) == {"max-regression a": "fail", "max-regression b": "not known"}
    width = {name: [g.interval[1] - g.interval[0] for g in v.gates if g.interval] for name, v in
             {"rates": by_rates, "votes": by_votes}.items()}  # fmt: skip
    assert all(votes < rates for votes, rates in zip(width["votes"], width["rates"], strict=True))
    alone = jurors.check(  # one system in each run, a release and the last: compared whatever they are called
        now[now.model == "a"].replace("a", "v2"),
        system="model",
        max_regression=0.3,
        baseline=before[before.model == "a"],
    )
    assert outcomes(alone) == {"max-regression v2": "not known"}
    again = tmp_path / "check.json"
    again.write_text(by_votes.to_json())
    assert jurors.check(now, system="model", max_regression=0.02, baseline=again).gates[0].value == 0


@pytest.mark.parametrize("gold", [0, 40])
def test_a_run_beside_itself_has_not_changed_and_items_that_changed_carry_the_doubt(gold: int) -> None:
    frame, truth = judged({"a": 0.9, "b": 0.6}, accuracy=0.8)
    options: Any = {"system": "model", "max_regression": 0, "gold": dict(list(truth.items())[280:][:gold]) or None}
    same = jurors.check(frame, baseline=frame.sample(frac=1, random_state=0), **options)
    assert same.passed
    assert [(gate.value, gate.interval) for gate in same.gates] == [(0, (0, 0))] * 2
    assert same.gates[0].reason == "votes changed on 0 of 300 items"
    few, many = frame.copy(), frame.copy()
    few.loc[:5, "judge_0":], many.loc[:99, "judge_0":] = "fail", "fail"
    a, b = (cast("Any", jurors.check(now, baseline=frame, **options).gates) for now in (few, many))
    assert a[1].interval == b[1].interval == (0, 0)  # of the system that is the same
    assert a[0].value < 0 > b[0].value
    assert 0 < a[0].interval[1] - a[0].interval[0] < (b[0].interval[1] - b[0].interval[0]) / 2
    assert a[0].reason == "votes changed on 6 of 300 items"


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"min_difference": "a-x:0.02"}, "there is no system 'x'"),
        ({"min_difference": "a-b"}, "as B-A:0.02"),
        ({"min_difference": "a-b:lots"}, "the limit is a number"),
        ({"min_difference": "a-a:0.1"}, "with itself"),
        ({"min_difference": ["a-b:0.1", "a-b:0.2"]}, "given twice"),
        ({"min_difference": "a-b:20"}, "from -1 to 1"),
        ({"max_regression": 0.02}, "needs an earlier run"),
        ({"max_regression": 2, "baseline": {"schema": "jurors.systems/1"}}, "a share from 0 to 1"),
        ({"max_regression": 0.02, "baseline": {"schema": "jurors.systems/9"}}, "schema 9, and this version reads 1"),
        ({"max_regression": 0.02, "baseline": {"schema": "jurors.grade/2"}}, "holds no systems"),
        ({"baseline": {"schema": "jurors.systems/1"}}, "add system= and max_regression="),
        ({"system": None, "min_difference": "a-b:0.1"}, "name the column of systems"),
    ],
)
def test_limits_on_systems_that_make_no_sense_are_refused(limits: dict[str, Any], message: str) -> None:
    frame, _ = judged({"a": 0.8, "b": 0.6}, items=40)
    with pytest.raises(OptionError, match=message):
        jurors.check(frame.drop(columns="model"), **{"system": frame.model.tolist(), **limits})


def test_one_question_answered_by_several_systems_is_several_items(tmp_path: Path) -> None:
    frame, truth = judged({"a": 0.8, "b": 0.5}, items=60)
    long = frame.melt(["item", "model"], var_name="judge", value_name="verdict")
    long["item"] = long["item"].str.split(":").str[0]
    long.to_csv(tmp_path / "long.csv", index=False)
    gold = pd.DataFrame([(*item.split(":"), label) for item, label in list(truth.items())[40:80]])
    gold.to_csv(tmp_path / "gold.csv", index=False, header=["item", "model", "label"])
    expected = compare(frame, gold=dict(list(truth.items())[40:80]))
    read = jurors.systems(tmp_path / "long.csv", by="model", gold=tmp_path / "gold.csv")
    assert read.systems["a"] == expected.systems["a"]
    assert read.differences[0].paired
    assert jurors.systems(long, by="model").systems["b"].items == 60
    shown = run("check", tmp_path / "long.csv", "--system", "model", "--min-difference", "b-a:0.1", "--card")
    assert (shown.exit_code, "FAIL      min-difference b - a" in shown.stdout) == (3, True)
    assert "rate of pass" in shown.stdout


# -- logs --------------------------------------------------------------------------------------------------------------


def votes_by_model(frame: Any) -> dict[str, Any]:
    words = {"pass": "C", "fail": "I"}
    judges = {name: part.filter(like="judge") for name, part in frame.groupby("model", sort=False)}
    return {name: part.replace(words).to_numpy().tolist() for name, part in judges.items()}


def inspect_log(model: str, votes: list[list[str]]) -> dict[str, Any]:
    scorers = [{"name": f"judge_{k}", "options": {}} for k in range(len(votes[0]))]
    samples = [
        {"id": k, "epoch": 1, "input": f"q{k}", "target": "a",
         "scores": {f"judge_{j}": {"value": vote} for j, vote in enumerate(row)}}
        for k, row in enumerate(votes)
    ]  # fmt: skip
    about = {"task": "quiz", "dataset": {"name": "d"}, "model": model, "scorers": scorers}
    return {"version": 2, "status": "success", "eval": about, "samples": samples}


def promptfoo_log(by_model: dict[str, list[list[str]]]) -> dict[str, Any]:
    results = [
        {"testIdx": k, "promptIdx": 0, "provider": {"id": model}, "prompt": {"raw": "q"}, "response": {"output": "a"},
         "gradingResult": {"componentResults": [
             {"pass": vote == "C", "assertion": {"type": "llm-rubric", "provider": f"j{j}", "value": "v"}}
             for j, vote in enumerate(row)]}}
        for model, rows in by_model.items() for k, row in enumerate(rows)
    ]  # fmt: skip
    return {"evalId": "e", "results": {"version": 3, "results": results}}


def mlflow_log(by_model: dict[str, list[list[str]]]) -> str:
    lines = [
        {"trace_id": f"tr-{model[4:]}{k}", "request": f"q{k}", "trace_metadata": {"mlflow.modelId": model},
         "assessments": [{"assessment_name": "ok", "valid": True, "source": {"source_id": f"j{j}"},
                          "feedback": {"value": vote == "C"}} for j, vote in enumerate(row)]}
        for model, rows in by_model.items() for k, row in enumerate(rows)
    ]  # fmt: skip
    return "\n".join(map(json.dumps, lines))


def test_logs_name_their_systems(tmp_path: Path) -> None:
    frame, _ = judged({"org/new": 0.9, "org/old": 0.4}, items=40)
    by_model = votes_by_model(frame)
    inspect = tmp_path / "inspect"
    inspect.mkdir()
    for name, rows in by_model.items():
        (inspect / f"{name[4:]}.json").write_text(json.dumps(inspect_log(name, rows)))
    (tmp_path / "promptfoo.json").write_text(json.dumps(promptfoo_log(by_model)))
    (tmp_path / "traces.jsonl").write_text(mlflow_log(by_model))
    expected = compare(frame).systems
    for place, paired in (("inspect", True), ("promptfoo.json", True), ("traces.jsonl", True)):
        read = jurors.systems(tmp_path / place)
        assert {name: x.rate for name, x in read.systems.items()} == {name: x.rate for name, x in expected.items()}
        assert read.differences[0].paired == paired, place
    shown = run("systems", inspect, "--format", "json")
    assert json.loads(shown.stdout)["good"] == "C"
    assert "names no two systems" in refused("systems", inspect / "new.json")
    sheet = jurors.audit.plan(tmp_path / "traces.jsonl", 20, by="trace_metadata.mlflow.modelId", seed=1)
    drawn = [re.fullmatch(r"tr-(new|old)(\d+)", str(item)).groups() for item in sheet.items]  # type: ignore[union-attr]
    numbers = [{number for name, number in drawn if name == system} for system in ("new", "old")]
    assert len(numbers[0] & numbers[1]) >= 9


def test_prompts_of_one_model_are_told_apart_by_their_arguments_labels_or_files(tmp_path: Path) -> None:
    frame, _ = judged({"new": 0.9, "old": 0.4}, items=40)
    expected = {name: x.rate for name, x in compare(frame).systems.items()}
    rows = votes_by_model(frame)
    runs = {"inspect": "prompt=", "labels": "", "files": ""}
    for name, votes in rows.items():
        inspect, promptfoo = inspect_log("gpt", votes), promptfoo_log({"gpt": votes})
        inspect["eval"]["task_args"] = {"prompt": name, "few_shot": 3}
        for k, sample in enumerate(inspect["samples"]):
            sample["output"] = {"choices": [{"message": {"content": f"{name} {k}"}}]}
        labelled = [{**x, "prompt": {"raw": "q", "label": name}} for x in promptfoo["results"]["results"]]
        for place, log in (("inspect", inspect), ("files", promptfoo)):
            (tmp_path / place).mkdir(exist_ok=True)
            (tmp_path / place / f"{name}.json").write_text(json.dumps(log))
        rows[name] = [{**x, "promptIdx": int(name == "old")} for x in labelled]
    both = {"evalId": "e", "results": {"version": 3, "results": [*rows["new"], *rows["old"]]}}
    (tmp_path / "labels").mkdir()
    (tmp_path / "labels" / "run.json").write_text(json.dumps(both))
    for place, prefix in runs.items():
        read = jurors.systems(tmp_path / place)
        assert {name: x.rate for name, x in read.systems.items()} == {prefix + n: x for n, x in expected.items()}, place
        assert read.differences[0].paired, place
    (tmp_path / "inspect" / "new.json").write_text((tmp_path / "inspect" / "old.json").read_text())
    assert "names no two systems" in refused("systems", tmp_path / "inspect")  # the same answers, judged again


@pytest.mark.slow
@pytest.mark.parametrize("tool, field", [("inspect", "model"), ("promptfoo", "provider")])
def test_the_guide_leads_from_a_log_to_a_sentence(tmp_path: Path, tool: str, field: str) -> None:
    """Is the new prompt better? The commands of docs/guides/systems.md, and a person's labels between them."""
    frame, truth = judged({"new": 0.9, "old": 0.4}, items=60)
    by_model = votes_by_model(frame)
    log, sheet = tmp_path / "logs", tmp_path / "sheet.csv"
    log.mkdir()
    if tool == "promptfoo":
        (log / "run.json").write_text(json.dumps(promptfoo_log(by_model)))
    else:
        for name, rows in by_model.items():
            (log / f"{name}.json").write_text(json.dumps(inspect_log(name, rows)))
    assert "2 systems, 5 judges" in run("systems", log).stdout
    assert run("audit", "plan", log, "--system", field, "-n", 100, "--seed", 1, "-o", sheet).exit_code == 0
    drawn = pd.read_csv(sheet)
    words = {"pass": "C", "fail": "I"} if tool == "inspect" else {"pass": "pass", "fail": "fail"}
    named = drawn["item"].str.extract(r"(?P<system>new|old)").join(drawn["item"].str.extract(r"(?P<question>\d+)"))
    drawn["label"] = [words[truth[f"q{x.question}:{x.system}"]] for x in named.itertuples()]
    drawn.to_csv(sheet, index=False)
    shown = run("audit", "result", log, "--system", field, "--answers", sheet, "--until", "order")
    assert (shown.exit_code, "new is proved to be the best." in shown.stdout) == (0, True)


@pytest.mark.parametrize("field", [{"environment"}, {"environment", "metadata"}])
def test_scores_of_langfuse_name_the_environment_or_the_model_of_their_metadata(
    tmp_path: Path, field: set[str]
) -> None:
    frame, _ = judged({"new": 0.9, "old": 0.4}, items=40)
    scores = [
        {"id": f"{k}-{j}", "traceId": f"trace-{k}", "name": f"judge_{j}", "source": "API", "dataType": "BOOLEAN",
         "timestamp": "2026-01-02T03:04:05Z",
         "value": int(row[f"judge_{j}"] == "pass"), "stringValue": "",
         **({"environment": "default", "metadata": {"model": row["model"]}} if "metadata" in field
            else {"environment": row["model"]})}
        for k, row in enumerate(frame.to_dict("records")) for j in range(5)
    ]  # fmt: skip
    path = tmp_path / "scores.jsonl"
    path.write_text("\n".join(map(json.dumps, scores)))
    read = jurors.systems(path)
    assert read.good is True
    assert {name: x.rate for name, x in read.systems.items()} == {
        name: x.rate for name, x in compare(frame).systems.items()
    }


def test_models_of_lm_eval_are_jurors_and_the_refusal_names_the_command_that_compares_them() -> None:
    samples = Path(__file__).parents[1] / "votes" / "readers" / "samples" / "lm_eval"
    refusal = refused("systems", samples, "--from", "lm-eval:colours")
    assert "are its jurors" in refusal
    assert "jurors score LOG --key target" in refusal
    assert run("score", samples, "--from", "lm-eval:colours", "--key", "target").exit_code == 0


# -- what cannot be compared, from the shell ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("systems one.csv --system model", "at least two systems, and the column of systems names only 'a'"),
        ("systems two.csv", "name the column of systems with --system, one of 'model', 'length', 'word'"),
        ("systems two.csv --system modle", "Did you mean 'model'?"),
        ("systems two.csv --system model --good pas", "Did you mean 'pass'?"),
        ("systems two.csv --system model --gold gold.csv", "no item with a true label (such as 'q999:a')"),
        ("systems two.csv --system model --covariate lenght", "Did you mean 'length'?"),
        ("systems two.csv --system model --covariate flat", "'flat' has one value only, '7'"),
        ("systems two.csv --system model --covariate word", "160 different texts; give numbers, or 2 to 12 categories"),
        ("systems two.csv --system model --adjust flat", "'flat' has one value only, '7'"),
        ("systems two.csv --system model --family x=judge_0,c", "there is no judge or system 'c'"),
        ("systems two.csv --system model --not-own-family", "name a system too, as in openai=judge-1,gpt-4o"),
        ("systems sizes.csv --system model", "make levels of these numbers: --bins 7"),
        ("systems stars.csv --system model --scale nominal", "name it with --good, one of 1, 2, 3"),
        ("compare panel.csv --panels --price judge_9=1", "there is no juror 'judge_9'"),
        ("audit plan two.csv --system model --between a,x", "there is no system 'x'"),
    ],
)
def test_what_cannot_be_compared_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    frame = judged({"a": 0.8, "b": 0.6}, items=80)[0].assign(length=range(160), flat=7)
    frame["word"] = [f"w{k}" for k in range(160)]
    frame.to_csv("two.csv", index=False)
    frame[frame.model == "a"].to_csv("one.csv", index=False)
    frame.filter(like="judge").to_csv("panel.csv", index=False)
    numbers = np.random.default_rng(0).normal(50, 10, (160, 1)) + np.arange(3)
    for name, cells in (("sizes", numbers.round(1)), ("stars", np.clip(numbers // 10 - 3, 1, 3).astype(int))):
        pd.DataFrame(cells, columns=list("xyz")).assign(model=frame.model).to_csv(f"{name}.csv", index=False)
    Path("gold.csv").write_text("item,label\nq999:a,pass\n")
    assert message in refused(*command.split())


def test_more_than_500_systems_are_another_column() -> None:
    with pytest.raises(OptionError, match="at most 500 systems"):
        jurors.systems(judged({f"s{k}": 0.5 for k in range(501)}, items=2)[0], by="model")


def test_systems_without_common_questions_are_compared_and_called_unpaired(tmp_path: Path) -> None:
    frame, _ = judged({"a": 0.8, "b": 0.6, "c": 0.5}, items=40)
    path = tmp_path / "votes.csv"
    unpaired = "no systems share questions: differences are not paired"
    frame.to_csv(path, index=False)
    assert unpaired not in run("systems", path, "--system", "model").stdout
    b = frame["model"] == "b"
    frame.loc[b, "item"] = [f"b:other {k}" for k in range(40)]
    found = {frozenset((d.a, d.b)): d.paired for d in jurors.systems(frame, by="model").differences}
    assert found == {frozenset("ab"): False, frozenset("ac"): True, frozenset("bc"): False}
    frame.to_csv(path, index=False)
    assert "2 of 3 pairs of systems share few questions" in " ".join(
        run("systems", path, "--system", "model").stdout.split()
    )
    frame[frame["model"] != "c"].to_csv(path, index=False)
    assert unpaired in run("systems", path, "--system", "model").stdout


@pytest.mark.parametrize("pattern", ["{q}|{s}", "{s}/{q}", "{s}{q}", "{q} - {s}"])
@pytest.mark.parametrize(("first", "second"), [("a", "b"), ("new", "new-2"), ("x.y", "x y"), ("q", "1")])
def test_a_name_that_occurs_in_the_question_too_is_no_obstacle_to_pairs(pattern: str, first: str, second: str) -> None:
    questions = [f"task a {k} and b" for k in range(30)] if pattern != "{s}{q}" else [f" {k}:" for k in range(30)]
    items = [pattern.format(q=q, s=s) for s in (first, second) for q in questions]
    votes = jurors.Votes.from_matrix([["pass"] * 3, ["fail"] * 3] * 30, items=items)
    assert jurors.systems(votes, by=[first] * 30 + [second] * 30).differences[0].paired


def test_a_system_with_few_items_changes_no_interval_of_the_others_and_many_systems_fit_a_card() -> None:
    frame, _ = judged({"a": 0.9, "b": 0.3}, items=100)
    few = frame[frame.model == "a"].head(3).assign(model="tiny", item=["t1", "t2", "t3"])
    for k in range(5):  # against what everybody else gives
        few[f"judge_{k}"] = "pass" if k % 2 else "fail"
    alone, together = compare(frame), compare(pd.concat([frame, few]))
    width = [x.differences[0].high - x.differences[0].low for x in (alone, together)]
    assert together.differences[0].b == "tiny" or width[1] == pytest.approx(width[0], rel=0.1)
    by_name = {(d.a, d.b): d.high - d.low for d in together.differences}
    assert by_name["a", "b"] == pytest.approx(width[0], rel=0.1)
    assert together.with_gold[50].rate == pytest.approx(alone.with_gold[50].rate, rel=0.1)
    many = jurors.systems(judged({f"s{k}": 0.5 for k in range(30)}, items=12)[0], by="model")
    assert "10 more systems" in many.to_text()
    assert len(many.to_text(full=True).splitlines()) > 400


# -- which way judges lean ---------------------------------------------------------------------------------------------


def with_length(slope: float, *, quality: float = 0.6, items: int = 500, seed: int = 0) -> Any:
    """Answers of two systems with their length; long answers are better, and judge_0 favours them besides."""
    rng = np.random.default_rng(seed)
    length = rng.normal(size=items) + np.repeat([1.0, 0.0], items // 2)
    truth = rng.random(items) < 1 / (1 + np.exp(-quality * length))
    rate = np.where(truth, 0.85, 0.15)[:, None] + np.array([slope, 0, 0, 0, 0]) * length[:, None]
    frame = pd.DataFrame(
        np.where(rng.random((items, 5)) < rate, "pass", "fail"), columns=[f"judge_{k}" for k in range(5)]
    )
    about = {"item": [f"i{k}" for k in range(items)], "model": ["long"] * (items // 2) + ["short"] * (items // 2)}
    return frame.assign(**about, length=length), dict(zip(about["item"], np.where(truth, "pass", "fail"), strict=True))


@pytest.mark.slow
def test_a_judge_that_favours_long_answers_is_found_and_no_other_is() -> None:
    found = [
        {leaning.judge for leaning in jurors.systems(frame, by="model", covariate="length").leanings if leaning.found}
        for frame, _ in (with_length(slope, seed=seed) for slope in (0.15, 0.0) for seed in range(5))
    ]
    assert found == [{"judge_0"}] * 5 + [set()] * 5
    result = jurors.systems(with_length(0.15)[0], by="model", covariate="length")
    assert any(line.startswith("judge_0 favours high length: ") for line in result.sentences())
    assert result.leanings[0].low > 0.04
    assert json.loads(result.to_json())["leanings"][0]["judge"] == "judge_0"
    clean = jurors.systems(with_length(0.0)[0], by="model", covariate="length")
    assert "No judge is found to favour answers by length beyond the others." in clean.sentences()


def test_gold_shows_a_leaning_that_all_judges_share() -> None:
    frame, truth = with_length(0.0)
    rng, judges = np.random.default_rng(1), [f"judge_{k}" for k in range(5)]
    lenient = rng.random(len(frame)) < 0.6 * (frame.length > 0.5)
    frame.loc[lenient, judges] = "pass"
    gold = {item: truth[item] for item in frame["item"][::2]}
    leanings = jurors.systems(frame, by="model", covariate="length", gold=gold).leanings
    assert {leaning.judge for leaning in leanings if leaning.found and leaning.by == "gold"} >= {None}


def test_systems_are_compared_at_equal_length(tmp_path: Path) -> None:
    frame, _ = with_length(0.0, quality=1.2)
    raw = jurors.systems(frame.drop(columns="length"), by="model").differences[0]
    frame.to_csv(tmp_path / "votes.csv", index=False)
    adjusted = jurors.systems(tmp_path / "votes.csv", by="model", adjust="length")
    (level,) = adjusted.differences
    assert (raw.a, raw.b) == ("long", "short")
    gap = level.difference if level.a == "long" else -level.difference
    assert raw.difference > 0.1 > abs(gap)
    assert adjusted.adjusted == "length"
    shown = run("systems", tmp_path / "votes.csv", "--system", "model", "--adjust", "length", "--covariate", "length")
    assert "rate of pass at equal length" in shown.stdout


def test_categories_and_values_in_memory_are_covariates() -> None:
    frame, _ = with_length(0.3, items=400)
    votes = frame.filter(like="judge").to_numpy()
    place = np.where(frame.length > frame.length.median(), "first", "second")
    (first, *_) = jurors.systems(votes, by=frame.model.tolist(), covariate={"place": place.tolist()}).leanings
    assert (first.contrast, first.found, first.slope < 0) == ("second", True, True)
    for values, message in ((["x"] * 400, "different texts"), ([1] * 400, "one value only"), ([None] * 400, "value")):
        with pytest.raises(JurorsError, match=message):
            jurors.systems(votes, by=frame.model.tolist(), covariate={"place": values})
    with pytest.raises(OptionError, match="'length': give its values"):
        jurors.systems(votes, by=frame.model.tolist(), covariate="length")


def test_a_family_of_judges_gives_the_numbers_of_check_and_report() -> None:
    frame = judged({"a": 0.9, "b": 0.6}, accuracy=0.8)[0]
    family = {"gpt": ["judge_0", "judge_1"]}
    found = jurors.systems(frame, by="model", family=family)
    checked = jurors.check(frame, system="model", family=family, min_difference="a-b:0.02")
    assert checked.systems is not None
    assert found.to_dict() == checked.systems.to_dict()
    assert found.evaluation.family is not None
    assert found.systems != jurors.systems(frame, by="model").systems


def test_judges_who_favour_their_own_family_are_found_and_left_out() -> None:
    rng = np.random.default_rng(2)
    names = np.repeat(["a", "b", "c", "d", "e", "f"], 300)
    truth = rng.random(len(names)) < 0.5
    judges = [f"judge {name}" for name in "abcdef"]
    chance = np.where(truth[:, None], 0.85, 0.2) + 0.12 * (names[:, None] == np.array(list("abcdef")))
    votes = jurors.Votes.from_matrix(np.where(rng.random(chance.shape) < chance, "pass", "fail"), jurors=judges)
    family = {name: [name, f"judge {name}"] for name in "abcdef"}
    found = jurors.systems(votes, by=names.tolist(), family=family)
    assert found.self_preference is not None
    assert found.self_preference.difference == pytest.approx(0.12, abs=0.04)
    assert found.self_preference.p < 0.02
    assert "own family" in str(found)
    without = jurors.systems(votes, by=names.tolist(), family=family, not_own_family=True)
    assert sum(without.evaluation.votes.values()) == 5 * len(names)
    assert all(without.systems[name].rate < found.systems[name].rate for name in "abcdef")
    own = {name: family[name] for name in "abc"}
    three = jurors.systems(votes.take(judges[:3]), by=names.tolist(), family=own, not_own_family=True)
    assert not any(alarm.kind == "missing_votes" for alarm in three.alarms)  # the user left out no vote
    with pytest.raises(OptionError, match="no family= holds both a judge and a system"):
        jurors.systems(votes, by=names.tolist(), family={"x": ["a", "b"]})
    with pytest.raises(OptionError, match="no judge or system 'g'"):
        jurors.systems(votes, by=names.tolist(), family={"x": ["judge a", "g"]})


def test_without_self_preference_the_permutation_test_is_rarely_significant() -> None:
    rng = np.random.default_rng(3)
    own = np.eye(5, dtype=bool)
    tests = [
        self_preference(rng.random((5, 1)) + rng.random(5) + 0.05 * rng.normal(size=(5, 5)), own) for _ in range(200)
    ]
    assert np.mean([test is not None and test.p <= 0.05 for test in tests]) <= 0.09
