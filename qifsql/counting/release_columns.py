"""Bind a composition: look up its names in the people's file and in every release, once."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from qifsql.adversary import names as naming
from qifsql.adversary.names import QID, Attributes, check_qids
from qifsql.adversary.spec import Attribute
from qifsql.counting.composition import Bound, Composition, Release
from qifsql.counting.spans import Generalised, Raw
from qifsql.data.collection import tag_of
from qifsql.data.dataset import Column, Dataset, Schema, titles_of
from qifsql.data.domains import common_domain, domain
from qifsql.data.expressions import not_an_expression
from qifsql.data.hierarchy import Hierarchy
from qifsql.data.option import bare_name, split_name
from qifsql.data.types import family, nested
from qifsql.engine.catalog import Catalog
from qifsql.engine.protocol import Engine
from qifsql.errors import ColumnError, InputError, did_you_mean, quoted

Tags = dict[tuple[int, str], str]  # number of a release, name -> its name there


def bind(engine: Engine, spec: Composition) -> Bound:
    """Return the composition with all columns looked up and checked.

    Raises ColumnError, ExpressionError or InputError if a name or type does not fit.
    """
    catalogs = [Catalog(engine, dataset) for dataset in spec.releases]
    people = Catalog(engine, spec.people)
    names, tags = tagged_names(spec.qids, len(catalogs), people.schema)
    qids = qids_named(people, names, tags, "the people")
    raws = raw_columns(spec, qids, people.schema)
    secret, secret_tags = _secret_names(spec, len(catalogs))
    tagged_only = {name for _, name in tags} - names_of_all(spec, people.schema)
    named = _NamesInReleases(tags, tagged_only, secret, secret_tags)
    # The key of the people, and then those of the releases; a single one is that of all files.
    keys = spec.keys * (len(catalogs) + 1) if len(spec.keys) == 1 else spec.keys
    titles = titles_of(spec.releases)
    releases = tuple(
        _release(catalog, number, title, raws, named, plain=spec.plain, keys=keys)
        for number, (title, catalog) in enumerate(zip(titles, catalogs, strict=True), 1)
    )
    _check_together(releases, raws, secret)
    truth = None  # the true value of the secret among the people
    if spec.truth is not None:
        named_truth, *_ = naming.attributes([spec.truth], people.schema, "truth")
        (truth,) = typed([named_truth], people, "truth")
        what = f"truth {quoted(truth.name)} of {people.schema.dataset}"
        _check_same(truth, releases[0].secret, what)
    key = people.schema[keys[0]] if keys else None
    for release in releases:
        if key is not None and release.key is not None:
            _check_keys(key, release, people.schema.dataset)
    notes = [*_notes_on_absent_columns(releases, raws), *people.remarks]
    return Bound(
        spec=spec,
        people=_dataset(people),
        qids=qids,
        raws=raws,
        releases=releases,
        secret=secret,
        key=key,
        truth=truth,
        where=people.filter(spec.where),
        notes=(*notes, *notes_on_hierarchies(raws)),
    )


def _notes_on_absent_columns(releases: Sequence[Release], raws: Sequence[Raw]) -> list[str]:
    """Return a note on each release that lacks some of the quasi-identifiers."""
    notes = []
    for release in releases:
        present = {column.raw.number for column, _ in release.cells}
        if lacking := [quoted(raw.name) for raw in raws if raw.number not in present]:
            notes.append(
                f"{release.title} has no {', '.join(lacking)}: people are found in it by the other "
                "columns alone"
            )
    return notes


@dataclass(frozen=True)
class _NamesInReleases:
    """Names of the quasi-identifiers and the secret in each release, by its number from 1.

    ``tags`` and ``secret_tags`` are names in one release (0: in all without one); quasi-identifiers
    in ``tagged_only`` are only in releases for which they have a tag.
    """

    tags: Tags
    tagged_only: Collection[str]
    secret: str
    secret_tags: Tags

    def of_qid(self, name: str, number: int) -> str | None:
        """Return the name or expression of a quasi-identifier in a release; None: it has none."""
        return self.tags.get((number, name), None if name in self.tagged_only else name)

    def of_secret(self, number: int) -> str:
        """Return the name or expression of the secret in a release."""
        in_all = self.secret_tags.get((0, self.secret), self.secret)
        return self.secret_tags.get((number, self.secret), in_all)


def _release(
    catalog: Catalog,
    number: int,
    title: str,
    raws: Sequence[Raw],
    named: _NamesInReleases,
    *,
    plain: Sequence[str],
    keys: Sequence[str],
) -> Release:
    """Return a release with its columns looked up: those of quasi-identifiers, secret and key.

    ``keys`` are the names of the key: of the people, then of release 1, 2, ... (empty: no keys).
    """
    written = {raw: named.of_qid(raw.name, number) for raw in raws}
    cells = cells_of(catalog, number, title, written, tags=named.tags, plain=plain)
    release = Release(
        number=number,
        title=title,
        dataset=_dataset(catalog),
        cells=tuple(cells),
        secret=column_of_release(catalog, named.of_secret(number), named.secret),
        key=catalog.schema[keys[number]] if keys else None,
    )
    _check_release(release)
    return release


def qids_named(catalog: Catalog, names: Sequence[str], tags: Tags, whose: str) -> Attributes:
    """Return the quasi-identifiers of these names, with types; check ``tags`` (``check_tags``)."""
    qids = typed(naming.attributes(names, catalog.schema, QID), catalog, QID)
    if not qids:
        where = catalog.schema.dataset
        raise ColumnError(f"no quasi-identifiers of {where}; name some with --qids")
    check_tags(tags, qids, f"{QID} of {whose}")
    return qids


def check_tags(tags: Tags, attributes: Attributes, what: str) -> None:
    """Refuse tags, names in releases, of columns other than ``attributes`` (``what``)."""
    names = [a.name for a in attributes]
    for _, name in tags:
        if name not in names:
            hint = did_you_mean(name, names)
            raise ColumnError(f"no {what} is called {quoted(name)}{hint}")


def _check_together(releases: Sequence[Release], raws: Sequence[Raw], secret: str) -> None:
    """Refuse a secret of different types in releases, and a raw column that no release has."""
    for release in releases[1:]:
        what = f"secret {quoted(secret)} of {release.title}"
        _check_same(release.secret, releases[0].secret, what)
    in_releases = {column.raw.number for release in releases for column, _ in release.cells}
    for raw in raws:
        if raw.number not in in_releases:
            raise ColumnError(
                f"no release has a column {quoted(raw.name)}; where it has another name there, say "
                f"so, as in 1:{raw.name}=NAME"
            )


def _dataset(catalog: Catalog) -> Dataset:
    """Return the dataset of a catalog, which is no collection."""
    assert isinstance(catalog.dataset, Dataset)  # noqa: S101 - built from one
    return catalog.dataset


def tagged_names(texts: Sequence[str], last: int, schema: Schema) -> tuple[list[str], Tags]:
    """Return the names of the people's quasi-identifiers, and their names in releases (tags).

    See ``split_tags``. A column of the people that is named only with a tag, as ``2:age=AGE``, is a
    quasi-identifier, too.
    """
    untagged, tags = split_tags(texts, last, schema, QID)
    bare_names = {bare_name(n) for n in untagged}  # age of ``age=EXPRESSION``
    tagged = [name for _, name in tags if name not in bare_names and schema.find(name) is not None]
    return [*untagged, *dict.fromkeys(tagged)], tags


def split_tags(
    texts: Sequence[str], last: int, schema: Schema, role: str
) -> tuple[list[str], Tags]:
    """Return the texts without a tag, each once, and the names that the others give in one file.

    ``texts`` name columns of a ``role``, as the user wrote them. The text ``2:age=AGE`` says that
    age is named AGE in file 2; ``2:age``: it is named age there. ``last`` is the number of the last
    file. A text that is a column of ``schema`` has no tag.
    """
    untagged: dict[str, None] = {}  # a set in order
    tags: Tags = {}
    for text in texts:
        tag = None if schema.find(text) else tag_of(text, last)
        if tag is None:
            untagged[text] = None
            continue
        number, pair = tag
        name, written = split_name(pair) or (pair.strip(), pair.strip())
        if (number, name) in tags:
            raise ColumnError(f"{role} {quoted(text)} is given twice; name it once")
        tags[number, name] = written
    return list(untagged), tags


def names_of_all(spec: Composition, schema: Schema) -> set[str]:
    """Return the names of quasi-identifiers without a tag, which mean every release with them."""
    untagged, _ = split_tags(spec.qids, len(spec.releases), schema, QID)
    return {a.name for a in naming.attributes(untagged, schema, QID)} if untagged else set()


def typed(attributes: Sequence[Attribute], catalog: Catalog, role: str) -> tuple[Attribute, ...]:
    """Return the attributes with their types; refuse nested ones, named by ``role`` in errors."""
    whats = [f"{role} {quoted(a.name)}" for a in attributes]
    types = catalog.types([a.expression for a in attributes], whats)
    for what, type_ in zip(whats, types, strict=True):
        if nested(type_):
            raise ColumnError(
                f"{what} of {catalog.schema.dataset} is nested ({family(type_)}); the people's "
                "values must be single ones"
            )
    return tuple(replace(a, type=t) for a, t in zip(attributes, types, strict=True))


def raw_columns(spec: Composition, qids: Sequence[Attribute], schema: Schema) -> tuple[Raw, ...]:
    """Return the quasi-identifiers with their hierarchies."""
    check_qids((*spec.hierarchies, *spec.plain), [q.name for q in qids])
    types = {q.name: q.type for q in qids}
    read = {
        name: Hierarchy.read(path).of_type(types[name], spec.people.decimal)
        for name, path in spec.hierarchies.items()
    }
    file, numbered = schema.dataset, enumerate(qids, 1)
    return tuple(Raw(i, q.name, file, q.type, read.get(q.name)) for i, q in numbered)


def notes_on_hierarchies(raws: Sequence[Raw]) -> list[str]:
    """Return notes on hierarchies of quasi-identifiers whose lines were filled up."""
    return [note for raw in raws if raw.hierarchy for note in raw.hierarchy.remarks]


def _secret_names(spec: Composition, last: int) -> tuple[str, Tags]:
    """Return the name of the secret, and its names in releases.

    These are by number of the release and name of the secret. Number 0 stands for all releases that
    have no name of their own. ``last`` is the number of the last release.
    """
    tags: Tags = {}
    names = []
    for text in spec.secrets:
        tag = tag_of(text, last)
        number, rest = tag or (0, text)  # text without a tag is about all releases
        name, written = split_name(rest) or (rest.strip(), rest.strip())
        if (number, name) in tags:
            raise ColumnError(f"secret {quoted(text)} is given twice; name it once")
        tags[number, name] = written
        names.append(name)
    if not names:
        raise ColumnError("no secret is named; name the column that all releases share (--secret)")
    if len(set(names)) > 1:
        raise InputError("releases are composed for one secret at a time; name one")
    return names[0], tags


def cells_of(
    catalog: Catalog,
    number: int,
    title: str,
    written: Mapping[Raw, str | None],
    *,
    tags: Tags,
    plain: Sequence[str],
) -> list[tuple[Generalised, Attribute]]:
    """Return the quasi-identifiers that a release has, each with its column there.

    The release has a ``number`` and a ``title``. ``written`` is the name or expression of each
    quasi-identifier there (None: it has no such column), ``plain`` are the names of those whose
    cells are plain values.
    A name in ``tags`` must be found; a quasi-identifier without one may lack.
    """
    cells = []
    for raw, text in written.items():
        tagged = (number, raw.name) in tags
        if text is None or (not tagged and catalog.schema.find(text) is None):
            continue
        cell = column_of_release(catalog, text, raw.name)
        dataset = _dataset(catalog)
        released = Generalised(
            raw,
            number,
            title,
            text if tagged else cell.name,
            cell.type,
            plain=raw.name in plain,
            decimal=dataset.decimal,
            order=dataset.date_order,
        )
        cells.append((released, cell))
    return cells


def column_of_release(catalog: Catalog, written: str, name: str) -> Attribute:
    """Return a column of a release, or an expression over its columns; with its type.

    ``written`` is the name or expression there, ``name`` that of the quasi-identifier or secret
    which it stands for. Raises ColumnError if there is no such column.
    """
    schema = catalog.schema
    column = schema.find(written) or schema.find(written.strip())
    try:
        if column is not None:
            (attribute,) = naming.named(column.name, schema, QID)
        elif not_an_expression(written):
            (attribute,) = naming.named(f"{name}={written}", schema, QID)
        else:
            schema[written]  # raises ColumnError: it is no column
    except ColumnError as e:
        raise ColumnError(
            f"{e}; every release needs it, under this name or as in 2:{quoted(name)[1:-1]}=NAME"
        ) from e
    (type_,) = catalog.types([attribute.expression], [f"column {quoted(written)}"])
    return replace(attribute, type=type_)


def _check_release(release: Release) -> None:
    """Refuse a release without quasi-identifiers, or with a nested or known secret."""
    if not release.cells:
        raise ColumnError(
            f"{release.title} has none of the quasi-identifiers, so nobody can be found in it; "
            f"name its columns, as in {release.number}:NAME=COLUMN"
        )
    what = f"secret {quoted(release.secret.name)} of {release.title}"
    if nested(release.secret.type):
        raise ColumnError(f"{what} is nested; it must be a column of single values")
    for column, attribute in release.cells:
        if attribute.expression == release.secret.expression:
            raise ColumnError(
                f"{what} is quasi-identifier {quoted(column.raw.name)}, too; it is not a secret"
            )


def _check_same(attribute: Attribute, reference: Attribute, what: str) -> None:
    """Refuse values (``what``, in errors) that do not compare with those of the first release."""
    if common_domain(domain(attribute.type), domain(reference.type)) is None:
        raise ColumnError(
            f"{what} is {family(attribute.type)}, but that of the first release is "
            f"{family(reference.type)}: values are not converted; write both with one type"
        )


def _check_keys(key: Column, release: Release, people: str) -> None:
    """Refuse a key of a release that does not compare with that of the people."""
    assert release.key is not None  # noqa: S101 - the caller has checked
    if nested(key.type) or common_domain(domain(key.type), domain(release.key.type)) is None:
        raise ColumnError(
            f"key {quoted(release.key.name)} is {family(release.key.type)} in {release.title} but "
            f"{family(key.type)} in {people}: values are not converted; write both with one type"
        )
