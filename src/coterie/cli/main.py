"""coterie: the entry point of the command line, and its answers to errors.

Data go to stdout and everything else to stderr. The exit code is 0, 1 for a failure, 2 for wrong
usage, 130 after Ctrl-C, 141 if the reader of a pipe has left, and 143 after SIGTERM.
"""

from __future__ import annotations

import atexit
import io
import os
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NoReturn

from coterie.cli.screen import put

FAILURE, WRONG_USAGE, INTERRUPTED, NOBODY_READS = 1, 2, 130, 141
ENDINGS = ("SIGTERM", "SIGHUP")  # signals that ask a process to end


def process() -> NoReturn:
    """Run the command that the process was started for, and end with it.

    Nothing is taken down object by object, which takes a third of a second after large data: the
    system takes all of it back at once.
    """
    for name in ENDINGS:
        number = getattr(signal, name, None)  # not every system has all
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, _end)
    try:
        code = main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else FAILURE
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # full, or closed
            stream.flush()
    os._exit(code)


def _end(number: int, frame: Any) -> NoReturn:
    """Exit by an exception, which removes temporary files, with the code of shells."""
    raise SystemExit(128 + number)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    try:
        return _run(sys.argv[1:] if arguments is None else arguments)
    except KeyboardInterrupt as interrupt:
        during = f" while {interrupt.args[0]}; nothing was written" if interrupt.args else ""
        return _complain(f"interrupted{during}", INTERRUPTED)


def _run(given: Sequence[str]) -> int:
    began = time.perf_counter()
    for name in ("stdout", "stderr"):  # closed by the shell: output there is not wanted
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w"))
    try:
        import click
    except ImportError:
        needs = "the command line needs click and rich, which are not installed"
        return _complain(f'{needs}; run: pip install "coterie[cli]"', FAILURE)
    from coterie.cli.app import coterie
    from coterie.cli.option_names import as_options

    try:
        with coterie.make_context("coterie", list(given), obj=began) as context:
            coterie.invoke(context)
        sys.stdout.flush()
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.UsageError as mistake:
        words = _Words()
        mistake.show(words)
        put(words.getvalue().rstrip("\n"), sys.stderr)
        return WRONG_USAGE
    except BrokenPipeError:
        return _leave_quietly()
    except MemoryError as error:
        return _complain(str(error) or "not enough memory; take fewer rows or columns", FAILURE)
    except OSError as error:
        return _complain(_of_the_system(error), FAILURE)
    except (ImportError, ValueError) as error:
        return _complain(as_options(str(error)), FAILURE)
    return 0


class _Words(io.StringIO):
    """The text of click, in full: for a file it would strip parts of escape sequences in names."""

    def isatty(self) -> bool:
        return True


def _complain(message: str, code: int) -> int:
    put(f"coterie: {message}", sys.stderr)
    return code


def _of_the_system(error: OSError) -> str:
    """Return an error of the operating system as "file: error"."""
    if error.strerror is None:
        return str(error)
    fault = error.strerror[:1].lower() + error.strerror[1:]
    return fault if error.filename is None else f"{error.filename}: {fault}"


def _leave_quietly() -> int:
    """Leave without complaint: the reader of our output has left, and buffers may be full."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return NOBODY_READS


if __name__ == "__main__":
    process()
