"""Write the samples beside this script from a running Label Studio (1.23.2, community, started for this alone).

pip install label-studio==1.23.2 requests
label-studio start --no-browser --username ann@example.com --password … --user-token TOKEN --enable-legacy-api-token
python make_label_studio.py http://127.0.0.1:8080 TOKEN
"""

# mypy: ignore-errors

import json
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
CONFIG = """<View><Text name="text" value="$text"/>
<Choices name="verdict" toName="text" choice="single"><Choice value="right"/><Choice value="wrong"/></Choices>
<Rating name="sure" toName="text"/><TextArea name="comment" toName="text"/></View>"""
TEXTS = ["Paris is in France.", "Rome is in Spain.", "Oslo is in Norway.", "Bern is in Italy."]
SAID = {"ann": ["right", "wrong", "right", None], "bob": ["right", "right", None, "wrong"]}  # None: cancelled
MODEL = ["right", "wrong", "wrong", "wrong"]


def part(tag: str, kind: str, **value: Any) -> dict[str, Any]:
    """What one control tag says."""
    return {"from_name": tag, "to_name": "text", "type": kind, "value": value}


def main(url: str, token: str) -> None:
    """Make a project, let two people and a model label it, export it in three ways."""
    import requests

    session = requests.Session()
    session.headers["Authorization"] = f"Token {token}"

    def post(path: str, body: Any) -> Any:
        answer = session.post(url + path, json=body)
        answer.raise_for_status()
        return answer.json()

    bob = post("/api/users/", {"email": "bob@example.com", "username": "bob", "first_name": "Bob"})["id"]
    ann = session.get(url + "/api/current-user/whoami").json()["id"]
    project = post("/api/projects/", {"title": "verdicts", "label_config": CONFIG})["id"]
    tasks = [post("/api/tasks/", {"project": project, "data": {"text": text}})["id"] for text in TEXTS]
    for who, user in (("ann", ann), ("bob", bob)):
        for task, verdict in zip(tasks, SAID[who], strict=True):
            result = [part("verdict", "choices", choices=[verdict or "right"]), part("sure", "rating", rating=4)]
            result += [part("comment", "textarea", text=["not sure"])] if who == "bob" else []
            body = {"result": result, "was_cancelled": verdict is None, "completed_by": user, "lead_time": 2.5}
            post(f"/api/tasks/{task}/annotations/", body)
    post(f"/api/tasks/{tasks[2]}/drafts", {"result": [part("verdict", "choices", choices=["wrong"])]})
    for task, verdict in zip(tasks, MODEL, strict=True):
        result = [part("verdict", "choices", choices=[verdict])]
        post("/api/predictions/", {"task": task, "result": result, "score": 0.8, "model_version": "small-model"})
    for name in ("JSON", "JSON_MIN"):
        answer = session.get(f"{url}/api/projects/{project}/export", params={"exportType": name})
        answer.raise_for_status()
        (HERE / f"{name.lower()}.json").write_text(json.dumps(answer.json(), indent=1, ensure_ascii=False) + "\n")
    options = {"serialization_options": {"predictions": {"only_id": False}}}  # else: the predictions' numbers alone
    made = post(f"/api/projects/{project}/exports/", options)["id"]
    answer = session.get(f"{url}/api/projects/{project}/exports/{made}/download", params={"exportType": "JSON"})
    answer.raise_for_status()
    (HERE / "snapshot.json").write_text(json.dumps(answer.json(), indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
