"""GaussianMixture: soft clustering by EM. It checks, asks the driver, and keeps its result."""

from __future__ import annotations

import functools
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from coterie.algorithms.mixture.acceleration import Acceleration
from coterie.algorithms.mixture.covariance import FAMILIES, Family, NotPositiveDefinite
from coterie.algorithms.mixture.em import EmRules, em
from coterie.algorithms.mixture.records import Mixture, MixtureRun
from coterie.algorithms.mixture.unconstrained import UnconstrainedParameters
from coterie.algorithms.restarts import best_of
from coterie.estimators.fitting import FitEvent, Progress, fitting
from coterie.estimators.kmeans.estimator import KMeans
from coterie.estimators.mixture.fitted import MixtureModel
from coterie.estimators.mixture.parameters import PARTS, Given, family_and_given
from coterie.estimators.mixture.prepared import PreparedMixtureRows, prepare_mixture_rows
from coterie.estimators.mixture.results import fitted_attributes, news_of_mixture, warn_of_mixture
from coterie.estimators.mixture.start import runs_differ, starter
from coterie.estimators.runs import base_seed
from coterie.estimators.validation import N_JOBS, check_weights


class GaussianMixture(MixtureModel):
    """Gaussian mixture by EM, right at any offset and scale, and the same bits for any number of
    threads.

    A drop-in for :class:`sklearn.mixture.GaussianMixture`: parameters, methods and attributes of
    the same name mean the same. One default is ours: ``reg_covar=None``, a floor that follows the
    data's own scale.

    Parameters
    ----------
    n_components : int, default=1
        Number of Gaussians.
    covariance_type : {"full", "tied", "diag", "spherical", "fixed"}, default="full"
        Each component has its own covariance matrix; all share one; each has its own variances;
        each has one variance; or covariances are given by `fixed_covariance` and stay.
    tol : float, default=1e-3
        A run has converged if an iteration changes the log-likelihood by less than this, on
        average over the rows. 0: never.
    reg_covar : float or None, default=None
        Number added to all variances, as scikit-learn does; the error may then rise. None: nothing
        is added, and no standard deviation falls below a millionth of that of its column, in any
        units of X.
    max_iter : int or None, default=100
        Most iterations of a run. None: until `tol` is met.
    n_init : int, default=1
        Number of runs, of which the one with the smallest soft clustering error is kept.
    init_params : {"kmeans", "k-means++", "random", "random_from_data", "principal"} or KMeans, \
default="kmeans"
        The first mixture. "kmeans": from the clusters of k-means, or of a
        :class:`coterie.KMeans` such as ``KMeans(n_init=5)``. "k-means++", "random_from_data" and
        "principal" (means along the principal direction of the data, without randomness): from
        clusters of the rows nearest to these points. "random": from random degrees of belonging.
    weights_init : array-like of shape (n_components,) or None, default=None
        Weights of the first mixture, instead of those by `init_params`.
    means_init : array-like of shape (n_components, n_features) or None, default=None
        Means of the first mixture.
    precisions_init : array-like or None, default=None
        Inverse covariances of the first mixture, in the shape of ``precisions_``.
    random_state : int, RandomState instance or None, default=None
        Seed of the start, and of `sample`. The same int gives the same bits.
    warm_start : bool, default=False
        Start from the mixture of the last fit if it is of the same shape and covariance type, in a
        single run. Its first iteration is compared with the last one of that fit, so a fit may
        converge in a single iteration.
    verbose : int, default=0
        If positive, every iteration is logged (logger "coterie", level INFO). Nothing is printed.
    verbose_interval : int, default=10
        For compatibility.
    fixed_covariance : float or array-like or None, default=None
        With ``covariance_type="fixed"``: a variance or one per component, shape (n_components,),
        times the identity; a matrix, shape (n_features, n_features), or one per component.
    fixed : tuple of {"weights", "means", "covariances"}, default=()
        Parts of the mixture that keep their first values.
    accelerate : bool, default=False
        Whether to extrapolate EM steps. A step is kept only if it makes the rows likelier. This
        saves time with a small `tol` and overlapping clusters.
    missing : {"error", "marginal"}, default="error"
        NaN and masked cells are errors, or missing cells: then every row counts by the cells that
        it has, by the likelihood of these.
    max_seconds : float or None, default=None
        Time for all runs together, checked after every iteration; at least one iteration of one
        run is made. There is a ConvergenceWarning if time ran out.
    on_interrupt : {"raise", "keep"}, default="raise"
        After Ctrl-C, raise KeyboardInterrupt and leave the estimator as it was; or keep the best
        so far (before the first iteration there is nothing to keep, and it raises).
    callback : callable or None, default=None
        Called with a :class:`FitEvent` after each iteration; a true return value ends the fit.
    trace : bool, default=False
        Whether to remember the mixture of every iteration, in ``trace_``.
    n_jobs : int or None, default=None
        Threads. None: as many as scikit-learn would use, which follows the CPU affinity,
        ``OMP_NUM_THREADS`` and threadpoolctl; -1: all CPUs of the affinity, -2: all but one.
        Small data use fewer.

    Attributes
    ----------
    weights_ : ndarray of shape (n_components,)
        Probabilities of the components.
    means_ : ndarray of shape (n_components, n_features)
    covariances_ : ndarray
        Shape (n_components, n_features, n_features) for "full", (n_features, n_features) for
        "tied", (n_components, n_features) for "diag", (n_components,) for "spherical"; for
        "fixed" one of these, as given.
    precisions_ : ndarray
        Inverse covariances, in the same shape; made on first use.
    precisions_cholesky_ : ndarray
        Upper factors U with U U' = precision, or 1 / standard deviation. Densities come from these.
    converged_ : bool
        Whether the best run stopped because of `tol`.
    n_iter_ : int
        Iterations of the best run.
    lower_bound_ : float
        Log-likelihood by row of the mixture that entered the last iteration of the best run. The
        best run is the one with the smallest ``soft_clustering_error_``, which is that of its last
        mixture: a run that was left out may have a larger bound.
    lower_bounds_ : list of float
        The same for each iteration.
    soft_clustering_error_ : float
        Minus the log-likelihood of all rows (times their weights) under the mixture found.
    stopped_ : str
        The reason for the end of the best run, and for no further runs, in words.
    history_ : tuple of MixtureIteration
        Error, its decrease, largest move of a mean, seconds and sweeps by iteration.
    runs_ : tuple of MixtureRun
        Record of each run.
    trace_ : tuple of Mixture
        With ``trace=True``: the mixture that entered each iteration.
    n_features_in_ : int
        Columns of X.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if X had names that are all strings.

    Notes
    -----
    Nothing of size n_samples x n_components is stored, except for ``init_params="random"`` and by
    `predict_proba`. A row of weight 2 counts as two rows, of weight 0 as none.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import GaussianMixture
    >>> X = np.array([[0, 2], [1, 4], [2, 0], [9, 2], [10, 4], [11, 0]])
    >>> model = GaussianMixture(n_components=2, random_state=0).fit(X)
    >>> np.sort(model.means_[:, 0]).round(6)
    array([ 1., 10.])
    >>> model.predict_proba([[10, 3]]).max().item()
    1.0
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "covariance_type": [StrOptions({*FAMILIES, "fixed"})],
        "tol": [Interval(Real, 0, None, closed="left")],
        "reg_covar": [Interval(Real, 0, None, closed="left"), None],
        "max_iter": [Interval(Integral, 0, None, closed="left"), None],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "init_params": [
            StrOptions({"kmeans", "k-means++", "random", "random_from_data", "principal"}),
            KMeans,
        ],
        "weights_init": ["array-like", None],
        "means_init": ["array-like", None],
        "precisions_init": ["array-like", None],
        "random_state": ["random_state"],
        "warm_start": ["boolean"],
        "verbose": ["verbose"],
        "verbose_interval": [Interval(Integral, 1, None, closed="left")],
        "fixed_covariance": [Interval(Real, 0, None, closed="neither"), "array-like", None],
        "fixed": [tuple, list, set, frozenset, str],  # text is refused in better words
        "accelerate": ["boolean"],
        "missing": [StrOptions({"error", "marginal"})],
        "max_seconds": [Interval(Real, 0, None, closed="neither"), None],
        "on_interrupt": [StrOptions({"raise", "keep"})],
        "callback": [callable, None],
        "trace": ["boolean"],
        "n_jobs": N_JOBS,
    }

    def __init__(
        self,
        n_components: int = 1,
        *,
        covariance_type: str = "full",
        tol: float = 1e-3,
        reg_covar: float | None = None,
        max_iter: int | None = 100,
        n_init: int = 1,
        init_params: Any = "kmeans",
        weights_init: Any = None,
        means_init: Any = None,
        precisions_init: Any = None,
        random_state: Any = None,
        warm_start: bool = False,
        verbose: int = 0,
        verbose_interval: int = 10,
        fixed_covariance: Any = None,
        fixed: Any = (),
        accelerate: bool = False,
        missing: str = "error",
        max_seconds: float | None = None,
        on_interrupt: str = "raise",
        callback: Callable[[FitEvent], object] | None = None,
        trace: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.tol = tol
        self.reg_covar = reg_covar
        self.max_iter = max_iter
        self.n_init = n_init
        self.init_params = init_params
        self.weights_init = weights_init
        self.means_init = means_init
        self.precisions_init = precisions_init
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose
        self.verbose_interval = verbose_interval
        self.fixed_covariance = fixed_covariance
        self.fixed = fixed
        self.accelerate = accelerate
        self.missing = missing
        self.max_seconds = max_seconds
        self.on_interrupt = on_interrupt
        self.callback = callback
        self.trace = trace
        self.n_jobs = n_jobs

    @fitting
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> GaussianMixture:
        """Fit the mixture to the rows of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to cluster. float32 and float64 in C order are used where they lie.
        y : Ignored
            For scikit-learn's pipelines.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights of the rows, zero or more. A weight of zero means that the row is not there.

        Returns
        -------
        self : GaussianMixture
        """
        started = time.perf_counter()
        X = self._checked(X, reset=True)
        weights = check_weights(sample_weight, X.shape[0])
        rules = self._rules(started)
        family, given = family_and_given(self, X.shape[1])
        previous = self._previous(family, given, X.shape[1])
        if previous is not None:
            rules = replace(rules, bound_before=self.lower_bound_)
        data = prepare_mixture_rows(
            X,
            weights,
            family,
            n_components=self.n_components,
            marginal=self._marginal,
            team=self._team(X),
            names=getattr(self, "feature_names_in_", None),
        )
        n_init = self._number_of_runs(given, previous)
        start = starter(self, data, family, given, previous, rules.deadline)
        # Parameters may be set to other values after the fit, and these are still the mixture's.
        kept = {"_covariance_type": self.covariance_type, "_fixed": tuple(sorted(rules.fixed))}
        news = functools.partial(news_of_mixture, data, kept)
        progress = Progress(self, data.X, data.weights, n_init, news)

        def first(number: int, seed: int) -> Mixture:
            mixture = start(seed)
            if number + 1 == n_init:
                data.forget_filled()
            return mixture

        def make(number: int, seed: int) -> MixtureRun:
            observe, faster = progress.watch(number), self._acceleration(data, family, rules)
            known, step = data.survey, data.sweep
            run = em(data.engine, known, family, first(number, seed), rules, observe, faster, step)
            return data.units.restored(run)

        found = best_of(
            n_init,
            base_seed(self.random_state),
            rules,
            make,
            error=lambda run: run.soft_clustering_error,
            record=lambda run, seed: replace(run, trace=None),
            cannot_start=NotPositiveDefinite,
        )
        warn_of_mixture(found, self.max_iter, self.max_seconds)
        for of_the_last in ("trace_", "precisions_"):
            self.__dict__.pop(of_the_last, None)
        attributes = fitted_attributes(found.best, data)
        for name, value in (attributes | kept | {"stopped_": found.stopped}).items():
            setattr(self, name, value)
        self.runs_ = found.records
        progress.end()
        return self

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> NDArray[np.int32]:
        """Fit, and give the component to which each row belongs most.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : Ignored
            For scikit-learn's pipelines.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights of the rows.

        Returns
        -------
        labels : ndarray of shape (n_samples,), int32
        """
        return self.fit(X, sample_weight=sample_weight).predict(X)

    # Inside

    def _rules(self, started: float) -> EmRules:
        if isinstance(self.fixed, str):
            raise ValueError(
                f"fixed={self.fixed!r} is a text: expected a tuple of parts, such as "
                f"fixed=({self.fixed!r},)."
            )
        unknown = sorted(set(map(str, self.fixed)) - set(PARTS))
        if unknown:
            raise ValueError(
                f"fixed holds {', '.join(map(repr, unknown))}: expected any of "
                f"{', '.join(map(repr, PARTS))}, such as fixed=('weights',)."
            )
        if self.max_iter is None and self.tol == 0:
            raise ValueError(
                "max_iter=None and tol=0 would never stop: expected a limit on iterations or a "
                "tolerance. Set max_iter, or a small tol such as 1e-9."
            )
        return EmRules(
            max_iter=self.max_iter,
            tol=float(self.tol),
            deadline=None if self.max_seconds is None else started + self.max_seconds,
            reg_covar=None if self.reg_covar is None else float(self.reg_covar),
            fixed=frozenset(self.fixed),
            keep_on_interrupt=self.on_interrupt == "keep",
            trace=bool(self.trace),
        )

    def _previous(self, family: Family, given: Given, d: int) -> Mixture | None:
        """The mixture of the last fit, if that is where to start."""
        if not self.warm_start or not hasattr(self, "converged_"):
            return None
        k = self.n_components
        if self.means_.shape != (k, d) or self.covariances_.shape != family.shape(k, d):
            return None
        if self._family.kind != family.kind:  # where k = d, shapes do not tell diag from tied
            return None
        last = Mixture(self.weights_, self.means_, self.covariances_)
        return last if family.estimated else replace(given, weights=None, means=None).over(last)

    def _number_of_runs(self, given: Given, previous: Mixture | None) -> int:
        if self.n_init == 1 or previous is not None:
            return 1
        if runs_differ(self, given, previous):
            return int(self.n_init)
        warnings.warn(
            f"n_init={self.n_init} runs would all start alike, since the first mixture is given "
            "or init_params='principal': performing only one. Use n_init=1 to silence this.",
            RuntimeWarning,
            stacklevel=5,
        )
        return 1

    def _acceleration(
        self, data: PreparedMixtureRows, family: Family, rules: EmRules
    ) -> Acceleration[Mixture] | None:
        if not self.accelerate:
            return None
        floor = data.survey.floor(rules.reg_covar).values
        return Acceleration(UnconstrainedParameters(family, floor, rules.fixed))
