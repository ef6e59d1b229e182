"""Privacy risk of published microdata, measured exactly.

>>> import qifsql
>>> result = qifsql.attack("crs", "census.parquet", qids=["age", "sex"])  # doctest: +SKIP
>>> result.frame  # doctest: +SKIP

Every command of the command line is a function of the same name here.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # for type checkers; at run time names are imported when they are first used
    from qifsql.assess import attack
    from qifsql.assessment import Assessment
    from qifsql.dataset import Dataset
    from qifsql.demonstration import demo
    from qifsql.description import Description, describe
    from qifsql.engine.settings import Settings
    from qifsql.errors import QifError
    from qifsql.explanation import Explanation, explain
    from qifsql.inspection import sql
    from qifsql.objects import Hyper, hyper
    from qifsql.partition import Blocks, blocks, records
    from qifsql.prompt import shell
    from qifsql.receipts import Receipt, receipt
    from qifsql.refinement import Refinement, refines
    from qifsql.spec import Attack
    from qifsql.sweep.result import Sweep
    from qifsql.sweep.run import sweep

__version__ = "0.1.0"

__all__ = [
    "Assessment",
    "Attack",
    "Blocks",
    "Dataset",
    "Description",
    "Explanation",
    "Hyper",
    "QifError",
    "Receipt",
    "Refinement",
    "Settings",
    "Sweep",
    "__version__",
    "attack",
    "blocks",
    "demo",
    "describe",
    "explain",
    "hyper",
    "receipt",
    "records",
    "refines",
    "shell",
    "sql",
    "sweep",
]

_HOME = {
    "Assessment": "assessment",
    "Attack": "spec",
    "Blocks": "partition",
    "Dataset": "dataset",
    "Description": "description",
    "Explanation": "explanation",
    "Hyper": "objects",
    "QifError": "errors",
    "Receipt": "receipts",
    "Refinement": "refinement",
    "Settings": "engine.settings",
    "Sweep": "sweep.result",
    "attack": "assess",
    "blocks": "partition",
    "demo": "demonstration",
    "describe": "description",
    "explain": "explanation",
    "hyper": "objects",
    "receipt": "receipts",
    "records": "partition",
    "refines": "refinement",
    "shell": "prompt",
    "sql": "inspection",
    "sweep": "sweep.run",
}


import_module("qifsql.sweep")  # binds the name to the package, once
del sweep


def __getattr__(name: str) -> object:
    """Import a public name when it is first used: ``import qifsql`` stays fast."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
