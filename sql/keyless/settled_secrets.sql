-- One row per settled observation: the records with it, those with its likeliest secret, how many
-- secrets may be meant, and how many observations there are later.
CREATE OR REPLACE VIEW settled_secrets AS
SELECT
    secret_crowd.first_sight,
    sum(secret_crowd.records)::BIGINT AS records,
    max(secret_crowd.records) AS most,
    count(*) AS possible,
    any_value(settled.observations) AS observations
FROM secret_crowd
JOIN settled ON settled.first_sight = secret_crowd.first_sight
GROUP BY secret_crowd.first_sight;
