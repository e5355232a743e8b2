"""The Inspect AI plug-in: a metric, two reducers, a scorer and a hook, which its entry point makes known as `jurors/…`.

    metric   jury          the grades of a panel: calibrated scores, effective number of graders, alarms
    reducer  panel         a panel's majority; metrics also see samples without one
    reducer  jury          a panel's label by a jury fitted to earlier votes, in place of the majority
    scorer   jury_label    each sample's label by the whole jury of a log: `inspect score --scorer jurors/jury_label`
    hook     jurors_report the report beside each log, if JURORS_INSPECT_REPORT is set

Only Inspect AI imports this module, which imports its host. Everything of `jurors` itself is imported when it is used.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from logging import getLogger
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from anyio import to_thread
from inspect_ai.hooks import Hooks, TaskEnd, hooks
from inspect_ai.scorer import NOANSWER, SampleScore, Score, accuracy, metric, score_reducer, scorer, stderr

from jurors.errors import JurorsError, OptionError, OutputError, VotesError
from jurors.integrations import key_figures
from jurors.results import count_noun

if TYPE_CHECKING:
    from jurors.evaluate.evaluation import Evaluation
    from jurors.jury.estimator import Jury


_LOGGER = getLogger(__name__)
REPORT = "JURORS_INSPECT_REPORT"  #: set it, and every log gets its report
_COMPLETE = "every_sample"  # in the metadata of a panel: its reducer scores samples without a majority, too


@metric(name="jury", scores="unreduced")  # type: ignore[untyped-decorator]
def jury_metric(graders: Sequence[str] | None = None) -> Any:
    """Grade the members of a panel without an answer key.

    It uses the votes that the reducers "majority" (the default), "collect", `panel_reducer` and `jury_reducer` store.
    `graders` are the names of the members in the order in which you declared them, because a metric cannot see them.
    Nor can it see samples that "majority" leaves unscored: an even panel is not graded, with a warning to use
    `panel_reducer()`.
    """

    def report(scores: list[SampleScore]) -> dict[str, float]:
        if not scores:  # Inspect AI calls it before the first sample is scored, too
            return {}
        try:
            _check_complete([sample.score for sample in scores])
            evaluation = _grade_panels([panel_votes(sample.score) for sample in scores], graders)
            for alarm in evaluation.alarms:
                if alarm.level != "note":  # Inspect AI also calls this during the run: of how many scores it is
                    _LOGGER.warning("%s (%s): %s", alarm.kind, count_noun(len(scores), "score"), alarm.message)
            words = {"effective jurors": "effective graders"}  # as Inspect AI calls them
            figures = key_figures(evaluation).items()
            return {" of ".join((words.get(what, what), *who)): value for (what, *who), value in figures}
        except JurorsError as error:
            _LOGGER.warning("the panel (%s) was not graded: %s", count_noun(len(scores), "score"), error)
            return {}

    return report


def panel_votes(score: Score) -> list[Any] | None:
    """Read the votes of a panel from its score.

    Returns
    -------
    list or None
        One vote per member in order, None for no vote; None where the score is no panel's.
    """
    votes = _panel(score).get("votes")
    if isinstance(votes, list):
        return [None if _is_unscored(vote) else vote for vote in votes]
    return list(score.value) if isinstance(score.value, list) else None


def _check_complete(scores: Sequence[Score]) -> None:
    """Refuse an even panel by `majority`: its ties are hidden from metrics, and the other samples agree too well."""
    reduced = [score for score in scores if not isinstance(score.value, list) and not _panel(score).get(_COMPLETE)]
    panels = [votes for score in reduced if (votes := panel_votes(score)) is not None]
    todo = "samples on which no label has more than half of the votes; use the reducer jurors/panel (panel_reducer())"
    if any(len(votes) % 2 == 0 for votes in panels):
        raise VotesError(f'the reducer "majority" hides from metrics {todo}')
    if len({str(vote) for votes in panels for vote in votes}) > 2:
        _LOGGER.warning('%s: the reducer "majority" hides from metrics %s', count_noun(len(scores), "score"), todo)


def _check_single(votes: Sequence[Any]) -> None:
    if any(isinstance(vote, (Mapping, list)) for vote in votes):
        raise VotesError("each grader of a panel must return one value, not several; select one of them")


def _panel(score: Score) -> Mapping[str, Any]:
    panel = (score.metadata or {}).get("panel")
    return panel if isinstance(panel, Mapping) else {}


def _grade_panels(panels: Sequence[list[Any] | None], graders: Sequence[str] | None) -> Evaluation:
    """The evaluation of a panel; samples whose votes cannot be attributed are left out, with a warning."""
    from jurors import Votes, grade

    sizes = Counter(len(panel) for panel in panels if panel is not None)
    size = len(graders) if graders else max(sizes, default=0)
    complete = [panel for panel in panels if panel is not None and len(panel) == size]
    if not complete:
        raise VotesError(
            f"no score has the votes of a panel of {size or 'several'} graders; pass several models to model_graded_qa "
            'with the reducer "majority" or "collect"'
        )
    _check_single([vote for panel in complete for vote in panel])
    if left_out := len(panels) - len(complete):
        _LOGGER.warning("of %d scores, %d lack a grader's vote and are left out", len(panels), left_out)
    names = tuple(graders or (f"grader {k}" for k in range(1, size + 1)))
    return grade(Votes.from_matrix(complete, jurors=names))


@score_reducer(name="jurors/panel")  # type: ignore[untyped-decorator]
def panel_reducer() -> Any:
    """Take a panel's majority, or "N" (no answer) if there is none, so that metrics see these samples too.

    Inspect AI's own reducer "majority" leaves them unscored and hides them from metrics.
    """

    def majority(votes: list[Any]) -> Any:
        value, most = Counter(vote for vote in votes if vote is not None).most_common(1)[0]
        return value if most * 2 > len(votes) else NOANSWER

    def reduce(scores: list[Score]) -> Score:
        return _reduced(scores, majority)

    return reduce


@score_reducer(name="jurors/jury")  # type: ignore[untyped-decorator]
def jury_reducer(votes: str, graders: Sequence[str]) -> Any:
    """Label by a jury that was fitted to earlier votes of the panel, not by the majority.

    `votes` is an earlier log or any votes that `jurors` reads; `graders` are the panel's members in the order in which
    they were declared, by the names they have there: `model_graded_qa(model=graders, reducer=jury_reducer(…))`.
    """

    @cache
    def fitted_jury() -> Jury:
        import numpy as np

        from jurors import Jury, read_votes

        earlier = read_votes(votes, only=tuple(graders)).take(graders)
        labels = np.array([*earlier.labels, None], dtype=object)
        return Jury(labels=earlier.labels).fit(labels[earlier.codes])

    def reduce(scores: list[Score]) -> Score:
        if len(scores) != len(graders):
            raise OptionError(f"{len(scores)} graders voted, but graders= names {len(graders)}: {', '.join(graders)}")
        return _reduced(scores, lambda row: fitted_jury().predict([row]).item())

    return reduce


def _reduced(scores: Sequence[Score], label: Callable[[list[Any]], Any]) -> Score:
    """A panel's score, with the votes in its metadata; unscored where there is no vote."""
    votes = [None if _is_unscored(score.value) else score.value for score in scores]
    _check_single(votes)
    value = math.nan if all(vote is None for vote in votes) else label(votes)
    metadata = {**(scores[0].metadata or {}), "panel": {"votes": votes, _COMPLETE: True}}
    return Score(value=value, answer=scores[0].answer, explanation=scores[0].explanation, metadata=metadata)


