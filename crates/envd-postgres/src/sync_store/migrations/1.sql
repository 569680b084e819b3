-- In every key the account is first: so the tables can be partitioned by it, and no account reads the pages of another one.
-- Texts are compared by their bytes.

-- A commit locks its account's row, so those of one account come one after the other.
CREATE TABLE {lock} (
    account pg_catalog.text COLLATE pg_catalog."C" PRIMARY KEY
);

CREATE TABLE {document} (
    account pg_catalog.text COLLATE pg_catalog."C" NOT NULL,
    name pg_catalog.text COLLATE pg_catalog."C" NOT NULL,
    version pg_catalog.int8 NOT NULL,
    text pg_catalog.text NOT NULL,
    PRIMARY KEY (account, name)
);

-- Payloads are apart, so that a search reads and a walk writes few pages.
CREATE TABLE {record} (
    account pg_catalog.text COLLATE pg_catalog."C" NOT NULL,
    id pg_catalog.text COLLATE pg_catalog."C" NOT NULL,
    sequence pg_catalog.int8 NOT NULL,
    -- In no index, so that a walk over records that are unchanged maintains none.
    generation pg_catalog.int8 NOT NULL,
    status pg_catalog.text COLLATE pg_catalog."C",
    species pg_catalog.text COLLATE pg_catalog."C",
    number pg_catalog.text COLLATE pg_catalog."C",
    origin_pic pg_catalog.text COLLATE pg_catalog."C",
    destination_pic pg_catalog.text COLLATE pg_catalog."C",
    movement_day pg_catalog.text COLLATE pg_catalog."C",
    updated_at pg_catalog.text COLLATE pg_catalog."C",
    PRIMARY KEY (account, id)
-- Room in each page for the generations that a walk writes.
) WITH (fillfactor = 80);

CREATE TABLE {payload} (
    account pg_catalog.text COLLATE pg_catalog."C" NOT NULL,
    id pg_catalog.text COLLATE pg_catalog."C" NOT NULL,
    payload pg_catalog.text NOT NULL,
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
    account pg_catalog.text COLLATE pg_catalog."C" NOT NULL,
    sequence pg_catalog.int8 NOT NULL,
    previous pg_catalog.int8 NOT NULL,
    id pg_catalog.text COLLATE pg_catalog."C" NOT NULL,
    payload pg_catalog.text NOT NULL,
    PRIMARY KEY (account, sequence)
);

CREATE INDEX ON {change} (account, previous, sequence);
