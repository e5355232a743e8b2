"""Scores and feedback from Langfuse, LangSmith, Opik, Braintrust and Weave.

Each tool holds feedback on traces: records one per line, in a list, or in a page of an API, each of which says who
thinks what of an item. Whoever gave feedback is a juror, known by the feedback's name, its source and the kind of
source; where one name has several sources, the names are questions, and one of them is selected.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from jurors.errors import VotesError, match_name
from jurors.votes.codes import Finding
from jurors.votes.readers.base import (
    Files,
    Node,
    Reader,
    Records,
    RecordsBuilder,
    distinguishing_names,
    recogniser,
    shorten_value,
)  # fmt: skip

FeedbackSource: TypeAlias = tuple[str, str, str]  #: the feedback's name, its source, the kind of source


@dataclass(frozen=True)
class Feedback:
    """One source's value for one item, and when it was given, where that is known (seconds since 1970)."""

    item: Any
    source: FeedbackSource
    value: Any
    time: float | None = None


def feedback_records(
    feedback: Sequence[Feedback], log: RecordsBuilder, question: str | None, what: str, tool: str, *, how: str = "",
    is_stream: bool = False,
) -> Records:  # fmt: skip
    """Name a juror per source: by the feedback's name alone, or by the source where one name has several.

    Where there are several names and one of them has several sources, the names are questions and one of them must be
    selected: votes on different questions are no jury.

    Parameters
    ----------
    feedback, log
        The feedback, and what is known of the items.
    question
        The name to read; None for the only one.
    what
        What the tool calls a name of feedback: "assessment".
    tool, how
        The reader's name, and how a question is selected, where not by "tool='TOOL:".
    is_stream
        Whether more may come: a juror is named by its source alone, not by what distinguishes it.

    Returns
    -------
    Records
        One row per feedback on the question.
    """
    sources = list(dict.fromkeys(given.source for given in feedback))
    questions = list(dict.fromkeys(given.source[0] for given in feedback if given.value is not None))
    if question is None and not is_stream and 1 < len(questions) < len(sources):
        listing, how = ", ".join(sorted(questions)[:12]), how or f"tool='{tool}:"
        message = f"{len(questions)} {what}s are given: {listing}; choose one with {how}{questions[0]}'"
        raise VotesError(message, code="several_questions", known=questions, tool=f"{tool}:{questions[0]}")
    if question is not None:
        name = question if is_stream else match_name(question, questions, what)
        sources = [source for source in sources if source[0] == name]
    if is_stream:  # the source where the question is known, else both; the name where there is no source
        full = [origin if question is not None else f"{name}:{origin}" for name, origin, _ in sources]
        jurors = [juror if source[1] else source[0] for juror, source in zip(full, sources, strict=True)]
    else:
        jurors = distinguishing_names(*zip(*sources, strict=True)) if sources else []
    names = {source: juror or source[0] for source, juror in zip(sources, jurors, strict=True)}
    selected = [given for given in feedback if given.source in names]
    for given in selected:
        log.add(given.item, names[given.source], given.value)
    return log.build(time=[given.time for given in selected])


def records_of(files: Files, path: Path, *pages: str) -> Iterator[Node]:
    """Iterate over the records of a file.

    Parameters
    ----------
    files, path
        The file, and those it belongs to.
    pages
        A record that has a list under one of these names is a page of an API, and stands for the records in the list.

    Returns
    -------
    iterator of Node
        With the position of each in its message prefix.
    """
    if path.suffix in (".jsonl", ".ndjson") or files.holds_lines(path):
        records: Iterable[Node] = files.lines(path)
    else:
        document = files.document(path)
        records = list(document.numbered()) if document.is_list else [document]
    for record in records:
        page = next((name for name in pages if record.is_record and record[name].is_list), None)
        yield from [record] if page is None else record[page].numbered()


_FIELDS = ("expected", "metadata", "model", "tags", "environment")


class UnknownKindError(Exception):
    """A record of an unknown kind, as a newer version may write: it is left out, with a warning."""


