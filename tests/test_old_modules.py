"""Old names of modules: each import gives the module that took its place, and no second copy."""

from __future__ import annotations

import importlib
import importlib.util
import sys

import pytest

import coterie
from coterie.old_modules import NEW_NAMES


@pytest.mark.parametrize("old", NEW_NAMES)
def test_an_old_name_is_the_module_in_its_new_place(old: str) -> None:
    assert importlib.import_module(old) is importlib.import_module(NEW_NAMES[old])


@pytest.mark.parametrize("new", sorted(set(NEW_NAMES.values())))
def test_a_module_keeps_its_new_name(new: str) -> None:
    spec = importlib.import_module(new).__spec__
    assert spec is not None
    assert spec.name == new


def test_a_second_import_adds_no_second_finder() -> None:
    before = list(sys.meta_path)
    importlib.reload(coterie)
    assert len(sys.meta_path) == len(before)


def test_other_names_are_still_missing() -> None:
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("coterie.algorithms.nothing")
