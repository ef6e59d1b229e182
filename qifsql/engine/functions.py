"""The functions of an expression, and the functions that are allowed."""

import json
from collections.abc import Mapping
from typing import Any

from sqlglot import exp

from qifsql.engine.protocol import Engine
from qifsql.errors import ExpressionError
from qifsql.query.render import render

_NAMES = """
    != !~~ !~~* % & && * ** + - ->> / // < <-> << <= <=> <@ = > >= >> @ @> ^ ^@ | || ~~ ~~* ~~~ abs
    acos acosh add asin asinh atan atan2 atanh bit_count cbrt ceil ceiling cos cosh cot degrees
    divide even exp factorial fdiv floor fmod gamma gcd greatest greatest_common_divisor isfinite
    isinf isnan lcm least least_common_multiple lgamma ln log log10 log2 mod multiply nextafter pi
    pow power radians round round_even roundbankers sign signbit sin sinh sqrt subtract tan tanh
    trunc xor ascii bar base64 bin bit_length char_length character_length chr concat concat_ws
    contains damerau_levenshtein decode editdist3 encode ends_with format format_bytes
    formatReadableDecimalSize formatReadableSize from_base64 from_binary from_hex hamming hex
    ilike_escape instr jaccard jaro_similarity jaro_winkler_similarity lcase left left_grapheme len
    length length_grapheme levenshtein like_escape lower lpad ltrim mismatches nfc_normalize
    not_ilike_escape not_like_escape octet_length ord overlay parse_dirname parse_dirpath
    parse_filename parse_path position prefix printf regexp_escape regexp_extract regexp_extract_all
    regexp_full_match regexp_matches regexp_replace regexp_split_to_array repeat replace reverse
    right right_grapheme rpad rtrim split split_part starts_with str_split str_split_regex
    string_split string_split_regex string_to_array strip_accents strlen strpos substr substring
    substring_grapheme suffix to_base to_base64 to_binary to_hex translate trim ucase unbin unhex
    unicode upper url_decode url_encode century date_add date_diff date_part date_sub date_trunc
    datediff datepart datesub datetrunc day dayname dayofmonth dayofweek dayofyear days_in_month
    decade epoch epoch_ms epoch_ns epoch_us era hour isodow isoyear julian last_day make_date
    make_time make_timestamp make_timestamp_ms make_timestamp_ns make_timestamptz microsecond
    millennium millisecond minute month monthname nanosecond normalized_interval quarter second
    strftime strptime time_bucket timezone timezone_hour timezone_minute to_centuries to_days
    to_decades to_hours to_microseconds to_millennia to_milliseconds to_minutes to_months
    to_quarters to_seconds to_timestamp to_weeks to_years try_strptime week weekday weekofyear year
    yearweek array_cat array_concat array_contains array_cosine_distance array_cosine_similarity
    array_cross_product array_distance array_distinct array_dot_product array_extract array_has
    array_has_all array_has_any array_indexof array_inner_product array_intersect array_length
    array_negative_dot_product array_negative_inner_product array_position array_resize
    array_reverse_sort array_select array_slice array_sort array_unique array_value array_where
    array_zip cardinality element_at equi_width_bins flatten generate_series list_cat list_concat
    list_contains list_cosine_distance list_cosine_similarity list_distance list_distinct
    list_dot_product list_element list_extract list_first list_has list_has_all list_has_any
    list_indexof list_inner_product list_intersect list_last list_max list_min
    list_negative_dot_product list_negative_inner_product list_pack list_position list_resize
    list_reverse_sort list_select list_slice list_sort list_sum list_unique list_value list_where
    list_zip map map_concat map_contains map_entries map_extract map_extract_value map_from_entries
    map_keys map_values range row struct_concat struct_contains struct_extract struct_extract_at
    struct_has struct_indexof struct_insert struct_keys struct_pack struct_position struct_update
    struct_values union_extract union_tag union_value array_to_json from_json from_json_strict
    json_array json_array_length json_contains json_exists json_extract json_extract_path
    json_extract_path_text json_extract_string json_keys json_merge_patch json_object json_pretty
    json_quote json_structure json_transform json_transform_strict json_type json_valid json_value
    row_to_json to_json bit_position bitstring enum_code get_bit hash md5 md5_number nullif set_bit
    sha1 sha256 typeof uuid_extract_timestamp uuid_extract_version
"""
ALLOWED = frozenset(_NAMES.split())
"""Functions that an expression may use.

They compute one value from the values of one row, always the same, and read no files, settings or
state of the engine. ``list_aggregate`` and similar functions are not allowed: the name of their
aggregate is a text, and some aggregates draw at random.
"""


def parsed(engine: Engine, expression: exp.Expr, what: str) -> list[dict[str, Any]]:
    """Return the parse tree of an expression as DuckDB's parser writes it: nodes of JSON."""
    query = exp.Literal.string(render(exp.select(expression.copy())))
    call = exp.select(exp.func("json_serialize_sql", query))
    text = engine.query(call, what)[0][0]
    try:
        answer = json.loads(text)
    except RecursionError as e:
        raise ExpressionError(f"{what} is nested too deeply; make it simpler") from e
    if answer.get("error"):
        raise ExpressionError(f"{what} is not a SQL expression; check quotes and brackets")
    tree: list[dict[str, Any]] = answer["statements"][0]["node"]["select_list"]
    return tree


def functions_of(tree: object) -> set[str]:
    """Return the names of the functions in DuckDB's parse tree, or in a part: a node or a list."""
    if isinstance(tree, list):
        return set[str]().union(*map(functions_of, tree))
    if not isinstance(tree, Mapping):
        return set()
    names = functions_of([*tree.values()])
    if tree.get("class") == "FUNCTION":
        names.add(tree["function_name"])
    if tree.get("class") == "COLUMN_REF" and len(tree["column_names"]) == 1:
        names.add(tree["column_names"][0])  # columns are qualified, so this is a function like now
    return names
