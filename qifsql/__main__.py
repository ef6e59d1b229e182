"""The door: what the command ``qifsql`` and ``python -m qifsql`` run."""

import os
import signal
from types import FrameType
from typing import NoReturn


def main() -> NoReturn:
    """Load the command line and run it; an interruption while it loads is one line, too."""
    patient = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # not in a background
    if patient:
        signal.signal(signal.SIGINT, _leave)
    from qifsql.app import entry

    if patient:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    entry()


def _leave(_signal: int, _frame: FrameType | None) -> NoReturn:
    """End before anything was begun; an exception could stop half-way through a library."""
    try:
        os.write(2, b"error: interrupted; nothing was left behind\n")
    finally:
        os._exit(130)


if __name__ == "__main__":
    main()
