"""Votes over HTTP: what is accepted, and what is refused in one line."""

from __future__ import annotations

import asyncio
import json
import time
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from command_line import run
from served import client_of, error_of
from starlette.testclient import TestClient

from jurors.serve import votes as posted
from jurors.serve.database import Project
from jurors.serve.errors import ApiError
from jurors.serve.grading import ProjectReader
from jurors.serve.store import SqlStore, batch_of

VOTE = {"item": "q1", "juror": "ann", "label": "yes"}
P = "/v1/projects/p"


@pytest.fixture
def project(client: TestClient) -> TestClient:
    client.put(P, json={})
    return client


def post(client: TestClient, votes: Any, name: str = "p") -> Any:
    return client.post(f"/v1/projects/{name}/votes", json={"votes": votes})


def post_text(client: TestClient, body: str) -> Any:
    return client.post(f"{P}/votes", content=body, headers={"Content-Type": "application/json"})


def test_votes_are_accepted_counted_and_corrected(place: str) -> None:
    with client_of(place) as client:
        assert [client.put(P, json={}).status_code for _ in range(2)] == [201, 200]
        votes = [VOTE, {**VOTE, "juror": 7, "label": False}, VOTE]
        answers = [post(client, each).json()["accepted"] for each in (votes, votes, [{**VOTE, "label": "no"}], [])]
        assert answers == [3, 3, 1, 0]
        project = client.get(P).json()
    assert (project["items"], project["votes"], project["jurors"], project["labels"]) == (1, 2, 2, ["yes", False, "no"])


@pytest.mark.parametrize(
    ("votes", "line"),
    [
        ("x", "votes must be a list"),
        ([1], "vote 0 is not an object"),
        ([VOTE, {"item": "q", "juror": "a"}], "vote 1 has no 'label'"),
        ([{**VOTE, "colour": "red"}], "vote 0 has an unknown key 'colour'"),
        ([{**VOTE, "item": [1]}], "vote 0: the item must be text"),
        ([{**VOTE, "juror": True}], "vote 0: the juror must be text"),
        ([{**VOTE, "label": None}], "vote 0: the label must be text, a number"),
        ([VOTE, {**VOTE, "label": ""}], "the label is empty"),
        ([{**VOTE, "item": "x" * 501}], "vote 0: the item is longer than 500 characters"),
        ([{**VOTE, "item": "a\0b"}], "vote 0: the item contains a character that cannot be stored"),
        ([{**VOTE, "time": "noon"}], "vote 0: the time 'noon' is neither seconds since 1970 nor ISO 8601"),
        ([{**VOTE, "time": 1e300}], "vote 0: the time 1e+300 is neither"),
        ([{**VOTE, "time": -(10**4000)}], "vote 0: the time -1000"),
        ([{**VOTE, "time": "9999-12-31T23:59:59-01:00"}], "of the years 1 to 9999"),
        ([VOTE, {**VOTE, "time": 1735689600 * 10**9}], "vote 1: the time 1735689600000000000 looks like nanoseconds"),
        ([VOTE, {**VOTE, "label": 10**501}], "vote 1: the label is longer than 500 characters"),
    ],
)
def test_what_is_no_vote_is_refused_in_one_line(project: TestClient, votes: Any, line: str) -> None:
    answer = post(project, votes)
    assert error_of(answer) == (422, "bad_vote")
    assert line in answer.json()["error"]["message"]
    assert "\n" not in answer.json()["error"]["message"]
    assert project.get(P).json()["votes"] == 0


@pytest.mark.parametrize("window", [0, "", "0.001s", "1h/0.5s", "365d/1s", "1000000/1", "9999999d", f"{'9' * 400}s"])
def test_a_window_that_is_none_or_has_too_many_panes_is_refused(client: TestClient, window: int | str) -> None:
    assert error_of(client.put(P, json={"window": window})) == (400, "out_of_range")


def test_a_batch_in_quarantine_is_counted_shown_and_replayed(client: TestClient, tmp_path: Path) -> None:
    client.put(P, json={})
    store = client.app.state.store  # type: ignore[attr-defined]
    post(client, [VOTE])
    store.execute("UPDATE inbox SET batch = '[]'")
    post(client, [{**VOTE, "item": "q2"}])
    assert [(each["votes"], each["quarantined"]) for each in client.get("/v1/projects").json()["projects"]] == [(1, 1)]
    assert 'jurors_quarantined_votes{project="p"} 1.0' in client.get("/metrics").text.splitlines()
    command = ["store", "quarantine", "--store", str(tmp_path / "votes.db"), "--format", "csv"]
    for flag, left in (("--replay", 1), ("--drop", 0)):
        ended = run(*command, flag)
        assert (ended.exit_code, ended.stdout.count("not enough values to unpack")) == (0, 1)
        assert client.get(P).json()["quarantined"] == left


