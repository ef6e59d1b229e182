{#- Blocks of fewer than k records: those that agree in all quasi-identifiers, where a missing value
    is a value. A table without records fails, too. -#}
{% test k_at_least(model, qids, k) %}
{%- set columns = qifsql.quoted_columns(qids) %}
select {{ columns }}, count(*) as size
from {{ model }}
group by {{ columns }}
having count(*) < {{ qifsql.whole_number(k) }}
{{ qifsql.no_records(model, qids) }}
{% endtest %}
