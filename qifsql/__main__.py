"""The entry point of the command ``qifsql`` and of ``python -m qifsql``."""

import os
import signal
from types import FrameType
from typing import NoReturn


def main() -> NoReturn:
    """Load and run the command line; an interruption while it loads also prints only one line."""
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
