"""Run a command line in this process, as the shell would, and look at what it leaves."""

import io
import os
import shutil
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from campaign.draft import Step
from campaign.judging import Run, digest

HUSH_WORDS = ("HUSHABCDEF", "HUSHGHIJKL", "HUSHMNOPQR")


class Place:
    """The folders of a worker: where lines run, and files that are no inputs beside them."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.beside = root / "beside"
        self.here, self.temp, self.home = root / "here", root / "temp", root / "home"
        self.beside.mkdir(parents=True, exist_ok=True)
        words = list(HUSH_WORDS)
        (self.beside / "hush.txt").write_text("\n".join(words))
        (self.beside / "hush.csv").write_text("word,n\n" + "".join(f"{w},1\n" for w in words))
        pq.write_table(pa.table({"word": words, "n": [1, 2, 3]}), self.beside / "hush.parquet")

    @contextmanager
    def fresh(self) -> Iterator[Path]:
        """An empty working folder, empty temporary and home folders, and the state as it was."""
        for folder in (self.here, self.temp, self.home):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
        environment, back = dict(os.environ), Path.cwd()
        os.environ |= {
            "TMPDIR": str(self.temp),
            "HOME": str(self.home),
            "QIFSQL_HUSH": HUSH_WORDS[0],
        }
        tempfile.tempdir = None
        os.chdir(self.here)
        try:
            yield self.here
        finally:
            os.chdir(back)
            os.environ.clear()
            os.environ.update(environment)
            tempfile.tempdir = None
            for folder in (self.here, self.temp, self.home):
                shutil.rmtree(folder, ignore_errors=True)

    def run(self, step: Step, log: Path | None = None) -> Run:
        """Run a line in the working folder."""
        before = self._state()
        quiet = [*self.beside.iterdir()]
        for path in quiet:  # a file is read when its time of access moves
            os.utime(path, ns=(0, path.stat().st_mtime_ns))
        if log is not None:
            os.truncate(log, 0)
        code, out, err = captured(step)
        after = self._state()
        litter = [
            str(p.relative_to(self.root)) for f in (self.temp, self.home) for p in f.rglob("*")
        ]
        return Run(
            step,
            code,
            out,
            err,
            log.read_text(errors="replace") if log is not None else "",
            sorted(after.keys() - before.keys()),
            sorted(n for n in before if n in after and before[n] != after[n]),
            sorted(litter),
            [p.name for p in quiet if p.stat().st_atime_ns],
            _children(),
        )

    def _state(self) -> dict[str, str]:
        return {
            str(p.relative_to(self.here)): digest(p)
            for p in self.here.rglob("*")
            if not p.is_dir() or p.is_symlink()
        }


def _input(text: str) -> io.TextIOWrapper:
    """Standard input as a process has it, with bytes below the text."""
    return io.TextIOWrapper(io.BytesIO(text.encode("utf-8", "surrogatepass")), "utf-8", "replace")


def captured(step: Step) -> tuple[int | str, str, str]:
    """The exit code, or the exception that came through, and both streams."""
    from qifsql.app import main

    streams = sys.argv, sys.stdin, sys.stdout, sys.stderr
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", "backslashreplace") for _ in range(2))
    sys.argv = ["qifsql", *step.argv]
    sys.stdin, sys.stdout, sys.stderr = _input(step.stdin), out, err
    code: int | str
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            warnings.simplefilter("ignore", ResourceWarning)
            code = main()
    except BaseException as e:  # whatever comes through is a finding
        code = f"{type(e).__name__}: {e}"
    finally:
        sys.argv, sys.stdin, sys.stdout, sys.stderr = streams
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
    return code, _text(out), _text(err)


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    assert isinstance(stream.buffer, io.BytesIO)
    return stream.buffer.getvalue().decode("utf-8", "replace")


def _children() -> list[str]:
    """The processes that this one has started and that still run."""
    tasks = Path("/proc/self/task")
    if not tasks.is_dir():
        return []
    found: list[str] = []
    for task in tasks.iterdir():
        try:
            found += (task / "children").read_text().split()
        except OSError:
            time.sleep(0)
    return [pid for pid in found if not _is_ours(pid)]


def _is_ours(pid: str) -> bool:
    """The tracker of resources of ``multiprocessing`` is no child of a command."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return True
    return b"resource_tracker" in words or b"multiprocessing" in words
