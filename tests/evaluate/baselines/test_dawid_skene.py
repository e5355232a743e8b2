"""Dawid and Skene's EM, in memory and inside an engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from simulated_juries import as_sparse, simulate, two_label_tables
from strategies import examples, sketches

from jurors import Votes
from jurors.errors import OptionError, SketchError, VotesError
from jurors.evaluate.baselines.dawid_skene import EngineFit, evaluate_dawid_skene, evaluate_on_engine
from jurors.sketch.sketch import Sketch


def plain_em(sketch: Sketch, rounds: int) -> tuple[dict[Any, float], dict[Any, float]]:
    """Dawid and Skene's equations (2.3) to (2.5) written out, vote by vote."""
    tuples = {t: n for t, n in sketch.to_counts().items() if any(v is not None for v in t)}
    said = {t: [v for v in t if v is not None] for t in tuples}
    q = {t: {a: said[t].count(a) / len(said[t]) for a in sketch.labels} for t in tuples}
    for _ in range(rounds + 1):
        p = {a: sum(n * q[t][a] for t, n in tuples.items()) / sum(tuples.values()) for a in sketch.labels}
        pi = {}
        for j in range(len(sketch.jurors)):
            for a in sketch.labels:
                met = sum(n * q[t][a] for t, n in tuples.items() if t[j] is not None)
                for b in sketch.labels:
                    pi[j, a, b] = sum(n * q[t][a] for t, n in tuples.items() if t[j] == b) / met if met else np.nan
        for t in tuples:
            joint = {a: p[a] for a in sketch.labels}
            for j, v in enumerate(t):
                if v is not None:
                    rate = {a: 1 / len(joint) if np.isnan(pi[j, a, v]) else pi[j, a, v] for a in joint}
                    joint = {a: x * rate[a] for a, x in joint.items()}
            q[t] = {a: x / sum(joint.values()) for a, x in joint.items()}
    return p, pi


@examples(40)
@given(sketches(jurors=3, labels="ABC", missing=True))
def test_every_round_follows_the_published_equations(sketch: Sketch) -> None:
    if not any(n and any(v is not None for v in t) for t, n in sketch.to_counts().items()):
        return
    solution = evaluate_dawid_skene(sketch, max_iterations=7, tolerance=-1.0).solution
    p, pi = plain_em(sketch, 7)
    assert np.allclose([solution.prevalence[a] for a in "ABC"], [p[a] for a in "ABC"], atol=1e-9)
    for (j, a, b), expected in pi.items():
        number = solution.confusion[f"juror {j}"][a][b]
        if p[a] > 1e-9:
            assert np.isclose(np.nan if number is None else number, expected, atol=1e-6, equal_nan=True)


def test_a_large_sparse_panel_takes_the_sparse_road_and_beats_the_majority() -> None:
    tables = two_label_tables([(a, b) for a, b in np.random.default_rng(3).uniform(0.6, 0.95, size=(300, 2))])
    sketch, codes, truth = simulate((0.35, 0.65), tables, 4_000, missing=0.97)
    fit = evaluate_dawid_skene(as_sparse(sketch))
    assert fit.posterior is not None
    _, right = np.unique(codes, axis=0, return_inverse=True)
    majority = (codes == 1).sum(axis=1) > (codes == 0).sum(axis=1)
    chosen = fit.posterior.argmax(axis=1)[right.ravel()]
    assert (chosen == truth).mean() > (majority == truth).mean() + 0.01


def test_items_without_votes_belong_to_no_label_and_unused_labels_have_no_accuracy() -> None:
    counts = {("A", "A", None): 2, ("B", None, "B"): 2, (None, None, None): 96}
    fit = evaluate_dawid_skene(Sketch.from_counts(counts, jurors=("ann", "bob", "cy"), labels=("A", "B", "C")))
    assert fit.solution.prevalence == {"A": 0.5, "B": 0.5, "C": 0.0}
    assert fit.solution.accuracy["bob"] == {"A": 1.0, "B": None, "C": None}
    assert fit.solution.score == {"ann": 1.0, "bob": 1.0, "cy": 1.0}


def test_a_tuple_that_never_occurred_and_cannot_has_no_posterior() -> None:
    counts = {"AAA": 5, "BBB": 5, "ABA": 0}
    fit = evaluate_dawid_skene(Sketch.from_counts(counts, jurors="ijk"))
    assert fit.posterior is not None
    assert np.isnan(fit.posterior).all(axis=1).tolist() == [False, True, False]


def test_a_sketch_without_votes_is_refused() -> None:
    with pytest.raises(SketchError, match="no vote"):
        evaluate_dawid_skene(Sketch.from_counts({(None, None): 3}, jurors=("ann", "bob"), labels=("A", "B")))


# -- EM as joins and group-bys on an engine: the same rounds, from the same start to the same end, as in memory


def long_votes(items: int, width: int, labels: int, seed: int = 0) -> pd.DataFrame:
    """Three votes per item; jurors are named, and so are labels."""
    rng = np.random.default_rng(seed)
    row, truth = np.repeat(np.arange(items), 3), rng.integers(0, labels, items)
    juror = ((rng.integers(0, width, items)[:, None] + np.arange(3) * (1 + width // 7)) % width).ravel()
    right = rng.random(len(row)) < rng.uniform(0.5, 0.9, width)[juror]
    said = np.where(right, truth[row], rng.integers(0, labels, len(row)))
    return pd.DataFrame({"item": row, "juror": [f"j{k:04}" for k in juror], "label": [f"l{k}" for k in said]})


def as_dask(frame: pd.DataFrame) -> Any:
    return pytest.importorskip("dask.dataframe").from_pandas(frame, npartitions=2)


ENGINES = [
    pytest.param(lambda frame: frame, id="pandas"),
    pytest.param(lambda frame: pl.from_pandas(frame).lazy(), id="polars"),
    pytest.param(duckdb.from_df, id="duckdb"),
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
    with pytest.raises(VotesError, match=r"'j\d+' voted 3 times on item 1. Keep one") as refused:
        evaluate_on_engine(engine(twice))
    assert refused.value.code == "repeated_votes"
    assert refused.value.about["repeated"] == 2


@pytest.mark.slow
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


def test_words_of_a_fixed_list_are_words_and_columns_may_have_other_names() -> None:
    frame = pl.from_pandas(long_votes(60, 6, 2))
    names: dict[str, Any] = {"item": "task", "juror": "worker", "label": "answer"}
    listed = frame.with_columns(pl.col("juror").cast(pl.Categorical), pl.col("label").cast(pl.Enum(["l0", "l1"])))
    named = evaluate_on_engine(listed.rename(names).lazy(), **names)
    assert named.score == pytest.approx(evaluate_on_engine(frame.lazy()).score)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"juror": "jurors"}, r"there is no column 'jurors'\. Did you mean 'juror'"),
        ({"max_rounds": 0}, "max_rounds must be at least 1, not 0"),
    ],
)
def test_a_column_that_is_not_there_and_no_round_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises((VotesError, OptionError), match=message):
        evaluate_on_engine(long_votes(5, 4, 2), **options)
