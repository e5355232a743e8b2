"""The latent-class models of a panel: one accuracy per juror, confusion matrices, strata, joint groups of jurors.

In: the decision tuples of a panel, with any pattern of votes and no answer key. Out: `LatentFit`, with prevalences,
confusion matrices and each tuple's label posterior.

Latent classes. Every item belongs to a hidden class k = (true label l, stratum s), and given the class the jurors err
independently: P(votes, k) = p_k Π_j K_j[k][vote_j]. One stratum is the paper's error independence (Dawid and Skene's
model). Two strata, easy and hard items, let errors be correlated through the items' difficulty: on a hard item juror j
looks away with probability h_j and then votes by a habit g_j that knows nothing of the truth,
    K_j[l, hard] = (1 - h_j) K_j[l, easy] + h_j g_j,
so that a hard stratum says less about its label, and never comes to stand for another one. Difficulty is taken to be
independent of the label, p_k = p_l p_s, unless a likelihood-ratio test at 0.1% says otherwise: where hard items say
little, nothing else shows how many of them have each label.

Abstaining is one more answer of the panel models, which is no item's true label:
    P(answers, l) = p_l Π_j K_j[l][answer_j],   answer_j a label, or "I abstain".
So who abstains on what is evidence like any vote: on hard items (`strata`) by habit, else at a rate per true label.
What is reported is about the votes that were cast: K_j[l][r] / (1 - K_j[l][abstains]).

Groups of jurors who err together have, given the label, a joint table of the group:
    P(votes, l) = p_l Π_{single j} K_j[l][v_j] Π_{groups g} J_g[l][v_g].
Nothing is assumed about what goes on inside a group, so jurors who copy from each other no longer count as many. EM
with the group's correction log J - Σ log K added where all of its members voted.

Repeats. The same judge several times (`gpt#1` and `gpt#2`) shares every misunderstanding, so it counts once. A name
alone does not prove it (`judge_1` and `judge_2` are two people), and neither does agreement (good jurors agree). So
both are required: the name says "once more" in so many words, and the votes confirm it, the repeats disagreeing
clearly less with each other than with all others. Where there are no others, the names must do.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from jurors._numeric import Flags, Floats
from jurors.evaluate.latent import em
from jurors.sketch.pairs import Incidence, Pairs
from jurors.sketch.sketch import Sketch
from jurors.votes.scale import REPEAT_WORDS, stem_and_number
from jurors.votes.table import Votes

MODELS = ("one_coin", "confusion", "strata")  #: from the simplest to the richest


@dataclass(frozen=True, kw_only=True)
class LatentFit:
    """A panel graded by one latent-class model."""

    model: str
    prevalence: Floats  #: (R,) share of items with each true label
    confusion: Floats  #: (N, R, R) [juror][true label][vote], over all strata
    posterior: Floats  #: (T, R) probability of each true label, tuple by tuple
    log_likelihood: float
    iterations: int  #: how many times the posteriors were computed
    converged: bool
    parameters: em.Parameters = field(repr=False)  #: to start a later fit from
    data: Incidence = field(repr=False)  #: the votes that it grades

    @cached_property
    def score(self) -> Floats:
        """(N,) expected share of right votes among the juror's own; NaN for a juror without votes."""
        return juror_scores(self.data, self.posterior)


def fit_latent(
    data: Incidence,
    model: str = "confusion",
    *,
    gold: ArrayLike | None = None,
    start: em.Parameters | None = None,
    fixed_mix: bool = False,
    tolerance: float = 1e-5,
    max_iterations: int = 1000,
) -> LatentFit:
    """Fit one latent-class model to one panel.

    Parameters
    ----------
    data
        The decision tuples and their weights.
    model
        ``"one_coin"``: one accuracy per juror; ``"confusion"``: a confusion matrix per juror; ``"strata"``: a
        confusion matrix per juror, blurred on hard items.
    gold
        (T, R) known probabilities of the true label; a row of NaN or -1 is unknown.
    start
        Parameters of an earlier fit of the same model.
    fixed_mix
        Whether strata keep the label mix of `start`, be it common to both or one per stratum.
    tolerance, max_iterations
        EM has converged when a plain step gains less than this much log-likelihood per parameter (by chance alone, a
        parameter is worth 1/2).

    Returns
    -------
    LatentFit

    Examples
    --------
    >>> votes = Incidence.from_codes([[0, 0, 0], [1, 1, 1], [0, 0, 1], [1, 1, 0]], [40, 40, 10, 10], labels=2)
    >>> fit_latent(votes, "one_coin").score.round(1)
    array([1. , 1. , 0.8])

    """
    problem = em.em_problem(data, model, gold)
    at = em.first_parameters(problem) if start is None else start
    problem = replace(problem, tied=at.is_tied)
    fit = em.run_em if fixed_mix else em.fit_strata
    at, steps, converged = fit(problem, at, tolerance * at.flat.shape[1], max_iterations)
    return describe_fit(problem, at, steps, converged, em.e_step(problem, at))


