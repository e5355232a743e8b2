"""Inspect AI logs: scorers are jurors, samples are items, a score's value is the vote.

The members of a panel are jurors each: the models of a grader that asks several, the scorers of `multi_scorer`. Their
votes are a score's `metadata.panel.votes` or, collected, its value; what was made of them is no juror beside them,
nor is what our own scorer (`integrations/inspect_ai.py`) made of all of them.

Several logs are joined on sample id and epoch; where they scored the same samples under one name, the juror's name
gains what distinguishes them: the grading model, the model that was scored, the task, the file. In another epoch the
model answered anew, which is another item to a scorer; but where the models are the jurors, it is a repetition. Where
the same scorers judged other answers of the same model, as to a new prompt, each log is a system of its own.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import Any, TypeAlias

from jurors.errors import VotesError
from jurors.votes.codes import Finding, list_names
from jurors.votes.readers.base import Archive, Files, Node, Records, RecordsBuilder, recogniser, shorten_value

# -- several logs as one table of votes -----------------------------------------------------------------------

Item: TypeAlias = tuple[Any, int]  #: its name, and the number of the repetition; 0 where there are none


@dataclass(frozen=True)
class LogJuror:
    """One juror within one log, before jurors of several logs are named."""

    name: str  #: of the scorer, or of the model in a panel
    grader: str  #: the model that the scorer uses, where the log has it; the scorer, for a model in a panel
    key: str  #: under which the sample has the score: "model_graded_qa1" for the second of one name
    panel: bool = False


@dataclass(frozen=True)
class LogSample:
    """What a jury needs of one sample."""

    id: tuple[Any, int]  #: its name and its epoch
    question: int  #: hash of its input
    votes: Mapping[LogJuror, Any]
    reasons: Mapping[str, int]  #: hashes of each score's answer and explanation
    texts: Mapping[str, Any]  #: the question, the answer, the target
    fields: Mapping[str, Any]  #: the target, the sample's metadata


@dataclass
class InspectLog:
    """The content of one log that a jury needs."""

    file: str
    task: str
    data: str  #: the data set's location or name
    model: str  #: whose answers were scored
    scorers: Sequence[Node]
    roles: Mapping[str, Node]  #: "grader" and the like -> the model or models bound to it
    run: str  #: the run's id: the same where a log was scored again into another file
    arguments: frozenset[str]  #: of the task and the solver, such as "prompt=new"
    samples: list[LogSample] = field(default_factory=list)
    unclear: int = 0  #: how many samples have votes of a panel that cannot be attributed to its members
    scored: str = ""  #: when its last score was given

    @property
    def columns(self) -> list[LogJuror]:
        """The log's jurors, as they appear; a panel's own score is none, where its members are."""
        columns = dict.fromkeys(column for sample in self.samples for column in sample.votes)
        panels = {column.key for column in columns if column.panel}
        return [column for column in columns if column.panel or column.key not in panels]


def join_logs(logs: Sequence[InspectLog]) -> Records:
    """Join several logs into one table of votes.

    Returns
    -------
    Records
        One row per sample and juror of its log, None where the juror gave no vote.
    """
    logs, findings = _without_copies(logs)
    questions: dict[Any, tuple[int, InspectLog]] = {}
    for log in logs:
        for sample in log.samples:
            name, before = sample.id[0], questions.setdefault(sample.id[0], (sample.question, log))
            is_other_data = before[1].data != log.data or not log.data  # a data set may word its questions anew
            if before[0] != sample.question and is_other_data:
                raise VotesError(
                    f"sample {name!r} has different questions in {before[1].file} and {log.file}: these logs are of "
                    "different data sets; read them one by one"
                )
    systems = _systems(logs)
    items = _item_names(logs, systems)
    jurors = _juror_names(logs, items)
    item_logs = Counter(item for log_items in items for item in set(log_items))
    juror_logs = Counter(name for names in jurors for name in set(names.values()))
    log_records, repetition = RecordsBuilder(), list[int]()
    for log, system, log_items, names in zip(logs, systems, items, jurors, strict=True):
        shared = any(item_logs[item] > 1 for item in log_items) or any(juror_logs[n] > 1 for n in names.values())
        if not shared and len(logs) > 1:
            raise VotesError(
                f"{log.file} shares no sample with the other logs (its first is {log_items[0][0]!r}): it is of another "
                "data set, or scores another model; read it by itself"
            )
        for (name, k), sample in zip(log_items, log.samples, strict=True):
            about = {"model": log.model, "task": log.task} | ({} if system == log.model else {"system": system})
            log_records.describe(name, sample.texts, {**sample.fields, **about})
            for column, juror in names.items():
                log_records.add(name, juror, sample.votes.get(column))
            repetition += [k] * len(names)
    return log_records.build(repetition=repetition if any(repetition) else (), findings=findings)


def _without_copies(logs: Sequence[InspectLog]) -> tuple[list[InspectLog], tuple[Finding, ...]]:
    """The logs without the scores that a later one of the same run has too.

    By default `inspect score` writes a second log beside the first, and with `--action append` that has all scores of
    the first. A score of one name that differs between the two was given anew, by the same grader or by another: the
    log does not say which, and both stay.
    """
    remaining = list(logs)
    copies, again = defaultdict[str, set[LogJuror]](set), defaultdict[str, set[str]](set)  # by run: same, other votes
    for k, old in enumerate(logs):
        for new in logs:
            if not new.run or new.run != old.run or not _age(old) < _age(new):
                continue
            if {sample.id for sample in old.samples} - {sample.id for sample in new.samples}:
                continue
            both = {column for column in old.columns if column in set(new.columns)}
            same = {column for column in both if _votes_of(old, column) == _votes_of(new, column)}
            samples = [
                replace(sample, votes={column: vote for column, vote in sample.votes.items() if column not in same})
                for sample in remaining[k].samples
            ]
            remaining[k] = replace(remaining[k], samples=samples)
            copies[old.run] |= same
            again[old.run] |= {column.name for column in both - same}
    findings = []
    for run, same in copies.items():
        files = [log.file for log in sorted((log for log in logs if log.run == run), key=_age)]
        about, others = f"{list_names(files)} are the same run, scored again", tuple(sorted(again[run]))
        if same:
            message = f"{about}: the votes of {len(same):,} jurors occur in more than one log and count once"
            findings.append(Finding("scored_again", message, value=float(len(same))))
        if others:
            message = (
                f"{about}, with other votes of {list_names(others)}: each log counts as a juror of its own; "
                f"if the same grader judged again, keep only the newest log, {files[-1]!r}"
            )
            findings.append(Finding("scored_again", message, others, "warning", float(len(others))))
    return [log for log, old in zip(remaining, logs, strict=True) if log.columns or not old.columns], tuple(findings)


def _age(log: InspectLog) -> tuple[str, int, str]:
    """The order of the logs of one run, oldest first."""
    return log.scored, len(log.columns), log.file


def _votes_of(log: InspectLog, column: LogJuror) -> dict[Any, Any]:
    """A juror's vote on each sample, and the hash of its explanation."""
    return {sample.id: (sample.votes.get(column), sample.reasons.get(column.key)) for sample in log.samples}


