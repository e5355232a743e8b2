"""The Inspect AI plug-in: a metric, two reducers, a scorer and a hook, which its entry point makes known as `jurors/…`.

    metric   jury          what the graders of a panel are worth: calibrated scores, effective number, alarms
    reducer  panel         a panel's majority; samples without one are shown to metrics, too
    reducer  jury          a panel's label by what earlier votes taught of its graders, in place of the majority
    scorer   jury_label    each sample's label by the whole jury of a log: `inspect score --scorer jurors/jury_label`
    hook     jurors_report the report beside each log, where JURORS_INSPECT_REPORT is set

Only Inspect AI loads this module: it imports its host. Everything of `jurors` itself is loaded when it is asked for.
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

from jurors.errors import JurorsError, OptionError
from jurors.integrations import key_figures

if TYPE_CHECKING:
    from jurors.evaluate import Evaluation
    from jurors.jury import Jury


_SAY = getLogger(__name__)
REPORT = "JURORS_INSPECT_REPORT"  #: set it, and every log gets its report
_WHOLE = "every_sample"  # in the metadata of a panel: its reducer leaves no sample unscored for want of a majority
_WORDS = {"effective jurors": "effective graders"}  # as Inspect AI calls them


@metric(name="jury", scores="unreduced")  # type: ignore[untyped-decorator]
def jury_metric(graders: Sequence[str] | None = None) -> Any:
    """What the graders of a panel are worth, told without an answer key.

    The panel's votes are those that `reducer="majority"` (the default), `"collect"` and ours keep. `graders` names its
    members in the order in which they were declared; a metric cannot see them. Nor can it see samples that `majority`
    leaves unscored: of an even panel it grades none, and says that `panel_reducer()` shows them.
    """

    def report(scores: list[SampleScore]) -> dict[str, float]:
        if not scores:  # Inspect AI asks before the first sample is scored, too
            return {}
        try:
            _check_whole([one.score for one in scores])
            return _figures(_graded([panel_votes(one.score) for one in scores], graders), len(scores))
        except JurorsError as error:
            _SAY.warning("the jury of %d scores was not graded: %s", len(scores), error)
            return {}

    return report


def panel_votes(score: Score) -> list[Any] | None:
    """The votes of a panel's members in order, None for no vote; None where the score is no panel's."""
    votes = _panel(score).get("votes")
    if isinstance(votes, list):
        return [None if _is_unscored(vote) else vote for vote in votes]
    return list(score.value) if isinstance(score.value, list) else None


def _check_whole(scores: Sequence[Score]) -> None:
    """Refuse an even panel by `majority`: its ties are kept from metrics, and what is left agrees too well."""
    from jurors import VotesError

    own = [score for score in scores if not isinstance(score.value, list) and not _panel(score).get(_WHOLE)]
    panels = [votes for score in own if (votes := panel_votes(score)) is not None]
    todo = "samples on which no label has more than half of the votes; reduce the panel with jurors' panel_reducer()"
    if any(len(votes) % 2 == 0 for votes in panels):
        raise VotesError(f'an even panel reduced by "majority" shows metrics no {todo}')
    if len({str(vote) for votes in panels for vote in votes}) > 2:
        _SAY.warning('of %d scores: a panel reduced by "majority" shows metrics no %s', len(scores), todo)


def _check_single(votes: Sequence[Any]) -> None:
    from jurors import VotesError

    if any(isinstance(vote, (Mapping, list)) for vote in votes):
        raise VotesError("each grader of a panel must say one value, not several; take one of them")


def _panel(score: Score) -> Mapping[str, Any]:
    panel = (score.metadata or {}).get("panel")
    return panel if isinstance(panel, Mapping) else {}


def _graded(panels: Sequence[list[Any] | None], graders: Sequence[str] | None) -> Evaluation:
    """The evaluation of a panel; samples of which nobody can tell who voted are passed over, and told."""
    from jurors import Votes, VotesError, grade

    sizes = Counter(len(panel) for panel in panels if panel is not None)
    size = len(graders) if graders else max(sizes, default=0)
    whole = [panel for panel in panels if panel is not None and len(panel) == size]
    if not whole:
        raise VotesError(
            f"no score has the votes of a panel of {size or 'several'}; let model_graded_qa ask several models, and "
            'reduce them by "majority" or "collect"'
        )
    _check_single([vote for panel in whole for vote in panel])
    if len(whole) < len(panels):
        _SAY.warning(
            "of %d scores, %d lack some member's vote and were left out", len(panels), len(panels) - len(whole)
        )
    names = tuple(graders or (f"grader {k}" for k in range(1, size + 1)))
    return grade(Votes.from_matrix(whole, jurors=names))


def _figures(evaluation: Evaluation, scores: int) -> dict[str, float]:
    """The numbers of an evaluation under names; every warning and alarm in the log of the run.

    Inspect AI also asks while the run goes on, so each line says of how many scores it is.
    """
    for alarm in evaluation.alarms:
        if alarm.level != "note":
            _SAY.warning("%s, of %d scores: %s", alarm.kind, scores, alarm.message)
    return {" of ".join((_WORDS.get(what, what), *who)): one for (what, *who), one in key_figures(evaluation).items()}


@score_reducer(name="jurors/panel")  # type: ignore[untyped-decorator]
def panel_reducer() -> Any:
    """A panel's majority, or "N" (no answer) where there is none, so that metrics see these samples, too.

    Inspect AI's own `majority` leaves them unscored, and shows metrics none such.
    """

    def reduce(scores: list[Score]) -> Score:
        return _reduced(scores, _majority)

    return reduce


def _majority(said: list[Any]) -> Any:
    value, most = Counter(vote for vote in said if vote is not None).most_common(1)[0]
    return value if most * 2 > len(said) else NOANSWER


@score_reducer(name="jurors/jury")  # type: ignore[untyped-decorator]
def jury_reducer(votes: str, graders: Sequence[str]) -> Any:
    """A panel's label by the jury: what earlier votes taught of its graders, not who are more.

    `votes` is an earlier log or any votes that `jurors` reads; `graders` are the panel's members in the order in which
    they were declared, by the names they have there: `model_graded_qa(model=graders, reducer=jury_reducer(…))`.
    """
    learnt = cache(lambda: _learnt(votes, graders))

    def reduce(scores: list[Score]) -> Score:
        if len(scores) != len(graders):
            raise OptionError(f"{len(scores)} graders voted, and {len(graders)} are named: {', '.join(graders)}")
        return _reduced(scores, lambda said: learnt()(said))

    return reduce


def _reduced(scores: Sequence[Score], label: Callable[[list[Any]], Any]) -> Score:
    """A panel's score, with the votes beside it; unscored where nobody voted."""
    said = [None if _is_unscored(score.value) else score.value for score in scores]
    _check_single(said)
    value = math.nan if all(vote is None for vote in said) else label(said)
    beside = {**(scores[0].metadata or {}), "panel": {"votes": said, _WHOLE: True}}
    return Score(value=value, answer=scores[0].answer, explanation=scores[0].explanation, metadata=beside)


