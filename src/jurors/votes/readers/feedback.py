"""Scores and feedback from Langfuse, LangSmith, Opik, Braintrust and Weave."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

from jurors.errors import VotesError, match_name
from jurors.votes.codes import Finding
from jurors.votes.readers import Records
from jurors.votes.readers.base import Files, LogFields, LogTexts, Node, distinguishing_names, shorten_value

# Feedback on traces: who gives it is told by its name, its source and its kind; a name may be a question instead.


FeedbackSource: TypeAlias = tuple[str, str, str]  #: the feedback's name, its source, the kind of source


@dataclass(frozen=True)
class Feedback:
    """What one voice said of one item, and when, where that is known (seconds since 1970)."""

    item: Any
    voice: FeedbackSource
    value: Any
    time: float | None = None


@dataclass(frozen=True)
class FeedbackQuestion:
    """Which question was asked for, and how its user calls it."""

    question: str | None
    what: str  #: what the tool calls a name of feedback: "assessment"
    how: str  #: how one is chosen: "--from mlflow:"
    tool: str
    is_stream: bool = False  #: more may come: a voice is named by itself, not by what tells it from the others

    def records(self, feedback: Sequence[Feedback], texts: Mapping[Any, Mapping[str, str]]) -> Records:
        """A juror per voice: the name alone, or the source where one name has several.

        Where there are several names and one of them has several sources, the names are questions and one of them must
        be chosen: votes on different questions are no jury.
        """
        voices = list(dict.fromkeys(one.voice for one in feedback))
        questions = list(dict.fromkeys(one.voice[0] for one in feedback if one.value is not None))
        if self.question is None and not self.is_stream and 1 < len(questions) < len(voices):
            names_of = ", ".join(sorted(questions)[:12])
            message = f"{len(questions)} {self.what}s are given: {names_of}; choose one with {self.how}{questions[0]}"
            chosen = f"{self.tool}:{questions[0]}"
            raise VotesError(message, code="several_questions", known=questions, tool=chosen)
        if self.question is not None:
            wanted = self.question if self.is_stream else match_name(self.question, questions, self.what)
            voices = [voice for voice in voices if voice[0] == wanted]
        names = self._names(voices)
        kept = [one for one in feedback if one.voice in names]
        jurors = [names[one.voice] for one in kept]
        times = [one.time for one in kept]
        return Records([one.item for one in kept], jurors, [one.value for one in kept], texts, times)

    def _names(self, voices: Sequence[FeedbackSource]) -> dict[FeedbackSource, str]:
        if not voices:
            return {}
        if self.is_stream:
            return {voice: self._by_itself(voice) for voice in voices}
        names = distinguishing_names(*zip(*voices, strict=True))
        return {voice: name or voice[0] for voice, name in zip(voices, names, strict=True)}

    def _by_itself(self, voice: FeedbackSource) -> str:
        """The source where the question is known, else the question and the source; the name where none is told."""
        name, source, _ = voice
        return (source if self.question is not None else f"{name}:{source}") if source else name


# Files of feedback: records one per line, in a list, or in a page of an API; each says who thinks what of an item.


_TOLD = ("expected", "metadata", "model", "tags", "environment")  # what records tell of what was judged


def records_of(files: Files, path: Path, *pages: str) -> Iterator[Node]:
    """The records of a file; a single one may be a page that holds them in a list under one of these names."""
    if path.suffix in (".jsonl", ".ndjson") or files.holds_lines(path):
        lines: Iterable[Node] = files.lines(path)
    else:
        document, where = files.document(path), files.name(path)
        lines = [document]
        if document.is_list:
            lines = [replace(one, where=f"{where}record {k}: ", path="") for k, one in document.numbered()]
    for record in lines:
        page = next((name for name in pages if record.is_record and record[name].is_list), None)
        if page is None:
            yield record
        else:
            yield from (
                replace(one, where=f"{record.where}record {k}: ", path="") for k, one in record[page].numbered()
            )


class UnknownKindError(Exception):
    """A record of a kind that is not known, as a newer version may write: it is left out, and told."""


@dataclass(frozen=True)
class FeedbackTool:
    """A tool that keeps feedback on traces: how its files are told, and what a record says."""

    TITLE: str
    name: str  #: of the reader
    what: str  #: what the tool calls the name of feedback
    marks: tuple[bytes, ...]  #: keys that stand in the first bytes of its files, all of them
    says: Callable[[Node], Iterable[Feedback]]
    pages: tuple[str, ...] = ("data", "content")  #: under which a page of the API keeps its list
    ASKS: ClassVar[bool] = True

    def recognises(self, files: Files) -> bool:
        """Whether one of the first files has the tool's keys."""
        return any(self.is_own(files, path) for path in files.first)

    def is_own(self, files: Files, path: Path) -> bool:
        """Whether a file is JSON with the tool's keys."""
        head = files.head(path).lstrip()
        return head.startswith((b"{", b"[")) and all(b'"' + mark + b'"' in head for mark in self.marks)

    def read(self, files: Files, question: str | None = None) -> Records:
        """Who said what of which item; a record that is there twice is one."""
        paths = files.own(lambda path: self.is_own(files, path), self.TITLE)
        if not paths:
            keys = ", ".join(mark.decode() for mark in self.marks)
            raise VotesError(f"this is no {self.TITLE}: expected records with {keys}")
        given: dict[tuple[str, object], list[Feedback]] = {}
        fields, unknown = LogFields(), Counter[str]()
        for k, record in enumerate(record for path in paths for record in records_of(files, path, *self.pages)):
            name = record["id"].single()
            try:
                said = list(self.says(record))
            except UnknownKindError as error:
                unknown[str(error)] += 1
                continue
            given["place" if name is None else "id", k if name is None else name] = said
            for item in dict.fromkeys(one.item for one in said):
                fields.add(item, {key: record[key].value for key in _TOLD})
        self._tell(files, unknown, alone=not given)
        feedback = [one for several in given.values() for one in several]
        asked = FeedbackQuestion(question, self.what, f"--from {self.name}:", self.name)
        return replace(asked.records(feedback, LogTexts().by_item), fields=fields.by_name)

    def _tell(self, files: Files, unknown: Counter[str], *, alone: bool) -> None:
        """Warn of what was left out; VotesError where that is all there is."""
        if not unknown:
            return
        kinds = ", ".join(shorten_value(kind) for kind in list(unknown)[:3]) + (" …" if len(unknown) > 3 else "")
        message = f"records of a kind that is not known ({kinds}) are left out: {unknown.total():,}"
        if alone:
            raise VotesError(f"this {self.TITLE} holds no vote: {message}")
        files.findings.append(Finding("newer_format", message, level="warning", value=float(unknown.total())))


