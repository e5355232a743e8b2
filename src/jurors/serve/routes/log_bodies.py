"""Bodies that other tools write, as votes: OTLP-JSON or OpenInference annotations, and logs of Inspect AI."""

from __future__ import annotations

from typing import Any

from jurors.errors import VotesError
from jurors.scratch import scratch
from jurors.serve.batch import Batch, batch_of
from jurors.serve.refused import Refused

#: what a document holds -> who wrote it
_SHAPES = {
    "resourceSpans": "openinference", "resourceLogs": "openinference", "annotator_kind": "openinference",
    "context": "openinference", "eval": "inspect",
}  # fmt: skip


def tool_of(document: Any) -> str | None:
    """The tool that wrote a document; None where none of ours did.

    >>> tool_of({"resourceSpans": []}), tool_of({"eval": {}, "samples": []}), tool_of({"votes": []})
    ('openinference', 'inspect', None)
    """
    first = document[0] if isinstance(document, list) and document else document
    if isinstance(first, dict) and isinstance(first.get("data"), list) and first["data"]:
        first = first["data"][0]  # annotations, as Phoenix returns them
    return next((tool for key, tool in _SHAPES.items() if isinstance(first, dict) and key in first), None)


def votes_of_log(body: bytes, tool: str) -> Batch:
    """The votes of a tool's document, by the reader that files have."""
    from jurors.votes import read_votes

    with scratch() as folder:
        path = folder / "body.json"
        path.write_bytes(body)
        try:
            votes = read_votes(path, tool=tool)
        except VotesError as error:  # without the name of our temporary file
            raise Refused(422, error.code, error.fault.replace(str(path), "the body")) from None
    row, juror, label = votes.triples()
    names = votes.item_names()[row].tolist()
    said = zip(names, juror.tolist(), label.tolist(), strict=True)
    return batch_of([{"item": str(i), "juror": votes.jurors[j], "label": votes.labels[k]} for i, j, k in said])