@scorer(metrics=[accuracy(), stderr()])  # type: ignore[untyped-decorator]
def jury_label(votes: str, graders: Sequence[str] | None = None) -> Any:
    """Label each sample by the whole jury: `inspect score LOG --scorer jurors/jury_label -S votes=LOG`.

    `votes` is the log itself, or any votes whose items are called as its samples; `graders` are the jurors to use,
    where it holds others too.
    """

    @cache
    def labels() -> dict[str, tuple[Any, float]]:
        """Item -> its label, and how likely it is to be right."""
        from jurors import label

        labelled = label(votes) if graders is None else label(votes, only=tuple(graders))
        rows = zip(labelled.items.tolist(), labelled.label.tolist(), labelled.probability.tolist(), strict=True)
        return {str(item): (value, probability) for item, value, probability in rows}

    async def score(state: Any, target: Any) -> Score:
        known = await to_thread.run_sync(labels)
        name = next(
            (name for name in (f"{state.sample_id}_epoch_{state.epoch}", str(state.sample_id)) if name in known), ""
        )
        if not name:
            return Score.unscored(explanation=f"{votes} has no votes on this sample")
        label, probability = known[name]
        explanation = f"probability of being right: {probability:.2f}"
        return Score(value=label, explanation=explanation, metadata={"probability": probability})

    return score


@hooks(name="jurors_report", description=f"Writes the report of the graders beside each log, if {REPORT} is set")
class ReportBesideLog(Hooks):  # type: ignore[misc]
    """`JURORS_INSPECT_REPORT=1 inspect eval …`: log.eval gets log.html."""

    def enabled(self) -> bool:
        """Whether the user wants reports: a plug-in that is merely installed does nothing."""
        return os.environ.get(REPORT, "") not in ("", "0")

    async def on_task_end(self, data: TaskEnd) -> None:
        """The log is on the disk; it is read as `jurors report` reads it."""
        await to_thread.run_sync(report_beside, data.log.location)


def report_beside(location: str) -> Path | None:
    """Write the report of a log beside it.

    Returns
    -------
    Path or None
        None, and a line in the log of the run, where none can be made.
    """
    from jurors.reporting.page import report

    place = urlsplit(location)
    path = Path(unquote(place.path) if place.scheme == "file" else location)
    try:
        if place.scheme not in ("", "file") and not path.exists():
            raise OutputError(f"{location} is not a local file; download it, and run `jurors report` on it")
        return report(path, path.with_suffix(".html"))
    except JurorsError as error:
        _LOGGER.warning("no report was written: %s", error)
        return None


def _is_unscored(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))
