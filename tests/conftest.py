"""Settings of all tests: the places of data, and the effort of hypothesis."""

import hashlib
import os
import re
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import command_lines
import pytest
from answers import Answers
from effort import examples
from hypothesis import HealthCheck, Phase, settings
from places import ROOT, TESTS

from hatch_build import compile_catalogues

os.environ["LC_ALL"] = "C.UTF-8"  # help texts are in the user's language
os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp(prefix="qifsql-tests-")  # for the user's key
os.environ.pop("COLUMNS", None)  # pytest-xdist sets it, and tables are as wide

compile_catalogues(ROOT)  # what gettext reads is built from the catalogues as they are now

# A shell lets what it starts in the background ignore Ctrl-C, which some tests send.
signal.signal(signal.SIGINT, signal.default_int_handler)

SLOW = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]  # every attack opens an engine

settings.register_profile(
    "default", max_examples=examples(50), deadline=None, suppress_health_check=SLOW
)
settings.register_profile("ci", settings.get_profile("default"), derandomize=True)
settings.register_profile(
    "judge",  # of mutants: that a test fails is enough, a smaller example is not wanted
    settings.get_profile("ci"),
    phases=[Phase.explicit, Phase.generate],
)
settings.load_profile(
    os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "default")
)


QUICK = frozenset(  # together less than a minute on two cores; every command is in the first
    TESTS / name
    for name in (
        *("core/test_every_command.py", "core/test_imports.py", "core/test_expressions.py"),
        *("core/test_measures.py", "core/test_policy.py", "core/test_names.py"),
        *("core/test_toml_lines.py", "core/test_golden_sql.py"),
        *("oracles/test_oracle.py", "oracles/test_oracle_measures.py"),
        *("metamorphic/test_metamorphic.py", "lint/test_lint.py"),
    )
)


ORDER = os.environ.get("QIFSQL_ORDER", "")  # the seed of a random order
NEEDED = {
    "browser": "browser",
    "shared": "reference",
    "kinds": "reports",
}  # the marks of tests that use a fixture


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out files that ``make quick`` and ``make marked`` do not run: reading them takes long.

    A test has a mark, or a fixture that gives it one, only if its file has the word.
    """
    asked = config.getoption("markexpr")
    if not collection_path.is_file():
        return None
    if asked == "quick":
        return collection_path not in QUICK or None
    marks = {mark for mark in ("spark", "supply", "notebooks", *NEEDED.values()) if mark in asked}
    if "not " in asked.removesuffix("and not slow") or not marks:
        return None
    words = marks | {fixture for fixture, mark in NEEDED.items() if mark in marks}
    pattern = rf"\b({'|'.join(sorted(words))})\b"
    return re.search(pattern, collection_path.read_text("utf-8")) is None or None


def pytest_report_header() -> str | None:
    """Say the seed of a random order."""
    return f"order of tests: QIFSQL_ORDER={ORDER}" if ORDER else None


def drawn(name: object) -> str:
    """The place of a file or test in the order of this seed, the same for all workers."""
    return hashlib.sha256(f"{ORDER} {name}".encode()).hexdigest()


@pytest.hookimpl(tryfirst=True)  # before tests are chosen by their marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark further cases as slow, what ``make quick`` runs, and what needs something else."""
    cases: Counter[tuple[Path, str]] = Counter()
    for item in items:
        if (few := item.get_closest_marker("cases")) is not None:
            function = item.path, getattr(item, "originalname", item.name)
            cases[function] += 1
            if cases[function] > few.args[0]:
                item.add_marker(pytest.mark.slow(because="further cases of the same property"))
        if item.path in QUICK and item.get_closest_marker("slow") is None:
            item.add_marker("quick")
        fixtures = getattr(item, "fixturenames", ())
        for mark in (mark for fixture, mark in NEEDED.items() if fixture in fixtures):
            item.add_marker(mark)
    if ORDER:  # file by file, so that each builds its fixtures once
        items.sort(key=lambda item: (drawn(item.nodeid.partition("::")[0]), drawn(item.nodeid)))


@pytest.fixture(scope="session", autouse=True)
def steps_stay_as_they_are() -> Iterator[None]:
    """Attacks of one form share the trees of their steps: whoever changes one changes them all."""
    yield
    render = sys.modules.get("qifsql.query.render")
    texts = dict(render._texts) if render is not None else {}
    changed = [step.name for step, text in texts.items() if render.step_text(step) != text]
    assert not changed, f"the trees of these steps were changed: {changed}"


@pytest.fixture(scope="session")
def samples() -> Path:
    """The folder of the tables that come with the package."""
    return ROOT / "data-samples"


@pytest.fixture(scope="session")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Answers:
    """The answers to the command lines of the table, each of which is run once."""
    folder = tmp_path_factory.mktemp("lines")
    command_lines.lay_out(folder)
    return Answers(folder)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of public microdata and reference results, which is not in the repository."""
    given = os.environ.get("QIFSQL_SHARED")
    folder = Path(given) if given else ROOT.parent / "shared"
    if not (folder / "data" / "reference").is_dir():
        pytest.skip(f"no test data in {folder}; set QIFSQL_SHARED to the folder that has data/")
    return folder
