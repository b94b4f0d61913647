"""Listeners of a running fit: a plain callback, scikit-learn's callbacks, the log.

The decorator `fitting` surrounds each fit: parameters are checked first, and an estimator whose fit
fails stays as it was.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np
from scipy import sparse
from sklearn.base import _fit_context

from coterie.algorithms.kmeans.records import Iteration
from coterie.algorithms.mixture.records import Mixture, MixtureIteration
from coterie.arrays import Floats

try:
    from sklearn.callback import CallbackSupportMixin
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Callbacks came with scikit-learn 1.9."""


logger = logging.getLogger("coterie")
logger.addHandler(logging.NullHandler())  # nothing is printed unless the user asks for it

P = ParamSpec("P")
Estimator = TypeVar("Estimator")

__all__ = ["CallbackSupportMixin", "FitEvent", "News", "Progress", "fitting", "read_only"]


@dataclass(frozen=True)
class FitEvent:
    """One iteration of one run, as told to ``callback``.

    The means are a copy. The arrays of the mixture can be read and not be changed.
    """

    run: int  # counted from 0
    iteration: int  # counted from 1
    record: Iteration | MixtureIteration
    means: Floats  # (k, d) after the mean update
    mixture: Mixture | None = None  # of a GaussianMixture: weights and covariances too


@dataclass(frozen=True)
class News:
    """News of an iteration for listeners, in the units of the user."""

    record: Iteration | MixtureIteration
    means: Floats
    line: str  # for the log
    model: dict[str, Any]  # attributes with which the estimator could predict
    last: bool = False  # True if this was known to be the last iteration
    mixture: Mixture | None = None


def read_only(values: Any) -> Any:
    """View of rows or of an array of the running fit, into which listeners cannot write."""
    if values is None:
        return None
    if sparse.issparse(values):
        data, indices, indptr = map(read_only, (values.data, values.indices, values.indptr))
        shown = sparse.csr_array(values.shape, dtype=values.dtype)
        shown.data, shown.indices, shown.indptr = data, indices, indptr
        shown.has_canonical_format = True  # or a look at it would sort in place
        return shown
    view = np.asarray(values).view()
    view.flags.writeable = False
    return view


def fitting(
    method: Callable[Concatenate[Estimator, P], Estimator],
) -> Callable[Concatenate[Estimator, P], Estimator]:
    """Decorate a method that changes the estimator: parameters are checked first, and any failure,
    an interrupt too, leaves the estimator exactly as it was."""
    checked = _fit_context(prefer_skip_nested_validation=True)(method)

    @functools.wraps(method)
    def whole_or_not_at_all(estimator: Estimator, /, *args: P.args, **named: P.kwargs) -> Estimator:
        before = dict(vars(estimator))
        try:
            fitted: Estimator = checked(estimator, *args, **named)
        except BaseException:
            estimator.__dict__ = before
            raise
        return fitted

    return whole_or_not_at_all


class Progress:
    """Reports of the runs of one fit to its listeners.

    news : a function from the arguments of a driver's observer to the news.
    """

    def __init__(
        self, estimator: Any, X: Any, weights: Any, n_init: int, news: Callable[..., News]
    ) -> None:
        self.estimator, self.news = estimator, news
        self.tasks: Tasks | None = None
        if getattr(estimator, "_skl_callbacks", None):
            self.tasks = Tasks(estimator, X, weights, n_init)

    def watch(self, run: int) -> Callable[..., bool] | None:
        """Return the observer of a run; None: nobody listens."""
        if self.tasks is not None:
            self.tasks.begin_run()
        elif self.estimator.callback is None and not self.estimator.verbose:
            return None
        return functools.partial(self._observe, run)

    def _observe(self, run: int, iteration: int, *told: Any) -> bool:
        news = self.news(iteration, *told)
        if self.estimator.verbose:
            logger.info("run %d, iteration %d: %s", run, iteration, news.line)
        stop = False
        if self.estimator.callback is not None:
            event = FitEvent(run, iteration, news.record, news.means.copy(), news.mixture)
            stop = bool(self.estimator.callback(event))
        if self.tasks is not None:
            stop |= self.tasks.end_iteration(iteration, news)
        return stop

    def end(self) -> None:
        """Report the end of a fit whose attributes are set."""
        if self.tasks is not None:
            self.tasks.end_run()
            self.tasks.end(self.tasks.fit, {})


class Tasks:
    """The fit as scikit-learn's callbacks see it: a fit has runs, a run has iterations."""

    def __init__(self, estimator: Any, X: Any, weights: Any, n_init: int) -> None:
        self.estimator, self.X = estimator, read_only(X)
        self.metadata = None if weights is None else {"sample_weight": read_only(weights)}
        self.run: Any = None
        self.iteration: Any = None
        self.fit = estimator._init_callback_context(max_subtasks=n_init)
        self._begin(self.fit)

    def begin_run(self) -> None:
        self.end_run()
        self.run = self.fit.subcontext(task_name="run", max_subtasks=self.estimator.max_iter)
        self._begin(self.run)
        self._begin_iteration()

    def end_iteration(self, iteration: int, news: News) -> bool:
        stop = self.end(self.iteration, news.model)
        self.iteration = None
        if not news.last and not stop and iteration != self.estimator.max_iter:
            self._begin_iteration()
        return stop

    def end_run(self) -> None:
        if self.iteration is not None:  # begun, and then not made
            self.end(self.iteration, None)
            self.iteration = None
        if self.run is not None:
            self.end(self.run, None)
            self.run = None

    def end(self, context: Any, attributes: dict[str, Any] | None) -> bool:
        return bool(
            context.call_on_fit_task_end(
                estimator=self.estimator,
                X=self.X,
                y=None,
                metadata=self.metadata,
                reconstruction_attributes=attributes,
            )
        )

    def _begin_iteration(self) -> None:
        self.iteration = self.run.subcontext(task_name="iteration")
        self._begin(self.iteration)

    def _begin(self, context: Any) -> None:
        context.call_on_fit_task_begin(
            estimator=self.estimator, X=self.X, y=None, metadata=self.metadata
        )
