"""What is read from a server: the same documents as the command line prints for the same votes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner
from served import talked

import jurors
from jurors.cli import main

SHOP = "/v1/projects/shop"


def _rows(items: int, jury: int = 4, seed: int = 1) -> list[dict[str, Any]]:
    votes = jurors.simulate(items, jurors=jury, prevalence="0.3", seed=seed).votes
    at, juror, code = (part.tolist() for part in votes.triples())
    said = zip(at, juror, code, strict=True)
    return [{"item": f"q{i}", "juror": f"j{j}", "label": str(votes.labels[k])} for i, j, k in said]


ROWS = _rows(250)


async def _shop(client: httpx.AsyncClient, rows: list[dict[str, Any]] = ROWS, **settings: Any) -> None:
    assert (await client.put(SHOP, json=settings)).status_code in (200, 201)
    answer = await client.post(f"{SHOP}/votes", json={"votes": rows})
    assert answer.json() == {"accepted": len(rows)}


def _printed(tmp_path: Path, *arguments: str, gold: dict[str, str] | None = None) -> Any:
    votes, key = tmp_path / "votes.csv", tmp_path / "gold.csv"
    votes.write_text("item,juror,label\n" + "".join(f"{','.join(row.values())}\n" for row in ROWS))
    key.write_text("item,label\n" + "".join(f"{item},{label}\n" for item, label in (gold or {}).items()))
    command, *rest = arguments
    given = ["--gold", str(key)] if gold else []
    result = CliRunner().invoke(main, [command, str(votes), *rest, *given, "--format", "json"])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.mark.slow
def test_grade_is_what_the_command_line_prints(tmp_path: Path) -> None:
    async def talk(client: httpx.AsyncClient) -> list[httpx.Response]:
        await _shop(client)
        whole = await client.get(f"{SHOP}/grade")
        same = await client.get(f"{SHOP}/grade", headers={"If-None-Match": whole.headers["etag"]})
        return [whole, same, await client.get(f"{SHOP}/grade?partition=false")]

    whole, same, brief = talked(str(tmp_path / "votes.db"), talk)
    printed = _printed(tmp_path, "grade")
    assert whole.json() == printed
    assert (same.status_code, same.content) == (304, b"")
    assert brief.json() == {name: part for name, part in printed.items() if name != "partition"}


@pytest.mark.slow
def test_gold_takes_part_as_on_the_command_line(tmp_path: Path) -> None:
    async def talk(client: httpx.AsyncClient) -> list[Any]:
        await _shop(client)
        review = (await client.get(f"{SHOP}/review?limit=8")).json()["items"]
        gold = [{"item": one["item"], "label": one["label"]} for one in review[:7]]
        accepted = (await client.post(f"{SHOP}/gold", json={"gold": gold})).json()
        after = (await client.get(f"{SHOP}/review?limit=300")).json()
        labels = (await client.get(f"{SHOP}/labels")).json()["items"]
        return [review, gold, accepted, after, labels, (await client.get(f"{SHOP}/grade")).json()]

    review, gold, accepted, after, labels, grade = talked(str(tmp_path / "votes.db"), talk)
    key = {one["item"]: one["label"] for one in gold}
    assert accepted == {"accepted": 7}
    assert grade == _printed(tmp_path, "grade", gold=key)
    assert after["gold"] == 7
    assert not {one["item"] for one in after["items"]} & set(key)
    assert len(after["items"]) == 243
    assert {(one["label"], one["probability"]) for one in labels if one["item"] in key} <= {(x, 1.0) for x in "AB"}
    printed = _printed(tmp_path, "label", "--review", "8")["items"]
    assert [one["item"] for one in review] == [one["item"] for one in printed]
    assert [one["teaches"] for one in review] == pytest.approx([one["teaches"] for one in printed])
    assert review[0]["votes"] == {row["juror"]: row["label"] for row in ROWS if row["item"] == review[0]["item"]}


@pytest.mark.slow
def test_labels_come_in_pages_as_the_command_line_prints_them(tmp_path: Path) -> None:
    async def talk(client: httpx.AsyncClient) -> list[Any]:
        await _shop(client)
        pages, after = [], -1
        while after is not None:
            pages.append((await client.get(f"{SHOP}/labels?limit=100&after={after}")).json())
            after = pages[-1]["next"]
        return pages

    pages = talked(str(tmp_path / "votes.db"), talk)
    assert [len(page["items"]) for page in pages] == [100, 100, 50]
    printed = _printed(tmp_path, "label")
    listed = [one for page in pages for one in page["items"]]
    for name in ("item", "label"):
        assert [one[name] for one in listed] == [one[name] for one in printed["items"]]
    assert [one["probability"] for one in listed] == pytest.approx([one["probability"] for one in printed["items"]])
    assert pages[0]["expected_errors"] == pytest.approx(printed["expected_errors"])


@pytest.mark.slow
def test_windows_history_and_thresholds(tmp_path: Path) -> None:
    async def talk(client: httpx.AsyncClient) -> list[Any]:
        await _shop(client, window=100, thresholds={"min_score": 0.3, "max_wrong": 0.9})
        asked = [f"grade?window={one}" for one in ("now", "last", "0", "7")]
        return [(await client.get(f"{SHOP}/{path}")).json() for path in (*asked, "history?limit=2", "alarms")]

    now, last, first, none, history, alarms = talked(str(tmp_path / "votes.db"), talk)
    assert [one["items"] for one in (now, last, first)] == [50, 100, 100]
    assert "there is no window '7'" in none["error"]["message"]
    assert [(one["number"], one["items"], one["complete"]) for one in history["windows"]] == [
        (1, 100, True),
        (2, 50, False),
    ]
    assert set(history["windows"][0]["score"]) == {"j0", "j1", "j2", "j3"}
    assert (alarms["active"], alarms["alarms"], alarms["thresholds"]["passed"]) == (0, [], True)


def test_an_old_answer_is_given_where_it_may_be_old_and_never_otherwise(tmp_path: Path) -> None:
    async def talk(client: httpx.AsyncClient) -> list[int]:
        await _shop(client, ROWS[:400])
        first = (await client.get(f"{SHOP}/grade")).json()["items"]
        await client.post(f"{SHOP}/votes", json={"votes": ROWS})
        old, new = [(await client.get(f"{SHOP}/grade{ask}")).json()["items"] for ask in ("?max_age=60", "")]
        return [first, old, new]

    assert talked(str(tmp_path / "votes.db"), talk) == [100, 100, 250]


def test_who_cannot_be_graded_is_told_in_one_line(tmp_path: Path) -> None:
    async def talk(client: httpx.AsyncClient) -> list[httpx.Response]:
        await client.put(SHOP, json={})
        empty = await client.get(f"{SHOP}/grade")
        await _shop(client, [row for row in ROWS if row["juror"] in ("j0", "j1")])
        asked = ("grade", "grade", "labels", "review", "report", "history", "alarms")
        return [empty, *[await client.get(f"{SHOP}/{one}") for one in asked]]

    *refused, history, alarms = talked(str(tmp_path / "votes.db"), talk)
    assert [(one.status_code, one.json()["error"]["code"]) for one in refused] == [
        (409, "no_items"), *[(409, "few_jurors")] * 5,
    ]  # fmt: skip
    assert "needs at least 3 jurors" in history.json()["windows"][0]["refused"]
    assert alarms.status_code == 200


@pytest.mark.slow
def test_the_page_comes_in_a_box(tmp_path: Path) -> None:
    async def talk(client: httpx.AsyncClient) -> httpx.Response:
        await _shop(client)
        return await client.get(f"{SHOP}/report")

    page = talked(str(tmp_path / "votes.db"), talk)
    assert "<title>shop" in page.text
    assert "sandbox allow-scripts" in page.headers["content-security-policy"]
    assert "frame-ancestors 'none'" in page.headers["content-security-policy"]


def test_probes_and_metrics(tmp_path: Path) -> None:
    async def talk(client: httpx.AsyncClient) -> list[str]:
        await _shop(client)
        await client.get(f"{SHOP}/../../nowhere")
        await client.get(SHOP)
        return [(await client.get(path)).text for path in ("/healthz", "/readyz", "/metrics")]

    health, ready, metrics = talked(str(tmp_path / "votes.db"), talk)
    assert (json.loads(health), json.loads(ready)) == ({"status": "ok"}, {"status": "ready"})
    lines = metrics.splitlines()
    assert 'jurors_votes_total{project="shop"} 1000.0' in lines
    assert 'jurors_requests_total{method="POST",route="/v1/projects/{name}/votes",status="2xx"} 1.0' in lines
    assert "jurors_fold_lag_seconds 0.0" in lines
    routes = {line.split('route="')[1].split('"')[0] for line in lines if 'route="' in line}
    assert routes <= {"/v1/projects/{name}", "/v1/projects/{name}/votes", "/healthz", "/readyz", "(none)"}
