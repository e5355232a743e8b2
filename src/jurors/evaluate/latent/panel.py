"""Evaluate_panel."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jurors._numeric import Floats, Integers, retain_freed_memory
from jurors.evaluate.alarms import Alarm
from jurors.evaluate.dependence import ResidualTest, find_dependent_groups, has_room_for_groups, residual_test
from jurors.evaluate.latent.em import Parameters, em_problem, first_parameters
from jurors.evaluate.latent.models import (
    Coupling,
    LatentFit,
    classes_at,
    couple_groups,
    drop_abstentions,
    exclude_last_label,
    find_repeated_jurors,
    fit_coupled,
    fit_given_answered,
    fit_latent,
    fitted_classes,
    restrict_to_answered,
)
from jurors.evaluate.latent.selection import ModelChoice, choose_latent
from jurors.evaluate.ordinal import OrdinalChoice, choose_ordinal
from jurors.evaluate.solution import Fit, LazyNamed, Solution, convergence_alarm, float_solution
from jurors.sketch import Sketch
from jurors.sketch.pairs import Incidence, Pairs, incidence_of, parts_of
from jurors.votes import Votes
from jurors.votes.table import abstentions_as_label

# Any number of jurors and labels, missing votes included: jurors independent given label *and* difficulty.
#
# The models (`latent`) and the choice between them by hidden votes (`model_choice`) do the work. Here the sketch is
# prepared for them: gold items are set apart from the others of their tuple, jurors who share no item with the rest are
# graded apart, a copy is not heard twice, and one judge asked several times is heard as one voice.


STRENGTH = 2.0  #: pseudo-votes per juror on the right label, and as many spread over all
_MOST_COMPARED = 2_000  # jurors up to which every pair is compared for copies
_MOST_JOINT = 64  # joint answers of one judge's repeats up to which they are heard as one: six times, two labels
_GLANCE = 1e-3  # log-likelihood per parameter: enough to see who might be a copy
_SURPRISE = 12.0  # disagreements expected where none is seen: chance does that once in e^12 = 160,000 times


@dataclass(frozen=True)
class PanelFit:
    """What the panel estimator found: the fit, and what intervals need to be drawn around it."""

    fit: Fit
    choice: ModelChoice
    data: Incidence  #: what was fitted: copies heard once, gold items apart; abstaining is the last label, if any is
    gold: Floats | None  #: the key of `data`'s rows
    hearing: Integers  #: for each juror, whose column of `data` speaks for it
    coupling: Coupling | None  #: the groups heard as one, where they explain all that errors go together
    pairs: Pairs  #: of jurors, with the copies silenced
    repeats: tuple[tuple[int, ...], ...] = ()  #: jurors that are one judge asked several times, heard as one
    strength: float = STRENGTH
    ordered: OrdinalChoice | None = None  #: of ordered levels: the ordered models, and whether one was chosen

    @cached_property
    def test(self) -> ResidualTest | None:
        """Do errors go together (copies left out)? Worked out before only where groups could explain it."""
        return residual_test(self.pairs, self.repeats)

    @property
    def heard(self) -> Sketch:
        """The sketch with the copies silenced."""
        return self.pairs.sketch

    @cached_property
    def spoken(self) -> Incidence:
        """`data` without abstentions, which is what grades are about."""
        return self.data if self.data.labels == len(self.heard.labels) else drop_abstentions(self.data)

    @property
    def explaining(self) -> list[tuple[int, ...]]:
        """The groups that were found because they explain that errors go together, and are heard as one."""
        groups = [] if self.coupling is None else self.coupling.groups
        return [group for group in groups if group not in self.repeats]

    @property
    def is_unordered(self) -> bool:
        """Whether latent classes without order were fitted."""
        return self.ordered is None or self.ordered.trait is None

    @property
    def classes(self) -> tuple[Floats, Floats]:
        """How common each class is (K), and what jurors say of it (K, jurors, labels), by the weightiest model."""
        if self.ordered is not None and self.ordered.trait is not None:
            return self.ordered.trait.shares[0], self.ordered.trait.table[0]
        main = self.choice.fits[max(self.choice.fits, key=lambda name: self.choice.weights.get(name, 0.0))]
        return fitted_classes(main)


def evaluate_panel(sketch: Sketch, *, gold: Integers | None = None, seed: int = 0) -> PanelFit:
    """Grade any panel.

    Parameters
    ----------
    sketch
        The decision tuples; votes may be missing.
    gold
        Tuples x labels: how many items of each tuple are known to have each true label.
    seed
        For the sample of items whose votes a very large panel hides.
    """
    retain_freed_memory()
    answers = sketch if sketch.tuples.abstained is None else Sketch(abstentions_as_label(sketch.tuples))
    votes, key = (answers.tuples, None) if gold is None else _gold_apart(answers, gold)
    known = key
    if answers is not sketch:
        key = exclude_last_label(key, votes.rows, len(votes.labels))
    pairs = Pairs(sketch)
    copies = _copies(pairs, votes, key)
    data = incidence_of(Sketch(_heard_once(votes, copies)))
    spoken = data if answers is sketch else drop_abstentions(data)
    choice = choose_latent(data, gold=key, seed=seed, strength=STRENGTH)
    choice, ordered = choose_ordinal(sketch, spoken, choice, None if known is None else known[:, : spoken.labels], seed)
    hearing = np.arange(len(sketch.jurors))
    for copy, original in copies.items():
        hearing[copy] = original
    heard = _silenced(sketch, copies)
    repeats = _repeats(sketch, copies)
    pairs = Pairs(heard) if copies else pairs
    may_explain = has_room_for_groups(len(sketch.jurors))
    test = residual_test(pairs, repeats) if may_explain else None
    coupling, fitted = None, choice.fit
    if ordered is None or ordered.trait is None:  # whose voices are one is then left to the calibration
        coupling, fitted = _hear_groups(_heard_once(votes, copies), data, choice, pairs, test, key, repeats)
    shown = restrict_to_answered(spoken, fit_given_answered(spoken, fitted))
    posterior = shown.posterior[: sketch.tuples.rows]
    fit = Fit(
        solution=float_solution(sketch, shown.prevalence, shown.confusion[hearing], shown.score[hearing]),
        posterior=posterior,
        iterations=shown.iterations,
        converged=shown.converged,
        details=_details(sketch, choice, spoken, hearing, coupling, ordered),
        notes=(*([] if ordered is None else [ordered.note]), *_model_note(sketch, choice, coupling, ordered)),
        model=fitted.model if coupling is None else "coupled",
        alarms=(
            *([] if shown.converged else [convergence_alarm("the panel model", shown.iterations)]),
            *_copy_alarms(sketch, copies),
        ),
    )
    shown_choice = replace(choice, fit=shown)
    panel = PanelFit(fit, shown_choice, data, key, hearing, coupling, pairs, repeats, ordered=ordered)
    if may_explain:
        vars(panel)["test"] = test
    return panel


def _hear_groups(
    votes: Votes,
    data: Incidence,
    choice: ModelChoice,
    pairs: Pairs,
    test: ResidualTest | None,
    key: Floats | None,
    repeats: tuple[tuple[int, ...], ...],
) -> tuple[Coupling | None, LatentFit]:
    """Hear repeats of one judge as one, and a few groups where they explain that errors go together.

    A difficulty that all jurors share leaves its trace on every pair and is the strata's business.
    """
    if "confusion" not in choice.fits:
        return None, choice.fit
    groups = find_dependent_groups(pairs, test, repeats) if test is not None and test.is_significant else []
    groups = groups or list(repeats)
    if not groups:
        return None, choice.fit
    coupling = couple_groups(votes, groups)
    return coupling, fit_coupled(data, coupling, choice.fits["confusion"], strength=STRENGTH, gold=key)


def _repeats(sketch: Sketch, copies: dict[int, int]) -> tuple[tuple[int, ...], ...]:
    """One judge asked several times; copies among them are silent already."""
    groups = [tuple(k for k in group if k not in copies) for group in find_repeated_jurors(sketch)]
    return tuple(group for group in groups if len(group) > 1 and len(sketch.labels) ** len(group) <= _MOST_JOINT)


def _silenced(sketch: Sketch, copies: dict[int, int]) -> Sketch:
    """The sketch with no vote from the copies; everybody keeps their place."""
    return Sketch(_heard_once(sketch.tuples, copies)) if copies else sketch


def _details(
    sketch: Sketch,
    choice: ModelChoice,
    spoken: Incidence,
    hearing: Integers,
    coupling: Coupling | None,
    ordered: OrdinalChoice | None,
) -> LazyNamed:
    """By how much the model was chosen, every model's grades, and who was heard as one."""
    together: dict[str, Any] = {} if coupling is None else {"heard_as_one": partial(_heard_as_one, sketch, coupling)}
    if ordered is not None:
        together["ordered"] = ordered.to_dict
    models = partial(_models, sketch, choice, spoken, hearing)
    return LazyNamed({**together, "choice": partial(_by_hidden_votes, choice), "models": models})


