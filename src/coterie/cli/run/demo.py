"""coterie demo: a photo by three methods, and two data sets by two."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from coterie.choosing.match_labels import matched
from coterie.cli.methods import check_rows
from coterie.cli.pictures import write_figure
from coterie.cli.requests import DemoRequest
from coterie.cli.screen import put, put_json
from coterie.cli.terminal import Terminal
from coterie.colours import colour_name
from coterie.data.media.patches import Patches, image_patches
from coterie.data.toy import paper_non_convex, paper_round, sample_picture_path
from coterie.estimators import DBSCAN, DBSCANPath, GaussianMixture, KMeans
from coterie.formatting import number, plural, share
from coterie.plots.demo import Panel, PointsPanel, draw_demo

Labels = NDArray[np.intp]
ROWS_FOR_A_CORE = 80  # a patch is dense if one in so many patches is nearby
TRIED = np.linspace(0.3, 0.95, 40)


@dataclass(frozen=True)
class Cluster:
    """One row of the table of colours."""

    cluster: int
    patches: int
    share: float
    red: float
    green: float
    blue: float
    colour: str


@dataclass(frozen=True, eq=False)
class Fit:
    """One method on one data set."""

    data: str
    method: str
    model: Any = field(repr=False)
    labels: Labels = field(repr=False)
    seconds: float
    truth: Labels | None = field(default=None, repr=False)  # -1: outliers
    points: NDArray[np.float64] | None = field(default=None, repr=False)

    @property
    def n_clusters(self) -> int:
        return len(np.unique(self.labels[self.labels >= 0]))

    @property
    def outliers(self) -> int:
        return int((self.labels < 0).sum())

    @property
    def agreement(self) -> float | None:
        """Adjusted Rand index with the true groups, over the rows that belong to one."""
        if self.truth is None:
            return None
        inside = self.truth >= 0
        return float(adjusted_rand_score(self.truth[inside], self.labels[inside]))


def run(request: DemoRequest) -> None:
    """Run the command."""
    path = sample_picture_path() if request.photo is None else Path(request.photo)
    patches = image_patches(path, request.patch)
    check_rows(request.clusters, len(patches))
    on_photo = photo_fits(path.name, patches, request.clusters)
    on_points = point_fits()
    figure = draw_demo(
        patches, [_panel(fit) for fit in on_photo], [_points_panel(fit) for fit in on_points],
        heading="Coterie: three ways to find groups",
    )  # fmt: skip
    write_figure(figure, request.output)
    if request.as_json:
        put_json(_as_json(path, patches, on_photo, on_points))
        return
    if request.quiet:
        return
    terminal = Terminal.of(sys.stdout)
    lines = [
        *_photo_text(path.name, patches, on_photo, terminal),
        *_points_text(on_points, terminal),
    ]
    put("\n".join([*lines, f"  picture written   {request.output}", ""]))


def photo_fits(name: str, patches: Patches, k: int) -> list[Fit]:
    """Fit the three methods to the patches, clusters numbered alike."""
    X = patches.features
    near = max(2, round(len(X) / ROWS_FOR_A_CORE))
    models = {
        "k-means": KMeans(k, n_init=4, random_state=0),
        "Gaussian mixture": GaussianMixture(k, random_state=0, covariance_type="full"),
        "DBSCAN": DBSCAN(telling_eps(X, near), min_samples=near),
    }
    return numbered_alike([_fit(name, method, model, X) for method, model in models.items()])


def telling_eps(X: NDArray[np.float64], min_samples: int) -> float:
    """Return the eps with the most clusters of 2 % or more and at most a fifth of outliers."""
    path = DBSCANPath(min_samples).fit(X)
    tries = sorted({float(f"{q:.2g}") for q in np.quantile(path.core_distances_, TRIED)} - {0.0})

    def worth(eps: float) -> tuple[int, float]:
        labels = path.labels(eps)
        sizes = np.bincount(labels[labels >= 0], minlength=1)
        outliers = float((labels < 0).mean())
        large = int((sizes >= 0.02 * len(labels)).sum())
        return (large if outliers <= 0.2 else 0, -outliers)

    return max(tries, key=worth, default=1.0)


def point_fits() -> list[Fit]:
    """Fit k-means and DBSCAN to the paper's two data sets."""
    fits: list[Fit] = []
    for name, (X, groups), k, eps in (
        ("round groups", paper_round(), 4, 0.9),
        ("a disc in a ring", paper_non_convex(), 2, 0.6),
    ):
        pair = [
            _fit(name, "k-means", KMeans(k, n_init=4, random_state=0), X, groups),
            _fit(name, "DBSCAN", DBSCAN(eps, min_samples=5), X, groups),
        ]
        fits += numbered_alike(pair)
    return fits


def numbered_alike(fits: list[Fit]) -> list[Fit]:
    """Return the fits with the same number for clusters that share most rows."""
    alike = matched([fit.labels for fit in fits])
    return [replace(fit, labels=labels) for fit, labels in zip(fits, alike, strict=True)]


