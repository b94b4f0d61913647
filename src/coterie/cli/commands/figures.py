"""coterie figures: every figure of the paper, on our own data."""

from __future__ import annotations

from pathlib import Path

import click

from coterie.cli import options as o


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
@o.voice_options
def command(output: Path, form: str, only: tuple[str, ...], quiet: bool, verbose: int) -> None:
    from coterie.cli.console import Voice
    from coterie.cli.pictures import write_figure
    from coterie.cli.screen import put
    from coterie.plots.paper import FIGURES

    if not output.parent.is_dir():
        raise click.UsageError(
            f"expected an existing folder around {str(output)!r}; create {str(output.parent)!r}"
        )
    output.mkdir(exist_ok=True)
    wanted = {name: make for name, make in FIGURES.items() if not only or name[0] in only}
    with Voice(quiet, verbose).progress("drawing") as step:
        for done, (name, make) in enumerate(wanted.items()):
            step(done, len(wanted), name)
            path = output / f"{name}.{form}"
            write_figure(make(), path)
            put(path)
