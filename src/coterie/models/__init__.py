"""Models in files: saved and loaded without pickle, every byte checked."""

from coterie.models.container import ModelError
from coterie.models.model import Model
from coterie.models.save_load import describe, load, save

__all__ = ["Model", "ModelError", "describe", "load", "save"]
