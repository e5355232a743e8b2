"""OpenAI evals: a run (one JSONL file) is a juror, a sample is an item.

The first line holds {"spec": …}, the others events. A model-graded eval records the grader's `choice`; a match records
which of several options was `picked`, or, where only the right answer was on offer, whether it was `correct`. Several
runs of one model on one eval are repeats of one juror; of a grader they are not, for what it graded was made anew. The
fields of an item are `expected`, the right answer where an event has it, `eval`, and `model`, what a grader graded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jurors.errors import VotesError
from jurors.votes.readers.base import Files, Node, Records, RecordsBuilder, distinguishing_names, recogniser

TITLE = "OpenAI evals log"
_METRICS = ("choice", "correct", "accuracy", "score")  # the first that an event has is the vote
_INVALID = "__invalid__"  # the grader's answer could not be understood


@dataclass(frozen=True)
class _Run:
    completion_fns: tuple[str, ...]
    eval_name: str
    samples_file: str
    run_id: str
    rule: str  #: which entry of an event is the vote: "choice", "correct" …
    items: list[str]
    votes: list[Any]
    prompts: Mapping[str, Any]  #: sample -> the prompt before its verdict: to a grader, the question and the answer
    expected: Mapping[str, Any]  #: sample -> the right answer, where an event has it

    @property
    def juror(self) -> tuple[tuple[str, ...], str, str]:
        """The same model on the same eval, unless it is a grader, which has other answers before it in each run."""
        graded = len(self.completion_fns) > 1 or self.rule == "choice"
        return self.completion_fns, self.eval_name, self.run_id if graded else ""


def _is_run(files: Files, path: Path) -> bool:
    """Whether a file begins with the specification of a run."""
    first_line = files.head(path).lstrip().partition(b"\n")[0]
    return first_line.startswith((b'{"spec":', b'{"spec" :')) and b'"completion_fns"' in first_line


recognises = recogniser(_is_run)


def read(files: Files) -> Records:
    """Read the vote of every run on every sample it recorded a verdict on.

    Returns
    -------
    Records
        One row per run and sample.
    """
    expected = 'its first line is not {"spec": {"completion_fns": …}}'
    runs = [_run(files, path) for path in files.own(lambda path: _is_run(files, path), TITLE, expected=expected)]
    _refuse_other_questions(runs)
    items = _joined_items(runs)
    names = _juror_names(runs)
    log = RecordsBuilder()
    for run, samples in zip(runs, items, strict=True):
        graded = {"model": "/".join(run.completion_fns[:-1])} if len(run.completion_fns) > 1 else {}
        for item, sample, vote in zip(samples, run.items, run.votes, strict=True):
            fields = {"expected": run.expected.get(sample), "eval": run.eval_name, **graded}
            log.describe(item, {"question": run.prompts.get(sample)}, fields)
            log.add(item, names[run.juror], vote)
    jurors = [run.juror for run in runs]
    repetition = [jurors[:k].count(juror) for k, juror in enumerate(jurors) for _ in runs[k].votes]
    return log.build(repetition=repetition if len(names) < len(runs) else ())


def _run(files: Files, path: Path) -> _Run:
    where, spec = files.name(path), Node(None)
    votes: dict[str, list[tuple[str, Any]]] = {}  # by the rule that gave the vote
    prompts: dict[str, Any] = {}
    expected: dict[str, Any] = {}
    for line in files.lines(path):
        if "spec" in line:
            spec = line["spec"]
        elif line["type"].value == "sampling":
            prompts[line["sample_id"].text()] = line["data"]["prompt"].value
        elif line["type"].value in ("match", "metrics"):
            sample, data = line["sample_id"], line["data"]
            if not isinstance(sample.value, str):
                raise sample.wrong("the sample's id (text)")
            if data.is_null:
                raise data.wrong("a record")
            expected.setdefault(sample.text(), data["expected"].value)
            rule, vote = _vote(line["type"].text(), data)
            votes.setdefault(rule, []).append((sample.text(), vote))
    if not spec.is_record:
        raise VotesError(f'{where}the first line is not {{"spec": {{…}}}}, so nobody can tell whose run this is')
    rule = next((rule for rule in ("picked", *_METRICS) if rule in votes), "")
    events = votes.get(rule, [])
    return _Run(
        completion_fns=tuple(name.text() for name in spec["completion_fns"].parts()) or (path.stem,),
        eval_name=spec["eval_name"].text(),
        samples_file=spec["run_config"]["eval_spec"]["args"]["samples_jsonl"].text(),
        run_id=spec["run_id"].text(path.stem),
        rule=rule,
        items=[sample for sample, _ in events],
        votes=[None if vote == _INVALID else vote for _, vote in events],
        prompts=prompts,
        expected=expected,
    )


def _vote(kind: str, data: Node) -> tuple[str, Any]:
    """By which rule an event is a vote, and the vote; ("", None) where it is none."""
    options, expected = data["options"], data["expected"]
    if kind == "match" and options.is_list:
        right = expected.value if expected.is_list else [expected.value]
        if any(option not in right for option in options.value):
            return "picked", data["picked"].single()
    return next(((rule, data[rule].single()) for rule in _METRICS if rule in data), ("", None))


def _refuse_other_questions(runs: Sequence[_Run]) -> None:
    """Whether an answer was right, and which answer it was, are votes on two questions."""
    by_run = [(run, {vote for vote in run.votes if vote is not None}) for run in runs]
    for run, votes in by_run:
        other, others = by_run[0]
        if run.rule != other.rule and votes and others and votes.isdisjoint(others):
            raise VotesError(
                f"these runs answer different questions: {_shown(other, others)}, {_shown(run, votes)}; read the runs "
                "of one eval at a time"
            )


def _shown(run: _Run, votes: set[Any]) -> str:
    return f"those of {run.eval_name} say {', '.join(sorted(map(str, votes))[:4])} ({run.rule!r})"


def _juror_names(runs: Sequence[_Run]) -> dict[tuple[tuple[str, ...], str, str], str]:
    """Name jurors by the completion function (a grader comes last, after what it graded), the eval, or the run's id."""
    first = {run.juror: run for run in reversed(runs)}  # the first run of each juror
    jurors = list(dict.fromkeys(run.juror for run in runs))
    models = [juror[0] for juror in jurors]
    while all(len(fns) > 1 for fns in models) and len({fns[0] for fns in models}) == 1:
        models = [fns[1:] for fns in models]  # without the model that all of them graded
    names = distinguishing_names(
        ["/".join(fns) for fns in models],
        [first[juror].eval_name for juror in jurors],
        [first[juror].run_id for juror in jurors],
    )
    return dict(zip(jurors, names, strict=True))


def _joined_items(runs: Sequence[_Run]) -> list[list[str]]:
    """Samples by id; by position where different evals read one file, since ids begin with the eval's name."""
    if len({run.eval_name for run in runs}) < 2:
        return [run.items for run in runs]
    if len({run.samples_file for run in runs}) == 1 and runs[0].samples_file:
        return [[sample.rpartition(".")[2] for sample in run.items] for run in runs]
    for run in runs[1:]:
        if set(run.items).isdisjoint(runs[0].items):
            raise VotesError(
                f"the runs of {runs[0].eval_name} and {run.eval_name} share no sample, and their specs do not name "
                "one 'samples_jsonl'; read the runs of one eval at a time"
            )
    return [run.items for run in runs]
