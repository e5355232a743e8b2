"""The alternative annotator test: may this juror (an LLM, say) take an annotator's place? No answer key is needed.

Votes and the names of candidates come in; an `AltTest` goes out (Calderon, Reichart and Dror 2025). Each annotator j is
left out in turn. On each item that j, the candidate f and another annotator voted on, S(f) and S(j) are the shares of
the remaining annotators that agree with f and with j. The candidate's advantage is the share of items with S(f) ≥ S(j),
the annotator's that with S(j) ≥ S(f). Replacing j costs time and money saved, ε, so the test is one-sided,
    H0: annotator's advantage - candidate's advantage ≥ ε,
a t test over items of d = [S(j) ≥ S(f)] - [S(f) ≥ S(j)] against ε. The p-values of the annotators are corrected for the
false discovery rate by Benjamini and Yekutieli, whatever their dependence. The winning rate ω is the share of
annotators for whom H0 is rejected; from a half on the candidate passes. Its advantages' mean is ρ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from jurors._lazy import LazyModule
from jurors._numeric import Flags, Floats
from jurors.errors import OptionError, SketchError, format_first_names, name_positions
from jurors.evaluate.card import WIDTH, percent
from jurors.results import Block, Columns, Notes, Result, Table, columns_of, shorten_names
from jurors.votes.table import Votes

stats: Any = LazyModule("scipy.stats")

EPSILON = 0.2  #: what replacing an expert saves; the paper has .15 for trained annotators and .1 for crowd workers
FEWEST_ITEMS, FEWEST_ANNOTATORS = 30, 2
_ALPHA, _PASSES = 0.05, 0.5
_LONGEST = 24  # characters of a name in the text


@dataclass(frozen=True, slots=True)
class Replaced:
    """What a candidate does in one annotator's place."""

    annotator: str
    items: int  #: that both voted on, with another annotator
    advantage: float  #: the share on which the candidate agrees with the others at least as much
    p: float  #: corrected for the number of annotators
    wins: bool


@dataclass(frozen=True, slots=True)
class Candidate:
    """One candidate beside every annotator."""

    name: str
    annotators: tuple[Replaced, ...]

    @property
    def winning_rate(self) -> float:
        """ω, the share of annotators whose place the candidate may take."""
        return sum(x.wins for x in self.annotators) / len(self.annotators)

    @property
    def advantage(self) -> float:
        """ρ, the mean probability to agree with the others at least as much as an annotator does."""
        return float(np.mean([x.advantage for x in self.annotators]))

    @property
    def passes(self) -> bool:
        """Whether the candidate may take the place of half of the annotators or more."""
        return self.winning_rate >= _PASSES


@dataclass(frozen=True, eq=False, kw_only=True)
class AltTest(Result):
    """Which candidates may take annotators' places."""

    candidates: tuple[Candidate, ...]
    epsilon: float
    left_out: tuple[str, ...]  #: annotators with too few items

    _kind = "alt_test"
    _version = 1

    def _document(self) -> dict[str, Any]:
        named = ("winning_rate", "advantage", "passes", "annotators")
        by_name = {x.name: {name: getattr(x, name) for name in named} for x in self.candidates}
        return {"epsilon": self.epsilon, "candidates": by_name, "left_out": self.left_out}

    def _columns(self) -> Columns:
        names = ("candidate", "annotator", "items", "advantage", "p", "wins")
        rows = [(c.name, x.annotator, x.items, x.advantage, x.p, x.wins) for c in self.candidates for x in c.annotators]
        return columns_of(names, rows)

    def _blocks(self, *, full: bool = False, **_: Any) -> list[Block]:
        annotators = [x.annotator for c in self.candidates for x in c.annotators]
        everyone = dict.fromkeys([*(c.name for c in self.candidates), *annotators, *self.left_out])
        shown = shorten_names(list(everyone), _LONGEST)
        lines = [
            f"{shown[c.name]} {'may' if c.passes else 'may not'} take an annotator's place: it wins against "
            f"{sum(x.wins for x in c.annotators)} of {len(c.annotators)} (ω = {c.winning_rate:.2f}, half are needed)."
            for c in self.candidates
        ]
        if self.left_out:
            names = format_first_names([shown[name] for name in self.left_out], 4)
            lines.append(f"Left out, with fewer than {FEWEST_ITEMS} items in common: {names}.")
        heads = ("candidate", "wins", "ω", "ρ", "verdict")
        rows = [
            (shown[c.name], f"{sum(x.wins for x in c.annotators)} of {len(c.annotators)}", f"{c.winning_rate:.2f}",
             f"{c.advantage:.2f}", "passes" if c.passes else "does not pass")
            for c in self.candidates
        ]  # fmt: skip
        about = Table(heads, tuple(rows), title=f"alternative annotator test, ε = {self.epsilon:g}", right=(1, 2, 3))
        blocks: list[Block] = [Notes(lines, width=WIDTH, hanging="  "), about]
        if full:
            detail = tuple(
                (shown[c.name], shown[x.annotator], f"{x.items:,}", percent(x.advantage, 0), f"{x.p:.3f}",
                 "yes" if x.wins else "no")
                for c in self.candidates
                for x in c.annotators
            )  # fmt: skip
            heads_of = ("candidate", "annotator", "items", "advantage", "p", "wins")
            blocks.append(Table(heads_of, detail, right=(2, 3, 4)))
        return blocks


