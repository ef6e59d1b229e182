-- One row per place of the useful attribute, pattern of answers and value of the secret that occur
-- together: how many people.
CREATE OR REPLACE VIEW placed AS
SELECT
    places.place,
    joint.pattern,
    joint.secret,
    joint.people
FROM joint
JOIN places ON places.useful IS NOT DISTINCT FROM joint.useful;
