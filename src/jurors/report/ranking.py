"""Who is good and who is not: the jurors in order, with what is odd about them."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

from markupsafe import Markup

from jurors.doubt.standing import actual_scores, could_be_equal, scores_and_errors, swapped
from jurors.evaluate import Evaluation, KeyedEvaluation
from jurors.evaluate.calibrated import TOO_WIDE
from jurors.evaluate.card import percent, percent_range
from jurors.evaluate.catalogue import KINDS
from jurors.evaluate.solution import is_number
from jurors.names import and_more
from jurors.report.moving_together import groups_together, is_most
from jurors.report.wording import names

_LIKE_A_COIN = {"open", "uninformative_juror", "inverted_juror", "constant_juror"}  # what says so already
_SWAPPED = "clearly below a coin: labels swapped?"
_TOO_FEW = "too few votes to judge"
_WIDE = 0.3  # an interval from which on a score says nothing


@dataclass(frozen=True)
class Ranked:
    """One juror in the order of the scores."""

    rank: int
    juror: str
    score: float | None
    ends: tuple[float, float]
    beside: float | None  #: the score if errors were independent; None where `score` is that
    beside_ends: tuple[float, float]
    actual: float | None  #: with a key
    remarks: tuple[str, ...]
    is_doubtful: bool  #: not told apart from somebody who has no idea
    is_open: bool = False  #: so little is known of the score that nobody should rank it


def ranking(e: Evaluation, keyed: KeyedEvaluation | None = None) -> list[Ranked]:
    """The jurors by score as real juries go (with a key by the actual one); those of whom too little is known last."""
    if e.solution is None and e.as_real is None:
        return []
    lead = e.leading
    actual = {} if keyed is None else actual_scores(keyed)
    open_ones = open_scores(e, keyed)
    by_juror = _remarks(e, keyed, open_ones)

    def place(juror: str) -> tuple[bool, bool, float]:
        shown = actual.get(juror) if keyed is not None else lead.score[juror]
        known = is_number(shown)
        return not known, juror in open_ones, -shown if known else 0.0  # type: ignore[operator]

    return [
        Ranked(
            rank=k,
            juror=j,
            score=lead.score[j] if is_number(lead.score[j]) else None,
            ends=lead.interval_of("score", j),
            beside=e.score[j] if lead is not e and is_number(e.score.get(j)) else None,
            beside_ends=e.interval_of("score", j),
            actual=actual.get(j),
            remarks=tuple(by_juror[j].values()),
            is_doubtful=is_doubtful(e, j),
            is_open=j in open_ones,
        )
        for k, j in enumerate(sorted(e.jurors, key=place), 1)
    ]


def open_scores(e: Evaluation, keyed: KeyedEvaluation | None = None) -> set[str]:
    """Whose score's interval is so wide that it says nothing; with a key, that of the actual score."""
    if keyed is not None:
        score, error = scores_and_errors(keyed)
        width = 2 * NormalDist().inv_cdf(0.5 + e.level / 2) * error
        return {j for j, x, wide in zip(e.jurors, score, width, strict=True) if x != x or wide > _WIDE}
    ends = {j: e.leading.interval_of("score", j) for j in e.jurors}
    wide = _WIDE if e.as_real is None else TOO_WIDE
    return {j for j, (low, high) in ends.items() if high - low > wide}  # nobody where there are no intervals


def is_doubtful(e: Evaluation, juror: str) -> bool:
    """Whether an alarm says that the juror answers by chance, or its intervals allow it.

    Somebody who says each label at a fixed rate whatever the item is has accuracies that add up to 1. Where the
    lower ends do not add up to more, that is not excluded.
    """
    if any(a.kind in ("uninformative_juror", "constant_juror") and juror in a.jurors for a in e.alarms):
        return True
    if e.exam:
        return False
    ends = [e.interval_of("accuracy", juror, a) for a in e.labels]
    known = [(low, high) for low, high in ends if low == low]
    return len(known) == len(ends) and sum(low for low, _ in known) <= 1 <= sum(high for _, high in known)


