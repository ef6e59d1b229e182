-- One row per class, with or without a target, and different person in it: how many people.
CREATE OR REPLACE VIEW members AS
SELECT
    node,
    place,
    secrets,
    people
FROM people
SEMI JOIN (SELECT DISTINCT node FROM decided WHERE attribute = 0) AS ended USING (node)
ANTI JOIN members USING (node);
