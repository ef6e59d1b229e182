"""Binding of a comparison: names are looked up once in the original and in every release.

Files are numbered in the order given: the original is 1, the first sanitised release 2.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from qifsql.adversary import names as naming
from qifsql.adversary import roles
from qifsql.adversary.bind import people_of_several_records
from qifsql.adversary.models import model
from qifsql.adversary.names import SECRET
from qifsql.adversary.notes import of_records
from qifsql.adversary.spec import Attribute, BoundAttack, Microdata
from qifsql.counting import release_columns
from qifsql.counting.composition import NOTHING, Compared, Composition
from qifsql.counting.spans import Generalised, Raw
from qifsql.data.dataset import Dataset, titles_of
from qifsql.data.domains import common_domain, domain
from qifsql.data.expressions import parse
from qifsql.data.option import split_name
from qifsql.data.readers import select_records
from qifsql.data.types import family
from qifsql.engine.catalog import Catalog
from qifsql.engine.protocol import Engine
from qifsql.engine.tables import Tables
from qifsql.errors import ColumnError, InputError, no_records, quoted


def bind(
    engine: Engine,
    spec: Composition,
    person: str | None = None,
    key: str | None = None,
    *,
    secrets_of_all: bool = True,
) -> tuple[tuple[Raw, ...], list[Compared]]:
    """Return the quasi-identifiers of the original, and all files, the original first.

    A file has its quasi-identifiers, how their cells are read, and the attack on it. ``person`` is
    the column of each file that says whose record it is, ``key`` one that names each record.
    Without ``secrets_of_all`` the original need not have the secrets, and may be of other people:
    then releases, too, get a note if they have people with several records. Raises ColumnError,
    ExpressionError or InputError if a name, a tag or a type does not fit.
    """
    if person is not None and key is not None:
        raise InputError("person says whose record it is; leave key out")
    catalogs = [Catalog(engine, d) for d in spec.releases]
    original = catalogs[0]
    # A tag is the name of a quasi-identifier in one file: {(2, "age"): "AGE"} for 2:age=AGE.
    names, tags = release_columns.tagged_names(spec.qids, len(catalogs), original.schema)
    qids = release_columns.qids_named(original, names, tags, "the original")
    _refuse_tags_of_original(tags)
    raws = release_columns.raw_columns(spec, qids, original.schema)
    if secrets_of_all:
        secrets = _secrets(spec.secrets, catalogs)
    else:
        secrets = [(), *_secrets(spec.secrets, catalogs[1:])]
    untagged = release_columns.names_of_all(spec, original.schema)
    titled = zip(catalogs, titles_of(spec.releases), secrets, strict=True)
    files = []
    for number, (catalog, title, file_secrets) in enumerate(titled, 1):
        if number == 1:  # the original has values, not generalised cells
            pairs = zip(raws, qids, strict=True)
            cells = [(Generalised(r, 1, title, r.name, r.type, plain=True), q) for r, q in pairs]
        else:
            # The name of each quasi-identifier in the release; None: it has no such column, as
            # the user named the column only with tags, and none of them is of this release.
            usual = {raw: raw.name if raw.name in untagged else None for raw in raws}
            names_here = {raw: tags.get((number, raw.name), name) for raw, name in usual.items()}
            cells = release_columns.cells_of(
                catalog, number, title, names_here, tags=tags, plain=spec.plain
            )
        owners = {
            role: [] if text is None else [_owner_in_file(text, role, original, catalog)]
            for role, text in ((roles.PERSON, person), (roles.KEY, key))
        }
        qids_here = [attribute for _, attribute in cells]
        attack = _bind_attack(catalog, qids_here, file_secrets, spec.where, owners)
        if person is None and (number == 1 or not secrets_of_all):
            # Each record is taken for a person of its own; note columns that say otherwise.
            repeated = people_of_several_records(catalog, attack.microdata.where)
            notes = tuple(of_records(column, here=True) for column in repeated)
            attack = attack.on(replace(attack.microdata, repeated=repeated, notes=notes))
        files.append(Compared(number, title, tuple(cells), attack, *owners[roles.KEY]))
    _refuse_foreign_releases(files[1:], raws)
    _check_owners(files)
    return raws, files


def _refuse_tags_of_original(tags: Mapping[tuple[int, str], str]) -> None:
    """Refuse tags of file 1 that give a column another name than the original has."""
    for (number, name), written in tags.items():
        if number == 1 and written != name:
            raise InputError(
                f"file 1 is the original, whose {quoted(name)} needs no tag; name the column as it "
                "is there, and tag the others"
            )


def _refuse_foreign_releases(releases: Sequence[Compared], raws: Sequence[Raw]) -> None:
    """Refuse releases if none of them has any quasi-identifier."""
    if releases and not any(release.cells for release in releases):
        listed = ", ".join(quoted(raw.name) for raw in raws)
        raise ColumnError(
            f"no release has any of the quasi-identifiers {listed}; where they have other names, "
            "say so, as in 2:NAME=COLUMN"
        )


def _bind_attack(
    catalog: Catalog,
    qids: Sequence[Attribute],
    secrets: Sequence[Attribute],
    where: str | None,
    owners: Mapping[str, Sequence[Attribute]],
) -> BoundAttack:
    """Return the attack on a file: re-identification, and inference of ``secrets``, if any.

    ``owners`` are the columns that say whose record it is, at most one of each role.
    """
    title = catalog.schema.dataset
    for secret in secrets:
        if any(secret.expression == q.expression for q in qids):
            raise ColumnError(
                f"secret {quoted(secret.name)} is among the quasi-identifiers of {title}; what the "
                "adversary knows is not a secret: take it out of one of them"
            )
    condition = None
    if where is not None:
        condition = parse(where, catalog.schema, f"the filter (where) of {title}")
        catalog.condition(condition)
    assert isinstance(catalog.dataset, Dataset)  # noqa: S101 - a file was opened, not a collection
    used = {roles.QID: qids, roles.SECRET: secrets, **owners}
    microdata = Microdata(
        catalog.dataset,
        tuple(qids) or (NOTHING,),  # without any column everybody is in one block
        tuple(secrets),
        where=condition,
        zoned=any("TIME ZONE" in c.type for c in catalog.schema.columns),
        releases=(title,),
        columns=roles.columns(catalog.schema, used, where=condition),
        person=next(iter(owners[roles.PERSON]), None),
    )
    return BoundAttack((model("crs"), *([model("cas")] if secrets else [])), microdata)


def check_records(tables: Tables, files: Sequence[Compared]) -> None:
    """Refuse files without records."""
    for file in files:
        microdata = file.attack.microdata
        if not tables.rows(
            select_records(microdata.dataset, [exp.true()], microdata.where).limit(1)
        ):
            filtered = microdata.where is not None
            raise no_records(file.title, "nobody to attack", filtered=filtered)


def _owner_in_file(text: str, role: str, original: Catalog, catalog: Catalog) -> Attribute:
    """Return the column or expression ``text`` of one file that says whose record it is."""
    owners = naming.attributes([text], original.schema, role)
    if len(owners) > 1:
        raise ColumnError(f"{role} is one column or expression; name one")
    try:
        owner = _attribute_in_file(text, owners[0].name, catalog)
    except ColumnError as e:
        raise ColumnError(
            f"{e}; with {role} each file says whose record it is: write the release with this "
            f"column, or leave {role} out"
        ) from e
    return release_columns.typed([owner], catalog, role)[0]


def _check_owners(files: Sequence[Compared]) -> None:
    """Refuse people or keys whose types cannot be compared with those of the original."""
    first = files[0].owner
    for file in files[1:]:
        if first is None or file.owner is None:
            continue
        if common_domain(domain(first.type), domain(file.owner.type)) is None:
            raise ColumnError(
                f"{quoted(file.owner.name)} is {family(file.owner.type)} in {file.title} but "
                f"{family(first.type)} in {files[0].title}: values are not converted; write both "
                "with one type"
            )


def _secrets(texts: Sequence[str], catalogs: Sequence[Catalog]) -> list[tuple[Attribute, ...]]:
    """Return the secrets of each file, in the same order, under their names in the original.

    ``2:disease=CONDITION`` gives the name of a secret in file 2, if it is another one. Files are
    numbered from 1, the original.
    """
    schema = catalogs[0].schema
    untagged, tags = release_columns.split_tags(texts, len(catalogs), schema, SECRET)
    secrets = naming.attributes(untagged, schema, SECRET)
    release_columns.check_tags(tags, secrets, f"{SECRET} of the original")
    # The text that names each secret, which may be an expression.
    text_of = {a.name: text for text in untagged for a in naming.named(text, schema, SECRET)}
    attributes_by_file = []
    for number, catalog in enumerate(catalogs, 1):
        attributes = []
        for secret in secrets:
            if (number, secret.name) in tags and number > 1:
                attribute = release_columns.column_of_release(
                    catalog, tags[number, secret.name], secret.name
                )
            else:
                attribute = _attribute_in_file(text_of[secret.name], secret.name, catalog)
            attributes.append(replace(attribute, name=secret.name))
        attributes_by_file.append(release_columns.typed(attributes, catalog, SECRET))
    return attributes_by_file


def _attribute_in_file(text: str, name: str, catalog: Catalog) -> Attribute:
    """Return the attribute ``name`` of one file.

    ``text`` is how the user named it: a column, a pattern, or an expression (``name=EXPRESSION``).
    A column of this name is taken instead of what a pattern selects.
    """
    if catalog.schema.find(name) is not None:
        text = name if split_name(text) is None else text
    attributes = {a.name: a for a in naming.named(text, catalog.schema, SECRET)}
    return attributes.get(name) or naming.named(name, catalog.schema, SECRET)[0]
