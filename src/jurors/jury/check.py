"""`check`: the verdict for CI.

Grades and limits come in; a `Verdict` goes out, with every gate and its figures, every alarm, and a JUnit report.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Unpack
from xml.etree.ElementTree import Element, SubElement, tostring

from jurors.errors import OptionError
from jurors.evaluate.alarms import KINDS, LEVELS, Alarm, Level, sort_by_severity
from jurors.evaluate.card import WIDTH, CardOptions, alarm_lines
from jurors.evaluate.evaluation import Evaluation
from jurors.jury.gates import ALARM_LIMITS, Gate, evaluate_gates, limit_alarms
from jurors.jury.grade import grade
from jurors.jury.groups import votes_and_groups
from jurors.jury.system_gates import SystemVotes, is_of_systems, system_gates
from jurors.jury.systems import SystemComparison, compare_systems
from jurors.numeric.grade import NumberGrades
from jurors.options import GradeOptions, Label, LimitOptions, Limits, column_names, show_options, split_options
from jurors.results import Block, Columns, Notes, Result, escape_text

_OF_GRADES = (  # keys of `grade` that the document repeats: it can be the baseline of a later run
    "items", "jurors", "labels", "scale", "scale_why", "method", "errors", "votes", "score", "accuracy", "prevalence",
    "wrong_labels", "best", "leaders", "effective_jurors", "interval",
)  # fmt: skip
_OF_SYSTEMS = ("good", "level", "systems", "differences", "ranking")  # keys of `systems`, likewise
_OUTCOMES = ("fail", "not known", "pass")  # the most urgent first
_MOST_GATES = 12  # in text that is not full
_MOST_ALARMS = 5
_OF_GATES = ("gate_failed", "gate_unknown")  # alarms whose lines are those of the gates


@dataclass(frozen=True)
class Verdict(Result):
    """Whether the grades can be trusted, whether they meet the limits, and every alarm."""

    trusted: bool  #: whether there is no alarm, apart from those of gates
    verdict: str  #: on one line
    alarms: tuple[Alarm, ...]
    gates: tuple[Gate, ...] = ()
    loud: tuple[Alarm, ...] = ()  #: the alarms that fail the check
    evaluation: Evaluation | NumberGrades | None = None  #: what was checked
    limits: tuple[str, ...] = ()  #: the kinds of alarms of limits that have no gate
    systems: SystemComparison | None = None  #: where systems were compared
    shows_card: bool = False  #: whether text, Markdown and HTML show the evaluation, too

    _kind = "check"

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
            of_numbers = ("scale", "scale_why", "level", "items", "truth", "jurors", "remarks")
            return document | {name: graded[name] for name in of_numbers}
        graded = self.evaluation._document()
        document |= {name: graded[name] for name in _OF_GRADES if name in graded}
        compared = {} if self.systems is None else self.systems._document()
        return document | {name: compared[name] for name in _OF_SYSTEMS if name in compared}

    def _columns(self) -> Columns:
        names = ("level", "kind", "message", "value")
        return {name: [getattr(alarm, name) for alarm in self.alarms] for name in names}

    def _blocks(self, **show: Any) -> Iterable[Block]:
        options = CardOptions(**show)
        card = (self.systems or self.evaluation) if self.shows_card else None
        on_card = () if card is None else card.alarms
        alarms = tuple(alarm for alarm in self.alarms if alarm.reason not in _OF_GATES and alarm not in on_card)
        if options.full:
            yield Notes([*(gate.line for gate in self.gates), *alarm_lines(alarms)], self.verdict)
        else:
            first = sorted(self.gates, key=lambda gate: _OUTCOMES.index(gate.outcome))[:_MOST_GATES]
            gates = [gate.line for gate in self.gates if gate in first]
            left = {name: sum(gate.outcome == name for gate in self.gates if gate not in first) for name in _OUTCOMES}
            counts = ", ".join(f"{number:,} {name}" for name, number in left.items() if number)
            lines = alarm_lines(sort_by_severity(alarms)[:_MOST_ALARMS])
            more = [f"{len(alarms) - _MOST_ALARMS:,} more alarms and notes; --full shows all."]
            yield Notes(
                [*gates, *([f"More gates: {counts}; --full shows all."] if counts else []), *lines]
                + more * (len(alarms) > _MOST_ALARMS),
                self.verdict, width=WIDTH, hanging="  ",
            )  # fmt: skip
        if card is not None:
            yield from card._blocks(**show)

    def to_junit(self) -> str:
        """A JUnit report: a test case per gate and per kind of alarm, whose names are the same run after run.

        Returns
        -------
        str
            XML.
        """
        suite = Element("testsuite", name="jurors check")
        for gate in self.gates:
            case = SubElement(suite, "testcase", classname="jurors.gates", name=escape_text(gate.name))
            if gate.outcome == "fail":
                SubElement(case, "failure", message=escape_text(gate.line), type="gate")
            elif gate.outcome == "not known":
                SubElement(case, "skipped", message=escape_text(gate.line))
            else:
                SubElement(case, "system-out").text = escape_text(gate.line)
        kinds = dict.fromkeys(kind for kind in KINDS.values() if kind.levels != ("note",) and kind.about == "grades")
        others = (kind.name for kind in kinds if not kind.name.startswith("limit_"))
        for name in (*self.limits, *others):
            case = SubElement(suite, "testcase", classname="jurors.alarms", name=name)
            alarms = [alarm for alarm in self.alarms if name in (alarm.kind, alarm.reason)]
            if any(alarm in self.loud for alarm in alarms):
                message = escape_text("; ".join(alarm.message for alarm in alarms))
                SubElement(case, "failure", message=message, type=alarms[0].level)
            elif alarms:
                SubElement(case, "system-out").text = "\n".join(escape_text(f"{a.level}: {a.message}") for a in alarms)
        counts = {"failures": len(suite.findall("*/failure")), "skipped": len(suite.findall("*/skipped"))}
        for name, number in {"tests": len(suite), **counts}.items():
            suite.set(name, str(number))
        SubElement(suite, "system-out").text = self.to_text()
        return '<?xml version="1.0" encoding="utf-8"?>\n' + tostring(suite, encoding="unicode") + "\n"


class CheckOptions(LimitOptions, GradeOptions, total=False):
    """Limits, and how to read and grade what is checked."""


@show_options(CheckOptions)
def check(
    source: Any, *, system: Any = None, good: Label | None = None, fail_on: Level = "alarm",
    ignore_alarms: Sequence[str] = (), **options: Unpack[CheckOptions],
) -> Verdict:  # fmt: skip
    """Check whether you can trust grades of labels or numbers, and whether they meet your limits.

    Parameters
    ----------
    source
        An evaluation, a comparison of systems, or whatever `grade` takes, with its options.
    system, good
        Compare systems, too: `by` and `good` of `systems`.
    fail_on
        The least level of an alarm that fails the check.
    ignore_alarms
        Kinds of alarms to leave out.
    options
        Limits: `min_score`, `min_difference` ("B-A:0.02") and the others; and options of `grade`.

    Returns
    -------
    Verdict

    Examples
    --------
    >>> from jurors import grade, load_example
    >>> votes, _ = load_example("census")
    >>> verdict = check(grade(votes), min_score=0.5, max_wrong=0.01)
    >>> verdict.passed, {gate.name: gate.outcome for gate in verdict.gates}["max-wrong"]
    (False, 'fail')
    """
    limits = {name: value for name, value in options.items() if name in column_names(LimitOptions)}
    others: Any = {name: value for name, value in options.items() if name not in limits}
    parsed = Limits.of(limits)
    compared = source if isinstance(source, SystemComparison) else None
    of_systems: SystemVotes | None = None
    if system is not None and not isinstance(source, SystemComparison | Evaluation | NumberGrades):
        grading, reading = split_options(others)
        votes, groups, _ = votes_and_groups(source, system, "system", reading)
        of_systems, others = SystemVotes(votes, groups, system, good, grading, reading), {}
        fewest = 1 if parsed.max_regression is not None and not parsed.min_difference else 2
        compared = compare_systems(votes, groups, good=good, fewest=fewest, **grading)
        source = compared
    evaluation = compared.evaluation if compared is not None else source
    if not isinstance(evaluation, Evaluation | NumberGrades):
        if good is not None:
            raise OptionError("good= is for systems; name their column with system=", name="good")
        evaluation, others = grade(source, **others), {}
    given = next(iter(others), "system" if system is not None and of_systems is None else None)
    if given is not None:
        raise OptionError(f"these votes are graded already, so {given}= changes nothing; leave it out")
    if parsed.max_regression is None and is_of_systems(parsed.baseline):
        message = "baseline= is of systems; add system= and max_regression=, the drop that you allow"
        raise OptionError(message, code="does_not_apply", name="baseline")
    gates = evaluate_gates(evaluation, parsed)
    if compared is not None:
        gates += system_gates(compared, parsed, of_systems)
    else:
        for name in ("min_difference", "max_regression"):
            if getattr(parsed, name) not in (None, ()):
                message = f"{name}= compares systems; name the column of systems with system="
                raise OptionError(message, code="does_not_apply", name=name)
    found = (*limit_alarms(evaluation, parsed, gates), *evaluation.alarms)
    alarms = tuple(alarm for alarm in found if alarm.kind not in ignore_alarms)
    loud = tuple(a for a in alarms if LEVELS.index(a.level) >= LEVELS.index(fail_on))
    distrust = sum(alarm.reason not in _OF_GATES for alarm in loud)
    about = f"{len(evaluation.jurors)} jurors, {evaluation.items:,} items"
    outcomes = [gate.outcome for gate in gates]
    failed, unknown = outcomes.count("fail"), outcomes.count("not known")
    many = f"{len(outcomes)} gate{'s' * (len(outcomes) != 1)}"
    counts = f"of {many}, {failed} failed, {unknown} not known"
    what = "alarm" if fail_on == "alarm" else "warning or alarm"
    if distrust:
        verdict = f"ALARM: do not use these grades ({distrust} raised; {about})" + (f"; {counts}" if outcomes else "")
    elif not failed and not unknown:
        passed = f", {many} passed" if outcomes else ""
        verdict = f"OK: no {what}{passed} ({about})"
    else:
        verdict = f"{'FAIL' if failed else 'NOT KNOWN' if loud else 'OK'}: {counts}; no {what} ({about})"
    of_limits = tuple(kind for option, kind in ALARM_LIMITS.items() if getattr(parsed, option) is not None)
    return Verdict(not distrust, verdict, alarms, gates, loud, evaluation, of_limits, compared)
