"""Votes over HTTP: what is accepted, and what is refused in one line."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from served import client_of, error_of
from starlette.testclient import TestClient

from jurors.cli.main import main

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


@pytest.mark.parametrize("window", ["0.001s", "1h/0.5s", "365d/1s", "1000000/1", "9999999d", f"{'9' * 400}s"])
def test_a_window_whose_panes_would_be_too_many_is_refused(client: TestClient, window: str) -> None:
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
        ended = CliRunner().invoke(main, [*command, flag])
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


def test_many_at_once_share_a_commit_and_each_is_answered(project: TestClient) -> None:
    with ThreadPoolExecutor(30) as threads:
        answers = list(threads.map(lambda k: post(project, [{**VOTE, "item": f"q{k}"}]).json(), range(30)))
    assert answers == [{"accepted": 1}] * 30
    assert project.get(P).json()["items"] == 30


def test_logs_of_other_tools_are_votes_too(project: TestClient) -> None:
    annotation = {"name": "tone", "annotator_kind": "LLM", "span_id": "s1", "result": {"label": "polite", "score": 1}}
    other = {**annotation, "name": "safety", "result": {"label": "rude"}}
    assert post_text(project, json.dumps([annotation, other])).json() == {"accepted": 2}
    damaged = post_text(project, '{"resourceSpans": 7}')
    assert (damaged.status_code, post_text(project, '{"spans": []}').status_code) == (422, 422)
    assert "jurors-" not in damaged.text  # the name of no temporary file
    found = project.get(P).json()
    assert (found["items"], found["jurors"]) == (1, 2)
