"""The tables of a census experiment, from the folders that `make paper` has filled.

    make paper DATA=census.parquet
    python -m reproduce.guide build/paper/census

Several folders give their tables one after another, and at the end what all of them show together.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from reproduce.acs.report import against_majority, bounded_settings, drowned_settings

DRAWS = {
    "shared": "The same records for all jurors (`shared`):",
    "separate": (
        "Separate records for each juror (`separate`): independent by construction, not how jurors meet in practice:"
    ),
}
COLUMNS = (
    "true share", "trio", "Γ", "AE", "MV", "accuracies", "wrong labels", "out of range or complex", "bounded",
)  # fmt: skip


def section(folder: Path) -> Iterator[str]:
    """Paragraphs and tables of one jury."""
    reports = {draw: read_report(folder / draw / "report.json") for draw in DRAWS}
    shared = reports["shared"]
    used = "; ".join(f"{s['replaced_by']} stands in for {s['column']}" for s in shared["stand_ins"])
    records = shared["settings"]["training_records"]
    yield f"{shared['population']}.\n{used or 'No stand-ins'}. {records:,} records trained each juror."
    yield jury_table(shared)
    for draw, heading in DRAWS.items():
        results = reports[draw]["results"]
        rows = [result_row(result) for result in results]
        yield heading
        yield "\n".join(["| " + " | ".join(COLUMNS) + " |", "| --- | --- |" + " ---: |" * 7, *rows])
        yield f"AE against majority vote: {against_majority(results)}"
        yield f"{drowned_settings(results)} {bounded_settings(results)}"


def read_report(path: Path) -> dict[str, Any]:
    """The report of one draw."""
    try:
        report: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SystemExit(f"cannot read {path} ({type(error).__name__}); make paper writes it") from None
    return report


def jury_table(report: dict[str, Any]) -> str:
    """The jurors' accuracies on everybody else, and the error correlations of their pairs."""
    first = report["settings"]["prevalences"][0]
    pairs = {
        tuple(pair["jurors"]): pair
        for result in report["results"]
        if result["prevalence"] == first
        for pair in result["correlation"]["pairs"]
    }
    lines = [
        "| juror | accuracy on a | on b |  | pair | Γ on a | Γ on b |",
        "| --- | ---: | ---: | --- | --- | ---: | ---: |",
    ]
    jurors = [
        f"{j['juror']} {j['name']} | {percent(j['accuracy']['a'])} | {percent(j['accuracy']['b'])}"
        for j in report["jurors"]
    ]
    jurors += [" | | "] * (len(pairs) - len(jurors))
    for left, ((first_juror, second_juror), pair) in zip(jurors, sorted(pairs.items()), strict=True):
        lines.append(f"| {left} | | {first_juror} {second_juror} | {pair['a']:z.4f} | {pair['b']:z.4f} |")
    return "\n".join(lines)


def result_row(result: dict[str, Any]) -> str:
    """One trio at one prevalence."""
    ae, mv = result["prevalence_of_a"]["algebraic"], result["prevalence_of_a"]["majority"]
    wrong, sizes = result["labelling_errors"], result["all_accuracies"]
    cells = (
        result["prevalence"],
        " ".join(map(str, result["trio"])),
        f"{result['correlation']['largest']:.4f}",
        f"{percent(ae['median'])} ({percent(ae['typical'])}; {percent(ae['rmse'])})",
        f"{percent(mv['median'])} ({percent(mv['rmse'])})",
        f"{percent(sizes['algebraic']['rmse'])} / {percent(sizes['majority']['rmse'])}",
        f"{wrong['algebraic']:,.0f} / {wrong['majority']:,.0f} / {wrong['best_possible']:,.0f}",
        percent(result["alarms"]["out_of_range"] + result["alarms"]["complex"]),
        percent(result["bounds"]["bounded"]),
    )
    return "| " + " | ".join(cells) + " |"


def percent(value: float | None) -> str:
    """Without the sign."""
    return "–" if value is None else f"{100 * value:.1f}"


def overall(folders: list[Path]) -> Iterator[str]:
    """What all folders show."""
    for draw in DRAWS:
        results = [r for folder in folders for r in read_report(folder / draw / "report.json")["results"]]
        inside = [r["bounds"]["truth_inside"] for r in results if r["bounds"]["truth_inside"] is not None]
        held = f"Where bounds exist, the truth is inside in {min(inside):.1%} of tests at least." if inside else ""
        yield f"All folders, `{draw}`: {drowned_settings(results)} {held}".rstrip()


def main() -> None:
    """Print Markdown."""
    parser = argparse.ArgumentParser(description="The tables of a census experiment, as Markdown.")
    parser.add_argument(
        "folders", nargs="+", type=Path, metavar="FOLDER", help="of a census file, as make paper writes it"
    )
    folders = parser.parse_args().folders
    parts = [f"### {folder.name}\n\n" + "\n\n".join(section(folder)) for folder in folders]
    print("\n\n".join([*parts, *overall(folders)]))


if __name__ == "__main__":
    main()
