-- One row per part of questions, side of its cut and secret: how many people, without the target.
-- Secrets are numbered as in the release in which limits are judged, which one may lack.
CREATE OR REPLACE VIEW sides AS
SELECT
    part,
    side,
    secrets - (secrets > wanted_gone)::INTEGER AS secrets,
    people
FROM (
    SELECT
        judged.part,
        halves.side,
        secrets,
        halves.people
        - coalesce(judged.below <> halves.side AND judged.secret = halves.secret, FALSE)::BIGINT AS people
    FROM (
        SELECT DISTINCT
            part,
            node,
            attribute,
            cut,
            below,
            secret
        FROM decided
        WHERE attribute > 0 AND coalesce(world, -1) = wanted_world
    ) AS judged
    JOIN (
        SELECT
            people.node,
            found.attribute,
            found.cut,
            [place][attribute] > cut AS side,
            secrets,
            any_value([secrets][1]) AS secret,
            sum(people)::BIGINT AS people
        FROM people JOIN (
            SELECT DISTINCT
                node,
                attribute,
                cut
            FROM decided
            WHERE attribute > 0 AND coalesce(world, -1) = wanted_world
        ) AS found ON people.node = found.node
        GROUP BY people.node, found.attribute, found.cut, side, secrets
    ) AS halves
        ON judged.node = halves.node AND judged.attribute = halves.attribute
        AND judged.cut = halves.cut
) AS without_target
WHERE people > 0;
