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
    "init": "--init",
    "kind": "--kind",
    "max_expansion": "--max-expansion",
    "max_iter": "--max-iter",
    "max_memory": "--max-memory",
    "max_pixels": "--max-pixels",
    "metric": "--metric",
    "min_samples": "--min-samples",
    "missing": "--missing",
    "n_clusters": "-k",
    "n_components": "-k",
    "n_init": "--runs",
    "reg_covar": "--floor",
    "scaling": "--scaling",
    "separator": "--separator",
}
FLAGS = {
    "accelerate=True": "--accelerate",
    "header=True": "--header",
    "header=False": "--no-header",
    "array='...'": "--array NAME",
    "kind='...'": "--kind",
    "missing='median' or 'mean'": "--missing median or mean",
}
PHRASES = {
    "scale them, for example with StandardScaler": "add --scaling standard",
    "scale with RobustScaler": "add --scaling robust",
    "by BIC (choose_k)": "by BIC (coterie choose --method mixture)",
    "; or keep one copy with sample_weight": "",
    ", or continue with warm_start=True": "",
    ", or empty_clusters='relocate'": "",
    "another start with n_init": "other starts with --runs 10",
    "a larger reg_covar such as": "a larger --floor such as",
    "as an integer or as (height, width), ": "",
    "pass a size of": "pass --patch",
    "max_seconds reached": "--max-seconds reached",
    "pass the largest, as k=10, a pair (low, high), or a list": "ask for 8 (1 to 8), 2-8 or 2,4,8",
    ", or use missing='marginal' to cluster by the cells that are there": "",
    "Drop those rows (X[np.isfinite(X).all(axis=1)]) or fill the gaps, for example with "
    "sklearn.impute.SimpleImputer": "Leave those rows out with --missing drop, or fill the gaps "
    "with --missing median",
}
_TOO_MANY = re.compile(
    r"n_samples=(\d+) should be >= \w+=(\d+): expected at least one row per cluster, got \d+\."
)
_ASSIGNED = re.compile(rf"(?<![\w-])({'|'.join(OPTIONS)})=('[^']*'|[\w.+-]*\w)")


def as_options(message: str) -> str:
    """A message of the library as a person at the command line would act on it."""
    for phrase, instead in (PHRASES | FLAGS).items():
        message = message.replace(phrase, instead)
    message = _TOO_MANY.sub(
        r"expected at least one row per cluster, got \1 rows for \2 clusters.", message
    )
    return _ASSIGNED.sub(_option, message)


def _option(found: re.Match[str]) -> str:
    name, value = found.groups()
    plain = value.strip("'")
    needs_quotes = not re.fullmatch(r"[\w.+-]+", plain)
    return f"{OPTIONS[name]} {value if needs_quotes else plain}"
