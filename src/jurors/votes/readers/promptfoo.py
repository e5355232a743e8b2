"""promptfoo results (`promptfoo eval -o results.json` or .jsonl): an assertion is a juror, an output is an item.

Whether the assertion passed is the vote. An assertion is named by its metric or type, with its grader, its value or its
place where these are needed; the sum of an `assert-set` is no juror beside its parts.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from jurors.errors import VotesError
from jurors.votes.readers import Records
from jurors.votes.readers.base import Files, LogFields, LogTexts, Node, shorten_value

TITLE = "promptfoo results file"
_RESULTS = re.compile(rb'"results"\s*:\s*[{\[]')
_VERSION = 3  # of the results; 2 and before do not name the outputs
_LABELS = {True: "pass", False: "fail"}


@dataclass(frozen=True)
class _Verdict:
    item: str
    kind: tuple[str, str]  #: metric or type, and grader
    value: str
    place: int  #: among the assertions of this kind on this item
    vote: str | None


def recognises(files: Files) -> bool:
    """Whether one of the first files begins as promptfoo's do."""
    return any(_is_results(files, path) for path in files.first)


def _is_results(files: Files, path: Path) -> bool:
    head = files.head(path).lstrip()
    if not head.startswith(b"{"):
        return False
    whole = b'"evalId"' in head and _RESULTS.search(head) is not None
    return whole or b'"promptfooVersion"' in head or (_is_lines(head) and b'"promptIdx"' in head)


def _is_lines(head: bytes) -> bool:
    """Whether the first thing in the file is one result, not the list of them all."""
    before, key, _ = head.partition(b'"gradingResult":')
    return bool(key) and _RESULTS.search(before) is None


def read(files: Files) -> Records:
    """Pass or fail of every assertion on every output; a grader that failed gave no vote."""
    paths = files.own(lambda path: _is_results(files, path), TITLE)
    if not paths:
        raise VotesError(f"this is no {TITLE}: expected the keys 'evalId' and 'results'")
    verdicts: list[_Verdict] = []
    texts, fields = LogTexts(), LogFields()
    for path in paths:
        prefix = f"{path.stem}:" if len(paths) > 1 else ""
        for result in _results(files, path):
            own = list(_verdicts(result, prefix, files.name(path)))
            for verdict in own[:1]:
                texts.add(verdict.item, _texts(result))
                fields.add(verdict.item, _told(result))
            verdicts += own
    names = _juror_names(verdicts)
    if len(set(names)) < 2:
        raise VotesError(
            f"the outputs were checked by {names[0] if names else 'nothing'} alone; the jurors are the assertions, so "
            "put two graders or more under `assert`, such as one llm-rubric for each grading provider"
        )
    votes = [verdict.vote for verdict in verdicts]
    return Records([verdict.item for verdict in verdicts], names, votes, texts.by_item, fields=fields.by_name)


def _results(files: Files, path: Path) -> Iterable[Node]:
    if _is_lines(files.head(path)):
        return files.lines(path)
    document = files.document(path)
    outer = document["results"] if document.is_record else document
    version = outer["version"].value if outer.is_record else None
    if type(version) is int and version > _VERSION:
        files.newer(path, TITLE, version, _VERSION)
    elif version is not None and version != _VERSION:
        raise VotesError(
            f"{files.name(path)}these results are of version {shorten_value(version)}, known is "
            f"{_VERSION}: write them again "
            "with `promptfoo export eval` of today's promptfoo"
        )
    if outer.value != [] and not (outer.is_record and outer["results"].is_list):
        raise VotesError(f"{files.name(path)}this is no {TITLE}: it has no list 'results' in 'results'")
    results = list(outer["results"].records()) if outer.is_record else []
    if not results:
        raise VotesError(f"{files.name(path)}this {TITLE} holds no results; was the eval stopped early?")
    return results


def _verdicts(result: Node, prefix: str, where: str) -> Iterator[_Verdict]:
    test, prompt = (_present(result[key]) for key in ("testIdx", "promptIdx"))
    item = f"{prefix}test {test}, prompt {prompt}, {_provider(result['provider'])}"
    seen: Counter[tuple[str, str]] = Counter()
    for part in replace(result, where=f"{where}{item}: ", path="")["gradingResult"]["componentResults"].records():
        assertion = part["assertion"]
        if not assertion.entries():
            continue  # the sum of an assert-set; its parts follow
        passed = part["pass"].truth()
        if passed is None:
            raise part["pass"].wrong("true or false")
        kind = assertion["metric"].text(assertion["type"].text()), _provider(assertion["provider"])
        failed = part["metadata"]["graderError"].value is True
        yield _Verdict(item, kind, _text(assertion["value"].value), seen[kind], None if failed else _LABELS[passed])
        seen[kind] += 1


def _texts(result: Node) -> dict[str, Any]:
    """The prompt as it was sent, and the output that was checked."""
    prompt, response = result["prompt"], result["response"]
    return {
        "question": (prompt["raw"] if prompt.is_record else prompt).value,
        "answer": (response["output"] if response.is_record else response).value,
    }


def _told(result: Node) -> dict[str, Any]:
    """What was asked about, and who answered."""
    test = result["testCase"]
    own = test if test.is_record else Node({})
    given = result["vars"] if result["vars"].is_record else own["vars"]
    provider = _provider(result["provider"])
    about = {"description": own["description"].value, "metadata": own["metadata"].value}
    return {"vars": given.value, **about, "provider": provider, "model": provider}


def _present(place: Node) -> str:
    if not place.text():
        raise place.wrong("a number", "write the results again with promptfoo")
    return place.text()


def _provider(provider: Node) -> str:
    return provider["label"].text(provider["id"].text()) if provider.is_record else provider.text()


def _text(value: Any) -> str:
    return " ".join((value if isinstance(value, str) else json.dumps(value)).split())


def _juror_names(verdicts: Sequence[_Verdict]) -> list[str]:
    """Each assertion's metric or type, and its grader, value or place where it takes them to tell two apart."""
    graders: defaultdict[str, set[str]] = defaultdict(set)
    values: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    places: Counter[tuple[str, str]] = Counter()
    for verdict in verdicts:
        graders[verdict.kind[0]].add(verdict.kind[1])
        values[verdict.kind].add(verdict.value[:60])
        places[verdict.kind] = max(places[verdict.kind], verdict.place + 1)
    names = []
    for verdict in verdicts:
        (name, grader), several = verdict.kind, places[verdict.kind]
        parts = [name, grader if len(graders[name]) > 1 else ""]
        if several > 1:  # by value where every test has the same ones
            parts.append(verdict.value[:60] if len(values[verdict.kind]) == several else f"#{verdict.place + 1}")
        names.append(":".join(filter(None, parts)))
    return names
