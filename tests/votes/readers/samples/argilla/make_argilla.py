"""Write the samples beside this script with Argilla itself (argilla 2.8.0, no server: rg.Record and its exporters).

pip install argilla==2.8.0 requests && python make_argilla.py
"""

# mypy: ignore-errors

import json
from pathlib import Path
from uuid import UUID

HERE = Path(__file__).parent
ANN, BOB, CY = (UUID(int=number) for number in (1, 2, 3))
SAID = [
    # text, then (user, verdict, status), then what the model suggested
    ("Paris is in France.", [(ANN, "right", "submitted"), (BOB, "right", "submitted")], "right"),
    ("Rome is in Spain.", [(ANN, "wrong", "submitted"), (BOB, "right", "draft"), (CY, "wrong", "submitted")], "wrong"),
    ("Oslo is in Norway.", [(ANN, "right", "submitted"), (CY, "wrong", "discarded")], "right"),
    ("Bern is in Italy.", [(BOB, "right", "submitted"), (CY, "wrong", "submitted")], "wrong"),
    ("Nobody looked at this one.", [], None),
]


def records():
    """The records as a server would hand them out."""
    import argilla as rg

    for number, (text, responses, suggested) in enumerate(SAID, 1):
        yield rg.Record(
            id=f"q{number}",
            fields={"text": text},
            metadata={"source": "hand"},
            responses=[rg.Response("verdict", value, user, status=status) for user, value, status in responses],
            suggestions=[rg.Suggestion("verdict", suggested, score=0.9, agent="small-model")] if suggested else [],
        )


def main():
    """Write the files."""
    from argilla.records._io import GenericIO, JsonIO  # what dataset.records.to_json and to_list call

    (HERE / "nested.json").unlink(missing_ok=True)
    JsonIO.to_json(list(records()), HERE / "nested.json")
    lines = [json.dumps(record) for record in GenericIO.to_list(list(records()), flatten=True)]
    (HERE / "flat.jsonl").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
