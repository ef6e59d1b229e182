"""Progress of work in stages, each of many statements: what is done now, and how much before it."""

from qifsql.engine.settings import Progress


class Meter:
    """The progress that is shown for an engine's own: that of the whole work, called ``what``."""

    def __init__(self, what: str, show: Progress) -> None:
        self._what = what
        self._draw = show
        self._done, self._stages, self._inside = 0, 1, 0.0
        self._detail = "reading"

    def __call__(self, _what: str, _share: float, _detail: str = "", /) -> None:
        """Show where the work is, whatever the engine says of one statement."""
        self._draw(self._what, (self._done + self._inside) / self._stages, self._detail)

    def show(self) -> None:
        """Show where the work is."""
        self("", 0.0)

    def begin(self, done: int, stages: int, detail: str) -> None:
        """Say that that many of all stages are done, and what comes now."""
        self._done, self._stages, self._inside, self._detail = done, stages, 0.0, detail

    def inside(self, share: float, detail: str) -> None:
        """Say what is done now, and how much of the stage is done before it, 0 to 1."""
        self._inside, self._detail = max(self._inside, share), detail