def alternative_test(votes: Votes, candidates: Sequence[str], epsilon: float = EPSILON) -> AltTest:
    """Test whether candidates may take the place of the other jurors.

    Parameters
    ----------
    candidates
        The jurors to test; all others are annotators.
    epsilon
        By how much a candidate may fall behind an annotator, since it saves time and money.

    Returns
    -------
    AltTest

    Raises
    ------
    OptionError
        For a candidate that is no juror, and an epsilon that is no share.
    SketchError
        Where fewer than two annotators have 30 items in common with a candidate.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(2, size=(100, 1))
    >>> right = rng.random((100, 4)) < [0.7, 0.7, 0.7, 0.95]
    >>> votes = Votes.from_matrix(np.where(right, truth, 1 - truth), jurors=("ann", "bob", "cy", "llm"))
    >>> found = alternative_test(votes, ["llm"]).candidates[0]
    >>> found.winning_rate, found.passes
    (1.0, True)
    """
    if not 0 <= epsilon < 1:
        raise OptionError(f"epsilon must be a share from 0 to 1, got {epsilon!r}", code="out_of_range", name="epsilon")
    names = (candidates,) if isinstance(candidates, str) else tuple(candidates)
    tested = name_positions(votes.jurors, names)
    others = [k for k in range(len(votes.jurors)) if k not in set(tested)]
    codes = votes.codes if votes.counts is None else np.repeat(votes.codes, votes.counts, axis=0)
    people = codes[:, others]
    tested_names = [votes.jurors[k] for k in tested]
    found, left_out = [], dict[str, None]()
    for place, name in zip(tested, tested_names, strict=True):
        ahead, replaced = [], []
        for j, other in enumerate(others):
            wins, loses = _beside(codes[:, place], people, j)
            if len(wins) < FEWEST_ITEMS:
                left_out[votes.jurors[other]] = None
                continue
            ahead.append(_p_value(loses.astype(float) - wins, epsilon))
            replaced.append((votes.jurors[other], len(wins), float(wins.mean())))
        if len(replaced) < FEWEST_ANNOTATORS:
            raise SketchError(
                f"the alternative annotator test of {name!r} needs {FEWEST_ANNOTATORS} annotators that share "
                f"{FEWEST_ITEMS} items with it and with each other, and found {len(replaced)}; add items or annotators",
                code="few_jurors",
                needed=FEWEST_ANNOTATORS,
                given=len(replaced),
            )
        corrected = stats.false_discovery_control(ahead, method="by")  # Benjamini and Yekutieli
        rows = (Replaced(*row, float(p), bool(p <= _ALPHA)) for row, p in zip(replaced, corrected, strict=True))
        found.append(Candidate(name, tuple(rows)))
    return AltTest(candidates=tuple(found), epsilon=epsilon, left_out=tuple(left_out))


def _beside(candidate: Any, people: Any, j: int) -> tuple[Flags, Flags]:
    """Where the candidate agrees with the others at least as much as annotator j, and where j does as the candidate."""
    others = np.delete(people, j, axis=1)
    own = people[:, j]
    at = (candidate >= 0) & (own >= 0) & (others >= 0).any(axis=1)
    by_candidate = (others[at] == candidate[at, None]).sum(axis=1)
    by_annotator = (others[at] == own[at, None]).sum(axis=1)
    return by_candidate >= by_annotator, by_annotator >= by_candidate


def _p_value(behind: Floats, epsilon: float) -> float:
    """Of a one-sided t test that the mean is below epsilon."""
    if np.ptp(behind) == 0:
        return 0.0 if behind[0] < epsilon else 1.0
    return float(stats.ttest_1samp(behind, epsilon, alternative="less").pvalue)