def _models(sketch: Sketch, choice: ModelChoice, spoken: Incidence, hearing: Integers) -> dict[str, Any]:
    models = {}
    for name, fitted in choice.fits.items():
        fit = fit_given_answered(spoken, fitted)
        solution = float_solution(sketch, fit.prevalence, fit.confusion[hearing], fit.score[hearing])
        models[name] = {
            "prevalence": solution.prevalence,
            "accuracy": solution.accuracy,
            "score": solution.score,
            "iterations": fit.iterations,
            "converged": fit.converged,
        }
    return models


def _by_hidden_votes(choice: ModelChoice) -> dict[str, Any]:
    return {
        name: {
            "hidden_log_likelihood": value,
            "behind_best": choice.difference[name],
            "standard_error": choice.standard_error[name],
            "weight": choice.weights[name],
        }
        for name, value in choice.hidden_log_likelihood.items()
    }


def _heard_as_one(sketch: Sketch, coupling: Coupling) -> list[list[str]]:
    return [[sketch.jurors[k] for k in members] for members in coupling.groups]


def _model_note(
    sketch: Sketch, choice: ModelChoice, coupling: Coupling | None, ordered: OrdinalChoice | None
) -> tuple[str, ...]:
    if ordered is not None and ordered.trait is not None:
        return ()
    return (_unordered_note(sketch, choice, coupling),)


