"""DevAI and agent-as-a-judge: one folder per judge, one JSON file per task, one vote per requirement.

    <judge>/<task>.json                                                     what a team writes
    <developer>/<human|agent|llm>_as_a_judge[/<setting>]/<task>.json        what agent-as-a-judge publishes

A person's verdict is `satisfied` in `requirements`; an agent's is in `judge_stats`, by the requirement's position, and
`satisfied` in `requirements` may have stayed null. What another developer agent built is another item.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jurors.errors import VotesError
from jurors.votes.readers import Records
from jurors.votes.readers.base import Files, LogTexts

TITLE = "DevAI judgment"
_KIND = "_as_a_judge"
_LABELS = {True: "satisfied", False: "unsatisfied"}


def recognises(files: Files) -> bool:
    """Whether a task with requirements stands among the first files."""
    keys = (b'"requirements"', b'"criteria"', b'"satisfied"')
    heads = (files.head(path) for path in files.first)
    return any(head.lstrip().startswith(b"{") and all(key in head for key in keys) for head in heads)


def read(files: Files) -> Records:
    """One item per requirement ("task/3"), one juror per judge's folder; what a judge left open (null) is no vote."""
    item, juror, label = [], [], []
    texts = LogTexts()
    for path in _tasks(files):
        developer, judge = _place(files, path)
        for requirement, vote, shown in _verdicts(files, path):
            item.append("/".join((*developer, path.name.removesuffix(".gz").removesuffix(".json"), requirement)))
            juror.append(judge)
            label.append(vote)
            texts.add(item[-1], shown)
    return Records(item, juror, label, texts.by_item)


def _tasks(files: Files) -> Iterator[Path]:
    """The judged tasks: JSON files, but not what an agent noted beside <task>.json in <task>/tree_structure.json …"""
    paths = set(files.paths)

    def is_task(path: Path) -> bool:
        noted = path.parent.parent / f"{path.parent.name}.json" in paths
        return not noted and (len(paths) == 1 or path.name.endswith((".json", ".json.gz")))

    yield from files.own(is_task, TITLE)


def _place(files: Files, path: Path) -> tuple[tuple[str, ...], str]:
    """The developer agent whose work was judged, where the folders tell, and the judge."""
    folders = path.parent.relative_to(files.root).parts if path.is_relative_to(files.root) else ()
    kinds = [k for k, folder in enumerate(folders) if folder.endswith(_KIND)]
    if kinds:
        return folders[: kinds[0]], "/".join(folders[kinds[0] :])
    if len(folders) > 1:
        raise VotesError(
            f"{files.name(path)}the judges' folders must lie directly in the folder you name, or be called "
            f"human{_KIND}, agent{_KIND} …; this file lies {len(folders)} folders deep"
        )
    return (), folders[0] if folders else files.root.name


def _verdicts(files: Files, path: Path) -> Iterator[tuple[str, str | None, dict[str, Any]]]:
    """Each requirement of a task, what the judge says about it, and what it is."""
    task = files.document(path)
    requirements = task["requirements"] if task.is_record else task
    if not task.is_record or not requirements.is_list:
        raise VotesError(f"{files.name(path)}this is no {TITLE}: it has no list of 'requirements'; leave this file out")
    stats = list(task["judge_stats"].records())
    for place, requirement in enumerate(requirements.records()):
        if "satisfied" not in requirement:
            raise requirement["satisfied"].wrong("true, false or null")
        said = [requirement["satisfied"].truth()]
        said += [stat["satisfied"].truth() for stat in stats if stat["requirement_index"].value == place]
        name = requirement["requirement_id"].text(str(place))
        shown = {"task": task["query"].value, "requirement": requirement["criteria"].value}
        yield name, _verdict(said, f"{files.name(path)}requirement {place}"), shown


def _verdict(said: list[bool | None], where: str) -> str | None:
    given = [verdict for verdict in said if verdict is not None]
    if len(set(given)) > 1:
        raise VotesError(f"{where} is both satisfied and unsatisfied in 'requirements' and 'judge_stats'; keep one")
    return _LABELS[given[0]] if given else None
