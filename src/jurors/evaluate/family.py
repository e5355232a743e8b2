"""Jurors of one family, as the user declares them: a latent-class model in which they may give one common answer.

The independent-errors model takes what two models of one family share for the truth, and no likelihood can distinguish
"these two share an error" from "these two are right and the others share one". So a family is an assumption that only
the user can make (`family=`, `--family`), and both readings are reported.

The model has a confusion matrix K_i per juror and, for each family and true label k, a share c_k of items on which its
members give one common answer (by the matrix of any one of them, with equal probability). On the other items they
answer independently, as jurors outside a family always do:
    P(votes of a family | k) = c_k [all equal] (1/g) Σ_i K_i[k, v] + (1 - c_k) Π_i K_i[k, v_i].
It is fitted by EM with the prior Beta(2, 4) on every c_k, that is, one pseudo-item in common and three apart. EM starts
from the independent-errors fit, from vote shares, from vote shares in which a family counts as one juror, and from
those without the families. The end with the highest posterior density is selected.

Without a declaration, models are averaged by held-out votes (`latent.selection`). This is one model, so both readings
differ a little even where a family shares nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from jurors._numeric import Flags, Floats, Integers
from jurors.errors import OptionError, match_name
from jurors.evaluate.latent.em import STRENGTH, canonical_ranks, posteriors
from jurors.evaluate.solution import Partition
from jurors.options import Target
from jurors.sketch.connectivity import connected_groups
from jurors.sketch.pairs import Incidence
from jurors.sketch.sketch import Sketch

_FEWEST_JURORS, _FEWEST_DISTINCT = 4, 3  # jurors; and families and other jurors
_MOST_SUGGESTED = 20  # jurors up to which names are compared
_PLAIN_WORDS = re.compile(  # they begin names without saying who made the juror
    "agent|annotator|assessor|checker|classifier|coder|expert|grader|human|judge|juror|labell?er|lf|llm|model|panelist|"
    "participant|person|rater|reader|reviewer|rule|scorer|source|student|subject|system|turker|user|worker"
)
_TOGETHER, _APART = 1.0, 3.0  # pseudo-items on which a family gives one answer, and on which it does not
_LIMIT, _TOLERANCE = 500, 1e-4
_REPLICATES, _FEWEST_REPLICATES, _STEPS = 40, 10, 60  # samples of items for standard errors, and EM steps of each
_MOST_CELLS = 1_000_000  # samples x tuples x labels held at a time


# -- declarations ---------------------------------------------------------------------------------------------------


def resolve_families(declared: Mapping[str, Sequence[str]], jurors: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Match declared families with the jurors there are.

    Returns
    -------
    dict
        Name of the family -> names of its jurors.

    Raises
    ------
    OptionError
        A juror is unknown, is in two families or alone in one, or the jurors are too few for the model.

    Examples
    --------
    >>> resolve_families({"gpt": ["gpt-a", "gpt-b"]}, ["gpt-a", "gpt-b", "claude", "llama"])
    {'gpt': ('gpt-a', 'gpt-b')}
    """
    families: dict[str, tuple[str, ...]] = {}
    family_of: dict[str, str] = {}
    for family, members in declared.items():
        names = tuple(dict.fromkeys(match_name(name, jurors, "juror", error=OptionError) for name in members))
        if len(names) < 2:
            raise _refusal(
                f"{family!r} has {'no juror' if not names else f'one juror, {names[0]!r}'}; name two or more"
            )
        for name in names:
            if name in family_of:
                raise _refusal(f"puts {name!r} into two families, {family_of[name]!r} and {family!r}; a juror has one")
            family_of[name] = family
        families[family] = names
    distinct = len(jurors) - len(family_of) + len(families)
    if families and len(jurors) < _FEWEST_JURORS:
        raise _refusal(f"needs {_FEWEST_JURORS} jurors or more, and these votes have {len(jurors)}; leave it out")
    if families and distinct < _FEWEST_DISTINCT:
        least = f"at least {_FEWEST_DISTINCT} are needed"
        raise _refusal(f"leaves {distinct} families and other jurors, and {least}; declare fewer")
    return families


