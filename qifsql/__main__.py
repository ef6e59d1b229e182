"""``python -m qifsql`` is ``qifsql``."""

from qifsql.cli import main

if __name__ == "__main__":
    main()
