"""Inspect AI logs: scorers are jurors, samples are items, a score's value is the vote.

The members of a panel are jurors each: the models of a grader that asks several, the scorers of `multi_scorer`. Their
votes are a score's `metadata.panel.votes` or, collected, its value; what was made of them is no juror beside them, nor
is what our own scorer (`hosts/inspect_jury.py`) made of all of them.
Several logs are joined on sample id and epoch; where they scored the same samples under one name, the juror's name
gains what tells them apart: the grading model, the model that was scored, the task, the file. In another epoch the
model answered anew, which is another item to a scorer; but where the models are the jurors, it is one juror again.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from jurors.errors import VotesError
from jurors.votes.findings.finding import Finding
from jurors.votes.readers import Records
from jurors.votes.readers.archive import Archive
from jurors.votes.readers.joined_logs import Column, Log, joined
from jurors.votes.readers.log_files import Files
from jurors.votes.readers.node import Node, shown

TITLE = "Inspect AI log"
_VERSION = 2  # of the log format
_JSON_START = re.compile(rb'\{\s*"version":\s*[^\s,{\[]+,.*?"eval":\s*\{', re.DOTALL)
_SAMPLE = re.compile(r"samples/.+_epoch_\d+(/sample)?\.json")  # the second form: samples cut into chunks
_LETTERS = {1: "C", 0: "I", 0.5: "P"}  # as Inspect AI itself reads them
_GRADED = ("model_graded_qa", "model_graded_fact")
OWN_LABEL = "jury_label"  #: our scorer, whose label is what the others' votes were worth together
#: reducers that write a panel's votes beside its score; "" is the default
_KEEPS_VOTES = ("", "majority", "panel", "jury")


def recognises(files: Files) -> bool:
    """Whether one of the first files is an .eval archive or starts as a JSON log does."""
    return any(_is_log(files, path) for path in files.first)


def _is_log(files: Files, path: Path) -> bool:
    head = files.head(path).lstrip()
    if head.startswith(b"PK\x03\x04"):
        return path.suffix == ".eval" or head[30:].startswith((b"_journal/", b"header.json", b"samples/"))
    return path.suffix == ".eval" or (_JSON_START.match(head) is not None and b'"status"' in head and b'"task"' in head)


def read(files: Files) -> Records:
    """One item per sample (and epoch, where there are several), one juror per scorer or member of a panel."""
    objects = [path for path in files.paths if files.head(path).lstrip().startswith(b"{")]
    paths = files.own(lambda path: _is_log(files, path), TITLE) or objects
    if not paths:
        raise VotesError(f"this is no {TITLE}: neither an .eval archive nor JSON with 'version', 'status' and 'eval'")
    logs = [_log(files, path) for path in paths]
    votes = joined(logs)
    return replace(votes, label=_one_alphabet(votes.juror, votes.label))


def _log(files: Files, path: Path) -> Log:
    where = files.name(path)
    packed = files.head(path).startswith(b"PK\x03\x04")
    header, samples = _from_archive(files, path) if packed else _from_json(files, path)
    spec = header["eval"]
    if not spec.is_record:
        raise VotesError(f"{where}this is no {TITLE}: it lacks 'eval'")
    _check_version(files, path, header["version"])
    data = spec["dataset"]
    log = Log(
        file=str(path.relative_to(files.root).with_suffix("")) if path.is_relative_to(files.root) else path.stem,
        task=spec["task"].text(),
        data=data["location"].text(data["name"].text()),
        model=spec["model"].text(),
        scorers=list(spec["scorers"].records()),
        roles=dict(spec["model_roles"].entries()),
        run=spec["eval_id"].text(),
    )
    for sample in samples:
        name, epoch = sample["id"].single(), sample["epoch"].whole(1)
        if not isinstance(name, (str, int)):
            raise sample["id"].wrong("text or a whole number")
        log.samples.append((name, epoch))
        log.inputs.append(hash(_question(sample["input"].value)))
        log.texts.append(_texts(sample))
        log.told.append({"target": sample["target"].value, "epoch": epoch, "metadata": sample["metadata"].value})
        log.votes.append(_votes(log, replace(sample, where=f"{where}sample {name!r}: ", path="")))
        log.reasons.append(_reasons(sample))
        log.scored = max([log.scored, *_scored_at(sample)])
    if log.unclear:
        message = (
            f"{where}in {log.unclear:,} of {len(log.samples):,} samples somebody of a panel gave no vote, and "
            "`collect` does not tell who: no vote of it counts there"
        )
        files.findings.append(Finding("unclear_votes", message, level="warning", value=float(log.unclear)))
    if not log.samples:
        raise VotesError(
            f"{where}this {TITLE} holds no samples: the run was stopped early, or told not to log them; leave it out"
        )
    return log


def _question(asked: Any) -> str:
    """The text of a sample's input; messages also carry ids that differ from run to run."""
    if isinstance(asked, list):
        return "\n".join(_question(part) for part in asked)
    if isinstance(asked, dict):
        return _question(asked.get("content", asked.get("text")))
    return str(asked)


