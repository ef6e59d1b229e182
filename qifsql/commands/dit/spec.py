"""Options of ``dit``: the method of release, the classifier, and the people to test."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Required, TypedDict

from qifsql.adversary.options import Where, qids_option
from qifsql.commands.dit import black_box
from qifsql.counting.release_limits import ClassLimits, Number
from qifsql.data.files import path_text
from qifsql.data.option import (
    DETAILS,
    FILE,
    FLAG,
    FLOAT,
    NAMES,
    NUMBER,
    NUMBERS,
    OF_SECRETS,
    RUN,
    STORE,
    TEXT,
    TEXTS,
    WHOLE,
    WRITTEN,
    Option,
    as_names,
    bare_name,
)
from qifsql.errors import InputError, did_you_mean, quoted

MONDRIAN, MDAV, FILES, COMMAND = "mondrian", "mdav", "files", "command"
METHODS = (MONDRIAN, MDAV, FILES, COMMAND)
BAYES = "naive-bayes"
CLASSIFIERS = (
    *(BAYES, "decision-tree", "random-forest", "logistic-regression", "k-nearest", "bernoulli-nb"),
)
DRAWING = ("decision-tree", "random-forest")  # classifiers that draw at random
MOST_DRAWS = 10_000
THRESHOLD = 10**-2.5  # of a distance, as in the paper
MOST_RUNS = 50  # that are made together
TIMEOUT = 60.0  # the default time limit of a command, in seconds
PANEL = "How releases are made"


_option, _detail, _work = (partial(Option, panel=panel) for panel in (PANEL, DETAILS, RUN))


class DitOptions(TypedDict, total=False):
    """Options of ``dit``: roles, method of release, classifier, and output.

    Each k with each l is a run. ``mdav`` with a limit on the secret suppresses classes that break
    it. A command reads CSV if the input is CSV, else Parquet, and runs once for equal records. The
    default method follows from the other options. Cells of releases from outside are those of
    ``qifsql.data.cells``. A classifier of scikit-learn (``qifsql.commands.dit.posteriors``) is
    trained on every release.
    """

    qids: Required[
        Annotated[str | Sequence[str], qids_option("Quasi-identifiers known about everybody.")]
    ]
    secret: Required[
        Annotated[
            str | Sequence[str],
            Option(
                TEXT, "Predicted secret: a column or NAME=EXPRESSION.", flags=("--secret", "-s")
            ),
        ]
    ]
    classifier: Annotated[
        str,
        Option(
            TEXT,
            "Classifier: naive-bayes; with qifsql\\[ml] decision-tree, random-forest, "
            "logistic-regression, k-nearest, bernoulli-nb.",
            usual=BAYES,
        ),
    ]
    hierarchy: Annotated[
        str | Path | Mapping[str, str | Path] | None,
        _detail(
            OF_SECRETS,
            "COLUMN=FILE: hierarchy, lines value;node;...: that of the secret adds a distance "
            "along its edges; mondrian cuts quasi-identifiers along theirs. Repeatable.",
            text='Hierarchies by column, as in {"illness": "tree.csv"}; a file alone is that of '
            "the secret, and adds a distance along its edges. Mondrian cuts quasi-identifiers "
            "along theirs.",
        ),
    ]
    distance: Annotated[
        float | str | Sequence[float | str] | None,
        _detail(
            NUMBERS,
            "Count people with a distance above this (default 10^-2.5). Repeatable.",
            formerly="--threshold",
        ),
    ]
    sample_size: Annotated[
        int,
        _detail(
            WHOLE,
            "Random sample of people, drawn by --seed (0: all).",
            usual=0,
            formerly="--sample",
        ),
    ]
    draws: Annotated[
        int,
        _detail(
            WHOLE,
            "Repeat with so many seeds: delta of Definition 1, the chance of a distance of at "
            "least each --distance (0: no delta).",
            text="Repeat a learner or a command that draws at random so many times, and estimate "
            "delta of Definition 1 for each distance; 0: no delta. Both models of a draw have "
            "their own seed.",
            usual=0,
        ),
    ]
    records: Annotated[
        str | Path | None,
        _work(WRITTEN, "Write one row per record, in input order: .parquet or .csv."),
    ]
    key: Annotated[str | None, _work(TEXT, "Person key, copied to --records.")]
    store: Annotated[
        str | Path | None,
        _work(
            STORE,
            "DuckDB checkpoint file to resume from; contains cell values, readable by you only.",
        ),
    ]
    restart: Annotated[bool, _work(FLAG, "Discard the checkpoint and start over.")]
    method: Annotated[
        str | None,
        _option(
            TEXT,
            "Anonymisation: mondrian (default), mdav, files (--release, --without) or command.",
        ),
    ]
    k: Annotated[
        int | str | Sequence[int | str] | None, _option(TEXTS, "k-anonymity; several runs: 2,5,10.")
    ]
    l: Annotated[  # noqa: E741 - it is called l
        int | str | Sequence[int | str] | None,
        _option(TEXTS, "Distinct l-diversity; each k is run with each l."),
    ]
    l_entropy: Annotated[Number | None, _option(NUMBER, "Entropy l-diversity, as in anonymise.")]
    l_recursive: Annotated[
        str | Sequence[Number] | None, _option(TEXT, "Recursive (c, l)-diversity, written C,L.")
    ]
    t: Annotated[Number | None, _option(NUMBER, "t-closeness, 0 to 1, as in anonymise.")]
    t_ordered: Annotated[Number | None, _option(NUMBER, "t-closeness with the ordered distance.")]
    release: Annotated[
        str | Path | None, _option(FILE, "files: the release with everybody, made elsewhere.")
    ]
    without: Annotated[
        str | Path | None,
        _option(TEXT, "files: releases without record i: without/{i}.csv, {i} from 1."),
    ]
    command: Annotated[
        str | None,
        _option(
            TEXT, "command: anonymiser, 'anonymise.sh {input} {output}' (Parquet, or CSV for CSV)."
        ),
    ]
    timeout: Annotated[
        float, _option(FLOAT, "command: time limit per release in seconds.", usual=TIMEOUT)
    ]
    plain: Annotated[
        str | Sequence[str],
        _option(NAMES, "Quasi-identifiers with plain values, never read as generalised."),
    ]
    where: Where


@dataclass(frozen=True)
class Question:
    """One or more runs and their settings."""

    method: str
    runs: tuple[ClassLimits | None, ...]  # the limits of each; None: releases from outside
    classifier: str
    thresholds: tuple[float, ...]  # distances
    sample: int  # number of people to test, 0 for all
    draws: int  # 0: no delta
    seed: int
    hierarchy: str | None  # the file of the secret's hierarchy
    hierarchies: Mapping[str, str]  # files by quasi-identifier that is cut along its hierarchy
    # Releases from outside: files, or a command with its time limit in seconds.
    release: str | None
    without: str | None
    command: str | None
    timeout: float
    as_values: tuple[str, ...]  # quasi-identifiers whose cells in them are plain values

    @classmethod
    def of(cls, options: DitOptions, seed: int) -> "Question":
        """Return the question that the options state; InputError if they contradict each other."""
        hierarchy, hierarchies = _hierarchy_files(options)
        release, without, hierarchy = (
            None if path is None else path_text(path)
            for path in (options["release"], options["without"], hierarchy)
        )
        classifier = options["classifier"]
        if classifier not in CLASSIFIERS:
            hint = did_you_mean(classifier, CLASSIFIERS)
            raise InputError(f"there is no classifier {quoted(classifier)}{hint}")
        method = _choose_method(options, files=bool(release or without))
        _check_external(method, options)
        if hierarchies and method != MONDRIAN:
            raise InputError(
                f"method {method} does not cut along hierarchies; leave those of quasi-identifiers "
                "out, or use --method mondrian"
            )
        draws = options["draws"]
        if isinstance(draws, bool) or not isinstance(draws, int) or not 0 <= draws <= MOST_DRAWS:
            raise InputError(f"draws is a whole number from 1 to {MOST_DRAWS:,}")
        if draws and options["store"] is not None:
            raise InputError("a store keeps no draws; leave --store or --draws out")
        sample = options["sample_size"]
        if isinstance(sample, bool) or not isinstance(sample, int) or sample < 0:
            raise InputError("a sample size is a number of people, from 1")
        return cls(
            method=method,
            runs=_limits_of_runs(method, options),
            classifier=classifier,
            thresholds=_ascending_thresholds(options["distance"]),
            sample=sample,
            draws=draws,
            seed=seed,
            hierarchy=hierarchy,
            hierarchies=hierarchies,
            release=release,
            without=without,
            command=options["command"],
            timeout=options["timeout"],
            as_values=as_names(options["plain"]),
        )

    @property
    def random(self) -> bool:
        """Return whether the learner or the command may draw at random."""
        return self.classifier in DRAWING or self.method == COMMAND

    @property
    def files(self) -> tuple[str, ...]:
        """Return the files that are read besides the data, without releases for single people."""
        return (*filter(None, (self.hierarchy, self.release)), *self.hierarchies.values())

    def plain(self) -> dict[str, object]:
        """Return the question as plain data, for manifests and stores."""
        options: dict[str, object] = {
            "method": self.method,
            "runs": [None if limits is None else limits.plain() for limits in self.runs],
            "classifier": self.classifier,
            "thresholds": list(self.thresholds),
        }
        sample = {"sample": self.sample} if self.sample else {}
        sample |= {"seed": self.seed} if self.sample or self.classifier in DRAWING else {}
        optional = {
            "hierarchy": self.hierarchy,
            "hierarchies": dict(self.hierarchies) or None,
            "draws": self.draws or None,
            "release": self.release,
            "without": self.without,
            "command": self.command,
            "plain": list(self.as_values) or None,
        }
        named = {name: value for name, value in optional.items() if value is not None}
        return options | sample | named


def _parse_numbers(values: int | str | Sequence[int | str] | None, what: str) -> list[int]:
    """Parse whole numbers from 1, such as ``2,5,10``; return each once, an empty list for None."""
    parts = [values] if isinstance(values, int | str) else values or ()
    listed = ",".join(map(str, parts))
    limits = []
    for text in map(str.strip, listed.split(",") if listed else ()):
        if not (text.isascii() and text.isdigit()) or int(text) < 1:
            raise InputError(f"{what} is a whole number from 1, or several such as 2,5,10")
        limits.append(int(text))
    return list(dict.fromkeys(limits))


def _limits_of_runs(method: str, options: DitOptions) -> tuple[ClassLimits | None, ...]:
    """Return the limits of every run: each k with each l; None for releases from outside."""
    k, l = _parse_numbers(options["k"], "k"), _parse_numbers(options["l"], "l")  # noqa: E741 - it is called l
    values: Mapping[str, Any] = {**options}
    same = {name: values[name] for name in ("l_entropy", "l_recursive", "t", "t_ordered")}
    if method in (FILES, COMMAND):
        if k or l or any(limit is not None for limit in same.values()):
            raise InputError("k, l and t are limits of mondrian and mdav; leave them out")
        return (None,)
    if not k:
        raise InputError("k is missing; give the smallest number of records per class, as in --k 5")
    if len(k) * max(1, len(l)) > MOST_RUNS:
        raise InputError(
            f"at most {MOST_RUNS} runs are made together; name fewer values of k and l"
        )
    diversities = l or (None,)
    return tuple(
        ClassLimits.of(size, l=diversity, **same) for size in k for diversity in diversities
    )


def _choose_method(options: DitOptions, *, files: bool) -> str:
    """Return the named method, or that which other options imply; InputError if they contradict."""
    command, name = options["command"] is not None, options["method"]
    if name is None:
        name = COMMAND if command else FILES if files else MONDRIAN
    if name not in METHODS:
        raise InputError(f"there is no method {quoted(name)}{did_you_mean(name, METHODS)}")
    if files and name != FILES:
        raise InputError(f"method {name} makes releases itself; leave --release and --without out")
    if command and name != COMMAND:
        raise InputError(f"method {name} needs no command; leave --command out")
    return name


def _check_external(method: str, options: DitOptions) -> None:
    """Refuse incomplete options of releases from outside, and such options of other methods."""
    timeout, without = options["timeout"], options["without"]
    black_box.parse_timeout(timeout)
    if options["plain"] and method not in (FILES, COMMAND):
        raise InputError(
            f"method {method} needs no --plain, which is about the cells of releases made by "
            "other tools; leave it out"
        )
    if method == COMMAND:
        black_box.Command.of(options["command"] or "", timeout)
    elif timeout != TIMEOUT:
        raise InputError(f"method {method} has no command to stop; leave --timeout out")
    if method != FILES:
        return
    if options["release"] is None or without is None:
        raise InputError(
            "releases from files are two: --release with everybody, and --without for each person, "
            "as in --release all.csv --without 'without/{i}.csv'"
        )
    person = black_box.PERSON
    if person not in path_text(without):
        raise InputError(
            f"--without names a file for each person: write {person} where the position of their "
            f"record stands, from 1, as in 'without/{person}.csv'"
        )


def _hierarchy_files(options: DitOptions) -> tuple[str | Path | None, dict[str, str]]:
    """Return the files of hierarchies: of the secret, of quasi-identifiers; refuse others."""
    hierarchy = options["hierarchy"]
    if not isinstance(hierarchy, Mapping):
        return hierarchy, {}
    secrets, qids = (
        [bare_name(name) for name in as_names(names)]
        for names in (options["secret"], options["qids"])
    )
    files = {name: path_text(file) for name, file in hierarchy.items()}
    for name in files:
        if name not in (*secrets, *qids):
            raise InputError(
                f"the hierarchy is of {quoted(name)}, which is neither the secret nor a "
                f"quasi-identifier here{did_you_mean(name, [*secrets, *qids])}"
            )
    of_secret = next((files[name] for name in secrets if name in files), None)
    return of_secret, {name: file for name, file in files.items() if name not in secrets}


def _ascending_thresholds(
    thresholds: float | str | Sequence[float | str] | None,
) -> tuple[float, ...]:
    """Return the thresholds in ascending order; by default the threshold of the paper."""
    if thresholds is None or (not isinstance(thresholds, int | float) and not thresholds):
        return (THRESHOLD,)  # also for an empty text or list; 0 is a threshold
    parts = thresholds.split(",") if isinstance(thresholds, str) else thresholds
    parts = [parts] if isinstance(parts, int | float) else parts
    try:
        distances = [float(part) for part in parts]
    except (TypeError, ValueError) as e:
        raise InputError("a distance is a number, such as 0.003") from e
    if not all(0 <= x < float("inf") for x in distances):
        raise InputError("a distance is a number from 0")
    return tuple(sorted(set(distances)))