def feedback_reader(
    title: str, tool: str, what: str, *marks: bytes, pages: tuple[str, ...] = ("data", "content")
) -> Callable[[Callable[[Node], Iterable[Feedback]]], Reader]:
    """Make the reader of a tool that holds feedback on traces, from a function that reads a record.

    Parameters
    ----------
    title, tool
        The names of its files, and of the reader.
    what
        What the tool calls the name of feedback.
    marks
        Keys in the first bytes of its files, all of them.
    pages
        Under which a page of the API has its list.

    Returns
    -------
    callable
        A decorator, which makes a `Reader`.
    """

    def is_own(files: Files, path: Path) -> bool:
        return files.has((b"{", b"["), *(b'"' + mark + b'"' for mark in marks), path=path)

    def read(feedback_in: Callable[[Node], Iterable[Feedback]], files: Files, question: str | None = None) -> Records:
        """Read the feedback on each item; of records with the same id, the last counts."""
        expected = f"expected records with {', '.join(mark.decode() for mark in marks)}"
        paths = files.own(lambda path: is_own(files, path), title, expected=expected)
        by_record: dict[tuple[str, object], list[Feedback]] = {}
        log, unknown = RecordsBuilder(), Counter[str]()
        for k, record in enumerate(record for path in paths for record in records_of(files, path, *pages)):
            name = record["id"].single()
            try:
                given = list(feedback_in(record))
            except UnknownKindError as error:
                unknown[str(error)] += 1
                continue
            by_record[("place", k) if name is None else ("id", name)] = given
            for item in dict.fromkeys(feedback.item for feedback in given):
                log.describe(item, fields={key: record[key].value for key in _FIELDS})
        if unknown:
            kinds = ", ".join(shorten_value(kind) for kind in list(unknown)[:3]) + (" …" if len(unknown) > 3 else "")
            message = f"records of a kind that is not known ({kinds}) are left out: {unknown.total():,}"
            if not by_record:
                raise VotesError(f"this {title} holds no vote: {message}")
            files.findings.append(Finding("newer_format", message, level="warning", value=float(unknown.total())))
        return feedback_records(list(chain.from_iterable(by_record.values())), log, question, what, tool)

    return lambda feedback_in: Reader(title, recogniser(is_own), partial(read, feedback_in), ASKS=True)


def _first_text(record: Node, *keys: str) -> str:
    """The first of these that is given, as text; VotesError names the last where none is."""
    return next((record[key] for key in keys if record[key].text()), record[keys[-1]]).name("text")


def _optional_text(record: Node, *keys: str) -> str:
    return next((text for key in keys if (text := record[key].text())), "")


# -- tools that have several questions about one item ---------------------------------------------------------


class Answer(NamedTuple):
    """What a juror answered to one question about an item."""

    question: str
    item: Any
    juror: str
    value: Any
    kind: str = ""  #: the tool's name for such questions, where it has one


def answer_records(
    answers: Iterable[Answer], questions: Mapping[str, bool], name: str | None, tool: str, log: RecordsBuilder
) -> Records:
    """Read the answers to the question that `select_question` selects; several labels given at once are one.

    Returns
    -------
    Records
        One row per answer.
    """
    selected = select_question(questions, name, tool)
    for answer in answers:
        if answer.question == selected:
            log.add(answer.item, answer.juror, joined_label(answer.value))
    return log.build()


def select_question(questions: Mapping[str, bool], name: str | None, tool: str) -> str | None:
    """Select the question called `name`, or the only one whose answers are labels.

    Parameters
    ----------
    questions
        Whether the answers to each question are labels.
    name
        The question that the user named, if any.
    tool
        The reader's name, for messages.

    Returns
    -------
    str or None
        The question; None where there is none at all.

    Examples
    --------
    >>> select_question({"comment": False, "verdict": True}, None, "argilla")
    'verdict'
    """
    if name is not None and questions:
        question: str = match_name(name, tuple(questions), "question")
        if questions[question]:
            return question
        raise VotesError(f"the answers to {question!r} are not labels; choose another question")
    labelled = [question for question, takes_labels in questions.items() if takes_labels]
    if len(labelled) == 1:
        return labelled[0]
    if not questions:
        return None
    names = ", ".join(sorted(labelled or questions)[:12])
    if not labelled:
        raise VotesError(f"no question takes labels; found {names}")
    example = f"{tool}:{labelled[0]}"
    message = f"{len(labelled)} questions are asked: {names}; choose one with tool={example!r}"
    raise VotesError(message, code="several_questions", known=labelled, tool=example)


def joined_label(value: Any) -> Any:
    """Make one label of one or several given at once, whatever their order.

    Returns
    -------
    object
        "a+b" for a list, None for an empty one, and any other value as it is.

    Examples
    --------
    >>> joined_label(["urgent", "bug"]), joined_label(["bug"]), joined_label([]), joined_label(4)
    ('bug+urgent', 'bug', None, 4)
    """
    if not isinstance(value, list):
        return value
    return "+".join(sorted(map(str, value))) if value else None


# -- the tools ------------------------------------------------------------------------------------------------

_LANGFUSE_TRUTH = {1: True, 0: False, "True": True, "False": False}


