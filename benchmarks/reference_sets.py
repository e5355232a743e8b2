"""The vote sets with keys that reference juries are made from: read, graded by the package, kept in a cache.

They lie in the folder that JURORS_DATA names (default: ../shared/data beside the project), a folder per set with
votes.csv.gz (item, juror, label), truth.csv.gz (item, label) and a README.md that names kind and source. Grading all
takes minutes, so what follows from it is kept in a temporary folder, one for each state of the sources that grade.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from jurors._numeric import Floats, Integers, single_threaded
from jurors.errors import SketchError
from jurors.evaluate.rules import is_rule_panel
from jurors.jury.calibration import calibration_basis, drop_unanswered, jury_votes, rivals_of
from jurors.jury.reference import grade_blind, measure_jury
from jurors.uncertainty.calibrate import FitNoise
from jurors.uncertainty.reference import ReferenceJury
from jurors.uncertainty.scenarios import JuryVotes

ROOT = Path(__file__).resolve().parents[1]
GRADING = ("votes", "sketch", "evaluate", "uncertainty", "jury")  # packages that grade
_SOURCES = sorted(file for room in GRADING for file in (ROOT / "src" / "jurors" / room).rglob("*.py"))
_STATE = hashlib.sha256(b"".join(file.read_bytes() for file in _SOURCES)).hexdigest()[:12]
CACHE = Path(tempfile.gettempdir()) / f"jurors_reference_fits_{_STATE}"
FAMILIES = (
    "css_", "brain_", "nell_", "triviaqa_", "llmbar", "zencrowd_", "sentiment_", "realmistake", "weather_",
    "textclass_", "api_", "chexpert_", "crowdtruth_",
)  #: sets whose names begin so belong together  # fmt: skip
RELATED = (
    {"trec", "relevance4"}, {"cueconflict16", "edge16", "silhouette16", "sketch16"},
    {"igaku_exam", "enem2022", "usmle_step"}, {"wrench_sms", "trec_rules"},
)  #: and these, whatever their names  # fmt: skip
OTHER_KINDS = ("sealed", "kinds")  # folders that hold no reference jury
_STATISTICS = ("prevalence", "accuracy", "score")
LLMS = (
    "triviaqa", "llmbar", "ntqr", "judgebench", "realmistake", "xstest", "mmlu", "beyond", "css_", "textclass", "igaku",
    "enem", "usmle", "faithbench",
)  # fmt: skip
PROGRAMS = ("acsincome", "video_lf", "brain", "nell", "api_", "wrench", "trec_rules", "chexpert_edema")


def family_of(name: str) -> str:
    """The family that is left out together."""
    for group in RELATED:
        if name in group:
            return min(group)
    return next((family for family in FAMILIES if name.startswith(family)), name)


@dataclass(frozen=True)
class VoteSet:
    """A jury as the package grades it without its key, and the key."""

    name: str
    kind: str
    source: str
    basis: str  #: whose posteriors are calibrated
    whole: JuryVotes  #: all votes
    key: Floats  #: tuples x labels
    noise: FitNoise
    majority: Floats  #: rival posteriors of all tuples
    dawid_skene: Floats
    independent: dict[str, Floats]  #: the score and its 95% interval, if errors were independent
    size: int = 0  #: how many jurors were drawn; 0: all

    @property
    def at(self) -> Integers:
        """The tuples with a known item."""
        return np.flatnonzero(self.key.sum(axis=1) > 0)

    @property
    def keyed(self) -> JuryVotes:
        """The items in the key only."""
        return rows_of(self.whole, self.at, self.key[self.at].sum(axis=1))

    @property
    def counts(self) -> Floats:
        """Their key."""
        return self.key[self.at]

    @property
    def row(self) -> ReferenceJury:
        """Its row of the table of reference juries."""
        with single_threaded():
            row = measure_jury(self.whole, self.key, name=self.name, kind=self.kind, source=self.source)
        family = family_of(self.name)
        return replace(row, family="" if family == self.name else family)


def rows_of(jury: JuryVotes, rows: Integers, weights: Floats) -> JuryVotes:
    """Some tuples of a jury."""
    place = np.full(len(jury.weights), -1)
    place[rows] = np.arange(len(rows))
    kept = place[jury.row] >= 0
    return replace(
        jury, posterior=jury.posterior[rows], weights=weights, row=place[jury.row[kept]], juror=jury.juror[kept],
        label=jury.label[kept], distinct=jury.distinct[rows],
    )  # fmt: skip


def data_folder() -> Path | None:
    """Where the vote sets are, if they are."""
    base = Path(os.environ.get("JURORS_DATA", ROOT.parent / "shared" / "data"))
    return base if base.is_dir() else None


def folders(base: Path) -> list[Path]:
    """The folder of each set, by name."""
    return sorted(file.parent for file in base.glob("*/votes.csv.gz") if file.parent.name not in OTHER_KINDS)


def load_sets(base: Path, cache: Path = CACHE) -> list[VoteSet]:
    """All sets that can be graded without a key; those that are not in the cache are graded first."""
    sets = []
    for folder in folders(base):
        try:
            sets.append(load_set(folder, cache))
        except SketchError as error:
            print(f"left out {folder.name}: {error}", file=sys.stderr, flush=True)
    return sets


def load_set(folder: Path, cache: Path = CACHE) -> VoteSet:
    """One set, graded once."""
    file = cache / f"{folder.name}.npz"
    if not file.exists():
        cache.mkdir(parents=True, exist_ok=True)
        clock = time.perf_counter()
        graded = graded_arrays(folder / "votes.csv.gz", folder / "truth.csv.gz")
        np.savez_compressed(file, **graded)
        print(f"graded {folder.name} in {time.perf_counter() - clock:.1f} s", file=sys.stderr, flush=True)
    with np.load(file) as stored:
        return vote_set_of(folder, dict(stored))


def graded_arrays(votes: Any, key: Any) -> dict[str, Any]:
    """What calibration needs of a jury graded without its key, as arrays."""
    scale: dict[str, Any] = {"scale": "nominal"} if isinstance(votes, Path) else {}
    evaluation, sketch, counts = grade_blind(votes, key, **scale)
    if is_rule_panel(sketch):
        raise SketchError("its jurors know one label each, and are graded as rules (benchmarks/rules.py)")
    with single_threaded():
        basis, posterior, noise_of = calibration_basis(evaluation, evaluation, sketch)
        noise = noise_of()
        jury = drop_unanswered(evaluation, jury_votes(sketch, posterior, evaluation.representatives))
        majority, dawid_skene, *_ = rivals_of(jury, sketch, evaluation.representatives)
    known = evaluation.independent.interval
    ends = dict.fromkeys(sketch.jurors, (np.nan, np.nan)) if known is None else known.score
    return {
        "basis": np.array(basis), "posterior": posterior, "weights": jury.weights, "row": jury.row, "juror": jury.juror,
        "label": jury.label, "jurors": np.array(jury.jurors), "voices": jury.distinct,
        "key": np.where(jury.weights[:, None] > 0, counts, 0),
        "majority": majority, "dawid_skene": dawid_skene,
        "score": _numbers(evaluation.independent.score.values()), "score_interval": _numbers(ends.values()),
        **{f"noise_{name}": np.asarray(getattr(noise, name)) for name in _STATISTICS},
    }  # fmt: skip


def _numbers(values: Any) -> Floats:
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


def vote_set_of(folder: Path, stored: dict[str, Any], size: int = 0) -> VoteSet:
    """The jury of `graded_arrays`."""
    names = ("posterior", "weights", "row", "juror", "label")
    jury = JuryVotes(**{n: stored[n] for n in names}, jurors=int(stored["jurors"]), distinct=stored["voices"])
    noise = {name: stored[f"noise_{name}"] for name in _STATISTICS}
    return VoteSet(
        name=folder.name, kind=kind_of(folder.name), source=source_of(folder), basis=str(stored["basis"]), whole=jury,
        key=stored["key"].astype(np.float64),
        noise=FitNoise(**{name: value if value.ndim else float(value) for name, value in noise.items()}),
        majority=stored["majority"], dawid_skene=stored["dawid_skene"],
        independent={"score": stored["score"], "interval": stored["score_interval"]}, size=size,
    )  # fmt: skip


def kind_of(name: str) -> str:
    """Who the jurors are."""
    return "LLMs" if name.startswith(LLMS) else "programs" if name.startswith(PROGRAMS) else "people"


def source_of(folder: Path) -> str:
    """The public repository that the set's README names."""
    repository = re.search(r"github(?: |\.com/)(\S+?/[^\s/]+)", (folder / "README.md").read_text(encoding="utf-8"))
    if repository is not None:
        return f"github.com/{repository.group(1).rstrip(';,')}"
    return "ReaLMistake (prompt p1)" if folder.name.startswith("realmistake") else ""
