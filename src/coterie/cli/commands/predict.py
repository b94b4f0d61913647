"""coterie predict: the clusters of new data by a saved model."""

from __future__ import annotations

from typing import Any

import click

from coterie.cli import options as o
from coterie.cli.requests import PredictRequest
from coterie.cli.values import Output


@click.command(
    "predict",
    cls=o.Command,
    help=o.examples(
        "coterie predict flowers.coterie new.csv -o labels.csv",
        "coterie predict photo.coterie another.jpg --plot regions.png",
    )
    + "\n\nThe clusters of new rows. Columns are found by name and scaled as when the model was "
    "fitted; pictures, videos and sounds are cut up in the same way.",
)
@click.argument("model", metavar="MODEL")
@o.INPUT
@click.option("--degrees", is_flag=True, help="Degrees of belonging, if MODEL is a mixture.")
@click.option("--ids", metavar="COLUMN", help="Column that names the rows of a table.")
@click.option("--missing", type=click.Choice(o.GAPS), metavar="HOW",
              help="Empty cells of a table: error, drop, mean, median or keep.")  # fmt: skip
@click.option("--drop-missing", "missing", flag_value="drop", help="Short for --missing drop.")
@click.option("--separator", metavar="CHARACTER", help="Of a CSV file. Default: found.")
@click.option("--decimal", metavar="CHARACTER", help="Decimal sign of a CSV file.")
@click.option("--header/--no-header", default=None, help="Whether a CSV file names columns.")
@click.option("--array", metavar="NAME", help="Which array of an NPZ file.")
@click.option("--max-memory", metavar="SIZE", help="Memory for INPUT, such as '8 GB'.")
@o.labels_options
@click.option("--plot", "picture", type=Output(*o.PICTURES), metavar="FILE",
              help="A picture: .png, .svg, .pdf.")  # fmt: skip
@o.json_option
@o.console_options
def command(**given: Any) -> None:
    from coterie.cli.run.predict import run

    run(PredictRequest.of(given))
