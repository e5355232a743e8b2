"""`jurors label --review` and the page's queue: each juror's vote, and what shows the item."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import panels
import pytest
from command_line import run

import jurors
from jurors.reporting.tables import find_findings, number_tables
from jurors.votes.key import ItemTexts

PANEL = panels.simulate(300, 4, seed=2)
JURORS = ("ann", "bob", "cy", "dee")
LONG = "a question\nof two lines " + "and many words " * 20


@pytest.fixture
def votes(tmp_path: Path) -> Path:
    path = tmp_path / "votes.csv"
    rows = [f"q{k},group {k % 2},{','.join('yes' if x else 'no' for x in row)}" for k, row in enumerate(PANEL.votes)]
    path.write_text("\n".join(["item,batch,ann,bob,cy,dee", *rows]) + "\n")
    (tmp_path / "items.csv").write_text("item,label\n" + "".join(f'q{k},"{k}: {LONG}"\n' for k in range(300)))
    return path


def _run(*arguments: object) -> str:
    done = run(*arguments)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_a_review_shows_votes_and_texts_in_every_format(votes: Path) -> None:
    asked = ("label", votes, "--ignore", "batch", "--review", 4)
    shown = (*asked, "--items", votes.parent / "items.csv", "--text", "label")
    rows = list(csv.DictReader(io.StringIO(_run(*shown, "--format", "csv"))))
    assert list(rows[0])[:4] == ["item", "label", "panel_label", "probability"]
    assert list(rows[0])[4:] == [*(f"vote of {juror}" for juror in JURORS), "text of label"]
    for row in rows:
        said = PANEL.votes[int(row["item"][1:])]
        assert [row[f"vote of {juror}"] for juror in JURORS] == ["yes" if x else "no" for x in said]
        assert row["text of label"] == f"{row['item'][1:]}: {LONG}".strip()
    assert [row["item"] for row in json.loads(_run(*shown, "--format", "json"))["items"]] == [r["item"] for r in rows]
    lines = _run(*shown).splitlines()
    assert len(lines) == 5
    assert all("a question of two lines and" in line for line in lines[1:])
    for row, line in zip(rows, lines[1:], strict=True):
        cast = [row[f"vote of {juror}"] for juror in JURORS]
        assert all(f"{cast.count(label)} {label}" in line for label in set(cast))
    assert "vote of ann" in _run(*asked, "--format", "csv").splitlines()[0]


@pytest.mark.parametrize("kind", ["labels", "families", "levels"])
@pytest.mark.parametrize("text", [(), ("--text", "note")])
def test_a_review_fits_the_screen_and_says_what_it_leaves_out(tmp_path: Path, kind: str, text: tuple[str, ...]) -> None:
    path = tmp_path / "votes.csv"
    said = np.clip(np.random.default_rng(0).normal(np.arange(300)[:, None] % 5, 1, (300, 4)).round(), 0, 4).astype(int)
    cells = said if kind == "levels" else np.where(PANEL.votes, "pass", "fail")
    rows = [f"q{k},v1,{LONG.splitlines()[1]},{','.join(map(str, row))}" for k, row in enumerate(cells)]
    path.write_text("\n".join(["question_id,prompt,note,ann,bob,cy,dee", *rows]) + "\n")
    family = ("--family", "one=ann,bob") if kind == "families" else ()
    asked = ("label", path, "--item", "question_id,prompt", "--review", 3, *family, *text, "--quiet")
    shown = _run(*asked).splitlines()
    assert max(map(len, shown)) <= 80
    assert not any("…" in word for word in shown[0].split())
    for row in shown[1:4]:
        assert row.split()[0][0] == "q"
        assert not text or "lines and many words" in row
    is_cut = any(line.startswith("Left out, to fit: ") for line in shown)
    assert is_cut == (kind != "labels" or bool(text))
    assert "probability" in _run(*asked, "--format", "csv").splitlines()[0].split(",")


def test_the_panels_own_labels_are_no_gold(votes: Path, tmp_path: Path) -> None:
    asked, review, labels = ("--ignore", "batch"), tmp_path / "review.csv", tmp_path / "labels.csv"
    _run("label", votes, *asked, "--review", 4, "-o", review)
    _run("label", votes, *asked, "-o", labels)
    graded = run("grade", votes, *asked, "--gold", labels)
    assert (graded.exit_code, "these labels look like a panel's" in graded.stderr) == (2, True)
    graded = run("grade", votes, *asked, "--gold", review)
    assert (graded.exit_code, "no item has a true label; fill in" in graded.stderr) == (2, True)
    rows = list(csv.DictReader(io.StringIO(review.read_text())))
    rows[0]["label"] = "yes"
    with review.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    assert jurors.read_key(review).labels.tolist() == ["yes"]
    _run("grade", votes, *asked, "--gold", review)
    own = tmp_path / "own.csv"  # of somebody who says how likely an item is hard
    own.write_text("item,label,probability,why\nq1,yes,0.5,\nq2,no,0.9,\n")
    assert jurors.read_key(own).labels.tolist() == ["yes", "no"]


def test_groups_and_columns_of_the_same_file_can_be_shown(votes: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(_run("label", votes, "--by", "batch", "--review", 3, "--format", "csv"))))
    assert all(row["group"] == f"group {int(row['item'][1:]) % 2}" for row in rows)
    assert all(row["vote of dee"] in ("yes", "no") for row in rows)
    own = _run("label", votes, "--text", "batch", "--review", 2, "--format", "csv")
    assert {row["batch"] for row in csv.DictReader(io.StringIO(own))} <= {"group 0", "group 1"}


def test_the_pages_queue_shows_votes_and_texts() -> None:
    table = jurors.Votes.from_matrix(PANEL.votes, jurors=["ann", "bob", "cy", "dee"])
    texts = ItemTexts(("question",), {str(k): (f"{k}: {LONG * 3}",) for k in range(300)})
    (queue,) = [one for one in number_tables(find_findings(table, texts=texts)) if one.id == "table-items"]
    assert queue.columns[3:] == ("votes", "question")
    item, *_, said, text = queue.rows[0]
    assert said == ", ".join(f"{j} {v}" for j, v in zip(table.jurors, PANEL.votes[int(item)], strict=True))
    assert text.startswith(f"{item}: a question of two lines and many words")
    assert len(text) == 401


def test_gold_items_are_not_reviewed_again() -> None:
    codes = [["yes" if x else "no" for x in row] for row in PANEL.votes]
    first = jurors.label(codes).review(5).tolist()
    gold = {item: "yes" if PANEL.truth[item] else "no" for item in first}
    assert not set(first) & set(jurors.label(codes, gold=gold).review(5).tolist())