def classes_at(at: em.Parameters) -> tuple[Floats, Floats]:
    """The classes at any parameters.

    Returns
    -------
    prevalence : (K,) array
    table : (K, jurors, labels) array
        The probability of each juror's vote given the class.
    """
    prior = np.exp(at.prior[0])
    return prior, np.exp(em.class_table(at)[0]).reshape(len(prior), at.jurors, at.labels)


def juror_scores(data: Incidence, posterior: Floats) -> Floats:
    """Expected share of right votes among each juror's own, given a (T, R) posterior of the true labels.

    Returns
    -------
    (N,) array
        NaN for a juror without votes.
    """
    mass = posterior.T[None] * data.weights[:, None, :]
    return right_shares(data.counts(mass).reshape(data.labels, data.jurors, data.labels))


def right_shares(counts: Floats) -> Floats:
    """The share of right votes among each juror's own, from counts by true label, juror and vote (R, N, R).

    Returns
    -------
    (N,) array
        NaN for a juror without votes.
    """
    cast = counts.sum(axis=(0, 2))
    return np.asarray(np.where(cast > 0, np.einsum("ljl->j", counts) / np.where(cast > 0, cast, 1.0), np.nan))


def restrict_to_answered(data: Incidence, fit: LatentFit) -> LatentFit:
    """The same fit, stated about the items that were answered: expected shares by the posterior, without pseudo-counts.

    A pseudo-count keeps a fit from running away; in a grade it is a bias, which in a large panel exceeds everything
    that is unknown. NaN where no item of a label is expected.

    Returns
    -------
    LatentFit
        With the same posterior.
    """
    mass = fit.posterior.T[None] * data.weights[:, None, :]
    counts = data.counts(mass).reshape(data.labels, data.jurors, data.labels).transpose(1, 0, 2)
    share = mass[0].sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        confusion = counts / counts.sum(axis=2, keepdims=True)
    restricted = replace(fit, prevalence=share / share.sum(), confusion=confusion, data=data)
    object.__setattr__(restricted, "score", right_shares(counts.transpose(1, 0, 2)))  # from the same counts
    return restricted


def describe_fit(
    problem: em.EMProblem, at: em.Parameters, steps: int, converged: bool, expected: tuple[Floats, Floats]
) -> LatentFit:
    """A `LatentFit` from the parameters at the end of EM and the `e_step` there.

    Returns
    -------
    LatentFit
    """
    data, labels = problem.data, problem.data.labels
    classes, likelihood = expected
    posterior = classes.reshape(-1, labels, data.rows).sum(axis=0, dtype=np.float64).T
    prior = np.exp(at.prior, dtype=np.float64).reshape(-1, labels)
    table = np.exp(em.class_table(at), dtype=np.float64).reshape(-1, labels, data.jurors, labels)
    return LatentFit(
        model=problem.model,
        prevalence=prior.sum(axis=0),
        confusion=np.einsum("sl,sljr->jlr", prior / prior.sum(axis=0), table),
        posterior=posterior,
        log_likelihood=float((data.weights * likelihood).sum()),
        iterations=steps,
        converged=converged,
        parameters=at,
        data=data,
    )


# -- abstentions ----------------------------------------------------------------------------------------------------


def exclude_last_label(key: Floats | None, rows: int, answers: int) -> Floats:
    """A key which says that no row's true label is the last answer; gold items keep theirs.

    Returns
    -------
    (rows, answers) array

    Examples
    --------
    >>> exclude_last_label(None, 2, 3).tolist()
    [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0]]
    """
    open_rows = np.ones((rows, answers))
    open_rows[:, -1] = 0.0
    return open_rows if key is None else np.where(np.isnan(key), open_rows, key)


