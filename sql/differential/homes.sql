-- One row per target: the tree that is followed without them; whether it was made for them alone.
CREATE OR REPLACE VIEW homes AS
SELECT
    targets.target,
    roots.root,
    roots.target IS NOT NULL AS alone
FROM targets JOIN roots
    ON CASE
        WHEN targets.target IN (SELECT target FROM rescaled)
        THEN roots.target IS NOT DISTINCT FROM targets.target
        ELSE
            roots.target IS NULL
            AND roots.secret IS NOT DISTINCT FROM CASE WHEN wanted_worlds = 1 THEN targets.secret END
    END;
