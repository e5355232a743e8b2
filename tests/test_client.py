"""Both clients: what they send, how they try again, how a refusal reads."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pandas as pd
import pytest

import jurors
from jurors import client as calls
from jurors.errors import ServerError

URL = "http://127.0.0.1:8000"
VOTES = [("q1", "ann", "yes"), ("q1", "bob", "no"), ("q2", "ann", "yes")]

Answer = Callable[[httpx.Request], httpx.Response]


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "_LONGEST_WAIT", 0.0)


def _client(answer: Answer, **options: Any) -> jurors.Client:
    return jurors.Client(URL, transport=httpx.MockTransport(answer), **options)


def _answering(*answers: httpx.Response | Exception) -> tuple[list[httpx.Request], Answer]:
    """The requests as they come, and a server that answers so, one after the other."""
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        response = answers[min(len(seen), len(answers) - 1)]
        seen.append(request)
        if isinstance(response, Exception):
            raise response
        return response

    return seen, answer


def _accepted(many: int) -> httpx.Response:
    return httpx.Response(200, json={"accepted": many})


def _votes(requests: list[httpx.Request]) -> list[Any]:
    return [json.loads(request.content)["votes"] for request in requests]


@pytest.mark.parametrize(
    "votes",
    [
        VOTES,
        [dict(zip(("item", "juror", "label"), vote, strict=True)) for vote in VOTES],
        pd.DataFrame(VOTES, columns=["item", "juror", "label"]),
        jurors.Votes.from_columns(*zip(*VOTES, strict=True)),
    ],
    ids=["tuples", "mappings", "frame", "votes"],
)
def test_votes_go_in_batches_whatever_holds_them(votes: Any) -> None:
    seen, answer = _answering(_accepted(2), _accepted(1))
    assert _client(answer).post_votes("shop", votes, batch=2) == 3
    assert [len(batch) for batch in _votes(seen)] == [2, 1]
    assert [tuple(vote.values()) for batch in _votes(seen) for vote in batch] == VOTES


def test_gold_is_what_gold_is_elsewhere(tmp_path: Path) -> None:
    frame = pd.DataFrame({"question_id": ["q1", "q1"], "model": ["a", "b"], "label": ["yes", "no"]})
    frame.to_csv(tmp_path / "gold.csv", index=False)
    labels = {"q1|a": "yes", "q1|b": "no"}
    records = [{"item": item, "label": label} for item, label in labels.items()]
    given: list[Any] = [frame, tmp_path / "gold.csv", labels, pd.Series(labels), list(labels.items()), records]
    seen, answer = _answering(httpx.Response(200, json={"accepted": 2, "unvoted": 0, "unused_labels": ["no"]}))
    for gold in given:
        assert _client(answer).post_gold("shop", gold)["unused_labels"] == ["no"]
        assert json.loads(seen[-1].content) == {"gold": records}
    for gold in (["yes", "no"], [("q1", "a", "yes")]):
        with pytest.raises(jurors.JurorsError, match="need the names of their items: give a mapping"):
            _client(answer).post_gold("shop", gold)


@pytest.mark.parametrize(
    "votes",
    [
        pd.DataFrame(
            {"question_id": ["q1", "q2"], "model": ["m", "m"], "judge_1": ["yes", "no"], "judge_2": ["no", None]}
        ),
        {"question_id": [*"12"], "model": [*"mm"], "judge_1": [*"yn"], "judge_2": ["n", ""]},
        pd.DataFrame(
            {"task": [*"1122"], "worker": [*"abab"], "label": ["yes", "no", None, "no"], "language": ["en"] * 4}
            | {"time": ["1970-01-01", None, None, None]}
        ),
        [*VOTES, ("q3", "ann", None), ("q3", "bob", float("nan"))],
    ],
    ids=["wide", "columns", "long", "tuples"],
)
def test_every_frame_that_is_graded_is_sent_and_blank_cells_are_no_votes(votes: Any) -> None:
    seen, answer = _answering(_accepted(3))
    assert _client(answer).post_votes("shop", votes) == 3
    (batch,) = _votes(seen)
    assert {"item", "juror", "label"} <= set(batch[0]) <= {"item", "juror", "label", "time"}
    assert len({(vote["item"], vote["juror"]) for vote in batch}) == 3
    assert not isinstance(votes, pd.DataFrame) or "time" not in votes or batch[0]["time"] == 0.0


@pytest.mark.parametrize("fault", [503, 429, 502, "network"], ids=["down", "rate", "gateway", "network"])
def test_what_may_succeed_later_is_tried_again(fault: Any) -> None:
    away = httpx.ConnectError("refused") if fault == "network" else httpx.Response(fault, headers={"Retry-After": "1"})
    seen, answer = _answering(away, away, _accepted(3))
    assert _client(answer).post_votes("shop", VOTES) == 3
    assert [request.content for request in seen] == [seen[0].content] * 3


def test_a_server_that_asks_for_more_time_gets_it(monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []
    monkeypatch.setattr(calls, "_LONGEST_WAIT", 30.0)
    monkeypatch.setattr("time.sleep", waited.append)
    _, answer = _answering(httpx.Response(503, headers={"Retry-After": "5"}), _accepted(3))
    assert _client(answer).post_votes("shop", VOTES) == 3
    assert waited == [5.0]


def test_a_refusal_is_told_at_once_in_the_servers_line() -> None:
    refusal = {"error": {"code": "no_project", "message": "project 'shop' does not exist"}}
    seen, answer = _answering(httpx.Response(404, json=refusal))
    with pytest.raises(ServerError, match="project 'shop' does not exist") as refused:
        _client(answer).grade("shop")
    assert (refused.value.status, refused.value.reason, len(seen)) == (404, "no_project", 1)


def test_a_server_that_stays_away_is_one_line() -> None:
    _, answer = _answering(httpx.ConnectError("refused"))
    with pytest.raises(ServerError, match=r"^cannot connect to http://127\.0\.0\.1:8000: refused$") as gone:
        _client(answer, retries=2).alarms("shop")
    assert gone.value.status is None


@pytest.mark.parametrize("text", ["<html>", "[1]", ""], ids=["page", "list", "nothing"])
def test_an_answer_that_is_no_document_is_one_line(text: str) -> None:
    with pytest.raises(ServerError, match="check that the address is that of `jurors serve`"):
        _client(_answering(httpx.Response(200, text=text))[1]).grade("shop")


def test_the_key_goes_in_the_header_and_shows_nowhere() -> None:
    seen, answer = _answering(httpx.Response(200, json={}))
    client = _client(answer, key="jk_secret")
    client.grade("a/../b", window="last")
    assert seen[0].headers["authorization"] == "Bearer jk_secret"
    assert seen[0].url.raw_path == b"/v1/projects/a%2F..%2Fb/grade?window=last"
    assert "secret" not in repr(client)
    client.retire("shop", "ann", replaced_by="eve")
    client.announce("shop", "zoe")
    assert [(request.url.path, json.loads(request.content)) for request in seen[1:]] == [
        ("/v1/projects/shop/retired", {"juror": "ann", "replaced_by": "eve"}),
        ("/v1/projects/shop/announced", {"juror": "zoe"}),
    ]


def test_a_redirect_does_not_take_the_key_elsewhere() -> None:
    seen, answer = _answering(httpx.Response(302, headers={"Location": "http://evil.example/"}))
    with pytest.raises(ServerError):
        _client(answer, key="jk_secret").grade("shop")
    assert [request.url.host for request in seen] == ["127.0.0.1"]


def test_the_client_that_is_awaited_does_the_same() -> None:
    seen, answer = _answering(httpx.Response(503), _accepted(2), _accepted(1))

    async def use() -> int:
        async with jurors.AsyncClient(URL, transport=httpx.MockTransport(answer)) as client:
            return await client.post_votes("shop", VOTES, batch=2)

    assert asyncio.run(use()) == 3
    assert [len(batch) for batch in _votes(seen)] == [2, 2, 1]


def test_without_httpx_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx", None)
    with pytest.raises(jurors.JurorsError, match=r"^Client needs httpx: pip install 'jurors\[serve\]'$"):
        jurors.Client(URL)


def test_an_address_that_is_none_is_refused() -> None:
    with pytest.raises(jurors.OptionError, match="must start with http"):
        jurors.Client("127.0.0.1:8000")


@pytest.mark.parametrize("key", ["jk_…", "jk_a\r\nX-Evil: 1"], ids=["cut", "header"])
def test_a_key_that_is_none_is_refused_and_not_told(key: str) -> None:
    with pytest.raises(jurors.OptionError, match="this is not an API key") as refused:
        jurors.Client(URL, key=key)
    assert key not in str(refused.value)
