"""coterie mixture: soft clusters, each a Gaussian."""

from __future__ import annotations

from typing import Any

import click

from coterie.cli import options as o
from coterie.cli.methods import MixtureOptions
from coterie.cli.requests import FitRequest
from coterie.cli.values import Number


@click.command(
    "mixture",
    cls=o.Command,
    help=o.examples(
        "coterie mixture flowers.csv -k 3 --degrees -o degrees.csv",
        "coterie mixture gaps.csv --missing keep",
        "coterie mixture blobs --plot ellipses.png",
    )
    + "\n\nGaussian mixture by EM: clusters may be long, tilted and of different size, and rows "
    "belong to each by a degree. Without -k the number of clusters is chosen by BIC.",
)
@o.INPUT
@click.option(
    "-k", "--clusters", type=o.COUNT, metavar="K", help="Number of Gaussians. Default: chosen."
)
@click.option(
    "--covariance", type=click.Choice(("full", "tied", "diag", "spherical")),
    default=MixtureOptions.covariance, show_default=True, help="Shapes that clusters may have.",
)  # fmt: skip
@click.option("--degrees", is_flag=True, help="Write the degree of belonging to each cluster too.")
@click.option(
    "--runs", type=o.COUNT, default=MixtureOptions.runs, show_default=True, help="The best is kept."
)
@click.option(
    "--max-iter", type=o.COUNT, default=MixtureOptions.max_iter, show_default=True, help="Of a run."
)
@click.option("--max-seconds", type=o.POSITIVE, help="Time for all runs together.")
@click.option("--tol", type=Number(), default=MixtureOptions.tol, show_default=True,
              help="Stop when an iteration gains less than this by row.")  # fmt: skip
@click.option("--floor", type=Number(), help="Added to all variances.")
@click.option("--accelerate", is_flag=True, help="Extrapolate; for small --tol.")
@o.run_options
@o.reading_options
@o.keeping_options
def command(**given: Any) -> None:
    from coterie.cli.run.fit import run

    run(FitRequest.for_method("mixture", given))
