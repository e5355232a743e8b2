"""Grade a panel of any number of jurors and labels, missing votes included: `evaluate_panel`; three jurors: `fit_trio`.

Jurors are independent given label *and* difficulty. The models (`latent.models`) and the selection between them by
held-out votes (`latent.selection`) do the work. Here the sketch is prepared for them: gold items become rows of their
own, a copy of a juror counts once, and one judge several times (`gpt#1`, `gpt#2`) has a joint table.

`fit_trio` is the panel model of three jurors and two labels: the theorem's answer held inside [0, 1], stabilised by
pseudo-votes. Two starts, since three jurors leave two modes: the theorem's solution, and the majority. The one that
explains the counts better wins. Over twelve trios from each of 17 reference juries the root mean square error of scores
(before any calibration) is .166, against .184 from the theorem's start alone and .199 from the majority's.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jurors._numeric import Floats, Integers, retain_freed_memory, sparse
from jurors.evaluate.alarms import Alarm
from jurors.evaluate.dependence import ResidualTest, residual_test
from jurors.evaluate.latent import models
from jurors.evaluate.latent.em import Parameters, e_step, em_problem, first_parameters, run_em_models
from jurors.evaluate.latent.selection import ModelChoice, choose_latent
from jurors.evaluate.ordinal import OrdinalChoice, choose_ordinal
from jurors.evaluate.solution import Fit, Solution, convergence_alarm, float_solution
from jurors.sketch.pairs import Incidence, Pairs, incidence_of, parts_of
from jurors.sketch.sketch import Sketch
from jurors.votes.table import Votes, abstentions_as_label

_MOST_COMPARED = 2_000  # jurors up to which every pair is compared for copies
_MOST_JOINT = 64  # joint answers of one judge's repeats up to which they have a joint table: six times, two labels
_GLANCE = 1e-3  # log-likelihood per parameter: enough to see who might be a copy
_SURPRISE = 12.0  # disagreements expected where none is seen: chance does that once in e^12 = 160,000 times
_NEAREST = 0.02  # how near to 0 or 1 the first step of a trio may start


@dataclass(frozen=True)
class PanelFit:
    """The result of the panel estimator: the fit, and what intervals around it need."""

    fit: Fit
    choice: ModelChoice
    data: Incidence  #: what was fitted: copies once, gold items in rows of their own, abstaining as the last label
    gold: Floats | None  #: the key of `data`'s rows
    hearing: Integers  #: for each juror the position of its representative, whose column of `data` has its votes
    coupling: models.Coupling | None  #: the joint tables of repeats
    pairs: Pairs  #: of jurors, without the votes of copies
    repeats: tuple[tuple[int, ...], ...] = ()  #: jurors that are one judge several times and have a joint table
    ordered: OrdinalChoice | None = None  #: of ordered levels: the ordered models, and whether one was selected

    @cached_property
    def test(self) -> ResidualTest | None:
        """Whether errors are correlated (copies left out)."""
        return residual_test(self.pairs, self.repeats)

    @property
    def deduplicated(self) -> Sketch:
        """The sketch without the votes of copies."""
        return self.pairs.sketch

    @cached_property
    def spoken(self) -> Incidence:
        """`data` without abstentions, which is what grades are about."""
        return self.data if self.data.labels == len(self.deduplicated.labels) else models.drop_abstentions(self.data)

    @property
    def is_unordered(self) -> bool:
        """Whether latent classes without order were fitted."""
        return self.ordered is None or self.ordered.trait is None

    @property
    def classes(self) -> tuple[Floats, Floats]:
        """Prevalence of each class (K,) and the jurors' votes given it (K, jurors, labels), by the weightiest model."""
        if self.ordered is not None and self.ordered.trait is not None:
            return self.ordered.trait.shares[0], self.ordered.trait.table[0]
        main = self.choice.fits[max(self.choice.fits, key=lambda name: self.choice.weights.get(name, 0.0))]
        return models.classes_at(main.parameters)


