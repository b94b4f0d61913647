"""coterie figures: every figure of the paper, on our own data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from coterie.cli import options as o
from coterie.cli.requests import FiguresRequest


@click.command(
    "figures",
    cls=o.Command,
    help=o.examples("coterie figures", "coterie figures --output gallery --format svg --only 8")
    + "\n\nMakes every figure of the paper: the patch box, the patch scatter, the principal "
    "direction, boundary cases, the mixture's ellipses, connectivity, and k-means and DBSCAN on "
    "both data sets. The names of the files go to stdout.",
)
@click.option("-o", "--output", type=click.Path(file_okay=False, path_type=Path), metavar="DIR",
              default="figures", show_default=True, help="Made if it is not there.")  # fmt: skip
@click.option("--format", "form", type=click.Choice(("png", "svg", "pdf")), default="png",
              show_default=True, help="Of the files.")  # fmt: skip
@click.option("--only", type=click.Choice([str(n) for n in range(1, 9)]), multiple=True,
              metavar="N", help="The number of a figure, 1 to 8; may be given again.")  # fmt: skip
@o.console_options
def command(**given: Any) -> None:
    from coterie.cli.run.figures import run

    run(FiguresRequest.of(given))
