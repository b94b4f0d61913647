"""Saves that are killed, full disks, interrupts, pipes: the old file or the new one, not a mix."""

from __future__ import annotations

import errno
import os
import resource
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.model_examples import KINDS, of_kind

from coterie import KMeans, Model, describe, load, save
from coterie import files as atomic
from coterie.data import Scaling, blobs
from coterie.files import write_whole
from coterie.models import container, save_load

X, _ = blobs(40, 3, 2)


def fitted(seed: int = 0) -> Model:
    return Model(KMeans(3, random_state=seed).fit(X), Scaling.of(X), ("a", "b"), {"seed": seed})


def kill(*_: Any, **__: Any) -> Any:
    os.kill(os.getpid(), signal.SIGKILL)


def killed_after(number: int) -> Any:
    """`pack`, in a process that dies after so many parts of the file."""

    def parts(header: Any, arrays: Any) -> Iterator[bytes]:
        for i, part in enumerate(container.pack(header, arrays)):
            yield part
            if i == number:
                kill()

    return parts


STEPS = {
    "before the first byte": (atomic.tempfile, "mkstemp", kill),
    "after the header": (save_load, "pack", killed_after(1)),
    "between two arrays": (save_load, "pack", killed_after(3)),
    "before it is on the disk": (atomic.os, "fsync", kill),
    "before the permissions": (atomic.Path, "chmod", kill),
    "before the new name": (atomic.os, "replace", kill),
    "after the new name": (atomic, "_sync_folder", kill),
}


@pytest.mark.parametrize("step", STEPS)
def test_a_save_killed_at_any_step_leaves_the_old_or_the_new_file(
    tmp_path: Path, step: str
) -> None:
    path = tmp_path / "m"
    save(fitted(0), path)
    newer = fitted(1)
    child = os.fork()
    if child == 0:
        setattr(*STEPS[step])
        save(newer, path)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    assert load(path).provenance["seed"] == (1 if step == "after the new name" else 0)
    save(fitted(2), path)  # and the next save works
    assert load(path).provenance["seed"] == 2


@pytest.mark.parametrize("kind", KINDS)
def test_a_save_killed_after_any_part_leaves_the_old_file(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "m"
    save(of_kind(kind, 0), path)
    newer = of_kind(kind, 1)
    parts = 2 + len(describe(path)["arrays"])
    for number in range(parts):
        child = os.fork()
        if child == 0:
            save_load.pack = killed_after(number)
            save(newer, path)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
        assert load(path).provenance["seed"] == 0


@pytest.mark.parametrize("kind", KINDS)
def test_a_disk_that_is_full_at_any_byte_leaves_the_old_file_and_no_rest(
    tmp_path: Path, kind: str
) -> None:
    path = tmp_path / "m"
    save(of_kind(kind, 0), path)
    size = path.stat().st_size
    newer = of_kind(kind, 1)
    for room in {0, 1, 47, 48, size // 2, size - 1, *range(4096, size, 4096)}:
        child = os.fork()
        if child == 0:
            resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
            try:
                save(newer, path)
            except OSError as error:
                os._exit(error.errno)
            os._exit(0)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert code == errno.EFBIG, room
        assert load(path).provenance["seed"] == 0
        assert [p.name for p in tmp_path.iterdir()] == ["m"]


@pytest.mark.parametrize("kind", KINDS)
def test_saves_killed_at_random_moments(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "m"
    old, new = of_kind(kind, 0), of_kind(kind, 1)
    save(old, path)
    for wait in np.random.default_rng(0).uniform(0.0, 0.03, 8):
        child = os.fork()
        if child == 0:
            while True:
                save(new, path)
                save(old, path)
        time.sleep(wait)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        assert load(path).provenance["seed"] in (0, 1)


@pytest.mark.parametrize("failing", ["write", "fsync", "replace"])
def test_a_full_disk_or_an_interrupt_leaves_the_old_file_and_no_rest(
    tmp_path: Path, failing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "m"
    save(fitted(0), path)

    def full(*_: Any, **__: Any) -> Any:
        raise OSError(errno.ENOSPC, "No space left on device")

    def interrupted(*_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt

    for fail, error in ((full, OSError), (interrupted, KeyboardInterrupt)):
        with monkeypatch.context() as patch:
            if failing == "write":
                patch.setattr("coterie.models.save_load.pack", lambda h, a, f=fail: map(f, [b"1"]))
            else:
                patch.setattr(atomic.os, failing, fail)
            with pytest.raises(error):
                save(fitted(1), path)
        assert [p.name for p in tmp_path.iterdir()] == ["m"]
        assert load(path).provenance["seed"] == 0


def test_permissions_and_links_are_kept(tmp_path: Path) -> None:
    path, link = tmp_path / "m", tmp_path / "link"
    save(fitted(0), path)
    mask = os.umask(0)
    os.umask(mask)
    assert path.stat().st_mode & 0o777 == 0o666 & ~mask
    path.chmod(0o640)
    link.symlink_to(path)
    save(fitted(1), link)
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o640
    assert load(path).provenance["seed"] == 1


def test_pipes_and_devices_are_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(pipe.read_bytes)
        write_whole(pipe, [b"one ", b"two"])
        assert reading.result(timeout=30) == b"one two"
    assert pipe.is_fifo()
