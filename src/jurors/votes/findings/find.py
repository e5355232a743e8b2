"""`find_all`: what some votes show, made once and said by every command."""

from __future__ import annotations

from jurors.votes.findings.about_scale import scale_taken
from jurors.votes.findings.about_words import ambiguous_words, similar_names
from jurors.votes.findings.alphabets import alphabets, odd_labels, strange_numbers
from jurors.votes.findings.finding import Finding
from jurors.votes.findings.repeats import repeated_rows
from jurors.votes.findings.side_by_side import side_by_side
from jurors.votes.findings.tuples import counts_said
from jurors.votes.table import Votes

_LEVELS = ("alarm", "warning", "note")
_MOST_CELLS = 20_000_000  #: jurors x labels that are counted


def find_all(votes: Votes, *, weighted: bool = False, twins: bool = True) -> tuple[Finding, ...]:
    """Everything to know about the votes, with what their reader saw, the gravest first.

    `weighted` says that the counts are the user's own, and not those of rows; without `twins`, copies are told only
    where they are an alarm.

    Examples
    --------
    >>> rows = [["yes", "no", "1"], ["no", "no", "0"], ["yes", "yes", "1"]] * 5
    >>> [finding.kind for finding in find_all(Votes.from_matrix(rows, jurors=("ann", "bob", "cy")))]
    ['another_alphabet']
    """
    if len(votes.jurors) * len(votes.labels) > _MOST_CELLS:
        return votes.findings
    said = counts_said(votes)
    by_label = said.sum(axis=0)
    findings = (
        *votes.findings,
        *scale_taken(votes),
        *(() if votes.labels_told else ambiguous_words(votes.labels, by_label)),
        *similar_names("label", votes.labels),
        *similar_names("juror", votes.jurors),
        *alphabets(votes, said),
        *strange_numbers(votes, by_label),
        *(() if weighted else repeated_rows(votes)),
        *odd_labels(votes, by_label),
        *side_by_side(votes, said, twins=twins),
    )
    return tuple(sorted(dict.fromkeys(findings), key=lambda finding: _LEVELS.index(finding.level)))
