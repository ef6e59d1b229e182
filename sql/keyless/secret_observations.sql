-- One row per observation of all releases: its chance, that of the likeliest secret, and how many
-- secrets are possible.
CREATE OR REPLACE VIEW secret_observations AS
SELECT
    first_sight,
    seen,
    sight,
    sum(mass) AS total,
    max(mass) AS most,
    count(*) AS possible
FROM shares
GROUP BY first_sight, seen, sight;
