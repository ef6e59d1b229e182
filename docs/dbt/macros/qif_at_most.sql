{#- One row if the best guess is right about more of the records than at_most, a decimal: whose record it
    is or, with a secret, its value (qifsql check: crs and cas, posterior_probabilistic). The row has the
    fraction; reading is reported where only records that report the secret are counted. -#}
{% test qif_at_most(model, qids, at_most, secret=none) %}
{%- set columns = qifsql.quoted_columns(qids) %}
{%- set limit = qifsql.fraction(at_most).split('/') %}
{%- for reading in (['all', 'reported'] if secret is not none else ['all']) %}
{{ 'union all' if not loop.first }}
select '{{ reading }}' as reading, numerator, denominator
from (
    select sum(guessed) as numerator, sum(size) as denominator
    from (
        {%- if secret is none %}
        select 1 as guessed, count(*) as size
        from {{ model }}
        group by {{ columns }}
        {%- else %}
        select max(people) as guessed, sum(people) as size
        from (
            select {{ columns }}, count(*) as people
            from {{ model }}
            {{ 'where ' ~ qifsql.quoted_columns([secret]) ~ ' is not null' if reading == 'reported' }}
            group by {{ columns }}, {{ qifsql.quoted_columns([secret]) }}
        ) as cells
        group by {{ columns }}
        {%- endif %}
    ) as blocks
) as totals
where {{ 'denominator is not null and ' if reading == 'reported' }}not coalesce(
    cast(numerator as {{ qifsql.wide_type() }}) * {{ limit[1] }} <= cast(denominator as {{ qifsql.wide_type() }}) * {{ limit[0] }},
    false
)
{%- endfor %}
{% endtest %}
