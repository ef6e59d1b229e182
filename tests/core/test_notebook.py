"""Progress in the kernel of a notebook, without a kernel: its display is a stand-in."""

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from places import SAMPLES

import qifsql
from qifsql.engine import progress
from qifsql.engine.progress import logged


@pytest.fixture
def cell(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the texts below a cell, as they are shown one after another."""
    shown: list[str] = []

    def display(words: dict[str, str], **options: Any) -> SimpleNamespace:
        assert options == {"raw": True, "display_id": True}
        shown.append(words["text/plain"])
        return SimpleNamespace(update=lambda words, raw: shown.append(words["text/plain"]))

    shell = ModuleType("IPython.display")
    shell.display = display  # type: ignore[attr-defined]
    package = ModuleType("IPython")
    package.get_ipython = lambda: SimpleNamespace(kernel=object())  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", package)
    monkeypatch.setitem(sys.modules, "IPython.display", shell)
    return shown


def test_outside_a_notebook_nothing_is_shown() -> None:
    assert qifsql.Settings().progress is logged


@pytest.mark.parametrize("shell", [None, SimpleNamespace()], ids=["no shell", "a terminal"])
def test_an_imported_kernel_is_no_notebook(shell: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    package = ModuleType("IPython")
    package.get_ipython = lambda: shell  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", package)
    monkeypatch.setitem(sys.modules, "ipykernel", ModuleType("ipykernel"))
    assert not progress.is_notebook()
    assert qifsql.Settings().progress is logged


def test_a_notebook_shows_one_line_after_two_seconds(cell: list[str]) -> None:
    seconds = iter([0.0, 1.9, 2.5, 2.6, 3.0, 3.01])
    show = progress.line(clock=lambda: next(seconds))
    for share in (0.1, 0.3, 0.4, 0.5):
        show("sweeping", share, "3 of 9")
    show("sweeping", 1.0)
    assert cell == ["sweeping: 30% 3 of 9", "sweeping: 50% 3 of 9", "sweeping: 100%"]


def test_settings_take_it_by_themselves(cell: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "SHOWN_AFTER", -1.0)
    qifsql.sweep(SAMPLES / "thesis_table_3_2.csv", qids="age,gender", secret="illness")
    assert cell[-1].startswith("sweeping")
