"""Inspect AI logs: scorers are jurors, samples are items, a score's value is the vote.

The models of a graded panel (`metadata.panel.votes` of a score) are jurors each; their majority is none beside them.
Several logs are joined on sample id and epoch; where they scored the same samples under one name, the juror's name
gains what tells them apart: the grading model, the model that was scored, the task, the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from jurors.errors import VotesError
from jurors.votes.readers import Records
from jurors.votes.readers.archive import Archive
from jurors.votes.readers.joined_logs import Column, Log, joined
from jurors.votes.readers.log_files import Files

TITLE = "Inspect AI log"
_VERSION = 2  # of the log format
_JSON_START = re.compile(rb'\{\s*"version":\s*[^\s,{\[]+,.*?"eval":\s*\{', re.DOTALL)
_SAMPLE = re.compile(r"samples/.+_epoch_\d+(/sample)?\.json")  # the second form: samples cut into chunks
_LETTERS = {1: "C", 0: "I", 0.5: "P"}  # as Inspect AI itself reads them
_GRADED = ("model_graded_qa", "model_graded_fact")


def recognises(files: Files) -> bool:
    """Whether one of the first files is an .eval archive or starts as a JSON log does."""
    return any(_is_log(files, path) for path in files.paths[:20])


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
    header, samples = _from_archive(path, where) if packed else _from_json(files, path)
    spec = header.get("eval")
    if not isinstance(spec, dict):
        raise VotesError(f"{where}this is no {TITLE}: it lacks 'eval'")
    _check_version(header, where)
    log = Log(
        file=str(path.relative_to(files.root).with_suffix("")) if path.is_relative_to(files.root) else path.stem,
        task=str(spec.get("task") or ""),
        data=_data_name(spec.get("dataset")),
        model=str(spec.get("model") or ""),
        scorers=_dicts(spec.get("scorers")),
        roles=roles if isinstance(roles := spec.get("model_roles"), dict) else {},
    )
    for sample in samples:
        name, epoch = (sample.get("id"), sample.get("epoch", 1)) if isinstance(sample, dict) else (None, None)
        if not isinstance(name, (str, int)) or not isinstance(epoch, int):
            raise VotesError(
                f"{where}a sample has id {str(name)[:30]!r} and epoch {str(epoch)[:30]!r}; expected text or a whole "
                "number, and a whole number"
            )
        log.samples.append((name, epoch))
        log.inputs.append(hash(_question(sample.get("input"))))
        log.texts.append(_texts(sample))
        log.votes.append(_votes(log, sample, f"{where}sample {name!r}"))
    if not log.samples:
        raise VotesError(
            f"{where}this {TITLE} holds no samples: the run was stopped early, or told not to log them; leave it out"
        )
    return log


def _data_name(data: Any) -> str:
    return str(data.get("location") or data.get("name") or "") if isinstance(data, dict) else ""


def _question(asked: Any) -> str:
    """The text of a sample's input; messages also carry ids that differ from run to run."""
    if isinstance(asked, list):
        return "\n".join(_question(part) for part in asked)
    if isinstance(asked, dict):
        return _question(asked.get("content", asked.get("text")))
    return str(asked)


def _texts(sample: Mapping[str, Any]) -> dict[str, Any]:
    """What the scorers were shown."""
    output = sample.get("output")
    answers = _dicts(output.get("choices")) if isinstance(output, dict) else []
    answer = answers[0].get("message") if answers else None
    said = answer.get("content") if isinstance(answer, dict) else None
    return {"question": sample.get("input"), "answer": said, "target": sample.get("target")}


def _from_json(files: Files, path: Path) -> tuple[dict[str, Any], Sequence[Any]]:
    document = files.document(path)
    if not isinstance(document, dict):
        raise VotesError(f"{files.name(path)}this is no {TITLE}: it is not one JSON object")
    samples = document.get("samples") or []
    if not isinstance(samples, list):
        raise VotesError(f"{files.name(path)}'samples' is no list")
    return document, samples


def _from_archive(path: Path, where: str) -> tuple[dict[str, Any], Iterator[Any]]:
    archive = Archive(path, where)
    start = next((name for name in ("header.json", "_journal/start.json") if name in archive.names), None)
    if start is None:
        raise VotesError(f"{where}this is no {TITLE}: the archive lacks header.json; fetch it again or make it anew")
    header = archive.document(start)
    if not isinstance(header, dict):
        raise VotesError(f"{where}{start} in the archive is not one JSON object")
    return header, (archive.document(name) for name in archive.names if _SAMPLE.fullmatch(name))


