"""lm-evaluation-harness samples: a model is a juror, a document of a task is an item, the model's answer is the vote.

`--log_samples` writes <model>/samples_<task>_<time>.jsonl. Of several runs of a model on a task in one folder the
newest counts, and of several filters the first that the file holds. Where a filter leaves several texts a document (a
task with `repeats`), they are repeats of one juror. `--from lm-eval:TASK` reads one task of several.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jurors.errors import VotesError, match_name
from jurors.votes.readers.base import MAX_FILES_SNIFFED, Files, Node, Records, RecordsBuilder, distinguishing_names

TITLE = "folder of lm-evaluation-harness samples"
ASKS = True
_NAME = re.compile(r"samples_(?P<task>.+)_(?P<time>\d{4}-\d\d-\d\dT[\d.-]+)\.jsonl(\.gz)?")
_NUMBER = re.compile(r"[0-9]{1,9}$")
_NO_ANSWER = "[invalid]"  # what the harness's regex filters say when nothing matches


@dataclass(frozen=True)
class _Answer:
    """A model's answer to one document: the position of its choice among texts, or a text of its own."""

    document: str  #: its doc_id
    fingerprint: str  #: the hash of its content
    choices: tuple[str, ...]
    answer: Any
    question: str
    repetition: int  #: which of several answers
    content: Any  #: the document itself
    target: Any  #: the true answer, by its position among the choices or as text


def recognises(files: Files) -> bool:
    """Decide whether a file among them has the name and the first keys of a sample file.

    Returns
    -------
    bool
        By names and first bytes alone.
    """
    named = [path for path in files.paths if _NAME.fullmatch(path.name)]
    return any(b'"doc_id"' in files.head(path)[:100] for path in named[:MAX_FILES_SNIFFED])


def read(files: Files, question: str | None = None) -> Records:
    """Read the answers of all models to all documents, of one task if it is named.

    Returns
    -------
    Records
        One row per answer.
    """
    # the last file of every model's folder and task
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
    paths = {place: path for place, (_, path) in sorted(newest.items())}
    if not paths:
        raise VotesError("no file is called samples_<task>_<time>.jsonl, as lm_eval --log_samples calls them")
    if question is not None:
        selected = match_name(question, sorted({task for _, task in paths}), "task")
        paths = {place: path for place, path in paths.items() if place[1] == selected}
    answers = {place: list(_answers(files, path)) for place, path in paths.items()}
    if empty := [path for place, path in paths.items() if not answers[place]]:
        raise VotesError(f"{files.name(empty[0])}there are no samples in the file; remove it, or run the model again")
    task_with = {bool(answer.choices): task for (_, task), given in answers.items() for answer in given}
    if len(task_with) > 1:
        raise VotesError(
            f"the task {task_with[True]} has choices and {task_with[False]} has texts for answers; choose one task, "
            f"such as tool='lm-eval:{task_with[True]}'",
            code="several_questions",
            tool=f"lm-eval:{task_with[True]}",
        )
    models = sorted({folder for folder, _ in answers})
    folders = [str(m.relative_to(files.root)) if m.is_relative_to(files.root) else m.name for m in models]
    model_names = distinguishing_names([model.name.replace("__", "/") for model in models], folders)
    names = dict(zip(models, model_names, strict=True))
    # the tasks in which one doc_id is not the same document for all models
    seen: dict[tuple[str, str], str] = {}
    by_hash = {
        task
        for (_, task), given in answers.items()
        for answer in given
        if seen.setdefault((task, answer.document), answer.fingerprint) != answer.fingerprint
    }
    lists = {answer.choices for given in answers.values() for answer in given}
    texts = len(lists) == 1 and lists != {()}  # all documents have the same choices
    log = RecordsBuilder()
    for (folder, task), given in answers.items():
        for answer in given:
            item = f"{task}/{answer.fingerprint if task in by_hash else answer.document}"
            # the true answer in the form of the votes: the choice itself, or its position
            target = answer.target
            if isinstance(target, str) and target.strip().isdecimal() and answer.choices:
                target = int(target)
            if type(target) is int and answer.choices and texts:
                target = answer.choices[target] if target < len(answer.choices) else None
            elif isinstance(target, str):
                target = target.strip()
            fields = {"task": task, "doc": answer.content, "target": target}
            log.describe(item, {"question": answer.question}, fields)
            label = answer.choices[answer.answer] if texts and answer.answer is not None else answer.answer
            log.add(item, names[folder], label)
    repetition = [answer.repetition for given in answers.values() for answer in given]
    return log.build(repetition=repetition if any(repetition) else ())


