"""JSON of files, which may be damaged or hostile."""

import json
from typing import Any


def parsed(text: str | bytes) -> Any:
    """Return the data of a JSON text; raise ValueError if it is none, or is nested too deeply."""
    try:
        return json.loads(text)
    except RecursionError as e:
        raise ValueError("the JSON is nested too deeply") from e
