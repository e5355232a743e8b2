"""`deploy/`: it parses, it names what is there, and tools that know better agree where they are installed."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import click
import pytest
import yaml  # type: ignore[import-untyped]

from jurors.cli.main import main

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
GUIDE = (ROOT / "docs" / "guides" / "serving.md").read_text()
RULES = yaml.safe_load((DEPLOY / "alerts.yml").read_text())["groups"][0]["rules"]
DASHBOARD = json.loads((DEPLOY / "grafana" / "dashboard.json").read_text())
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text())


def metrics_named() -> set[str]:
    """Every metric of ours that rules and dashboard ask for."""
    queries = [rule["expr"] for rule in RULES]
    queries += [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]
    queries.append(DASHBOARD["templating"]["list"][1]["query"])
    names = {name for query in queries for name in re.findall(r"\bjurors_\w+", query)}
    return {re.sub(r"_(bucket|sum|count)$", "", name) for name in names}


def parsed(words: list[str]) -> click.Context:
    """A command line as click takes it, nothing run."""
    command = main.get_command(click.Context(main), words[0])
    assert command is not None
    return command.make_context(words[0], words[1:])


def dockerfile(word: str) -> list[str]:
    """The instructions of a kind; lines that go on are one."""
    text = (DEPLOY / "Dockerfile").read_text().replace("\\\n", " ")
    return [line.removeprefix(word).strip() for line in text.splitlines() if line.startswith(f"{word} ")]


def test_every_alert_links_to_a_page_that_says_what_to_do() -> None:
    anchors = {
        re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in re.findall(r"^### (.+)$", GUIDE, re.M)
    }
    links = [rule["annotations"]["runbook_url"].rpartition("#")[2] for rule in RULES]
    assert set(links) == anchors
    assert {rule["labels"]["severity"] for rule in RULES} == {"page", "ticket"}


def test_the_rules_are_tried() -> None:
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("promtool is not installed")
    for args in (["check", "rules", "alerts.yml"], ["test", "rules", "alerts_test.yml"]):
        run = subprocess.run([promtool, *args], cwd=DEPLOY, capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stdout + run.stderr


def test_the_compose_file_names_what_is_there() -> None:
    services: dict[str, Any] = COMPOSE["services"]
    mounted = [place.split(":")[0] for one in services.values() for place in one.get("volumes", ())]
    assert all((DEPLOY / place).is_file() for place in mounted if place.startswith("./"))
    assert {place for place in mounted if not place.startswith("./")} == set(COMPOSE["volumes"])
    assert all(port.startswith("127.0.0.1:") for one in services.values() for port in one.get("ports", ()))
    for name, one in services.items():
        assert set(one.get("depends_on", ())) <= set(services), name
    (target,) = yaml.safe_load((DEPLOY / "prometheus.yml").read_text())["scrape_configs"][0]["static_configs"][0][
        "targets"
    ]
    assert target.partition(":")[0] in services
    assert parsed(services["server"]["command"]).params["workers"] == 2


def test_commands_in_comments_and_scripts_exist() -> None:
    """`jurors …` and `run --rm server …` wherever they stand."""
    texts = [path.read_text() for path in (*DEPLOY.iterdir(), ROOT / "action.yml") if path.is_file()]
    pattern = r"(?:\bjurors|run --rm server) ((?:store )?(?:keys )?(?:create|serve|export|import))\b"
    named = [words.split() for text in texts for words in re.findall(pattern, text)]
    assert ["store", "keys", "create"] in named
    for words in named:
        command: click.Command | None = main
        for word in words:
            assert isinstance(command, click.Group)
            command = command.get_command(click.Context(command), word)
        assert command is not None, words


def test_the_image_is_made_of_files_that_are_there_and_starts_a_command_that_is() -> None:
    copied = [word for line in dockerfile("COPY") if "--from" not in line for word in line.split()[:-1]]
    assert copied
    assert all((ROOT / word).exists() for word in copied)
    assert dockerfile("USER") == ["10001"]
    (words,) = dockerfile("CMD")
    started = parsed(json.loads(words))
    assert str(started.params["port"]) == dockerfile("EXPOSE")[0]
    assert dockerfile("ENTRYPOINT") == ['["jurors"]']


def test_the_unit_starts_a_command_that_is_there(tmp_path: Path) -> None:
    unit = (DEPLOY / "jurors-serve.service").read_text()
    (words,) = re.findall(r"^ExecStart=\S+/jurors (.+)$", unit, re.MULTILINE)
    assert parsed(words.split()).params["host"] == "127.0.0.1"
    for setting in ("Type=notify", "WatchdogSec=", "LimitNOFILE=", "MemoryHigh=", "StartLimitBurst="):
        assert f"\n{setting}" in unit
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("systemd-analyze is not installed")
    (tmp_path / "jurors-serve.service").write_text(
        re.sub(r"^ExecStart=\S+", "ExecStart=/bin/true", unit, flags=re.MULTILINE)
    )
    run = subprocess.run(
        [analyze, "verify", str(tmp_path / "jurors-serve.service")], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    assert "jurors-serve.service" not in run.stderr


@pytest.mark.slow
def test_the_judge_who_goes_bad_rings_by_name_and_every_metric_asked_for_is_exported() -> None:
    script = str(ROOT / "examples" / "demo_serve.py")
    command = [sys.executable, script, "--until-alarm", "--seconds", "300", "--rate", "300", "--changes", "600"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        with urllib.request.urlopen(f"{address}/metrics", timeout=60) as answer:
            exported = set(re.findall(r"^# TYPE (jurors_\w+)", answer.read().decode(), re.MULTILINE))
        printed, _ = process.communicate(timeout=400)
    assert process.returncode == 0, printed
    assert "eve agrees with the majority" in printed
    assert metrics_named() <= exported
