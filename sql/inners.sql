-- One row per block: its inner, the distribution of the secret among its people, as counts of the
-- numbered values divided by their greatest common divisor, so that equal inners are equal lists.
CREATE OR REPLACE VIEW inners AS
SELECT
    block,
    weight,
    list_transform(parts, lambda p: {'code': p.code, 'part': p.part // divisor}) AS parts
FROM (
    SELECT
        numbered.block,
        any_value(numbered.weight) AS weight,
        list({'code': secret_values.code, 'part': cells.weight} ORDER BY secret_values.code)
            AS parts,
        list_reduce(list(cells.weight), lambda a, b: gcd(a, b)) AS divisor
    FROM cells
    JOIN numbered ON numbered.qid IS NOT DISTINCT FROM cells.qid
    JOIN secret_values ON secret_values.value IS NOT DISTINCT FROM cells.secret
    GROUP BY numbered.block
) AS counted;
