-- One row per candidate whose hash is in the column.
CREATE OR REPLACE VIEW found AS
SELECT
    tried.digest,
    tried.candidate
FROM tried
SEMI JOIN digests ON tried.digest = digests.digest;
