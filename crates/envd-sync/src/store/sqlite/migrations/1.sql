CREATE TABLE accounts (
    account INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE documents (
    account INTEGER NOT NULL,
    name TEXT NOT NULL,
    version INTEGER NOT NULL,
    text TEXT NOT NULL,
    UNIQUE (account, name)
) STRICT;

-- Payloads are apart, so that a search reads and a walk writes few pages.
CREATE TABLE records (
    record INTEGER PRIMARY KEY,
    account INTEGER NOT NULL,
    id TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    -- In no index, so that a walk over records that are unchanged maintains none.
    generation INTEGER NOT NULL,
    status TEXT,
    species TEXT,
    number TEXT,
    origin_pic TEXT,
    destination_pic TEXT,
    movement_day TEXT,
    -- 0 where there is none: a number orders before every text, so "less than" holds for it where NULL holds for nothing.
    updated_at ANY NOT NULL
) STRICT;

CREATE TABLE payloads (
    record INTEGER PRIMARY KEY,
    payload TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX records_id ON records (account, id);
CREATE INDEX records_sequence ON records (account, sequence);
CREATE INDEX records_updated ON records (account, updated_at DESC, id);
CREATE INDEX records_status ON records (account, status, updated_at DESC, id);
CREATE INDEX records_status_id ON records (account, status, id);
CREATE INDEX records_species ON records (account, species, updated_at DESC, id);
CREATE INDEX records_number ON records (account, number);
CREATE INDEX records_origin ON records (account, origin_pic, updated_at DESC, id);
CREATE INDEX records_destination ON records (account, destination_pic, updated_at DESC, id);
CREATE INDEX records_movement ON records (account, movement_day, updated_at DESC, id);

CREATE TABLE changes (
    change INTEGER PRIMARY KEY,
    account INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    previous INTEGER NOT NULL,
    id TEXT NOT NULL,
    payload TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX changes_sequence ON changes (account, sequence);
CREATE INDEX changes_previous ON changes (account, previous, sequence);
