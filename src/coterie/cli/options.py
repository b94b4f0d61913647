"""Options that commands share, in groups with headings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from coterie.cli.values import Columns, Count, Number, Output, Seed

Decorator = Callable[[Any], Any]

KINDS = ("table", "picture", "video", "sound", "text")
GAPS = ("error", "drop", "mean", "median", "keep")
SCALINGS = ("standard", "robust", "min-max", "none")
FORMATS = ("csv", "parquet", "npy", "json", "jsonl")
PICTURES = (".png", ".svg", ".pdf")
FILMS = (".gif", ".mp4")
READING = "Reading INPUT"
KEEPING = "Results"
HEADINGS = {
    **dict.fromkeys(
        ("kind", "columns", "ids", "scaling", "missing", "separator", "decimal", "header", "array",
         "patch", "pixels", "position", "every", "frame", "hop", "bands", "samples", "components",
         "stop_words", "max_memory", "max_expansion", "max_pixels"), READING,
    ),
    **dict.fromkeys(
        ("output", "form", "picture", "save", "as_json", "quiet", "verbose", "help"), KEEPING
    ),
}  # fmt: skip


class Command(click.Command):
    """A command whose help has options in groups, each under its own heading."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        groups: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None and isinstance(parameter, click.Option):
                heading = HEADINGS.get(str(parameter.name), "Options")
                groups.setdefault(heading, []).append(record)
        for heading in ("Options", *dict.fromkeys(HEADINGS.values())):
            if heading in groups:
                with formatter.section(heading):
                    formatter.write_dl(groups[heading], col_max=24)


def together(*options: Decorator) -> Decorator:
    """Return several options as one decorator, in the order of the help."""

    def decorate(function: Any) -> Any:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


INPUT = click.argument("source", metavar="INPUT")
COUNT, POSITIVE = Count(), Number(0, above=True)

reading_options = together(
    click.option("--kind", type=click.Choice(KINDS), metavar="KIND",
                 help="table, picture, video, sound or text. Default: its content decides."),
    click.option("--columns", type=Columns(), metavar="A,B,..",
                 help="Columns of a table, by name or position. Default: all numbers."),
    click.option("--ids", metavar="COLUMN", help="Column that names the rows of a table."),
    click.option("--scaling", type=click.Choice(SCALINGS), metavar="HOW",
                 help="standard, robust, min-max or none: makes columns comparable."),
    click.option("--missing", type=click.Choice(GAPS), metavar="HOW",
                 help="Empty cells of a table: error, drop, mean, median or keep."),
    click.option("--drop-missing", "missing", flag_value="drop", help="Short for --missing drop."),
    click.option("--separator", metavar="CHARACTER", help="Of a CSV file. Default: found."),
    click.option("--decimal", metavar="CHARACTER", help="Decimal sign of a CSV file."),
    click.option("--header/--no-header", default=None, help="Whether a CSV file names columns."),
    click.option("--array", metavar="NAME", help="Which array of an NPZ file."),
    click.option("--patch", type=COUNT, metavar="PIXELS",
                 help="Side of the patches of a picture or video. Default: 8."),
    click.option("--pixels", is_flag=True, help="Rows are pixels, not patches."),
    click.option("--position", type=Number(0), metavar="WEIGHT",
                 help="Weight of the place of a pixel beside its colour."),
    click.option("--every", type=POSITIVE, metavar="SECONDS", help="Time between video frames."),
    click.option("--frame", type=POSITIVE, metavar="SECONDS", help="Length of a frame of sound."),
    click.option("--hop", type=POSITIVE, metavar="SECONDS", help="From one frame to the next."),
    click.option("--bands", type=COUNT, metavar="N", help="Bands of frequencies. Default: 32."),
    click.option("--samples", is_flag=True, help="Frames of sound as samples, not as a spectrum."),
    click.option("--components", type=COUNT, metavar="N", help="Reduce texts to so many columns."),
    click.option("--stop-words", type=click.Choice(("english",)), metavar="LANGUAGE",
                 help="Words of a text to leave out: english."),
    click.option("--max-memory", metavar="SIZE", help="Memory for INPUT, such as '8 GB'."),
    click.option("--max-expansion", type=Number(1), metavar="RATIO",
                 help="Bytes in memory for each byte of INPUT. Default: 100."),
    click.option("--max-pixels", type=COUNT, metavar="N",
                 help="Of a picture or frame. Default: 64 million."),
)  # fmt: skip

console_options = together(
    click.option("-q", "--quiet", is_flag=True, help="Say nothing but errors."),
    click.option("-v", "--verbose", count=True, help="Say more; every iteration."),
)

json_option = click.option("--json", "as_json", is_flag=True, help="A summary as JSON on stdout.")

run_options = together(
    click.option("--seed", type=Seed(), default=0, metavar="N",
                 help="The same seed gives the same bits. Default: 0."),
    click.option("--threads", type=COUNT, metavar="N", help="Default: as many as there are cores."),
)  # fmt: skip

labels_options = together(
    click.option("-o", "--output", type=Output(dash=True), metavar="FILE",
                 help="Labels as .csv, .parquet, .npy, .json or .jsonl; - is stdout."),
    click.option("--format", "form", type=click.Choice(FORMATS), metavar="FORMAT",
                 help="csv, parquet, npy, json or jsonl. Default: by the name, else csv."),
)  # fmt: skip

keeping_options = together(
    labels_options,
    click.option("--plot", "picture", type=Output(*PICTURES, *FILMS), metavar="FILE",
                 help="A picture: .png, .svg, .pdf; or the iterations: .gif, .mp4."),
    click.option("--save", type=Output(), metavar="FILE", help="Keep the model in a file."),
    json_option,
    console_options,
)  # fmt: skip


def examples(*lines: str) -> str:
    """Return examples as the first paragraph of a help text, which click does not wrap."""
    return "\b\n" + "\n".join(f"  {line}" for line in lines)