def _texts(sample: Node) -> dict[str, Any]:
    """What the scorers were shown."""
    answers = sample["output"]["choices"].parts()
    said = answers[0]["message"]["content"].value if answers else None
    return {"question": sample["input"].value, "answer": said, "target": sample["target"].value}


def _reasons(sample: Node) -> dict[str, int]:
    """What each score says beside its value."""
    return {
        key: hash(repr((score["answer"].value, score["explanation"].value)))
        for key, score in sample["scores"].entries()
    }


def _scored_at(sample: Node) -> Iterator[str]:
    """When the sample was scored, each time."""
    for event in sample["events"].value if sample["events"].is_list else ():
        if isinstance(event, dict) and event.get("event") == "score":
            yield str(event.get("timestamp", ""))


def _from_json(files: Files, path: Path) -> tuple[Node, Iterable[Node]]:
    document = files.document(path)
    if not document.is_record:
        raise VotesError(f"{files.name(path)}this is no {TITLE}: it is not one JSON object")
    return document, document["samples"].records()


def _from_archive(files: Files, path: Path) -> tuple[Node, Iterable[Node]]:
    where = files.name(path)
    archive = Archive(path, where, files.allowed)
    start = next((name for name in ("header.json", "_journal/start.json") if name in archive.names), None)
    if start is None:
        raise VotesError(f"{where}this is no {TITLE}: the archive lacks header.json; fetch it again or make it anew")
    return archive.document(start), (archive.document(name) for name in archive.names if _SAMPLE.fullmatch(name))


def _check_version(files: Files, path: Path, version: Node) -> None:
    if type(version.value) is not int or version.value < 1:
        raise VotesError(
            f"{files.name(path)}this {TITLE} has the format version {shown(version.value)}; known are 1 to {_VERSION}; "
            "write the log again"
        )
    if version.value > _VERSION:
        files.newer(path, TITLE, version.value, _VERSION)


def _votes(log: Log, sample: Node) -> dict[Column, Any]:
    """What each juror of the log said of a sample; nothing where it failed before scoring or was declared invalid."""
    scores = dict(sample["scores"].entries()) or ({"score": sample["score"]} if sample["score"].value else {})
    votes: dict[Column, Any] = {}
    for key, score in scores.items():
        if "value" not in score:
            raise score["value"].wrong("the score's value")
        scorer = _scorer(log, scores, key)
        if scorer.name == OWN_LABEL:
            continue
        panel = score["metadata"]["panel"]
        if scorer.reducer == "collect" and len(scorer.members) > 1:
            votes |= _collected(log, scorer, score["value"])
        elif panel.is_record and panel["votes"].is_list and scorer.reducer in _KEEPS_VOTES:
            votes |= _panel_votes(scorer, panel["votes"])
        else:
            column = Column(scorer.name, scorer.members[0][0] if len(scorer.members) == 1 else "", key)
            votes |= _spread(column, score["value"])
    return dict.fromkeys(votes) if sample["invalidation"].value else votes


def _panel_votes(scorer: _Scorer, panel: Node) -> dict[Column, Any]:
    """A panel's votes in the order in which it was declared; a member is named by its model where the log tells."""
    votes = panel.parts()
    if scorer.members and len(scorer.members) != len(votes):
        raise VotesError(
            f"{panel.where}the panel {scorer.key!r} has {len(scorer.members)} members but {len(votes)} votes, so "
            "nobody can tell whose they are; score it again with a scorer that never returns None"
        )
    columns = scorer.columns(len(votes))
    return {
        key: vote for column, part in zip(columns, votes, strict=True) for key, vote in _spread(column, part).items()
    }


