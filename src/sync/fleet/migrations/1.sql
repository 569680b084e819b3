CREATE TABLE {account} (
    account pg_catalog.text PRIMARY KEY,
    due_at pg_catalog.timestamptz NOT NULL DEFAULT pg_catalog.now(),
    sync_due_at pg_catalog.timestamptz NOT NULL DEFAULT pg_catalog.now(),
    outbox_due_at pg_catalog.timestamptz,
    outbox_version pg_catalog.int8 NOT NULL DEFAULT 0,
    not_before pg_catalog.timestamptz,
    announced pg_catalog.int8 NOT NULL DEFAULT 0,
    lease_number pg_catalog.int8 NOT NULL DEFAULT 0,
    lease_host pg_catalog.text,
    lease_until pg_catalog.timestamptz,
    synced_at pg_catalog.timestamptz,
    ended_at pg_catalog.timestamptz,
    failures pg_catalog.int4 NOT NULL DEFAULT 0,
    idle_passes pg_catalog.int4 NOT NULL DEFAULT 0,
    failure pg_catalog.text,
    login_needed pg_catalog.bool NOT NULL DEFAULT false,
    waiting pg_catalog.int8 NOT NULL DEFAULT 0,
    needs_attention pg_catalog.int8 NOT NULL DEFAULT 0
) WITH (fillfactor = 70);
CREATE INDEX ON {account} (due_at);
COMMENT ON TABLE {account} IS 'Accounts that a fleet of hosts serves: when each is due, and which host works on it.';
CREATE TABLE {budget} (
    name pg_catalog.text PRIMARY KEY,
    spent_until pg_catalog.timestamptz NOT NULL
) WITH (fillfactor = 50);
COMMENT ON TABLE {budget} IS 'Up to when the requests of the fleet are handed out to its hosts.';