def _systems(logs: Sequence[InspectLog]) -> list[str]:
    """What answered in each log: the model, and what differs where the same scorers judged other answers of it."""
    models = {log.model for log in logs}
    names = [log.model if len(models) > 1 else "" for log in logs]
    for name in sorted(set(names)):
        same = [k for k, other in enumerate(names) if other == name]
        scorers = {frozenset(logs[k].columns) for k in same}
        answers = [{sample.id: sample.texts["answer"] for sample in logs[k].samples} for k in same]
        if len(scorers) == 1 and len(logs[same[0]].columns) > 1 and all(a != b for a, b in combinations(answers, 2)):
            shared = frozenset.intersection(*(logs[k].arguments for k in same))
            more = [", ".join(sorted(logs[k].arguments - shared)) for k in same]
            for k, text in zip(same, more, strict=True):
                names[k] = f"{name} {text if len(set(more)) == len(same) else logs[k].file}".strip()
    return [name or log.model for name, log in zip(names, logs, strict=True)]


def _item_names(logs: Sequence[InspectLog], systems: Sequence[str]) -> list[list[Item]]:
    """Samples' ids, with the epoch where there are several and the system that answered where several were judged.

    In every epoch a model answers anew, and its answer is what scorers judge: another item. Where one and the same
    juror scored every log, the models are what differs, and they become the jurors instead; an epoch then is one more
    vote of the model on the sample, a repetition.
    """
    epochs = any(sample.id[1] != 1 for log in logs for sample in log.samples)
    judges = {(column.name, column.grader, column.key) for log in logs for column in log.columns}
    models = len({log.model for log in logs}) > 1
    if models and len(judges) == 1:
        return [[sample.id if epochs else (sample.id[0], 0) for sample in log.samples] for log in logs]
    names = []
    for log, system in zip(logs, systems, strict=True):
        samples = [f"{sample.id[0]}_epoch_{sample.id[1]}" if epochs else sample.id[0] for sample in log.samples]
        names.append([(f"{system}:{name}" if len(set(systems)) > 1 else name, 0) for name in samples])
    return names


