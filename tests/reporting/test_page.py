"""The page carries the grades' own numbers, shows alarms first, and shows names as text."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shlex
from dataclasses import replace
from html import unescape
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import panels
import pytest
from command_line import run
from report_pages import ParsedPage, parse

import jurors
from jurors.errors import JurorsError
from jurors.evaluate.card import percent, percent_range
from jurors.jury.compare import score_labels
from jurors.reporting import page as page_module
from jurors.reporting import page as shell
from jurors.reporting.content import verdict
from jurors.reporting.page import report, report_html
from jurors.votes.key import read_votes_with_key

pytestmark = pytest.mark.slow  # each test makes a page or several
Census: TypeAlias = tuple[jurors.Evaluation, ParsedPage]
MOST_BYTES = 1_500_000
EVIL = (
    '<img src=x onerror="window.__pwned=1">', '"><script>window.__pwned=1</script>', "قاضٍ أوّل", "😀 judge",
    "x" * 200, "</script><!--",
)  # fmt: skip


@pytest.fixture(scope="module")
def census() -> Census:
    votes, _ = jurors.load_example("census")
    return jurors.grade(votes), parse(report_html(votes))


def _votes(items: int, width: int, **options: Any) -> jurors.Votes:
    return jurors.Votes.from_matrix(panels.simulate(items, width, seed=1, **options).votes)


def _write_csv(path: Path, votes: np.ndarray[Any, Any], truth: np.ndarray[Any, Any] | None = None) -> Path:
    names = [f"judge {k}" for k in range(votes.shape[1])] + ["truth"] * (truth is not None)
    codes = votes if truth is None else np.column_stack([votes, truth])
    frame = pd.DataFrame(np.array(["no", "yes"])[codes], columns=names, index=[f"q{k}" for k in range(len(codes))])
    frame.to_csv(path, index_label="item", encoding="utf-8")
    return path


def _commands(page: str) -> list[str]:
    """The commands that a page shows, as they are copied."""
    shown = re.findall(r"<code>(jurors .*?)</code>", page)
    return [unescape(re.sub(r"<[^>]*>", "", line)) for line in shown]


@pytest.fixture(scope="module")
def panel_csv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    panel = panels.simulate(600, 5, seed=2)
    return _write_csv(tmp_path_factory.mktemp("panel") / "votes & more.csv", panel.votes, panel.truth)


# -- the numbers --------------------------------------------------------------------------------------------


def test_the_page_holds_the_very_document_that_grade_prints(panel_csv: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    arguments = [str(panel_csv), "--ignore", "truth"]
    assert run("report", *arguments, "-o", page).exit_code == 0
    printed = run("grade", *arguments, "--format", "json").stdout
    assert parse(page.read_text(encoding="utf-8")).numbers == json.loads(printed)


def test_a_large_document_is_carried_compressed_and_whole() -> None:
    votes = _votes(3_000, 14, high=0.8)
    parsed = parse(report_html(votes))
    assert parsed.scripts["grade"][0] == "application/gzip;base64"
    assert parsed.numbers == json.loads(json.dumps(jurors.grade(votes).to_dict()))


@pytest.mark.parametrize(("labels", "width"), [(2, 3), (3, 6), (5, 3)])
def test_every_cell_of_the_tables_is_a_number_of_the_document(labels: int, width: int) -> None:
    parsed = parse(report_html(_votes(900, width, prevalence=[1 / labels] * labels)))
    document = parsed.numbers

    def cells(statistic: str, *names: str) -> list[str]:
        value, ends = document[statistic], document["interval"][statistic]
        for name in names:
            value, ends = value[name], ends[name]
        return [percent(value), percent_range(ends)]

    for name, *shown, majority in parsed.tables["table-scores"][1:]:
        assert shown == cells("score", name)
        assert majority == percent(document["majority"]["score"][name])
    for name, label, *shown in parsed.tables["table-accuracy"][1:]:
        assert shown == cells("accuracy", name, label)
    for label, *shown, _ in parsed.tables["table-prevalence"][1:]:
        assert shown == cells("prevalence", label)
    assert [row[0] for row in parsed.tables["table-scores"][1:]] == document["jurors"]
    assert len(parsed.tables["table-accuracy"]) == 1 + len(document["jurors"]) * len(document["labels"])


def test_ranking_solutions_and_partition_say_what_the_evaluation_says(census: Census) -> None:
    result, parsed = census
    ranked, score = [[cell.split()[0], *rest] for _, cell, *rest in parsed.tables["ranking"][1:]], result.score
    assert [row[0] for row in ranked] == list(result.ranking.order)
    assert [row[1] for row in ranked] == [percent(score[row[0]]) for row in ranked]
    model = result.independent
    assert result.exact is not None
    exact = {row[0]: row[1] for row in parsed.tables["table-exact"][1:]}
    assert exact["prevalence of A"] == str(result.exact.prevalence["A"])
    both = {row[0]: row[1:] for row in parsed.tables["table-solutions"][1:]}
    assert both["prevalence of A"] == [percent(float(s.prevalence["A"])) for s in model.solutions]
    rows = parsed.tables["table-partition"][1:]
    assert sum(int(row[3].replace(",", "")) for row in rows) == result.items
    for row in rows:
        split = [float(x.replace(",", "")) for x in row[4:6]]
        assert sum(split) == pytest.approx(int(row[3].replace(",", "")), abs=0.11)


def test_with_a_key_the_actual_stands_beside_the_estimate_and_says_whether_intervals_held(panel_csv: Path) -> None:
    parsed = parse(report_html(panel_csv, key="truth"))
    votes, key = read_votes_with_key(panel_csv, "truth")
    actual = score_labels(votes, key)
    result = jurors.grade(votes)
    for name, _, _, _, true, held in parsed.tables["table-scores"][1:]:
        assert true == percent(float(actual.score[name]))
        low, high = result.interval_of("score", name)
        assert held == ("yes" if low <= actual.score[name] <= high else "no")
    assert "against_key" in {name.replace("-", "_") for name in parsed.charts}
    assert "the answer key (600 items)" in parsed.text


# -- what it says -------------------------------------------------------------------------------------------


def test_an_alarm_says_not_to_trust_the_grades_and_an_estimate_outside_is_shown_as_it_is() -> None:
    counts = {votes: 100 * n for votes, n in _llm_counts().items()}  # on 281 items chance explains as much
    votes = jurors.Sketch.from_counts(counts, jurors="xyz")
    parsed = parse(report_html(votes))
    text = " ".join(parsed.text.split())
    assert "No: do not trust these grades." in text
    assert "103.6%" in text  # never clamped
    for alarm in jurors.grade(votes).alarms:
        assert f"{alarm.message}." in text


def test_counts_without_a_real_solution_have_calibrated_grades() -> None:
    sketch = jurors.Sketch.from_counts(
        {"AAA": 5, "AAB": 30, "ABA": 28, "BAA": 29, "BBA": 31, "BAB": 27, "ABB": 32, "BBB": 7}, jurors="ijk"
    )
    result = jurors.grade(sketch)
    assert result.independent.solution is None
    parsed = parse(report_html(sketch))
    shown = sorted(row[2] for row in parsed.tables["ranking"][1:])
    assert shown == sorted(percent(score) for score in result.score.values())
    assert "nobody is graded" in parse(report_html(sketch, errors="independent")).text
    assert parsed.numbers == json.loads(json.dumps(result.to_dict()))


def test_what_votes_do_not_have_is_not_shown(census: Census) -> None:
    assert "items" not in census[1].charts  # counts
    assert "table-items" not in census[1].tables
    assert "items" in parse(report_html(_votes(300, 5))).charts
    exam = parse(report_html(_votes(300, 5, prevalence=(0.25,) * 4), exam=True))
    assert set(exam.charts) == {"accuracy"}
    assert "table-accuracy" not in exam.tables
    assert "table-scores" in exam.tables


# -- safe, accessible, small --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def hostile() -> str:
    votes = jurors.Votes.from_matrix(
        panels.simulate(300, 6, seed=3).votes, jurors=EVIL, labels=("<b>yes</b>", 'عادل & "no"')
    )
    return report_html(votes, title="</title><script>window.__pwned=1</script>", command="jurors <b>")


def test_names_labels_and_titles_are_text_and_every_id_is_used_once(hostile: str) -> None:
    parsed = parse(hostile)
    assert [tag for tag, _ in parsed.tags].count("img") == 0
    assert [known.get("id") for tag, known in parsed.tags if tag == "script"] == ["grade", "charts", "vega", None]
    assert not [known for _, known in parsed.tags if any(name.startswith("on") for name in known)]
    assert [row[0] for row in parsed.tables["table-scores"][1:]] == list(EVIL)
    assert parsed.numbers["jurors"] == list(EVIL)
    assert parsed.headings[0] == (1, "</title><script>window.__pwned=1</script>")
    ids = [known["id"] for _, known in parsed.tags if "id" in known]
    assert len(ids) == len(set(ids))


def test_the_policy_allows_the_pages_own_scripts_only_and_nothing_names_an_address_to_load(hostile: str) -> None:
    policy = next(known["content"] or "" for tag, known in parse(hostile).tags if "http-equiv" in known)
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe-eval" not in policy
    assert "script-src 'unsafe-inline'" not in policy
    script = re.findall(r"<script>(.*?)</script>", hostile, flags=re.DOTALL)[-1]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"'sha256-{digest}'" in policy
    loading = ("src", "srcset", "data", "action", "poster", "background")
    for tag, known in parse(hostile).tags:
        assert not [name for name in loading if name in known], tag
        assert tag not in ("link", "iframe", "object", "embed")
        assert (known.get("href") or "#").startswith("#")


def test_the_page_can_be_read_aloud(census: Census) -> None:
    tags, charts = census[1].tags, census[1].charts
    levels = [level for level, _ in census[1].headings]
    assert (levels[0], levels.count(1)) == (1, 1)
    assert all(after <= before + 1 for before, after in pairwise(levels))
    names = [tag for tag, _ in tags]
    assert names.count("table") == names.count("caption")
    assert all(known.get("scope") in ("col", "row") for tag, known in tags if tag == "th")
    assert dict(tags[names.index("html")][1])["lang"] == "en"
    labelled = {known["data-chart"] or "": known["aria-label"] or "" for _, known in tags if "data-chart" in known}
    assert set(labelled) == set(charts)
    assert all(charts[name]["description"] in words for name, words in labelled.items())


@pytest.mark.parametrize(("items", "width", "labels"), [(1_000, 150, 2), (1_000, 60, 16)])
def test_large_panels_fit_in_a_page(items: int, width: int, labels: int) -> None:
    votes = _votes(items, width, prevalence=[1 / labels] * labels, density=0.2, low=0.3, high=0.6)
    page = report_html(votes)
    assert len(page.encode()) < MOST_BYTES
    parsed = parse(page)
    assert len(parsed.tables["ranking"]) == 1 + 10 + 1 + 10  # the ten best, how many are left out, the ten worst
    assert "dependence" in parsed.charts


def test_charts_too_large_for_a_page_are_named_instead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_module, "_MAX_PACKED", 4_000)
    page = report_html(_votes(300, 12))
    assert "is too large for a page" in page
    assert "jurors report FILE --chart" in page
    assert len(parse(page).scripts["charts"][1]) <= 4_000


# -- where it comes from ------------------------------------------------------------------------------------


def test_provenance_names_the_files_with_their_checksums_and_the_command(panel_csv: Path, tmp_path: Path) -> None:
    page = tmp_path / "r.html"
    result = run("report", panel_csv, "--key", "truth", "--seed", "7", "--title", "Mine", "-o", page)
    assert result.exit_code == 0, result.output
    assert result.stdout == f"{page}\n"
    parsed = parse(page.read_text(encoding="utf-8"))
    name, role, size, checksum = parsed.tables["inputs"][1]
    data = panel_csv.read_bytes()
    assert (name, role, size) == (panel_csv.name, "votes", f"{len(data):,}")
    assert checksum == hashlib.sha256(data).hexdigest()
    assert "--key truth --seed 7 --title Mine" in parsed.text
    assert parsed.headings[0] == (1, "Mine")


def test_a_key_in_memory_is_one_input_not_a_list_of_files() -> None:
    panel = panels.simulate(60, 4, seed=1)
    parsed = parse(report_html(panel.votes, key=[str(x) for x in panel.truth]))
    assert [row[:2] for row in parsed.tables["inputs"][1:]] == [
        ["ndarray in memory", "votes"],
        ["list in memory", "answer key"],
    ]


def test_the_same_votes_at_the_same_time_make_the_same_page(panel_csv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    first, second = report_html(panel_csv, key="truth"), report_html(panel_csv, key="truth")
    assert first == second
    assert "2023-11-14 22:13:20 UTC" in first


def test_the_page_names_no_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = _write_csv(tmp_path / "v.csv", panels.simulate(200, 4, seed=1).votes)
    page = report_html(path, command=f"jurors report {path} -o r.html")
    assert str(tmp_path) not in page
    assert "jurors report ~/v.csv -o r.html" in _commands(page)
    kept = list((tmp_path / "cache" / "jurors").iterdir())
    assert [one.suffix for one in kept] == [".gz"]
    kept[0].write_bytes(b"broken")  # a broken cache is made again, silently
    assert len(report_html(path)) == len(report_html(path, command=None))


# -- the command --------------------------------------------------------------------------------------------


def test_the_page_is_written_whole_or_not_at_all(tmp_path: Path, panel_csv: Path) -> None:
    page = tmp_path / "report.html"
    page.write_text("before", encoding="utf-8")
    bad = tmp_path / "bad.csv"
    bad.write_text("a,b\nyes,no\n", encoding="utf-8")
    result = run("report", bad, "-o", page)
    assert result.exit_code == 2
    assert len(result.stderr.strip().splitlines()) == 1
    assert page.read_text(encoding="utf-8") == "before"
    assert report(panel_csv, page, ignore=["truth"]) == page
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["bad.csv", "report.html"]


def _llm_counts() -> dict[tuple[Any, ...], int]:
    return jurors.Sketch.from_votes(jurors.load_example("llm_graders")[0]).to_counts()


def test_a_missing_library_is_one_clear_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shell, "find_spec", lambda name: None if name == "vl_convert" else object())
    with pytest.raises(JurorsError, match=re.escape("a report needs vl_convert: pip install 'jurors[plot]'")):
        report_html(_votes(50, 3))


def test_the_commands_of_a_page_keep_the_options_by_which_the_file_is_read(tmp_path: Path) -> None:
    panel = panels.simulate(120, 4, seed=4)
    rows = [
        {"question": f"q{k}", "rater": f"judge {j}", "verdict": ["no", "yes"][panel.votes[k, j]], "batch": k % 7}
        for k in range(120)
        for j in range(4)
    ]
    votes, page = tmp_path / "my votes.csv", tmp_path / "page.html"
    pd.DataFrame(rows).to_csv(votes, index=False)
    reading = ["--item", "question", "--juror", "rater", "--label", "verdict"]
    assert run("report", votes, *reading, "-o", page).exit_code == 0
    html = page.read_text(encoding="utf-8")
    commands = [line for line in _commands(html) if "my votes.csv" in line and "jurors report" not in line]
    assert any("audit plan" in line for line in commands)
    for line in commands:
        program, *words = shlex.split(line)
        assert program == "jurors"
        assert [word for word in reading if word not in words] == []
        words = [str(tmp_path / word) if word == "sheet.csv" else word for word in words]
        assert run(*words).exit_code in (0, 3), line


def test_a_key_column_is_ignored_by_the_commands_of_the_page(panel_csv: Path) -> None:
    commands = _commands(report_html(panel_csv, key="truth"))
    assert [line for line in commands if re.match("jurors (label|check|audit plan) '[^']*' --ignore truth", line)]


def test_an_evaluation_of_many_jurors_is_a_short_table_in_a_notebook() -> None:
    result = jurors.grade(_votes(400, 60, density=0.5))
    assert result._repr_html_().count("<tr") <= 25


def test_wide_intervals_are_not_green() -> None:
    result = jurors.grade(_votes(200, 5))
    widths = sorted(high - low for low, high in (result.interval_of("score", j) for j in result.jurors))
    tone = verdict(replace(result, alarms=())).tone
    assert tone == ("warning" if widths[2] > 0.25 else "quiet")
    narrow = jurors.grade(_votes(4_000, 5), errors="independent")
    assert verdict(replace(narrow, alarms=())).tone == "quiet"


def test_systems_have_a_section_with_their_numbers_and_a_picture(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    model = np.repeat(["new", "<b>old</b>", "few"], [100, 100, 3])
    right = rng.random((203, 4)) < 0.9
    good = rng.random(203) < np.where(model == "new", 0.9, 0.3)
    frame = pd.DataFrame(np.where(right == good[:, None], "pass", "fail"), columns=list("abcd")).assign(model=model)
    compared = jurors.systems(frame, by="model")
    page = report_html(frame, system="model")
    assert 'data-chart="systems"' in page
    assert "<b>old</b>" not in page
    shown = page[page.index('id="systems"') : page.index('id="evidence"')]
    for row in compared.rate_table().rows:
        assert row[2] in shown and row[3] in shown  # rate and interval  # noqa: PT018
    drawn = [row for rows in jurors.plot.systems(compared).to_dict()["datasets"].values() for row in rows]
    assert {(r["system"], r["rank"], r["place"]) for r in drawn if "rank" in r} == {
        ("new", "1", "may be the best"), ("<b>old</b>", "2", "settled as worse"), ("few", "–", "too few items")
    }  # fmt: skip
    frame.to_csv(tmp_path / "votes.csv", index=False)
    words = "report", tmp_path / "votes.csv", "--system", "model", "--chart", "systems", "-o", tmp_path / "systems.svg"
    assert run(*words).exit_code == 0
    assert "may be the best" in (tmp_path / "systems.svg").read_text()


def test_leanings_of_judges_are_drawn_with_their_intervals(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    model, long = np.repeat(["new", "old"], 300), rng.random(600) < 0.5
    good = rng.random(600) < np.where(model == "new", 0.7, 0.5)
    votes = np.where(rng.random((600, 4)) < 0.9, good[:, None], ~good[:, None])
    votes[:, 0] |= long & (rng.random(600) < 0.7)  # a favours long answers
    frame = pd.DataFrame(np.where(votes, "pass", "fail"), columns=list("abcd")).assign(model=model, long=long * 1)
    frame.to_csv(tmp_path / "votes.csv", index=False)
    words = [
        "report",
        tmp_path / "votes.csv",
        "--system",
        "model",
        "-o",
        tmp_path / "leanings.json",
        "--covariate",
        "long",
    ]
    assert "need each other" in run(*words).stderr
    assert run(*words, "--chart", "leanings").exit_code == 0
    (rows,) = (
        rows for rows in json.loads((tmp_path / "leanings.json").read_text())["datasets"].values() if len(rows) > 1
    )
    expected = jurors.systems(frame, by="model", covariate="long").leanings
    assert [(row["value"], row["low"], row["high"]) for row in rows] == [(x.slope, x.low, x.high) for x in expected]
    assert [row["judge"] for row in rows if row["found"] == "beyond chance"] == ["a"]


def test_the_most_frequent_confusion_is_that_of_any_juror_with_enough_votes() -> None:
    votes = panels.crowd()
    confusion, labels = jurors.grade(votes).independent.confusion, votes.labels
    wrong = {(float(confusion[j][a][b]), j, b) for j in votes.jurors for a in labels for b in labels if a != b}
    _, who, label = max(each for each in wrong if each[1] not in ("fixed", "new"))
    assert f"one label or few votes: {who} gives “{label}” to" in report_html(votes)
