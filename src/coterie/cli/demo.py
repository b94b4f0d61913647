"""The demonstration: cluster the patches of a picture, as in the paper's first example.

python -m coterie.cli.demo
python -m coterie.cli.demo --picture holiday.jpg --clusters 8 --output holiday-clusters.png
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from coterie.cli.terminal import Terminal
from coterie.colours import colour_name
from coterie.data.patches import Patches, image_patches
from coterie.data.samples import sample_picture_path

OUTPUTS = (".png", ".jpg", ".jpeg", ".webp", ".pdf", ".svg")


@dataclass(frozen=True)
class Cluster:
    """One row of the table."""

    cluster: int
    patches: int
    share: float
    red: float
    green: float
    blue: float
    colour: str

    @property
    def mean(self) -> tuple[float, float, float]:
        """The mean colour."""
        return self.red, self.green, self.blue


@dataclass(frozen=True)
class Findings:
    """What the demonstration shows, in the terminal, as JSON and as a picture."""

    picture: Path
    patches: Patches
    labels: NDArray[np.integer]
    means: NDArray[np.float64]
    errors: tuple[float, ...]

    @property
    def clusters(self) -> list[Cluster]:
        """The clusters, largest first."""
        sizes = np.bincount(self.labels, minlength=len(self.means)).tolist()
        rows = [
            Cluster(c, size, size / len(self.labels), r, g, b, colour_name((r, g, b)))
            for c, (size, (r, g, b)) in enumerate(zip(sizes, self.means.tolist(), strict=True))
        ]
        return sorted(rows, key=lambda row: -row.patches)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demonstration; return 0, or 1 where it failed. Wrong options end with 2."""
    options = _parse(argv)
    try:
        findings = _cluster(options.picture, options.patch, options.clusters)
        _draw(findings, options.output)
    except (ImportError, OSError, ValueError) as error:
        print(f"coterie demo: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("coterie demo: interrupted", file=sys.stderr)
        return 130
    if options.json:
        print(json.dumps(_as_json(findings), indent=2))
    else:
        print(_as_text(findings, options.output, Terminal.of(sys.stdout)))
    return 0


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m coterie.cli.demo",
        description="Cluster the patches of a picture by their mean colour.",
        epilog="example: %(prog)s --picture holiday.jpg --clusters 8 --output clusters.png",
    )
    option = parser.add_argument
    option("--picture", type=_file, default=sample_picture_path(), metavar="PATH",
           help="PNG, JPEG, GIF, BMP, WebP or TIFF (default: our mountain lake)")  # fmt: skip
    option("--patch", type=_count, default=8, metavar="PIXELS",
           help="height and width of a patch (default: %(default)s)")  # fmt: skip
    option("--clusters", type=_count, default=5, metavar="K",
           help="number of clusters (default: %(default)s)")  # fmt: skip
    option("--output", type=_output, default=Path("demo.png"), metavar="PATH",
           help="picture to write (default: %(default)s)")  # fmt: skip
    option("--json", action="store_true", help="print JSON instead of a table")
    return parser.parse_args(argv)


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number of 1 or more, got {text!r}")
    return int(text)


def _file(text: str) -> Path:
    if not Path(text).is_file():
        raise argparse.ArgumentTypeError(f"expected a picture file, found none at {text!r}")
    return Path(text)


def _output(text: str) -> Path:
    path = Path(text)
    if path.suffix.lower() not in OUTPUTS:
        raise argparse.ArgumentTypeError(
            f"expected a name ending in {', '.join(OUTPUTS)}, got {text!r}"
        )
    if not path.parent.is_dir():
        raise argparse.ArgumentTypeError(
            f"expected an existing folder, found none at {str(path.parent)!r}; create it first"
        )
    return path


def _cluster(picture: Path, patch: int, n_clusters: int) -> Findings:
    from coterie import KMeans

    patches = image_patches(picture, patch)
    model = KMeans(n_clusters=n_clusters, random_state=0, n_init=4).fit(patches.features)
    errors = tuple(float(record.error) for record in model.history_)
    return Findings(picture, patches, model.labels_, model.cluster_centers_, errors)


def _draw(findings: Findings, output: Path) -> None:
    from coterie.plots.patch_clusters import draw_patch_clusters

    figure = draw_patch_clusters(findings.patches, findings.labels, findings.means)
    figure.savefig(output, dpi=150)


def _as_json(findings: Findings) -> dict[str, object]:
    return {
        "picture": str(findings.picture),
        "patches": len(findings.patches),
        "clusters": [asdict(cluster) for cluster in findings.clusters],
        "errors": findings.errors,
    }


def _as_text(findings: Findings, output: Path, terminal: Terminal) -> str:
    patches, errors = findings.patches, findings.errors
    height, width = patches.picture.shape[:2]
    tall, wide = patches.size
    widest = max(cluster.share for cluster in findings.clusters)
    head = f"{'cluster':>9}  {'':20}  {'patches':>7}  {'share':>7}    red green  blue  mean colour"
    lines = [
        "",
        f"  {terminal.strong(findings.picture.name)}  {width} x {height} pixels, "
        f"{patches.columns} x {patches.rows} = {len(patches)} patches of {wide} x {tall}",
        "",
        terminal.faint(head),
    ]
    for row in findings.clusters:
        bar = terminal.bar(row.share / widest, 20, row.mean)
        lines.append(
            f"{row.cluster:>9}  {bar}  {row.patches:>7}  {row.share:>7.1%}  "
            f"{row.red:>5.2f} {row.green:>5.2f} {row.blue:>5.2f}  {row.colour}"
        )
    lines += [
        "",
        f"  clustering error  {errors[0]:.5f} to {errors[-1]:.5f}, "
        f"iterations: {len(errors)}  {terminal.curve(errors)}".rstrip(),
        f"  picture written   {output}",
        "",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    raise SystemExit(main())
