"""lm-evaluation-harness samples: a model is a juror, a document of a task is an item, the model's answer is the vote.

`--log_samples` writes <model>/samples_<task>_<time>.jsonl. Of several runs of a model on a task in one folder the
newest counts, and of several filters the first that the file holds. `--from lm-eval:TASK` reads one task of several.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jurors.errors import VotesError
from jurors.names import nearest
from jurors.votes.readers import Records
from jurors.votes.readers.log_files import Files
from jurors.votes.readers.log_texts import LogTexts
from jurors.votes.readers.short_names import told_apart

TITLE = "folder of lm-evaluation-harness samples"
ASKS = True
_NAME = re.compile(r"samples_(?P<task>.+)_(?P<time>\d{4}-\d\d-\d\dT[\d.-]+)\.jsonl(\.gz)?")
_NO_ANSWER = "[invalid]"  # what the harness's regex filters say when nothing matches


@dataclass(frozen=True)
class _Answer:
    """What a model answered to one document: the place of its choice among texts, or a text of its own."""

    document: str
    fingerprint: str
    choices: tuple[str, ...]
    answer: Any
    question: str


def recognises(files: Files) -> bool:
    """Whether a file among them has the name and the first keys of a sample file."""
    named = [path for path in files.paths if _NAME.fullmatch(path.name)]
    return any(b'"doc_id"' in files.head(path)[:100] for path in named[:20])


def read(files: Files, question: str | None = None) -> Records:
    """The answers of all models to all documents, of one task if it is named."""
    paths = _newest(files)
    if not paths:
        raise VotesError("no file is called samples_<task>_<time>.jsonl, as lm_eval --log_samples calls them")
    if question is not None:
        chosen = nearest(question, sorted({task for _, task in paths}), "task")
        paths = {place: path for place, path in paths.items() if place[1] == chosen}
    answers = {place: list(_answers(files, path)) for place, path in paths.items()}
    if empty := [path for place, path in paths.items() if not answers[place]]:
        raise VotesError(
            f"{files.name(empty[0])}there are no samples in the file; take it away, or run the model again"
        )
    _refuse_mixed_kinds(answers)
    models = sorted({folder for folder, _ in answers})
    told = told_apart(
        [folder.name.replace("__", "/") for folder in models], [_shown(files, folder) for folder in models]
    )
    names = dict(zip(models, told, strict=True))
    by_hash = _tasks_that_differ(answers)
    lists = {answer.choices for own in answers.values() for answer in own}
    texts = len(lists) == 1 and lists != {()}  # all documents have the same choices
    item, juror, label = [], [], []
    shown = LogTexts()
    for (folder, task), own in answers.items():
        for answer in own:
            item.append(f"{task}/{answer.fingerprint if task in by_hash else answer.document}")
            juror.append(names[folder])
            shown.add(item[-1], question=answer.question)
            label.append(answer.choices[answer.answer] if texts and answer.answer is not None else answer.answer)
    return Records(item, juror, label, shown.by_item)


def _shown(files: Files, folder: Path) -> str:
    return str(folder.relative_to(files.root)) if folder.is_relative_to(files.root) else str(folder.name)


def _newest(files: Files) -> dict[tuple[Path, str], Path]:
    """The last file of every model's folder and task."""
    newest: dict[tuple[Path, str], tuple[str, Path]] = {}
    matches = {path: match for path in files.paths if (match := _NAME.fullmatch(path.name))}
    for path in files.own(matches.__contains__, "file of samples"):
        place, run = (path.parent, matches[path]["task"]), (matches[path]["time"], path)
        if place in newest and {path, newest[place][1]} <= files.named:
            raise VotesError(
                f"{files.name(path)}{newest[place][1].name} is of the same model and task; name one of the two, or the "
                "folder for the newest"
            )
        newest[place] = max(newest.get(place, run), run)
    return {place: path for place, (_, path) in sorted(newest.items())}


