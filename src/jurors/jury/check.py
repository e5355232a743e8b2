"""`check`: the verdict for CI, every gate with its figures, every alarm, and a JUnit report of both."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Unpack
from xml.etree.ElementTree import Element, SubElement, tostring

from jurors.evaluate import Alarm, Evaluation
from jurors.evaluate.alarms import KINDS, LEVELS, Level
from jurors.evaluate.card import alarm_lines
from jurors.jury.gates import Gate, evaluate_gates, limit_alarms
from jurors.numeric import NumberGrades
from jurors.options import LimitOptions, Limits
from jurors.results import Block, Columns, Notes, Result, escape_text

_OF_GATES = ("gate_failed", "gate_unknown")  # their lines are the gates' own
_OF_NUMBERS = ("scale", "scale_why", "level", "items", "truth", "jurors", "remarks")  # what the document has of grades
_OF_LIMITS = {
    "correlation_limit": "max_correlation",
    "effective_limit": "min_effective",
    "specification_impossible": "spec",
}


@dataclass(frozen=True)
class Verdict(Result):
    """Whether the grades can be trusted, whether they are what was asked for, and every alarm."""

    trusted: bool  #: no alarm rang, apart from those of gates
    verdict: str  #: in a line
    alarms: tuple[Alarm, ...]
    gates: tuple[Gate, ...] = ()
    loud: tuple[Alarm, ...] = ()  #: the alarms that fail the check
    evaluation: Evaluation | NumberGrades | None = None  #: what was checked
    limits: tuple[str, ...] = ()  #: the kinds of alarms that other limits ring
    shows_card: bool = False  #: whether text, Markdown and HTML show the evaluation, too

    @property
    def passed(self) -> bool:
        """Whether nothing fails the check: neither an alarm nor a gate."""
        return not self.loud

    def _document(self) -> dict[str, Any]:
        document = {"trusted": self.trusted, "verdict": self.verdict, "alarms": self.alarms}
        document |= {"passed": self.passed, "gates": self.gates}
        if self.evaluation is None:
            return document
        if isinstance(self.evaluation, NumberGrades):
            graded = self.evaluation.to_dict()
            return document | {name: graded[name] for name in _OF_NUMBERS}
        names = ("items", "jurors", "labels", "method", "calibrated", "level")
        about = {name: getattr(self.evaluation, name) for name in names}
        sketch = self.evaluation.sketch
        return document | about | ({} if sketch is None else sketch.tuples.scale_document())

    def _columns(self) -> Columns:
        names = ("level", "kind", "message", "value")
        return {name: [getattr(alarm, name) for alarm in self.alarms] for name in names}

    def _blocks(self) -> Iterable[Block]:
        card = self.evaluation if self.shows_card else None
        told = () if card is None else card.alarms
        alarms = tuple(alarm for alarm in self.alarms if alarm.kind not in _OF_GATES and alarm not in told)
        yield Notes([*(one.line for one in self.gates), *alarm_lines(alarms)], self.verdict)
        if card is not None:
            yield from card._blocks()

    def to_junit(self) -> str:
        """A JUnit report: a test case per gate and per kind of alarm, whose names are the same run after run."""
        suite = Element("testsuite", name="jurors check")
        for one in self.gates:
            _gate_case(suite, one)
        about = ("any", "numbers" if isinstance(self.evaluation, NumberGrades) else "labels")
        kinds = [name for name, kind in KINDS.items() if kind.levels != ("note",) and kind.about in about]
        others = (name for name in kinds if name not in {*_OF_GATES, *_OF_LIMITS})
        for name in (*self.limits, *others):
            self._alarm_case(suite, name)
        outcomes = {name: len(suite.findall(f"*/{tag}")) for name, tag in _OUTCOMES.items()}
        for name, number in {"tests": len(suite), **outcomes}.items():
            suite.set(name, str(number))
        SubElement(suite, "system-out").text = self.to_text()
        return '<?xml version="1.0" encoding="utf-8"?>\n' + tostring(suite, encoding="unicode") + "\n"

    def _alarm_case(self, suite: Element, kind: str) -> None:
        case = SubElement(suite, "testcase", classname="jurors.alarms", name=kind)
        rung = [alarm for alarm in self.alarms if alarm.kind == kind]
        if any(alarm in self.loud for alarm in rung):
            message = escape_text("; ".join(alarm.message for alarm in rung))
            SubElement(case, "failure", message=message, type=rung[0].level)
        elif rung:
            SubElement(case, "system-out").text = "\n".join(escape_text(f"{a.level}: {a.message}") for a in rung)


_OUTCOMES = {"failures": "failure", "skipped": "skipped"}


def _gate_case(suite: Element, one: Gate) -> None:
    case = SubElement(suite, "testcase", classname="jurors.gates", name=escape_text(one.name))
    if one.outcome == "fail":
        SubElement(case, "failure", message=escape_text(one.line), type="gate")
    elif one.outcome == "not known":
        SubElement(case, "skipped", message=escape_text(one.line))
    else:
        SubElement(case, "system-out").text = escape_text(one.line)


def check(
    evaluation: Evaluation | NumberGrades, *, fail_on: Level = "alarm", **limits: Unpack[LimitOptions]
) -> Verdict:
    """Whether grades of labels or numbers can be trusted, and whether they keep your limits (those of `gate`).

    Examples
    --------
    >>> from jurors import grade, load_example
    >>> votes, _ = load_example("census")
    >>> verdict = check(grade(votes), min_score=0.5, max_wrong=0.01)
    >>> verdict.passed, {gate.name: gate.outcome for gate in verdict.gates}["max-wrong"]
    (False, 'fail')
    """
    asked = Limits.of(limits)
    gates = evaluate_gates(evaluation, asked)
    alarms = (*limit_alarms(evaluation, asked, gates), *evaluation.alarms)
    loud = tuple(a for a in alarms if LEVELS.index(a.level) >= LEVELS.index(fail_on))
    distrust = [alarm for alarm in loud if alarm.kind not in _OF_GATES]
    about = f"{len(evaluation.jurors)} jurors, {evaluation.items:,} items"
    return Verdict(
        not distrust, _sentence(gates, len(distrust), fail_on, about, failing=bool(loud)), alarms, gates, loud,
        evaluation, tuple(kind for kind, option in _OF_LIMITS.items() if getattr(asked, option) is not None),
    )  # fmt: skip


def _sentence(gates: Iterable[Gate], rang: int, fail_on: str, about: str, *, failing: bool) -> str:
    outcomes = [one.outcome for one in gates]
    failed, unknown = outcomes.count("fail"), outcomes.count("not known")
    many = f"{len(outcomes)} gate{'s' * (len(outcomes) != 1)}"
    counted = f"of {many}, {failed} failed, {unknown} not known"
    if rang:
        return f"ALARM: do not trust these grades ({rang} rang; {about})" + (f"; {counted}" if outcomes else "")
    what = "alarm" if fail_on == "alarm" else "warning or alarm"
    if not failed and not unknown:
        kept = f", {many} passed" if outcomes else ""
        return f"OK: no {what} rang{kept} ({about})"
    return f"{'FAIL' if failed else 'NOT KNOWN' if failing else 'OK'}: {counted}; no {what} rang ({about})"
