"""Options that every benchmark shares."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

Size = tuple[int, int, int]  # rows, columns, threads

DTYPES = ("float64", "float32")
DEFAULT_CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))


@dataclass(frozen=True)
class Options:
    """The workloads, the number of repeats, and the places of results."""

    only: tuple[str, ...]
    quick: bool
    dtypes: tuple[str, ...]
    threads: tuple[int, ...]
    repeat: int
    peers: tuple[str, ...]
    patience: float
    cache: Path
    output: Path

    @classmethod
    def from_arguments(cls, arguments: argparse.Namespace) -> Options:
        """Check that the counts make sense on this machine, which argparse cannot."""
        cores = os.cpu_count() or 1
        if arguments.repeat < 1:
            raise ValueError(f"--repeat must be at least 1, got {arguments.repeat}")
        for threads in arguments.threads:
            if not 1 <= threads <= cores:
                raise ValueError(f"--threads must lie in 1..{cores} (the cores), got {threads}")
        return cls(
            only=tuple(arguments.only),
            quick=arguments.quick,
            dtypes=tuple(arguments.dtype),
            threads=tuple(arguments.threads),
            repeat=arguments.repeat,
            peers=tuple(arguments.peers),
            patience=arguments.patience,
            cache=arguments.cache,
            output=arguments.output,
        )

    def sizes(self, rows: Sequence[int], largest: Mapping[int, int]) -> Iterator[Size]:
        """For `--only 2d 16d`: so many rows, up to the largest for each number of columns."""
        for threads in self.threads:
            for d, most in largest.items():
                if not self.only or f"{d}d" in self.only:
                    for n in rows:
                        if n <= most // (10 if self.quick else 1):
                            yield n, d, threads

    def stem(self, name: str) -> Path:
        """Path of a result without its suffix; smoke runs never overwrite real ones."""
        return self.output / (f"{name}-quick" if self.quick else name)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the shared options to one subcommand."""
    add = parser.add_argument
    add("--only", nargs="+", default=[], metavar="NAME", help="workloads, by name or pattern")
    add("--quick", action="store_true", help="smoke run: a tenth of the rows")
    add("--dtype", nargs="+", choices=DTYPES, default=list(DTYPES), help="default: both")
    add("--threads", nargs="+", type=int, default=[1], metavar="T", help="default: 1")
    add("--repeat", type=int, default=3, metavar="R", help="timed rounds, default 3")
    add("--peers", nargs="+", default=[], metavar="NAME", help="only these peers, default all")
    add(
        "--patience",
        type=float,
        default=3.0,
        metavar="F",
        help="a peer over F times slower than the fastest one is timed once only, default 3",
    )
    add(
        "--cache",
        type=Path,
        default=DEFAULT_CACHE / "coterie-benchmarks",
        metavar="DIR",
        help="where generated data is kept",
    )
    add(
        "--output",
        type=Path,
        default=Path(__file__).parent / "results",
        metavar="DIR",
        help="where results go, default benchmarks/results",
    )