def _answers(files: Files, path: Path) -> Iterator[_Answer]:
    first_filter: Any = None
    for number, sample in files.lines(path):
        where = f"{files.name(path)}line {number}"
        if "doc_id" not in sample or not isinstance(sample.get("filtered_resps"), list):
            raise VotesError(f"{where}: expected 'doc_id' and a list 'filtered_resps', as lm_eval --log_samples writes")
        used = sample.get("filter")
        first_filter = used if first_filter is None else first_filter
        if used == first_filter:
            choices, answer = _answer(sample, where)
            asked = _arguments(sample.get("arguments"))
            question = str(asked[0][0]) if asked else ""
            yield _Answer(str(sample["doc_id"]), str(sample.get("doc_hash", "")), choices, answer, question)


def _answer(sample: Mapping[str, Any], where: str) -> tuple[tuple[str, ...], Any]:
    """The choices and the place of the likeliest one; or no choices and the text."""
    asked = _arguments(sample.get("arguments"))
    responses = sample["filtered_resps"]
    if len(asked) > 1 and all(isinstance(continuation, str) for _, continuation in asked):
        return _likeliest(asked, responses, where)
    answer = responses[0] if responses else None
    while isinstance(answer, list) and len(answer) == 1:
        answer = answer[0]
    scored = any(not isinstance(settings, dict) for _, settings in asked)  # a likelihood, not a text
    if scored or isinstance(answer, (list, dict)):
        raise VotesError(
            f"{where}: the answer is {str(answer)[:40]!r}, neither one of several choices nor one text; for several "
            "texts a document add take_first or majority_vote to the task's filters"
        )
    return (), None if answer == _NO_ANSWER else answer


def _arguments(arguments: Any) -> list[tuple[Any, Any]]:
    """Context and continuation of each request; new files name them, old ones list them."""
    several = list(arguments.values()) if isinstance(arguments, dict) else arguments or []
    pairs = [list(one.values()) if isinstance(one, dict) else one for one in several]
    return [(pair[0], pair[1] if len(pair) > 1 else None) for pair in pairs if isinstance(pair, list) and pair]


def _likeliest(asked: Sequence[tuple[Any, Any]], responses: Sequence[Any], where: str) -> tuple[tuple[str, ...], Any]:
    """The first of the greatest log likelihoods, as the harness itself decides; requests without context only scale."""
    given = [k for k, (context, _) in enumerate(asked) if context != ""] or range(len(asked))
    try:
        likelihood = [float(responses[k][0] if isinstance(responses[k], list) else responses[k]) for k in given]
    except (IndexError, TypeError, ValueError):
        raise VotesError(
            f"{where}: {len(asked)} choices need as many log likelihoods in 'filtered_resps', "
            f"found {str(responses)[:40]!r}"
        ) from None
    choices = [asked[k][1].strip() for k in given]
    if len(set(choices)) < len(choices):  # one continuation of several contexts: the contexts are the choices
        choices = [str(k) for k in range(len(choices))]
    undecided = any(math.isnan(value) for value in likelihood)
    return tuple(choices), None if undecided else likelihood.index(max(likelihood))


def _refuse_mixed_kinds(answers: Mapping[tuple[Path, str], Sequence[_Answer]]) -> None:
    kinds: dict[bool, str] = {}
    for (_, task), own in answers.items():
        for answer in own:
            kinds[bool(answer.choices)] = task
    if len(kinds) > 1:
        raise VotesError(
            f"the task {kinds[True]} has choices and {kinds[False]} has texts for answers; choose one task, such as "
            f"--from lm-eval:{kinds[True]}",
            code="several_questions",
            tool=f"lm-eval:{kinds[True]}",
        )


def _tasks_that_differ(answers: Mapping[tuple[Path, str], Sequence[_Answer]]) -> set[str]:
    """The tasks in which one doc_id is not the same document for all models."""
    seen: dict[tuple[str, str], str] = {}
    return {
        task
        for (_, task), own in answers.items()
        for answer in own
        if seen.setdefault((task, answer.document), answer.fingerprint) != answer.fingerprint
    }