def named(record: Node, *keys: str) -> str:
    """The first of these that is given, as text; VotesError names the last where none is."""
    name = next((text for key in keys if (text := record[key].text())), "")
    if not name:
        raise record[keys[-1]].wrong("text")
    return name


# Tools that ask several questions about one item: which of them the votes are about.


def select_question(questions: Mapping[str, bool], wanted: str | None, tool: str) -> str | None:
    """The question asked for, or the only one whose answers are labels; None where there is no question at all.

    Examples
    --------
    >>> select_question({"comment": False, "verdict": True}, None, "argilla")
    'verdict'

    """
    if wanted is not None and questions:
        name: str = match_name(wanted, tuple(questions), "question")
        if questions[name]:
            return name
        raise VotesError(f"the answers to {name!r} are no labels; choose another question")
    labelled = [question for question, takes_labels in questions.items() if takes_labels]
    if len(labelled) == 1:
        return labelled[0]
    if not questions:
        return None
    names = ", ".join(sorted(labelled or questions)[:12])
    if not labelled:
        raise VotesError(f"no question takes labels; found {names}")
    choose = f"{tool}:{labelled[0]}"
    message = f"{len(labelled)} questions are asked: {names}; choose one with --from {choose}"
    raise VotesError(message, code="several_questions", known=labelled, tool=choose)


def joined_label(value: Any) -> Any:
    """One label for one or several given at once, whatever their order: "a+b"; None for none.

    Examples
    --------
    >>> joined_label(["urgent", "bug"]), joined_label(["bug"]), joined_label([]), joined_label(4)
    ('bug+urgent', 'bug', None, 4)

    """
    if not isinstance(value, list):
        return value
    return "+".join(sorted(map(str, value))) if value else None


# Langfuse scores (`/api/public/v2/scores`, v3): traces or what is in them are items, whoever scored is a juror.


_NO_VOTES = ("TEXT", "CORRECTION")
_TRUTH = {1: True, 0: False, "True": True, "False": False}


