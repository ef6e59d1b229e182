"""Imports of qifsql load nothing that they do not need."""

import subprocess
import sys


def test_importing_qifsql_imports_nothing_heavy() -> None:
    code = (
        "import sys, qifsql; "
        "print(*{m.split('.')[0] for m in sys.modules} & "
        "{'duckdb', 'polars', 'pyarrow', 'rich', 'sqlglot', 'typer'})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
