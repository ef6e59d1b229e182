{#- Names of columns in quotes, so that no name becomes SQL. -#}
{% macro quoted_columns(names) -%}
{%- for name in names %}{{ adapter.quote(name | replace('"', '""')) }}{{ ', ' if not loop.last }}{% endfor -%}
{%- endmacro %}

{#- A whole number as text; anything else is an error. -#}
{% macro whole_number(value) -%}
{%- if not (value | string).isdigit() %}{{ exceptions.raise_compiler_error('not a whole number') }}{% endif -%}
{{ value }}
{%- endmacro %}

{#- A decimal between 0 and 1 as a fraction, such as 5/100. -#}
{% macro fraction(value) -%}
{%- set parts = (value | string).split('.') -%}
{%- set digits = parts[1] if parts | length == 2 else '' -%}
{%- if parts | length > 2 or not (parts[0] ~ digits).isdigit() or digits | length > 15 -%}
{{ exceptions.raise_compiler_error('not a decimal of at most 15 digits') }}
{%- endif -%}
{{ (parts[0] ~ digits) | int }}/{{ 10 ** (digits | length) }}
{%- endmacro %}

{#- A type of whole numbers of 38 digits. -#}
{% macro wide_type() -%}
{{ 'bignumeric' if target.type == 'bigquery' else 'decimal(38, 0)' }}
{%- endmacro %}

{#- A row if a table has no records, of which nothing can be said. -#}
{% macro no_records(model, qids) -%}
union all
select {% for name in qids %}null, {% endfor %}0
from (select count(*) as records from {{ model }}) as counted
where records = 0
{%- endmacro %}
