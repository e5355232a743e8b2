"""Votes over HTTP: what is taken, and what is refused in one line."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx
import pytest
from served import talked

VOTE = {"item": "q1", "juror": "ann", "label": "yes"}
JSON = {"Content-Type": "application/json"}


async def post(client: httpx.AsyncClient, votes: Any, name: str = "p") -> httpx.Response:
    return await client.post(f"/v1/projects/{name}/votes", json={"votes": votes})


def test_votes_are_taken_counted_and_corrected(place: str) -> None:
    async def talk(client: httpx.AsyncClient) -> list[Any]:
        made = [(await client.put("/v1/projects/p", json={})).status_code for _ in range(2)]
        votes = [VOTE, {**VOTE, "juror": 7, "label": False}, VOTE]
        answers = [(await post(client, each)).json() for each in (votes, votes, [{**VOTE, "label": "no"}], [])]
        return [made, answers, (await client.get("/v1/projects/p")).json()]

    made, answers, project = talked(place, talk)
    assert made == [201, 200]
    assert answers == [{"accepted": 3}, {"accepted": 3}, {"accepted": 1}, {"accepted": 0}]
    assert (project["items"], project["votes"], project["jurors"], project["labels"]) == (1, 2, 2, ["yes", False, "no"])


WRONG: dict[str, tuple[Any, str]] = {
    "no list": ("x", "votes must be a list"),
    "no object": ([1], "vote 0 is no object"),
    "no label": ([VOTE, {"item": "q", "juror": "a"}], "vote 1 has no 'label'"),
    "another part": ([{**VOTE, "colour": "red"}], "vote 0 has 'colour'"),
    "no text": ([{**VOTE, "item": [1]}], "vote 0: its item must be text"),
    "truth value for a name": ([{**VOTE, "juror": True}], "vote 0: its juror must be text"),
    "no such label": ([{**VOTE, "label": None}], "vote 0: its label must be text, a number"),
    "empty": ([VOTE, {**VOTE, "label": ""}], "its label is empty"),
    "long": ([{**VOTE, "item": "x" * 501}], "vote 0: its item is longer than 500 characters"),
    "nul": ([{**VOTE, "item": "a\0b"}], "vote 0: its item holds a character that cannot be kept"),
    "time": ([{**VOTE, "time": "noon"}], "vote 0: its time 'noon' is neither seconds since 1970 nor like"),
}


def test_what_is_no_vote_is_one_line_and_nothing_is_taken(tmp_path: Any) -> None:
    async def talk(client: httpx.AsyncClient) -> Any:
        await client.put("/v1/projects/p", json={})
        answers = {name: await post(client, votes) for name, (votes, _) in WRONG.items()}
        broken = await client.post("/v1/projects/p/votes", content=b'{"votes": [', headers=JSON)
        half_a_character = json.dumps({"votes": [{**VOTE, "item": "\ud800"}]})
        half = await client.post("/v1/projects/p/votes", content=half_a_character, headers=JSON)
        return answers, broken, half, await post(client, [VOTE], "nobody"), (await client.get("/v1/projects/p")).json()

    answers, broken, half, stranger, project = talked(str(tmp_path / "votes.db"), talk)
    for name, (_, line) in WRONG.items():
        error = answers[name].json()["error"]
        assert (answers[name].status_code, error["code"]) == (422, "bad_vote"), name
        assert line in error["message"], (name, error["message"])
        assert "\n" not in error["message"]
    assert (broken.status_code, broken.json()["error"]["code"]) == (400, "damaged")
    assert half.status_code in (400, 422)
    assert (stranger.status_code, stranger.json()["error"]["code"]) == (404, "no_project")
    assert project["votes"] == 0


def test_a_label_that_was_not_named_is_refused_until_it_is(tmp_path: Any) -> None:
    async def talk(client: httpx.AsyncClient) -> list[int]:
        await client.put("/v1/projects/p", json={"labels": ["no"]})
        first = await post(client, [VOTE])
        await client.put("/v1/projects/p", json={"labels": ["no", "yes"]})
        return [first.status_code, (await post(client, [VOTE])).status_code]

    assert talked(str(tmp_path / "votes.db"), talk) == [422, 200]


def test_votes_for_a_project_that_was_made_anew_go_to_the_new_one(tmp_path: Any) -> None:
    async def talk(client: httpx.AsyncClient) -> Any:
        await client.put("/v1/projects/p", json={})
        await post(client, [VOTE])
        await client.delete("/v1/projects/p")
        gone = await post(client, [VOTE])
        await client.put("/v1/projects/p", json={})
        await post(client, [VOTE, {**VOTE, "item": "q2"}])
        return gone.status_code, (await client.get("/v1/projects/p")).json()["votes"]

    assert talked(str(tmp_path / "votes.db"), talk) == (404, 2)


def test_many_at_once_share_a_commit_and_each_is_answered(tmp_path: Any) -> None:
    async def talk(client: httpx.AsyncClient) -> Any:
        await client.put("/v1/projects/p", json={})
        answers = await asyncio.gather(*(post(client, [{**VOTE, "item": f"q{k}"}]) for k in range(30)))
        return {one.json()["accepted"] for one in answers}, (await client.get("/v1/projects/p")).json()["items"]

    assert talked(str(tmp_path / "votes.db"), talk) == ({1}, 30)


def test_logs_are_json_lines_without_queries(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    async def talk(client: httpx.AsyncClient) -> None:
        await client.get("/v1/projects?key=jk_secret", headers={"Authorization": "Bearer jk_secret"})

    talked(str(tmp_path / "votes.db"), talk)
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [(one["event"], one["path"], one["status"]) for one in lines] == [("request", "/v1/projects", 200)]
    assert "secret" not in json.dumps(lines)


@pytest.mark.slow
def test_more_labels_or_votes_than_a_project_may_have_are_refused(tmp_path: Any) -> None:
    async def talk(client: httpx.AsyncClient) -> Any:
        await client.put("/v1/projects/p", json={})
        some = [{**VOTE, "item": f"q{k}", "label": f"score {k}"} for k in range(200)]
        more = [{**VOTE, "item": f"r{k}", "label": f"score {200 + k}"} for k in range(100)]
        return [await post(client, each) for each in (some, more, some[:1] * 100_001)]

    taken, many, huge = talked(str(tmp_path / "votes.db"), talk)
    assert taken.json() == {"accepted": 200}
    assert (many.status_code, many.json()["error"]["code"]) == (409, "many_labels")
    assert (huge.status_code, huge.json()["error"]["code"]) == (413, "many_votes")


def test_logs_of_other_tools_are_votes_too(tmp_path: Any) -> None:
    annotation = {"name": "tone", "annotator_kind": "LLM", "span_id": "s1", "result": {"label": "polite", "score": 1}}
    other = {**annotation, "name": "safety", "result": {"label": "rude"}}

    async def talk(client: httpx.AsyncClient) -> Any:
        await client.put("/v1/projects/p", json={})
        bodies = (json.dumps([annotation, other]), '{"resourceSpans": 7}', '{"spans": []}')
        answers = [await client.post("/v1/projects/p/votes", content=body, headers=JSON) for body in bodies]
        return answers, (await client.get("/v1/projects/p")).json()

    (taken, damaged, unknown), project = talked(str(tmp_path / "votes.db"), talk)
    assert taken.json() == {"accepted": 2}, taken.json()
    assert (project["items"], project["jurors"]) == (1, 2)
    assert (damaged.status_code, unknown.status_code) == (422, 422)
    assert str(tmp_path) not in damaged.text
    assert "jurors-" not in damaged.text
