"""Any panel: the estimate, its intervals and alarms, and how errors go together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

from jurors.doubt import agreement_alarms, juror_alarms, panel_intervals, residual_alarms
from jurors.doubt.degenerate_fit import degenerate_alarms
from jurors.doubt.habits import default_alarms
from jurors.doubt.intervals.dependence_spread import DependenceSpread
from jurors.doubt.voice_alarms import voice_alarms
from jurors.errors import SketchError
from jurors.evaluate import Alarm, Evaluation, evaluate_panel
from jurors.evaluate.alarm import ranked
from jurors.evaluate.evaluation import changed
from jurors.evaluate.panel.panel import PanelFit
from jurors.evaluate.partition import majority_partition
from jurors.evaluate.together.agreement_residual import agreement_test
from jurors.evaluate.together.dependence import Dependence, dependence_of
from jurors.evaluate.together.thresholds import FEWEST_JURORS
from jurors.jury.methods.islands_apart import grade_groups
from jurors.jury.methods.request import FIT_RULE, Request, named_statistics, oriented
from jurors.jury.methods.three_jurors_labels import estimate_alarms, untried
from jurors.numbers.threads import one_thread
from jurors.sketch import Sketch
from jurors.sketch.panel_moments import MOST_FOR_PAIRS

_MOST_ITEMS = 1 << 50  # floats still tell one item more from none


def grade_latent(sketch: Sketch, request: Request) -> Evaluation:
    """Any panel: jurors independent given label and difficulty, the model weighed by hidden votes.

    Jurors who share no item with the others are graded apart.
    """
    if request.gold is not None:  # gold items are counted by the whole sketch's tuples, and they tie groups together
        return _grade_connected(sketch, request)
    return grade_groups(sketch, lambda part: _grade_connected(part, request))


def _grade_connected(sketch: Sketch, request: Request) -> Evaluation:
    if sketch.items > _MOST_ITEMS:
        most = f"at most {_MOST_ITEMS:,}"
        message = f"{sketch.items:,} items are more than an estimate can count ({most}); are the counts right?"
        raise SketchError(message, code="out_of_range", given=sketch.items, needed=_MOST_ITEMS)
    panel = evaluate_panel(sketch, gold=request.gold, seed=request.seed)
    voices, notes = tuple(panel.hearing.tolist()), (*panel.fit.notes, *untried(sketch))
    result = oriented("latent", sketch, panel.fit, request, voices=voices, notes=notes)
    doubts = _Doubts(sketch, panel, result)
    if few := voice_alarms(sketch):
        kept = [alarm for alarm in doubts.of_jurors() if alarm.kind != "twin_jurors"]  # said already
        note = f"These {len(sketch.jurors)} jurors are worth at most {few[0].value:.0f} independent ones."
        by_majority = majority_partition(sketch)  # how often labels are right is not known then
        return replace(result, alarms=ranked([*few, *kept]), notes=(*result.notes, note), partition=by_majority)
    if request.intervals and result.rule == FIT_RULE:
        also = None if doubts.spread is None else doubts.spread.add
        ends = panel_intervals(panel, target=request.target, level=request.level, seed=request.seed, also=also)
        if ends is not None:
            result = replace(
                result,
                interval=named_statistics(sketch, ends),
                standard_error=named_statistics(sketch, ends["errors"]),
            )
    later: Any = {name: partial(_of, doubts, name) for name in ("alarms", "notes", "dependence")}
    return changed(result, **later)


@dataclass(frozen=True, eq=False)
class _Doubts:
    """What is to be doubted about the grades of a panel, worked out when somebody looks."""

    sketch: Sketch
    panel: PanelFit
    graded: Evaluation  #: with the alarms and notes of the fit itself

    def of_jurors(self) -> list[Alarm]:
        """The alarms of the fit, of jurors, and of errors that go together."""
        sketch, panel = self.sketch, self.panel
        alarms = list(self.graded.alarms)
        if panel.fit.posterior is not None:
            alarms += juror_alarms(sketch, panel.fit.posterior, panel.fit.solution)
        alarms += estimate_alarms(sketch)
        alarms += residual_alarms(sketch.jurors, panel.test, panel.explaining)
        if len(sketch.labels) > 2:
            test = agreement_test(panel.pairs, *panel.classes)
            alarms += agreement_alarms(sketch.jurors, test, sketch.items / len(sketch.labels))
        return alarms

    @cached_property
    def spread(self) -> DependenceSpread | None:
        """How errors go together, and what the replicates that intervals are drawn from say of it."""
        return _dependence(self.panel, self.graded)

    @cached_property
    def doubted(self) -> Evaluation:
        """The grades with every doubt about them."""
        with one_thread():
            alarms = [*self.of_jurors(), *default_alarms(self.sketch)]
            if self.graded.partition is not None:
                alarms += degenerate_alarms(self.graded.partition)
            result = replace(self.graded, alarms=ranked(alarms))
            if self.spread is None:
                return result
            return _with_dependence(result, self.spread.result(result.level), self.panel.repeats)


def _of(doubts: _Doubts, name: str) -> Any:
    return getattr(doubts.doubted, name)


def _dependence(panel: PanelFit, result: Evaluation) -> DependenceSpread | None:
    """How errors go together, for two labels and four jurors or more; nothing where the mathematics is not given."""
    sketch = panel.heard
    if result.solution is None or len(sketch.labels) != 2 or not FEWEST_JURORS <= len(sketch.jurors) <= MOST_FOR_PAIRS:
        return None
    pairs = None if panel.test is None else panel.test.factor.pairs
    return DependenceSpread(dependence_of(sketch, result.solution, pairs).with_copies(panel.hearing), panel)


def _with_dependence(result: Evaluation, dependence: Dependence, repeats: tuple[tuple[int, ...], ...]) -> Evaluation:
    size = len(dependence.jurors)
    if size == FEWEST_JURORS and any(a.kind == "correlated_errors" for a in result.alarms):
        # Nobody can tell which of four share an error, so what is left over of the pairs is not theirs to count.
        note = "How many independent jurors these 4 are worth is unknown: their errors go together, nobody knows whose."
        return replace(result, notes=(*result.notes, note))
    ends = dependence.interval["effective_jurors"] if dependence.interval else None
    sure = f" ({ends[0]:.1f} – {ends[1]:.1f})" if ends else ""
    worth = f"{dependence.effective_jurors:.1f}{sure}"
    note = f"As far as errors go together, these {size} jurors are worth at most {worth} independent ones."
    if ends is None and not dependence.is_noticed:
        note = (
            f"No mean error correlation is seen; how many independent jurors these {size} are worth was not measured."
        )
    alarms = result.alarms
    known = [{result.jurors[k] for k in group} for group in repeats]
    groups = [group for group in dependence.groups if not any(known_one.issuperset(group) for known_one in known)]
    if groups and not any(alarm.kind == "correlated_errors" for alarm in alarms):
        who = "; ".join(" + ".join(group) for group in groups)
        message = f"errors go together beyond chance in groups: {who}"
        together = tuple(name for group in groups for name in group)
        alarms = ranked(
            [*alarms, Alarm("correlated_errors", "warning", message, dependence.mean_correlation, together)]
        )
    return replace(result, alarms=alarms, notes=(*result.notes, note), dependence=dependence)
