"""Names of parameters as options of the command line: missing='drop' becomes --missing drop."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from coterie.remedies import NAME_ONLY, Remedy, alternatives

if TYPE_CHECKING:
    from coterie.choosing import Diagnosis

OPTIONS = {
    "accelerate": "--accelerate",
    "array": "--array",
    "bands": "--bands",
    "components": "--components",
    "covariance_type": "--covariance",
    "decimal": "--decimal",
    "eps": "--eps",
    "every": "--every",
    "hop": "--hop",
    "init": "--init",
    "kind": "--kind",
    "max_expansion": "--max-expansion",
    "max_iter": "--max-iter",
    "max_memory": "--max-memory",
    "max_pixels": "--max-pixels",
    "max_seconds": "--max-seconds",
    "metric": "--metric",
    "min_samples": "--min-samples",
    "missing": "--missing",
    "n_clusters": "-k",
    "n_components": "-k",
    "n_init": "--runs",
    "reg_covar": "--floor",
    "scaling": "--scaling",
    "separator": "--separator",
    "size": "--patch",
    "tol": "--tol",
}
FLAGS = {
    "accelerate=True": "--accelerate",
    "header=True": "--header",
    "header=False": "--no-header",
    "array='...'": "--array NAME",
    "kind='...'": "--kind",
    "missing='median' or 'mean'": "--missing median or mean",
}
REMEDIES = {  # by code: those that are no parameters
    "scale": "add --scaling standard",
    "scale-robust": "add --scaling robust",
    "compare-k": "compare fewer components by BIC (coterie choose --method mixture)",
}
_ASSIGNED = re.compile(rf"(?<![\w-])({'|'.join(OPTIONS)})=('[^']*'|[\w.+-]*\w)")
_NAMED = re.compile(rf"(?<![\w-])({'|'.join(name for name in OPTIONS if '_' in name)})(?![\w=-])")


def as_options(message: str) -> str:
    """Return a message of the library with options in place of parameters."""
    for flag, option in FLAGS.items():
        message = message.replace(flag, option)
    message = _ASSIGNED.sub(lambda found: _option(found[1], found[2].strip("'")), message)
    return _NAMED.sub(lambda found: OPTIONS[found[1]], message)


def diagnosis_as_options(diagnosis: Diagnosis) -> str:
    """Return a diagnosis with its remedies as options."""
    return f"{as_options(diagnosis.sentence)}: {change_as_options(diagnosis)}"


def change_as_options(diagnosis: Diagnosis) -> str:
    """Return the remedies of a diagnosis as options; those without an option are left out."""
    return alternatives([
        REMEDIES[remedy.code] if remedy.code else remedy.words(_option)
        for remedy in diagnosis.remedies
        if _has_options(remedy)
    ])  # fmt: skip


def _has_options(remedy: Remedy) -> bool:
    return remedy.names <= set(OPTIONS)


def _option(name: str, value: Any) -> str:
    if value is NAME_ONLY or value is True:
        return OPTIONS[name]
    needs_quotes = not re.fullmatch(r"[\w.+-]+", str(value))
    return f"{OPTIONS[name]} {repr(value) if needs_quotes else value}"
