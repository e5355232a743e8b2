"""`jurors demo`: a real panel of LLM judges, graded without its answer key, beside the truth."""

from __future__ import annotations

import click


@click.command()
def demo() -> None:
    """Grade three LLM judges without an answer key, and compare the grades with the truth."""
    import jurors

    votes, key = jurors.load_example("llm_graders")
    click.secho("Three LLM judges grade 281 solutions of arithmetic problems. No answer key is used.\n", bold=True)
    click.echo(str(jurors.grade(votes)))
    truth = jurors.score(votes, key)
    right = {j: f"{float(x):.0%}" for j, x in truth.score.items()}
    click.echo("The truth, for comparison: " + ", ".join(f"{j} {x}" for j, x in right.items()) + ".")
    wrong, majority = truth.errors_of(jurors.label(votes).partition.chosen), truth.majority_errors
    click.echo(f"Wrong labels: {wrong / truth.items:.0%}, by majority vote {majority / truth.items:.0%}.")
    click.echo("\nYour own file: jurors grade votes.csv. The tutorial: docs/tutorial.md.")
