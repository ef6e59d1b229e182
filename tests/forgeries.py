"""Forged results: made by somebody who knows the code and the data."""

import json
import random
import re
from collections.abc import Callable
from pathlib import Path


def forged(path: Path, rng: random.Random) -> tuple[Path, str]:
    """Write a manifest and results of other numbers, in one of many ways; return what was done."""
    document = json.loads(path.read_text())
    manifest = json.loads(path.with_name(f"{path.name}.manifest.json").read_text())
    rows = document["results"]
    row = rng.choice(rows)
    name = rng.choice(
        [
            n
            for n, v in row.items()
            if isinstance(v, int | float) and n not in ("seconds", "datasets")
        ]
    )
    row[name] = row[name] + 1 if isinstance(row[name], int) else row[name] / 2 + 0.01
    done = [name]
    sql = manifest["sql"]
    reader = re.search(r"READ_PARQUET\(.*?\)", sql, re.IGNORECASE | re.DOTALL)
    assert reader is not None
    constant = "(VALUES (20, 'f', 'flu', 1)) AS t(age, sex, ill, weight)"
    kinds: dict[str, Callable[[], object]] = {
        "constants": lambda: manifest.update(sql=sql.replace(reader[0], constant)),
        "constants, and the file in a comment": lambda: manifest.update(
            sql=sql.replace(reader[0], constant) + f"-- {reader[0]}"
        ),
        "no SQL": lambda: manifest.update(sql=""),
        "as is": lambda: None,
    }
    spec = manifest["spec"]
    requests: dict[str, Callable[[], object]] = {
        "weight": lambda: spec.update(weight="zzz"),
        "key": lambda: spec.update(key="nokey"),
        "where": lambda: spec.update(where="age = 'x"),
        "a further model": lambda: spec.update(models=[*spec["models"], "ims"]),
        "another model": lambda: spec.update(models=[*spec["models"], "ias"]),
        "target": lambda: spec.update(target={"age": "20"}),
        "learn": lambda: spec.update(learn="other.csv"),
        "link": lambda: spec.update(link=["age"]),
        "prior": lambda: spec.update(prior="other.csv"),
        "knows": lambda: spec.update(knows=["age:+-1"]),
        "gains": lambda: spec.update(gains=["worth:other.csv"]),
        "collection": lambda: spec.update(collection={"datasets": ["a", "b"], "keys": ["k"]}),
        "qids": lambda: spec.update(qids=spec["qids"][:1]),
        "null": lambda: spec.update(null="drop"),
        "spark": lambda: manifest.update(engine="spark"),
        "as asked": lambda: None,
    }
    for choices in (kinds, requests):
        kind = rng.choice(sorted(choices))
        choices[kind]()
        done.append(kind)
    out = path.with_name("forged.json")
    out.write_text(json.dumps(document))
    out.with_name("forged.json.manifest.json").write_text(json.dumps(manifest))
    return out, ", ".join(done)