def _unordered_note(sketch: Sketch, choice: ModelChoice, coupling: Coupling | None) -> str:
    if coupling is not None:
        groups = ", ".join(" + ".join(members) for members in _heard_as_one(sketch, coupling))
        return f"Model: a confusion matrix per juror, jurors who err together heard as one: {groups}."
    weights = ", ".join(f"{name} {weight:.0%}" for name, weight in choice.weights.items() if weight >= 0.005)
    return f"Model: {_PLAIN[choice.chosen]} (chosen by hidden votes; averaged: {weights})."


_PLAIN = {
    "one_coin": "one accuracy per juror",
    "confusion": "a confusion matrix per juror",
    "strata": "a confusion matrix per juror, items easy or hard",
}


# -- gold items -----------------------------------------------------------------------------------------


def _gold_apart(sketch: Sketch, gold: Integers) -> tuple[Votes, Floats]:
    """The tuples without their gold items, then a row for each tuple and known label; and the rows' key."""
    tuples, labels = sketch.tuples, len(sketch.labels)
    at, label = np.nonzero(gold)
    counts = np.concatenate([sketch.counts - gold.sum(axis=1), gold[at, label]])
    key = np.full((len(counts), labels), np.nan)
    key[tuples.rows :] = np.eye(labels)[label]
    return _rows(tuples, np.concatenate([np.arange(tuples.rows), at]), counts), key


def _rows(votes: Votes, which: Integers, counts: NDArray[Any]) -> Votes:
    """These rows of the votes, in this order; a row may be taken again."""
    if votes.is_dense:
        return replace(votes, rows=len(which), items=None, counts=counts, _dense=votes.codes[which])
    from scipy.sparse import csr_array

    row, col, code = votes.triples()
    table = csr_array((code.astype(np.int64) + 1, (row, col)), shape=(votes.rows, len(votes.jurors)))[which].tocoo()
    order = np.lexsort((table.col, table.row))
    triples = (table.row[order].astype(np.int64), table.col[order].astype(np.int32), (table.data[order] - 1))
    return replace(
        votes, rows=len(which), items=None, counts=counts, _sparse=(*triples[:2], triples[2].astype(code.dtype))
    )


# -- copies ---------------------------------------------------------------------------------------------


def _never_disagree(pairs: Pairs) -> dict[int, tuple[int, float]]:
    """Jurors who never disagree with an earlier one on many common items: later -> (earlier, items)."""
    if not 3 <= len(pairs.sketch.jurors) <= _MOST_COMPARED:
        return {}
    most = 1 - 1 / max(len(pairs.sketch.labels), 2)  # of their items on which anybody is expected to disagree
    copies: dict[int, tuple[int, float]] = {}
    listed = (part.tolist() for part in pairs.never_apart(_SURPRISE / most))
    for original, copy, items in zip(*listed, strict=True):
        if original not in copies and copy not in copies:
            copies[copy] = original, items
    return copies


def _copies(pairs: Pairs, votes: Votes, key: Floats | None) -> dict[int, int]:
    """Two who never disagree may both be right: copies are those who, graded as one, should have disagreed.

    Mere shares of votes leave more doubt about labels than a fit does, and so expect more disagreement: where not even
    they expect enough of it, nothing is fitted.
    """
    alike = _never_disagree(pairs)
    if not alike:
        return {}
    heard = incidence_of(Sketch(_heard_once(votes, {copy: original for copy, (original, _) in alike.items()})))
    start = first_parameters(em_problem(heard, "confusion", STRENGTH, key))
    if not _surprising(alike, *classes_at(start)):
        return {}
    fit = fit_latent(heard, "confusion", gold=key, start=start, strength=STRENGTH, tolerance=_GLANCE)
    return _surprising(alike, *fitted_classes(fit))


