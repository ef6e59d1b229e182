"""Releases from outside: files f(D) and f(D without i), or a command that writes them.

In the path of a release without a person, ``{i}`` stands for the position of their record in the
input, from 1. A command reads the records from the file ``{input}`` and writes the release to
``{output}``. Its messages are shown only with --debug, because they may contain values of people.
"""

import glob
import os
import re
import shlex
import signal
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from os import SEEK_END
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from qifsql.engine.temporary import MARK
from qifsql.errors import INTERRUPTED, InputError, Interrupted, plural

PERSON, INPUT, OUTPUT = "{i}", "{input}", "{output}"
TAIL_BYTES = 2_000  # last bytes of a command's messages that are kept for --debug
MOST_SECONDS = 1_000_000.0  # the largest time limit of a command


def path_of(without: str, record: int) -> Path:
    """Return the file of the release without a record."""
    return Path(without.replace(PERSON, str(record)))


def existing_files(without: str) -> tuple[str, ...]:
    """Return the existing files of a pattern such as ``without/{i}.csv``, with a number for {i}."""
    texts = without.split(PERSON)
    numbered = re.compile("([0-9]+)".join(map(re.escape, texts)))
    files = glob.glob("[0-9]*".join(map(glob.escape, texts)))  # also 1a.csv
    return tuple(sorted(path for path in files if numbered.fullmatch(path)))


def refuse_missing(without: str, records: Iterable[int]) -> None:
    """Refuse missing files of the pattern ``without``; the message names the first of them."""
    files = [path_of(without, record) for record in records]
    missing = [file for file in files if not file.is_file()]
    if missing:
        raise InputError(
            f"{plural(len(missing), 'release')} of {len(files):,} without a person "
            f"{'is' if len(missing) == 1 else 'are'} missing, the first is {missing[0]}; make "
            "them, or look at fewer people with --sample-size"
        )


def parse_timeout(timeout: float) -> float:
    """Return a time limit in seconds; InputError unless it is above 0, or if it is huge."""
    if isinstance(timeout, bool) or not 0 < timeout <= MOST_SECONDS:
        raise InputError("a time limit is a number of seconds above 0")
    return timeout


@dataclass(frozen=True)
class Command:
    """A command line, split into words, and its time limit in seconds."""

    words: tuple[str, ...]
    timeout: float

    @classmethod
    def of(cls, text: str, timeout: float) -> "Command":
        """Parse a command line; InputError if its quotes are open or it lacks a file."""
        try:
            words = tuple(shlex.split(text))
        except ValueError as e:
            raise InputError("the command cannot be read; check its quotes") from e
        if not any(INPUT in word for word in words) or not any(OUTPUT in word for word in words):
            raise InputError(
                f"a command reads {INPUT} and writes {OUTPUT}, as in "
                f"'anonymise.sh {INPUT} {OUTPUT}'; name both"
            )
        return cls(words, parse_timeout(timeout))

    def run(self, source: Path, target: Path, what: str) -> None:
        """Let the command read the records in ``source`` and write their release to ``target``.

        ``what`` names the release in messages, such as ``without record 3``. InputError: the
        command fails, takes too long or writes nothing.
        """
        words = [w.replace(INPUT, str(source)).replace(OUTPUT, str(target)) for w in self.words]
        with TemporaryFile() as messages:
            code = self._run_process(words, messages, what, source.parent)
            messages.seek(max(0, messages.seek(0, SEEK_END) - TAIL_BYTES))
            tail = messages.read().decode("utf-8", "replace")
        if code:
            raise InputError(
                f"the command failed {what} (exit code {code}); run it by hand, or use "
                "--debug to see its output",
                detail=tail,
            )
        if not target.is_file():
            raise InputError(f"the command made no release {what}; it must write one to {OUTPUT}")

    def _run_process(self, words: list[str], messages: IO[bytes], what: str, folder: Path) -> int:
        """Run the command, return its exit code; kill its process group on timeout or Ctrl-C.

        Its environment names the folder of this run: if this is killed, the next run can stop it.
        """
        try:
            running = subprocess.Popen(  # noqa: S603 - the user's own command, without a shell
                words,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=messages,
                env={**os.environ, MARK: str(folder.resolve())},
                start_new_session=True,
            )
        except OSError as e:
            raise InputError(f"the command cannot be started: {e.strerror}; check its path") from e
        try:
            return running.wait(self.timeout)
        except subprocess.TimeoutExpired as e:
            raise InputError(
                f"the command took more than {self.timeout:g} seconds {what}; give it more with "
                "--timeout, or find out why it hangs"
            ) from e
        except KeyboardInterrupt as e:
            raise Interrupted(INTERRUPTED) from e
        finally:
            if running.poll() is None:
                os.killpg(running.pid, signal.SIGKILL)
                running.wait()
