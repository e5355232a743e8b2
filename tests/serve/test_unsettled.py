"""A server's alarms: jurors who vote one after the other are not silent; one who stops is, once the items settled."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from served import running

JURORS = ("ann", "bob", "cy", "dee")


@pytest.fixture
def client(tmp_path: Path) -> Iterator[httpx.Client]:
    with running(str(tmp_path / "votes.db")) as address, httpx.Client(base_url=address, timeout=120) as client:
        yield client


def votes(items: range) -> dict[str, list[dict[str, Any]]]:
    """By juror: right four times in five."""
    dice = random.Random(items.start)
    said: dict[str, list[dict[str, Any]]] = {juror: [] for juror in JURORS}
    for item in items:
        truth = dice.random() < 0.5
        for juror in JURORS:
            label = truth if dice.random() < 0.8 else not truth
            said[juror].append({"item": item, "juror": juror, "label": "yes" if label else "no"})
    return said


def rings(client: httpx.Client, votes: list[dict[str, Any]]) -> list[tuple[str, list[str]]]:
    client.post("/v1/projects/shop/votes", json={"votes": votes}).raise_for_status()
    alarms = client.get("/v1/projects/shop/alarms").raise_for_status().json()["alarms"]
    return [(alarm["kind"], alarm["jurors"]) for alarm in alarms if alarm["active"] and alarm["level"] != "note"]


def everybody(items: range) -> list[dict[str, Any]]:
    return [vote for said in votes(items).values() for vote in said]


def test_jurors_who_vote_one_after_the_other_ring_nothing(client: httpx.Client) -> None:
    client.put("/v1/projects/shop", json={"window": 200})
    assert rings(client, everybody(range(600))) == []
    for said in votes(range(600, 900)).values():
        assert rings(client, said) == []


def test_a_juror_who_stopped_rings_when_the_items_have_settled(client: httpx.Client) -> None:
    client.put("/v1/projects/shop", json={"window": 200})
    rings(client, everybody(range(600)))
    without_dee = [vote for vote in everybody(range(600, 900)) if vote["juror"] != "dee"]
    assert rings(client, without_dee) == []
    client.put("/v1/projects/shop", json={"settle": 0}).raise_for_status()
    assert rings(client, []) == [("juror_silent", ["dee"])]
