"""The paper's census experiment: train four networks once, draw thousands of tests, evaluate them, count the errors.

Each test is drawn with a seed of its own block of tests, so that more tests later repeat none that are done: with a
folder, the trained jury (`jury.json`) and every test (one file of counts by true label for each prevalence, as the
paper's Data S1 to S4) are kept, and read again where the settings are the same.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from jurors._numeric import Integers
from jurors.errors import VotesError
from jurors.lab.census.acs import Census, load_census
from jurors.lab.census.acs_jury import CensusJury, jury_fingerprint, train_jury, training_records
from jurors.lab.census.draws import DRAWS, Draw, draw_tests
from jurors.lab.census.experiment_store import ExperimentStore
from jurors.lab.census.trial import Trio, TrioTests, all_trios, evaluate_tests, trio_counts
from jurors.results import Block, Columns, Result, columns_of

Progress: TypeAlias = Callable[[str, float], None]  # what is done now, and the share of everything that is done

PREVALENCES = (Fraction(1, 10), Fraction(4, 10), Fraction(6, 10), Fraction(9, 10))
BLOCK = 100  #: tests that share a seed


@dataclass(frozen=True, kw_only=True)
class ExperimentSettings:
    """Which tests to draw."""

    draw: Draw = "shared"  #: the same records for all jurors, or "separate" ones: independence by construction
    prevalences: tuple[Fraction, ...] = PREVALENCES  #: of label a, not employed
    tests: int = 1_000  #: at each prevalence
    items: int = 20_000  #: records of a test
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse what no test can be."""
        if self.draw not in DRAWS:
            raise VotesError(f"there is no draw {self.draw!r}; there are: {', '.join(DRAWS)}")
        if self.tests < 1:
            raise VotesError(f"an experiment needs one test or more, got {self.tests}")
        if self.seed < 0:
            raise VotesError(f"a seed is not negative, got {self.seed}")
        if self.items < 1:
            raise VotesError(f"a test needs one record or more, got {self.items}")
        if not self.prevalences:
            raise VotesError("an experiment needs one prevalence or more")
        for prevalence in self.prevalences:
            if not 0 < prevalence < 1:
                raise VotesError(f"a prevalence lies between 0 and 1, both excluded; got {prevalence}")
            if (prevalence * self.items).denominator != 1:
                raise VotesError(
                    f"{shown(prevalence)} of {self.items:,} records is no whole number; take a multiple of "
                    f"{prevalence.denominator} records"
                )

    def sizes(self, prevalence: Fraction) -> tuple[int, int]:
        """How many records of each label a test has."""
        first = int(prevalence * self.items)
        return first, self.items - first


@dataclass(frozen=True, eq=False)
class PrevalenceTests:
    """All tests at one prevalence: their counts, and every trio's evaluations."""

    prevalence: Fraction
    sketches: Integers  #: (T, 2, 16) counts by true label and decision tuple of all jurors
    trios: Mapping[Trio, TrioTests]


@dataclass(frozen=True, eq=False)
class Experiment(Result):
    """What came out: who the persons and the jurors were, and every test. `str()` is the report."""

    settings: ExperimentSettings
    source: str  #: the file or folder
    population: str
    stand_ins: Mapping[str, str]  #: missing column -> the one used for it
    missing: int | None  #: the code of a blank answer
    jury: CensusJury
    results: tuple[PrevalenceTests, ...]
    seconds: Mapping[str, float] = field(default_factory=dict)  #: how long each step took

    @property
    def jurors(self) -> tuple[str, ...]:
        """The jurors' names: the features each of them sees."""
        return self.jury.jurors

    @cached_property
    def _summary(self) -> dict[str, Any]:
        from jurors.lab.census.experiment_summary import summary

        return summary(self)

    def _document(self) -> dict[str, Any]:
        """Settings, jurors, one entry for each prevalence and trio, groups."""
        return self._summary

    def _columns(self) -> Columns:
        """One row for each prevalence, trio, statistic and method: truth, mean, and how far off."""
        from jurors.lab.census.experiment_summary import error_rows

        return columns_of(*error_rows(self._summary))

    def _blocks(self) -> list[Block]:
        from jurors.lab.census.experiment_report import report_blocks

        return report_blocks(self._summary)

    def to_markdown(self) -> str:
        """The report as a page of its own."""
        return f"# The census experiment\n\n{super().to_markdown()}"

    def __repr__(self) -> str:
        s = self.settings
        return f"Experiment({s.draw} draws, {len(s.prevalences)} x {s.tests:,} tests of {s.items:,} records)"