def remaining_families(
    declared: Mapping[str, Sequence[str]], jurors: Sequence[str], kept: Sequence[str]
) -> dict[str, list[str]]:
    """The declared families with only those of the jurors that are `kept`; one that has a single juror left is none.

    Returns
    -------
    dict
    """
    named = {name: [match_name(j, jurors, "juror", error=OptionError) for j in who] for name, who in declared.items()}
    left = {name: [j for j in members if j in kept] for name, members in named.items()}
    return {name: members for name, members in left.items() if len(members) > 1 or set(named[name]) <= set(kept)}


def _refusal(what: str) -> OptionError:
    return OptionError(f"family= {what}", code="out_of_range", name="family")


def suggest_families(jurors: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Jurors whose names begin alike, as models of one maker do; the user knows whether they share a family.

    Returns
    -------
    dict
        The common beginning -> names.

    Examples
    --------
    >>> suggest_families(["openai/gpt-4o", "openai/gpt-4.1", "anthropic/claude", "llama3"])
    {'openai': ('openai/gpt-4o', 'openai/gpt-4.1')}
    >>> suggest_families(["gpt-4o", "gpt-4.1", "judge-1", "judge-2"])
    {'gpt': ('gpt-4o', 'gpt-4.1')}
    """
    if not _FEWEST_JURORS <= len(jurors) <= _MOST_SUGGESTED:
        return {}
    paths = [re.split(r"[/:]", str(name)) for name in jurors]
    while min(map(len, paths)) > 1 and len({path[0] for path in paths}) == 1:  # one router for all of them
        paths = [path[1:] for path in paths]
    alike: dict[str, list[str]] = {}
    for name, path in zip(jurors, paths, strict=True):
        word = re.match(r"([a-z]{2,})(?=[-_. ]|\d)", path[0].lower()) if len(path) == 1 else None
        stem = path[0].lower() if len(path) > 1 else word[1] if word else ""
        if stem and not _PLAIN_WORDS.fullmatch(stem) and "," not in name:
            alike.setdefault(stem, []).append(name)
    found = {stem: tuple(names) for stem, names in alike.items() if len(names) > 1}
    distinct = len(jurors) - sum(map(len, found.values())) + len(found)
    return found if distinct >= _FEWEST_DISTINCT else {}


# -- the model ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Parameters:
    prior: Floats  # (stack, R)
    table: Floats  # (stack, R, N, R)
    common: Floats  # (stack, families, R)


@dataclass(frozen=True)
class FamilyFit:
    """The model where EM ended."""

    posterior: Floats  #: (T, R)
    common: Floats  #: (families,) the share of items on which each family gives one common answer
    converged: bool
    groups: tuple[tuple[int, ...], ...]  #: the members of each family, by position
    parameters: _Parameters  #: a stack of one

    def posterior_of(self, sketch: Sketch) -> Floats:
        """The posterior of other decision tuples of the same jurors and labels.

        Returns
        -------
        ndarray, (T, R)
        """
        return np.asarray(_Problem(sketch, self.groups).improve(self.parameters)[1][0].T)


def fit_families(
    sketch: Sketch, groups: Sequence[tuple[int, ...]], start: Floats, *, keep_start: bool = False
) -> FamilyFit:
    """Fit the model in which the members of each group may give one common answer.

    Parameters
    ----------
    groups
        Positions of jurors; those that have one in common are one group.
    start
        (T, R) posterior of the independent-errors model.
    keep_start
        Whether to start from there alone, because the user chose between it and its mirror image.

    Returns
    -------
    FamilyFit
    """
    chains = [pair for group in groups for pair in pairwise(group)]
    groups = connected_groups(chains, len(sketch.jurors))
    problem = _Problem(sketch, groups)
    starts = np.stack([start] if keep_start else [start, *_vote_starts(sketch, groups)]).swapaxes(1, 2)
    at, posterior, height, converged = problem.climb(problem.first(starts), _LIMIT)
    best = [int(np.argmax(height))]
    ends = _Parameters(at.prior[best], at.table[best], at.common[best])
    common = (ends.common[0] * ends.prior[0]).sum(axis=1)
    return FamilyFit(posterior[best[0]].T, common, converged, tuple(groups), ends)


@dataclass(frozen=True, eq=False)
class DeclaredFamilies:
    """The user's families, and what the votes say if they are right: fitted when it is first read."""

    families: Mapping[str, tuple[str, ...]]  #: name -> jurors
    sketch: Sketch = field(repr=False)
    start: Partition | None = field(repr=False)  #: of the independent-errors model, without gold items
    representatives: tuple[int, ...] = ()  #: by juror, the one that it repeats
    keeps_start: bool = False  #: whether the user chose between two solutions
    target: Target = "test"
    seed: int = 0

    @cached_property
    def fit(self) -> FamilyFit:
        """The fitted model; jurors that repeat another belong together as families do."""
        place = {name: k for k, name in enumerate(self.sketch.jurors)}
        groups = [tuple(place[name] for name in names) for names in self.families.values()]
        groups += [(k, original) for k, original in enumerate(self.representatives) if k != original]
        start = _vote_starts(self.sketch, ())[0]
        if self.start is not None:
            known = self.start.posterior
            start = np.where(((known >= 0) & (known <= 1)).all(axis=1, keepdims=True), known, start)
        return fit_families(self.sketch, groups, start, keep_start=self.keeps_start)

    @cached_property
    def errors(self) -> dict[str, Floats] | None:
        """Standard errors of the statistics; None where there are too many tuples to sample."""
        return family_errors(self.sketch, self.fit, self.target, self.seed)

    @property
    def scores(self) -> Floats:
        """(N,) the share of each juror's votes that is right by the model."""
        weights = self.sketch.counts.astype(np.float64)[None]
        return np.asarray(_statistics(self.sketch, self.fit.posterior.T[None] * weights[:, None, :])["score"][0])

    @property
    def wrong_labels(self) -> float:
        """The share of items whose best label is wrong by the model."""
        return float(np.average(1 - self.fit.posterior.max(axis=1), weights=self.sketch.counts))

    @property
    def common(self) -> dict[str, float]:
        """Family -> the share of items on which it gives one common answer."""
        place = {name: k for k, name in enumerate(self.sketch.jurors)}
        of_juror = {k: float(x) for group, x in zip(self.fit.groups, self.fit.common, strict=True) for k in group}
        return {family: of_juror[place[names[0]]] for family, names in self.families.items()}

    def to_dict(self) -> dict[str, Any]:
        """The families as JSON.

        Returns
        -------
        dict
        """
        return {name: {"jurors": names, "common": self.common[name]} for name, names in self.families.items()}


def family_errors(sketch: Sketch, fit: FamilyFit, target: Target, seed: int) -> dict[str, Floats] | None:
    """The standard errors of the model's statistics over samples of items, as far as they come from the fit.

    Returns
    -------
    dict of ndarray, or None
        "prevalence" (R,), "accuracy" (N, R) and "score" (N,); None where there are too many tuples to sample.
    """
    rows, size = sketch.tuples.rows, len(sketch.labels)
    replicates = min(_REPLICATES, _MOST_CELLS // (rows * size))
    if replicates < _FEWEST_REPLICATES:
        return None
    counts = sketch.counts.astype(np.float64)
    votes = Incidence.from_triples(*sketch.tuples.triples(), sketch.counts, jurors=len(sketch.jurors), labels=size)
    _, place = canonical_ranks(votes)  # drawn in an order that depends on the votes alone
    shares = counts[np.argsort(place)] / counts.sum()
    drawn = np.random.default_rng(seed).multinomial(sketch.items, shares, size=replicates)[:, place]
    problem, at = _Problem(sketch, fit.groups, drawn.astype(np.float64)), fit.parameters
    stacked = _Parameters(*(np.repeat(x, replicates, axis=0) for x in (at.prior, at.table, at.common)))
    _, posterior, _, _ = problem.climb(stacked, _STEPS)
    mass = posterior * (drawn if target == "population" else counts[None])[:, None, :]
    return {name: values.std(axis=0) for name, values in _statistics(sketch, mass).items()}


def _statistics(sketch: Sketch, mass: Floats) -> dict[str, Floats]:
    """Prevalence (stack, R), accuracy (stack, N, R) and score (stack, N) by the mass of labels (stack, R, T)."""
    size = len(sketch.labels)
    votes = Incidence.from_triples(*sketch.tuples.triples(), sketch.counts, jurors=len(sketch.jurors), labels=size)
    by_vote = votes.counts(mass).reshape(len(mass), size, len(sketch.jurors), size)
    right, total = np.einsum("slnl->snl", by_vote), by_vote.sum(axis=3).swapaxes(1, 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        accuracy, score = right / total, right.sum(axis=2) / total.sum(axis=2)
    prevalence = mass.sum(axis=2) / mass.sum(axis=(1, 2))[:, None]
    return {"prevalence": prevalence, "accuracy": accuracy, "score": score}


@dataclass(frozen=True)
class _Family:
    group: tuple[int, ...]
    codes: Integers  # (T, members); the number of labels where there is no vote
    voted: Flags  # (T, members)
    several: Flags  # (T,) whether two members or more voted,
    is_one: Flags  # (T,) and all for one label


class _Problem:
    """The votes as EM needs them: those of jurors outside families in one matrix, the families' in columns."""

    def __init__(self, sketch: Sketch, groups: Sequence[tuple[int, ...]], weights: Floats | None = None) -> None:
        self.labels, self.jurors = len(sketch.labels), len(sketch.jurors)
        row, juror, code = sketch.tuples.triples()
        counts = sketch.counts.astype(np.float64)
        self.weights = (counts[None] if weights is None else weights)[:, None, :]  # (stack or 1, 1, T)
        member = np.isin(juror, [k for group in groups for k in group])
        outside = row[~member], juror[~member], code[~member]
        self.outside = Incidence.from_triples(*outside, counts, jurors=self.jurors, labels=self.labels)
        self.families: list[_Family] = []
        for group in groups:
            codes = np.full((len(counts), len(group)), self.labels, dtype=np.int64)
            for column, k in enumerate(group):
                is_own = juror == k
                codes[row[is_own], column] = code[is_own]
            voted = codes < self.labels
            several = voted.sum(axis=1) > 1
            is_one = several & (np.where(voted, codes, -1).max(axis=1) == codes.min(axis=1))
            self.families.append(_Family(group, codes, voted, several, is_one))

    def first(self, posterior: Floats) -> _Parameters:
        """The parameters of label posteriors (stack, R, T), as if families answered independently."""
        mass = posterior * self.weights
        by_member = [[mass] * len(family.group) for family in self.families]
        return self._maximise(mass, by_member, [np.full(mass.shape[:2], 0.25) for _ in self.families])

    def climb(self, at: _Parameters, limit: int) -> tuple[_Parameters, Floats, Floats, bool]:
        """EM until no panel of the stack gains: parameters, posteriors, log densities, and whether it converged."""
        height = np.full(len(at.prior), -np.inf)
        for _ in range(limit):
            before, (at, posterior, height) = height, self.improve(at)
            if (np.abs(height - before) < _TOLERANCE).all():
                return at, posterior, height, True
        return at, posterior, height, False

    def improve(self, at: _Parameters) -> tuple[_Parameters, Floats, Floats]:
        """One EM step: the next parameters, the posterior of labels (stack, R, T), the log density before the step."""
        stack = len(at.prior)
        score = self.outside.scores(np.log(at.table).reshape(stack, self.labels, -1)) + np.log(at.prior)[:, :, None]
        parts = []
        for k, family in enumerate(self.families):
            # the probability of each member's votes (stack, R, T); 1 where it has none
            tables = np.concatenate([at.table, np.ones((*at.table.shape[:3], 1))], axis=3)
            own = [tables[:, :, j][:, :, column] for j, column in zip(family.group, family.codes.T, strict=True)]
            total = np.sum([chance * v for chance, v in zip(own, family.voted.T, strict=True)], axis=0)
            members = np.maximum(family.voted.sum(axis=1), 1)
            common = at.common[:, k, :, None]
            together = np.where(family.is_one, common * total / members, 0.0)
            joint = together + np.where(family.several, 1 - common, 1.0) * np.prod(own, axis=0)
            score = score + np.log(joint)
            parts.append((own, np.where(family.is_one, total, 1.0), together / joint))
        posterior, log_likelihood = posteriors(score)
        pseudo = STRENGTH / self.labels + STRENGTH * np.eye(self.labels)[:, None, :]
        of_tables = (pseudo * np.log(at.table)).sum(axis=(1, 2, 3))
        of_families = (_TOGETHER * np.log(at.common) + _APART * np.log1p(-at.common)).sum(axis=(1, 2))
        log_prior = of_tables + of_families + np.log(at.prior).sum(axis=1)
        height = (log_likelihood[:, None] * self.weights).sum(axis=(1, 2)) + log_prior
        mass, by_member, common_shares = posterior * self.weights, [], []
        for family, (own, total, copied) in zip(self.families, parts, strict=True):
            by_member.append([mass * (1 - copied + copied * chance / total) for chance in own])
            pairs = mass * family.several
            shares = (pairs * copied).sum(axis=2) + _TOGETHER, pairs.sum(axis=2) + _TOGETHER + _APART
            common_shares.append(shares[0] / shares[1])
        return self._maximise(mass, by_member, common_shares), posterior, height

    def _maximise(self, mass: Floats, by_member: list[list[Floats]], common: list[Floats]) -> _Parameters:
        """M-step from the mass of each label on each tuple, and of each member's own answers."""
        stack, size = len(mass), self.labels
        share = mass.sum(axis=2) + 1.0
        counts = self.outside.counts(mass).reshape(stack, size, self.jurors, size).copy()
        for family, masses in zip(self.families, by_member, strict=True):
            for j, column, own in zip(family.group, family.codes.T, masses, strict=True):
                counts[:, :, j] = own @ (column[:, None] == np.arange(size)).astype(np.float64)
        counts += STRENGTH / size + STRENGTH * np.eye(size)[:, None, :]
        table = counts / counts.sum(axis=3, keepdims=True)
        return _Parameters(share / share.sum(axis=1, keepdims=True), table, np.stack(common, axis=1))


def _vote_starts(sketch: Sketch, groups: Sequence[tuple[int, ...]]) -> list[Floats]:
    """Shares of votes (T, R): all of them, a family as one juror, and without families."""
    row, juror, code = sketch.tuples.triples()
    size, rows = len(sketch.labels), sketch.tuples.rows
    starts = []
    for weight in (1.0, None, 0.0):
        weights = np.ones(len(sketch.jurors))
        for group in groups:
            weights[list(group)] = 1 / len(group) if weight is None else weight
        votes = np.bincount(row * np.int64(size) + code, weights=weights[juror], minlength=rows * size)
        shares = votes.reshape(rows, size) + 1 / size
        starts.append(shares / shares.sum(axis=1, keepdims=True))
    return starts
