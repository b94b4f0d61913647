"""The command as a process: pipes, Ctrl-C, a full disk, missing packages, quick help."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("click")

COTERIE = [sys.executable, "-m", "coterie"]


def test_help_needs_no_numbers() -> None:
    script = (
        "import sys\n"
        "from coterie.cli.main import main\n"
        "codes = [main([c, '--help']) if c else main([]) for c in sys.argv[1].split(',')]\n"
        "names = ('numpy', 'scipy', 'sklearn', 'matplotlib', 'rich', 'pyarrow')\n"
        "heavy = set(names) & set(sys.modules)\n"
        "print(codes, sorted(heavy), file=sys.stderr)\n"
    )
    commands = ",kmeans,mixture,dbscan,cluster,predict,choose,compare,plot,info,demo,figures"
    told = subprocess.run(
        [sys.executable, "-c", script, commands], capture_output=True, text=True, check=True
    )
    assert told.stderr.strip() == f"{[0] * 12} []"
    assert told.stdout.startswith("Usage: coterie")
    assert told.stdout.index("coterie cluster flowers.csv") < told.stdout.index("--version")


def test_version() -> None:
    from importlib.metadata import version

    told = subprocess.run([*COTERIE, "--version"], capture_output=True, text=True, check=True)
    assert told.stdout == f"coterie {version('coterie')}\n"


@pytest.mark.parametrize(("name", "code"), [("SIGTERM", 143), ("SIGHUP", 129)])
def test_an_end_from_outside_leaves_no_copy_of_stdin(tmp_path: Path, name: str, code: int) -> None:
    child = subprocess.Popen(
        [*COTERIE, "kmeans", "-", "-k", "2"], stdin=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )  # fmt: skip
    try:
        assert child.stdin is not None
        child.stdin.write(b"a,b\n1,2\n")
        child.stdin.flush()
        for _ in range(3000):  # until the copy is there
            if list(tmp_path.glob("coterie-*/stdin")):
                break
            time.sleep(0.01)
        child.send_signal(getattr(signal, name))
        assert child.wait(30) == code
        assert child.stderr is not None
        assert child.stderr.read() == b""
        assert list(tmp_path.iterdir()) == []
    finally:
        child.kill()
        child.communicate()


def test_a_reader_that_leaves_early_is_no_error() -> None:
    command = " ".join([*COTERIE, "kmeans", "blobs:200000", "-k", "3", "-q"])
    told = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command} | head -1; echo ${{PIPESTATUS[0]}}"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert told.stdout == "row,cluster\n141\n"
    assert told.stderr == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_is_said() -> None:
    with open("/dev/full", "wb") as full:
        told = subprocess.run(
            [*COTERIE, "kmeans", "blobs", "-k", "3", "-q"], stdout=full, stderr=subprocess.PIPE,
            text=True,
        )  # fmt: skip
    assert told.returncode == 1
    assert "no space left on device" in told.stderr
    assert "Traceback" not in told.stderr


def test_ctrl_c_names_the_work_that_it_stopped() -> None:
    process = subprocess.Popen(
        [*COTERIE, "kmeans", "blobs:300000", "-k", "200", "--runs", "500", "-v"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stderr is not None
    process.stderr.readline()  # of the first iteration
    for _ in range(10):  # Python drops a signal that comes while it collects
        process.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            out, err = process.communicate(timeout=10)
            break
    else:
        process.kill()
        pytest.fail("Ctrl-C is not heard")
    assert process.returncode == 130
    assert out == ""
    last = err.splitlines()[-1]
    assert last == "coterie: interrupted while fitting k-means; nothing was written"


@pytest.mark.parametrize(
    ("closed", "code", "out", "err"),
    [
        (">&-", 0, "", ""),
        ("2>&-", 0, "row,cluster\n0,0\n1,0\n", ""),
        ("2>/dev/full", 0, "row,cluster\n0,0\n1,0\n", ""),
        ("<&-", 2, "", "expected data on standard input, which is closed"),
    ],
)
def test_streams_that_are_closed(
    tmp_path: Path, closed: str, code: int, out: str, err: str
) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,2\n3,4\n")
    source = "-" if closed == "<&-" else "t.csv"
    command = " ".join([*COTERIE, "kmeans", source, "-k", "1", closed])
    told = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=tmp_path)
    assert (told.returncode, told.stdout) == (code, out)
    assert err in told.stderr
    assert "Traceback" not in told.stderr


def test_without_click_the_extra_is_named() -> None:
    script = (
        "import sys; sys.modules['click'] = None\n"
        "from coterie.cli.main import main; sys.exit(main(['--help']))"
    )
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert told.returncode == 1
    assert 'pip install "coterie[cli]"' in told.stderr


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    told = subprocess.run(
        [*COTERIE, "kmeans", "-", "-k", "1", "-q"], input=b"a,b\n1,2\n3,4\n", env=environment,
        capture_output=True, check=True,
    )  # fmt: skip
    assert told.stdout == b"row,cluster\n0,0\n1,0\n"
    assert list(tmp_path.iterdir()) == []
