-- One row per whole number from the least value of the useful attribute to the greatest.
CREATE OR REPLACE VIEW whole AS
SELECT
    unnest(range(min(useful)::BIGINT, max(useful)::BIGINT + 1)) AS useful,
    NULL::BIGINT AS "position"
FROM joint;
