"""Everything a page tells: the evaluation, and what stands beside it where it can be had at a fair price."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from jurors.audit.case import Case
from jurors.audit.draw import auditable
from jurors.audit.result import Audit, audited
from jurors.audit.sheet import as_sheet
from jurors.errors import JurorsError, OptionError
from jurors.evaluate import Evaluation, KeyedEvaluation
from jurors.jury import Comparison
from jurors.jury.accept import accept
from jurors.jury.compare import compare_counted, left_out, usual_methods
from jurors.jury.counted import Counted
from jurors.jury.grade import grade_rows
from jurors.jury.labelling import Labelling, label_rows, teaching_of
from jurors.jury.score import score_counted
from jurors.sketch import Sketch
from jurors.votes import Key, Votes, as_key, read_votes_with_key
from jurors.votes.files.inside import is_there
from jurors.votes.item_texts import ItemTexts

_MOST_BYTES = 1 << 29  # of a file: above, items are counted by the engine and none is named
_MOST_CELLS = 200_000  # tuples x jurors x labels: above, other methods are not run for the sake of a chart
_MOST_QUEUED = 40  # items for a person to look at
_MOST_CURVED = 6  # jurors: above, the curve of bounds takes longer than the page


@dataclass(frozen=True, eq=False)
class Findings:
    """What a page is made from."""

    evaluation: Evaluation
    labelling: Labelling | None = None  #: the items' labels; None where no item has a name
    keyed: KeyedEvaluation | None = None
    comparison: Comparison | None = None  #: other methods beside the evaluation
    curve: dict[str, Any] | None = None  #: bounds over the error correlation
    queue: Labelling | None = None  #: the items that a person should look at first, with their votes
    audit: Audit | None = None  #: what a person's labels of drawn items prove


def find(
    source: Votes | Sketch, key: Key | None = None, *, texts: ItemTexts | None = None, answers: Any = None,
    **grading: Any,
) -> Findings:  # fmt: skip
    """Count once; grade, label and compare; `texts` show the items, `grading` are the options of `grade`.

    `answers` are a person's labels of an audit: they are gold, and they prove something of their own.
    """
    case = None if answers is None else _case(source, answers, grading)
    evaluation, counted, known = grade_rows(source, **(grading if case is None else {**grading, "gold": case.gold}))
    keyed = None if key is None else score_counted(counted, key)
    labelling = queue = None
    partition = evaluation.labelling_partition
    if partition is not None and counted.votes.counts is None and not evaluation.exam:
        teaching = partial(teaching_of, evaluation, counted.tuple_of_row, known)
        labelling = label_rows(
            counted.votes, counted.tuple_of_row, partition, level=evaluation.level, method=evaluation.method,
            alarms=evaluation.alarms, teaching=teaching,
        )  # fmt: skip
        queue = labelling.for_review(_MOST_QUEUED, counted.votes, texts)
    audit = None if case is None else audited(case, evaluation, evaluation.level)
    beside = _comparison(evaluation, counted, keyed), _curve(evaluation)
    return Findings(evaluation, labelling, keyed, *beside, queue, audit)


def _case(source: Votes | Sketch, answers: Any, grading: Mapping[str, Any]) -> Case:
    """The answers beside the votes they are about."""
    if grading.get("gold") is not None:
        raise OptionError("the answers are gold themselves; give gold or answers, not both", code="does_not_apply")
    return Case.of(auditable(source.tuples if isinstance(source, Sketch) else source), as_sheet(answers))


def read(source: Any, key: Any = None, **reading: Any) -> tuple[Votes | Sketch, Key | None]:
    """The votes, and the key: a column of the same file where it names no other file."""
    if isinstance(key, str) and isinstance(source, (str, Path)) and not is_there(key):
        return read_votes_with_key(source, key, **reading)
    by_item = key is not None or not is_huge([source])
    return accept(source, by_item=by_item, **reading), None if key is None else as_key(key)


def is_huge(sources: Iterable[Any]) -> bool:
    """Whether files are so large that items had better be counted by the engine, and none be named."""
    paths = [Path(one) for one in sources if isinstance(one, (str, Path)) and is_file(one)]
    return sum(path.stat().st_size for path in paths) > _MOST_BYTES


def is_file(name: str | Path) -> bool:
    """Whether there is such a file; what can be no name is none."""
    try:
        return Path(name).is_file()
    except (OSError, ValueError):
        return False


def _comparison(evaluation: Evaluation, counted: Counted, keyed: KeyedEvaluation | None) -> Comparison | None:
    """The other methods on the same sketch; refusals are theirs, not the page's."""
    sketch = evaluation.sketch
    if sketch is None or evaluation.exam or evaluation.solution is None:
        return None
    if sketch.tuples.rows * len(sketch.jurors) * len(sketch.labels) > _MOST_CELLS:
        return None
    others = [name for name in usual_methods(sketch) if name != evaluation.method]
    with suppress(JurorsError):
        compared = compare_counted(counted, others)
        return Comparison((evaluation, *compared.evaluations), compared.refused | left_out(sketch), keyed)
    return None


def _curve(evaluation: Evaluation) -> dict[str, Any] | None:
    from jurors.doubt import correlation_curve

    sketch = evaluation.sketch
    if sketch is None or evaluation.exam or len(sketch.labels) != 2 or len(sketch.jurors) > _MOST_CURVED:
        return None
    with suppress(JurorsError):
        return correlation_curve(sketch)
    return None
