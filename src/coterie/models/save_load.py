"""Save, load and describe models in files."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from coterie.data.scaling import KINDS, Scaling
from coterie.files import write_whole
from coterie.models.container import Damaged, ModelError, damaged, pack, read_arrays, read_header
from coterie.models.fields import Array, Names, Shelf
from coterie.models.model import Model
from coterie.models.schemas import SCHEMAS

FORMAT = 1
ENTRIES = {"format", "estimator", "parameters", "attributes", "scaling", "columns",
           "provenance", "bare", "written_by", "created", "arrays"}  # fmt: skip
SCALE = Array("f8", ("d",))


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Save a fitted estimator, or a `Model`, as one file, without pickle.

    The file is written whole or not at all: an old file of that name stays until the new one is
    on the disk. Values that only the fit needs (``callback``, ``trace_``) are left out.
    """
    wrapped = model if isinstance(model, Model) else Model(model)
    shelf = Shelf()
    header: dict[str, Any] = {
        "format": FORMAT,
        **_stored_estimator(wrapped.estimator, shelf),
        "scaling": _stored_scaling(wrapped.scaling, shelf),
        "columns": [str(name) for name in wrapped.columns],
        "provenance": _stored_provenance(wrapped.provenance, shelf),
        "bare": wrapped is not model,
        "written_by": f"coterie {version('coterie')}",
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    _check_loads(header, shelf, type(wrapped.estimator).__name__)
    write_whole(Path(path), pack(header, shelf.arrays))


def load(path: str | os.PathLike[str]) -> Any:
    """Return the saved object: a fitted estimator, or a `Model`.

    Nothing in the file is imported, evaluated or unpickled. Every value is checked, and a file
    that differs from the saved one by a byte is an error.
    """
    where = Path(path)
    try:
        with where.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            header = _known(read_header(file, size))
            arrays = read_arrays(file, header, size)
        model = _loaded(header, Shelf(arrays))
    except ModelError as error:
        raise ModelError(f"{where}: {error}") from error.__cause__
    return model.estimator if header["bare"] else model


def _loaded(header: dict[str, Any], shelf: Shelf) -> Model:
    """Return the model of a header and its arrays, every value checked."""
    estimator = _loaded_estimator(header, shelf)
    scaling = _loaded_scaling(header["scaling"], shelf)
    columns = _loaded_columns(header["columns"], shelf)
    provenance = _loaded_provenance(header["provenance"], shelf)
    if shelf.arrays:
        damaged(f"nothing needs its array {next(iter(shelf.arrays))!r}")
    if type(header["bare"]) is not bool:
        damaged("it says neither that its estimator is alone, nor that it is not")
    return Model(estimator, scaling, columns, provenance)


def _check_loads(header: dict[str, Any], shelf: Shelf, name: str) -> None:
    """Refuse to write a file that nobody could load: the checks of loading come first."""
    try:
        _loaded(header, Shelf(dict(shelf.arrays)))
    except Damaged as error:
        raise ModelError(
            f"expected a {name} that can be loaded again, but {error.why}; fit "
            "again, with values and weights whose sums stay finite"
        ) from error.__cause__


def describe(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the header of a file: its estimator, parameters and attributes, without arrays."""
    where = Path(path)
    try:
        with where.open("rb") as file:
            header = _known(read_header(file, os.fstat(file.fileno()).st_size))
    except ModelError as error:
        raise ModelError(f"{where}: {error}") from error.__cause__
    return header


def _known(header: dict[str, Any]) -> dict[str, Any]:
    """Return a header of this format with an estimator of this version."""
    found = header.get("format")
    if found != FORMAT:
        raise ModelError(
            f"expected format {FORMAT}, got {found!r}, written by {header.get('written_by')!r}; "
            "a newer Coterie may read it: pip install --upgrade coterie"
        )
    if set(header) != ENTRIES:
        damaged(f"its header should have the entries {', '.join(sorted(ENTRIES))}")
    if header["estimator"] not in SCHEMAS:
        raise ModelError(
            f"expected one of {', '.join(SCHEMAS)}, got a model of {str(header['estimator'])!r}, "
            f"written by {header['written_by']!r}; a newer Coterie may read it: "
            "pip install --upgrade coterie"
        )
    return header


def _stored_estimator(estimator: Any, shelf: Shelf) -> dict[str, Any]:
    schema = next((s for s in SCHEMAS.values() if type(estimator) is s.estimator), None)
    if schema is None:
        raise ModelError(
            f"expected a fitted estimator of coterie or a Model, got {type(estimator).__name__}; "
            "for pipelines and other estimators use skops or pickle"
        )
    try:
        check_is_fitted(estimator)
    except NotFittedError as error:
        raise ModelError(
            f"expected a fitted {type(estimator).__name__}, got one that was not fitted; "
            "call fit first"
        ) from error
    fault = schema.inconsistency(estimator)  # before `store` asks for values that may be absent
    if fault:
        raise ModelError(
            f"expected a {type(estimator).__name__} as its fit left it, but {fault}; fit again"
        )
    absent = schema.left_out(estimator)
    attributes = {
        name: kind.store(getattr(estimator, name), name, shelf)
        for name, kind in schema.attributes.items()
        if name not in absent and (name not in schema.optional or hasattr(estimator, name))
    }
    parameters = schema.store_parameters(estimator, "parameters", shelf)
    return {"estimator": schema.name, "parameters": parameters, "attributes": attributes}


def _loaded_estimator(header: dict[str, Any], shelf: Shelf) -> Any:
    schema = SCHEMAS[header["estimator"]]
    estimator = schema.load_parameters(header["parameters"], "parameters", shelf)
    stored = header["attributes"]
    needed = set(schema.attributes) - schema.optional
    if not isinstance(stored, dict) or not needed <= set(stored) <= set(schema.attributes):
        damaged(f"its attributes are not those of {schema.name}")
    for name, kind in schema.attributes.items():
        if name in stored:
            setattr(estimator, name, kind.load(stored[name], name, shelf))
    if shelf.sizes.setdefault("d", estimator.n_features_in_) != estimator.n_features_in_:
        damaged("the number of columns does not fit the rest")
    fault = schema.inconsistency(estimator)
    if fault:
        damaged(fault)
    return estimator


def _stored_scaling(scaling: Scaling | None, shelf: Shelf) -> Any:
    if scaling is None:
        return None
    return {
        "kind": scaling.kind,
        "centre": SCALE.store(scaling.centre, "scaling/centre", shelf),
        "spread": SCALE.store(scaling.spread, "scaling/spread", shelf),
    }


def _loaded_scaling(stored: Any, shelf: Shelf) -> Scaling | None:
    if stored is None:
        return None
    if not isinstance(stored, dict) or set(stored) != {"kind", "centre", "spread"}:
        damaged("its scaling has no kind, centre and spread")
    if stored["kind"] not in KINDS:
        damaged(f"its scaling is of the unknown kind {stored['kind']!r}")
    centre = SCALE.load(stored["centre"], "scaling/centre", shelf)
    spread = SCALE.load(stored["spread"], "scaling/spread", shelf)
    if not (spread > 0.0).all():
        damaged("its scaling has a spread of zero or less")
    return Scaling(stored["kind"], centre, spread)


def _loaded_columns(stored: Any, shelf: Shelf) -> tuple[str, ...]:
    if stored == []:
        return ()
    return tuple(Names("d").load(stored, "columns", shelf))


def _stored_provenance(provenance: Mapping[str, Any], shelf: Shelf) -> Any:
    """Return provenance as JSON would give it back; matrices of numbers go among the arrays."""
    plain: dict[str, Any] = {}
    for name, value in provenance.items():
        if isinstance(value, np.ndarray) and value.dtype == np.float64 and value.ndim == 2:
            shelf.arrays[f"provenance/{name}"] = value
            plain[name] = {"array": f"provenance/{name}"}
        else:
            plain[name] = value
    try:
        return json.loads(json.dumps(plain, allow_nan=False, default=_item))
    except (TypeError, ValueError) as error:
        raise ModelError(
            f"expected provenance of numbers, words, lists and mappings, got {error}; "
            "leave the rest out"
        ) from error


def _loaded_provenance(stored: Any, shelf: Shelf) -> dict[str, Any]:
    if not isinstance(stored, dict):
        damaged("its provenance is not an object")
    found = dict(stored)
    for name, value in stored.items():
        place = f"provenance/{name}"
        if place in shelf.arrays and value == {"array": place}:
            found[name] = shelf.arrays.pop(place)
            if not np.isfinite(found[name]).all():
                damaged(f"its {name} are not finite")
    return found


def _item(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"a {type(value).__name__}")
