"""Long calls of NumPy, LAPACK and scikit-learn that hear nothing of Ctrl-C, on a thread of their
own: Python handles signals on the main thread, and only between two of its own steps."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar

LISTENS_EVERY = 0.05  # seconds

Answer = TypeVar("Answer")


def interruptible(work: Callable[..., Answer], *arguments: Any) -> Answer:
    """Return ``work(*arguments)``, which must change nothing that others see.

    Ctrl-C raises here at once; the call goes on to its end unseen, and its answer is dropped.
    """
    if threading.current_thread() is not threading.main_thread():
        return work(*arguments)  # signals go to the main thread
    answers: list[Answer] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            answers.append(work(*arguments))
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run, name="coterie", daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(LISTENS_EVERY)  # on Windows a wait without end hears nothing
    if errors:
        raise errors[0]
    return answers[0]
