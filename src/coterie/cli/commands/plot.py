"""coterie plot: pictures of data and models."""

from __future__ import annotations

from typing import Any

import click

from coterie.cli import options as o
from coterie.cli.requests import PlotRequest
from coterie.cli.values import Columns, Output


@click.command(
    "plot",
    cls=o.Command,
    help=o.examples(
        "coterie plot moons -o moons.png",
        "coterie plot flowers.csv --view silhouette -o silhouette.svg",
        "coterie plot flowers.coterie -o clusters.png",
        "coterie plot flowers.coterie new.csv -o clusters.png",
        "coterie plot flowers.coterie --view history -o history.png",
    )
    + "\n\nOf data, the clusters that `coterie cluster` finds. Of a saved model, its clusters on "
    "DATA, by default on the file it was fitted to.",
)
@click.argument("source", metavar="INPUT|MODEL")
@click.argument("data", required=False, metavar="[DATA]")
@click.option("-o", "--output", type=Output(*o.PICTURES), required=True, metavar="FILE",
              help="The picture: .png, .svg, .pdf.")  # fmt: skip
@click.option("--view", type=click.Choice(("clusters", "silhouette", "history")),
              default="clusters", show_default=True, help="Subject of the picture.")  # fmt: skip
@click.option("--axes", type=Columns(), metavar="A,B",
              help="Two columns to show, by name or position.")  # fmt: skip
@o.run_options
@o.reading_options
@o.console_options
def command(**given: Any) -> None:
    from coterie.cli.run.plot import run

    run(PlotRequest.of(given))