def _fit(name: str, method: str, model: Any, X: Any, truth: Labels | None = None) -> Fit:
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # pictures of few colours
        labels = model.fit_predict(X)
    return Fit(
        name,
        method,
        model,
        np.asarray(labels, dtype=np.intp),
        time.perf_counter() - began,
        truth,
        X,
    )


def _panel(fit: Fit) -> Panel:
    if fit.method == "DBSCAN":
        below = f"{plural(fit.n_clusters, 'cluster')}; {_part(fit)} outliers keep their colours"
    else:
        below = f"{plural(fit.n_clusters, 'cluster')}"
        below += ", hard" if fit.method == "k-means" else ", soft: the likeliest is shown"
    return Panel(fit.method, below, fit.labels)


def _points_panel(fit: Fit) -> PointsPanel:
    found = plural(fit.n_clusters, "cluster")
    title = f"{fit.method}, {fit.data}"
    assert fit.points is not None
    assert fit.agreement is not None
    right = fit.agreement > 0.99
    if fit.method == "DBSCAN":
        below = f"{found} as they are, {plural(fit.outliers, 'outlier')} marked"
    else:
        below = f"{found}, {'outliers forced into them' if right else 'cut through both groups'}"
    return PointsPanel(title, below, fit.labels, fit.points, getattr(fit.model, "kind_", None))


def _part(fit: Fit) -> str:
    return share(fit.outliers / len(fit.labels))


def clusters_of(fit: Fit, patches: Patches) -> list[Cluster]:
    """Return the clusters of a photo, largest first, with their mean colours."""
    rows = []
    for cluster, count in zip(*np.unique(fit.labels, return_counts=True), strict=True):
        if cluster >= 0:
            red, green, blue = patches.features[fit.labels == cluster].mean(axis=0).tolist()
            name = colour_name((red, green, blue))
            part = float(count / len(fit.labels))
            rows.append(Cluster(int(cluster), int(count), part, red, green, blue, name))
    return sorted(rows, key=lambda row: -row.patches)


def _photo_text(name: str, patches: Patches, fits: list[Fit], terminal: Terminal) -> Iterator[str]:
    height, width = patches.picture.shape[:2]
    tall, wide = patches.size
    yield ""
    yield (
        f"  {terminal.strong(name)}  {width} x {height} pixels, "
        f"{patches.columns} x {patches.rows} = {len(patches)} patches of {wide} x {tall}"
    )
    for fit in fits:
        yield ""
        yield f"  {terminal.strong(fit.method)}  {_about(fit)}"
        rows = clusters_of(fit, patches)
        widest = max((row.share for row in rows), default=1.0)
        for row in rows[:8]:
            bar = terminal.bar(row.share / widest, 20, (row.red, row.green, row.blue))
            yield f"{row.cluster:>9}  {bar}  {row.patches:>7}  {row.share:>6.1%}  {row.colour}"
        if len(rows) > 8:
            yield terminal.faint(f"{'':9}  and {len(rows) - 8} smaller clusters")
    yield ""


def _about(fit: Fit) -> str:
    took = f"{1e3 * fit.seconds:.0f} ms"
    if fit.method == "DBSCAN":
        model = fit.model
        dense = f"eps {number(model.eps)}, min_samples {model.min_samples}"
        return f"{plural(fit.n_clusters, 'cluster')}, {_part(fit)} outliers; {dense}; {took}"
    error = getattr(fit.model, "clustering_error_", None)
    told = f"clustering error {number(error)}, " if error is not None else "soft clusters, "
    return f"{told}{plural(fit.model.n_iter_, 'iteration')}; {took}"


def _points_text(fits: list[Fit], terminal: Terminal) -> Iterator[str]:
    yield f"  {terminal.strong('The two data sets of the paper')}"
    yield terminal.faint(f"  {'':18}{'method':9}{'clusters':>9}{'outliers':>9}{'right':>7}")
    before = None
    for fit in fits:
        name = "" if fit.data == before else fit.data
        before = fit.data
        yield (
            f"  {name:18}{fit.method:9}{fit.n_clusters:>9}{fit.outliers:>9}{fit.agreement:>7.2f}"
        )
    yield terminal.faint("  right: agreement with the true groups (adjusted Rand index), 1 is all")
    yield ""


def _as_json(
    path: Path, patches: Patches, on_photo: list[Fit], on_points: list[Fit]
) -> dict[str, Any]:
    return {
        "picture": str(path),
        "patches": len(patches),
        "photo": [
            {
                "method": fit.method,
                "outliers": fit.outliers,
                "seconds": round(fit.seconds, 6),
                "clusters": [asdict(cluster) for cluster in clusters_of(fit, patches)],
            }
            for fit in on_photo
        ],
        "points": [
            {
                "data": fit.data,
                "method": fit.method,
                "clusters": fit.n_clusters,
                "outliers": fit.outliers,
                "agreement": fit.agreement,
            }
            for fit in on_points
        ],
    }
