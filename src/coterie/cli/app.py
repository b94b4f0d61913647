"""The commands by name. Each is imported when it is asked for, so that help comes at once."""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module
from typing import Any

import click

from coterie.cli.screen import put

# Name, and its purpose in a line; the module of the same name holds the command.
SECTIONS = {
    "Cluster": {
        "cluster": "choose method and parameters by the data, with reasons",
        "kmeans": "k-means: k clusters around their means",
        "mixture": "Gaussian mixture: soft clusters of any direction and spread",
        "dbscan": "DBSCAN: dense clusters of any shape, and outliers",
        "predict": "the clusters of new data by a saved model",
    },
    "Understand": {
        "choose": "the number of clusters or eps, with reasons",
        "compare": "several methods or models on the same data",
        "plot": "pictures of clusters, silhouettes and histories",
        "info": "the content of a data file or of a saved model",
    },
    "Look": {
        "demo": "a picture by all three methods, and two hard cases",
        "figures": "every figure of the paper, on our own data",
    },
}
SUMMARIES = {name: text for section in SECTIONS.values() for name, text in section.items()}


class Commands(click.Group):
    """A group that knows its commands by name and imports them on use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(SUMMARIES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in SUMMARIES:
            return None
        command: click.Command = import_module(f"coterie.cli.commands.{cmd_name}").command
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Find a command as click does; the error for an unknown name gives a near one."""
        if args and args[0] not in SUMMARIES and not args[0].startswith("-"):
            near = get_close_matches(args[0].lower(), SUMMARIES, n=1, cutoff=0.5)
            if args[0].lower() == "help":
                near = ["--help"]
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(SUMMARIES)}"
            raise click.UsageError(f"expected a command, got {args[0]!r}; {hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for section, commands in SECTIONS.items():
            with formatter.section(section):
                formatter.write_dl(list(commands.items()), col_max=12)


def _show_version(ctx: click.Context, parameter: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        from importlib.metadata import version

        put(f"coterie {version('coterie')}")
        ctx.exit()


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    no_args_is_help=False,
    invoke_without_command=True,
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_show_version,
    help="Show the version and leave.",
)  # fmt: skip
@click.pass_context
def coterie(context: click.Context, /, **_: Any) -> None:
    """Clusters of tables, pictures, videos, sounds and texts.

    \b
      coterie cluster flowers.csv                     method and parameters chosen
      coterie kmeans flowers.csv -k 3 -o labels.csv   three clusters, as a table
      coterie dbscan places.parquet --plot map.png    any shape, and a picture
      coterie kmeans photo.jpg --plot regions.png     patches of a photo
      coterie kmeans old.csv --save model.coterie     keep the model, and
      coterie predict model.coterie new.csv           use it for new rows
      cat rows.csv | coterie mixture - | head         pipes work

    INPUT is a file of any of these kinds, a folder of texts, - for stdin, or the name of a toy
    set: blobs, moons, circles, paper-round, paper-non-convex, lake.
    """
    if context.invoked_subcommand is None:
        put(context.get_help())
