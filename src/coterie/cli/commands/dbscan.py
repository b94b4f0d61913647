"""coterie dbscan: dense clusters of any shape."""

from __future__ import annotations

from typing import Any

import click

from coterie.cli import options as o
from coterie.cli.methods import DBSCANOptions
from coterie.cli.requests import FitRequest


@click.command(
    "dbscan",
    cls=o.Command,
    help=o.examples(
        "coterie dbscan moons --plot moons.png",
        "coterie dbscan places.parquet --eps 0.2 --min-samples 10 -o labels.parquet",
        "coterie dbscan places.csv --metric haversine --columns lat,lon --eps 0.01",
    )
    + "\n\nDBSCAN: rows with at least --min-samples rows within --eps are core points; clusters "
    "are core points that reach each other, with all that is near them. The rest is noise, -1. "
    "Without --eps the distance is chosen, and the reason told.",
)
@o.INPUT
@click.option("--eps", type=o.POSITIVE, help="Up to this distance rows are nearby.")
@click.option("--min-samples", type=o.COUNT, default=DBSCANOptions.min_samples, show_default=True,
              help="Rows nearby, itself included, that make a core point.")  # fmt: skip
@click.option(
    "--metric",
    type=click.Choice(("euclidean", "manhattan", "chebyshev", "cosine", "haversine")),
    help="Default: cosine for texts, euclidean for all else. haversine takes radians.",
)
@click.option("--kinds", is_flag=True, help="Write core, border or noise beside each label.")
@o.run_options
@o.reading_options
@o.keeping_options
def command(**given: Any) -> None:
    from coterie.cli.run.fit import run

    run(FitRequest.for_method("dbscan", given))
