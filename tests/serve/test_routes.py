"""What a server answers: the same documents as the command line prints for the same votes; charts, events, alarms."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from served import client_of, error_of
from starlette.testclient import TestClient

import jurors
from jurors.cli import main
from jurors.errors import OptionError
from jurors.serve.app import SETTINGS, Settings, Upkeep, _listener, run
from jurors.serve.grading import ProjectReader, VersionedCache

SHOP = "/v1/projects/shop"


def _rows(items: int, jury: int = 4, seed: int = 1) -> list[dict[str, Any]]:
    votes = jurors.simulate(items, jurors=jury, prevalence="0.3", seed=seed).votes
    triples = zip(*(part.tolist() for part in votes.triples()), strict=True)
    return [{"item": f"q{i}", "juror": f"j{j}", "label": str(votes.labels[k])} for i, j, k in triples]


ROWS = _rows(250)


def fill(client: TestClient, rows: list[dict[str, Any]] = ROWS, **settings: Any) -> TestClient:
    assert client.put(SHOP, json=settings).status_code in (200, 201)
    assert client.post(f"{SHOP}/votes", json={"votes": rows}).json() == {"accepted": len(rows)}
    return client


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """A project with 250 items, which tests only read."""
    with client_of(str(tmp_path_factory.mktemp("store") / "votes.db")) as client:
        yield fill(client, window=100, thresholds={"min_score": 0.3, "max_wrong": 0.9})


def _printed(tmp_path: Path, *arguments: str, gold: dict[str, str] | None = None) -> Any:
    votes, key = tmp_path / "votes.csv", tmp_path / "gold.csv"
    votes.write_text("item,juror,label\n" + "".join(f"{','.join(row.values())}\n" for row in ROWS))
    key.write_text("item,label\n" + "".join(f"{item},{label}\n" for item, label in (gold or {}).items()))
    command, *rest = arguments
    given = ["--gold", str(key)] if gold else []
    result = CliRunner().invoke(main, [command, str(votes), *rest, *given, "--format", "json"])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


# -- grades and labels ------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_grade_is_what_the_command_line_prints(shop: TestClient, tmp_path: Path) -> None:
    whole, printed = shop.get(f"{SHOP}/grade"), _printed(tmp_path, "grade")
    assert whole.json() == printed
    same = shop.get(f"{SHOP}/grade", headers={"If-None-Match": whole.headers["etag"]})
    assert (same.status_code, same.content) == (304, b"")
    brief = shop.get(f"{SHOP}/grade?partition=false").json()
    del printed["independent"]["partition"]
    assert brief == printed


@pytest.mark.slow
def test_gold_takes_part_as_on_the_command_line(client: TestClient, tmp_path: Path) -> None:
    review = fill(client).get(f"{SHOP}/review?limit=8").json()["items"]
    key = {item["item"]: item["label"] for item in review[:6]} | {review[6]["item"]: "C"}  # which no juror gave
    gold = [{"item": item, "label": label} for item, label in key.items()]
    answer = client.post(f"{SHOP}/gold", json={"gold": gold}).json()
    assert answer == {"accepted": 7, "unvoted": 0, "unused_labels": ["C"]}
    assert client.get(f"{SHOP}/grade").json() == _printed(tmp_path, "grade", gold=key)
    after = client.get(f"{SHOP}/review?limit=300").json()
    assert (after["gold"], len(after["items"])) == (7, 243)
    assert not {item["item"] for item in after["items"]} & set(key)
    labels = [item for item in client.get(f"{SHOP}/labels").json()["items"] if item["item"] in key]
    assert {(item["label"], item["probability"]) for item in labels} <= {("A", 1.0), ("B", 1.0), ("C", 1.0)}
    for slip in ("a ", "unknown", 7):
        refused = client.post(f"{SHOP}/gold", json={"gold": [{"item": "q1", "label": slip}]})
        assert (refused.status_code, refused.json()["error"]["code"]) == (422, "unknown_name")
    printed = _printed(tmp_path, "label", "--review", "8")["items"]
    assert [item["item"] for item in review] == [item["item"] for item in printed]
    assert [item["probability"] for item in review] == pytest.approx([item["probability"] for item in printed])
    assert review[0]["votes"] == {row["juror"]: row["label"] for row in ROWS if row["item"] == review[0]["item"]}


@pytest.mark.slow
def test_labels_come_in_pages_as_the_command_line_prints_them(shop: TestClient, tmp_path: Path) -> None:
    pages: list[Any] = []
    while not pages or pages[-1]["next"] is not None:
        after = pages[-1]["next"] if pages else -1
        pages.append(shop.get(f"{SHOP}/labels?limit=100&after={after}").json())
    assert [len(page["items"]) for page in pages] == [100, 100, 50]
    printed = _printed(tmp_path, "label")
    listed = [item for page in pages for item in page["items"]]
    for name in ("item", "label"):
        assert [item[name] for item in listed] == [item[name] for item in printed["items"]]
    assert [item["probability"] for item in listed] == pytest.approx([item["probability"] for item in printed["items"]])
    assert pages[0]["wrong_labels"] == pytest.approx(printed["wrong_labels"])
    assert pages[0]["wrong_labels"] == pytest.approx(shop.get(f"{SHOP}/grade").json()["wrong_labels"])


@pytest.mark.slow
@pytest.mark.parametrize("gold", [0, 7])
def test_every_route_gives_the_same_number_for_the_same_name(client: TestClient, gold: int) -> None:
    fill(client, window=250, thresholds={"min_score": 0.3, "max_wrong": 0.9})
    if gold:
        items = [{"item": f"q{k}", "label": "A"} for k in range(gold)]
        client.post(f"{SHOP}/gold", json={"gold": items}).raise_for_status()
    grade, labels, alarms = (client.get(f"{SHOP}/{name}").json() for name in ("grade", "labels", "alarms"))
    assert labels["wrong_labels"] == pytest.approx(grade["wrong_labels"])
    gates = alarms["thresholds"]["gates"]
    shown = {gate["juror"]: gate["value"] for gate in gates}
    assert shown.pop(None) == pytest.approx(grade["wrong_labels"])
    assert shown == pytest.approx(grade["score"])
    assert [each["schema"] for each in (grade, labels, alarms)] == [
        "jurors.grade/2",
        "jurors.label/2",
        "jurors.alarms/2",
    ]
    (window,) = client.get(f"{SHOP}/history").json()["windows"]
    for each in (window, client.get(f"{SHOP}/grade?window=last").json()):
        assert each["score"] == pytest.approx(grade["score"])
        assert each["interval"]["score"] == grade["interval"]["score"]
        assert each["prevalence"] == pytest.approx(grade["prevalence"])


def test_gold_for_an_item_without_votes_is_counted_and_named(client: TestClient) -> None:
    gold = [{"item": "q1", "label": "A"}, {"item": "nope", "label": "A"}]
    answer = fill(client).post(f"{SHOP}/gold", json={"gold": gold}).json()
    assert answer == {"accepted": 2, "unvoted": 1, "unused_labels": []}
    alarms = client.get(f"{SHOP}/grade").json()["alarms"]
    message = "1 of 2 gold items has no votes and so no effect: 'nope'"
    assert [alarm["message"] for alarm in alarms if alarm["reason"] == "unvoted_gold"] == [message]
    store: Any = client.app.state.store  # type: ignore[attr-defined]
    store.forget(store.project("shop").id, float("inf"))  # what was forgotten had votes
    assert store.unvoted_gold(store.project("shop").id) == ["nope"]


@pytest.mark.slow
def test_systems_are_those_of_the_same_votes_in_memory(client: TestClient) -> None:
    truth = np.random.default_rng(0).random((2, 100)) < [[0.8], [0.5]]
    panel = jurors.simulate(200, jurors=4, prevalence="0.5", seed=3)
    right = panel.votes.codes == panel.truth[:, None]
    frame = pd.DataFrame(
        [(f"q{k % 100}", ("new|2", "old")[k // 100], f"j{j}", "pass" if right[k, j] == truth.ravel()[k] else "fail")
         for k in range(200) for j in range(4)], columns=["question", "model", "juror", "label"],
    )  # fmt: skip
    items = frame["question"] + "|" + frame["model"].str.replace("|", r"\|")
    rows = frame[["juror", "label"]].assign(item=items).to_dict("records")
    fill(client, rows)
    unknown = client.get(f"{SHOP}/systems")
    assert (unknown.status_code, unknown.json()["error"]["code"]) == (409, "option")
    fill(client, [], item=["question", "model"])
    expected = jurors.systems(frame, by="model", item=["question", "model"])
    assert expected.differences[0].paired
    assert client.get(f"{SHOP}/systems").json() == json.loads(expected.to_json())
    gold = {str(item): "pass" for item in items[:200:4]}
    client.post(f"{SHOP}/gold", json={"gold": [{"item": item, "label": label} for item, label in gold.items()]})
    with_gold = jurors.systems(frame, by="model", item=["question", "model"], gold=gold, level=0.8, good="fail")
    asked = client.get(f"{SHOP}/systems", params={"system": "model", "good": "fail", "level": 0.8}).json()
    assert asked == json.loads(with_gold.to_json())
    for query, reason in (("good=pas", "Did you mean 'pass'"), ("system=modl", "Did you mean 'model'")):
        refused = client.get(f"{SHOP}/systems?{query}")
        assert (refused.status_code, reason in refused.json()["error"]["message"]) == (404, True)


def test_windows_history_and_thresholds(shop: TestClient) -> None:
    graded = [shop.get(f"{SHOP}/grade?window={window}").json() for window in ("now", "last", "0", "7")]
    assert [each["items"] for each in graded[:3]] == [50, 100, 100]
    assert "window '7' does not exist" in graded[3]["error"]["message"]
    windows = shop.get(f"{SHOP}/history?limit=2").json()["windows"]
    assert [(each["number"], each["items"], each["complete"]) for each in windows] == [(1, 100, True), (2, 50, False)]
    assert set(windows[0]["score"]) == {"j0", "j1", "j2", "j3"}
    alarms = shop.get(f"{SHOP}/alarms").json()
    assert (alarms["active"], alarms["alarms"], alarms["thresholds"]["passed"]) == (0, [], True)


def test_a_project_that_cannot_be_graded_says_so_and_an_old_answer_is_given_only_where_it_may_be_old(
    client: TestClient,
) -> None:
    client.put(SHOP, json={})
    assert error_of(client.get(f"{SHOP}/grade")) == (409, "no_items")
    fill(client, [row for row in ROWS if row["juror"] in ("j0", "j1")])
    for path in ("grade", "grade", "labels", "review", "report"):
        assert error_of(client.get(f"{SHOP}/{path}")) == (409, "few_jurors")
    assert "needs at least 3 jurors" in client.get(f"{SHOP}/history").json()["windows"][0]["refused"]
    assert client.get(f"{SHOP}/alarms").status_code == 200
    assert fill(client, ROWS[:400]).get(f"{SHOP}/grade").json()["items"] == 250
    fill(client, [{**row, "item": f"new {row['item']}"} for row in ROWS])
    assert [client.get(f"{SHOP}/grade{age}").json()["items"] for age in ("?max_age=60", "")] == [250, 500]


# -- pages, charts, probes --------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_charts_are_specifications_and_what_cannot_be_drawn_says_why(shop: TestClient) -> None:
    for kind in ("history", "accuracy", "prevalence"):
        spec = shop.get(f"{SHOP}/charts/{kind}", params={"width": 600}).raise_for_status().json()
        assert "vega-lite" in spec["$schema"]
    for path in (f"{SHOP}/charts/pie", "/v1/projects/none/charts/history"):
        assert shop.get(path).status_code == 404
    shop.put("/v1/projects/bare")
    bare = shop.get("/v1/projects/bare/charts/history")
    assert bare.status_code in (409, 422)
    assert "no window has grades yet" in bare.json()["error"]["message"]


@pytest.mark.slow
def test_pages_are_locked_in_and_the_dashboard_holds_no_data(shop: TestClient) -> None:
    report = shop.get(f"{SHOP}/report")
    assert "<title>shop" in report.text
    for policy in ("sandbox allow-scripts", "frame-ancestors 'none'"):
        assert policy in report.headers["content-security-policy"]
    page = shop.get("/")
    assert "shop" not in page.text
    assert "script-src 'self'" in page.headers["content-security-policy"]
    for name in ("dashboard.css", "dashboard.js", "vega.js"):
        assert shop.get(f"/assets/{name}").raise_for_status().text
    assert shop.get("/assets/votes.db").status_code == 404


def test_probes_and_metrics(client: TestClient) -> None:
    fill(client)
    for path in (f"{SHOP}/../../nowhere", SHOP):
        client.get(path)
    health, ready, metrics = (client.get(path) for path in ("/healthz", "/readyz", "/metrics"))
    assert (health.json(), ready.json()) == ({"status": "ok"}, {"status": "ready"})
    lines = metrics.text.splitlines()
    assert 'jurors_votes_total{project="shop"} 1000.0' in lines
    assert 'jurors_requests_total{method="POST",route="/v1/projects/{name}/votes",status="2xx"} 1.0' in lines
    assert "jurors_fold_lag_seconds 0.0" in lines
    routes = {line.split('route="')[1].split('"')[0] for line in lines if 'route="' in line}
    assert routes <= {"/v1/projects/{name}", "/v1/projects/{name}/votes", "/healthz", "/readyz", "(none)"}


# -- alarms and events ------------------------------------------------------------------------------------------------


def alarms_after(client: TestClient, votes: list[dict[str, Any]]) -> list[tuple[str, list[str]]]:
    client.post(f"{SHOP}/votes", json={"votes": votes}).raise_for_status()
    alarms = client.get(f"{SHOP}/alarms").raise_for_status().json()["alarms"]
    return [(alarm["kind"], alarm["jurors"]) for alarm in alarms if alarm["active"] and alarm["level"] != "note"]


def test_a_juror_who_votes_late_is_not_silent_and_one_who_stopped_is_once_items_are_no_longer_pending(
    client: TestClient,
) -> None:
    client.put(SHOP, json={"window": 200})
    rows = _rows(1600)
    assert alarms_after(client, rows[:2400]) == []
    for juror in ("j0", "j1", "j2", "j3"):  # one after the other
        assert alarms_after(client, [row for row in rows[2400:3600] if row["juror"] == juror]) == []
    assert alarms_after(client, [row for row in rows[3600:] if row["juror"] != "j3"]) == []
    client.put(SHOP, json={"settle": 0}).raise_for_status()
    assert alarms_after(client, []) == [("juror_silent", ["j3"])]

    (alarm,) = (each for each in client.get(f"{SHOP}/alarms").json()["alarms"] if each["kind"] == "juror_silent")
    place = f"{SHOP}/alarms/{alarm['id']}"

    def pending() -> tuple[int, int, int]:
        found = client.get(f"{SHOP}/alarms").json()
        return found["active"], found["pending"], client.get(SHOP).json()["alarms"]

    assert pending() == (1, 1, 1)
    since = client.get(f"{SHOP}/grade?since={alarm['id']}").json()
    assert since["votes"]["j0"] == since["items"] < client.get(SHOP).json()["items"]
    assert since["votes"]["j3"] < since["items"] / 4  # before the change it voted on all
    assert client.get(f"{SHOP}/grade?since=99").status_code == 404
    assert client.get(f"{SHOP}/grade?since=1&window=last").status_code == 422
    assert client.post(place, json={"action": "snooze", "until": 8}).status_code == 200
    assert pending() == (1, 0, 0)
    more = [{**row, "item": f"later {row['item']}"} for row in rows[:40] if row["juror"] != "j3"]
    assert alarms_after(client, more) == [("juror_silent", ["j3"])]
    assert pending() == (1, 1, 1)
    history = client.post(place, json={"action": "acknowledge", "note": "on leave"}).json()["history"]
    assert [(entry["event"], entry["note"]) for entry in history] == [("snoozed", None), ("acknowledged", "on leave")]
    assert pending() == (1, 0, 0)
    assert client.post(f"{SHOP}/retired", json={"juror": "j3"}).json() == {"retired": ["j3"]}
    assert pending() == (0, 0, 0)
    found = client.get(f"{SHOP}/alarms").json()
    assert (found["retired"], found["alpha"], found["block"]) == (["j3"], 0.05, "auto")
    assert client.post(f"{SHOP}/alarms/99", json={"action": "accept"}).status_code == 404
    assert client.post(f"{SHOP}/retired", json={"juror": "zoe"}).status_code == 404
    announced = [client.post(f"{SHOP}/announced", json={"juror": name}).json() for name in ("zoe", "j3")]
    assert announced == [{"announced": ["zoe"], "retired": ["j3"]}, {"announced": ["zoe"], "retired": []}]
    unpaired: dict[str, Any] = {"content": b'{"juror": "z\\ud800"}', "headers": {"Content-Type": "application/json"}}
    assert client.post(f"{SHOP}/announced", **unpaired).status_code == 422
    for name in ("zoe", "yves"):
        alarms_after(client, [{**row, "item": f"{name} {row['item']}", "juror": name} for row in rows[:8]])
    new = [alarm["jurors"] for alarm in client.get(f"{SHOP}/alarms").json()["alarms"] if alarm["reason"] == "new_juror"]
    assert new == [["yves"]]
    assert client.post(place, json={"action": "accept", "until": 5}).status_code == 422
    assert client.post(place, json={"action": "snooze", "until": "soon"}).status_code == 400


def test_an_expected_change_raises_no_alarm_and_what_is_watched_cannot_change_later(client: TestClient) -> None:
    watched = {"settle": 0, "block": 20, "expect": ["silence", "prevalence"]}
    client.put(SHOP, json=watched).raise_for_status()
    rows = _rows(1600)
    assert alarms_after(client, [row for k, row in enumerate(rows) if k < 2400 or row["juror"] != "j3"]) == []
    state = json.loads(client.app.state.store.drift_state(client.app.state.store.project("shop").id)[1])  # type: ignore[attr-defined]
    assert (state["block"], state["expect"]) == ("20", ["prevalence", "silence"])
    assert client.put(SHOP, json={"block": 20, "expect": ["prevalence", "silence"]}).status_code == 200
    changes: list[dict[str, Any]] = [{"block": 50}, {"expect": []}]
    for change in changes:
        assert error_of(client.put(SHOP, json=change)) == (409, "option")
    assert client.put("/v1/projects/new", json={"block": "2 bananas"}).status_code == 400
    for twice in ({"labels": ["yes", "yes"]}, {"item": ["x", "x"]}):
        assert error_of(client.put("/v1/projects/new", json=twice)) == (422, "bad_body")


def test_what_somebody_did_about_an_alarm_is_not_lost_to_an_update_that_began_before(client: TestClient) -> None:
    client.put(SHOP, json={"window": 200, "settle": 0})
    alarms_after(client, _rows(400))
    store = client.app.state.store  # type: ignore[attr-defined]
    project = store.project("shop").id
    before = store.drift_state(project)
    client.post(f"{SHOP}/retired", json={"juror": "j1"}).raise_for_status()
    assert not store.put_drift(project, before, before, [], 0)
    assert json.loads(store.drift_state(project)[1])["retired"] == ["j1"]


@pytest.mark.slow
def test_two_workers_count_requests_together_and_systemd_is_told(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(str(tmp_path / "notify"))
        systemd.settimeout(120)
        environment = os.environ | {"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "200000"}
        command = [sys.executable, "-m", "jurors", "serve", "--store", str(tmp_path / "votes.db"), "--port", "0"]
        with subprocess.Popen(
            [*command, "--workers", "2", "--webhook", "alarm=http://127.0.0.1:9/", "--digest", "1h"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment,
        ) as server:
            assert server.stdout is not None
            address = server.stdout.readline().strip()
            try:
                told = [systemd.recv(99) for _ in range(8)]
                assert {b"READY=1", b"WATCHDOG=1"} == set(told)
                for _ in range(20):  # on connections of their own: either worker takes them
                    httpx.get(f"{address}/healthz", timeout=120).raise_for_status()
                for _ in range(6):
                    text = httpx.get(f"{address}/metrics", timeout=120).text
                    (line,) = [line for line in text.splitlines() if "requests_total" in line and "healthz" in line]
                    assert line.endswith(" 20.0")
            finally:
                server.terminate()
                assert server.wait(60) == 0


# -- the process ------------------------------------------------------------------------------------------------------


def test_answers_do_not_wait_for_acknowledgements() -> None:
    listener = _listener(Settings(port=0))
    assert listener.proto == socket.IPPROTO_TCP  # asyncio turns Nagle's delay off only for these
    listener.close()


def test_a_port_that_is_taken_is_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(OptionError, match="cannot listen on 127"):
        _listener(Settings(port=taken.getsockname()[1]))


def test_connections_are_limited_and_as_many_files_may_be_open_as_the_system_allows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    resource = pytest.importorskip("resource")
    before, limits = resource.getrlimit(resource.RLIMIT_NOFILE), []

    def serve(server: Any, sockets: list[socket.socket]) -> None:
        limits.extend([server.config.limit_concurrency, resource.getrlimit(resource.RLIMIT_NOFILE)[0]])
        sockets[0].close()

    monkeypatch.setattr("uvicorn.Server.run", serve)
    monkeypatch.setattr("jurors.serve.app.configure_logging", lambda: None)
    monkeypatch.setenv(SETTINGS, "")
    resource.setrlimit(resource.RLIMIT_NOFILE, (512, before[1]))
    try:
        run(Settings(store=str(tmp_path / "votes.db"), port=0))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert limits == [1_000, min(65_536, before[1]) if before[1] > 0 else 65_536]


def test_what_is_remembered_of_projects_is_bounded(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ProjectReader, "MOST", 2)
    state = client.app.state  # type: ignore[attr-defined]
    for number in range(5):
        client.put(f"/v1/projects/p{number}", json={})
        client.post(f"/v1/projects/p{number}/votes", json={"votes": ROWS[:8]})
        assert client.get(f"/v1/projects/p{number}/history").status_code == 200
    assert len(state.reader._latest) == 2
    cache: VersionedCache[int] = VersionedCache(2)
    for number in range(5):
        cache.get(number, 1, lambda: 7)
    assert [cache.has(number, 1) for number in range(5)] == [False] * 3 + [True] * 2


def test_an_unexpected_error_does_not_end_the_upkeep() -> None:
    steps: list[int] = []

    class Broken:
        def uncounted(self, table: str) -> dict[int, int]:
            steps.append(1)
            raise ZeroDivisionError

    upkeep = Upkeep(Broken(), every=0.01)  # type: ignore[arg-type]
    deadline = time.monotonic() + 60
    while len(steps) < 3 and time.monotonic() < deadline:
        time.sleep(0.01)
    upkeep.close()
    assert len(steps) >= 3