def _juror_names(logs: Sequence[InspectLog], items: Sequence[Sequence[Item]]) -> list[dict[LogJuror, str]]:
    """The name of each juror, for each log: different where jurors of one name judged the same item."""
    names: list[dict[LogJuror, str]] = [{} for _ in logs]
    places: dict[str, list[tuple[int, LogJuror]]] = {}
    for k, log in enumerate(logs):
        for column in log.columns:
            places.setdefault(column.name, []).append((k, column))
    for name, same in places.items():
        graders = [column.grader for _, column in same]
        owners = [logs[k] for k, _ in same]
        details = (
            graders, [column.key for _, column in same], [log.model for log in owners], [log.task for log in owners],
            [log.file for log in owners],
        )  # fmt: skip
        full = [name] * len(same)
        for detail in details:
            grader_differs = detail is graders and len(set(detail)) > 1
            votes = [(full_name, item) for full_name, (k, _) in zip(full, same, strict=True) for item in items[k]]
            if not grader_differs and len(set(votes)) == len(votes):  # no name would vote twice on an item
                break
            if len(set(detail)) > 1:
                full = [":".join(filter(None, (old, more))) for old, more in zip(full, detail, strict=True)]
        for (k, column), full_name in zip(same, full, strict=True):
            names[k][column] = full_name
    return names


# -- one log --------------------------------------------------------------------------------------------------

TITLE = "Inspect AI log"
_VERSION = 2  # of the log format
_JSON_START = re.compile(rb'\{\s*"version":\s*[^\s,{\[]+,.*?"eval":\s*\{', re.DOTALL)
_SAMPLE = re.compile(r"samples/.+_epoch_\d+(/sample)?\.json")  # the second form: samples cut into chunks
_LETTERS = {1: "C", 0: "I", 0.5: "P"}  # as Inspect AI itself reads them
_WORDS = {"C": "correct", "I": "incorrect", "P": "partially correct", "N": "no answer"}  # Inspect AI's names of them
_GRADED = ("model_graded_qa", "model_graded_fact")
OWN_LABEL = "jury_label"  #: our scorer, which labels by the others' votes
#: reducers that write a panel's votes beside its score; "" is the default
_STORES_VOTES = ("", "majority", "panel", "jury")


def _is_log(files: Files, path: Path) -> bool:
    """Whether a file is an .eval archive or starts as a JSON log does."""
    head = files.head(path).lstrip()
    if head.startswith(b"PK\x03\x04"):
        return path.suffix == ".eval" or head[30:].startswith((b"_journal/", b"header.json", b"samples/"))
    return path.suffix == ".eval" or (_JSON_START.match(head) is not None and b'"status"' in head and b'"task"' in head)


recognises = recogniser(_is_log)


def read(files: Files) -> Records:
    """Read one item per sample (and epoch, where there are several), one juror per scorer or member of a panel.

    Returns
    -------
    Records
        One row per sample and juror of its log.
    """
    objects = [path for path in files.paths if files.head(path).lstrip().startswith(b"{")]
    paths = files.own(lambda path: _is_log(files, path), TITLE) or objects
    if not paths:
        raise VotesError(
            f"this is not a valid {TITLE}: neither an .eval archive nor JSON with 'version', 'status' and 'eval'"
        )
    records = join_logs([_log(files, path) for path in paths])
    # where some scorers use C, I or P and others 1, 0 or 0.5, all become letters; to Inspect AI they are the same
    used: dict[str, set[Any]] = {}
    for name, vote in zip(records.juror, records.label, strict=True):
        if vote is not None:
            used.setdefault(name, set()).add(vote)
    numbers = {name for name, votes in used.items() if votes <= set(_LETTERS)}
    letters = {name for name, votes in used.items() if votes <= set(_WORDS)}
    if len(letters) == len(used):
        return replace(records, words=_WORDS)
    if not numbers or not letters or len(numbers) + len(letters) < len(used):
        return records
    label = [
        _LETTERS[vote] if name in numbers and vote is not None else vote
        for name, vote in zip(records.juror, records.label, strict=True)
    ]
    return replace(records, label=label, words=_WORDS)


