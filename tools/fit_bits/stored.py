"""The stored list: a line for each answer, and its comparison with another run."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import sklearn
from threadpoolctl import threadpool_info

from fit_bits.fit import EXACT, LIBRARIES

STORED = Path(__file__).with_name("stored.json")
Bits = Mapping[str, str]  # name -> short hash
ABOUT = (
    "Short hashes of what fits found, by tools/bits.py. Those under 'exact' are promised on every "
    "machine. Those under 'libraries' also depend on the libraries and the processor named under "
    "'recorded with' (LAPACK, exponentials and logarithms), and behind @ on the instruction-set "
    "level of the kernels. They are compared only where all of these are the same."
)


@dataclass
class Listing:
    """Short hashes by group and name."""

    exact: dict[str, str] = field(default_factory=dict)
    libraries: dict[str, str] = field(default_factory=dict)
    recorded_with: dict[str, str] = field(default_factory=dict)

    def of(self, group: str) -> dict[str, str]:
        return self.exact if group == EXACT else self.libraries

    @classmethod
    def read(cls, path: Path) -> Listing:
        text = json.loads(path.read_text(encoding="utf-8"))
        return cls(text[EXACT], text[LIBRARIES], text["recorded with"])

    def write(self, path: Path) -> None:
        text: dict[str, Any] = {"about": ABOUT, "recorded with": self.recorded_with}
        for group in (EXACT, LIBRARIES):
            text[group] = dict(sorted(self.of(group).items()))
        path.write_text(json.dumps(text, indent=1) + "\n", encoding="utf-8")


def surroundings() -> dict[str, str]:
    """The libraries and the processor on which the bits of the group 'libraries' depend."""
    blas = sorted(
        " ".join(str(each.get(key)) for key in ("internal_api", "version", "architecture"))
        for each in threadpool_info()
        if each["user_api"] == "blas"
    )
    simd = np.show_config(mode="dicts").get("SIMD Extensions", {})
    return {
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "blas": ", ".join(dict.fromkeys(blas)),
        "simd of numpy": " ".join(simd.get("found", [])),
        "libc": " ".join(platform.libc_ver()),
        "machine": platform.machine(),
    }


@dataclass(frozen=True)
class Difference:
    """Differences between a run and the stored list."""

    changed: list[str]
    added: list[str]
    missing: list[str]
    skipped: list[str]  # stored, of a level that this machine has not

    @classmethod
    def between(cls, stored: Bits, found: Bits, levels: list[str]) -> Difference:
        unseen = sorted(stored.keys() - found.keys())
        skipped = [name for name in unseen if " @" in name and level_of(name) not in levels]
        return cls(
            changed=sorted(n for n in stored.keys() & found.keys() if stored[n] != found[n]),
            added=sorted(found.keys() - stored.keys()),
            missing=sorted(set(unseen) - set(skipped)),
            skipped=skipped,
        )

    def __bool__(self) -> bool:
        return bool(self.changed or self.added or self.missing)

    def lines(self) -> list[str]:
        named = {"changed": self.changed, "added": self.added, "missing": self.missing}
        return [f"{word:<8} {name}" for word, names in named.items() for name in names]


def level_of(name: str) -> str:
    return name.rpartition(" @")[2]
