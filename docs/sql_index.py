"""Write ``sql/README.md``, the index of all views, from their comments.

Run it as ``python docs/sql_index.py`` after a change of ``sql/``; the lint compares.
"""

import re

from qifsql.query import shapes
from qifsql.query.templates import OF_ATTACKS, VIEW, folder, load

HEAD = """# The SQL of qifsql

An attack is a `GROUP BY`: each group is a block of people whom the adversary cannot tell apart,
and her best guess in it is the `MAX`. Each file tells one question from top to bottom, in views
under comments that say what a row is. `microdata` is the one view that is made for each dataset: a
row per individual with the columns `qid` and `secret`. In a DuckDB shell define it, then `.read` a
file:

```sql
CREATE VIEW microdata AS
SELECT {'age': age, 'sex': sex} AS qid, illness AS secret FROM 'people.parquet';
.read sql/attack/blocks.sql
FROM blocks;
```

`qid` becomes one column for each quasi-identifier when qifsql sends a view, and `secret` that of
one secret. A view with `{{ }}` or `{% %}` is a template: its shape, in brackets below, says in
whole numbers which columns and tables it has. The manifest of a result has its statements as they
ran. `qifsql shell` opens a prompt in which all of this is done. Tables that no view makes are what
was asked for (`asked`, `listed`, `beliefs`, ...) or are made while a command works.
"""


def index() -> str:
    """Return the text of the index."""
    parts = [HEAD]
    for file in sorted(folder().rglob("*.sql")):
        name = file.relative_to(folder()).with_suffix("").as_posix()
        first, *views = file.read_text("utf-8").split("\n\n")
        doc = " ".join(line.removeprefix("--").strip() for line in first.splitlines())
        if not VIEW.search("\n\n".join(views)):
            lines = [line for line in first.splitlines() if line.startswith("--")]
            words = " ".join(line.removeprefix("--").strip() for line in lines)
            parts.append(f"## {name}.sql\n\n{words} (Statements, no views.)\n")
            continue
        home = name.partition("/")[0]
        rows = ["| view | what a row is | reads |", "|---|---|---|"]
        for text in views:
            view = VIEW.search(text)
            assert view is not None
            name_ = view[1] if home in OF_ATTACKS else f"{home}/{view[1]}"
            forms = shapes.examples(text)
            templates = [load(name_, **shape) for shape in forms]
            tables = {re.sub(r"_\d+$", "_n", t) for form in templates for t in form.tables}
            reads = ", ".join(f"`{table}`" for table in sorted(tables))
            doc_ = templates[0].doc.replace("|", chr(92) + "|")
            title = f"{view[1]}({', '.join(forms[0])})" if forms[0] else view[1]
            rows.append(f"| `{title}` | {doc_} | {reads} |")
        parts.append(f"## {name}.sql\n\n{doc}\n\n" + "\n".join(rows) + "\n")
    return "\n".join(parts)


if __name__ == "__main__":
    (folder() / "README.md").write_text(index(), "utf-8")
