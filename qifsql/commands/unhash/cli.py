"""``qifsql unhash``."""

from qifsql.commands.unhash.spec import UnhashOptions
from qifsql.engine.settings import Settings
from qifsql.options.runner import Answer
from qifsql.options.shared_options import Data, Output

EXAMPLES = {
    "Recover four-digit numbers from their MD5 hashes.": (
        "echo number > log.csv && printf 0042 | md5sum | cut -c1-32 >> log.csv && qifsql "
        "unhash log.csv --column number --hash md5 --pattern '[0-9]{4}'"
    ),
    "Try three to five digits, and write what was found.": (
        "qifsql unhash log.csv --column number --hash md5 --pattern '[0-9]{3,5}' -o found.json"
    ),
}


def unhash(data: Data, output: Output, settings: Settings, options: UnhashOptions) -> Answer:
    """Dictionary attack: hash all candidate identifiers and look them up in a column of hashes."""
    from qifsql.commands.unhash.unhash import unhash as run

    dataset, mapping = data.dataset(), options.get("mapping")
    result = run(dataset, **options, settings=settings)
    notes = [f"the mapping is written to {mapping}; it names people"] if mapping else []
    return Answer(result, f"hashes of {dataset.name}", notes=notes, aside=("patterns",))
