"""Every engine gives the same sketch, to the count, and refuses the same tables."""

from __future__ import annotations

import json
import re
import runpy
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

import jurors
from jurors import Monitor, Sketch, VotesError
from jurors.votes.frame import votes_from_frame

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # of the engines about each other
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning:pyspark"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
EXAMPLE = Path(__file__).parents[2] / "examples" / "spark_stream.py"
Make = Callable[[pa.Table], Any]


class Capsule:
    """An object that knows nothing but how to stream itself, once."""

    def __init__(self, table: pa.Table) -> None:
        self._reader = table.to_reader()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._reader.__arrow_c_stream__(requested_schema)


def categories(table: pa.Table) -> pa.Table:
    """The text columns dictionary-encoded."""
    for k, name in enumerate(table.column_names):
        if pa.types.is_string(table[name].type):
            table = table.set_column(k, name, table[name].dictionary_encode())
    return table


def _ibis(table: pa.Table) -> Any:
    import ibis

    return ibis.memtable(table)


def _enum_relation(table: pa.Table) -> Any:
    connection = duckdb.connect()
    connection.from_arrow(table).create("votes")
    for k, name in enumerate(table.column_names):
        if pa.types.is_string(table[name].type) and table[name].null_count < len(table):
            kind, column = f"kind{k}", f'"{name}"'
            connection.execute(
                f"CREATE TYPE {kind} AS ENUM (SELECT DISTINCT {column} FROM votes WHERE {column} NOTNULL)"
            )
            connection.execute(f"ALTER TABLE votes ALTER {column} TYPE {kind}")
    return connection.table("votes")


IN_ORDER: dict[str, Make] = {
    "pandas": lambda table: table.to_pandas(),
    "pandas nullable": lambda table: table.to_pandas().convert_dtypes(),
    "pandas object": lambda table: table.to_pandas().astype(object),
    "pandas category": lambda table: categories(table).to_pandas(),
    "polars": lambda table: pl.DataFrame(table),
    "polars lazy": lambda table: pl.DataFrame(table).lazy(),
    "polars categorical": lambda table: pl.DataFrame(categories(table)).lazy(),
    "pyarrow": lambda table: table,
    "pyarrow dictionary": categories,
    "record batches": lambda table: table.to_reader(max_chunksize=2),
    "capsule": Capsule,
}
CHEAP: dict[str, Make] = {
    **IN_ORDER,
    "duckdb": lambda table: duckdb.from_arrow(table, connection=duckdb.connect()),
    "duckdb enum": _enum_relation,
    "ibis": _ibis,
}
FAST = ("pandas", "polars", "polars lazy", "pyarrow", "duckdb")
SLOW_TO_START = ("ibis", "dask", "spark")


def engines(*names: str) -> list[Any]:
    """The names, those that daily work can do without marked as such."""
    marks = {name: pytest.mark.engine if name in SLOW_TO_START else pytest.mark.slow for name in names}
    return [name if name in FAST else pytest.param(name, marks=marks[name]) for name in names]