def gold_rows(key: Floats) -> Flags:
    """Which rows of a key have one known label.

    Returns
    -------
    (rows,) array of bool
    """
    return np.asarray((key > 0).sum(axis=1) == 1)


def drop_abstentions(data: Incidence) -> Incidence:
    """The same tuples without the last answer.

    Returns
    -------
    Incidence
        With one label fewer.

    Examples
    --------
    >>> drop_abstentions(Incidence.from_codes([[0, 2], [1, 1]], labels=3)).matrix[0].tolist()
    [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 1.0]]
    """
    labels = data.labels - 1
    is_label = np.arange(data.jurors * data.labels) % data.labels != labels
    matrix = data.matrix[:, :, is_label] if data.is_dense else data.matrix[:, is_label]
    return replace(data, matrix=matrix, labels=labels)


def fit_given_answered(answered: Incidence, fit: LatentFit) -> LatentFit:
    """A fit of answers as one of labels, given that a juror did not abstain.

    Returns
    -------
    LatentFit
        `fit` itself where there are no abstentions.
    """
    labels = answered.labels
    if len(fit.prevalence) == labels:
        return fit
    posterior, confusion = fit.posterior[:, :labels], fit.confusion[:, :labels, :labels]
    return replace(
        fit,
        prevalence=fit.prevalence[:labels] / fit.prevalence[:labels].sum(),
        confusion=confusion / confusion.sum(axis=2, keepdims=True),
        posterior=posterior,
        data=answered,
    )


# -- groups of jurors with a joint table ----------------------------------------------------------------------------

_CoupledState: TypeAlias = tuple[Floats, Floats, Floats]  # posterior, prior, confusion
_PSEUDO = 4.0  # pseudo-votes of a group's table, spread as independence would spread them


@dataclass(frozen=True)
class Coupling:
    """All groups of jurors that have a joint table."""

    groups: list[tuple[int, ...]]  #: the members of each group
    joint: list[Incidence]  #: their joint votes: a single "juror" whose "labels" are the group's decision tuples

    def weighing(self, weights: Floats) -> Coupling:
        """The same groups on items with other weights, (stack, T)."""
        return replace(self, joint=[replace(votes, weights=weights) for votes in self.joint])


def couple_groups(votes: Votes, groups: Sequence[tuple[int, ...]]) -> Coupling:
    """Join the votes of some groups; where a member has no vote, its group has none.

    Returns
    -------
    Coupling
    """
    size = len(votes.labels)
    weights = np.ones(votes.rows) if votes.counts is None else votes.counts
    joint_votes = []
    for members in groups:
        codes = votes.codes[:, list(members)].astype(np.int64)
        place = size ** np.arange(len(members))[::-1]
        joint = np.where((codes >= 0).all(axis=1), codes @ place, -1)
        joint_votes.append(Incidence.from_codes(joint[:, None], weights, labels=size ** len(members)))
    return Coupling([tuple(members) for members in groups], joint_votes)


def fit_coupled(data: Incidence, coupling: Coupling, start: LatentFit, *, gold: Floats | None = None) -> LatentFit:
    """Fit confusion matrices and the groups' tables, starting from a fit that takes all jurors for independent.

    Returns
    -------
    LatentFit
    """
    end, height, steps, converged = climb_coupled(data, coupling, start.posterior.T[None], gold=gold)
    posterior, prior, confusion = (x[0] for x in end)
    return replace(
        start,
        model="confusion",
        prevalence=prior,
        confusion=confusion.transpose(1, 0, 2),
        posterior=posterior.T,
        log_likelihood=float(height.sum()),
        iterations=start.iterations + steps,
        converged=converged,
    )


