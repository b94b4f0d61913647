"""Answers of fitted means: labels, distances, a score, degrees of belonging."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
)
from sklearn.utils.validation import check_is_fitted

from coterie.arrays import Floats
from coterie.estimators.fitting import CallbackSupportMixin
from coterie.estimators.kmeans.distances import Comparison
from coterie.estimators.kmeans.prepared import PreparedRows, look_at, prepare_rows
from coterie.estimators.pieces import picked
from coterie.estimators.threads import team_for
from coterie.estimators.units import Reach, row_exponent, warn_of_infinity
from coterie.estimators.validation import check_rows, check_weights
from coterie.kernels import _native


class MeansModel(
    CallbackSupportMixin,  # type: ignore[misc]  # scikit-learn has no types
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    ClusterMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """An estimator whose ``cluster_centers_`` are compared with rows."""

    n_clusters: int
    init: Any
    metric: str
    n_jobs: int | None
    cluster_centers_: Floats
    labels_: NDArray[np.int32]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def predict(self, X: Any) -> NDArray[np.int32]:
        """The nearest mean of each row, the lowest index among equals.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of shape (n_samples,), int32
        """
        return self._compare(X).nearest()

    def transform(self, X: Any) -> Floats:
        """Distances of each row to all means.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)

        Returns
        -------
        distances : ndarray of shape (n_samples, n_clusters), float64
            Euclidean distances; for ``metric="cosine"`` those of rows and means scaled to length
            one, ``sqrt(2 - 2 cos)``.
        """
        return self._distances(X)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Minus the sum of the squared distances of the rows to their nearest means.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
        y : Ignored
            For scikit-learn's pipelines.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights of the rows.

        Returns
        -------
        score : float
            For the rows and weights of `fit` this is ``-inertia_``.
        """
        check_is_fitted(self)
        X = check_rows(self, X, reset=False)
        weights = check_weights(sample_weight, X.shape[0])
        centres = self._centres
        data = self._prepared(X, weights, centres, at_least=1, directions=self._directions)
        means = np.ascontiguousarray(data.units.rows_in(centres))
        total = data.sum_of_squares(data.assign(means), means)
        if np.isinf(total):
            warn_of_infinity("score", stacklevel=3)
        return -total

    def degrees(self, X: Any = None) -> Floats:
        """The hard clustering as degrees of belonging: one for the own cluster, zero for others.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features) or None, default=None
            None: the rows of the last fit.

        Returns
        -------
        degrees : ndarray of shape (n_samples, n_clusters)
            Each row sums to one.
        """
        check_is_fitted(self)
        labels = self.labels_ if X is None else self.predict(X)
        degrees: Floats = picked(np.eye(len(self.cluster_centers_)), labels)
        return degrees

    # Inside

    @property
    def _directions(self) -> bool:
        """True if the fitted means are directions."""
        return bool(self._fitted_metric == "cosine")

    @property
    def _fitted_metric(self) -> str:
        """The metric of the fit; parameters may have been set since."""
        fitted: str = getattr(self, "_metric", self.metric)
        return fitted

    @property
    def _centres(self) -> Floats:
        return np.ascontiguousarray(self.cluster_centers_, dtype=np.float64)

    def _team(self, X: Any) -> _native.Team:
        per_row = X.nnz // X.shape[0] + 1 if hasattr(X, "nnz") else X.shape[1]
        return team_for(self.n_jobs, X.shape[0] * per_row * self.n_clusters)

    def _prepared(
        self,
        X: Any,
        weights: Floats | None,
        means: Floats | None,
        *,
        at_least: int,
        directions: bool,
    ) -> PreparedRows:
        return prepare_rows(
            X,
            weights,
            directions=directions,
            team=self._team(X),
            names=getattr(self, "feature_names_in_", None),
            at_least=at_least,
            means=means,
            squares_of_values=isinstance(self.init, str) and self.init == "principal",
        )

    def _compare(self, X: Any) -> Comparison:
        check_is_fitted(self)
        X = check_rows(self, X, reset=False)
        names = getattr(self, "feature_names_in_", None)
        team, centres = self._team(X), self._centres
        X, engine, extent = look_at(X, directions=self._directions, team=team, names=names)
        exponent = getattr(self, "_exponent", None)
        if exponent is None:  # means that no fit has left
            exponent = row_exponent(Reach.of_means(centres))
        return Comparison(X, engine, extent, centres, exponent)

    def _distances(self, X: Any) -> Floats:
        distances = self._compare(X).distances()
        if np.isinf(distances).any():
            warn_of_infinity("distances", stacklevel=5)
        return distances
