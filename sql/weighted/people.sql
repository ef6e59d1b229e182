-- One row per person when the secret is whose record it is (re-identification):
-- every person is a value of its own.
CREATE OR REPLACE VIEW people AS
SELECT
    qid,
    1::BIGINT AS people,
    weight,
    weight AS heaviest
FROM microdata;
