-- One row per cut of a node that is new: the number of the node of those below it; those above have
-- the next number.
CREATE OR REPLACE VIEW children AS
SELECT
    node,
    attribute,
    cut,
    getvariable('last')::BIGINT + 2 * row_number() OVER () AS child
FROM (
    SELECT DISTINCT
        node,
        attribute,
        cut
    FROM accepted
) AS made
ANTI JOIN children USING (node, attribute, cut);
