"""Running a fit at every instruction-set level and with several threads."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from coterie.kernels import _native
from fit_bits import dbscan, kmeans, mixture
from fit_bits.fit import Fit, digest

THREADS = (1, 2, 3)
Parts = dict[str, str]  # such as "fit" and "predict" -> hash


@dataclass
class Answer:
    """The bits of one fit by the names under which they are stored, and broken promises."""

    bits: dict[str, str] = field(default_factory=dict)
    broken: list[str] = field(default_factory=list)


def levels_here() -> list[str]:
    """Instruction-set levels that this machine can run."""
    return list(_native.simd_levels())


def all_fits() -> list[Fit]:
    """Every fit whose bits are kept; no two have one name."""
    found = [*kmeans.fits(), *mixture.fits(), *dbscan.fits()]
    names = [fit.name for fit in found]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"{len(twice)} names stand for two fits each: {', '.join(twice[:5])}.")
    return found


def answer(fit: Fit) -> Answer:
    """Run the fit at all levels of this machine and with all numbers of threads."""
    found = Answer()
    seen: dict[str, dict[str, Parts]] = {}  # name -> level and threads -> hashes
    with unchanged_level():
        for level in levels_here():
            _native.use_simd_level(level)
            name = f"{fit.name} @{level}" if fit.by_level else fit.name
            for threads in THREADS:
                way = f"{level} with {threads} threads"
                try:
                    seen.setdefault(name, {})[way] = _run(fit, threads)
                except Exception as error:  # a failed fit is reported, and the others go on
                    said = f"{type(error).__name__}: {error}"
                    return Answer(broken=[f"{fit.name}: {way}: {said}"])
    for name, by_way in seen.items():
        first, parts = next(iter(by_way.items()))
        found.bits[name] = whole(parts)
        for way, others in by_way.items():
            unlike = [part for part in parts if parts[part] != others.get(part)]
            if unlike:
                said = f"{first} differs from {way} in {', '.join(unlike)}"
                found.broken.append(f"{name}: {said}")
    return found


def whole(parts: Parts) -> str:
    """One hash of all parts of an answer."""
    return digest([[part, bits] for part, bits in sorted(parts.items())])


def _run(fit: Fit, threads: int) -> Parts:
    with warnings.catch_warnings():  # of fits that are stopped early, and of hostile data
        warnings.simplefilter("ignore")
        return {part: digest(values) for part, values in fit.run(threads).items()}


@contextmanager
def unchanged_level() -> Iterator[None]:
    """Leave the instruction-set level as it was."""
    before = _native.simd_level()
    try:
        yield
    finally:
        _native.use_simd_level(before)