def experiment_acs(
    data: str | Path,
    *,
    train: int | None = None,
    min_age: int = 0,
    folder: str | Path | None = None,
    progress: Progress | None = None,
    **settings: Any,
) -> Experiment:
    """Repeat the paper's American Community Survey experiment.

    Parameters
    ----------
    data
        A Parquet extract, or the folder of folktables' downloads; see `load_census`.
    train
        Records that train each juror; None: 42,000 as in the paper, or what leaves half of each label for the tests.
    min_age
        Leave younger persons out.
    folder
        Keep the trained jury and the tests here, and use those that are here already. A folder with the jury of other
        records or settings is refused.
    progress
        Called with what is being done and the share of the work that is done.
    settings
        `draw`, `prevalences`, `tests`, `items`, `seed`; see `ExperimentSettings`.
    """
    chosen = ExperimentSettings(**settings)
    watch = _Watch(progress or (lambda what, share: None))
    watch.start("reading the census", 0.0)
    census = load_census(data, min_age=min_age)
    records = training_records(census) if train is None else train
    with ExperimentStore(None if folder is None else Path(folder), chosen.draw) as store:
        watch.start("training", 0.05)
        jury = _jury(census, records, chosen.seed, store, watch)
        _check_sizes(census, jury, chosen)
        watch.start("testing", 0.8)
        results = tuple(_tests(census, jury, chosen, prevalence, store) for prevalence in chosen.prevalences)
    watch.start("summing up", 0.9)
    return Experiment(
        chosen, census.name, census.population, census.stand_ins, census.missing, jury, results, watch.seconds
    )


class _Watch:
    """Tells what is being done, and remembers how long it took."""

    def __init__(self, progress: Progress) -> None:
        self.progress, self.seconds = progress, dict[str, float]()
        self._what, self._since = "", 0.0

    def start(self, what: str, share: float) -> None:
        now = time.perf_counter()
        if self._what:
            self.seconds[self._what] = now - self._since
        self._what, self._since = what, now
        self.progress(what, share)


def _jury(census: Census, records: int, seed: int, store: ExperimentStore, watch: _Watch) -> CensusJury:
    known = store.jury(jury_fingerprint(census, records, seed))
    if known is not None:
        return known
    done: list[str] = []

    def trained(name: str) -> None:
        done.append(name)
        watch.progress("training", 0.05 + 0.75 * len(done) / len(census.jurors))

    jury = train_jury(census, records=records, seed=seed, progress=trained)
    store.keep_jury(jury)
    return jury


def _check_sizes(census: Census, jury: CensusJury, settings: ExperimentSettings) -> None:
    held = jury.pool.sum(axis=1).tolist()
    for prevalence in settings.prevalences:
        for size, there, who in zip(settings.sizes(prevalence), held, ("not employed", "employed"), strict=True):
            if size > there:
                raise VotesError(
                    f"a test of {settings.items:,} records at prevalence {shown(prevalence)} needs {size:,} persons "
                    f"who are {who}; {census.name} has {there:,} left after training: take smaller tests, or train less"
                )


def _tests(
    census: Census, jury: CensusJury, settings: ExperimentSettings, prevalence: Fraction, store: ExperimentStore
) -> PrevalenceTests:
    about = {
        "source": census.name, "population": census.population, "stand_ins": dict(census.stand_ins),
        "draw": settings.draw, "prevalence": shown(prevalence), "seed": settings.seed, "jury": jury.fingerprint,
    }  # fmt: skip
    sketches = store.tests(prevalence, about, settings.items)
    done = 0 if sketches is None else len(sketches) // BLOCK * BLOCK
    if sketches is None or len(sketches) < settings.tests:
        blocks = range(done // BLOCK, -(-settings.tests // BLOCK))
        fresh = [_block(jury.pool, settings, prevalence, block) for block in blocks]
        sketches = np.concatenate([*([] if sketches is None else [sketches[:done]]), *fresh])[: settings.tests]
        store.keep_tests(prevalence, about, settings.items, jury.jurors, sketches)
    sketches = sketches[: settings.tests]
    trios = {trio: evaluate_tests(trio_counts(sketches, trio)) for trio in all_trios(len(jury.jurors))}
    return PrevalenceTests(prevalence, sketches, trios)


def _block(pool: Integers, settings: ExperimentSettings, prevalence: Fraction, block: int) -> Integers:
    key = (DRAWS.index(settings.draw), prevalence.numerator, prevalence.denominator, settings.items, block)
    rng = np.random.default_rng(np.random.SeedSequence(settings.seed, spawn_key=key))
    return draw_tests(pool, settings.sizes(prevalence), BLOCK, rng, draw=settings.draw)


def shown(prevalence: Fraction) -> str:
    """In tenths where it is a number of tenths, as the paper writes it.

    Examples
    --------
    >>> shown(Fraction(2, 5)), shown(Fraction(1, 3))
    ('4/10', '1/3')
    """
    tenths = prevalence * 10
    return f"{tenths}/10" if tenths.denominator == 1 else str(prevalence)
