"""promptfoo and DeepEval: automatic checks that pass or fail on each output.

promptfoo results (`promptfoo eval -o results.json` or .jsonl): an assertion is a juror, an output is an item. An
assertion is named by its metric or type, with its grader, its value or its position where these are needed; the sum of
an `assert-set` is no juror beside its parts. A grader that failed gave no vote.

DeepEval test runs (`.deepeval/.latest_run_full.json`, `results_folder`): test cases are items, metrics are jurors;
metrics of one name are distinguished by the model that graded. A metric that failed to grade gave no vote.
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
from jurors.votes.readers.base import Files, Node, Reader, Records, RecordsBuilder, distinguishing_names, recogniser

_LABELS = {True: "pass", False: "fail", None: None}

# -- promptfoo ------------------------------------------------------------------------------------------------

_RESULTS = re.compile(rb'"results"\s*:\s*[{\[]')
_LONGEST_LABEL = 30  # characters; a longer one of a prompt is its text
_VERSION = 3  # of the results; 2 and before do not name the outputs


@dataclass(frozen=True)
class _Verdict:
    item: str
    kind: tuple[str, str]  #: metric or type, and grader
    value: str
    place: int  #: among the assertions of this kind on this item
    vote: str | None


def _is_promptfoo(files: Files, path: Path) -> bool:
    head = files.head(path).lstrip()
    if not head.startswith(b"{"):
        return False
    document = b'"evalId"' in head and _RESULTS.search(head) is not None
    return document or b'"promptfooVersion"' in head or (_is_promptfoo_lines(head) and b'"promptIdx"' in head)


def _is_promptfoo_lines(head: bytes) -> bool:
    """Whether the file begins with a single result, not with the list of them all."""
    before, key, _ = head.partition(b'"gradingResult":')
    return bool(key) and _RESULTS.search(before) is None


def _read_promptfoo(files: Files) -> Records:
    expected = "expected the keys 'evalId' and 'results'"
    paths = files.own(lambda path: _is_promptfoo(files, path), PROMPTFOO.TITLE, expected=expected)
    verdicts, log, questions = list[_Verdict](), RecordsBuilder(), dict[Any, Any]()
    for path in paths:
        prefix = f"{path.stem}:" if len(paths) > 1 else ""
        for result in _promptfoo_results(files, path):
            given = list(_promptfoo_verdicts(result, prefix, files.name(path)))
            if given:  # the prompt as it was sent and the output that was checked
                prompt, response = result["prompt"], result["response"]
                question = (prompt["raw"] if prompt.is_record else prompt).value
                answer = (response["output"] if response.is_record else response).value
                test = result["testCase"] if result["testCase"].is_record else Node({})
                variables = result["vars"] if result["vars"].is_record else test["vars"]
                provider = _provider(result["provider"])
                label = prompt["label"].text() if prompt.is_record else ""  # often the whole template
                sent = label if 0 < len(label) <= _LONGEST_LABEL else f"prompt {result['promptIdx'].text()}"
                fields = {"vars": variables.value, "description": test["description"].value,
                          "metadata": test["metadata"].value, "provider": provider, "model": provider,
                          "prompt": sent, "file": path.stem}  # fmt: skip
                questions[given[0].item] = f"test {result['testIdx'].text()} {variables.value}"
                log.describe(given[0].item, {"question": question, "answer": answer}, fields)
            verdicts += given
    names = _promptfoo_juror_names(verdicts)
    if len(set(names)) < 2:
        raise VotesError(
            f"the outputs were checked by {names[0] if names else 'nothing'} alone; the jurors are the assertions, so "
            "put two graders or more under `assert`, such as one llm-rubric for each grading provider"
        )
    for verdict, name in zip(verdicts, names, strict=True):
        log.add(verdict.item, name, verdict.vote)
    return replace(log.build(), questions=questions)


def _promptfoo_results(files: Files, path: Path) -> Iterable[Node]:
    if _is_promptfoo_lines(files.head(path)):
        return files.lines(path)
    document = files.document(path)
    outer = document["results"] if document.is_record else document
    version = outer["version"] if outer.is_record else Node(None)
    if type(version.value) is int and version.value > _VERSION:
        files.warn_newer_version(path, PROMPTFOO.TITLE, version, _VERSION)
    elif not version.is_null and version.value != _VERSION:
        raise VotesError(
            f"{files.name(path)}these results are of version {version.shown}, known is {_VERSION}: write them again "
            "with `promptfoo export eval` of today's promptfoo"
        )
    if outer.value != [] and not (outer.is_record and outer["results"].is_list):
        raise VotesError(f"{files.name(path)}this is not a valid {PROMPTFOO.TITLE}: 'results' has no list 'results'")
    results = list(outer["results"].records()) if outer.is_record else []
    if not results:
        raise VotesError(f"{files.name(path)}this {PROMPTFOO.TITLE} holds no results; did the run stop early?")
    return results


def _promptfoo_verdicts(result: Node, prefix: str, where: str) -> Iterator[_Verdict]:
    """The verdict of each assertion on one output."""
    todo = "write the results again with promptfoo"
    test, prompt = (result[key].name("a number", todo) for key in ("testIdx", "promptIdx"))
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
        value = assertion["value"].value
        text = " ".join((value if isinstance(value, str) else json.dumps(value)).split())
        yield _Verdict(item, kind, text, seen[kind], None if failed else _LABELS[passed])
        seen[kind] += 1


def _provider(provider: Node) -> str:
    return provider["label"].text(provider["id"].text()) if provider.is_record else provider.text()


def _promptfoo_juror_names(verdicts: Sequence[_Verdict]) -> list[str]:
    """Each assertion's metric or type, with its grader, value or position where that is needed to tell two apart."""
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


