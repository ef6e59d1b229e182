-- One row per kind of block and value of the secret that occurs in it: how many people of a block
-- have that value, how many people in all, and how many blocks are of that kind.
CREATE OR REPLACE VIEW kind_pieces AS
SELECT
    kind_counts.kind AS qid_1,
    kind_counts.people,
    kind_counts.blocks,
    NULL::BIGINT AS stand,
    places.place,
    places.everybody
FROM (
    SELECT
        kind,
        blocks,
        unnest(counts) AS people,
        unnest(range(1, len(counts) + 1)) AS place
    FROM kinds
) AS kind_counts
JOIN places ON places.place = kind_counts.place
WHERE kind_counts.people > 0;
