"""Several Inspect AI logs as one table of votes: which samples are one item, which scorers are one juror."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from jurors.errors import VotesError
from jurors.votes.readers import Records
from jurors.votes.readers.log_texts import LogTexts
from jurors.votes.readers.node import Node


@dataclass(frozen=True)
class Column:
    """One juror within one log, before it has its name."""

    name: str  #: of the scorer, or of the model in a panel
    grader: str  #: the model that the scorer asked, where the log tells; the scorer, for a model in a panel
    key: str  #: under which the sample holds the score: "model_graded_qa1" for the second of one name
    panel: bool = False


@dataclass
class Log:
    """What one log holds, reduced to what a jury needs."""

    file: str
    task: str
    data: str  #: the data set's place or name
    model: str  #: whose answers were scored
    scorers: Sequence[Node]
    roles: Mapping[str, Node]  #: "grader" and the like -> the model or models bound to it
    samples: list[tuple[Any, int]] = field(default_factory=list)  #: id and epoch
    inputs: list[int] = field(default_factory=list)  #: what was asked, hashed
    votes: list[dict[Column, Any]] = field(default_factory=list)
    texts: list[Mapping[str, Any]] = field(default_factory=list)  #: the question, the answer, the target

    @property
    def columns(self) -> list[Column]:
        """The log's jurors, as they appear; a panel's own score is none, where its members are."""
        columns = dict.fromkeys(column for votes in self.votes for column in votes)
        panels = {column.key for column in columns if column.panel}
        return [column for column in columns if column.panel or column.key not in panels]


def joined(logs: Sequence[Log]) -> Records:
    """Item, juror and vote, one position each; a juror of a log votes on all its samples, or None."""
    _refuse_other_questions(logs)
    items = _item_names(logs)
    jurors = _juror_names(logs, items)
    _refuse_strangers(logs, items, jurors)
    item: list[Any] = []
    juror: list[str] = []
    label: list[Any] = []
    texts = LogTexts()
    for log, names, own in zip(logs, items, jurors, strict=True):
        for name, votes, shown in zip(names, log.votes, log.texts, strict=True):
            texts.add(name, shown)
            item += [name] * len(own)
            juror += own.values()
            label += [votes.get(column) for column in own]
    return Records(item, juror, label, texts.by_item)


def _refuse_other_questions(logs: Sequence[Log]) -> None:
    """One id that stands for two questions means two data sets, unless a data set of one name words them anew."""
    asked: dict[Any, tuple[int, Log]] = {}
    for log in logs:
        for (name, _), question in zip(log.samples, log.inputs, strict=True):
            before, other = asked.setdefault(name, (question, log))
            if before != question and (other.data != log.data or not log.data):
                raise VotesError(
                    f"sample {name!r} asks one thing in {other.file} and another in {log.file}: these logs are of "
                    "different data sets; read them one by one"
                )


def _item_names(logs: Sequence[Log]) -> list[list[Any]]:
    """Samples' ids, with the epoch where there are several and the model that answered where several were judged.

    Where one and the same juror scored every log, the models are what differs, and they become the jurors instead.
    """
    epochs = any(epoch != 1 for log in logs for _, epoch in log.samples)
    judges = {(column.name, column.grader, column.key) for log in logs for column in log.columns}
    judged = len({log.model for log in logs}) > 1 and len(judges) > 1
    names = []
    for log in logs:
        own = [f"{name}_epoch_{epoch}" if epochs else name for name, epoch in log.samples]
        names.append([f"{log.model}:{name}" for name in own] if judged else own)
    return names


def _juror_names(logs: Sequence[Log], items: Sequence[Sequence[Any]]) -> list[dict[Column, str]]:
    """For each log, each column's name."""
    names: list[dict[Column, str]] = [{} for _ in logs]
    places: dict[str, list[tuple[int, Column]]] = {}
    for k, log in enumerate(logs):
        for column in log.columns:
            places.setdefault(column.name, []).append((k, column))
    for name, same in places.items():
        for (k, column), told in zip(same, _told_apart(name, same, logs, items), strict=True):
            names[k][column] = told
    return names


def _told_apart(
    name: str, same: Sequence[tuple[int, Column]], logs: Sequence[Log], items: Sequence[Sequence[Any]]
) -> list[str]:
    """One name for each of the columns that have this one, different where they judged the same item."""
    details = (
        [column.grader for _, column in same],
        [column.key for _, column in same],
        [logs[k].model for k, _ in same],
        [logs[k].task for k, _ in same],
        [logs[k].file for k, _ in same],
    )
    names = [name] * len(same)
    for detail in details:
        grader_differs = detail is details[0] and len(set(detail)) > 1
        if not grader_differs and not _clash(names, same, items):
            return names
        if len(set(detail)) > 1:
            names = [":".join(filter(None, (old, more))) for old, more in zip(names, detail, strict=True)]
    return names


def _clash(names: Sequence[str], same: Sequence[tuple[int, Column]], items: Sequence[Sequence[Any]]) -> bool:
    """Whether one name would vote twice on some item."""
    voted = [(name, item) for name, (k, _) in zip(names, same, strict=True) for item in items[k]]
    return len(set(voted)) < len(voted)


def _refuse_strangers(
    logs: Sequence[Log], items: Sequence[Sequence[Any]], jurors: Sequence[Mapping[Column, str]]
) -> None:
    """A log that shares neither a sample nor a juror with the others has nothing to say about them."""
    times = Counter(item for names in items for item in set(names))
    voices = Counter(name for own in jurors for name in set(own.values()))
    for log, names, own in zip(logs, items, jurors, strict=True):
        alone = all(times[name] == 1 for name in names) and all(voices[name] == 1 for name in own.values())
        if alone and len(logs) > 1:
            raise VotesError(
                f"{log.file} shares no sample with the other logs (its first is {names[0]!r}): it is of another data "
                "set, or scores another model; read it by itself"
            )