def _log(files: Files, path: Path) -> InspectLog:
    where = files.name(path)
    if files.head(path).startswith(b"PK\x03\x04"):
        archive = Archive(path, where, files.allowed)
        start = next((name for name in ("header.json", "_journal/start.json") if name in archive.names), None)
        if start is None:
            raise VotesError(f"{where}this is not a valid {TITLE}: the archive lacks header.json; download it again")
        header = archive.document(start)
        samples: Iterable[Node] = (archive.document(name) for name in archive.names if _SAMPLE.fullmatch(name))
    else:
        header = files.document(path)
        if not header.is_record:
            raise VotesError(f"{where}this is not a valid {TITLE}: it is not one JSON object")
        samples = header["samples"].records()
    spec, version = header["eval"], header["version"]
    if not spec.is_record:
        raise VotesError(f"{where}this is not a valid {TITLE}: it lacks 'eval'")
    if type(version.value) is not int or version.value < 1:
        raise VotesError(
            f"{where}this {TITLE} has the format version {version.shown}; known are 1 to {_VERSION}; "
            "write the log again"
        )
    if version.value > _VERSION:
        files.warn_newer_version(path, TITLE, version, _VERSION)
    data = spec["dataset"]
    log = InspectLog(
        file=str(path.relative_to(files.root).with_suffix("")) if path.is_relative_to(files.root) else path.stem,
        task=spec["task"].text(),
        data=data["location"].text(data["name"].text()),
        model=spec["model"].text(),
        scorers=list(spec["scorers"].records()),
        roles=dict(spec["model_roles"].entries()),
        run=spec["eval_id"].text(),
        arguments=frozenset(
            f"{key}={shorten_value(node.value)}".replace("'", "")
            for key, node in (*spec["task_args"].entries(), *spec["solver_args"].entries(), ("solver", spec["solver"]))
        ),
    )
    for sample in samples:
        name, epoch = sample["id"].single(), sample["epoch"].whole(1)
        if not isinstance(name, (str, int)):
            raise sample["id"].wrong("text or a whole number")
        answers, target = sample["output"]["choices"].parts(), sample["target"].value
        answer = answers[0]["message"]["content"].value if answers else None
        question, texts = sample["input"].value, {"question": sample["input"].value, "answer": answer, "target": target}
        fields = {"target": target, "epoch": epoch, "metadata": sample["metadata"].value}
        votes = _votes(log, replace(sample, where=f"{where}sample {name!r}: ", path=""))
        scores = sample["scores"].entries()
        reasons = {key: hash(repr((s["answer"].value, s["explanation"].value))) for key, s in scores}
        log.samples.append(LogSample((name, epoch), hash(_input_text(question)), votes, reasons, texts, fields))
        for event in sample["events"].value if sample["events"].is_list else ():
            if isinstance(event, dict) and event.get("event") == "score":
                log.scored = max(log.scored, str(event.get("timestamp", "")))
    if log.unclear:
        message = (
            f"{where}in {log.unclear:,} of {len(log.samples):,} samples a member of a panel gave no vote, and "
            "`collect` does not record who: the votes of the panel on these samples are left out"
        )
        files.findings.append(Finding("unclear_votes", message, level="warning", value=float(log.unclear)))
    status, planned = header["status"].text("started"), data["samples"].value
    has_votes = any(vote is not None for sample in log.samples for vote in sample.votes.values())
    if not log.samples or (status != "success" and not has_votes):
        error = header["error"]["message"].text() if header["error"].is_record else ""
        reason = f" ({shorten_value(error)})" if error else ""
        many = f"{len(log.samples):,} of {planned:,}" if type(planned) is int and planned else f"{len(log.samples):,}"
        raise VotesError(
            f"{where}this {TITLE} holds no scores: the status of the run is {status!r}{reason}, and the log has "
            f"{many} samples; run the evaluation again, or leave this log out",
            code="empty",
        )
    return log


def _input_text(value: Any) -> str:
    """The text of a sample's input; messages also carry ids that differ from run to run."""
    if isinstance(value, list):
        return "\n".join(map(_input_text, value))
    if isinstance(value, dict):
        return _input_text(value.get("content", value.get("text")))
    return str(value)