def _remarks(e: Evaluation, keyed: KeyedEvaluation | None, open_ones: set[str]) -> dict[str, dict[str, str]]:
    """Juror -> why -> remark."""
    remarks: dict[str, dict[str, str]] = {j: {"open": _TOO_FEW} if j in open_ones else {} for j in e.jurors}
    for alarm in e.alarms:
        if KINDS[alarm.kind].remark and len(alarm.jurors) < len(e.jurors):
            for juror in alarm.jurors:
                remarks.setdefault(juror, {})[alarm.kind] = KINDS[alarm.kind].remark
    for juror, others in _companions(e, keyed).items():
        remarks[juror]["together"] = f"errs together with {and_more(others, 2)}"
    for juror in [] if e.exam else swapped(keyed or e):
        if "inverted_juror" not in remarks[juror]:
            remarks[juror]["swapped"] = _SWAPPED
    for juror in e.jurors:
        numbers = (e.score[juror], *e.accuracy[juror].values()) if e.solution is not None else ()
        if any(is_number(x) and not 0 <= x <= 1 for x in numbers):
            remarks[juror]["outside"] = "a number outside 0–100%"
        if is_doubtful(e, juror) and not remarks[juror].keys() & _LIKE_A_COIN:
            remarks[juror]["doubtful"] = "intervals do not exclude a coin"
    return remarks


def _companions(e: Evaluation, keyed: KeyedEvaluation | None) -> dict[str, list[str]]:
    """Juror -> with whom it errs; a group that is most of the panel sets nobody apart."""
    companions: dict[str, list[str]] = {}
    for group in groups_together(e, keyed):
        if not is_most(group, e):
            for juror in group:
                others = [j for j in group if j != juror]
                companions[juror] = list(dict.fromkeys([*companions.get(juror, ()), *others]))
    return companions


def people(e: Evaluation, rows: list[Ranked]) -> list[Markup]:
    """Who is best, who is weakest, whom nobody can tell from a coin: one line each."""
    has_key = any(is_number(row.actual) for row in rows)
    known = [row for row in rows if not row.is_open and is_number(row.actual if has_key else row.score)]
    able = known if has_key else [row for row in known if not row.is_doubtful and 0 <= (row.score or 0) <= 1]
    lines: list[Markup] = []
    if has_key and known:
        lines = [_by_key("Best", known[0]), _by_key("Weakest", known[-1])]
    elif able:
        lines = [_best(able), *([_weakest(known)] if len(known) > 1 else [])]
    elif rows:
        lines = [Markup("Nobody can be called best: no score is known well enough.")]
    if not has_key and lines and e.interval is not None and could_be_equal(e, [row.juror for row in known]):
        lines.append(Markup("On other items the order may differ: equal jurors could differ as much by chance."))
    few = [row.juror for row in rows if row.is_open]
    if few:
        lines.append(Markup("{}, listed last: {}.").format(_TOO_FEW.capitalize(), names(few)))
    doubtful = [row.juror for row in rows if row.is_doubtful and not row.is_open]
    if doubtful:
        lines.append(Markup("Not told apart from coin flips: {}.").format(names(doubtful)))
    elif not e.exam and e.interval is not None and not few and rows:
        basis = "as far as the intervals go" if e.as_real is None else "if errors were independent"
        lines.append(Markup("All are told apart from coin flips, {}.").format(basis))
    return lines


def _by_key(what: str, row: Ranked) -> Markup:
    return Markup("{} by the key: {}, {} right ({} estimated).").format(
        what, names([row.juror]), percent(row.actual), percent(row.score)
    )


def _best(known: list[Ranked]) -> Markup:
    best = known[0]
    line = Markup("Best: {}, {}").format(names([best.juror]), _with_range(best))
    level = [row.juror for row in known[1:] if row.ends[1] >= best.ends[0]]  # False where there is no interval
    if level:
        line += Markup("; the {} of {} overlap{}, so the order among them is open").format(
            "interval" if len(level) == 1 else "intervals", names(level, most=3), "s" if len(level) == 1 else ""
        )
    return line + Markup(".")


def _weakest(known: list[Ranked]) -> Markup:
    last = known[-1]
    line = Markup("Weakest: {}, {}").format(names([last.juror]), _with_range(last))
    level = [row.juror for row in known[-2::-1] if row.ends[0] <= last.ends[1]]
    if level and len(level) == len(known) - 1:
        line += Markup("; no interval sets it apart from the others")
    elif level:
        line += Markup("; not clearly below {}").format(names(level, most=3))
    return line + Markup(".")


def _with_range(row: Ranked) -> str:
    ends = percent_range(row.ends)
    return f"{percent(row.score)} right" + (f" ({ends})" if ends else "")