def _surprising(alike: dict[int, tuple[int, float]], prevalence: Floats, chances: Floats) -> dict[int, int]:
    """Those who should have disagreed: who answers like the original, on Σ_l P_l (1 - Σ_r K[l][r]²) of the items."""
    apart = 1 - np.einsum("l,ljr,ljr->j", prevalence, chances, chances)
    return {copy: original for copy, (original, items) in alike.items() if apart[original] * items >= _SURPRISE}


def _heard_once(votes: Votes, copies: dict[int, int]) -> Votes:
    """A copy's votes count for the original where that one is silent, and nowhere else."""
    if not copies:
        return votes
    if votes.is_dense:
        codes = votes.codes.copy()
        for copy, original in copies.items():
            silent = codes[:, original] < 0
            codes[silent, original] = codes[silent, copy]
            codes[:, copy] = -1
        return replace(votes, _dense=codes)
    speaker = np.arange(len(votes.jurors), dtype=np.int32)
    for copy, original in copies.items():
        speaker[copy] = original
    pieces = []
    for part, rows in parts_of(Sketch(votes)):
        row, col, code = part.tuples.triples()
        _, first = np.unique(row * len(votes.jurors) + speaker[col], return_index=True)
        pieces.append((row[first] + rows.start, speaker[col[first]], code[first]))
    row, col, code = (np.concatenate(column) for column in zip(*pieces, strict=True))
    return replace(votes, _sparse=(row, col, code))


def _copy_alarms(sketch: Sketch, copies: dict[int, int]) -> list[Alarm]:
    names = sketch.jurors
    return [
        Alarm(
            "twin_jurors",
            "warning",
            f"{names[copy]!r} never disagrees with {names[original]!r}, as a copy would: it is heard once, and both "
            "get the same grades",
            None,
            (names[original], names[copy]),
        )
        for copy, original in copies.items()
    ]


# Three jurors, two labels, by the panel model: the theorem's answer held inside [0, 1], steadied by pseudo-votes.
#
# Two starts, since three jurors leave two modes: the theorem's solution, and the majority. The one that explains the
# counts better is kept. Over twelve trios from each of 17 reference juries the root mean square error of scores (before
# any calibration) is .166, against .184 from the theorem's start alone and .199 from the majority's.


_NEAREST = 0.02  # how near to 0 or 1 the first step may start


def fit_trio(sketch: Sketch, solution: Solution | None, *, from_votes: bool = True) -> PanelFit:
    """The panel model of three jurors with a confusion matrix each; `solution` is where the theorem would start.

    Where the user settled which solution is the truth, `from_votes=False` keeps to it.

    Examples
    --------
    >>> from jurors.evaluate import evaluate_trio
    >>> sketch = Sketch.from_counts({"AAA": 568, "AAB": 553, "ABA": 649, "BAA": 1813,
    ...                              "BBA": 3534, "BAB": 3607, "ABB": 1068, "BBB": 8208}, jurors="ijk")
    >>> panel = fit_trio(sketch, evaluate_trio(sketch)[0].to_float())
    >>> round(panel.fit.solution.prevalence["A"], 3)
    0.089
    """
    data = incidence_of(sketch)
    starts: list[Parameters | None] = [None] * (from_votes or solution is None)
    starts += [] if solution is None else [_start(solution)]
    fits = [fit_latent(data, "confusion", start=start, strength=STRENGTH) for start in starts]
    best = restrict_to_answered(data, max(fits, key=lambda fit: fit.log_likelihood))
    choice = ModelChoice(
        hidden_log_likelihood={}, difference={}, standard_error={}, breadth=float("nan"), weights={"confusion": 1.0},
        chosen="confusion", fits={"confusion": best}, fit=best,
    )  # fmt: skip
    fit = Fit(float_solution(sketch, best.prevalence, best.confusion, best.score), best.posterior)
    return PanelFit(fit, choice, data, None, np.arange(len(sketch.jurors)), None, Pairs(sketch))


def _start(solution: Solution) -> Parameters:
    """A solution as parameters, none of them 0 or 1: EM could never leave those."""
    prior = np.clip(np.array([solution.prevalences], dtype=float), _NEAREST, 1 - _NEAREST)
    table = np.clip(np.array(solution.confusions, dtype=float), _NEAREST, 1 - _NEAREST)  # juror, true, said
    jurors, labels, _ = table.shape
    table = table.transpose(1, 0, 2).reshape(1, labels, jurors * labels)
    return Parameters.join(prior, table, None, jurors, labels)
