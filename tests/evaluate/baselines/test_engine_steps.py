"""EM as joins and group-bys on an engine: the same rounds, from the same start to the same end, as in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

from jurors import Votes
from jurors.errors import OptionError, VotesError
from jurors.evaluate.baselines.dawid_skene import EngineFit, evaluate_dawid_skene, evaluate_on_engine
from jurors.sketch import Sketch


def long_votes(items: int, width: int, labels: int, seed: int = 0) -> pd.DataFrame:
    """Three votes per item; jurors are named, and so are labels."""
    rng = np.random.default_rng(seed)
    row, truth = np.repeat(np.arange(items), 3), rng.integers(0, labels, items)
    juror = ((rng.integers(0, width, items)[:, None] + np.arange(3) * (1 + width // 7)) % width).ravel()
    right = rng.random(len(row)) < rng.uniform(0.5, 0.9, width)[juror]
    said = np.where(right, truth[row], rng.integers(0, labels, len(row)))
    return pd.DataFrame({"item": row, "juror": [f"j{k:04}" for k in juror], "label": [f"l{k}" for k in said]})


def as_dask(frame: pd.DataFrame) -> Any:
    """In two partitions."""
    return pytest.importorskip("dask.dataframe").from_pandas(frame, npartitions=2)


def as_duckdb(frame: pd.DataFrame) -> Any:
    """A relation."""
    return duckdb.from_df(frame)


ENGINES = [
    pytest.param(lambda frame: frame, id="pandas"),
    pytest.param(lambda frame: pl.from_pandas(frame).lazy(), id="polars"),
    pytest.param(as_duckdb, id="duckdb"),
    pytest.param(lambda frame: duckdb.connect().from_df(frame), id="duckdb, a connection of its own"),
    pytest.param(as_dask, id="dask", marks=[pytest.mark.engine, pytest.mark.slow]),
]


@pytest.mark.parametrize("engine", ENGINES)
def test_the_rounds_on_an_engine_are_those_in_memory(engine: Any) -> None:
    frame = uneven_votes()
    _assert_as_in_memory(evaluate_on_engine(engine(frame), max_rounds=3, tolerance=-1.0), frame)


@pytest.mark.engine
@pytest.mark.slow
def test_the_rounds_in_spark_are_those_in_memory(spark: Any, tmp_path: Path) -> None:
    frame = uneven_votes()
    frame.to_parquet(tmp_path / "votes.parquet")
    votes = spark.read.parquet(str(tmp_path / "votes.parquet"))
    there = evaluate_on_engine(votes, max_rounds=3, tolerance=-1.0)
    _assert_as_in_memory(there, frame)
    assert there.posterior.count() == frame["item"].nunique()


def uneven_votes() -> pd.DataFrame:
    """Items with more votes and with fewer."""
    frame = long_votes(400, 12, 3)
    return frame[np.arange(len(frame)) % 7 > 0].reset_index(drop=True)


def _assert_as_in_memory(there: EngineFit, frame: pd.DataFrame) -> None:
    here = evaluate_dawid_skene(Sketch.from_votes(Votes.from_frame(frame)), max_iterations=3, tolerance=0.0)
    assert list(there.jurors) == list(here.solution.jurors)
    assert there.prevalence == pytest.approx(np.array(here.solution.prevalences, dtype=float), abs=1e-9)
    assert there.confusion == pytest.approx(np.array(here.solution.confusions, dtype=float), abs=1e-9, nan_ok=True)
    assert there.score.tolist() == pytest.approx(list(here.solution.score.values()), abs=1e-9)
    assert (there.rounds, there.converged) == (3, False)


def test_the_items_stay_on_the_engine() -> None:
    votes = pl.from_pandas(long_votes(200, 8, 2)).lazy()
    fit, close = evaluate_on_engine(votes), evaluate_on_engine(votes, tolerance=3e-6)
    chances = fit.posterior.collect()
    assert fit.converged
    assert 2 < fit.rounds < close.rounds
    assert abs(close.log_likelihood - fit.log_likelihood) < 1e-3 * abs(fit.log_likelihood)
    assert (chances.columns, len(chances)) == (["item", "q0", "q1"], 200)
    assert (chances["q0"] + chances["q1"]).to_list() == pytest.approx([1.0] * 200)


@pytest.mark.slow
def test_columns_may_have_other_names() -> None:
    frame = long_votes(50, 5, 2)
    renamed = frame.rename(columns={"item": "task", "juror": "worker", "label": "answer"})
    named = evaluate_on_engine(renamed, item="task", juror="worker", label="answer")
    assert named.score == pytest.approx(evaluate_on_engine(frame).score, abs=1e-9)


@pytest.mark.parametrize(
    "frame",
    [
        pytest.param({"item": [], "juror": [], "label": []}, id="empty"),
        pytest.param({"item": [1, 2], "juror": ["a", None], "label": ["x", "y"]}, id="nameless"),
        pytest.param({"item": [1, None], "juror": ["a", "b"], "label": ["x", "y"]}, id="of no item"),
        pytest.param({"item": [1, 2], "juror": ["a", "b"], "label": [1.0, float("nan")]}, id="no number"),
    ],
)
def test_no_vote_or_a_nameless_one_is_refused(frame: dict[str, list[Any]]) -> None:
    with pytest.raises(VotesError):
        evaluate_on_engine(pl.DataFrame(frame))


@pytest.mark.parametrize("engine", ENGINES)
def test_a_second_vote_is_noticed_and_not_counted(engine: Any) -> None:
    frame = long_votes(30, 6, 2)
    twice = pd.concat([frame, frame.iloc[[4]], frame.iloc[[4]]], ignore_index=True)
    with pytest.raises(VotesError, match=r"'j\d+' voted 3 times on item 1; keep one") as refused:
        evaluate_on_engine(engine(twice))
    assert refused.value.code == "repeated_votes"
    assert refused.value.about["repeated"] == 2


def test_a_column_that_is_not_there_is_named() -> None:
    with pytest.raises(VotesError, match=r"there is no column 'jurors'\. Did you mean 'juror'"):
        evaluate_on_engine(long_votes(5, 4, 2), juror="jurors")


def test_a_table_of_the_same_name_is_not_taken_for_ours() -> None:
    frame = long_votes(40, 6, 2)
    own = duckdb.connect()
    own.execute("CREATE TABLE sent (juror VARCHAR, said VARCHAR, q0 DOUBLE, q1 DOUBLE)")
    own.execute("CREATE TABLE here AS SELECT * FROM sent")
    assert evaluate_on_engine(own.from_df(frame)).score == pytest.approx(evaluate_on_engine(frame).score)


def test_a_connection_that_lets_no_table_in_is_told() -> None:
    own = duckdb.connect(config={"python_enable_replacements": "false"})
    with pytest.raises(VotesError, match="python_enable_replacements"):
        evaluate_on_engine(own.from_df(long_votes(20, 5, 2)))


def test_words_of_a_fixed_list_are_words() -> None:
    frame = pl.from_pandas(long_votes(60, 6, 2))
    listed = frame.with_columns(pl.col("juror").cast(pl.Categorical), pl.col("label").cast(pl.Enum(["l0", "l1"])))
    assert evaluate_on_engine(listed.lazy()).score == pytest.approx(evaluate_on_engine(frame.lazy()).score)


def test_no_round_is_no_answer() -> None:
    with pytest.raises(OptionError, match="max_rounds must be at least 1, not 0"):
        evaluate_on_engine(long_votes(5, 4, 2), max_rounds=0)


@pytest.mark.slow
def test_a_million_votes_give_the_in_memory_result() -> None:
    frame = long_votes(333_334, 40, 3)
    there = evaluate_on_engine(pl.from_pandas(frame).lazy(), tolerance=1e-5)
    here = evaluate_dawid_skene(Sketch.from_votes(Votes.from_frame(frame)), tolerance=1e-5)
    assert there.score.tolist() == pytest.approx(list(here.solution.score.values()), abs=5e-3)
    assert there.log_likelihood == pytest.approx(here.details["log_likelihood"], rel=1e-5)
