"""``qifsql unhash``."""

from qifsql.commands.unhash.spec import UnhashOptions
from qifsql.options import runtime
from qifsql.options.groups import Data, Limits, Output

EXAMPLES = {
    "Recover four-digit numbers from their MD5 hashes.": (
        "echo number > log.csv && printf 0042 | md5sum | cut -c1-32 >> log.csv && qifsql "
        "unhash log.csv --column number --hash md5 --pattern '[0-9]{4}'"
    ),
    "Try three to five digits, and write what was found.": (
        "qifsql unhash log.csv --column number --hash md5 --pattern '[0-9]{3,5}' -o found.json"
    ),
}


def unhash(data: Data, output: Output, limits: Limits, options: UnhashOptions) -> None:
    """Dictionary attack: hash all candidate identifiers and look them up in a column of hashes."""
    from qifsql.commands.unhash.unhash import unhash as run
    from qifsql.options import show

    mapping = options.get("mapping")
    show.check(output, mapping=mapping)
    dataset = data.dataset()
    with limits.settings() as settings:
        result = run(dataset, **options, where=data.where, settings=settings)
    done = [f"the mapping is written to {mapping}; it names people"] if mapping else []
    runtime.remarks([*result.notes, *done], quiet=limits.quiet)

    title = f"qifsql: hashes of {dataset.name}"
    show.show(show.Shown(result=result, title=title, aside=("patterns",)), output)
