"""coterie info: the content of a file of data or of a saved model."""

from __future__ import annotations

from typing import Any

import click

from coterie.cli import options as o
from coterie.cli.requests import InfoRequest


@click.command(
    "info",
    cls=o.Command,
    help=o.examples("coterie info flowers.csv", "coterie info flowers.coterie --json")
    + "\n\nA saved model: its method, parameters, columns and the source of its data, without "
    "loading it. Data: their kind and format, and every column.",
)
@click.argument("source", metavar="MODEL|INPUT")
@o.reading_options
@o.json_option
@o.console_options
def command(**given: Any) -> None:
    from coterie.cli.run.info import run

    run(InfoRequest.of(given))