def _langfuse_votes(score: Node) -> Iterator[Feedback]:
    kind = score["dataType"].text()
    if kind in _NO_VOTES:
        return
    if kind not in ("NUMERIC", "CATEGORICAL", "BOOLEAN"):
        raise UnknownKindError(kind)
    about = score["subject"]  # version 3 of the API; before, each kind of subject had a key of its own
    item = (
        named(about, "id") if about.is_record else named(score, "observationId", "traceId", "sessionId", "datasetRunId")
    )
    value, text = score["value"].single(), score["stringValue"].single()
    if kind == "CATEGORICAL" and text is not None:
        value = text
    if kind == "BOOLEAN" and value is not None:
        if value not in _TRUTH:
            raise score["value"].wrong("1 or 0")
        value = _TRUTH[value]
    voice = named(score, "name"), score["authorUserId"].text(), score["source"].text()
    yield Feedback(item, voice, value)


LANGFUSE = FeedbackTool(
    "Langfuse export of scores", "langfuse", "score", (b"dataType", b"source", b"timestamp", b"name"), _langfuse_votes
)


# LangSmith feedback (`client.list_feedback()`, the API's pages): runs are items, whoever gave feedback is a juror.


def _langsmith_votes(feedback: Node) -> Iterator[Feedback]:
    """The value where one is shown to people, else the score; a correction or comment alone is no vote."""
    source = feedback["feedback_source"]
    who = next((text for key in ("user_name", "user_id") if (text := source[key].text())), "")
    value = feedback["value"].single()
    voice = named(feedback, "key"), who, source["type"].text()
    yield Feedback(named(feedback, "run_id", "trace_id"), voice, feedback["score"].single() if value is None else value)


LANGSMITH = FeedbackTool(
    "LangSmith export of feedback", "langsmith", "key", (b"run_id", b"key", b"feedback_source"), _langsmith_votes
)


# Braintrust experiments (rows of `summarize`, the API or BTQL): rows with scores are items, scores are jurors.


def _braintrust_votes(row: Node) -> Iterator[Feedback]:
    for name, value in row["scores"].entries():
        yield Feedback(named(row, "id"), (name, "", ""), value.single())


BRAINTRUST = FeedbackTool(
    "Braintrust export of rows",
    "braintrust",
    "score",
    (b"id", b"scores", b"root_span_id"),
    _braintrust_votes,
    ("events", "data", "rows"),
)


# Opik traces or spans with their feedback scores (the API's pages): each author of a score is a juror.


def _opik_votes(trace: Node) -> Iterator[Feedback]:
    item = named(trace, "id")
    for score in trace["feedback_scores"].records():
        name = named(score, "name")
        authors = score["value_by_author"].entries()  # where several gave one, `value` is their mean
        for author, given in authors or [(score["created_by"].text(), score)]:
            category = given["category_name"].single()
            value = given["value"].single() if category is None else category
            yield Feedback(item, (name, author, given["source"].text(score["source"].text())), value)


OPIK = FeedbackTool("Opik export of traces", "opik", "score", (b"id", b"feedback_scores"), _opik_votes)


# W&B Weave feedback (`client.get_feedback()`): calls are items; annotators and scorers are jurors.


def _weave_votes(feedback: Node) -> Iterator[Feedback]:
    """An annotation, a scorer's output (each value), a reaction, ratings, a type of one's own; notes are none."""
    kind, payload = named(feedback, "feedback_type"), feedback["payload"]
    item = named(feedback, "weave_ref")
    who = next((text for key in ("creator", "wb_user_id") if (text := feedback[key].text())), "")
    if kind.startswith("wandb.annotation."):
        yield Feedback(item, (kind.removeprefix("wandb.annotation."), who, "annotation"), payload["value"].single())
    elif kind.startswith("wandb.runnable."):
        name = kind.removeprefix("wandb.runnable.")
        for part, value in payload["output"].entries() if payload["output"].is_record else [("", payload["output"])]:
            yield Feedback(item, (f"{name}.{part}" if part else name, "", "scorer"), value.single())
    elif kind.startswith("wandb.reaction."):
        yield Feedback(item, ("reaction", who, "reaction"), payload["emoji"].single())
    elif kind.startswith("wandb.agent_"):  # tags beside the ratings are no votes: nobody says which were not given
        for name, value in feedback["scorer_ratings"].entries():
            yield Feedback(item, (name, who, "agent"), value.single())
    elif not kind.startswith("wandb.") and "value" in payload:  # `call.feedback.add("correct", {"value": 1})`
        yield Feedback(item, (kind, who, "own"), payload["value"].single())
    elif not kind.startswith("wandb.note."):
        raise UnknownKindError(kind)


WEAVE = FeedbackTool(
    "Weave export of feedback", "weave", "feedback", (b"feedback_type", b"weave_ref", b"payload"), _weave_votes
)
