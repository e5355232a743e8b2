"""`jurors demo`: two real juries, graded without their answer key, beside the truth."""

from __future__ import annotations

import click


@click.command()
def demo() -> None:
    """Grade two real juries that come with the package, and show how far off the grades are."""
    import jurors
    from jurors.lab import EXAMPLES

    for name, what in EXAMPLES.items():
        votes, key = jurors.load_example(name)
        click.secho(f"\n{name}: {what}\n", bold=True)
        click.echo(str(jurors.grade(votes)))
        comparison = jurors.compare(votes, key, methods=("algebraic", "majority"))
        click.echo("Beside the truth, which none of this has seen:\n")
        click.echo(str(comparison))
        truth = comparison.truth
        if truth is not None:
            for evaluation in comparison.evaluations:
                errors = comparison.errors(evaluation)
                if errors is not None:
                    click.echo(f"  {evaluation.method}: {1 - errors / truth.items:.1%} of {truth.items:,} labels right")
