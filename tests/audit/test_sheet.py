"""The draw: the same whatever the order of rows, one long draw in batches, with chances that add up."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from jurors.audit import plan
from jurors.audit.sheet import FLOOR, Design, SequentialDraw, Sheet, check_seeds, read_sheet, replay_draws
from jurors.errors import JurorsError, OptionError, SketchError, VotesError
from jurors.votes.table import Votes

_random = np.random.default_rng(5)
CODES = _random.choice(3, (90, 4), p=(0.5, 0.3, 0.2)) - (_random.random((90, 4)) < 0.2) * 9
ITEMS = [f"q{k}" for k in range(90)]
VOTES = Votes.from_matrix(np.maximum(CODES, -1), items=ITEMS, jurors=list("wxyz"), labels=("a", "b", "c"))


def test_two_batches_are_one_long_draw() -> None:
    first = plan(VOTES, 20, seed=3)
    second = plan(VOTES, 15, after=first, seed=3)
    whole = plan(VOTES, 35, seed=3)
    assert first.items + second.items == whole.items
    assert first.chance + second.chance == whole.chance
    assert (second.draw[0], second.of[0]) == (21, 35)


def test_every_draw_is_new_and_can_be_repeated_by_the_seed_in_its_sheet(tmp_path) -> None:  # type: ignore[no-untyped-def]
    first, other = plan(VOTES, 20), plan(VOTES, 20)
    assert first.items != other.items
    (seed,) = set(first.seed)
    assert plan(VOTES, 20, seed=seed).items == first.items
    assert plan(VOTES, 10, after=first).items == plan(VOTES, 30, seed=seed).items[20:]  # goes on with its seed
    (tmp_path / "sheet.csv").write_text(first.to_csv())
    assert read_sheet(str(tmp_path / "sheet.csv")).seed == first.seed


def test_items_that_the_seed_does_not_draw_are_refused_and_a_sheet_without_a_seed_is_not_called_random() -> None:
    sheet, design = plan(VOTES, 12), Design.of(VOTES)
    sheet = read_sheet([sheet, plan(VOTES, 5, after=sheet, seed=400_000)])
    assert sheet.seed[-1] == 400_000
    rows = replay_draws(sheet, VOTES, SequentialDraw(design))
    assert check_seeds(sheet, design, rows)
    assert not check_seeds(replace(sheet, seed=(None,) * len(sheet)), design, rows)
    with pytest.raises(VotesError, match="the seed 5 draws other items"):
        check_seeds(replace(sheet, seed=(5,) * 17), design, rows)
    chosen = plan(VOTES, 12, seed=4)
    assert not check_seeds(chosen, design, replay_draws(chosen, VOTES, SequentialDraw(design)))


def test_neither_the_order_of_rows_nor_the_names_of_jurors_change_the_draw() -> None:
    order = np.random.default_rng(1).permutation(90)
    other = Votes.from_matrix(
        np.maximum(CODES, -1)[order][:, ::-1], items=[ITEMS[k] for k in order], jurors=list("4321"), labels="abc"
    )
    assert plan(other, 30, seed=0).items == plan(VOTES, 30, seed=0).items


def test_the_chances_of_every_step_add_up_and_keep_the_floor() -> None:
    draw = SequentialDraw(Design.of(VOTES))
    for row in [3, 14, 15, 9, 2, 6]:
        chance = draw.chances()
        assert (chance * draw.left).sum() == pytest.approx(1)
        assert (chance[draw.left > 0] >= FLOOR / draw.left.sum()).all()
        draw.take(int(draw.design.tuple_of_row[row]))


def test_every_item_is_drawn_once_where_all_are() -> None:
    sheet = plan(VOTES, 1000, seed=0)
    assert sorted(sheet.items) == sorted(ITEMS)
    with pytest.raises(SketchError, match="nothing left to draw"):
        plan(VOTES, 1, after=sheet, seed=0)


def test_a_large_tuple_is_soon_touched() -> None:
    votes = Votes.from_matrix(np.repeat([[0, 0, 0], [1, 1, 1], [0, 1, 0]], [40, 40, 20], axis=0), labels=("a", "b"))
    for seed in range(40):
        drawn = {int(item) // 40 for item in plan(votes, 25, seed=seed).items}
        assert drawn == {0, 1, 2}


def test_a_sheet_comes_back_from_its_csv(tmp_path) -> None:  # type: ignore[no-untyped-def]
    sheet = plan(VOTES, 12, seed=0)
    path = tmp_path / "sheet.csv"
    path.write_text(sheet.open().to_csv())
    again = read_sheet(str(path))
    assert (again.draw, again.of, again.items, again.chance, again.checksum) == (
        sheet.draw, sheet.of, sheet.items, sheet.chance, sheet.checksum,
    )  # fmt: skip
    assert "vote of w" not in sheet.to_csv()
    assert "vote of w" in sheet.open().to_csv()


def test_a_sheet_that_was_sorted_rounded_and_saved_with_semicolons_is_the_same(tmp_path) -> None:  # type: ignore[no-untyped-def]
    sheet = plan(VOTES, 12, seed=0)
    rows = [f"{d};{o};{i};b;{c:.6f}".replace(".", ",") + f";{sheet.checksum}"
            for d, o, i, c in zip(sheet.draw, sheet.of, sheet.items, sheet.chance, strict=True)]  # fmt: skip
    path = tmp_path / "sheet.csv"
    path.write_text("\ufeffDraw;Of;Item;Label;Chance;Drawn_from\r\n" + "\r\n".join(reversed(rows)) + "\r\n")
    again = read_sheet(str(path))
    assert again.items == sheet.items
    assert replay_draws(again, VOTES, SequentialDraw(Design.of(VOTES))).tolist() == [
        ITEMS.index(i) for i in sheet.items
    ]


def _rows(**changed: object) -> Sheet:
    sheet = plan(VOTES, 3, seed=0)
    columns = {name: list(getattr(sheet, name)) for name in ("draw", "of", "items", "labels", "chance")}
    for name, (place, value) in changed.items():  # type: ignore[misc]
        columns[name][place] = value  # type: ignore[has-type]
    frame = pd.DataFrame(columns).rename(columns={"items": "item", "labels": "label"})
    return read_sheet(frame.assign(drawn_from=sheet.checksum))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"draw": (1, 4)}, "the row of draw 2 is missing"),
        ({"draw": (1, 1)}, "draw 1 occurs twice"),
        ({"items": (1, plan(VOTES, 3, seed=0).items[0])}, "occurs twice; an item is drawn once"),
        ({"chance": (1, "often")}, "row 2: chance is 'often', not a share"),
        ({"items": (1, "unknown")}, "'unknown' of the sheet is not among the 90 items"),
        ({"chance": (1, 0.5)}, "was never drawn with the chance"),
    ],
)
def test_what_is_wrong_with_a_sheet_is_reported_in_a_line(changed: dict[str, object], message: str) -> None:
    with pytest.raises(VotesError, match=message):
        plan(VOTES, 1, after=_rows(**changed), seed=0)


def test_counts_nothing_and_a_table_with_other_columns_are_refused() -> None:
    with pytest.raises(VotesError, match=r"needs the columns draw, of, item.*has no 'draw'"):
        read_sheet(pd.DataFrame({"item": [1], "label": [2]}))
    with pytest.raises(OptionError, match="n must be at least 1"):
        plan(VOTES, 0, seed=0)
    with pytest.raises(VotesError, match="counts of decision tuples"):
        plan(Votes.from_matrix([["a", "b"]], counts=[3]), 1, seed=0)
    with pytest.raises(JurorsError):
        plan([], 3, seed=0)


def test_labels_that_are_no_sheet_are_refused_with_a_hint() -> None:
    with pytest.raises(VotesError, match="not dict; give labels of other items as gold="):
        read_sheet({"1": "yes"})
