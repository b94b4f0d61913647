"""Models in files: saved and loaded without pickle, every byte checked.

`save_load.py` is the front; begin there. `container.py` knows bytes, `fields.py` values,
`schemas.py` holds a table for each estimator, and `consistency.py` refuses values that do not fit
together. The files in `tests/models/golden/` must load for ever.
"""

from coterie.models.container import ModelError
from coterie.models.model import Model
from coterie.models.save_load import describe, load, save

__all__ = ["Model", "ModelError", "describe", "load", "save"]
