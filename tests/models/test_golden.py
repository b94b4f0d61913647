"""Files of earlier releases load in this one, and give the same answers.

Each release adds its files: ``python tests/models/test_golden.py`` writes those of this version.
"""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest

from coterie import KMeans, Model, load, save
from coterie.data import Scaling

GOLDEN = Path(__file__).parent / "golden"
ROWS = np.array([[0.0, 1.0], [0.5, 1.5], [10.0, 300.0], [10.5, 310.0], [20.0, 2.0], [20.5, 1.0]])
LABELS = [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("kmeans-*.coterie")), ids=lambda p: p.stem)
def test_kmeans_of_every_release(path: Path) -> None:
    model = load(path)
    assert model.columns == ("left", "ü")
    assert model.provenance == {"source": "tests"}
    assert model.estimator.labels_.tolist() == LABELS
    assert model.predict(ROWS).tolist() == LABELS
    np.testing.assert_allclose(
        model.scaling.undo(model.estimator.cluster_centers_),
        [[0.25, 1.25], [10.25, 305.0], [20.25, 1.5]],
        rtol=1e-12,
    )
    assert model.estimator.n_iter_ == len(model.estimator.history_)


def test_there_is_a_file_of_this_release() -> None:
    assert (GOLDEN / f"kmeans-{version('coterie')}.coterie").exists()


if __name__ == "__main__":
    scaling = Scaling.of(ROWS)
    scaled = scaling.apply(ROWS)
    estimator = KMeans(3, init=scaled[::2]).fit(scaled)
    model = Model(estimator, scaling, ("left", "ü"), {"source": "tests"})
    save(model, GOLDEN / f"kmeans-{version('coterie')}.coterie")
