-- The tables of a workspace: what was asked, the passes, what is to be done, the strata of samples,
-- what is done, and what was found so far. A task and what it found become done together, or not at all.
CREATE TABLE IF NOT EXISTS kept.facts (name VARCHAR, told VARCHAR);
CREATE TABLE IF NOT EXISTS kept.passes (number INTEGER PRIMARY KEY, layout VARCHAR);
CREATE TABLE IF NOT EXISTS kept.tasks (
    number INTEGER PRIMARY KEY,
    pass INTEGER,
    kind VARCHAR,
    source VARCHAR,
    position INTEGER,
    state BIGINT,
    least INTEGER,
    greatest INTEGER,
    size BIGINT
);
CREATE TABLE IF NOT EXISTS kept.strata (
    source VARCHAR,
    least INTEGER,
    greatest INTEGER,
    blocks BIGINT,
    people BIGINT,
    largest BIGINT
);
CREATE TABLE IF NOT EXISTS kept.done (task INTEGER PRIMARY KEY, method VARCHAR, seconds DOUBLE);
CREATE TABLE IF NOT EXISTS kept.found (
    pass INTEGER,
    part INTEGER,
    state BIGINT,
    question UTINYINT,
    bin UTINYINT,
    blocks BIGINT,
    people BIGINT,
    mode BIGINT,
    certain BIGINT,
    k BIGINT,
    l BIGINT,
    worst_case DOUBLE
);
