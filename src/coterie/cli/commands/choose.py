"""coterie choose: the number of clusters, or eps of DBSCAN."""

from __future__ import annotations

from typing import Any

import click

from coterie.cli import options as o
from coterie.cli.methods import DBSCANOptions
from coterie.cli.requests import ChooseRequest
from coterie.cli.values import Output, Value


class Range(Value):
    """Numbers of clusters: 8 (1 to 8), 2-8 or 2,4,8."""

    name = "range"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        if not isinstance(value, str):
            return value
        low, dash, high = value.partition("-")
        parts = (low, high) if dash else tuple(value.split(","))
        numbers = [int(part) if part.strip().isdecimal() else 0 for part in parts]
        if min(numbers) < 1 or (dash and numbers[0] > numbers[1]):
            self.fail(f"expected numbers of clusters as 8, 2-8 or 2,4,8, got {value!r}", param, ctx)
        if dash:
            return tuple(numbers)
        return numbers[0] if len(numbers) == 1 else numbers


@click.command(
    "choose",
    cls=o.Command,
    help=o.examples(
        "coterie choose flowers.csv --scaling standard",
        "coterie choose flowers.csv --method mixture --clusters 2-8",
        "coterie choose moons --method dbscan --plot eps.png",
    )
    + "\n\nFits every candidate and picks one: the number of clusters for k-means and mixtures, "
    "eps for DBSCAN. The table and the reason go to stdout.",
)
@o.INPUT
@click.option("--method", type=click.Choice(("kmeans", "mixture", "dbscan")), default="kmeans",
              show_default=True, help="Method to choose for.")  # fmt: skip
@click.option("-k", "--clusters", type=Range(), metavar="RANGE",
              help="Candidates: 8 (1 to 8), 2-8 or 2,4,8. Default: 1 to 10.")  # fmt: skip
@click.option(
    "--criterion",
    type=click.Choice(("auto", "silhouette", "knee", "stability", "bic", "aic", "icl")),
    default="auto", show_default=True, help="Criterion that decides.",
)  # fmt: skip
@click.option(
    "--min-samples",
    type=o.COUNT,
    default=DBSCANOptions.min_samples,
    show_default=True,
    help="Of DBSCAN.",
)
@click.option("--metric", type=click.Choice(("euclidean", "manhattan", "chebyshev", "cosine")),
              help="Of DBSCAN.")  # fmt: skip
@click.option("--exact", is_flag=True, help="All rows instead of samples; takes longer.")
@o.run_options
@o.reading_options
@click.option("--plot", "picture", type=Output(*o.PICTURES), metavar="FILE",
              help="The curves as a picture: .png, .svg, .pdf.")  # fmt: skip
@o.json_option
@o.console_options
def command(**given: Any) -> None:
    from coterie.cli.run.choose import run

    run(ChooseRequest.of(given))
