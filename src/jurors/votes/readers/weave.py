"""W&B Weave feedback (`client.get_feedback()`): calls are items; annotators and scorers are jurors."""

from __future__ import annotations

from collections.abc import Iterator

from jurors.votes.readers.feedback_files import FeedbackTool, UnknownKindError, named
from jurors.votes.readers.node import Node
from jurors.votes.readers.voices import Feedback

TITLE = "Weave export of feedback"
ASKS = True


def _says(feedback: Node) -> Iterator[Feedback]:
    """An annotation, a scorer's output (each value), a reaction, ratings, a type of one's own; notes are none."""
    kind, payload = named(feedback, "feedback_type"), feedback["payload"]
    item = named(feedback, "weave_ref")
    who = next((text for key in ("creator", "wb_user_id") if (text := feedback[key].text())), "")
    if kind.startswith("wandb.annotation."):
        yield Feedback(item, (kind.removeprefix("wandb.annotation."), who, "annotation"), payload["value"].single())
    elif kind.startswith("wandb.runnable."):
        name = kind.removeprefix("wandb.runnable.")
        for part, value in payload["output"].entries() if payload["output"].is_record else [("", payload["output"])]:
            yield Feedback(item, (f"{name}.{part}" if part else name, "", "scorer"), value.single())
    elif kind.startswith("wandb.reaction."):
        yield Feedback(item, ("reaction", who, "reaction"), payload["emoji"].single())
    elif kind.startswith("wandb.agent_"):  # tags beside the ratings are no votes: nobody says which were not given
        for name, value in feedback["scorer_ratings"].entries():
            yield Feedback(item, (name, who, "agent"), value.single())
    elif not kind.startswith("wandb.") and "value" in payload:  # `call.feedback.add("correct", {"value": 1})`
        yield Feedback(item, (kind, who, "own"), payload["value"].single())
    elif not kind.startswith("wandb.note."):
        raise UnknownKindError(kind)


_TOOL = FeedbackTool(TITLE, "weave", "feedback", (b"feedback_type", b"weave_ref", b"payload"), _says)
recognises, read = _TOOL.recognises, _TOOL.read
