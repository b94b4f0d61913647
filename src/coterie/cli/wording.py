"""Python's words in the words of the command line: missing='drop' becomes --missing drop."""

from __future__ import annotations

import re

OPTIONS = {
    "array": "--array",
    "bands": "--bands",
    "components": "--components",
    "covariance_type": "--covariance",
    "decimal": "--decimal",
    "eps": "--eps",
    "every": "--every",
    "hop": "--hop",
    "kind": "--kind",
    "max_expansion": "--max-expansion",
    "max_iter": "--max-iter",
    "max_memory": "--max-memory",
    "max_pixels": "--max-pixels",
    "min_samples": "--min-samples",
    "missing": "--missing",
    "n_clusters": "-k",
    "n_components": "-k",
    "n_init": "--runs",
    "reg_covar": "--floor",
    "scaling": "--scaling",
    "separator": "--separator",
}
FLAGS = {"accelerate=True": "--accelerate"}
PHRASES = {
    "scale them, for example with StandardScaler": "add --scaling standard",
    "scale with RobustScaler": "add --scaling robust",
    "by BIC (choose_k)": "by BIC (coterie choose --method mixture)",
    "; or keep one copy with sample_weight": "",
    ", or continue with warm_start=True": "",
    ", or empty_clusters='relocate'": "",
    "another start with n_init": "other starts with --runs 10",
}
_ASSIGNED = re.compile(rf"(?<![\w-])({'|'.join(OPTIONS)})=('[^']*'|[\w.+-]*\w)")


def as_options(message: str) -> str:
    """A message of the library as a person at the command line would act on it."""
    for phrase, instead in (PHRASES | FLAGS).items():
        message = message.replace(phrase, instead)
    return _ASSIGNED.sub(_option, message)


def _option(found: re.Match[str]) -> str:
    name, value = found.groups()
    plain = value.strip("'")
    needs_quotes = not re.fullmatch(r"[\w.+-]+", plain)
    return f"{OPTIONS[name]} {value if needs_quotes else plain}"
