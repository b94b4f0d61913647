"""python -m benchmarks: the table of contents."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence

from benchmarks import (
    acceleration,
    dbscan,
    dbscan_scaling,
    kmeans,
    memory,
    mixture,
    path,
    reading,
    roofline,
    scaling,
    seeding,
)
from benchmarks.options import Options, add_options

COMMANDS: dict[str, tuple[Callable[[Options], bool], str]] = {
    "kmeans": (kmeans.run, "whole fits to convergence from the same initial means"),
    "seeding": (seeding.run, "greedy k-means++: time, and the potential that it reaches"),
    "memory": (memory.run, "peak memory beyond the data, one process per measurement"),
    "scaling": (scaling.run, "cost of an iteration as n, d and k grow"),
    "roofline": (roofline.run, "share of the machine's float32 peak that the brute kernel reaches"),
    "mixture": (mixture.run, "Gaussian mixtures: an EM iteration, default fits, memory"),
    "acceleration": (acceleration.run, "sweeps that acceleration saves on slow mixtures"),
    "dbscan": (dbscan.run, "whole fits of DBSCAN, with peak memory"),
    "dbscan-scaling": (dbscan_scaling.run, "cost of DBSCAN as n grows from 1e4 to 1e7"),
    "path": (path.run, "DBSCAN for every eps: a fit, an answer from it, and the peers"),
    "reading": (reading.run, "coterie kmeans on a Parquet file: reading and fitting, and pyarrow"),
}

EXAMPLES = """\
examples:
  python -m benchmarks kmeans --quick                     smoke run, a tenth of the rows
  python -m benchmarks kmeans --only 'mnist*' --threads 2
  python -m benchmarks kmeans --dtype float32 --peers lloyd faiss --repeat 5
  python -m benchmarks seeding --threads 1 2
  python -m benchmarks dbscan --threads 2 --only 'blobs-2d*'
  python -m benchmarks all

Results go to benchmarks/results/NAME.{json,md,png}. Rows measured earlier on the same machine
with the same versions are kept, so that a long table can be filled part by part.
"""


def parser() -> argparse.ArgumentParser:
    """The command line: one subcommand per benchmark, and the same options for all."""
    top = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, (_, summary) in COMMANDS.items():
        add_options(commands.add_parser(name, help=summary, description=summary))
    add_options(commands.add_parser("all", help="every benchmark above, in that order"))
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Run the chosen benchmarks; exit code 1 if any answer was wrong."""
    arguments = parser().parse_args(argv)
    try:
        options = Options.from_arguments(arguments)
        names = list(COMMANDS) if arguments.command == "all" else [arguments.command]
        # A list, not a generator: a wrong answer must not hide the benchmarks after it.
        passed = [COMMANDS[name][0](options) for name in names]
    except ValueError as mistake:
        print(f"benchmarks: {mistake}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nbenchmarks: interrupted; rows already measured are saved", file=sys.stderr)
        return 130
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
