-- One row per block and value of the secret that occurs in it: how many of the block's people
-- have that value, and how many people in all. `stand` is how many people the block is about,
-- where these are not all who are in it.
CREATE OR REPLACE VIEW pieces AS
SELECT
    cells.qid,
    cells.people,
    1::BIGINT AS blocks,
    NULL::BIGINT AS stand,
    places.place,
    places.everybody
FROM cells
JOIN places ON cells.secret IS NOT DISTINCT FROM places.value;
