"""What users meet first: the help, the endings of `-o`, alarms that are switched off, and results that fit a screen.

`PYTHONPATH=tests python tests/cli/test_surface.py` prints how many lines and columns each result has.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest
from command_line import refused, run

import jurors
from jurors.cli import main
from jurors.cli.main import COMMANDS

LABELS = ("pass", "fail")
SIZES = (3, 5, 20, 200, 800)


def leaves(group: click.Group = main, front: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from leaves(command, (*front, name))
        else:
            yield (*front, name), command


def test_there_are_at_most_20_commands_and_15_options_each() -> None:
    assert len(COMMANDS) <= 20
    for words, _ in leaves():
        short, whole = run(*words, "--help").stdout, run(*words, "--help-all").stdout
        options = [line for line in short.splitlines() if line.lstrip().startswith("-") and line.startswith("  ")]
        own = [line for line in options if "--help" not in line]
        assert len(own) <= 15, (words, own)
        if "--help-all" in short:
            assert len(whole.splitlines()) > len(short.splitlines()), words


def test_all_options_of_a_command_are_in_its_whole_help() -> None:
    for words, command in leaves():
        shown = run(*words, "--help-all").stdout if any("--help-all" in p.opts for p in command.params) else None
        for param in command.params if shown is not None else ():
            if isinstance(param, click.Option):
                assert param.opts[-1] in str(shown), (words, param.opts)


@pytest.mark.parametrize("words", [(), ("audit",), ("store",), ("store", "keys")], ids=" ".join)
def test_a_group_without_a_command_prints_its_help(words: tuple[str, ...]) -> None:
    done = run(*words)
    assert done.exit_code == 2
    assert "\\n" not in done.output
    assert len(done.output.splitlines()) > 5
    assert done.output == run(*words, "--help").output


@cache
def simulated(size: int, long_names: bool = False) -> tuple[jurors.Votes, dict[str, str]]:
    rng = np.random.default_rng(size)
    truth = rng.integers(0, 2, 300)
    is_right = rng.random((300, size)) < rng.uniform(0.6, 0.95, size)
    codes = np.where(is_right, truth[:, None], 1 - truth[:, None])
    if size > 20:
        codes[rng.random(codes.shape) < 0.8] = -1
    name = "a-very-long-model-name-of-some-vendor-2026-11-18:judge-number-{}" if long_names else "judge {}"
    items = [f"q{k}" for k in range(300)]
    votes = jurors.Votes.from_matrix(codes, jurors=[name.format(k) for k in range(size)], labels=LABELS, items=items)
    return votes, dict(zip(items, [LABELS[k] for k in truth], strict=True))


def results(votes: jurors.Votes, key: dict[str, str]) -> dict[str, Any]:
    sheet = jurors.audit.plan(votes, 30, seed=1)
    answers = replace(sheet, labels=tuple(key[str(item)] for item in sheet.items))
    shown = {
        "grade": jurors.grade(votes),
        "label": jurors.label(votes),
        "label --review": jurors.label(votes).for_review(20, votes),
        "score": jurors.score(votes, key),
        "compare": jurors.compare(votes, key),
        "agreement": jurors.agreement(votes),
        "audit result": jurors.audit.result(votes, answers),
        "check": jurors.check(votes, min_score=0.6, max_wrong=0.4),
        "inspect": jurors.inspect(votes),
        "plan": jurors.plan(jurors=len(votes.jurors)),
        "systems": jurors.systems(votes, by=[f"model-{k % 3}" for k in range(votes.rows)], good="pass"),
    }
    if 3 < len(votes.jurors) <= 30:
        shown["compare --panels"] = jurors.panels(votes)
    return shown


def screen(text: str) -> tuple[int, int]:
    """How many lines and columns a text has."""
    lines = text.splitlines()
    return len(lines), max(map(len, lines))


@pytest.mark.slow
@pytest.mark.parametrize(("size", "long_names"), [*((size, True) for size in SIZES), (5, False), (200, False)])
def test_results_fit_a_screen(size: int, long_names: bool) -> None:
    for name, result in results(*simulated(size, long_names)).items():
        text = result.to_text(full=False) if name.startswith("label") else result.to_text()
        lines, columns = screen(text)
        assert columns <= 80, (name, max(text.splitlines(), key=len))
        assert lines <= 60, name


def test_an_audit_of_many_jurors_ends_with_those_that_are_known_to_be_low() -> None:
    votes, key = simulated(200)
    sheet = jurors.audit.plan(votes, 12, seed=1)
    audit = jurors.audit.result(votes, replace(sheet, labels=tuple(key[str(item)] for item in sheet.items)))
    ends = sorted([round(end, 9) for end in audit.of("score", juror).interval] for juror in votes.jurors)
    rows = re.findall(r"score of .*?([\d.]+) – ([\d.]+)", audit.to_text())
    assert rows == [(f"{100 * low:z.1f}", f"{100 * high:.1f}") for low, high in [*ends[::-1][:10], *ends[9::-1]]]


def test_agreement_shows_the_pairs_that_agree_most_and_least() -> None:
    votes, _ = simulated(20)
    agreed = jurors.agreement(votes)
    text = agreed.to_text()
    assert "(10 that agree most, 10 least, of 190; to_text(full=True) shows all)" in text
    rows = text.splitlines()[-20:]
    kappas = np.sort(agreed.to_frame()["cohen_kappa"].to_numpy(dtype=float))[::-1]
    shown = [float(row.split()[-3]) for row in rows]
    assert shown == pytest.approx([*kappas[:10], *kappas[-10:]], abs=0.001)


def test_agreement_leaves_out_pairs_that_share_a_handful_of_items() -> None:
    rng = np.random.default_rng(1)
    is_given = rng.random((300, 30)) < np.where(np.arange(30) < 10, 0.05, 0.6)
    codes = np.where(is_given, rng.normal(5, 2, (300, 30)), np.nan)
    agreed = jurors.agreement(jurors.Votes.from_matrix(codes.round(2), scale="interval"))
    text, frame = agreed.to_text(), agreed.to_frame()
    items = [int(row.split()[2]) for row in text.splitlines()[-20:]]
    assert min(items) >= 20 > frame["items"].min()
    assert "Pairs that share fewer than 20 items or have no kappa are left out." in text
    assert max(map(len, text.splitlines())) <= 80
    assert frame["quadratic_kappa_low"].min() >= -1


def test_agreement_shows_the_pairs_that_options_select(votes_file: Path) -> None:
    def rows(*options: object) -> list[list[str]]:
        text = run("agreement", votes_file, *options).stdout.partition("Pairs")[2]
        return [line.split() for line in text.splitlines()[2:]]

    every = rows("--full")
    assert len(every) == 10
    assert rows("--top", 2) == [*every[:2], *every[-2:]]
    assert rows("--sort", "name") == sorted(every)


@pytest.fixture
def votes_file(tmp_path: Path) -> Path:
    votes, key = simulated(5)
    path = tmp_path / "votes.csv"
    frame = {"item": list(key), **{j: [LABELS[k] for k in votes.codes[:, n]] for n, j in enumerate(votes.jurors)}}
    rows = zip(*frame.values(), strict=True)
    path.write_text("\n".join([",".join(frame), *(",".join(row) for row in rows)]) + "\n")
    (tmp_path / "key.csv").write_text("item,label\n" + "".join(f"{item},{label}\n" for item, label in key.items()))
    return path


@pytest.mark.slow
@pytest.mark.parametrize("command", ["grade", "label", "score", "compare"])
def test_the_ending_of_the_output_selects_the_format(command: str, votes_file: Path) -> None:
    words = [command, votes_file, *(["--key", votes_file.with_name("key.csv")] if command != "grade" else [])]
    words = words[:2] if command == "label" else words
    out = {ending: votes_file.with_name(f"{command}.{ending}") for ending in ("csv", "json", "md", "parquet", "html")}
    for path in out.values():
        done = run(*words, "-o", path)
        assert (done.exit_code, done.stdout) == (0, ""), done.output
    rows = list(csv.DictReader(out["csv"].read_text().splitlines()))
    assert json.loads(out["json"].read_text())["schema"] == f"jurors.{command}/2"
    assert "| --- |" in out["md"].read_text()
    assert out["html"].read_text().startswith("<!doctype html>")
    import duckdb

    read = duckdb.sql(f"FROM '{out['parquet']}'")
    assert read is not None
    assert (read.columns, len(read.fetchall())) == (list(rows[0]), len(rows))
    assert run(*words, "--format", "text", "-o", out["csv"]).exit_code == 0
    full = ("--full",) if command == "label" else ()
    assert out["csv"].read_text() == run(*words, *full).stdout  # --format wins


def test_an_alarm_can_be_switched_off(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("1,2,3,count\nA,A,A,200\nA,B,A,1900\nA,B,B,600\nB,A,A,2400\nB,A,B,100\nB,B,A,18900\nB,B,B,4000\n")
    for command in (("check", path), ("grade", path, "--fail-on", "alarm")):
        assert run(*command).exit_code == 3
        quiet = run(*command, "--ignore-alarm", "contradiction")
        assert (quiet.exit_code, "contradiction" in quiet.output) == (0, False)
    assert "Did you mean 'contradiction'" in refused("grade", path, "--ignore-alarm", "contradictions")