@pytest.fixture(scope="session")
def dask_client() -> Iterator[Any]:
    """A client of a Dask cluster with a scheduler and one worker in a process of its own: slow to start."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from distributed import Client, LocalCluster

        cluster = LocalCluster(n_workers=1, threads_per_worker=2, processes=True, dashboard_address=None)
        client = Client(cluster)
    yield client
    client.close()
    cluster.close()


@pytest.fixture(params=engines(*CHEAP, "dask", "spark"))
def make(request: pytest.FixtureRequest) -> Make:
    """How an Arrow table becomes a frame of an engine."""
    if request.param == "spark":
        session = request.getfixturevalue("spark")
        return lambda table: session.createDataFrame(table)
    if request.param == "dask":
        request.getfixturevalue("dask_client")
        import dask.dataframe as dd

        return lambda table: dd.from_pandas(table.to_pandas(), npartitions=min(3, max(len(table), 1)))
    return CHEAP[request.param]


def everything(sketch: Sketch) -> tuple[Any, ...]:
    """All there is in a sketch, the order of everything included."""
    kinds = [type(label) for label in sketch.labels]
    return sketch.jurors, sketch.labels, kinds, sketch.decisions(), sketch.counts.tolist()


def reference(table: pa.Table, **options: Any) -> tuple[Any, ...]:
    return everything(Sketch.from_votes(votes_from_frame(table, **options)))


CASES = json.loads((Path(__file__).parent / "tables.json").read_text(encoding="utf-8"))


def table_of(columns: dict[str, list[Any]]) -> pa.Table:
    """A column without a value is text."""
    return pa.table(
        {
            name: pa.array(cells, None if any(c is not None for c in cells) else pa.string())
            for name, cells in columns.items()
        }
    )


@pytest.mark.parametrize("name", CASES["counted"])
def test_every_engine_gives_the_same_sketch(make: Make, name: str) -> None:
    table, options = table_of(CASES["counted"][name]["columns"]), CASES["counted"][name]["options"]
    assert everything(Sketch.from_frame(make(table), **options)) == reference(table, **options)
    assert reference(make(table), **options) == reference(table, **options)


@pytest.mark.parametrize("name", CASES["refused"])
def test_every_engine_refuses_the_same_tables_in_one_line(make: Make, name: str) -> None:
    case = CASES["refused"][name]
    with pytest.raises(VotesError, match=case["message"]) as caught:
        Sketch.from_frame(make(table_of(case["columns"])), **case["options"])
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("engine", engines(*(name for name in CHEAP if name != "pandas category")))
@pytest.mark.parametrize("cells", [[["x"], ["y"]], [{"k": 1}, {"k": 2}]], ids=["list", "struct"])
def test_lists_and_structs_are_no_labels(engine: str, cells: list[Any]) -> None:
    with pytest.raises(VotesError, match=r"column 'a' holds .* values, not labels or names"):
        Sketch.from_frame(CHEAP[engine](pa.table({"a": cells, "b": ["x", "y"]})))


# -- laws ---------------------------------------------------------------------------------------------------

texts = st.sampled_from(["x", "y", " y", "z", "", "-", None])
numbers = st.sampled_from([0, 1, 2, None])


def outcome(work: Callable[[], tuple[Any, ...]]) -> tuple[Any, ...]:
    """What comes out; of a refusal, what every engine can say of it."""
    try:
        return work()
    except VotesError as error:
        return ("refused", re.findall(r"\d+ repeated|is missing|is empty", str(error)))


def assert_one_sketch(table: pa.Table) -> None:
    """Every engine gives the sketch of the reference, or refuses the table as it does."""
    expected = outcome(lambda: reference(table, missing=["-"]))
    for name in FAST:
        frame = CHEAP[name](table)
        assert outcome(lambda f=frame: everything(Sketch.from_frame(f, missing=["-"]))) == expected, name  # type: ignore[misc]


@pytest.mark.slow
@examples(60)
@given(cells=st.sampled_from([texts, numbers]), data=st.data())
def test_random_tables_give_one_sketch(cells: st.SearchStrategy[Any], data: st.DataObject) -> None:
    kind = pa.int64() if cells is numbers else pa.string()
    rows = data.draw(st.lists(st.tuples(cells, cells, cells), min_size=1, max_size=8))
    item = data.draw(st.none() | st.lists(st.sampled_from("pqrstuv"), min_size=len(rows), max_size=len(rows)))
    columns = {f"j{k}": pa.array([row[k] for row in rows], kind) for k in range(3)}
    assert_one_sketch(pa.table({"item": item, **columns} if item else columns))
    vote = st.tuples(st.sampled_from(["p", "q", " q", "r"]), st.sampled_from(["a", "b", "c "]), cells)
    unique_by = data.draw(st.sampled_from([id, lambda v: v[:2]]))
    who, juror, label = zip(*data.draw(st.lists(vote, min_size=1, max_size=9, unique_by=unique_by)), strict=True)
    assert_one_sketch(pa.table({"item": who, "juror": juror, "label": pa.array(label, kind)}))


# -- size -----------------------------------------------------------------------------------------------------


def wide_and_long(items: int, width: int, seed: int = 0) -> tuple[pa.Table, pa.Table]:
    """Votes of binary jurors, some missing, in both layouts."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(-1, 2, (items, width))
    words = np.array(["no", "yes", None], dtype=object)
    names = [f"j{k:03}" for k in range(width)]
    wide = pa.table({name: pa.array(words[codes[:, k]], pa.string()) for k, name in enumerate(names)})
    row, col = np.divmod(rng.permutation(items * width), width)
    label = pa.array(words[codes[row, col]], pa.string())
    return wide, pa.table({"item": row, "juror": np.array(names)[col], "label": label})


