CREATE TABLE {table} (
    account text PRIMARY KEY,
    version int8 NOT NULL,
    record text NOT NULL,
    generation int8 NOT NULL,
    issued_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    refresh_began_at timestamptz,
    written_at timestamptz NOT NULL DEFAULT now()
);
-- Sealed records do not compress.
ALTER TABLE {table} ALTER COLUMN record SET STORAGE EXTERNAL;
COMMENT ON TABLE {table} IS 'Tokens of accounts. Only version and record are read; the rest is for people.';
