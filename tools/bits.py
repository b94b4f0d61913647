"""Compare the bits of some hundred fits with a stored list, or store them.

    python tools/bits.py check                     # exits with 1 if an answer differs
    python tools/bits.py check --only dbscan/      # fits whose names contain this
    python tools/bits.py record                    # writes the list, and prints the changes
    python tools/bits.py record --list /tmp/old.json

Every fit runs at all instruction-set levels of the machine, with 1, 2 and 3 threads, and must give
the same bits wherever docs/exactness.md promises them. Bits that also depend on NumPy, LAPACK or
the processor are compared only with a list that was recorded with the same ones. To compare two
states of the code on another machine, record one with --list and check the other.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from fit_bits.fit import EXACT, LIBRARIES, Fit
from fit_bits.running import all_fits, answer, levels_here
from fit_bits.stored import STORED, Difference, Listing, surroundings
from threadpoolctl import threadpool_limits

MOST_LINES = 60  # of differences, before the rest are only counted


def run(fits: Sequence[Fit]) -> tuple[Listing, list[str]]:
    """The bits of all fits, and the promises they break."""
    listing, broken = Listing(recorded_with=surroundings()), []
    with threadpool_limits(1, user_api="blas"):  # products of matrices depend on its threads
        for fit in fits:
            found = answer(fit)
            listing.of(fit.group).update(found.bits)
            broken += found.broken
    return listing, broken


def chosen(only: str | None) -> list[Fit]:
    fits = [fit for fit in all_fits() if only is None or only in fit.name]
    if not fits:
        raise SystemExit(f"--only {only!r}: expected a part of some fit's name, such as 'dbscan/'.")
    return fits


def part_of(stored: Listing, fits: Sequence[Fit], every: bool) -> Listing:
    """The stored list, or its lines about these fits."""
    if every:
        return stored
    names = {fit.name for fit in fits}

    def kept(bits: dict[str, str]) -> dict[str, str]:
        return {name: own for name, own in bits.items() if name.partition(" @")[0] in names}

    return Listing(kept(stored.exact), kept(stored.libraries), stored.recorded_with)


def differences(stored: Listing, found: Listing) -> dict[str, Difference]:
    """Differences between the stored list and a run, by group."""
    return {
        group: Difference.between(stored.of(group), found.of(group), levels_here())
        for group in (EXACT, LIBRARIES)
    }


def say(lines: Sequence[str]) -> None:
    for line in lines[:MOST_LINES]:
        print(line)
    if len(lines) > MOST_LINES:
        print(f"... and {len(lines) - MOST_LINES} more")


def check(path: Path, only: str | None) -> int:
    """Print how the bits differ from the stored list; 1 if they do."""
    fits = chosen(only)
    stored = part_of(Listing.read(path), fits, every=only is None)
    found, broken = run(fits)
    by_group = differences(stored, found)
    say([f"broken   {line}" for line in broken])
    say(by_group[EXACT].lines())
    wrong = bool(broken) or bool(by_group[EXACT])
    here, there = found.recorded_with, stored.recorded_with
    other = [
        f"{key} {there.get(key)}, here {here[key]}" for key in here if there.get(key) != here[key]
    ]
    if other:
        print(f"{len(stored.libraries)} answers that depend on libraries are not compared.")
        print(f"They were recorded with {'; '.join(other)}.")
    else:
        say(by_group[LIBRARIES].lines())
        wrong |= bool(by_group[LIBRARIES])
    if skipped := by_group[LIBRARIES].skipped:
        print(f"{len(skipped)} answers are of levels that this machine has not.")
    same = len(found.exact) + (0 if other else len(found.libraries))
    print("The bits differ." if wrong else f"{same} answers of {len(fits)} fits are the same bits.")
    return int(wrong)


def record(path: Path, only: str | None) -> int:
    """Store the bits and print the changes; nothing is stored if a promise is broken."""
    fits = chosen(only)
    found, broken = run(fits)
    if broken:
        say([f"broken   {line}" for line in broken])
        print("Nothing was stored.")
        return 1
    before = Listing.read(path) if path.exists() else Listing()
    for difference in differences(part_of(before, fits, every=only is None), found).values():
        say(difference.lines())
    if only is not None:  # other fits keep their lines
        found.exact = before.exact | found.exact
        found.libraries = before.libraries | found.libraries
    found.write(path)
    print(f"Stored {len(found.exact) + len(found.libraries)} answers in {path}.")
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command of the command line."""
    parser = argparse.ArgumentParser(description="Compare the bits of fits with a stored list.")
    parser.add_argument("command", choices=("check", "record"))
    parser.add_argument("--only", metavar="TEXT", help="only fits whose names contain this")
    parser.add_argument(
        "--list", type=Path, default=STORED, help="another file than the stored one"
    )
    options = parser.parse_args(arguments)
    begun = time.perf_counter()
    status = (check if options.command == "check" else record)(options.list, options.only)
    print(f"{time.perf_counter() - begun:.0f} s at levels {', '.join(levels_here())}")
    return status


if __name__ == "__main__":
    sys.exit(main())