def _collected(log: Log, scorer: _Scorer, value: Node) -> dict[Column, Any]:
    """A panel's votes as a list, in which who gave none is passed over: where somebody did, no vote has an owner."""
    votes = value.parts() if value.is_list else []
    if not value.is_list and value.single() is not None:
        raise value.wrong("the collected votes of a panel, a list")
    columns = scorer.columns(len(scorer.members))
    if len(votes) == len(columns):
        return {column: vote.single() for column, vote in zip(columns, votes, strict=True)}
    log.unclear += bool(votes)
    return dict.fromkeys(columns)


def _spread(column: Column, value: Node) -> dict[Column, Any]:
    """A value as the vote of one juror, or of one per key where the scorer returned several under names."""
    if value.is_list:
        raise value.wrong("one value, or several under names", "score it again with a scorer that returns a dict")
    if not value.is_record:
        return {column: value.single()}
    parts = {replace(column, name=f"{column.name}.{name}"): part for name, part in value.entries()}
    return {key: vote for part in parts for key, vote in _spread(part, parts[part]).items()}


@dataclass(frozen=True)
class _Scorer:
    """A scorer by its own name, and whom it asks."""

    name: str
    key: str  #: under which the sample holds the score
    members: Sequence[tuple[str, str]] = ()  #: a panel's: the model and this scorer, or a scorer and its model
    reducer: str = ""

    def columns(self, votes: int) -> list[Column]:
        """The panel's jurors; those of one name are numbered, and so are all where the log names none."""
        members = self.members or [(f"{self.name}#{k}", self.name) for k in range(1, votes + 1)]
        twice = {member for member, times in Counter(members).items() if times > 1}
        return [
            Column(f"{name}#{k}" if (name, more) in twice else name, more, self.key, panel=True)
            for k, (name, more) in enumerate(members, 1)
        ]


def _scorer(log: Log, scores: Mapping[str, Node], key: str) -> _Scorer:
    """The scorer behind a score: "model_graded_qa1" is the second scorer of that name."""
    named = [spec for spec in log.scorers if _unqualified(spec["name"]) == key]
    base = key
    if not named and (match := re.fullmatch(r"(.+?)(\d{1,4})", key)) and match[1] in scores:
        base, place = match[1], int(match[2])
        named = [spec for spec in log.scorers if _unqualified(spec["name"]) == base][place:]
    if not named:
        return _Scorer(base, key)
    options = named[0]["options"]
    members = [(model, base) for model in _models(log, base, options)]
    if options["scorers"].is_list:
        members = [(name, _only(_models(log, name, part["params"]))) for name, part in _parts(options["scorers"])]
    reducer = options["reducer"]["name"] if options["reducer"].is_record else options["reducer"]
    return _Scorer(base, key, members, _unqualified(reducer))


def _models(log: Log, scorer: str, options: Node) -> list[str]:
    """The models that a scorer asks, by its options or the role it names."""
    asked = options["model"]
    if asked.is_null and scorer in _GRADED:
        role = options["model_role"]
        name = role["name"].text() if role.is_record else role.text("grader")
        asked = log.roles.get(name, asked)
    several = asked.parts() if asked.is_list else [] if asked.is_null else [asked]
    return [(model["model"] if model.is_record else model).text() for model in several]


def _parts(scorers: Node) -> list[tuple[str, Node]]:
    """The scorers that one runs, by their names."""
    return [(_unqualified(part["name"]) or "scorer", part) for part in scorers.records()]


def _only(models: Sequence[str]) -> str:
    """The one model that was asked; "" where there are several or none."""
    return models[0] if len(models) == 1 else ""


def _unqualified(name: Node) -> str:
    """A name without the package it comes from."""
    return name.text().rpartition("/")[2]


def _one_alphabet(juror: Sequence[str], label: Sequence[Any]) -> Sequence[Any]:
    """Where some scorers say C, I or P and others 1, 0 or 0.5, all in letters; Inspect AI holds them for the same."""
    said: dict[str, set[Any]] = {}
    for name, vote in zip(juror, label, strict=True):
        if vote is not None:
            said.setdefault(name, set()).add(vote)
    numbers = {name for name, votes in said.items() if votes <= set(_LETTERS)}
    letters = {name for name, votes in said.items() if votes <= {"C", "I", "P", "N"}}
    if not numbers or not letters or len(numbers) + len(letters) < len(said):
        return label
    return [
        _LETTERS[vote] if name in numbers and vote is not None else vote
        for name, vote in zip(juror, label, strict=True)
    ]
