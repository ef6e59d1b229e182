"""The entry point of the command ``qifsql`` and of ``python -m qifsql``."""

import os
import signal
import sys
from types import FrameType
from typing import NoReturn


def main() -> NoReturn:
    """Load and run the command line; an interruption while it loads also prints only one line."""
    if sys.flags.optimize > 1:  # help and charts are made of texts in the code
        os.write(
            2, b"error: without docstrings there is no help and no chart; unset PYTHONOPTIMIZE=2\n"
        )
        os._exit(2)
    # A background process ignores SIGINT; that setting stays.
    patient = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if patient:
        signal.signal(signal.SIGINT, _leave)
    from qifsql.app import entry

    if patient:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    entry()


def _leave(_signal: int, _frame: FrameType | None) -> NoReturn:
    """End the process before any work begins; an exception could leave a library half loaded."""
    try:
        os.write(2, b"error: interrupted; nothing was left behind\n")
    finally:
        os._exit(130)


if __name__ == "__main__":
    main()
