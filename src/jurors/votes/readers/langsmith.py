"""LangSmith feedback (`client.list_feedback()`, the API's pages): runs are items, whoever gave feedback is a juror."""

from __future__ import annotations

from collections.abc import Iterator

from jurors.votes.readers.feedback_files import FeedbackTool, named
from jurors.votes.readers.node import Node
from jurors.votes.readers.voices import Feedback

TITLE = "LangSmith export of feedback"
ASKS = True


def _says(feedback: Node) -> Iterator[Feedback]:
    """The value where one is shown to people, else the score; a correction or comment alone is no vote."""
    source = feedback["feedback_source"]
    who = next((text for key in ("user_name", "user_id") if (text := source[key].text())), "")
    value = feedback["value"].single()
    voice = named(feedback, "key"), who, source["type"].text()
    yield Feedback(named(feedback, "run_id", "trace_id"), voice, feedback["score"].single() if value is None else value)


_TOOL = FeedbackTool(TITLE, "langsmith", "key", (b"run_id", b"key", b"feedback_source"), _says)
recognises, read = _TOOL.recognises, _TOOL.read
