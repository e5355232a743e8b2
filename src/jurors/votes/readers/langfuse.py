"""Langfuse scores (`/api/public/v2/scores`, v3): traces or what is in them are items, whoever scored is a juror."""

from __future__ import annotations

from collections.abc import Iterator

from jurors.votes.readers.feedback_files import FeedbackTool, UnknownKindError, named
from jurors.votes.readers.node import Node
from jurors.votes.readers.voices import Feedback

TITLE = "Langfuse export of scores"
ASKS = True
_NO_VOTES = ("TEXT", "CORRECTION")
_TRUTH = {1: True, 0: False, "True": True, "False": False}


def _says(score: Node) -> Iterator[Feedback]:
    kind = score["dataType"].text()
    if kind in _NO_VOTES:
        return
    if kind not in ("NUMERIC", "CATEGORICAL", "BOOLEAN"):
        raise UnknownKindError(kind)
    about = score["subject"]  # version 3 of the API; before, each kind of subject had a key of its own
    item = (
        named(about, "id") if about.is_record else named(score, "observationId", "traceId", "sessionId", "datasetRunId")
    )
    value, text = score["value"].single(), score["stringValue"].single()
    if kind == "CATEGORICAL" and text is not None:
        value = text
    if kind == "BOOLEAN" and value is not None:
        if value not in _TRUTH:
            raise score["value"].wrong("1 or 0")
        value = _TRUTH[value]
    voice = named(score, "name"), score["authorUserId"].text(), score["source"].text()
    yield Feedback(item, voice, value)


_TOOL = FeedbackTool(TITLE, "langfuse", "score", (b"dataType", b"source", b"timestamp", b"name"), _says)
recognises, read = _TOOL.recognises, _TOOL.read