def climb_coupled(
    data: Incidence,
    coupling: Coupling,
    posterior: Floats,
    *,
    gold: Floats | None = None,
    tolerance: float = 1e-4,
    limit: int = 1000,
) -> tuple[_CoupledState, Floats, int, bool]:
    """EM with joint tables, from label posteriors (stack, R, T).

    Returns
    -------
    tuple
        Posteriors (stack, R, T), prevalences (stack, R) and confusion matrices (stack, R, N, R).
    log_likelihood : (stack,) array
    steps : int
    converged : bool
    """
    known = 0.0 if gold is None else np.where(np.isnan(gold), 0.0, np.log(np.maximum(gold, 1e-200))).T[None]
    size, stack = data.labels, len(posterior)

    def step(state: _CoupledState) -> tuple[_CoupledState, Floats]:
        mass = state[0] * data.weights[:, None, :]
        share = mass.sum(axis=2) + 1.0
        prior = share / share.sum(axis=1, keepdims=True)
        counts = data.counts(mass).reshape(stack, size, data.jurors, size)
        counts = counts + em.STRENGTH / size + em.STRENGTH * np.eye(size)[None, :, None, :]
        confusion = counts / counts.sum(axis=3, keepdims=True)
        score = data.scores(np.log(confusion).reshape(stack, size, -1)) + np.log(prior)[:, :, None]
        for members, votes in zip(coupling.groups, coupling.joint, strict=True):
            independent = np.ones((stack, size, 1))
            for member in members:
                independent = (independent[:, :, :, None] * confusion[:, :, member, None, :]).reshape(stack, size, -1)
            joint = votes.counts(mass) + _PSEUDO * independent
            score = score + votes.scores(np.log(joint / joint.sum(axis=2, keepdims=True)) - np.log(independent))
        posterior, log_likelihood = em.posteriors(score + known)
        return (posterior, prior, confusion), (log_likelihood * data.weights).sum(axis=1)

    start: _CoupledState = posterior, np.empty(0), np.empty(0)
    return em.iterate_em(step, start, limit, lambda gain, _: (np.abs(gain) < tolerance).all())


# -- one judge several times ----------------------------------------------------------------------------------------

# The marks, at the end of a name: `#2`, `(2)`, `[2]`, `@2`, ` run 2`, `_run2`, `/epoch=2`, ` (run 2)`. Numbers
# up to 999 for marks without a word: longer ones are versions and dates (`claude@20240229`, `gpt-4 (0613)`).
_MARK = re.compile(
    rf"""^(?P<base>.*?[^\s_\-/.:,|])\s*
    (?: \#\s*(?P<hash>\d{{1,3}})
      | @\s*(?P<at>\d{{1,2}})
      | [(\[]\s*(?P<round>\d{{1,3}})\s*[)\]]
      | (?:[\s_\-/.:,|]+|\s*[(\[]\s*)(?:{REPEAT_WORDS})[\s_\-=:\#]*(?P<word>\d{{1,6}})\s*[)\]]?
    )$""",
    re.IGNORECASE | re.VERBOSE,
)
_BEFORE_NUMBER = (*"#@_-=: ", *REPEAT_WORDS.split("|"))  # what may stand before the number of a mark
_LONGEST_BEFORE = max(map(len, _BEFORE_NUMBER))


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text))


# Names of a role, not of a person or program: what a number after them counts is people. `annotator #3` is a third
# annotator.
_ROLES = _words(
    """
    a an annotator annotators assessor anno agent ai amt bot c classifier clf coder crowd crowdworker detector
    doctor e editor evaluator examiner expert grader h human humans i id item j judge juror k labeler labeller lf
    llm m member ml mod moderator model mturk mturker n no number observer p panelist panellist participant patient
    person physician player pathologist q r radiologist rater reader referee respondent reviewer rule s scorer
    sensor speaker student subject system t teacher team tool turk turker u unit user v volunteer voter w witness
    worker x y z
    """
)
# Roles of programs: a number after them may well count the runs of one. After the name of a model (`phi-1`,
# `phi-2`, `text-davinci-002`, `v0.2`) it is a version, unless it is set apart (`gpt4_1`, `gpt4 1`); after other words
# (`prompt_1`, `site 2`, `expert1`) it counts those.
_PROGRAMS = _words(
    """
    agent ai answer assistant autorater bot checker classifier critic evaluator grader judge llm model output
    prediction response scorer system verdict verifier vote
    """
) | set(REPEAT_WORDS.split("|"))
_MODELS = re.compile(
    r"gpt|claude|sonnet|opus|haiku|gemini|gemma|llama|mi[sx]tral|qwen|deepseek|grok|phi|command|nova|o\d", re.IGNORECASE
)
# How much less the repeats must disagree with each other than with the others: at most this share of it. A choice:
# independent jurors sit at 1, exact repeats at 0; no set with named repeats was at hand to tune it.
_LESS = 0.75
# And by how many standard errors: 1% one-sided, for independent jurors who happen to have such names.
_STANDARD_ERRORS = 2.33
# The same where a name only leaves it open (`judge_1`, `judge_2`): it takes far more, and only gives a warning.
_FAR_LESS, _FAR_ERRORS = 0.5, 4.0