def _votes(log: InspectLog, sample: Node) -> dict[LogJuror, Any]:
    """The vote of each juror of the log on a sample; none where it failed before scoring or was declared invalid."""
    scores = dict(sample["scores"].entries()) or ({"score": sample["score"]} if sample["score"].value else {})
    votes: dict[LogJuror, Any] = {}
    for key, score in scores.items():
        if "value" not in score:
            raise score["value"].wrong("the score's value")
        scorer = _scorer(log, scores, key)
        if scorer.name == OWN_LABEL:
            continue
        panel = score["metadata"]["panel"]
        if scorer.reducer == "collect" and len(scorer.members) > 1:
            # a list without those who gave none: where it is too short, no vote can be attributed
            value, columns = score["value"], scorer.columns(len(scorer.members))
            given = value.parts() if value.is_list else []
            if not value.is_list and value.single() is not None:
                raise value.wrong("the collected votes of a panel, a list")
            is_clear = len(given) == len(columns)
            log.unclear += bool(given) and not is_clear
            votes |= {column: given[k].single() if is_clear else None for k, column in enumerate(columns)}
        elif panel.is_record and panel["votes"].is_list and scorer.reducer in _STORES_VOTES:
            parts = panel["votes"].parts()  # in the order in which the panel was declared
            if scorer.members and len(scorer.members) != len(parts):
                raise VotesError(
                    f"{panel['votes'].where}the panel {scorer.key!r} has {len(scorer.members)} members but "
                    f"{len(parts)} votes, so the votes cannot be attributed; score it again with a scorer that never "
                    "returns None"
                )
            for column, part in zip(scorer.columns(len(parts)), parts, strict=True):
                votes |= _spread(column, part)
        else:
            column = LogJuror(scorer.name, scorer.members[0][0] if len(scorer.members) == 1 else "", key)
            votes |= _spread(column, score["value"])
    return dict.fromkeys(votes) if sample["invalidation"].value else votes


def _spread(column: LogJuror, value: Node) -> dict[LogJuror, Any]:
    """A value as the vote of one juror, or of one per key where the scorer returned several under names."""
    if value.is_list:
        raise value.wrong("one value, or several under names", "score it again with a scorer that returns a dict")
    if not value.is_record:
        return {column: value.single()}
    parts = {replace(column, name=f"{column.name}.{name}"): part for name, part in value.entries()}
    return {key: vote for part in parts for key, vote in _spread(part, parts[part]).items()}


@dataclass(frozen=True)
class _Scorer:
    """A scorer by its own name, and the models or scorers it consults."""

    name: str
    key: str  #: under which the sample has the score
    members: Sequence[tuple[str, str]] = ()  #: a panel's: the model and this scorer, or a scorer and its model
    reducer: str = ""

    def columns(self, votes: int) -> list[LogJuror]:
        """The panel's jurors; those of one name are numbered, and so are all where the log names none."""
        members = self.members or [(f"{self.name}#{k}", self.name) for k in range(1, votes + 1)]
        twice = {member for member, times in Counter(members).items() if times > 1}
        return [
            LogJuror(f"{name}#{k}" if (name, more) in twice else name, more, self.key, panel=True)
            for k, (name, more) in enumerate(members, 1)
        ]


def _scorer(log: InspectLog, scores: Mapping[str, Node], key: str) -> _Scorer:
    """The scorer behind a score: "model_graded_qa1" is the second scorer of that name."""
    specs = [spec for spec in log.scorers if _unqualified(spec["name"]) == key]
    base = key
    if not specs and (match := re.fullmatch(r"(.+?)(\d{1,4})", key)) and match[1] in scores:
        base, place = match[1], int(match[2])
        specs = [spec for spec in log.scorers if _unqualified(spec["name"]) == base][place:]
    if not specs:
        return _Scorer(base, key)
    options = specs[0]["options"]
    members = [(model, base) for model in _models(log, base, options)]
    if options["scorers"].is_list:
        members = []
        for part in options["scorers"].records():
            name = _unqualified(part["name"]) or "scorer"
            models = _models(log, name, part["params"])
            members.append((name, models[0] if len(models) == 1 else ""))
    reducer = options["reducer"]["name"] if options["reducer"].is_record else options["reducer"]
    return _Scorer(base, key, members, _unqualified(reducer))


def _models(log: InspectLog, scorer: str, options: Node) -> list[str]:
    """The models that a scorer uses, by its options or the role it names."""
    models = options["model"]
    if models.is_null and scorer in _GRADED:
        role = options["model_role"]
        name = role["name"].text() if role.is_record else role.text("grader")
        models = log.roles.get(name, models)
    nodes = models.parts() if models.is_list else [] if models.is_null else [models]
    return [(model["model"] if model.is_record else model).text() for model in nodes]


def _unqualified(name: Node) -> str:
    """A name without the package it comes from."""
    return name.text().rpartition("/")[2]
