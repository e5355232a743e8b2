"""EM as joins and group-bys on an engine: the same rounds, from the same start to the same end, as in memory."""

from __future__ import annotations

from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

from jurors import Votes
from jurors.errors import VotesError
from jurors.evaluate.rivals.dawid_skene import evaluate_dawid_skene
from jurors.evaluate.rivals.engine_steps import evaluate_on_engine
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
    pytest.param(as_dask, id="dask", marks=[pytest.mark.engine, pytest.mark.slow]),
]


@pytest.mark.parametrize("engine", ENGINES)
def test_the_rounds_on_an_engine_are_those_in_memory(engine: Any) -> None:
    frame = long_votes(400, 12, 3)
    frame = frame[np.arange(len(frame)) % 7 > 0].reset_index(drop=True)  # items with more votes and with fewer
    there = evaluate_on_engine(engine(frame), max_rounds=3, tolerance=-1.0)
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
    ],
)
def test_no_vote_or_a_nameless_one_is_refused(frame: dict[str, list[Any]]) -> None:
    with pytest.raises(VotesError):
        evaluate_on_engine(pl.DataFrame(frame))


@pytest.mark.slow
def test_a_million_votes_give_the_in_memory_result() -> None:
    frame = long_votes(333_334, 40, 3)
    there = evaluate_on_engine(pl.from_pandas(frame).lazy(), tolerance=1e-5)
    here = evaluate_dawid_skene(Sketch.from_votes(Votes.from_frame(frame)), tolerance=1e-5)
    assert there.score.tolist() == pytest.approx(list(here.solution.score.values()), abs=5e-3)
    assert there.log_likelihood == pytest.approx(here.details["log_likelihood"], rel=1e-5)
