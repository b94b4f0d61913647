"""Measurements in a process of their own: a peak of memory can be read only once per process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def run_apart(
    module: str, *arguments: object, timeout: float | None = None
) -> subprocess.CompletedProcess[str]:
    """`python -m module arguments...`, which finds this package from any working directory."""
    root = str(Path(__file__).parents[1])
    path = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.run(
        [sys.executable, "-m", module, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=timeout,
        env={**os.environ, "PYTHONPATH": path},
        check=False,
    )
