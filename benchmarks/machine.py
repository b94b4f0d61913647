"""The circumstances of a measurement: the machine, the versions, the moment."""

from __future__ import annotations

import os
import platform
import shlex
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

PACKAGES = (
    "coterie",
    "numpy",
    "scipy",
    "scikit-learn",
    "scikit-learn-intelex",
    "daal",
    "faiss-cpu",
    "mlpack",
    "superkmeans",
    "fastkmeanspp",
    "threadpoolctl",
)
FLAGS = ("sse4_2", "avx", "avx2", "fma", "f16c", "avx512f", "avx512dq", "avx512vl", "asimd", "sve")


def describe() -> dict[str, Any]:
    """The machine, as far as it matters to arithmetic and memory."""
    model, flags = _cpu()
    return {
        "cpu": model,
        "flags": [flag for flag in FLAGS if flag in flags],
        "cores": os.cpu_count(),
        "caches": _caches(),
        "memory_gb": _memory_gb(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }


def versions(packages: Sequence[str] = PACKAGES) -> dict[str, str]:
    """Versions of Coterie and of all its peers."""
    found = {}
    for package in packages:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = "not installed"
    return found


def moment() -> dict[str, object]:
    """The time, the commit and the load: stored with every row."""
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "commit": _commit(),
        "command": command(sys.argv[1:]),
        "load": load(),
    }


def load() -> list[float]:
    """System load over 1, 5 and 15 minutes; ours is in it, a busy neighbour too."""
    return [round(value, 2) for value in os.getloadavg()]


def command(arguments: Sequence[str]) -> str:
    """The command to repeat this run; directories are left out, they are private."""
    kept: list[str] = []
    skip_value = False
    for argument in arguments:
        private = argument.startswith(("--cache", "--output"))
        if not private and not skip_value:
            kept.append(argument)
        skip_value = private and "=" not in argument
    return shlex.join(["python", "-m", "benchmarks", *kept])


def _cpu() -> tuple[str, set[str]]:
    """(model name, instruction-set flags); x86 says `flags`, Arm says `Features`."""
    fields: dict[str, str] = {}
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            name, _, value = line.partition(":")
            fields.setdefault(name.strip(), value.strip())
    family = ", ".join(f"{key} {fields[key]}" for key in ("cpu family", "model") if key in fields)
    model = fields.get("model name") or platform.processor() or "unknown"
    flags = fields.get("flags", fields.get("Features", ""))
    return f"{model} ({family})" if family else model, set(flags.split())


def _caches() -> dict[str, str]:
    """Sizes of the first core's data caches, by level."""
    sizes = {}
    for cache in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        level, kind, size = ((cache / f).read_text().strip() for f in ("level", "type", "size"))
        if kind != "Instruction":
            sizes[f"L{level}"] = size
    return sizes


def _memory_gb() -> float:
    return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1)


def _commit() -> str:
    """Short commit of the working tree, with + if it was changed; '' outside git."""
    try:
        result = subprocess.run(
            ["git", "describe", "--always", "--dirty=+", "--exclude=*"],
            cwd=Path(__file__).parent,
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return ""
    return result.stdout.strip()
