"""What spreadsheets, R and pandas write: other marks, other encodings, lines above and below, columns in between."""

from __future__ import annotations

from typing import Any

from votes.exported.exports import ITEMS, JURORS, ROWS, TEXTS, cells, export, said, wide
from votes.panels import panel

WORDS = ("Ja, natürlich", "nein", "weiß nicht so recht")
_, GERMAN = panel(24, WORDS, seed=8)
_, NUMBERS = panel(24, ("1,0", "2,5", "4,0"), seed=9)


def sheet_exports() -> None:
    """One plain table in all the ways in which it is saved."""
    semicolons = cells(*wide(GERMAN), mark=";", end="\r\n")
    german = said(GERMAN)
    export("excel_semicolon", "a.csv", semicolons.encode(), german)
    export("excel_bom", "b.csv", semicolons.encode("utf-8-sig"), german)
    export("excel_cp1252", "c.csv", semicolons.encode("cp1252"), german)
    export("excel_utf16", "d.csv", semicolons.encode("utf-16"), german)
    export("excel_unicode_text", "e.txt", cells(*wide(GERMAN), mark="\t", end="\r\n").encode("utf-16"), german)
    export("utf16_no_mark", "f.csv", semicolons.encode("utf-16-le"), german)
    export("excel_sep", "g.csv", f"sep=;\r\n{semicolons}".encode("utf-8-sig"), german)
    export("excel_sep_cp1252", "h.csv", f"sep=;\r\n{semicolons}".encode("cp1252"), german)
    decimals = said(NUMBERS)  # as labels; --scale interval makes them numbers
    export("decimal_commas", "i.csv", cells(*wide(NUMBERS), mark=";", end="\r\n").encode(), decimals)
    long = [[i, j, v] for i, row in zip(ITEMS, NUMBERS, strict=True) for j, v in zip(JURORS, row, strict=True)]
    export("decimal_commas_long", "j.csv", cells(["item", "juror", "label"], *long, mark=";").encode(), decimals)
    _with_more()
    _many_jurors()


def _with_more() -> None:
    votes = said()
    plain = wide()
    export(
        "r_write_csv",
        "r.csv",
        cells(["", *plain[0]], *([k + 1, *row] for k, row in enumerate(plain[1:])), quote_all=True).encode(),
        votes,
    )
    export(
        "pandas_index",
        "p.csv",
        cells(["Unnamed: 0", *plain[0]], *([k, *row] for k, row in enumerate(plain[1:]))).encode(),
        votes,
    )
    export(
        "pandas_index_only",
        "p2.csv",
        cells(["", *JURORS], *([k, *row] for k, row in enumerate(ROWS))).encode(),
        said(items=range(24)),
    )
    yes = [sum(row[j] == "yes" for row in ROWS) for j in range(5)]
    export("totals_line", "t.csv", cells(*plain, ["Total", *yes]).encode(), votes, say="'Total'")
    shares = [f"{100 * n / 24:.1f}%" for n in yes]
    export("average_line", "t2.csv", cells(*plain, [""] * 6, ["Average", *shares]).encode(), votes, say="'Average'")
    title = cells(["Replies, round 2"], [], *plain)
    export("title_lines", "t3.csv", title.encode(), votes, say="tail -n +3")
    padded = cells(["Replies, round 2", *[""] * 5], [""] * 6, *plain)
    export("title_lines_padded", "t4.csv", padded.encode(), votes, say="tail -n +3")
    comments: list[list[Any]] = [["item", "reply", *(name for juror in JURORS for name in (juror, f"{juror} comment"))]]
    comments += [
        [item, text, *(cell for k, vote in enumerate(row) for cell in (vote, f"{vote}, see {item}" if k % 2 else ""))]
        for item, text, row in zip(ITEMS, TEXTS, ROWS, strict=True)
    ]
    export("comments_between", "c1.csv", cells(*comments).encode(), votes)
    blank = [[*row, "", ""] for row in plain] + [[""] * 8] * 3
    export("blank_edges", "c2.csv", cells(*blank).encode(), votes)


def _many_jurors() -> None:
    names = [f"model_{k:02d}" for k in range(40)]
    _, rows = panel(60, ("A", "B", "C"), seed=6, jurors=40)
    items = [f"i{k}" for k in range(60)]
    table = [["item", *names], *([i, *row] for i, row in zip(items, rows, strict=True))]
    export("forty_jurors", "forty.csv", cells(*table).encode(), said(rows, names, items))
    three = [["item", *JURORS[:3]], *([i, *row[:3]] for i, row in zip(ITEMS, ROWS, strict=True))]
    export("three_jurors", "three.csv", cells(*three).encode(), said([row[:3] for row in ROWS], JURORS[:3]))
