"""Candidates, the pick and the reason: as a table, as JSON, as a picture."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from coterie.choosing import choose_eps, choose_k
from coterie.choosing.k_criteria import CRITERIA
from coterie.cli.console import Voice
from coterie.cli.labels_output import check_not_input
from coterie.cli.pictures import write_figure
from coterie.cli.run.build import metric_for
from coterie.cli.run.fit import check_dense, read_timed, voice_of
from coterie.cli.screen import put, put_json

if TYPE_CHECKING:
    from coterie.data import Dataset


def run(source: str, options: Mapping[str, Any]) -> None:
    """The command."""
    check_not_input(source, options["picture"])
    _check(options)
    voice = voice_of(options)
    data, _ = read_timed(source, options, voice)
    choice = (
        _eps(data, options, voice) if options["method"] == "dbscan" else _k(data, options, voice)
    )
    if options["picture"] is not None:
        from coterie.plots import EpsChoiceDisplay, KChoiceDisplay

        display = EpsChoiceDisplay if options["method"] == "dbscan" else KChoiceDisplay
        write_figure(display.from_choice(choice).figure_, options["picture"])
    if options["as_json"]:
        put_json(_as_json(choice, options["method"]))
        return
    table, _, reason = str(choice).rpartition("\n\n")
    put(table)
    voice.say()
    voice.tell("why", reason)
    if options["picture"] is not None:
        voice.tell("wrote", f"picture to {options['picture']}")


def _check(options: Mapping[str, Any]) -> None:
    """Options of the other methods are mistakes, and not to be passed over."""
    method, criterion = options["method"], options["criterion"]
    if method == "dbscan" and (options["clusters"] is not None or criterion != "auto"):
        raise click.UsageError("--clusters and --criterion are for k-means and mixtures; leave out")
    if method != "dbscan" and options["metric"] is not None:
        raise click.UsageError("--metric is for --method dbscan; leave it out")
    if method != "dbscan" and criterion not in ("auto", *CRITERIA[method]):
        raise click.UsageError(
            f"expected --criterion out of auto, {', '.join(CRITERIA[method])} for {method}, got "
            f"{criterion}"
        )


def _k(data: Dataset, options: Mapping[str, Any], voice: Voice) -> Any:
    if options["method"] == "mixture":
        check_dense(data)
    with voice.progress("fitting every k") as step:
        return choose_k(
            data.X,
            options["clusters"],
            method=options["method"],
            criterion=options["criterion"],
            sample_size=None if options["exact"] else 5000,
            random_state=options["seed"],
            n_jobs=options["threads"],
            callback=lambda done, total, k: step(done, total, f"k = {k}"),
        )


def _eps(data: Dataset, options: Mapping[str, Any], voice: Voice) -> Any:
    with voice.progress("fitting every eps") as step:
        return choose_eps(
            data.X,
            options["min_samples"],
            metric=metric_for(data, options["metric"]),
            sample_size=None if options["exact"] else 10_000,
            random_state=options["seed"],
            n_jobs=options["threads"],
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
