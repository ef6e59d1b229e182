"""``python -m qifsql`` is ``qifsql``."""

from qifsql.cli import entry

if __name__ == "__main__":
    entry()
