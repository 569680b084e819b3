-- In every key the account is first: so the tables can be partitioned by it, and no account reads the pages of another one.
-- Texts are compared by their bytes.

-- A commit locks its account's row, so those of one account come one after the other.
CREATE TABLE {lock} (
    account text COLLATE "C" PRIMARY KEY
);

CREATE TABLE {document} (
    account text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    version int8 NOT NULL,
    text text NOT NULL,
    PRIMARY KEY (account, name)
);

-- Payloads are apart, so that a search reads and a walk writes few pages.
CREATE TABLE {record} (
    account text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    sequence int8 NOT NULL,
    -- In no index, so that a walk over records that are unchanged maintains none.
    generation int8 NOT NULL,
    status text COLLATE "C",
    species text COLLATE "C",
    number text COLLATE "C",
    origin_pic text COLLATE "C",
    destination_pic text COLLATE "C",
    movement_day text COLLATE "C",
    updated_at text COLLATE "C",
    PRIMARY KEY (account, id)
-- Room in each page for the generations that a walk writes.
) WITH (fillfactor = 80);

CREATE TABLE {payload} (
    account text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    payload text NOT NULL,
    PRIMARY KEY (account, id)
);

CREATE INDEX ON {record} (account, sequence);
CREATE INDEX ON {record} (account, updated_at DESC NULLS LAST, id);
CREATE INDEX ON {record} (account, status, updated_at DESC NULLS LAST, id);
CREATE INDEX ON {record} (account, status, id);
CREATE INDEX ON {record} (account, species, updated_at DESC NULLS LAST, id);
CREATE INDEX ON {record} (account, number);
CREATE INDEX ON {record} (account, origin_pic, updated_at DESC NULLS LAST, id);
CREATE INDEX ON {record} (account, destination_pic, updated_at DESC NULLS LAST, id);
CREATE INDEX ON {record} (account, movement_day);

CREATE TABLE {change} (
    account text COLLATE "C" NOT NULL,
    sequence int8 NOT NULL,
    previous int8 NOT NULL,
    id text COLLATE "C" NOT NULL,
    payload text NOT NULL,
    PRIMARY KEY (account, sequence)
);

CREATE INDEX ON {change} (account, previous, sequence);
