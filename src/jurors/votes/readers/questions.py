"""Tools that ask several questions about one item: which of them the votes are about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jurors.errors import VotesError
from jurors.names import nearest


def chosen_question(questions: Mapping[str, bool], wanted: str | None, tool: str) -> str | None:
    """The question asked for, or the only one whose answers are labels; None where there is no question at all.

    Examples
    --------
    >>> chosen_question({"comment": False, "verdict": True}, None, "argilla")
    'verdict'

    """
    if wanted is not None and questions:
        name: str = nearest(wanted, tuple(questions), "question")
        if questions[name]:
            return name
        raise VotesError(f"the answers to {name!r} are no labels; choose another question")
    labelled = [question for question, takes_labels in questions.items() if takes_labels]
    if len(labelled) == 1:
        return labelled[0]
    if not questions:
        return None
    names = ", ".join(sorted(labelled or questions)[:12])
    if not labelled:
        raise VotesError(f"no question takes labels; found {names}")
    choose = f"{tool}:{labelled[0]}"
    message = f"{len(labelled)} questions are asked: {names}; choose one with --from {choose}"
    raise VotesError(message, code="several_questions", known=labelled, tool=choose)


def joined_label(value: Any) -> Any:
    """One label for one or several given at once, whatever their order: "a+b"; None for none.

    Examples
    --------
    >>> joined_label(["urgent", "bug"]), joined_label(["bug"]), joined_label([]), joined_label(4)
    ('bug+urgent', 'bug', None, 4)

    """
    if not isinstance(value, list):
        return value
    return "+".join(sorted(map(str, value))) if value else None
