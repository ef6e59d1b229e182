"""The commands: a room each, under its name on the command line.

A room holds all that is its own command's: ``<name>.py`` with the function ``<name>``, which is
also ``qifsql.<name>``; ``cli.py``, how it is asked on the command line; ``view.py`` and
``charts.py``, how the answer is shown. The line here is the registration of a command.
"""

NAMES = (
    *("demo", "describe", "treat", "anonymise"),
    *("attack", "sweep", "check", "levels"),
    *("run", "init", "report"),
    *("blocks", "hyper", "records"),
    *("link", "unhash", "unicity", "estimate", "wp29"),
    *("receipt", "refines"),
    *("dp", "dit"),
    *("compose", "compare", "what_if"),
    *("explain", "sql", "shell"),
)
"""All commands in the order of ``qifsql --help``; ``-`` is ``_`` here."""
