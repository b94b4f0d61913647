"""Checks of input, before any work is done: every mistake is named here."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from numbers import Integral, Number
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_array, validate_data

from coterie.arrays import Floats

TIMES = (np.datetime64, np.timedelta64, datetime.date, datetime.timedelta)
# Parts of the names of the types of columns.
TIME_NAMES = ("date", "time", "duration", "period", "month_day_nano")
LOOSE_NAMES = ("obj", "str", "cat", "enum")  # types that can hold anything
NESTED_NAMES = ("list", "struct", "map", "union")  # pyarrow's types of several values in one cell
TEXT_NAMES = ("string", "binary")  # pyarrow's types of text
N_JOBS = [  # allowed values of the parameter
    Interval(Integral, 1, None, closed="left"),
    Interval(Integral, None, -1, closed="right"),
    None,
]
MIN_SAMPLES = [Interval(Integral, 1, 2**53, closed="both")]  # float64 has no more whole numbers


def check_rows(
    estimator: Any,
    X: Any,
    *,
    reset: bool,
    accept_sparse: str | bool = "csr",
    masked_is_missing: bool = False,
) -> Any:
    """X as a C-ordered float32 or float64 array, or as CSR with sorted indices. Never modified.

    Values that are not finite are found later, by the pass that looks at every value anyway.
    """
    if _is_table_of_floats(X):
        # There is nothing to convert or to refuse. The other checks took a tenth of the time of a
        # small fit.
        checked = validate_data(estimator, X, reset=reset, skip_check_array=True)
        return np.require(checked, requirements=["C", "A"])
    _refuse_other_things(X)
    if masked_is_missing and np.ma.isMaskedArray(X):
        X = np.ma.filled(X.astype(np.result_type(X.dtype, np.float32)), np.nan)
    _refuse_masked(X, "X", "for example with SimpleImputer on X.filled(np.nan)")
    X = _without_times_and_text(X)
    checked = validate_data(
        estimator,
        X,
        reset=reset,
        accept_sparse=accept_sparse,
        accept_large_sparse=True,
        dtype=[np.float64, np.float32],
        order="C",
        ensure_all_finite=False,
    )
    if sparse.issparse(checked):
        return _tidy_sparse(checked)
    return np.require(checked, requirements=["C", "A"])


def _is_table_of_floats(X: Any) -> bool:
    """Return whether X is a plain array of float32 or float64 in the machine's byte order, with at
    least one row and one column."""
    return (
        type(X) is np.ndarray
        and X.dtype in (np.float64, np.float32)
        and X.ndim == 2
        and min(X.shape) > 0
    )


def _refuse_other_things(X: Any) -> None:
    if sparse.issparse(X):
        return
    if X is None or isinstance(X, str | bytes | dict | set | Iterator):
        raise TypeError(
            f"X is a {type(X).__name__}: expected a table of numbers with one row per point, as a "
            "2-D array, a list of rows, a data frame or a CSR matrix."
        )


def _refuse_masked(values: Any, name: str, how: str) -> None:
    if not np.ma.is_masked(values):
        return
    cells = np.argwhere(np.ma.getmaskarray(values))
    raise ValueError(
        f"{name} has {len(cells)} masked cell(s), the first at {_place(cells[0])}: expected a "
        f"value in every cell. Drop those rows, or fill the cells, {how}."
    )


def _without_times_and_text(X: Any) -> Any:
    """Return X, lists as an array. Times and text are refused: numbers of them mean nothing."""
    if isinstance(X, list | tuple):
        try:
            X = np.asarray(X)
        except ValueError as error:
            raise ValueError(
                f"X is not a table ({error}): expected rows with the same number of values."
            ) from error
    if isinstance(X, np.ndarray):
        _refuse_in_array(X)
    elif hasattr(X, "schema") and hasattr(X.schema, "types"):
        _refuse_in_arrow(X.schema)
    elif hasattr(X, "columns") and hasattr(X, "dtypes"):
        for column, dtype in zip(X.columns, X.dtypes, strict=True):
            if any(word in str(dtype).lower() for word in TIME_NAMES):
                raise _times_found(f"column {column!r} of X holds {dtype} values")
        if any(word in str(list(X.dtypes)).lower() for word in LOOSE_NAMES):
            _refuse_in_array(np.asarray(X))
    return X


def _refuse_in_array(values: NDArray[Any]) -> None:
    if values.dtype.kind in "mM":
        raise _times_found(f"X holds {values.dtype} values")
    if values.dtype.kind in "USV" and values.size:
        raise _text_found(f"X holds text or records ({values.dtype})")
    if values.dtype.kind != "O":
        return
    for place, value in np.ndenumerate(values):
        if isinstance(value, str | bytes):
            raise _text_found(f"X holds {value!r} at {_place(place)}")
        if isinstance(value, TIMES):
            raise _times_found(f"X holds {value!r} at {_place(place)}")
        if isinstance(value, int) and value.bit_length() > 1024:
            raise ValueError(
                f"X holds an integer of {value.bit_length()} bits at {_place(place)}: expected "
                "numbers up to 1.8e308, the largest float64."
            )


def _refuse_in_arrow(schema: Any) -> None:
    """Refuse columns of a pyarrow table by their types."""
    for name, kind in zip(schema.names, map(str, schema.types), strict=True):
        found = f"column {name!r} of X holds {kind} values"
        if any(word in kind for word in NESTED_NAMES):
            raise ValueError(f"{found}: expected one number in each cell. Make a column of each.")
        if any(word in kind for word in TIME_NAMES):
            raise _times_found(found)
        if any(word in kind for word in TEXT_NAMES):
            raise _text_found(found)


def _times_found(found: str) -> ValueError:
    return ValueError(
        f"{found}: expected numbers. Turn times into numbers in units of your choice, for "
        "example seconds since the first of them: (t - t.min()) / np.timedelta64(1, 's')."
    )


def _text_found(found: str) -> ValueError:
    return ValueError(
        f"{found}: expected numbers. Convert numbers written as text with X.astype(float); for "
        "words use TfidfVectorizer, for categories OneHotEncoder."
    )


def _tidy_sparse(X: Any) -> Any:
    """Return X with valid, sorted indices, each once: the kernels do not check them again."""
    if X.shape[1] >= 2**31:
        raise ValueError(
            f"X has {X.shape[1]} columns: expected fewer than 2**31. Drop empty columns, or hash "
            "them into fewer, for example with FeatureHasher."
        )
    # The indices are copied and no flag of X is believed: a callback or another thread may write
    # into X while a fit runs.
    tidy = sparse.csr_array((X.data, X.indices.copy(), X.indptr.copy()), shape=X.shape)
    try:
        tidy.check_format(full_check=True)
    except ValueError as error:
        raise ValueError(
            f"X is not a sound CSR matrix ({error}): expected indices within its shape. Build it "
            "again, for example from scipy.sparse.coo_array."
        ) from error
    if not tidy.has_canonical_format:
        tidy.data = tidy.data.copy()
        tidy.sum_duplicates()
    return tidy


def refuse_not_finite(
    X: Any, first: tuple[int, int] | None, names: Any = None, remedy: str = ""
) -> None:
    """`first`: row and column of the first value that is not finite, as `steps.extent` found it.

    remedy : another way to treat NaN, as the end of a sentence.
    """
    if first is None:
        return
    values = X.data if sparse.issparse(X) else X
    n_nan, n_inf = int(np.isnan(values).sum()), int(np.isinf(values).sum())
    row, column = first
    named = "" if names is None else f" ({names[column]!r})"
    raise ValueError(
        f"X contains {n_nan} NaN and {n_inf} infinity values, the first at row {row}, column "
        f"{column}{named}: expected finite numbers. Drop those rows (X[np.isfinite(X).all(axis=1)])"
        f" or fill the gaps, for example with sklearn.impute.SimpleImputer{remedy}."
    )


def check_weights(sample_weight: Any, n_rows: int, *, signed: bool = False) -> Floats | None:
    """Weights as float64, zero or more unless `signed`; None where every row counts once."""
    if sample_weight is None:
        return None
    _refuse_masked(sample_weight, "sample_weight", "for example with zeros")
    if isinstance(sample_weight, Number):
        sample_weight = np.full(n_rows, sample_weight)
    refuse_other_than_numbers(sample_weight, "sample_weight", "one weight per row of X")
    weights: Floats = check_array(
        sample_weight,
        ensure_2d=False,
        allow_nd=True,
        dtype=np.float64,
        order="C",
        ensure_all_finite=False,
        ensure_min_samples=0,
        input_name="sample_weight",
    )
    if weights.shape != (n_rows,):
        raise ValueError(
            f"sample_weight has shape {weights.shape}: expected one weight per row of X, shape "
            f"({n_rows},)."
        )
    negative = (weights < 0) & (not signed)
    for wrong, words in ((~np.isfinite(weights), "finite"), (negative, "zero or more")):
        if wrong.any():
            at = int(np.argmax(wrong))
            raise ValueError(
                f"sample_weight[{at}] is {weights[at]}, one of {int(wrong.sum())} such: expected "
                f"weights that are {words}. Use weight 0 for rows that should not count."
            )
    if not weights.any():
        raise ValueError(
            "sample_weight is zero for every row: expected at least one non-zero weight."
        )
    return None if (weights == 1).all() else weights


def refuse_other_than_numbers(values: Any, name: str, expected: str = "") -> None:
    """Refuse text, times and things that are no list. NumPy would accept some of them, and its
    message on the others names neither the argument nor a remedy.

    expected : a description of the values, for the message.
    """
    words = f"expected numbers{expected and ', ' + expected}, as a list or an array."
    if isinstance(values, str | bytes | dict | set | frozenset | Iterator):
        raise TypeError(f"{name} is a {type(values).__name__}: {words}")
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{name} is not a list of numbers ({error}): {words}") from error
    if array.dtype.kind not in "biufO":
        raise ValueError(f"{name} holds {array.dtype} values: {words}")
    for place, value in np.ndenumerate(array if array.dtype.kind == "O" else ()):
        if not isinstance(value, Number) or isinstance(value, complex | np.timedelta64):
            where = f" at {_place(place)}" if place else ""
            raise ValueError(f"{name} holds {value!r}{where}: {words}")


def floats_of(values: Any, name: str, *, copy: bool = True) -> Floats:
    """Return values that users give besides the data, as a C-ordered float64 array of any shape."""
    if _is_table_of_floats(values):
        return np.array(values, dtype=np.float64, order="C", copy=copy or None)
    refuse_other_than_numbers(values, name)
    found: Floats = check_array(
        values,
        dtype=np.float64,
        order="C",
        copy=copy,
        ensure_2d=False,
        allow_nd=True,
        ensure_min_samples=0,
        ensure_min_features=0,
        ensure_all_finite=False,
        input_name=name,
    )
    return found


def check_centres(
    centres: Any, n_clusters: int, n_features: int, name: str, count: str = "n_clusters"
) -> Floats:
    """Initial means from the user, as a float64 copy."""
    checked = floats_of(centres, name)
    if checked.shape != (n_clusters, n_features):
        raise ValueError(
            f"{name} has shape {checked.shape}: expected ({count}, n_features) = "
            f"({n_clusters}, {n_features}), one row per cluster and one column per feature of X."
        )
    bad = np.argwhere(~np.isfinite(checked))
    if len(bad):
        raise ValueError(
            f"{name} contains {len(bad)} NaN or infinity values, the first at {_place(bad[0])}: "
            "expected finite numbers."
        )
    return checked


def check_enough_rows(
    n_rows: int, n_clusters: int, n_without_weight: int = 0, name: str = "n_clusters"
) -> None:
    if n_rows < n_clusters:
        apart = f" (and {n_without_weight} rows of weight zero)" if n_without_weight else ""
        raise ValueError(
            f"n_samples={n_rows} should be >= {name}={n_clusters}: expected at least one row "
            f"per cluster, got {n_rows}{apart}. Use {name}={n_rows} or fewer, or give more rows."
        )


def _place(index: NDArray[np.intp] | tuple[int, ...]) -> str:
    at = [int(i) for i in index]
    return f"row {at[0]}, column {at[1]}" if len(at) == 2 else f"position {', '.join(map(str, at))}"
