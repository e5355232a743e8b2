"""promptfoo results (`promptfoo eval -o results.json` or .jsonl): an assertion is a juror, an output is an item.

Whether the assertion passed is the vote. An assertion is named by its metric or type, with its grader, its value or its
place where these are needed; the sum of an `assert-set` is no juror beside its parts.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jurors.errors import VotesError
from jurors.votes.readers import Records
from jurors.votes.readers.log_files import Files
from jurors.votes.readers.log_texts import LogTexts

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
    return any(_is_results(files, path) for path in files.paths[:20])


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
    texts = LogTexts()
    for path in paths:
        prefix = f"{path.stem}:" if len(paths) > 1 else ""
        for result in _results(files, path):
            own = list(_verdicts(result, prefix, files.name(path)))
            for verdict in own[:1]:
                texts.add(verdict.item, _texts(result))
            verdicts += own
    names = _juror_names(verdicts)
    if len(set(names)) < 2:
        raise VotesError(
            f"the outputs were checked by {names[0] if names else 'nothing'} alone; the jurors are the assertions, so "
            "put two graders or more under `assert`, such as one llm-rubric for each grading provider"
        )
    votes = [verdict.vote for verdict in verdicts]
    return Records([verdict.item for verdict in verdicts], names, votes, texts.by_item)


def _results(files: Files, path: Path) -> Iterator[Mapping[str, Any]]:
    if _is_lines(files.head(path)):
        yield from (result for _, result in files.lines(path))
        return
    document = files.document(path)
    outer = document.get("results") if isinstance(document, dict) else None
    version = outer.get("version") if isinstance(outer, dict) else None
    if version is not None and version != _VERSION:
        raise VotesError(
            f"{files.name(path)}these results are of version {version!r:.30}, known is {_VERSION}: write older ones "
            "again with `promptfoo export eval` of today's promptfoo; for newer ones update jurors"
        )
    results = outer.get("results") if isinstance(outer, dict) else [] if outer == [] else None
    if not isinstance(results, list):
        raise VotesError(f"{files.name(path)}this is no {TITLE}: it has no list 'results' in 'results'")
    if not results:
        raise VotesError(f"{files.name(path)}this {TITLE} holds no results; was the eval stopped early?")
    yield from results


def _verdicts(result: Any, prefix: str, where: str) -> Iterator[_Verdict]:
    if not isinstance(result, dict) or "testIdx" not in result or "promptIdx" not in result:
        raise VotesError(f"{where}a result lacks 'testIdx' or 'promptIdx' (found {str(result)[:40]!r})")
    item = f"{prefix}test {result['testIdx']}, prompt {result['promptIdx']}, {_provider(result.get('provider'))}"
    graded = _expected(result.get("gradingResult"), dict, f"{where}{item}: 'gradingResult'")
    parts = _expected(graded.get("componentResults"), list, f"{where}{item}: 'componentResults'")
    seen: Counter[tuple[str, str]] = Counter()
    for part in parts:
        assertion = _expected(part, dict, f"{where}{item}: a component result").get("assertion")
        if not _expected(assertion, dict, f"{where}{item}: an 'assertion'"):
            continue  # the sum of an assert-set; its parts follow
        if not isinstance(passed := part.get("pass"), bool):
            raise VotesError(f"{where}{item}: 'pass' of an assertion is {str(passed)[:30]!r}; expected true or false")
        kind = str(assertion.get("metric") or assertion.get("type")), _provider(assertion.get("provider"))
        failed = (part.get("metadata") or {}).get("graderError") is True
        yield _Verdict(item, kind, _text(assertion.get("value")), seen[kind], None if failed else _LABELS[passed])
        seen[kind] += 1


def _texts(result: Mapping[str, Any]) -> dict[str, Any]:
    """The prompt as it was sent, and the output that was checked."""
    prompt, response = result.get("prompt"), result.get("response")
    return {
        "question": prompt.get("raw") if isinstance(prompt, dict) else prompt,
        "answer": response.get("output") if isinstance(response, dict) else response,
    }


def _expected(value: Any, kind: type[dict[Any, Any]] | type[list[Any]], what: str) -> Any:
    """A record or a list; an empty one for null, as where nothing was asserted or the output failed."""
    if value is not None and not isinstance(value, kind):
        raise VotesError(f"{what} is {str(value)[:30]!r}; expected {'a record' if kind is dict else 'a list'}")
    return kind() if value is None else value


def _provider(provider: Any) -> str:
    if isinstance(provider, dict):
        provider = provider.get("label") or provider.get("id")
    return str(provider or "")


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