def test_a_body_that_is_no_votes_is_refused(project: TestClient) -> None:
    assert error_of(post_text(project, '{"votes": [')) == (400, "damaged")
    half_a_character = json.dumps({"votes": [{**VOTE, "item": "\ud800"}]})
    assert post_text(project, half_a_character).status_code in (400, 422)
    assert error_of(post(project, [VOTE], "unknown")) == (404, "no_project")


def test_a_project_is_the_one_that_is_there_now(project: TestClient) -> None:
    """Not the one that was deleted, nor the one that did not know the label yet."""
    post(project, [VOTE])
    project.delete(P)
    assert post(project, [VOTE]).status_code == 404
    project.put(P, json={"labels": ["no"]})
    assert post(project, [VOTE]).status_code == 422
    project.put(P, json={"labels": ["no", "yes"]})
    post(project, [VOTE, {**VOTE, "item": "q2"}])
    assert project.get(P).json()["votes"] == 2


def test_labels_that_are_named_later_hold_for_those_that_came_before(
    project: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert post(project, [VOTE]).status_code == 200
    project.put(P, json={"labels": ["no", "maybe"]})
    later = time.monotonic() + 2
    monkeypatch.setattr(time, "monotonic", lambda: later)
    assert error_of(post(project, [VOTE])) == (422, "bad_vote")
    assert post(project, [{**VOTE, "label": "no"}]).status_code == 200


def test_many_at_once_share_a_commit_and_each_is_answered(project: TestClient) -> None:
    with ThreadPoolExecutor(30) as threads:
        answers = list(threads.map(lambda k: post(project, [{**VOTE, "item": f"q{k}"}]).json(), range(30)))
    assert answers == [{"accepted": 1}] * 30
    assert project.get(P).json()["items"] == 30


def test_a_batch_that_nobody_waits_for_is_not_stored_after_its_repetition(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client gives up, sends the vote again, and corrects it: the first request must not come last."""
    monkeypatch.setattr(posted, "_PATIENCE", 0.3)
    with client_of(place) as client:
        client.put(P, json={})
        post(client, [VOTE])
        store: SqlStore = client.app.state.store  # type: ignore[attr-defined]
        append, begun, held = store.append, Event(), Event()

        def slow(batches: Any) -> None:
            begun.set()
            held.wait(60)
            append(batches)

        monkeypatch.setattr(store, "append", slow)
        with ThreadPoolExecutor(3) as threads:  # the first is being written, the others wait behind it
            first = threads.submit(post, client, [{**VOTE, "item": "q0"}])
            assert begun.wait(60)
            answers = list(threads.map(lambda _: post(client, [{**VOTE, "label": "no"}]), range(2)))
            held.set()
            assert first.result().status_code == 200
        assert [error_of(answer) for answer in answers] == [(503, "store_down")] * 2
        assert answers[0].headers["retry-after"] == "1"
        monkeypatch.setattr(store, "append", append)
        assert [post(client, [{**VOTE, "label": label}]).status_code for label in ("no", "yes")] == [200, 200]
        assert [item["label"] for item in _labels(store)] == ["yes", "yes"]


def _labels(store: SqlStore) -> list[dict[str, Any]]:
    counts = ProjectReader(store).latest("p")
    return [{"item": item, "label": counts.votes_of(key)["ann"]} for _, item, key in store.items(counts.project.id)]


def test_a_batch_whose_sender_has_gone_is_not_stored() -> None:
    class State:
        """An application whose journal never writes."""

        journal = validator = property(lambda self: self)

        def __init__(self) -> None:
            self.future: Future[None] = Future()

        async def project(self, name: str, batch: Any) -> Any:
            return Project(1, name, {}, 0, 0, None, 0, 0, 0, 0)

        def append(self, project: int, batch: Any) -> Future[None]:
            return self.future

    async def run() -> None:
        gone = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().call_later(0.01, gone.set_result, None)
        for refusal, tried in (("is unavailable", True), ("the connection closed", False)):
            state = State()
            with pytest.raises(ApiError, match=refusal):
                await posted._store("p", batch_of([VOTE]), state, gone)
            assert state.future.cancelled() == tried

    asyncio.run(run())


def test_a_backlog_is_refused_until_it_is_counted(client: TestClient) -> None:
    client.put(P, json={})
    state = client.app.state  # type: ignore[attr-defined]
    state.validator._waiting = lambda project: 200_001
    answer = post(client, [VOTE])
    assert (*error_of(answer), answer.headers["retry-after"]) == (503, "too_many_requests", "5")
    state.validator._waiting = lambda project: 0
    assert post(client, [VOTE]).status_code == 200
