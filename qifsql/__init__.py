"""Privacy risk of published microdata, measured exactly.

>>> import qifsql
>>> result = qifsql.attack("crs", "census.parquet", qids=["age", "sex"])  # doctest: +SKIP
>>> result.frame  # doctest: +SKIP

Every command of the command line is a function of the same name here.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from qifsql.commands import NAMES
from qifsql.commands.former_names import WORDS

if TYPE_CHECKING:  # for type checkers; at run time names are imported when they are first used
    from qifsql.adversary.spec import Attack as Attack
    from qifsql.commands.adversaries.adversaries import adversaries as adversaries
    from qifsql.commands.anonymise.anonymise import anonymise as anonymise
    from qifsql.commands.attack.attack import attack as attack
    from qifsql.commands.check.check import check as check
    from qifsql.commands.check.result import Verdict as Verdict
    from qifsql.commands.compare.compare import compare as compare
    from qifsql.commands.compose.compose import compose as compose
    from qifsql.commands.demo.demo import demo as demo
    from qifsql.commands.describe.describe import describe as describe
    from qifsql.commands.dit.dit import dit as dit
    from qifsql.commands.dp.dp import dp as dp
    from qifsql.commands.estimate.estimate import estimate as estimate
    from qifsql.commands.explain.explain import explain as explain
    from qifsql.commands.explain.result import Explanation as Explanation
    from qifsql.commands.former_names import blocks as blocks
    from qifsql.commands.former_names import hyper as hyper
    from qifsql.commands.former_names import receipt as receipt
    from qifsql.commands.former_names import records as records
    from qifsql.commands.former_names import refines as refines
    from qifsql.commands.former_names import treat as treat
    from qifsql.commands.former_names import what_if as what_if
    from qifsql.commands.former_names import wp29 as wp29
    from qifsql.commands.init.init import init as init
    from qifsql.commands.inspect.inspect import inspect as inspect
    from qifsql.commands.levels.levels import levels as levels
    from qifsql.commands.link.link import link as link
    from qifsql.commands.open.open import open as open  # noqa: A004 - the name of the command
    from qifsql.commands.report.report import report as report
    from qifsql.commands.run.result import StudyResult as StudyResult
    from qifsql.commands.run.run import run as run
    from qifsql.commands.shell.shell import shell as shell
    from qifsql.commands.sql.sql import sql as sql
    from qifsql.commands.start.result import Beginning as Beginning
    from qifsql.commands.start.start import start as start
    from qifsql.commands.suda.suda import suda as suda
    from qifsql.commands.sweep.result import Sweep as Sweep
    from qifsql.commands.sweep.sweep import sweep as sweep
    from qifsql.commands.synthetic.synthetic import synthetic as synthetic
    from qifsql.commands.tables.tables import tables as tables
    from qifsql.commands.unhash.unhash import unhash as unhash
    from qifsql.commands.unicity.unicity import unicity as unicity
    from qifsql.commands.verify.verify import verify as verify
    from qifsql.data.collection import Collection as Collection
    from qifsql.data.dataset import Dataset as Dataset
    from qifsql.engine.settings import Settings as Settings
    from qifsql.errors import QifError as QifError
    from qifsql.results.result import Result as Result
    from qifsql.study.spec import Study as Study

__version__ = "0.2.0"

_HOMES = {  # the public names, and the module of each
    "Result": "results.result",
    "Attack": "adversary.spec",
    "Beginning": "commands.start.result",
    "Collection": "data.collection",
    "Dataset": "data.dataset",
    "Explanation": "commands.explain.result",
    "QifError": "errors",
    "Settings": "engine.settings",
    "Study": "study.spec",
    "StudyResult": "commands.run.result",
    "Sweep": "commands.sweep.result",
    "Verdict": "commands.check.result",
} | {name: f"commands.{name}.{name}" for name in NAMES}

__all__ = ["__version__", *_HOMES]  # noqa: PLE0604 - these are names


def __getattr__(name: str) -> object:
    """Import a public name when it is first used: ``import qifsql`` stays fast."""
    home = _HOMES.get(name) or (
        "commands.former_names" if name.replace("_", "-") in WORDS else None
    )
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{home}"), name)
    if name in NAMES:
        from qifsql.data.calls import public
        from qifsql.data.documentation import documented

        value = public(documented(value))
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
