"""What is asked for: how releases are made, what learns from them, which people are looked at."""

from collections.abc import Sequence
from dataclasses import dataclass

from qifsql.commands.dit import black_box
from qifsql.counting.constraints import Number, Wishes
from qifsql.errors import ColumnError, InputError, did_you_mean, quoted

MONDRIAN, MDAV, FILES, COMMAND = "mondrian", "mdav", "files", "command"
METHODS = (MONDRIAN, MDAV, FILES, COMMAND)
BAYES = "naive-bayes"
THRESHOLD = 10**-2.5  # that of the paper
RUNS = 50
TIMEOUT = 60.0  # seconds that a command may take, where nothing is said


@dataclass(frozen=True)
class Question:
    """One or more runs; ``runs`` has the limits of each, of built-in methods.

    ``sample``: so many people are looked at, 0 for all. ``thresholds`` are distances, ``hierarchy``
    the file of the secret's. ``release``, ``without``, ``command`` and ``timeout`` (seconds) are
    about releases from elsewhere (``outside``), of which the cells of the quasi-identifiers
    ``as_values`` are values as they stand.
    """

    method: str
    runs: tuple[Wishes | None, ...]
    classifier: str = BAYES
    thresholds: tuple[float, ...] = ()
    sample: int = 0
    seed: int = 0
    hierarchy: str | None = None
    release: str | None = None
    without: str | None = None
    command: str | None = None
    timeout: float = TIMEOUT
    as_values: tuple[str, ...] = ()

    def plain(self) -> dict[str, object]:
        """What is asked as plain data, for manifests and stores."""
        options: dict[str, object] = {
            "method": self.method,
            "runs": [None if wishes is None else wishes.plain() for wishes in self.runs],
            "classifier": self.classifier,
            "thresholds": list(self.thresholds),
        }
        elsewhere = {"release": self.release, "without": self.without, "command": self.command}
        drawn = {"sample": self.sample, "seed": self.seed} if self.sample else {}
        stand = {"plain": list(self.as_values)} if self.as_values else {}
        more = {"hierarchy": self.hierarchy} | elsewhere | stand
        return options | drawn | {name: value for name, value in more.items() if value is not None}


def numbers(values: int | str | Sequence[int | str] | None, what: str) -> list[int]:
    """Whole numbers from 1, as they are listed: ``2,5,10``; none where nothing is given."""
    if values is None:
        return []
    parts = [values] if isinstance(values, int) else values
    parts = parts.split(",") if isinstance(parts, str) else list(parts)
    limits = []
    for part in parts:
        text = str(part).strip()
        if isinstance(part, bool) or not (text.isascii() and text.isdigit()) or int(text) < 1:
            raise InputError(f"{what} is a whole number from 1, or several such as 2,5,10")
        limits.append(int(text))
    return list(dict.fromkeys(limits))


def runs(
    method: str,
    k: list[int],
    l: list[int],  # noqa: E741 - it is called l
    *,
    l_entropy: Number | None,
    l_recursive: str | Sequence[Number] | None,
    t: Number | None,
    t_ordered: Number | None,
) -> tuple[Wishes | None, ...]:
    """The limits of every run: each k with each l; of releases from elsewhere one run without."""
    more = {"l_entropy": l_entropy, "l_recursive": l_recursive, "t": t, "t_ordered": t_ordered}
    if method in (FILES, COMMAND):
        if k or l or any(limit is not None for limit in more.values()):
            raise InputError("k, l and t are limits of mondrian and mdav; leave them out")
        return (None,)
    if not k:
        raise InputError("k is missing; say how many records each class has at least, as in --k 5")
    if len(k) * max(1, len(l)) > RUNS:
        raise InputError(f"at most {RUNS} runs are made together; name fewer values of k and l")
    each: list[int | None] = [*l] or [None]
    return tuple(Wishes.of(one, l=diverse, **more) for one in k for diverse in each)  # type: ignore[arg-type]


def method(name: str | None, *, files: bool, command: bool) -> str:
    """The method of that name; without one what the other options are about.

    Raises InputError where there is none of that name, or they do not go together.
    """
    if name is None:
        name = COMMAND if command else FILES if files else MONDRIAN
    if name not in METHODS:
        raise InputError(f"there is no method {quoted(name)}{did_you_mean(name, METHODS)}")
    if files and name != FILES:
        raise InputError(f"method {name} makes releases itself; leave --release and --without out")
    if command and name != COMMAND:
        raise InputError(f"method {name} needs no command; leave --command out")
    return name


def elsewhere(
    name: str,
    *,
    release: str | None,
    without: str | None,
    command: str | None,
    timeout: float,
    plain: Sequence[str],
) -> None:
    """Refuse releases from elsewhere that cannot be found or made, and words about none."""
    black_box.seconds(timeout)
    if plain and name not in (FILES, COMMAND):
        raise InputError(
            f"method {name} needs no --plain, which is about the cells of releases from elsewhere; "
            "leave it out"
        )
    if name == COMMAND:
        black_box.Command.of(command or "", timeout)
    elif timeout != TIMEOUT:
        raise InputError(f"method {name} has no command to stop; leave --timeout out")
    if name != FILES:
        return
    if release is None or without is None:
        raise InputError(
            "releases from files are two: --release with everybody, and --without for each person, "
            "as in --release all.csv --without 'without/{i}.csv'"
        )
    black_box.pattern(without)


def check_plain(names: Sequence[str], qids: Sequence[str]) -> None:
    """Refuse names of ``--plain`` that are no quasi-identifiers."""
    for name in names:
        if name not in qids:
            raise ColumnError(f"{quoted(name)} is no quasi-identifier{did_you_mean(name, qids)}")


def sampled(n: int) -> int:
    """How many people are looked at, 0 for all; InputError where that is no number."""
    if isinstance(n, bool) or not isinstance(n, int) or n < 0:
        raise InputError("a sample is a number of people, from 1")
    return n


def points(thresholds: float | str | Sequence[float | str] | None) -> tuple[float, ...]:
    """The thresholds, in their order; that of the paper where none is given."""
    if thresholds is None or (not isinstance(thresholds, int | float) and not thresholds):
        return (THRESHOLD,)
    parts = thresholds.split(",") if isinstance(thresholds, str) else thresholds
    parts = [parts] if isinstance(parts, int | float) else parts
    try:
        distances = [float(part) for part in parts]
    except (TypeError, ValueError) as e:
        raise InputError("a threshold is a distance, such as 0.003") from e
    if not all(0 <= x < float("inf") for x in distances):
        raise InputError("a threshold is a distance from 0")
    return tuple(sorted(set(distances)))
