"""Answers of a fitted mixture: degrees of belonging, labels, densities, criteria, new points."""

from __future__ import annotations

import functools
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, DensityMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from coterie.algorithms.mixture.covariance import Family, family_of
from coterie.algorithms.mixture.records import Mixture
from coterie.arrays import Floats
from coterie.engines.protocol import Engine
from coterie.estimators.fitting import CallbackSupportMixin
from coterie.estimators.memory_budget import Allowance
from coterie.estimators.mixture.far_rows import nearest_from_afar
from coterie.estimators.mixture.prepared import look_at_rows
from coterie.estimators.pieces import pieces, repeated
from coterie.estimators.threads import team_for
from coterie.estimators.units import LARGEST_MIXTURE, check_total, warn_of_infinity
from coterie.estimators.validation import check_rows, check_weights
from coterie.kernels import _native, mixture_missing_steps, mixture_steps
from coterie.kernels.mixture_steps import Densities, Standardization

MOST_POINTS = 10**15  # beyond any memory
ROWS_AT_ONCE = 1 << 16
ROOM = 1e150  # squares of such numbers, and sums of these, are float64 numbers


class MixtureModel(
    CallbackSupportMixin,  # type: ignore[misc]  # scikit-learn has no types
    DensityMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """An estimator whose weights, means and covariances are a density."""

    n_components: int
    covariance_type: str
    missing: str
    fixed: Any
    random_state: Any
    n_jobs: int | None
    weights_: Floats
    means_: Floats
    covariances_: Floats
    precisions_cholesky_: Floats
    n_features_in_: int

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._marginal
        return tags

    @functools.cached_property
    def precisions_(self) -> Floats:
        """Inverse covariances, when they are first asked for."""
        return self._family.precisions(self.precisions_cholesky_)

    def predict(self, X: Any) -> NDArray[np.int32]:
        """The component to which each row belongs most, the lowest index among equals.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of shape (n_samples,), int32
        """
        X = self._checked(X)
        labels: NDArray[np.int32] = self._ask("labels", X)
        if self._overflows(X):
            far, nearest = self._far(X, self._ask("score_samples", X))
            labels[far] = nearest
        return labels

    def predict_proba(self, X: Any) -> Floats:
        """Degrees to which each row belongs to each component.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        degrees : ndarray of shape (n_samples, n_components)
            Each row sums to one.
        """
        return self._degrees(self._checked(X))

    def score_samples(self, X: Any) -> Floats:
        """Log-likelihood of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        log_likelihood : ndarray of shape (n_samples,)
            With ``missing="marginal"``, of the cells that a row has.
        """
        log_likelihood: Floats = self._ask("score_samples", self._checked(X))
        if np.isneginf(log_likelihood).any():
            warn_of_infinity("log-likelihoods", stacklevel=3)
        return log_likelihood

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Log-likelihood of the rows, on average.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : Ignored
            For scikit-learn's pipelines.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights of the rows.

        Returns
        -------
        score : float
            For the rows and weights of `fit` this is ``-soft_clustering_error_`` by row.
        """
        total, mass = self._log_likelihood(self._checked(X), sample_weight)
        return total / mass

    def bic(self, X: Any, sample_weight: Any = None) -> float:
        """Bayesian information criterion; the lower the better.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights of the rows, which count as that many rows.

        Returns
        -------
        bic : float
        """
        total, mass = self._log_likelihood(self._checked(X), sample_weight)
        return -2 * total + self._n_parameters() * float(np.log(mass))

    def aic(self, X: Any, sample_weight: Any = None) -> float:
        """Akaike information criterion; the lower the better.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights of the rows, which count as that many rows.

        Returns
        -------
        aic : float
        """
        total, _ = self._log_likelihood(self._checked(X), sample_weight)
        return -2 * total + 2 * self._n_parameters()

    def icl(self, X: Any, sample_weight: Any = None) -> float:
        """Integrated completed likelihood: BIC with a penalty for rows between clusters. It counts
        clusters, while BIC counts the Gaussians that a density needs; the lower the better.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights of the rows, which count as that many rows.

        Returns
        -------
        icl : float
            ``bic - 2 * sum(log(largest degree of each row))``.
        """
        X = self._checked(X)
        weights = self._weights(sample_weight, X)
        doubt = 0.0
        for a in range(0, len(X), ROWS_AT_ONCE):  # so that no n x k array is made
            largest = self._degrees(X[a : a + ROWS_AT_ONCE]).max(axis=1)
            own = 1.0 if weights is None else weights[a : a + ROWS_AT_ONCE]
            doubt -= float((own * np.log(largest)).sum())
        total, mass = self._log_likelihood(X, weights)
        return -2 * total + self._n_parameters() * float(np.log(mass)) + 2 * doubt

    def sample(self, n_samples: int = 1) -> tuple[Floats, NDArray[np.int64]]:
        """Random points of the mixture.

        Parameters
        ----------
        n_samples : int, default=1

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            One component after the other.
        y : ndarray of shape (n_samples,)
            The component of each point.
        """
        check_is_fitted(self)
        if not isinstance(n_samples, Integral) or not 1 <= n_samples <= MOST_POINTS:
            raise ValueError(
                f"Invalid value for n_samples: {n_samples!r}. Expected a number of points, from 1 "
                f"to {MOST_POINTS}."
            )
        needed = 8.0 * int(n_samples) * (self.means_.shape[1] + 1)
        allowance = Allowance(None, "sample", beyond="")
        allowance.refuse_beyond(needed, "Draw fewer points at a time (n_samples).")
        random = check_random_state(self.random_state)
        counts = random.multinomial(n_samples, self.weights_ / self.weights_.sum())
        X = self._family.sample(self.means_, self.covariances_, counts.tolist(), random)
        return X, repeated(counts)

    # Inside

    @property
    def _marginal(self) -> bool:
        return bool(self.missing == "marginal")

    @property
    def _fitted_type(self) -> str:
        """The covariance type of the fit; parameters may have been set since."""
        fitted: str = getattr(self, "_covariance_type", self.covariance_type)
        return fitted

    @property
    def _family(self) -> Family:
        return family_of(self._fitted_type, np.asarray(self.covariances_))

    def _n_parameters(self) -> int:
        """Free parameters of the mixture."""
        k, d = self.means_.shape
        family, fixed = self._family, set(getattr(self, "_fixed", self.fixed))
        free = 0 if "weights" in fixed else k - 1
        free += 0 if "means" in fixed else k * d
        given = "covariances" in fixed or not family.estimated
        return free if given else free + family.n_covariance_parameters(k, d)

    def _checked(self, X: Any, *, reset: bool = False) -> Floats:
        """Check rows, once per question: the array that comes out has no names of columns."""
        if not reset:
            check_is_fitted(self)
        checked: Floats = check_rows(
            self, X, reset=reset, accept_sparse=False, masked_is_missing=self._marginal
        )
        return checked

    def _team(self, X: Floats) -> _native.Team:
        return team_for(self.n_jobs, X.size * self.n_components)

    def _densities(self) -> tuple[Standardization, Densities]:
        """The mixture as the kernels read it, in the standardized units of the fit.

        Factors keep a spread near the floor to all digits, covariances only to a few. With factors
        the answers for the rows of the fit agree with its error.
        """
        family = self._family
        covariances = np.asarray(self.covariances_, dtype=np.float64)
        scaling = getattr(self, "_frame", None) or own_scaling(family, self.means_, covariances)
        mixture = Mixture(self.weights_, self.means_, covariances).standardized(family, scaling)
        if hasattr(self, "precisions_cholesky_"):
            own = np.asarray(self.precisions_cholesky_, dtype=np.float64)
            factors = family.standardized_factors(own, scaling)
        else:  # a mixture of a running fit, for a callback of scikit-learn
            factors = family.factors(mixture.covariances)
        return scaling, family.densities(mixture.weights, mixture.means, factors)

    def _ask(self, question: str, X: Floats) -> Any:
        engine, missing = self._rows(X)
        kernels: Any = mixture_missing_steps if missing else mixture_steps
        scaling, densities = self._densities()
        return engine.gather(getattr(kernels, question), scaling, densities)

    def _degrees(self, X: Floats) -> Floats:
        degrees: Floats = self._ask("responsibilities", X)
        if self._overflows(X):
            far, nearest = self._far(X, self._ask("score_samples", X))
            degrees[far] = np.eye(degrees.shape[1])[nearest]
        return degrees

    def _overflows(self, X: Floats) -> bool:
        """Return whether squared distances of some row may be too large for float64."""
        scaling, densities = self._densities()
        steepest = float(np.abs(densities.factors).max())
        with np.errstate(over="ignore"):
            largest = max(
                np.nanmax(np.abs(np.ldexp(X[some], -scaling.exponent)), initial=0.0)
                for some in pieces(len(X), X.nbytes / len(X))
            )
            return bool(largest * steepest * X.shape[1] > ROOM)

    def _far(self, X: Floats, scores: Floats) -> tuple[NDArray[np.bool_], NDArray[np.int32]]:
        """Rows whose distances overflow, and the component nearest to each."""
        far = np.isneginf(scores)
        with_gaps = far & np.isnan(X).any(axis=1)
        if with_gaps.any():
            row = int(np.argmax(with_gaps))
            raise ValueError(
                f"row {row} of X has missing cells and holds {np.nanmax(np.abs(X[row])):.3g}, too "
                "far from the mixture for float64 to tell which component is nearest: expected "
                f"values near those of the fit, in {int(with_gaps.sum())} such rows. Drop them."
            )
        return far, nearest_from_afar(X[far], *self._densities())

    def _rows(self, X: Floats) -> tuple[Engine, bool]:
        names = getattr(self, "feature_names_in_", None)
        return look_at_rows(X, marginal=self._marginal, team=self._team(X), names=names)

    def _weights(self, sample_weight: Any, X: Floats) -> Floats | None:
        weights = check_weights(sample_weight, len(X))
        check_total(weights, LARGEST_MIXTURE)
        return weights

    def _log_likelihood(self, X: Floats, sample_weight: Any) -> tuple[float, float]:
        """Return the sum over all rows, and the number of rows, or their weight."""
        weights = self._weights(sample_weight, X)
        scores = self._ask("score_samples", X)
        mass = float(len(X))
        if weights is not None:
            mass = float(weights.sum())
            scores = weights * np.where(weights > 0, scores, 0.0)  # without weight, not there
        total = float(scores.sum())
        if np.isneginf(total):
            warn_of_infinity("log-likelihoods", stacklevel=4)
        return total, mass


def own_scaling(family: Family, means: Floats, covariances: Floats) -> Standardization:
    """A standardization by the means and spread of a mixture that no fit has left."""
    k, d = means.shape
    variances = family.variances(covariances, k, d).max(axis=0)
    exponent = np.frexp(np.sqrt(variances))[1].astype(np.int32)
    if family.isotropic:
        exponent = np.full(d, exponent.max(), dtype=np.int32)
    return Standardization(means.mean(axis=0), exponent)
