"""Fixtures that every test may use."""

from __future__ import annotations

import gc
import os
import re
import shutil
import warnings
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from jurors.votes.io import duckdb_table as source

# A busy machine must not fail a test that is right, nor a lucky draw: examples are bounded in number, not in time, and
# are the same in every run. `make quick` tries fewer; `pytest --hypothesis-profile search` goes hunting for new ones.
settings.register_profile("fixed", deadline=None, derandomize=True)
settings.register_profile("quick", settings.get_profile("fixed"), max_examples=4)
settings.register_profile("search", deadline=None, derandomize=False, max_examples=1_000)
settings.load_profile("fixed")
# Hypothesis also draws numbers and texts that stand in whichever of our modules are imported by then: other examples in
# another order of the tests, on another worker, after any change.
with suppress(ImportError):  # of an older Hypothesis, which does not
    from hypothesis.internal.conjecture import providers

    providers._get_local_constants = lambda: providers._local_constants

gc.disable()  # until all tests are collected

LONGEST_ID = 60
"""The longest text that may name a test; whole files are named by their parameter."""

_SLOW_EXAMPLES = {"reproduce.independence.find_independent_jury", "jurors.plot"} | {
    f"jurors.reporting.page.{name}" for name in ("report", "report_html", "write_report")
}
_MOST_CASES = 6  # of a test that `make quick` tries, spread over all of them
_ALL_SLOW = re.compile(r"^pytestmark = (\[\s+)?pytest\.mark\.(engine|browser|notebook|slow)\b", re.MULTILINE)
_BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name a case by its parameter where its value is the content of a file.

    Workers of one run must agree on every name, and compressed bytes carry the time at which they were made.
    """
    if isinstance(val, bytes | bytearray):
        return argname
    if isinstance(val, str) and (len(val) > LONGEST_ID or not val.isprintable()):
        return argname
    return None


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """`make quick` does not even import a file whose every test it leaves out: scikit-learn alone takes seconds."""
    if not _is_quick(config) or not collection_path.name.startswith("test_"):
        return None
    return True if _ALL_SLOW.search(collection_path.read_text(encoding="utf-8")) else None


def pytest_collection_finish() -> None:
    """Modules and tests live to the end: the collector need not look through them again and again."""
    gc.freeze()
    gc.enable()


def pytest_unconfigure() -> None:
    """At the end everything is released; libraries warn of what they still hold then."""
    gc.unfreeze()


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Iterator[None]:
    """A docstring cannot mark its own example as slow; of a table of cases `make quick` tries a few."""
    for item in items:
        if item.name in _SLOW_EXAMPLES:
            item.add_marker("slow")
    yield
    if _is_quick(config):
        cases: dict[str, list[pytest.Item]] = {}
        for item in items:
            cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
        few = {case for each in cases.values() for case in each[:: -(-len(each) // _MOST_CASES)]}
        config.hook.pytest_deselected(items=[item for item in items if item not in few])
        items[:] = [item for item in items if item in few]


def _is_quick(config: pytest.Config) -> bool:
    return bool(config.getoption("--hypothesis-profile") == "quick")


@pytest.fixture(scope="session", autouse=True)
def one_database(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """`make quick` opens one DuckDB, not one per file that is read, which takes longer than most tests."""
    if not _is_quick(pytestconfig):
        yield
        return
    new = source._connect
    with new(tmp_path_factory.mktemp("spilled"), None) as database, pytest.MonkeyPatch.context() as patch:
        patch.setattr(source, "_connect", lambda folder, limit: new(folder, limit) if limit else database.cursor())
        yield


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data sets, which is not part of the project: $JURORS_DATA, or a folder beside the project."""
    named = os.environ.get("JURORS_DATA")
    folder = Path(named) if named else _BESIDE
    if not folder.is_dir():
        pytest.skip("the real data sets are not here; set JURORS_DATA to their folder")
    return folder


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """A Spark session in local mode; skips where there is no Java."""
    if shutil.which("java") is None:
        pytest.skip("Spark needs java, which is not here (Debian: apt-get install default-jre-headless)")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Spark has something to say about every pandas
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master("local[2]").appName("jurors")
        for option in ("spark.ui.enabled", "spark.ui.showConsoleProgress"):
            builder = builder.config(option, "false")
        session = builder.config("spark.sql.shuffle.partitions", "2").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()
