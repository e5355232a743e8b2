"""The census experiment: train four networks once, draw thousands of tests, evaluate them, count the errors.

Each test is drawn with a seed of its own block of tests, so that more tests later repeat none that are done. With a
folder, the trained jury (`jury.json`) and every test (one file of counts by true label for each prevalence, as the
paper's Data S1 to S4) are stored, and read again where the settings are the same.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from jurors._files import atomic_write
from jurors._numeric import Integers
from jurors.errors import VotesError
from jurors.results import Block, Columns, Result, columns_of
from reproduce.acs.data import (
    DRAWS,
    LABEL_MEANING,
    LABELS,
    Census,
    CensusJury,
    Draw,
    draw_tests,
    jury_fingerprint,
    load_census,
    train_jury,
    training_records,
)
from reproduce.acs.trials import Trio, TrioTests, all_trios, evaluate_tests, trio_counts

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
        from reproduce.acs.report import summary

        return summary(self)

    def _document(self) -> dict[str, Any]:
        """Settings, jurors, one entry for each prevalence and trio, groups."""
        return self._summary

    def _columns(self) -> Columns:
        """One row for each prevalence, trio, statistic and method: truth, mean, and how far off."""
        from reproduce.acs.report import error_rows

        return columns_of(*error_rows(self._summary))

    def _blocks(self) -> list[Block]:
        from reproduce.acs.report import report_blocks

        return [*report_blocks(self._summary)]

    def to_markdown(self, **show: Any) -> str:
        """The report as a page of its own."""
        return f"# The census experiment\n\n{super().to_markdown(**show)}"

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
    drawn = ExperimentSettings(**settings)
    watch = _Watch(progress or (lambda what, share: None))
    watch.start("reading the census", 0.0)
    census = load_census(data, min_age=min_age)
    records = training_records(census) if train is None else train
    with ExperimentStore(None if folder is None else Path(folder), drawn.draw) as store:
        watch.start("training", 0.05)
        jury = _jury(census, records, drawn.seed, store, watch)
        _check_sizes(census, jury, drawn)
        watch.start("testing", 0.8)
        results = tuple(_tests(census, jury, drawn, prevalence, store) for prevalence in drawn.prevalences)
    watch.start("summing up", 0.9)
    return Experiment(
        drawn, census.name, census.population, census.stand_ins, census.missing, jury, results, watch.seconds
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


# -- what is stored --------------------------------------------------------------------------------------------------


class ExperimentStore:
    """A folder for the jury, with one inside for each way of drawing; or nothing at all, where there is no folder.

    Used in a `with`: folders that it made and that nothing was written to are gone afterwards.
    """

    def __init__(self, folder: Path | None, draw: str) -> None:
        self.folder = folder
        self.inside = None if folder is None else folder / draw
        self._made: list[Path] = []

    def __enter__(self) -> ExperimentStore:
        if self.inside is not None:
            self._made = [path for path in (self.inside, *self.inside.parents) if not path.exists()]
            try:
                self.inside.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                self._tidy()
                raise VotesError(f"cannot make the folder {self.inside}: {error.strerror or error}") from None
        return self

    def __exit__(self, *_: object) -> None:
        self._tidy()

    def _tidy(self) -> None:
        for path in self._made:  # the innermost first
            with suppress(OSError):  # something is in it
                path.rmdir()

    def jury(self, fingerprint: str) -> CensusJury | None:
        """The jury that was trained with the same records and settings; another one is refused, not written over."""
        document = None if self.folder is None else _document(self.folder / "jury.json")
        if document is None:
            return None
        try:
            jury = CensusJury.from_dict(document)
        except (KeyError, TypeError, ValueError):
            return None  # not ours after all: train again
        if jury.fingerprint != fingerprint:
            raise VotesError(
                f"{self.folder} holds the jury of another experiment (other --data, --min-age, --train or --seed, or "
                "an earlier version of jurors): name another folder with --output, or remove this one"
            )
        return jury

    def keep_jury(self, jury: CensusJury) -> None:
        """Remember the jury."""
        if self.folder is not None:
            atomic_write(self.folder / "jury.json", json.dumps(jury.to_dict(), indent=1))

    def tests(self, prevalence: Fraction, about: Mapping[str, Any], items: int) -> Integers | None:
        """The tests that were drawn with the same jury and settings, (T, 2, 2^N)."""
        document = None if self.inside is None else _document(self.inside / sketches_name(prevalence))
        if document is None or document.get("Q") != items or any(document.get(k) != v for k, v in about.items()):
            return None
        try:
            return read_sketches(document)
        except (KeyError, TypeError, ValueError):
            return None

    def keep_tests(
        self, prevalence: Fraction, about: Mapping[str, Any], items: int, jurors: Sequence[str], sketches: Integers
    ) -> None:
        """Remember the tests."""
        if self.inside is not None:
            document = sketches_document(about, items, jurors, sketches)
            atomic_write(self.inside / sketches_name(prevalence), document_text(document))


def sketches_name(prevalence: Fraction) -> str:
    """The paper's file names.

    Examples
    --------
    >>> sketches_name(Fraction(1, 10)), sketches_name(Fraction(1, 3))
    ('pa0p1byTrueLabelTestSketches.json', 'pa1of3byTrueLabelTestSketches.json')
    """
    decimal = f"{float(prevalence):.6g}"
    exact = Fraction(decimal) == prevalence and "e" not in decimal
    share = decimal.replace(".", "p") if exact else f"{prevalence.numerator}of{prevalence.denominator}"
    return f"pa{share}byTrueLabelTestSketches.json"


def sketches_document(
    about: Mapping[str, Any], items: int, jurors: Sequence[str], sketches: Integers
) -> dict[str, Any]:
    """Counts by true label of many tests: for each test, true label -> decision tuple -> how many items."""
    names = ["".join(decisions) for decisions in product(LABELS, repeat=len(jurors))]
    totals = sketches.sum(axis=2)
    same = bool((totals == totals[:1]).all())
    return {
        "name": "acs_employment",
        **about,
        "jurors": list(jurors),
        "labels": list(LABELS),
        "label_meaning": LABEL_MEANING,
        "n_experiments": len(sketches),
        "true_label_totals": dict(zip(LABELS, totals[0].tolist(), strict=True)) if same else None,
        "Q": items,
        "by_true_label": [
            {label: dict(zip(names, row, strict=True)) for label, row in zip(LABELS, test, strict=True)}
            for test in sketches.tolist()
        ],
    }


def read_sketches(document: Mapping[str, Any]) -> Integers:
    """The counts of such a document, (T, 2, 2^N)."""
    names = ["".join(decisions) for decisions in product(document["labels"], repeat=len(document["jurors"]))]
    rows = [
        [[test[label][name] for name in names] for label in document["labels"]] for test in document["by_true_label"]
    ]
    return np.array(rows, dtype=np.int64).reshape(-1, 2, len(names))


def document_text(document: Mapping[str, Any]) -> str:
    """JSON with one test per line."""
    tests = ",\n".join("  " + json.dumps(test, separators=(",", ":")) for test in document["by_true_label"])
    head = json.dumps({k: v for k, v in document.items() if k != "by_true_label"}, ensure_ascii=False, indent=1)
    return f'{head[:-2]},\n "by_true_label": [\n{tests}\n ]\n}}\n'


def _document(path: Path) -> dict[str, Any] | None:
    """A JSON document, or None where there is none that can be read: it is made again."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return document if isinstance(document, dict) else None
