"""The interface as it describes itself: its examples hold, its page needs nothing, and no request ends it."""

from __future__ import annotations

from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from served import running
from starlette.testclient import TestClient

import jurors

jsonschema = pytest.importorskip("jsonschema")
schemathesis = pytest.importorskip("schemathesis")

EXAMPLES = 4  #: per route and mode; by hand some hundreds


@pytest.fixture
def described(client: TestClient) -> dict[str, Any]:
    document: dict[str, Any] = client.get("/openapi.json").json()
    return document


def test_every_route_that_takes_json_shows_how_and_examples_fit_their_schema(
    described: dict[str, Any],
) -> None:
    for path, methods in described["paths"].items():
        for method, route in methods.items():
            bodies = {"sent": route["requestBody"]} if "requestBody" in route else {}
            contents = {
                kind: body.get("content", {}).get("application/json", {})
                for kind, body in {**bodies, **route["responses"]}.items()
            }
            shown = {kind for kind, content in contents.items() if "example" in content}
            for content in [contents[kind] for kind in shown]:
                schema = {**content.get("schema", {}), "components": described.get("components", {})}
                jsonschema.validate(content["example"], schema)
            if path.startswith("/v1"):
                assert bodies.keys() <= shown, (method, path)


def test_the_examples_of_bodies_are_accepted(client: TestClient, described: dict[str, Any]) -> None:
    for path, method, status in (("", "put", 201), ("/votes", "post", 200), ("/gold", "post", 200)):
        route = described["paths"][f"/v1/projects/{{name}}{path}"][method]
        body = route["requestBody"]["content"]["application/json"]["example"]
        assert client.request(method, f"/v1/projects/shop{path}", json=body).status_code == status


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_no_request_that_the_description_allows_or_forbids_is_a_fault(tmp_path: Path) -> None:
    with running(str(tmp_path / "votes.db")) as address:
        with jurors.Client(address) as client:
            client.put_project("shop")
            client.post_votes("shop", jurors.simulate(60, jurors=3, prevalence="0.3", seed=1).votes)
        described = schemathesis.openapi.from_url(f"{address}/openapi.json")
        operations = [operation.ok() for operation in described.get_all_operations()]
        tried = [operation for operation in operations if not operation.path.endswith("/report")]
        assert len(tried) >= 10
        for operation, mode in product(tried, schemathesis.GenerationMode):
            with suppress(Unsatisfiable):  # nothing can be wrong with a route that is asked nothing
                _try(operation, mode, address)


def _try(operation: Any, mode: Any, address: str) -> None:
    @settings(
        max_examples=EXAMPLES, deadline=None, database=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck), derandomize=True,
    )  # fmt: skip
    @given(case=operation.as_strategy(generation_mode=mode))
    def attempt(case: Any) -> None:
        if operation.method.upper() != "DELETE" and "name" in (case.path_parameters or {}):
            case.path_parameters["name"] = "shop"
        answer = case.call(base_url=address, timeout=120)
        assert answer.status_code < 500, answer.text

    attempt()
