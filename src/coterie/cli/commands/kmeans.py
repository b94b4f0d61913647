"""coterie kmeans: k clusters around their means."""

from __future__ import annotations

from typing import Any

import click

from coterie.cli import options as o
from coterie.cli.methods import KMeansOptions
from coterie.cli.requests import FitRequest


@click.command(
    "kmeans",
    cls=o.Command,
    help=o.examples(
        "coterie kmeans flowers.csv -k 3 -o labels.csv",
        "coterie kmeans flowers.csv --scaling standard --save flowers.coterie",
        "coterie kmeans photo.jpg -k 6 --plot regions.png",
        "coterie kmeans moons --plot moons.gif",
    )
    + "\n\nk-means: every row belongs to the nearest of k means. Without -k the number of "
    "clusters is chosen, and the reason told.",
)
@o.INPUT
@click.option(
    "-k", "--clusters", type=o.COUNT, metavar="K", help="Number of clusters. Default: chosen."
)
@click.option(
    "--init", type=click.Choice(("k-means++", "k-means||", "random", "principal")),
    default=KMeansOptions.init, show_default=True, help="Initial means.",
)  # fmt: skip
@click.option(
    "--runs", type=o.COUNT, default=KMeansOptions.runs, show_default=True, help="The best is kept."
)
@click.option(
    "--max-iter", type=o.COUNT, default=KMeansOptions.max_iter, show_default=True, help="Of a run."
)
@click.option("--max-seconds", type=o.POSITIVE, help="Time for all runs together.")
@click.option(
    "--metric", type=click.Choice(("euclidean", "cosine")),
    help="Default: cosine for texts, euclidean for all else.",
)  # fmt: skip
@o.run_options
@o.reading_options
@o.keeping_options
def command(**given: Any) -> None:
    from coterie.cli.run.fit import run

    run(FitRequest.for_method("kmeans", given))
