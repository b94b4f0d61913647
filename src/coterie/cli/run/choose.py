"""coterie choose: candidates, the pick and the reason, as a table, as JSON, as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
import numpy as np

from coterie.choosing import choose_eps, choose_k
from coterie.choosing.k_criteria import CRITERIA
from coterie.cli.labels_output import check_not_input
from coterie.cli.methods import metric_for
from coterie.cli.pictures import write_figure
from coterie.cli.requests import ChooseRequest
from coterie.cli.run.fit import check_dense, check_whole, read_timed
from coterie.cli.screen import put, put_json
from coterie.cli.terminal import Console

if TYPE_CHECKING:
    from coterie.data import Dataset


def run(request: ChooseRequest) -> None:
    """Run the command."""
    check_not_input(request.source, request.picture)
    _check(request)
    console = request.console.log_iterations()
    data, _ = read_timed(request.source, request.reading, console)
    check_whole(data)
    for_dbscan = request.method == "dbscan"
    choice = _eps(data, request, console) if for_dbscan else _k(data, request, console)
    if request.picture is not None:
        from coterie.plots import EpsChoiceDisplay, KChoiceDisplay

        display = EpsChoiceDisplay if for_dbscan else KChoiceDisplay
        write_figure(display.from_choice(choice).figure_, request.picture)
    if request.as_json:
        put_json(_as_json(choice, request.method))
        return
    table, _, reason = str(choice).rpartition("\n\n")
    put(table)
    console.say()
    console.tell("why", reason)
    if request.picture is not None:
        console.tell("wrote", f"picture to {request.picture}")


def _check(request: ChooseRequest) -> None:
    """Refuse options of the other methods, which would be passed over."""
    method, criterion = request.method, request.criterion
    if method == "dbscan" and (request.clusters is not None or criterion != "auto"):
        raise click.UsageError(
            "--clusters and --criterion are for k-means and mixtures; leave them out"
        )
    if method != "dbscan" and request.metric is not None:
        raise click.UsageError("--metric is for --method dbscan; leave it out")
    if method != "dbscan" and criterion not in ("auto", *CRITERIA[method]):
        raise click.UsageError(
            f"expected --criterion out of auto, {', '.join(CRITERIA[method])} for {method}, got "
            f"{criterion}"
        )


def _k(data: Dataset, request: ChooseRequest, console: Console) -> Any:
    if request.method == "mixture":
        check_dense(data)
    most = np.max(request.clusters or 1)
    if most > len(data):
        raise ValueError(
            f"expected numbers of clusters from 1 to {len(data)}, the number of rows, got -k "
            f"{most}; ask for 8 (1 to 8), 2-8 or 2,4,8"
        )
    with console.progress("fitting every k") as step:
        return choose_k(
            data.X,
            request.clusters,
            method=request.method,
            criterion=request.criterion,
            sample_size=None if request.exact else 5000,
            random_state=request.running.seed,
            n_jobs=request.running.threads,
            callback=lambda done, total, k: step(done, total, f"k = {k}"),
        )


def _eps(data: Dataset, request: ChooseRequest, console: Console) -> Any:
    with console.progress("fitting every eps") as step:
        return choose_eps(
            data.X,
            request.min_samples,
            metric=metric_for(data, request.metric),
            sample_size=None if request.exact else 10_000,
            random_state=request.running.seed,
            n_jobs=request.running.threads,
            callback=lambda done, total, eps: step(done, total, f"eps = {eps:g}"),
        )


def _as_json(choice: Any, method: str) -> dict[str, Any]:
    if method == "dbscan":
        found = {"method": method, "eps": choice.eps, "min_samples": choice.min_samples,
                 "knee": choice.knee, "plateau": choice.plateau}  # fmt: skip
    else:
        found = {"method": method, "k": choice.k, "criterion": choice.criterion,
                 "picks": dict(choice.picks)}  # fmt: skip
    return {**found, "reason": choice.reason, "sample": choice.sample, "table": choice.table()}
