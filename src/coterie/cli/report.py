"""What came out, in words and bars on stderr, or as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from coterie import colours
from coterie.algorithms.stop import StopReason
from coterie.cli.console import Voice
from coterie.cli.methods_table import label_of
from coterie.cli.option_names import as_options
from coterie.formatting import number, plural, share
from coterie.visible_text import one_line

if TYPE_CHECKING:
    from coterie.cli.run.outcome import Outcome

TELLING = ("n_clusters", "n_components", "covariance_type", "eps", "min_samples", "metric", "init",
           "init_params", "n_init", "random_state")  # fmt: skip
MOST_CLUSTERS = 20  # lines of the table
BLOCK = 1 << 15  # rows looked at together
WAITED_FOR = ("reading", "choosing", "fitting", "predicting")
NOTICED = 0.1  # seconds
ROWS = {"picture": "patch", "video": "patch", "sound": "frame", "text": "text", "table": "row"}


def tell(outcome: Outcome, voice: Voice) -> None:
    """The whole summary."""
    if voice.quiet:
        return
    voice.say()
    voice.tell("input", about_data(outcome))
    for reason in outcome.reasons:
        voice.tell("why", reason)
    voice.tell(label_of(outcome.method), about_fit(outcome))
    voice.say()
    for line in table(outcome, voice):
        voice.say(line)
    voice.say()
    for sentence in (*map(str, outcome.diagnoses), *outcome.warnings):
        voice.tell("note", as_options(sentence))
    for written in outcome.written:
        voice.tell("wrote", written)
    voice.tell("time", about_time(outcome, everything=voice.verbose > 0))
    voice.say()


def about_data(outcome: Outcome) -> str:
    data = outcome.data
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


def about_fit(outcome: Outcome) -> str:
    model, labels = outcome.model, outcome.labels
    words = [plural(n_clusters(labels), "cluster")]
    if outcome.method == "dbscan":
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


def about_time(outcome: Outcome, *, everything: bool = False) -> str:
    """The parts that a person waits for; with everything, imports and the like too."""
    told = {
        doing: took
        for doing, took in outcome.seconds.items()
        if everything or doing in WAITED_FOR or (doing != "starting" and took >= NOTICED)
    }
    return ", ".join(f"{doing} {_seconds(took)}" for doing, took in told.items())


def _seconds(took: float) -> str:
    return f"{1e3 * took:.0f} ms" if took < 0.9995 else f"{took:.2f} s"


def _counts(labels: NDArray[Any]) -> NDArray[np.intp]:
    """(1 + k,) rows that are noise, and rows of each cluster."""
    return np.bincount(np.asarray(labels) + 1, minlength=1)


def n_clusters(labels: NDArray[Any]) -> int:
    """How many clusters have rows."""
    return int(np.count_nonzero(_counts(labels)[1:]))


def clusters(outcome: Outcome) -> list[dict[str, Any]]:
    """One record per cluster, by number; noise last as -1."""
    labels = np.asarray(outcome.labels)
    means = cluster_means(outcome)
    words = _top_words(outcome)
    found = []
    counts = _counts(labels)
    for cluster in np.flatnonzero(counts) - 1:
        count = counts[cluster + 1]
        record: dict[str, Any] = {"cluster": int(cluster), "rows": int(count)}
        record["share"] = float(count / len(labels))
        if means is not None and cluster >= 0:
            values = map(float, means[cluster])
            record["mean"] = dict(zip(outcome.data.columns, values, strict=True))
        if words is not None and cluster >= 0:
            record["words"] = words[int(cluster)]
        found.append(record)
    return sorted(found, key=lambda record: (record["cluster"] < 0, record["cluster"]))


def cluster_means(outcome: Outcome) -> NDArray[np.float64] | None:
    """(k, d) means of the rows of each cluster, in the units of the input; None for texts."""
    data, labels = outcome.data, np.asarray(outcome.labels)
    if data.kind == "text" or sparse.issparse(data.X):
        return None
    means = _known_means(outcome)
    if means is None:
        means = _means_of(data.X, labels)
    return means if data.scaling is None else data.scaling.undo(means)


def _known_means(outcome: Outcome) -> NDArray[np.float64] | None:
    """The means of a k-means fit that ran to its end: they are those of the rows."""
    model = outcome.model
    at_end = getattr(model, "stopped_", None) == StopReason.UNCHANGED
    if not at_end or getattr(model, "metric", None) != "euclidean":
        return None
    means: NDArray[np.float64] = model.cluster_centers_
    return means if outcome.labels is model.labels_ else None  # and not of new rows


def _means_of(X: NDArray[Any], labels: NDArray[Any]) -> NDArray[np.float64]:
    """(k, d) means of the rows of each cluster, over the cells that are there."""
    k, d = int(labels.max(initial=-1)) + 1, X.shape[1]
    sums, counts = np.zeros((k + 1, d)), np.zeros((k + 1, d))
    for start in range(0, len(X), BLOCK):
        block, own = X[start : start + BLOCK], labels[start : start + BLOCK].astype(np.intp)
        own[own < 0] = k  # noise
        for column in range(d):
            values = block[:, column]
            there = ~np.isnan(values)
            known, of = (values, own) if there.all() else (values[there], own[there])
            sums[:, column] += np.bincount(of, known, minlength=k + 1)
            counts[:, column] += np.bincount(of, minlength=k + 1)
    return sums[:k] / np.maximum(counts[:k], 1)


def _top_words(outcome: Outcome) -> dict[int, list[str]] | None:
    if not hasattr(outcome.data.origin, "top_words"):
        return None
    found: dict[int, list[str]] = outcome.data.origin.top_words(outcome.labels, 6)
    return found


def table(outcome: Outcome, voice: Voice) -> Iterator[str]:
    """Clusters, largest first: a bar, their rows, and what they are like."""
    terminal, records = voice.terminal, clusters(outcome)
    shown = sorted(records, key=lambda r: (r["cluster"] < 0, -r["rows"]))[:MOST_CLUSTERS]
    widest = max((record["share"] for record in shown), default=1.0)
    palette = colours.cluster_colours(max((r["cluster"] for r in records), default=-1) + 1)
    bar_width = 18 if voice.width >= 76 else 8
    count_width = max([4, *(len(f"{record['rows']:,}") for record in shown)])
    picture = outcome.data.kind in ("picture", "video")
    heads, cells = _described(shown, outcome, voice.width - 23 - bar_width - count_width)
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


def _described(records: list[dict[str, Any]], outcome: Outcome, room: int) -> tuple[str, list[str]]:
    """What stands at the right: names of colours, top words, or means of the first columns."""
    if outcome.data.kind in ("picture", "video"):
        cells = [_colour(record) for record in records]
        return "mean colour", cells
    if any("words" in record for record in records):
        return "words", [_fitting(record.get("words", ()), room) for record in records]
    columns = outcome.data.columns if any("mean" in record for record in records) else ()
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
    """As many words as there is room for, one at least."""
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


def as_json(outcome: Outcome) -> dict[str, Any]:
    """The same for programs."""
    model, labels = outcome.model, np.asarray(outcome.labels)
    found: dict[str, Any] = {
        "input": outcome.data.source,
        "kind": outcome.data.kind,
        "rows": len(outcome.data),
        "columns": list(outcome.data.columns) if outcome.data.kind != "text" else None,
        "scaling": None if outcome.data.scaling is None else outcome.data.scaling.kind,
        "method": outcome.method,
        "parameters": _parameters(model),
        "n_clusters": n_clusters(labels),
        "noise": int(_counts(labels)[0]),
        "clusters": clusters(outcome),
        "reasons": outcome.reasons,
        "diagnoses": [
            {
                "code": diagnosis.code,
                "sentence": diagnosis.sentence,
                "change": as_options(diagnosis.change),
                "parameters": dict(diagnosis.parameters),
            }
            for diagnosis in outcome.diagnoses
        ],
        "warnings": outcome.warnings,
        "seconds": {doing: round(took, 6) for doing, took in outcome.seconds.items()},
    }
    for name in (
        "clustering_error_",
        "soft_clustering_error_",
        "n_iter_",
        "converged_",
        "stopped_",
    ):
        if hasattr(model, name):
            found[name.rstrip("_")] = getattr(model, name)
    return found


def _parameters(model: Any) -> dict[str, Any]:
    there = model.get_params(deep=False)
    return {name: there[name] for name in TELLING if name in there}
