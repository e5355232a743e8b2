"""Every public result has a notebook form, in which names and labels are text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import panels
import pytest

import jurors

EVIL = ("<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "عادل", "</table>", "x" * 200)
LABELS = ("<b>yes</b>", "no & more")


def _votes(width: int = 5, density: float = 1.0) -> jurors.Votes:
    votes = panels.simulate(400, width, seed=1, density=density).votes
    return jurors.Votes.from_matrix(
        votes, jurors=EVIL[:width], labels=LABELS, items=[f"<i>{k}</i>" for k in range(400)]
    )


def _key(votes: jurors.Votes) -> jurors.Key:
    return jurors.Key.from_array([LABELS[k % 2] for k in range(votes.rows)])


def _graded() -> jurors.Evaluation:
    return jurors.grade(_votes())


MAKERS: dict[str, Callable[[], Any]] = {
    "votes": _votes,
    "votes with gaps": lambda: _votes(density=0.4),
    "key": lambda: _key(_votes()),
    "sketch": lambda: jurors.Sketch.from_votes(_votes()),
    "evaluation": _graded,
    "solution": lambda: _graded().solution,
    "partition": lambda: _graded().partition,
    "alarm": lambda: jurors.Alarm("twin_jurors", "warning", f"{EVIL[0]} and {EVIL[1]} never disagree"),
    "labelling": lambda: jurors.label(_votes()),
    "keyed": lambda: jurors.score(_votes(), _key(_votes())),
    "comparison": lambda: jurors.compare(_votes(), methods=["latent", "majority"]),
    "dependence": lambda: _graded().details["dependence"],
    "agreement": lambda: jurors.agreement(_votes()),
    "bounds": lambda: jurors.bounds(_votes(3)),
    "sensitivities": lambda: jurors.sensitivities(jurors.Sketch.from_votes(_votes(3))),
    "all trios": lambda: jurors.evaluate_all_trios(jurors.Sketch.from_votes(_votes())),
    "jury": lambda: jurors.Jury().fit(panels.simulate(400, 5, seed=1).votes),
}


@pytest.mark.parametrize("name", MAKERS)
def test_the_notebook_form_shows_names_as_text(name: str) -> None:
    page = MAKERS[name]()._repr_html_()
    assert page.startswith("<")
    for bad in ("<script", "<img", "<b>yes", "<i>"):
        assert bad not in page
    assert page.count("</table>") == page.count("<table>")
    if name not in ("jury", "key"):
        assert "&lt;" in page


def test_a_test_of_fit_shows_its_numbers() -> None:
    panel = panels.simulate(600, 3, seed=1, prevalence=(0.5, 0.3, 0.2))
    found = jurors.goodness_of_fit(jurors.Sketch.from_votes(jurors.Votes.from_matrix(panel.votes)))
    assert f"{found.dof:,}" in found._repr_html_()


def test_the_notebook_form_of_votes_is_the_head_of_the_table() -> None:
    page = jurors.Votes.from_matrix([["a", None], ["b", "a"]], jurors=("ann", "bob"), items=["q1", "q2"])._repr_html_()
    assert "<td>q1</td><td>a</td><td>–</td>" in page
    many = jurors.Votes.from_matrix(panels.simulate(50, 20, seed=1).votes)._repr_html_()
    assert "8 more" in many
    assert many.count("<tr>") == 11