def evaluate_panel(sketch: Sketch, *, gold: Integers | None = None, seed: int = 0) -> PanelFit:
    """Grade any panel.

    Parameters
    ----------
    sketch
        The decision tuples; votes may be missing.
    gold
        Tuples x labels: how many items of each tuple are known to have each true label.
    seed
        For the sample of items whose votes a very large panel holds out.

    Returns
    -------
    PanelFit
        The fit, the models that were compared, and what intervals need.
    """
    retain_freed_memory()
    answers = sketch if sketch.tuples.abstained is None else Sketch(abstentions_as_label(sketch.tuples))
    votes, key = answers.tuples, None
    if gold is not None:  # the tuples without their gold items, then a row for each tuple and known label
        tuples, size = answers.tuples, len(answers.labels)
        at, label = np.nonzero(gold)
        counts = np.concatenate([answers.counts - gold.sum(axis=1), gold[at, label]])
        key = np.full((len(counts), size), np.nan)
        key[tuples.rows :] = np.eye(size)[label]
        votes = _take_rows(tuples, np.concatenate([np.arange(tuples.rows), at]), counts)
    known = key
    if answers is not sketch:
        key = models.exclude_last_label(key, votes.rows, len(votes.labels))
    pairs = Pairs(sketch)
    copies = _copies(pairs, votes, key)
    deduplicated = merge_copies(votes, copies)
    data = incidence_of(Sketch(deduplicated))
    answered = data if answers is sketch else models.drop_abstentions(data)
    choice = choose_latent(data, gold=key, seed=seed)
    choice, ordered = choose_ordinal(
        sketch, answered, choice, None if known is None else known[:, : answered.labels], seed
    )
    representative = np.arange(len(sketch.jurors))
    for copy, original in copies.items():
        representative[copy] = original
    # one judge several times; copies among them count no more already
    groups = [tuple(k for k in group if k not in copies) for group in models.find_repeated_jurors(sketch)]
    repeats = tuple(g for g in groups if len(g) > 1 and len(sketch.labels) ** len(g) <= _MOST_JOINT)
    pairs = Pairs(Sketch(merge_copies(sketch.tuples, copies))) if copies else pairs
    coupling, fitted = None, choice.fit
    # Other jurors that share errors have no joint table: which they are cannot be seen from the votes.
    if repeats and (ordered is None or ordered.trait is None) and "confusion" in choice.fits:
        coupling = models.couple_groups(deduplicated, list(repeats))
        fitted = models.fit_coupled(data, coupling, choice.fits["confusion"], gold=key)
    shown = models.restrict_to_answered(answered, models.fit_given_answered(answered, fitted))
    posterior = shown.posterior[: sketch.tuples.rows]
    names = sketch.jurors
    # Which model it is: of ordered levels the ordered comparison, and the latent classes if selected.
    notes = [] if ordered is None else [ordered.note]
    details: dict[str, Any] = {} if ordered is None else {"ordered": ordered.to_dict()}
    scores = {"held_out_log_likelihood": choice.held_out_log_likelihood, "behind_best": choice.difference}
    scores |= {"standard_error": choice.standard_error, "weight": choice.weights}
    details["choice"] = {
        model: {key: by_model[model] for key, by_model in scores.items()} for model in choice.held_out_log_likelihood
    }
    if coupling is not None:
        joint_groups = [[names[k] for k in members] for members in coupling.groups]
        details = {"joint_groups": joint_groups, **details}
        coupled = ", ".join(" + ".join(members) for members in joint_groups)
        notes.append(f"Model: a confusion matrix per juror, and a joint one for one judge's answers: {coupled}.")
    elif ordered is None or ordered.trait is None:
        weights = ", ".join(f"{name} {weight:.0%}" for name, weight in choice.weights.items() if weight >= 0.005)
        notes.append(f"Model: {_PLAIN[choice.chosen]} (selected on held-out votes; weights {weights}).")
    fit = Fit(
        solution=float_solution(sketch, shown.prevalence, shown.confusion[representative], shown.score[representative]),
        posterior=posterior,
        iterations=shown.iterations,
        converged=shown.converged,
        details=details,
        notes=tuple(notes),
        model=fitted.model if coupling is None else "coupled",
        alarms=(
            *([] if shown.converged else [convergence_alarm("the panel model", shown.iterations)]),
            *(_twin_alarm(names[original], names[copy]) for copy, original in copies.items()),
        ),
    )
    shown_choice = replace(choice, fit=shown)
    return PanelFit(fit, shown_choice, data, key, representative, coupling, pairs, repeats, ordered=ordered)


_PLAIN = {
    "one_coin": "one accuracy per juror",
    "confusion": "a confusion matrix per juror",
    "strata": "a confusion matrix per juror, for easy and for hard items",
}


def _take_rows(votes: Votes, which: Integers, counts: NDArray[Any]) -> Votes:
    """These rows of the votes, in this order; a row may be taken again."""
    if votes.is_dense:
        return replace(votes, rows=len(which), items=None, counts=counts, _dense=votes.codes[which])
    row, col, code = votes.triples()
    shape = votes.rows, len(votes.jurors)
    table = sparse.csr_array((code.astype(np.int64) + 1, (row, col)), shape=shape)[which].tocoo()
    order = np.lexsort((table.col, table.row))
    places = table.row[order].astype(np.int64), table.col[order].astype(np.int32)
    codes = (table.data[order] - 1).astype(code.dtype)
    return replace(votes, rows=len(which), items=None, counts=counts, _sparse=(*places, codes))


# -- copies ---------------------------------------------------------------------------------------------


