"""Progress of work in stages, each with many statements."""

from qifsql.engine.progress import Progress


class Meter:
    """Progress of the whole work ``what``, in place of the engine's progress of each statement."""

    def __init__(self, what: str, show: Progress) -> None:
        self._what = what
        self._draw = show
        self._done, self._stages, self._inside = 0, 1, 0.0
        self._detail = "reading"

    def __call__(self, _what: str, _share: float, _detail: str = "", /) -> None:
        """Show the progress of the work; ignore the engine's progress of one statement."""
        self._draw(self._what, (self._done + self._inside) / self._stages, self._detail)

    def show(self) -> None:
        """Show the progress of the work."""
        self("", 0.0)

    def begin(self, done: int, stages: int, detail: str) -> None:
        """Begin a stage: set the number of stages done, of all stages, and the text to show."""
        self._done, self._stages, self._inside, self._detail = done, stages, 0.0, detail

    def inside(self, share: float, detail: str) -> None:
        """Set the share of the stage that is done, 0 to 1, and the text to show."""
        self._inside, self._detail = max(self._inside, share), detail
