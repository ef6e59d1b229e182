"""Every test of a sweep runs with the walk in SQL and with the compiled walk."""

import math
from collections.abc import Iterator

import pytest

from qifsql.commands.sweep import kernel_choice, sweep_run

ONCE = ("test_sweep_cli", "test_sweep_shown", "test_sweep_sql", "test_sweep_choice")
"""Modules about what is shown or sent, not about numbers; they see the walk in SQL."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "walk" in metafunc.fixturenames:
        once = metafunc.module.__name__.rpartition(".")[2] in ONCE
        metafunc.parametrize("walk", ["sql"] if once else ["sql", "compiled"], indirect=True,
                             scope="module")  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def walk(request: pytest.FixtureRequest) -> Iterator[str]:
    """The walk that a sweep chooses: compiled for however few people, or never."""
    if request.param == "compiled" and not kernel_choice.is_installed():
        pytest.skip("numba is not installed")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("LEAST_PEOPLE", "LEAST_WORK"):
            patch.setattr(kernel_choice, name, 0 if request.param == "compiled" else math.inf)
        if request.param == "compiled":
            patch.setattr("qifsql.commands.sweep.kernel_arrays.USES_UNHELD", 0)
        patch.setattr(sweep_run, "ALONE", 0)  # several streams for however few people
        yield request.param