@pytest.fixture
def fetched(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows each query brings back."""
    rows: list[int] = []

    def collected(table: Any) -> Any:
        rows.append(len(result := table.collect()))
        return result

    for module in ("jurors.sketch.engines", "jurors.votes.frame", "jurors.jury.label"):
        monkeypatch.setattr(f"{module}.collect", collected)
    monkeypatch.setattr("jurors.votes.layout._HEAD_ROWS", 100)  # which are looked at to tell columns apart
    return rows


@pytest.mark.parametrize("engine", engines("polars lazy", "duckdb", "ibis"))
def test_only_counts_come_back(engine: str, fetched: list[int]) -> None:
    wide, long = wide_and_long(2000, 4)
    for table in (wide, long):
        assert Sketch.from_frame(CHEAP[engine](table)).items == 2000
    assert fetched
    assert max(fetched) <= 101


@pytest.mark.slow
@pytest.mark.parametrize("engine", engines("pandas", "polars", "polars lazy", "duckdb", "ibis", "capsule"))
def test_panels_are_counted_whatever_the_number_of_jurors_and_labels(engine: str) -> None:
    tables = [table for width in (45, 120) for table in wide_and_long(150, width)]
    a = [f"label {k}" if k % 2 else None for k in range(600)]
    b = [None if k % 2 else "label 1" for k in range(600)]
    for table in (*tables, pa.table({"item": [k // 2 for k in range(600)], "a": a, "b": b})):
        assert everything(Sketch.from_frame(CHEAP[engine](table))) == reference(table)


@pytest.mark.parametrize("engine", FAST)
def test_counts_are_added_exactly_and_never_wrap_around(engine: str) -> None:
    table = pa.table({"a": ["x"] * 3, "b": ["y"] * 3, "count": [2**61 + 1, 2**61 + 1, 1]})
    assert Sketch.from_frame(CHEAP[engine](table))["x", "y"] == 2**62 + 3
    table = pa.table({"a": ["x"] * 3, "b": ["y"] * 3, "count": [2**62, 2**62, 2**62]})
    with pytest.raises(VotesError, match=r"^column 'count': the counts add up to more than 9,223,372,036,854,775,807"):
        Sketch.from_frame(CHEAP[engine](table))


def test_a_sum_that_an_engine_widened_is_a_count() -> None:
    relation = duckdb.sql(
        "SELECT a, b, sum(1) AS count FROM (VALUES ('x', 'y'), ('x', 'y'), ('y', 'y')) v(a, b) GROUP BY ALL"
    )
    assert Sketch.from_frame(relation).to_counts() == {("x", "y"): 2, ("y", "y"): 1}
    relation = duckdb.sql("SELECT * FROM (VALUES ('x', 'y', 2::HUGEINT), ('y', 'y', 1)) v(a, b, count)")
    assert Sketch.from_frame(relation).to_counts() == {("x", "y"): 2, ("y", "y"): 1}
    assert votes_from_frame(relation).total == 3


# -- rows without an order ------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", ["first", "last"])
def test_engines_with_an_order_keep_the_vote_of_the_option(make: Make, rule: Any, request: Any) -> None:
    table = pa.table({"item": ["q", "q", "r"], "juror": ["a", "a ", "b"], "label": ["x", "y", "x"]})
    engine = request.node.callspec.params["make"]
    if engine in IN_ORDER:
        expected = {("x" if rule == "first" else "y", None): 1, (None, "x"): 1}
        assert Sketch.from_frame(make(table), duplicates=rule).to_counts() == expected
        return
    for work in (Sketch.from_frame, votes_from_frame):
        with pytest.raises(VotesError, match=f"duplicates='{rule}' needs rows in a fixed order, and .* keeps none"):
            work(make(table), duplicates=rule)


# -- the front door -------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_every_frame_can_be_graded_bounded_compared_and_labelled(make: Make, request: Any) -> None:
    votes = jurors.simulate(200, jurors=3, prevalence="0.4", seed=1).votes
    panel = pa.Table.from_pandas(votes.to_frame(), preserve_index=False)
    slow = request.node.callspec.params["make"] in ("dask", "spark")
    for work in (jurors.grade,) if slow else (jurors.grade, jurors.bounds, jurors.agreement, jurors.compare):
        assert work(make(panel)).to_dict() == work(panel).to_dict()
    labels, expected = jurors.label(make(panel)), jurors.label(panel)
    labelled = dict(zip(labels.items.tolist(), labels.label.tolist(), strict=True))
    assert labelled == dict(zip(expected.items.tolist(), expected.label.tolist(), strict=True))


def wide_and_long_of_items(items: int = 200) -> tuple[pa.Table, pa.Table]:
    """The same votes of four jurors wide, and long with the items named by two columns."""
    votes = jurors.simulate(items, jurors=4, votes_per_item=3, seed=2).votes
    row, juror, code = (part.tolist() for part in votes.triples())
    long = pd.DataFrame({"question": [k // 2 for k in row], "model": ["xy"[k % 2] for k in row]})
    long["juror"], long["label"] = [votes.jurors[j] for j in juror], [str(votes.labels[c]) for c in code]
    named = long.assign(item=long["question"].astype(str) + "|" + long["model"])
    wide = named.pivot(index="item", columns="juror", values="label").reset_index()
    wide.columns.name = None
    return tuple(pa.Table.from_pandas(frame, preserve_index=False) for frame in (wide, long))


def test_labels_come_back_as_a_frame_of_the_same_engine(make: Make, request: Any) -> None:
    named: tuple[dict[str, Any], ...] = ({}, {"item": "question,model"})
    for table, options in zip(wide_and_long_of_items(), named, strict=True):
        frame = make(table)
        expected = jurors.label(table, **options)
        labels = jurors.label(frame, **options)
        back = labels.to_frame()
        if request.node.callspec.params["make"] not in ("record batches", "capsule"):  # which can be read only once
            assert type(back).__module__.partition(".")[0] == type(frame).__module__.partition(".")[0]
        opened = nw.from_native(back)
        rows = opened.collect() if isinstance(opened, nw.LazyFrame) else opened
        names = ["item", *(["question", "model"] if options else []), "label", "probability"]
        assert set(rows.columns) == set(names)
        here, there = (
            sorted(part.select(names).rows(), key=lambda row: row[0])
            for part in (rows, nw.from_native(expected.to_frame()))
        )
        # the parts of names in a stream, which is read only once, are text
        assert [tuple(map(str, row[:-1])) for row in here] == [tuple(map(str, row[:-1])) for row in there]
        assert [row[-1] for row in here] == pytest.approx([row[-1] for row in there], abs=1e-12)
        assert labels.wrong_labels == pytest.approx(expected.wrong_labels, abs=1e-12)
        assert repr(labels) == repr(expected)


@pytest.mark.parametrize("engine", engines("polars lazy", "duckdb", "ibis"))
def test_no_vote_comes_back_to_label_a_frame_and_nothing_per_item(engine: str, fetched: list[int]) -> None:
    for table in wide_and_long(2000, 4):
        named = table.append_column("item", pa.array(range(2000))) if "item" not in table.column_names else table
        labels = jurors.label(CHEAP[engine](named), missing=["none"])
        labels.to_frame()
        assert len(labels) == 2000
        assert max(fetched) <= 101
        assert len(labels.items) == 2000  # fetched now, once
        assert fetched.count(2000) == 1
        fetched.clear()


@pytest.mark.parametrize("engine", engines("polars lazy", "duckdb", "ibis"))
def test_columns_of_several_types_and_names_of_items_called_label_give_the_labels_of_a_frame_in_memory(
    engine: str,
) -> None:
    dice = np.random.default_rng(0)
    truth = dice.integers(0, 2, 300)
    votes = {f"j{k}": np.where(dice.random(300) < 0.8, truth, 1 - truth).tolist() for k in range(4)}
    votes["j1"] = [float(vote) if k % 9 else None for k, vote in enumerate(votes["j1"])]
    votes["j2"] = [str(vote) for vote in votes["j2"]]
    votes["j3"] = [bool(vote) for vote in votes["j3"]]
    table = pa.table({"item": [k // 2 for k in range(300)], "label": ["x", "y"] * 150, **votes})
    expected = jurors.label(table, item=["item", "label"]).to_frame()
    labels = jurors.label(CHEAP[engine](table), item=["item", "label"]).to_frame()
    got = nw.from_native(labels).collect("pyarrow").sort("item").to_native()
    assert got.column_names == expected.column_names == ["item", "label", "probability"]
    rows = nw.from_native(expected).sort("item").to_native()
    assert got["item"].to_pylist() == rows["item"].to_pylist()
    assert got["label"].to_pylist() == rows["label"].to_pylist()
    assert got["probability"].to_pylist() == pytest.approx(rows["probability"].to_pylist())


def test_labels_with_gold_or_of_a_crowd_are_a_frame_of_the_engine_though_votes_were_fetched() -> None:
    _, long = wide_and_long(150, 120)
    crowd = jurors.label(pl.DataFrame(long).lazy())
    assert crowd.to_frame().collect().shape == (150, 3)
    wide, _ = wide_and_long_of_items()
    gold = {wide["item"][k].as_py(): "A" for k in range(5)}
    connection = duckdb.connect()
    labels = jurors.label(duckdb.from_arrow(wide, connection=connection), gold=gold)
    rows = {item: (label, share) for item, label, share in labels.to_frame().fetchall()}
    assert {rows[item] for item in gold} == {("A", 1.0)}


def test_a_column_called_read_does_not_make_a_frame_a_file_but_a_temporary_file_is_one() -> None:
    frame = pd.DataFrame({"read": [0, 1, 1, 0], "b": [0, 1, 0, 0], "c": [0, 1, 1, 1]})
    expected = jurors.agreement(frame.to_numpy(), jurors=("read", "b", "c")).to_dict()
    assert jurors.agreement(frame).to_dict() == expected
    with tempfile.NamedTemporaryFile("w+", suffix=".csv") as file:
        file.write("ann,bob,cy\nx,y,x\nx,x,x\ny,y,y\n")
        file.seek(0)
        assert jurors.agreement(file).items == 3


@pytest.mark.parametrize(
    "thing", [pl.Series([1, 2]), pd.Series([1, 2]), pa.array([1, 2]), 5, None], ids=lambda t: type(t).__name__
)
def test_what_is_no_frame_is_refused_in_one_line(thing: Any) -> None:
    for work in (Sketch.from_frame, votes_from_frame, jurors.grade):
        with pytest.raises(VotesError, match="cannot read votes from") as caught:
            work(thing)
        assert "\n" not in str(caught.value)


def test_columns_of_pandas_may_be_numbers_counts_may_be_objects_and_every_mark_of_absence_is_the_same() -> None:
    frame = pd.DataFrame({0: ["x", "y"], 1: ["x", "x"]}, index=[7, 7])
    assert Sketch.from_frame(frame).to_counts() == {("x", "x"): 1, ("y", "x"): 1}
    frame = pd.DataFrame({"a": ["x", "y"], "b": ["x", "x"], "count": pd.Series([2, 3], dtype=object)})
    assert Sketch.from_frame(frame).to_counts() == {("x", "x"): 2, ("y", "x"): 3}
    marks = [None, float("nan"), pd.NA, pd.NaT, "", " "]
    frame = pd.DataFrame({"a": pd.Series([*marks, "x"], dtype=object), "b": ["x"] * 7})
    assert Sketch.from_frame(frame).to_counts() == {(None, "x"): 6, ("x", "x"): 1}
    frame = pl.DataFrame({"a": [None, float("nan"), 1.0], "b": [1, 1, 1]})
    assert Sketch.from_frame(frame).to_counts() == {(None, 1): 2, (1, 1): 1}


# -- Dask and Spark, really -------------------------------------------------------------------------------------


@pytest.mark.engine
def test_dask_and_spark_count_many_partitions(dask_client: Any, spark: Any) -> None:
    import dask.base
    import dask.dataframe as dd

    scheduler = dask_client.cluster.scheduler
    assert dask.base.get_scheduler().__self__ is dask_client
    for table in wide_and_long(500, 4):
        before = scheduler.transition_counter
        frame = dd.from_pandas(table.to_pandas(), npartitions=7)
        assert everything(Sketch.from_frame(frame)) == reference(table)
        assert scheduler.transition_counter > before + 7  # on its distributed scheduler
        assert everything(Sketch.from_frame(spark.createDataFrame(table).repartition(5))) == reference(table)


def test_rows_that_all_come_twice_are_reported_of_a_frame_but_not_of_counts() -> None:
    rows = list(product(("no", "yes"), repeat=5))
    wide = pl.DataFrame(rows * 2, schema=list("abcde"), orient="row")
    counted = pl.DataFrame([(*row, 2) for row in rows], schema=[*"abcde", "count"], orient="row")
    kinds = [[finding.kind for finding in Sketch.from_frame(frame).tuples.findings] for frame in (wide, counted)]
    assert ["repeated_rows" in found for found in kinds] == [True, False]


# -- examples/spark_stream.py: one monitor, batch after batch; here, as Spark starts only once


def timed_votes(items: range) -> list[dict[str, Any]]:
    """Four jurors; half an hour passes between an item's first vote and its last."""
    rng = np.random.default_rng(7)
    rows = []
    for item in items:
        for k, juror in enumerate(("ann", "bob", "cy", "dee")):
            label = str(rng.choice(["fail", "pass"]))
            rows.append({"item": f"q{item}", "juror": juror, "label": label, "time": 60.0 * item + 600.0 * k})
    return rows


@pytest.mark.engine
def test_batches_merged_by_spark_and_frames_of_it_are_the_monitor_of_one_read(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spark.sparkContext, "pythonExec", sys.executable)
    example = runpy.run_path(str(EXAMPLE))
    folder = tmp_path / "votes"
    folder.mkdir()
    every = timed_votes(range(90))
    corrected = [{**vote, "label": "pass", "time": vote["time"] + 1.0} for vote in every[:40]]
    # The second run starts anew from the file, gets votes again, and corrections of what the first has counted.
    for name, rows in (("one", every[:200]), ("two", every[150:] + corrected)):
        (folder / f"{name}.json").write_text("".join(json.dumps(row) + "\n" for row in rows))
        query = example["start"](spark, folder, example["Counting"](tmp_path / "monitor.json.gz"), availableNow=True)
        query.awaitTermination()
    merged = Monitor.load(tmp_path / "monitor.json.gz")
    whole = Monitor("1h")
    whole.learn_many([*every, *corrected])
    assert merged.sketch() == whole.sketch()
    assert merged.windows() == whole.windows()
    monitor = Monitor("1h")
    monitor.learn_many(spark.createDataFrame(every).withColumnsRenamed({"juror": "judge.name"}), juror="judge.name")
    monitor.learn_many(corrected)
    assert monitor.sketch() == whole.sketch()