def repeated_name(name: str) -> tuple[str, int] | None:
    """The judge behind a name that says "once more", and which time it is.

    Returns
    -------
    tuple of (str, int) or None
        None for any other name.

    Examples
    --------
    >>> repeated_name("gpt-4o #2"), repeated_name("claude (run 3)"), repeated_name("llama/epoch 1")
    (('gpt-4o', 2), ('claude', 3), ('llama', 1))
    >>> repeated_name("judge_2"), repeated_name("annotator #3"), repeated_name("w12"), repeated_name("gpt-4")
    (None, None, None, None)
    >>> repeated_name("judge (run 2)"), repeated_name("judge-sample-3")
    (('judge', 2), ('judge', 3))
    """
    text = name.rstrip()  # most names have no mark, which their ends show without the regular expression
    may_be_marked = text[-1:] in (")", "]")
    if text[-1:].isdigit():
        before = text.rstrip("0123456789")[-_LONGEST_BEFORE:]
        may_be_marked = before.lower().endswith(_BEFORE_NUMBER) or not text.isascii()
    mark = _MARK.match(name.strip()) if may_be_marked else None
    if mark is None:
        return None
    base = _plain(mark["base"])
    number = next(g for g in (mark["hash"], mark["at"], mark["round"], mark["word"]) if g is not None)
    words = re.findall(r"[a-z]+", base)
    is_role = all(word in _ROLES or word == "the" for word in words)  # `the annotator`, `human rater`, or no letter
    return None if mark["word"] is None and is_role else (base, int(number))


def named_alike(jurors: Sequence[str]) -> list[tuple[int, ...]]:
    """Groups of two or more whose names say that they are one judge; its plain name (`gpt`, `gpt (2)`) counts too.

    Returns
    -------
    list of tuples
        Positions of jurors.

    Examples
    --------
    >>> named_alike(["gpt", "gpt (2)", "gpt (3)", "ann", "bob #1"])
    [(0, 1, 2)]
    """
    groups: dict[str, list[tuple[int, int]]] = {}
    endings = ((k, name) for k, name in enumerate(jurors) if not name[-1:].isalpha())  # no mark ends in a letter
    repeats = {k: repeat for k, name in endings if (repeat := repeated_name(name)) is not None}
    for k, (base, number) in repeats.items():
        groups.setdefault(base, []).append((k, number))
    if not groups:
        return []
    for k, name in enumerate(jurors):
        if k not in repeats and (base := _plain(name)) in groups:
            groups[base].append((k, -1))
    # A number that comes twice is no count of times: `gpt #1` and `GPT #1` are two spellings of who knows what.
    counted = [pairs for pairs in groups.values() if len({number for _, number in pairs}) == len(pairs)]
    return sorted(tuple(sorted(k for k, _ in pairs)) for pairs in counted if len(pairs) > 1)


def find_repeated_jurors(sketch: Sketch) -> list[tuple[int, ...]]:
    """Groups of jurors that are one judge several times: by name, and confirmed by how they vote.

    Returns
    -------
    list of tuples
        Positions of jurors.

    Examples
    --------
    >>> counts = {"AAA": 40, "BBB": 40, "AAB": 10, "BBA": 10, "ABA": 1, "ABB": 1}
    >>> find_repeated_jurors(Sketch.from_counts(counts, jurors=("gpt#1", "gpt#2", "ann")))
    [(0, 1)]
    >>> find_repeated_jurors(Sketch.from_counts(counts, jurors=("gpt#1", "ann", "gpt#2")))
    []
    """
    groups = named_alike(sketch.jurors)
    if not groups:
        return []
    pairs = Pairs(sketch)
    return [group for group in groups if _is_confirmed(group, pairs)]


