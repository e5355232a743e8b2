"""Benchmarks of judges, as they are published: TREC qrels and DevAI.

TREC judgements (qrels, also LLMJudge's): a file per judge with lines `topic iteration document grade`. A juror per
file, a topic and a document are an item, the grade is the vote.

DevAI and agent-as-a-judge: one folder per judge, one JSON file per task, one vote per requirement.

    <judge>/<task>.json                                                     what a team writes
    <developer>/<human|agent|llm>_as_a_judge[/<setting>]/<task>.json        what agent-as-a-judge publishes

One item per requirement ("task/3"). A person's verdict is `satisfied` in `requirements`; an agent's is in
`judge_stats`, by the requirement's position, and `satisfied` in `requirements` may have stayed null. What a judge left
open (null) is no vote. What another developer agent built is another item.
"""

from __future__ import annotations

import re
from pathlib import Path

from jurors.errors import VotesError
from jurors.votes.readers.base import Files, Reader, Records, RecordsBuilder, distinguishing_names

# -- TREC -----------------------------------------------------------------------------------------------------

_QRELS_LINE = re.compile(r"(\S+)\s+(\S+)\s+(\S+)\s+(-?\d{1,18})")
_QRELS_NAME = re.compile(r"(^|[._-])qrels?([._-]|$)", re.IGNORECASE)


def _recognises_trec(files: Files) -> bool:
    """Whether the files are called qrels and their first line is a judgement."""
    if not all(_QRELS_NAME.search(path.name) for path in files.paths):
        return False
    first_line = files.head().lstrip().partition(b"\n")[0].decode("utf-8", "replace").strip()
    return _QRELS_LINE.match(first_line) is not None


def _read_trec(files: Files) -> Records:
    log = RecordsBuilder()
    jurors = distinguishing_names([path.stem for path in files.paths], [path.parent.name for path in files.paths])
    for path, juror in zip(files.paths, jurors, strict=True):
        with files.open(path) as file:
            try:
                text = str(file.read().decode("utf-8-sig"))  # a byte order mark is no part of the first topic
            except UnicodeDecodeError:  # replacing bytes might make two documents one
                raise VotesError(f"{files.name(path)}the text is not valid UTF-8; save the file as UTF-8") from None
        for number, line in enumerate(text.splitlines(), 1):
            judgement = _QRELS_LINE.fullmatch(line.strip())
            if judgement is not None:
                log.add(f"{judgement[1]}/{judgement[3]}", juror, int(judgement[4]))
            elif line.strip():
                raise VotesError(
                    f"{files.name(path)}line {number}: {line.strip()[:40]!r} is no judgement; expected a topic, an "
                    "iteration, a document and a whole grade"
                )
    return log.build()


TREC = Reader("TREC qrels file", _recognises_trec, _read_trec)


# -- DevAI ----------------------------------------------------------------------------------------------------

_JUDGE_FOLDER = "_as_a_judge"  # how the folders of agent-as-a-judge end


def _recognises_devai(files: Files) -> bool:
    """Whether one of the first files is a task with requirements."""
    keys = (b'"requirements"', b'"criteria"', b'"satisfied"')
    return any(files.has(b"{", *keys, path=path) for path in files.first)


def _read_devai(files: Files) -> Records:
    log, paths = RecordsBuilder(), set(files.paths)

    def is_task(path: Path) -> bool:
        """Whether it is a JSON file other than an agent's notes beside <task>.json: <task>/tree_structure.json …"""
        is_note = path.parent.parent / f"{path.parent.name}.json" in paths
        return not is_note and (len(paths) == 1 or path.name.endswith((".json", ".json.gz")))

    for path in files.own(is_task, DEVAI.TITLE):
        developer, judge = _developer_and_judge(files, path)
        task = files.document(path)
        requirements = task["requirements"] if task.is_record else task
        if not task.is_record or not requirements.is_list:
            problem = f"this is no {DEVAI.TITLE}: it has no list of 'requirements'; leave this file out"
            raise VotesError(f"{files.name(path)}{problem}")
        stats = list(task["judge_stats"].records())
        for place, requirement in enumerate(requirements.records()):
            if "satisfied" not in requirement:
                raise requirement["satisfied"].wrong("true, false or null")
            given = (stat["satisfied"].truth() for stat in stats if stat["requirement_index"].value == place)
            verdicts = {requirement["satisfied"].truth(), *given} - {None}
            name = requirement["requirement_id"].text(str(place))
            if len(verdicts) > 1:
                raise VotesError(
                    f"{files.name(path)}requirement {place} is both satisfied and unsatisfied in 'requirements' "
                    "and 'judge_stats'; keep one"
                )
            item = "/".join((*developer, path.name.removesuffix(".gz").removesuffix(".json"), name))
            log.describe(item, {"task": task["query"].value, "requirement": requirement["criteria"].value})
            label = {True: "satisfied", False: "unsatisfied", None: None}[next(iter(verdicts), None)]
            log.add(item, judge, label)
    return log.build()


def _developer_and_judge(files: Files, path: Path) -> tuple[tuple[str, ...], str]:
    """The developer agent whose work was judged, where the folders say so, and the judge."""
    folders = path.parent.relative_to(files.root).parts if path.is_relative_to(files.root) else ()
    places = [k for k, folder in enumerate(folders) if folder.endswith(_JUDGE_FOLDER)]
    if places:
        return folders[: places[0]], "/".join(folders[places[0] :])
    if len(folders) > 1:
        raise VotesError(
            f"{files.name(path)}the judges' folders must lie directly in the folder you name, or be called "
            f"human{_JUDGE_FOLDER}, agent{_JUDGE_FOLDER} …; this file lies {len(folders)} folders deep"
        )
    return (), folders[0] if folders else files.root.name


DEVAI = Reader("DevAI judgment", _recognises_devai, _read_devai)