PROMPTFOO = Reader("promptfoo results file", recogniser(_is_promptfoo), _read_promptfoo)


# -- DeepEval -------------------------------------------------------------------------------------------------

_CASES = ("testCases", "conversationalTestCases")
_CASE_FIELDS = {"expectedOutput": "expected", "additionalMetadata": "metadata", "tags": "tags"}


def _is_deepeval(files: Files, path: Path) -> bool:
    return files.has(b"{", b'"testCases"', b'"metrics(Data|Scores)"', path=path)


def _read_deepeval(files: Files) -> Records:
    paths = files.own(lambda path: _is_deepeval(files, path), DEEPEVAL.TITLE, expected="expected the key 'testCases'")
    verdicts: list[tuple[str, tuple[str, str], str | None]] = []  # item, metric and grading model, label
    log = RecordsBuilder()
    for path in paths:
        document = files.document(path)
        run = document["testRunData"] if document["testRunData"].is_record else document
        cases = [case for key in _CASES for case in run[key].records()]
        times = Counter(case["name"].text() for case in cases)
        for k, case in enumerate(cases):
            name = case["name"].text(f"case {k}")
            item = f"{name}#{k}" if times[name] > 1 else name
            texts = {"question": case["input"].value, "answer": case["actualOutput"].value}
            log.describe(item, texts, {column: case[key].value for key, column in _CASE_FIELDS.items()})
            for metric in case["metricsData"].records():
                source = metric["name"].text("metric"), metric["evaluationModel"].text()
                passed = None if metric["error"].value else metric["success"].truth()
                verdicts.append((item, source, _LABELS[passed]))
    sources = list(dict.fromkeys(source for _, source, _ in verdicts))
    names = dict(zip(sources, distinguishing_names(*zip(*sources, strict=True)), strict=True)) if sources else {}
    for item, source, label in verdicts:
        log.add(item, names[source] or source[0], label)
    return log.build()


DEEPEVAL = Reader("DeepEval test run", recogniser(_is_deepeval), _read_deepeval)
