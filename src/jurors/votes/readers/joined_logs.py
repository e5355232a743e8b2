"""Several Inspect AI logs as one table of votes: which samples are one item, which scorers are one juror."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from jurors.errors import VotesError
from jurors.votes.findings.finding import Finding, listed
from jurors.votes.readers import Records
from jurors.votes.readers.log_fields import LogFields
from jurors.votes.readers.log_texts import LogTexts
from jurors.votes.readers.node import Node

Item: TypeAlias = tuple[Any, int]  # its name, and which time the juror was asked; 0 where that is all the same


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
    unclear: int = 0  #: how many samples have votes of a panel that nobody can tell apart
    texts: list[Mapping[str, Any]] = field(default_factory=list)  #: the question, the answer, the target
    told: list[Mapping[str, Any]] = field(default_factory=list)  #: the target, the sample's metadata
    run: str = ""  #: which run it is of: the same where a log was scored again into another file
    reasons: list[Mapping[str, int]] = field(default_factory=list)  #: what each score says beside its value, hashed
    scored: str = ""  #: when its last score was given

    @property
    def columns(self) -> list[Column]:
        """The log's jurors, as they appear; a panel's own score is none, where its members are."""
        columns = dict.fromkeys(column for votes in self.votes for column in votes)
        panels = {column.key for column in columns if column.panel}
        return [column for column in columns if column.panel or column.key not in panels]


def joined(logs: Sequence[Log]) -> Records:
    """Item, juror and vote, one position each; a juror of a log votes on all its samples, or None."""
    logs, findings = _each_score_once(logs)
    _refuse_other_questions(logs)
    items = _item_names(logs)
    jurors = _juror_names(logs, items)
    _refuse_strangers(logs, items, jurors)
    item: list[Any] = []
    juror: list[str] = []
    label: list[Any] = []
    repetition: list[int] = []
    texts, fields = LogTexts(), LogFields()
    for log, names, own in zip(logs, items, jurors, strict=True):
        for (name, again), votes, shown, told in zip(names, log.votes, log.texts, log.told, strict=True):
            texts.add(name, shown)
            fields.add(name, {**told, "model": log.model, "task": log.task})
            item += [name] * len(own)
            juror += own.values()
            label += [votes.get(column) for column in own]
            repetition += [again] * len(own)
    times = repetition if any(repetition) else ()
    return Records(item, juror, label, texts.by_item, repetition=times, fields=fields.by_name, findings=findings)


def _each_score_once(logs: Sequence[Log]) -> tuple[list[Log], tuple[Finding, ...]]:
    """The logs without the scores that another one of the same run took over.

    `inspect score` writes a second log beside the first, unless it is told to overwrite it, and with `--action append`
    that holds all scores that were there before. A score of one name that is not the same in both was given anew, by
    the same grader or by another: the log does not tell, and both stay.
    """
    kept, runs = list(logs), dict[str, _Rescored]()
    for k, old in enumerate(logs):
        for new in (log for log in logs if log.run and log.run == old.run and _came_after(log, old)):
            both = {column for column in old.columns if column in set(new.columns)}
            copies = {column for column in both if _votes_of(old, column) == _votes_of(new, column)}
            kept[k] = _without(kept[k], copies)
            told = runs.setdefault(old.run, _Rescored(sorted((one for one in logs if one.run == old.run), key=_age)))
            told.copies |= {(k, column) for column in copies}
            told.again |= {column.name for column in both - copies}
    findings = tuple(finding for told in runs.values() for finding in told.findings())
    return [log for log, before in zip(kept, logs, strict=True) if log.columns or not before.columns], findings


@dataclass
class _Rescored:
    """The logs of one run, and what stands in more than one of them."""

    logs: Sequence[Log]  #: the oldest first
    copies: set[tuple[int, Column]] = field(default_factory=set)  #: the same votes
    again: set[str] = field(default_factory=set)  #: jurors with other votes

    def findings(self) -> Iterator[Finding]:
        """A note on copies, a warning on what differs."""
        about = f"{listed([log.file for log in self.logs])} are one run, scored again"
        if self.copies:
            number = len({column for _, column in self.copies})
            message = f"{about}: the same votes of {number:,} jurors stand in more than one, and count once"
            yield Finding("scored_again", message, value=float(number))
        if self.again:
            newest = self.logs[-1].file
            message = (
                f"{about}, with other votes of {listed(sorted(self.again))}: those of each log count as a juror of its "
                f"own; where the same grader judged anew, keep the newest log alone, {newest!r}"
            )
            yield Finding("scored_again", message, tuple(sorted(self.again)), "warning", float(len(self.again)))


def _age(log: Log) -> tuple[str, int, str]:
    """By what logs of one run are told to be older or newer."""
    return log.scored, len(log.columns), log.file


def _came_after(log: Log, other: Log) -> bool:
    """Whether a log of the same run has all samples of the other, and was written later as far as can be told."""
    return _age(other) < _age(log) and set(other.samples) <= set(log.samples)


def _votes_of(log: Log, column: Column) -> dict[Any, Any]:
    """What a juror said of each sample, and how it was reasoned."""
    rows = zip(log.samples, log.votes, log.reasons, strict=True)
    return {sample: (votes.get(column), reasons.get(column.key)) for sample, votes, reasons in rows}


def _without(log: Log, columns: Container[Column]) -> Log:
    votes = [{column: vote for column, vote in one.items() if column not in columns} for one in log.votes]
    return replace(log, votes=votes)


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


def _item_names(logs: Sequence[Log]) -> list[list[Item]]:
    """Samples' ids, with the epoch where there are several and the model that answered where several were judged.

    In every epoch a model answers anew, and its answer is what scorers judge: another item. Where one and the same
    juror scored every log, the models are what differs, and they become the jurors instead; an epoch then is one more
    vote of the model on the sample, a repetition.
    """
    epochs = any(epoch != 1 for log in logs for _, epoch in log.samples)
    judges = {(column.name, column.grader, column.key) for log in logs for column in log.columns}
    models = len({log.model for log in logs}) > 1
    if models and len(judges) == 1:
        return [[(name, epoch if epochs else 0) for name, epoch in log.samples] for log in logs]
    names = []
    for log in logs:
        own = [f"{name}_epoch_{epoch}" if epochs else name for name, epoch in log.samples]
        names.append([(f"{log.model}:{name}" if models else name, 0) for name in own])
    return names


def _juror_names(logs: Sequence[Log], items: Sequence[Sequence[Item]]) -> list[dict[Column, str]]:
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
    name: str, same: Sequence[tuple[int, Column]], logs: Sequence[Log], items: Sequence[Sequence[Item]]
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


def _clash(names: Sequence[str], same: Sequence[tuple[int, Column]], items: Sequence[Sequence[Item]]) -> bool:
    """Whether one name would vote twice on some item."""
    voted = [(name, item) for name, (k, _) in zip(names, same, strict=True) for item in items[k]]
    return len(set(voted)) < len(voted)


def _refuse_strangers(
    logs: Sequence[Log], items: Sequence[Sequence[Item]], jurors: Sequence[Mapping[Column, str]]
) -> None:
    """A log that shares neither a sample nor a juror with the others has nothing to say about them."""
    times = Counter(item for names in items for item in set(names))
    voices = Counter(name for own in jurors for name in set(own.values()))
    for log, names, own in zip(logs, items, jurors, strict=True):
        alone = all(times[name] == 1 for name in names) and all(voices[name] == 1 for name in own.values())
        if alone and len(logs) > 1:
            raise VotesError(
                f"{log.file} shares no sample with the other logs (its first is {names[0][0]!r}): it is of another "
                "data set, or scores another model; read it by itself"
            )
