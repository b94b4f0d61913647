"""Old names of modules that moved, for pickles and joblib files that were written before.

A pickle names the module of each class. Where a module of that name is no longer there, the import
gives the module that took its place. Names of folders that were files (`coterie.estimators.kmeans`)
need no line here: the folder itself exports the classes.
"""

import sys
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType

NEW_NAMES = {
    "coterie.algorithms.covariance": "coterie.algorithms.mixture.covariance",
    "coterie.algorithms.covariance.matrices": "coterie.algorithms.mixture.covariance.matrices",
    "coterie.algorithms.covariance.variances": "coterie.algorithms.mixture.covariance.variances",
    "coterie.algorithms.density": "coterie.algorithms.dbscan.dbscan",
    "coterie.algorithms.reachability": "coterie.algorithms.dbscan.every_eps",
    "coterie.algorithms.results": "coterie.algorithms.kmeans.records",
    "coterie.algorithms.waves": "coterie.algorithms.dbscan.trace",
    "coterie.choosing.comparing": "coterie.choosing.compare",
    "coterie.choosing.diagnoses": "coterie.choosing.diagnose.case",
    "coterie.data.audio": "coterie.data.media.audio",
    "coterie.data.patches": "coterie.data.media.patches",
    "coterie.data.pixels": "coterie.data.media.pixels",
    "coterie.estimators.dbscan_path": "coterie.estimators.dbscan.path",
    "coterie.estimators.gaussian_mixture": "coterie.estimators.mixture.estimator",
    "coterie.kernels.reachability_steps": "coterie.kernels.dbscan_path_steps",
}


class OldModules:
    """A finder and loader of modules: one by its old name is the module itself."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        return ModuleSpec(name, self) if name in NEW_NAMES else None  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        sys.modules[module.__name__] = import_module(NEW_NAMES[module.__name__])


def let_old_names_be_imported() -> None:
    """Add the old names, in front: below the old name of a folder lies no second copy of it."""
    if not any(isinstance(finder, OldModules) for finder in sys.meta_path):
        sys.meta_path.insert(0, OldModules())