def _copies(pairs: Pairs, votes: Votes, key: Floats | None) -> dict[int, int]:
    """Copy -> original: pairs who never disagree though, graded as one juror, they should have disagreed.

    Two who never disagree may both be right. Mere shares of votes leave more doubt about labels than a fit does, and so
    expect more disagreement: where not even they expect enough of it, nothing is fitted.
    """
    if not 3 <= len(pairs.sketch.jurors) <= _MOST_COMPARED:
        return {}
    most = 1 - 1 / max(len(pairs.sketch.labels), 2)  # of the items on which any two are expected to disagree
    alike: dict[int, tuple[int, float]] = {}  # later -> (earlier, common items)
    listed = (part.tolist() for part in pairs.never_apart(_SURPRISE / most))
    for original, copy, items in zip(*listed, strict=True):
        if original not in alike and copy not in alike:
            alike[copy] = original, items
    if not alike:
        return {}
    merged = incidence_of(Sketch(merge_copies(votes, {copy: original for copy, (original, _) in alike.items()})))
    start = first_parameters(em_problem(merged, "confusion", key))
    if not _surprising(alike, *models.classes_at(start)):
        return {}
    fit = models.fit_latent(merged, "confusion", gold=key, start=start, tolerance=_GLANCE)
    return _surprising(alike, *models.classes_at(fit.parameters))


def _surprising(alike: dict[int, tuple[int, float]], prevalence: Floats, table: Floats) -> dict[int, int]:
    """Those who should have disagreed: two like the original do, on Σ_l P_l (1 - Σ_r K[l][r]²) of the items."""
    disagreement = 1 - np.einsum("l,ljr,ljr->j", prevalence, table, table)
    return {copy: original for copy, (original, items) in alike.items() if disagreement[original] * items >= _SURPRISE}


def _twin_alarm(original: str, copy: str) -> Alarm:
    message = f"{copy!r} never disagrees with {original!r} and may be a copy. Both count as one juror"
    return Alarm("twin_jurors", "warning", message, None, (original, copy))


def merge_copies(votes: Votes, copies: dict[int, int]) -> Votes:
    """A copy's votes count for the original where that one has no vote, and nowhere else.

    Returns
    -------
    Votes
        With the same jurors; a copy has no votes.
    """
    if not copies:
        return votes
    if votes.is_dense:
        codes = votes.codes.copy()
        for copy, original in copies.items():
            missing = codes[:, original] < 0
            codes[missing, original] = codes[missing, copy]
            codes[:, copy] = -1
        return replace(votes, _dense=codes)
    representative = np.arange(len(votes.jurors), dtype=np.int32)
    for copy, original in copies.items():
        representative[copy] = original
    pieces = []
    for part, rows in parts_of(Sketch(votes)):
        row, col, code = part.tuples.triples()
        _, first = np.unique(row * len(votes.jurors) + representative[col], return_index=True)
        pieces.append((row[first] + rows.start, representative[col[first]], code[first]))
    row, col, code = (np.concatenate(column) for column in zip(*pieces, strict=True))
    return replace(votes, _sparse=(row, col, code))


# -- three jurors ---------------------------------------------------------------------------------------


def fit_trio(sketch: Sketch, solution: Solution | None, *, from_votes: bool = True) -> PanelFit:
    """The panel model of three jurors with a confusion matrix each.

    Parameters
    ----------
    solution
        The theorem's, in floats, to start from.
    from_votes
        Whether to try the majority as a start, too: not where the user decided which solution is the truth, nor where
        the theorem's lies in range, and so explains the counts exactly.

    Returns
    -------
    PanelFit

    Examples
    --------
    >>> from jurors.evaluate.trio import evaluate_trio
    >>> sketch = Sketch.from_counts({"AAA": 568, "AAB": 553, "ABA": 649, "BAA": 1813,
    ...                              "BBA": 3534, "BAB": 3607, "ABB": 1068, "BBB": 8208}, jurors="ijk")
    >>> panel = fit_trio(sketch, evaluate_trio(sketch)[0].to_float())
    >>> round(panel.fit.solution.prevalence["A"], 3)
    0.089
    """
    data = incidence_of(sketch)
    problem = em_problem(data, "confusion")
    is_settled = solution is not None and (solution.is_in_range or not from_votes)
    starts = [] if is_settled else [first_parameters(problem)]
    if solution is not None:  # as parameters, none of them 0 or 1: EM could never leave those
        prior = np.clip(np.array([solution.prevalences], dtype=float), _NEAREST, 1 - _NEAREST)
        table = np.clip(np.array(solution.confusions, dtype=float), _NEAREST, 1 - _NEAREST)  # juror, true label, vote
        jurors, labels, _ = table.shape
        table = table.transpose(1, 0, 2).reshape(1, labels, jurors * labels)
        starts.append(Parameters.join(prior, table, None, jurors, labels))
    ends = run_em_models([problem] * len(starts), starts, 1e-5, 1000, each_ends=True)
    fits = [models.describe_fit(problem, *end, e_step(problem, end[0])) for end in ends]
    best = models.restrict_to_answered(data, max(fits, key=lambda fit: fit.log_likelihood))
    choice = ModelChoice(
        held_out_log_likelihood={}, difference={}, standard_error={}, weights={"confusion": 1.0},
        chosen="confusion", fits={"confusion": best}, fit=best,
    )  # fmt: skip
    fit = Fit(float_solution(sketch, best.prevalence, best.confusion, best.score), best.posterior)
    return PanelFit(fit, choice, data, None, np.arange(len(sketch.jurors)), None, Pairs(sketch))
