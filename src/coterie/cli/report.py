"""The report of a result for people: sentences and bars on stderr."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from coterie import colours
from coterie.cli.methods import label_of
from coterie.cli.option_names import as_options, diagnosis_as_options
from coterie.cli.report_json import clusters, n_clusters
from coterie.cli.terminal import Console
from coterie.formatting import number, plural, share
from coterie.visible_text import one_line

if TYPE_CHECKING:
    from coterie.cli.run.result import Result

MOST_CLUSTERS = 20  # lines of the table
WAITED_FOR = ("reading", "choosing", "fitting", "predicting")
NOTICED = 0.1  # seconds
ROWS = {"picture": "patch", "video": "patch", "sound": "frame", "text": "text", "table": "row"}


def tell(result: Result, console: Console) -> None:
    """Write the whole summary."""
    if console.quiet:
        return
    console.say()
    console.tell("input", about_data(result))
    for reason in result.reasons:
        console.tell("why", reason)
    console.tell(label_of(result.method), about_fit(result))
    console.say()
    for line in table(result, console):
        console.say(line)
    console.say()
    diagnoses = map(diagnosis_as_options, result.diagnoses)
    for sentence in (*diagnoses, *map(as_options, result.warnings)):
        console.tell("note", sentence)
    for written in result.written:
        console.tell("wrote", written)
    console.tell("time", about_time(result, everything=console.verbose > 0))
    console.say()


def about_data(result: Result) -> str:
    data = result.data
    noun = "pixel" if type(data.origin).__name__ == "Pixels" else ROWS[data.kind]
    words = [f"{data.source}: {plural(len(data), noun, _several(noun))} of "
             f"{plural(len(data.columns), 'column')}"]  # fmt: skip
    if data.scaling is not None:
        words.append(f"scaled ({data.scaling.kind})")
    dropped = data.provenance.get("rows_left_out")
    if dropped:
        words.append(f"{plural(dropped, 'row')} with missing values left out")
    left_out = data.provenance.get("columns_left_out") or {}
    if left_out:
        named = ", ".join(f"{name} ({kind})" for name, kind in list(left_out.items())[:4])
        more = f" and {len(left_out) - 4} more" if len(left_out) > 4 else ""
        words.append(f"not used: {named}{more}")
    return "; ".join(words)


def _several(noun: str) -> str:
    return "patches" if noun == "patch" else f"{noun}s"


def about_fit(result: Result) -> str:
    model, labels = result.model, result.labels
    words = [plural(n_clusters(labels), "cluster")]
    if result.method == "dbscan":
        words[0] += f" with eps {number(model.eps)} and min_samples {model.min_samples}"
        words.append(f"{share(float((labels < 0).mean()))} noise")
        core = len(model.core_sample_indices_)
        words.append(plural(core, "core point"))
    if hasattr(model, "clustering_error_"):
        words.append(f"clustering error {number(model.clustering_error_)}")
    if hasattr(model, "soft_clustering_error_"):
        words.append(f"soft clustering error {number(model.soft_clustering_error_)}")
        words.append(f"covariances {model.covariance_type}")
    if hasattr(model, "n_iter_"):
        words.append(f"{plural(model.n_iter_, 'iteration')} ({model.stopped_})")
    return ", ".join(words)


def about_time(result: Result, *, everything: bool = False) -> str:
    """Return the seconds of reading, choosing and fitting; with everything, of imports too."""
    told = {
        doing: took
        for doing, took in result.seconds.items()
        if everything or doing in WAITED_FOR or (doing != "starting" and took >= NOTICED)
    }
    return ", ".join(f"{doing} {_seconds(took)}" for doing, took in told.items())


def _seconds(took: float) -> str:
    return f"{1e3 * took:.0f} ms" if took < 0.9995 else f"{took:.2f} s"


def table(result: Result, console: Console) -> Iterator[str]:
    """Yield clusters, largest first: a bar, their rows, and their means, words or colours."""
    terminal, records = console.terminal, clusters(result)
    shown = sorted(records, key=lambda r: (r["cluster"] < 0, -r["rows"]))[:MOST_CLUSTERS]
    widest = max((record["share"] for record in shown), default=1.0)
    palette = colours.cluster_colours(max((r["cluster"] for r in records), default=-1) + 1)
    bar_width = 18 if console.width >= 76 else 8
    count_width = max([4, *(len(f"{record['rows']:,}") for record in shown)])
    picture = result.data.kind in ("picture", "video")
    heads, cells = _described(shown, result, console.width - 23 - bar_width - count_width)
    head = f"  {'cluster':>7}  {'':{bar_width}}  {'rows':>{count_width}}   share  {heads}"
    yield terminal.faint(head.rstrip())
    for record, cell in zip(shown, cells, strict=True):
        own, noise = record["cluster"], record["cluster"] < 0
        colour = (0.62, 0.66, 0.7) if noise else tuple(palette[own])
        if picture and "mean" in record:
            colour = tuple(list(record["mean"].values())[:3])
        bar = terminal.bar(record["share"] / widest, bar_width, colour)
        count, name = f"{record['rows']:,}".rjust(count_width), "noise" if noise else own
        yield f"  {name:>7}  {bar}  {count}  {record['share']:>6.1%}  {cell}".rstrip()
    if len(records) > len(shown):
        yield terminal.faint(f"  {'':7}  and {len(records) - len(shown)} smaller clusters")


def _described(records: list[dict[str, Any]], result: Result, room: int) -> tuple[str, list[str]]:
    """Return head and cells at the right: colours, top words, or means of the first columns."""
    if result.data.kind in ("picture", "video"):
        cells = [_colour(record) for record in records]
        return "mean colour", cells
    if any("words" in record for record in records):
        return "words", [_fitting(record.get("words", ()), room) for record in records]
    columns = result.data.columns if any("mean" in record for record in records) else ()
    widths: list[tuple[str, int]] = []
    for name in columns:
        width = min(max(len(name), 9), 14)
        if sum(w + 2 for _, w in widths) + width > room:
            break
        widths.append((name, width))
    heads = "  ".join(_short(name, width).rjust(width) for name, width in widths)
    cells = []
    for record in records:
        values = record.get("mean", {})
        row = [number(values[name]) if values else "" for name, _ in widths]
        cells.append("  ".join(v.rjust(w) for v, (_, w) in zip(row, widths, strict=True)))
    return heads, cells


def _fitting(words: Sequence[str], room: int) -> str:
    """Return as many words as there is room for, one at least."""
    line = ""
    for word in words:
        longer = f"{line}, {word}" if line else word
        if line and len(longer) > room:
            break
        line = longer
    return line


def _short(name: str, width: int) -> str:
    name = one_line(name)
    return name if len(name) <= width else name[: width - 1] + "…"


def _colour(record: dict[str, Any]) -> str:
    mean = list(record.get("mean", {}).values())[:3]
    return colours.colour_name(np.clip(mean, 0, 1)) if mean else ""
