CREATE TABLE {table} (
    account pg_catalog.text PRIMARY KEY,
    version pg_catalog.int8 NOT NULL,
    record pg_catalog.text NOT NULL,
    generation pg_catalog.int8 NOT NULL,
    issued_at pg_catalog.timestamptz NOT NULL,
    expires_at pg_catalog.timestamptz NOT NULL,
    refresh_began_at pg_catalog.timestamptz,
    written_at pg_catalog.timestamptz NOT NULL DEFAULT pg_catalog.now()
);
-- Sealed records do not compress.
ALTER TABLE {table} ALTER COLUMN record SET STORAGE EXTERNAL;
COMMENT ON TABLE {table} IS 'Tokens of accounts. Only version and record are read; the rest is for people.';
