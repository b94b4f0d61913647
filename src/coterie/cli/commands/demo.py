"""coterie demo: a photo by all three methods, and the paper's two data sets by two."""

from __future__ import annotations

from typing import Any

import click

from coterie.cli import options as o
from coterie.cli.requests import DemoRequest
from coterie.cli.values import Output


@click.command(
    "demo",
    cls=o.Command,
    help=o.examples(
        "coterie demo",
        "coterie demo --picture holiday.jpg --clusters 8 --output holiday-clusters.png",
    )
    + "\n\nThe patches of a photo by k-means, a Gaussian mixture and DBSCAN, and the two data "
    "sets of the paper's comparison by k-means and DBSCAN: a summary on stdout, and one picture.",
)
@click.option("--picture", "photo", type=click.Path(exists=True, dir_okay=False), metavar="PATH",
              help="PNG, JPEG, GIF, BMP, WebP or TIFF. Default: our mountain lake.")  # fmt: skip
@click.option("--patch", type=o.COUNT, default=8, metavar="PIXELS", show_default=True,
              help="Height and width of a patch.")  # fmt: skip
@click.option("-k", "--clusters", type=o.COUNT, default=5, metavar="K", show_default=True,
              help="For k-means and the mixture.")  # fmt: skip
@click.option("-o", "--output", type=Output(*o.PICTURES), default="demo.png", metavar="PATH",
              show_default=True, help="The picture to write.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="JSON instead of the summary.")
@click.option("-q", "--quiet", is_flag=True, help="Only the picture, no summary.")
def command(**given: Any) -> None:
    from coterie.cli.run.demo import run

    run(DemoRequest.of(given))
