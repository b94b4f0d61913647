"""Models in files: saved and loaded without pickle, every byte checked."""

from coterie.models.container import ModelError
from coterie.models.files import describe, load, save
from coterie.models.model import Model

__all__ = ["Model", "ModelError", "describe", "load", "save"]
