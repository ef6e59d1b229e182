-- One row per task that is not done, the first ones first.
CREATE OR REPLACE VIEW pending AS
SELECT
    number,
    pass,
    kind,
    source,
    position,
    state,
    least,
    greatest,
    size
FROM kept.tasks
WHERE number NOT IN (SELECT task FROM kept.done)
ORDER BY number;