def _learnt(votes: str, graders: Sequence[str]) -> Callable[[list[Any]], Any]:
    """The best label of a tuple of votes, as the votes in a file taught."""
    import numpy as np

    from jurors import Jury, read_votes

    earlier = read_votes(votes, only=tuple(graders)).take(graders)
    labels = np.array([*earlier.labels, None], dtype=object)
    fitted: Jury = Jury(labels=earlier.labels).fit(labels[earlier.codes])
    return lambda said: fitted.predict([said]).item()


@scorer(metrics=[accuracy(), stderr()])  # type: ignore[untyped-decorator]
def jury_label(votes: str, graders: Sequence[str] | None = None) -> Any:
    """Each sample's label by the whole jury: `inspect score LOG --scorer jurors/jury_label -S votes=LOG`.

    `votes` is the log itself, or any votes whose items are called as its samples; `graders` are the jurors to listen
    to, where it holds others too.
    """
    labels = cache(lambda: _labels(votes, graders))

    async def score(state: Any, target: Any) -> Score:
        known = await to_thread.run_sync(labels)
        name = next(
            (name for name in (f"{state.sample_id}_epoch_{state.epoch}", str(state.sample_id)) if name in known), ""
        )
        if not name:
            return Score.unscored(explanation=f"{votes} has no vote on this sample")
        label, sure = known[name]
        return Score(value=label, explanation=f"right with a chance of {sure:.2f}", metadata={"probability": sure})

    return score


def _labels(votes: str, graders: Sequence[str] | None) -> dict[str, tuple[Any, float]]:
    """Item -> its label, and how likely it is to be right."""
    from jurors import label

    labelled = label(votes) if graders is None else label(votes, only=tuple(graders))
    said = zip(labelled.items.tolist(), labelled.label.tolist(), labelled.probability.tolist(), strict=True)
    return {str(item): (value, sure) for item, value, sure in said}


@hooks(name="jurors_report", description=f"Writes the graders' report beside each log, where {REPORT} is set")
class ReportBesideLog(Hooks):  # type: ignore[misc]
    """`JURORS_INSPECT_REPORT=1 inspect eval …`: log.eval gets log.html."""

    def enabled(self) -> bool:
        """Whether the user asks for reports: a plug-in that is merely there does nothing."""
        return os.environ.get(REPORT, "") not in ("", "0")

    async def on_task_end(self, data: TaskEnd) -> None:
        """The log is on the disk; it is read as `jurors report` reads it."""
        await to_thread.run_sync(report_beside, data.log.location)


def report_beside(location: str) -> Path | None:
    """The report of a log, beside it; None, and a line in the log of the run, where none can be made."""
    from jurors import OutputError, write_report

    place = urlsplit(location)
    path = Path(unquote(place.path) if place.scheme == "file" else location)
    try:
        if place.scheme not in ("", "file") and not path.exists():
            raise OutputError(f"{location} is no file of this machine; fetch it, and run `jurors report` on it")
        return write_report(path, path.with_suffix(".html"))
    except JurorsError as error:
        _SAY.warning("no report of the graders: %s", error)
        return None


def _is_unscored(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))
