"""coterie compare: several methods or models on the same data."""

from __future__ import annotations

from typing import Any

import click

from coterie.cli import options as o
from coterie.cli.methods import DBSCANOptions
from coterie.cli.requests import CompareRequest
from coterie.cli.values import Output


@click.command(
    "compare",
    cls=o.Command,
    help=o.examples(
        "coterie compare moons --plot moons.png",
        "coterie compare flowers.csv -k 3 --scaling standard",
        "coterie compare flowers.csv --model old.coterie --model new.coterie",
    )
    + "\n\nAll three methods side by side, or the models that are given: sizes, noise, mean "
    "silhouettes and agreement. Sizes that are not given are chosen.",
)
@o.INPUT
@click.option("-k", "--clusters", type=o.COUNT, metavar="K", help="For k-means and the mixture.")
@click.option("--eps", type=o.POSITIVE, help="For DBSCAN.")
@click.option(
    "--min-samples",
    type=o.COUNT,
    default=DBSCANOptions.min_samples,
    show_default=True,
    help="For DBSCAN.",
)
@click.option("--model", "models", multiple=True, metavar="FILE",
              help="A saved model instead of the three methods; may be given again.")  # fmt: skip
@o.run_options
@o.reading_options
@click.option("--plot", "picture", type=Output(*o.PICTURES), metavar="FILE",
              help="One panel for each: .png, .svg, .pdf.")  # fmt: skip
@o.json_option
@o.console_options
def command(**given: Any) -> None:
    from coterie.cli.run.compare import run

    run(CompareRequest.of(given))