def _check_version(header: Mapping[str, Any], where: str) -> None:
    version = header.get("version")
    if type(version) is not int or not 1 <= version <= _VERSION:
        raise VotesError(
            f"{where}this {TITLE} has the format version {version!r:.30}; known are 1 to {_VERSION}: update jurors "
            "(pip install -U jurors), or write the log again"
        )


def _votes(log: Log, sample: Mapping[str, Any], where: str) -> dict[Column, Any]:
    """What each juror of the log said of a sample; nothing where it failed before scoring or was declared invalid."""
    scores = sample.get("scores") or ({"score": sample["score"]} if sample.get("score") else {})
    if not isinstance(scores, dict):
        raise VotesError(f"{where}: 'scores' is {str(scores)[:30]!r}, not an object with one entry per scorer")
    votes: dict[Column, Any] = {}
    for key, score in scores.items():
        if not isinstance(score, dict) or "value" not in score:
            raise VotesError(f"{where}: the score {key!r} has no 'value'")
        name, graders = _scorer(log, scores, key)
        panel = (score.get("metadata") or {}).get("panel")
        if isinstance(panel, dict) and isinstance(panel.get("votes"), list):
            votes |= _panel_votes(name, key, graders, panel["votes"], where)
        else:
            column = Column(name, graders[0] if len(graders) == 1 else "", key)
            votes |= _spread(column, score["value"], where)
    return dict.fromkeys(votes) if sample.get("invalidation") else votes


def _panel_votes(scorer: str, key: str, graders: Sequence[str], votes: Sequence[Any], where: str) -> dict[Column, Any]:
    """A panel's votes in the order in which it was declared; a member is named by its model where the log tells."""
    if graders and len(graders) != len(votes):
        raise VotesError(
            f"{where}: the panel {key!r} has {len(graders)} models but {len(votes)} votes, so nobody can tell whose "
            "they are; score it again with a scorer that never returns None"
        )
    names = graders or [f"{scorer}#{k}" for k in range(1, len(votes) + 1)]
    twice = {name for name in names if list(names).count(name) > 1}
    by_column: dict[Column, Any] = {}
    for k, (name, vote) in enumerate(zip(names, votes, strict=True), 1):
        column = Column(f"{name}#{k}" if name in twice else name, scorer, key, panel=True)
        by_column |= _spread(column, vote, where)
    return by_column


def _spread(column: Column, value: Any, where: str) -> dict[Column, Any]:
    """A value as the vote of one juror, or of one per key where the scorer returned several under names."""
    if isinstance(value, list):
        raise VotesError(
            f"{where}: the value of {column.key!r} is a list ({str(value)[:30]}); a vote is one value, or several "
            "under names; score it again with a scorer that returns a dict"
        )
    if not isinstance(value, dict):
        return {column: None if value != value else value}  # a bare NaN: not scored
    parts = {replace(column, name=f"{column.name}.{name}"): part for name, part in value.items()}
    return {key: vote for part in parts for key, vote in _spread(part, parts[part], where).items()}


def _scorer(log: Log, scores: Mapping[str, Any], key: str) -> tuple[str, list[str]]:
    """A scorer's own name, and the models it asks: "model_graded_qa1" is the second scorer of that name."""
    named = [spec for spec in log.scorers if str(spec.get("name", "")).rpartition("/")[2] == key]
    base = key
    if not named and (match := re.fullmatch(r"(.+?)(\d+)", key)) and match[1] in scores:
        base, place = match[1], int(match[2])
        named = [spec for spec in log.scorers if str(spec.get("name", "")).rpartition("/")[2] == base][place:]
    if not named:
        return base, []
    options = named[0].get("options") or {}
    asked = options.get("model")
    if asked is None and base in _GRADED:
        role = options.get("model_role", "grader")
        asked = log.roles.get(str(role.get("name") if isinstance(role, dict) else role))
    several = asked if isinstance(asked, list) else [] if asked is None else [asked]
    return base, [str(model.get("model", "")) if isinstance(model, dict) else str(model) for model in several]


def _dicts(values: Any) -> list[Mapping[str, Any]]:
    return [value for value in values if isinstance(value, dict)] if isinstance(values, list) else []


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
