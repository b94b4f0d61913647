"""coterie cluster: method and parameters chosen by looking at the data."""

from __future__ import annotations

from typing import Any

import click

from coterie.cli import options as o
from coterie.cli.requests import ClusterRequest


@click.command(
    "cluster",
    cls=o.Command,
    help=o.examples(
        "coterie cluster flowers.csv",
        "coterie cluster photo.jpg --plot regions.png",
        "coterie cluster messages/ -o groups.csv",
        "coterie cluster moons --save moons.coterie",
    )
    + "\n\nChooses between k-means, a Gaussian mixture and DBSCAN and their parameters by looking "
    "at the data, and tells the reasons. Columns of very different spread are scaled, unless "
    "--scaling says otherwise.",
)
@o.INPUT
@o.run_options
@o.reading_options
@o.keeping_options
def command(**given: Any) -> None:
    from coterie.cli.run.cluster import run

    run(ClusterRequest.of(given))
