"""coterie figures: every figure of the paper as a file."""

from __future__ import annotations

import click

from coterie.cli.pictures import write_figure
from coterie.cli.requests import FiguresRequest
from coterie.cli.screen import put
from coterie.plots.paper import FIGURES


def run(request: FiguresRequest) -> None:
    """Run the command."""
    folder, only = request.output, request.only
    if not folder.parent.is_dir():
        raise click.UsageError(
            f"expected an existing folder around {str(folder)!r}; create {str(folder.parent)!r}"
        )
    folder.mkdir(exist_ok=True)
    wanted = {name: make for name, make in FIGURES.items() if not only or name[0] in only}
    with request.console.progress("drawing") as step:
        for done, (name, make) in enumerate(wanted.items()):
            step(done, len(wanted), name)
            path = folder / f"{name}.{request.form}"
            write_figure(make(), path)
            put(path)