def _answers(files: Files, path: Path) -> Iterator[_Answer]:
    first_filter = ""
    for sample in files.lines(path):
        document = sample["doc_id"].text()
        if not document or not sample["filtered_resps"].is_list:
            missing = sample["doc_id" if not document else "filtered_resps"]
            raise missing.wrong("'doc_id' and a list 'filtered_resps'", "write it again with lm_eval --log_samples")
        used = sample["filter"].text()
        first_filter = first_filter or used
        if used == first_filter:
            requests = _requests(sample["arguments"])
            choices, answers = _answer(sample, requests)
            question = str(requests[0][0]) if requests else ""
            content, target = sample["doc"].value, sample["target"].value
            for k, answer in enumerate(answers):
                yield _Answer(document, sample["doc_hash"].text(), choices, answer, question, k, content, target)


def _answer(sample: Node, requests: Sequence[tuple[Any, Any]]) -> tuple[tuple[str, ...], list[Any]]:
    """The choices and the position of the likeliest one; or no choices and the text, or several of one model."""
    if len(requests) > 1 and all(isinstance(continuation, str) for _, continuation in requests):
        choices, place = _likeliest(requests, sample["filtered_resps"])
        return choices, [place]
    answer = next(iter(sample["filtered_resps"].parts()), Node(None))
    while answer.is_list and len(answer.value) == 1:
        (answer,) = answer.parts()
    scored = any(not isinstance(settings, dict) for _, settings in requests)  # a likelihood, not a text
    texts = answer.parts() if answer.is_list else [answer]
    if scored or not texts or any(text.is_list or text.is_record for text in texts):
        raise VotesError(
            f"{sample.where}the answer is {answer.shown}, neither one of several choices nor text; add "
            "take_first or majority_vote to the task's filters"
        )
    return (), [None if text.value == _NO_ANSWER else text.single() for text in texts]


def _requests(arguments: Node) -> list[tuple[Any, Any]]:
    """Context and continuation of each request; new files name them, old ones list them."""
    requests = _by_number(arguments.entries()) if arguments.is_record else arguments.parts()
    pairs = [
        [part.value for part in _by_number(request.entries())] if request.is_record else request.value
        for request in requests
    ]
    return [(pair[0], pair[1] if len(pair) > 1 else None) for pair in pairs if isinstance(pair, list) and pair]


def _by_number(named: Iterable[tuple[str, Node]]) -> list[Node]:
    """`gen_args_0`, `gen_args_1` …: in a file whose keys were sorted, the tenth stands behind the first."""
    return [part for _, part in sorted(named, key=lambda entry: int((_NUMBER.search(entry[0]) or "0")[0]))]


def _likeliest(requests: Sequence[tuple[Any, Any]], responses: Node) -> tuple[tuple[str, ...], Any]:
    """The first of the greatest log likelihoods, as the harness itself decides; requests without context only scale."""
    given = [k for k, (context, _) in enumerate(requests) if context != ""] or range(len(requests))
    several = responses.parts()
    try:
        likelihood = [float(several[k].parts()[0].value if several[k].is_list else several[k].value) for k in given]
    except (IndexError, TypeError, ValueError, OverflowError):
        raise responses.wrong(f"as many log likelihoods as there are choices ({len(requests)})") from None
    choices = [requests[k][1].strip() for k in given]
    if len(set(choices)) < len(choices):  # one continuation of several contexts: the contexts are the choices
        choices = [str(k) for k in range(len(choices))]
    undecided = any(math.isnan(value) for value in likelihood)
    return tuple(choices), None if undecided else likelihood.index(max(likelihood))