@feedback_reader("Langfuse export of scores", "langfuse", "score", b"dataType", b"source", b"timestamp", b"name")
def langfuse(score: Node) -> Iterator[Feedback]:
    """Langfuse scores (`/api/public/v2/scores`, v3): traces or what is in them are items, whoever scored is a juror."""
    kind = score["dataType"].text()
    if kind in ("TEXT", "CORRECTION"):  # no votes
        return
    if kind not in ("NUMERIC", "CATEGORICAL", "BOOLEAN"):
        raise UnknownKindError(kind)
    if score["subject"].is_record:  # version 3 of the API; before, each kind of subject had a key of its own
        item = _first_text(score["subject"], "id")
    else:
        item = _first_text(score, "observationId", "traceId", "sessionId", "datasetRunId")
    value, text = score["value"].single(), score["stringValue"].single()
    if kind == "CATEGORICAL" and text is not None:
        value = text
    if kind == "BOOLEAN" and value is not None:
        if value not in _LANGFUSE_TRUTH:
            raise score["value"].wrong("1 or 0")
        value = _LANGFUSE_TRUTH[value]
    source = _first_text(score, "name"), score["authorUserId"].text(), score["source"].text()
    yield Feedback(item, source, value)


@feedback_reader("LangSmith export of feedback", "langsmith", "key", b"run_id", b"key", b"feedback_source")
def langsmith(feedback: Node) -> Iterator[Feedback]:
    """LangSmith feedback (`client.list_feedback()`, the API's pages): runs are items, whoever gave it is a juror.

    The vote is the value where one is shown to people, else the score; a correction or comment alone is no vote.
    """
    source = feedback["feedback_source"]
    who = _optional_text(source, "user_name", "user_id")
    value = feedback["value"].single()
    name = _first_text(feedback, "key"), who, source["type"].text()
    item = _first_text(feedback, "run_id", "trace_id")
    yield Feedback(item, name, feedback["score"].single() if value is None else value)


@feedback_reader("Braintrust export of rows", "braintrust", "score", b"id", b"scores", b"root_span_id",
                 pages=("events", "data", "rows"))  # fmt: skip
def braintrust(row: Node) -> Iterator[Feedback]:
    """Braintrust experiments (rows of `summarize`, the API or BTQL): rows with scores are items, scores are jurors."""
    for name, value in row["scores"].entries():
        yield Feedback(_first_text(row, "id"), (name, "", ""), value.single())


@feedback_reader("Opik export of traces", "opik", "score", b"id", b"feedback_scores")
def opik(trace: Node) -> Iterator[Feedback]:
    """Opik traces or spans with their feedback scores (the API's pages): each author of a score is a juror."""
    item = _first_text(trace, "id")
    for score in trace["feedback_scores"].records():
        name = _first_text(score, "name")
        authors = score["value_by_author"].entries()  # where several gave one, `value` is their mean
        for author, given in authors or [(score["created_by"].text(), score)]:
            category = given["category_name"].single()
            value = given["value"].single() if category is None else category
            yield Feedback(item, (name, author, given["source"].text(score["source"].text())), value)


@feedback_reader("Weave export of feedback", "weave", "feedback", b"feedback_type", b"weave_ref", b"payload")
def weave(feedback: Node) -> Iterator[Feedback]:
    """W&B Weave feedback (`client.get_feedback()`): calls are items; annotators and scorers are jurors.

    Votes are an annotation, each value of a scorer's output, a reaction, ratings, and custom types; notes are none.
    """
    kind, payload = _first_text(feedback, "feedback_type"), feedback["payload"]
    item = _first_text(feedback, "weave_ref")
    who = _optional_text(feedback, "creator", "wb_user_id")
    if kind.startswith("wandb.annotation."):
        yield Feedback(item, (kind.removeprefix("wandb.annotation."), who, "annotation"), payload["value"].single())
    elif kind.startswith("wandb.runnable."):
        name = kind.removeprefix("wandb.runnable.")
        for part, value in payload["output"].entries() if payload["output"].is_record else [("", payload["output"])]:
            yield Feedback(item, (f"{name}.{part}" if part else name, "", "scorer"), value.single())
    elif kind.startswith("wandb.reaction."):
        yield Feedback(item, ("reaction", who, "reaction"), payload["emoji"].single())
    elif kind.startswith("wandb.agent_"):  # tags beside the ratings are no votes: which were not given is unknown
        for name, value in feedback["scorer_ratings"].entries():
            yield Feedback(item, (name, who, "agent"), value.single())
    elif not kind.startswith("wandb.") and "value" in payload:  # `call.feedback.add("correct", {"value": 1})`
        yield Feedback(item, (kind, who, "own"), payload["value"].single())
    elif not kind.startswith("wandb.note."):
        raise UnknownKindError(kind)
