"""No object of an instruction-set level holds code that the linker may choose for other levels.

An inline function of a common header, or of the standard library, is a weak symbol wherever the
compiler did not inline it. Of all weak symbols of one name the linker keeps one: if that was
compiled for AVX-512, an older machine crashes in code that seems to have nothing to do with it. So
all that a level's objects define must have the level in its name.

    python native/tests/no_shared_code.py BUILD_DIRECTORY
"""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

# Says where the handler of exceptions is, for each object that may let one through: data.
HARMLESS = "DW.ref.__gxx_personality"

LEVELS = {"baseline", "avx2", "avx512"}


def level_of(build: Path, path: Path) -> str:
    """The level that an object was compiled for, or the name of another target."""
    target = path.relative_to(build / "CMakeFiles").parts[0]
    return target.removeprefix("coterie_").removesuffix(".dir")


def shared(level: str, nm_output: str) -> Iterator[str]:
    """Names that other objects can see and that are not the level's own, of `nm -P` output."""
    own = f"7coterie{len(level)}{level}"
    for line in nm_output.splitlines():
        name, kind = line.split()[:2]
        seen = kind.isupper() or kind in "uvw"
        if seen and own not in name and not name.startswith(HARMLESS):
            yield name


def faults(build: Path, nm: str) -> Iterator[str]:
    """The code that objects share, one line each."""
    levels = sorted(build.glob("CMakeFiles/coterie_*.dir/native/**/*.o"))
    levels = [path for path in levels if level_of(build, path) in LEVELS]
    if not levels:
        yield f"{build}: no objects of any level; was it built?"
    for path in levels:
        level = level_of(build, path)
        defined = [nm, "-P", "--defined-only", str(path)]
        found = subprocess.run(defined, check=True, capture_output=True, text=True).stdout
        for name in shared(level, found):
            yield f"{level}: {path.name} shares {name}"


def main(build: Path) -> int:
    nm = shutil.which("nm")
    if nm is None:
        print("nm was not found, so objects could not be looked at")
        return 0
    found = list(faults(build, nm))
    print("\n".join(found) or f"levels share no code ({build})")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
