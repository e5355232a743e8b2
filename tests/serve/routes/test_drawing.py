"""Charts over HTTP: the report's own specifications; what is not there is told in a line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from served import running

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    folder: Path = tmp_path_factory.mktemp("store")
    with running(str(folder / "votes.db")) as address, httpx.Client(base_url=address, timeout=120) as client:
        client.put("/v1/projects/shop", json={"window": 50}).raise_for_status()
        client.put("/v1/projects/bare").raise_for_status()
        said = ["yyy", "nnn", "yyn", "nny", "yny", "nyn", "yyy", "nnn", "nyy", "ynn"] * 12
        votes = [
            {"item": k, "juror": juror, "label": label}
            for k, labels in enumerate(said)
            for juror, label in zip(("ann", "bob", "cy"), labels, strict=True)
        ]
        client.post("/v1/projects/shop/votes", json={"votes": votes}).raise_for_status()
        yield client


@pytest.mark.parametrize("kind", ["history", "accuracy", "prevalence"])
def test_every_kind_is_a_specification(client: httpx.Client, kind: str) -> None:
    spec = client.get(f"/v1/projects/shop/charts/{kind}", params={"width": 600}).raise_for_status().json()
    assert "vega-lite" in spec["$schema"]


def test_what_cannot_be_drawn_says_why(client: httpx.Client) -> None:
    assert client.get("/v1/projects/shop/charts/pie").status_code == 404
    assert client.get("/v1/projects/none/charts/history").status_code == 404
    bare = client.get("/v1/projects/bare/charts/history")
    assert bare.status_code in (409, 422)
    assert "no window has grades yet" in bare.json()["error"]["message"]


def test_the_page_and_its_files_hold_no_data_and_come_from_here(client: httpx.Client) -> None:
    page = client.get("/")
    assert "shop" not in page.text
    assert "script-src 'self'" in page.headers["content-security-policy"]
    for name in ("dashboard.css", "dashboard.js", "vega.js"):
        assert client.get(f"/assets/{name}").raise_for_status().text
    assert client.get("/assets/votes.db").status_code == 404