def possible_repeats(sketch: Sketch) -> dict[str, tuple[int, ...]]:
    """Jurors numbered from 0 or 1 who may be one judge: they disagree far less with each other than with the others.

    Where there are no others, votes show nothing, and a number alone is no reason for a warning.

    Returns
    -------
    dict
        The name to join them by -> positions of jurors.

    Examples
    --------
    >>> counts = {"AAA": 40, "BBB": 40, "AAB": 30, "BBA": 30, "ABA": 1, "ABB": 1}
    >>> possible_repeats(Sketch.from_counts(counts, jurors=("judge_1", "judge_2", "ann")))
    {'judge': (0, 1)}
    >>> possible_repeats(Sketch.from_counts(counts, jurors=("expert1", "expert2", "ann")))
    {}
    """
    groups: dict[str, list[tuple[int, int]]] = {}
    for k, name in enumerate(sketch.jurors):
        if (numbered := stem_and_number(name)) is not None:
            groups.setdefault(numbered[0], []).append((numbered[1], k))
    several = {stem: group for stem, group in groups.items() if len(group) > 1}  # hundreds of names are alone
    clear = {k for group in named_alike(sketch.jurors) for k in group} if several else set()
    numbered_up: dict[str, tuple[int, ...]] = {}
    for stem, group in several.items():  # two or more, numbered 0, 1, 2 … or 1, 2, 3 …
        again = sorted(n for n in group if _may_count_runs(sketch.jurors[n[1]], stem) and n[1] not in clear)
        numbers = [number for number, _ in again]
        if len(numbers) > 1 and numbers[0] in (0, 1) and numbers == list(range(numbers[0], numbers[0] + len(numbers))):
            numbered_up[stem] = tuple(k for _, k in again)
    if not numbered_up:
        return {}
    pairs, size = Pairs(sketch), len(sketch.jurors)
    return {
        name: members
        for name, members in numbered_up.items()
        if len(members) < size and _is_confirmed(members, pairs, _FAR_LESS, _FAR_ERRORS)
    }


def merge_representatives(representatives: Sequence[int], groups: Iterable[tuple[int, ...]]) -> tuple[int, ...]:
    """Each juror's representative, where every group has one representative.

    Parameters
    ----------
    representatives
        The position of each juror's representative before.

    Returns
    -------
    tuple of int
        Positions of jurors.

    Examples
    --------
    >>> merge_representatives((0, 1, 0, 3, 4), [(2, 4)])
    (0, 1, 0, 3, 0)
    """
    merged = tuple(representatives)
    for group in groups:
        same = {merged[k] for k in group}
        merged = tuple(min(same) if k in same else k for k in merged)
    return merged


def _is_confirmed(
    group: tuple[int, ...], pairs: Pairs, most: float = _LESS, standard_errors: float = _STANDARD_ERRORS
) -> bool:
    """Whether the repeats disagree less with each other than with the others, beyond chance and by a good deal."""
    members = np.isin(pairs.first, group).astype(int) + np.isin(pairs.second, group)
    disagreed = pairs.items - pairs.agreed
    items, others = pairs.items[members == 2].sum(), pairs.items[members == 1].sum()
    if not others:  # no other juror to compare with: the names must do
        return True
    if not items:
        return False
    inner, outer = disagreed[members == 2].sum() / items, disagreed[members == 1].sum() / others
    # Pairs of one group meet on the same items, so only the items of one pair are counted.
    middle, common = (inner + outer) / 2, max(float(pairs.items[members == 2].mean()), 1.0)
    error = float(np.sqrt(2 * middle * (1 - middle) / common))
    return bool(inner <= most * outer and outer - inner > standard_errors * error)


def _plain(name: str) -> str:
    return re.sub(r"[\s_\-/.:,|]+$", "", re.sub(r"\s+", " ", name.strip())).casefold()


def _may_count_runs(name: str, stem: str) -> bool:
    """Whether the number at the end of a name may count the runs of one program: not people, not versions."""
    words = re.findall(r"[a-z]+", stem.casefold())
    if words and all(word in _PROGRAMS for word in words):
        return True
    return name.strip()[len(stem)] in "_ " and _MODELS.search(stem) is not None
