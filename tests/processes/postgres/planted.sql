-- The objects that the hostile role creates after its functions.
CREATE OPERATOR public.= (FUNCTION = public.same, LEFTARG = name, RIGHTARG = text);
CREATE OPERATOR public.= (FUNCTION = public.same, LEFTARG = oid, RIGHTARG = oid);
CREATE OPERATOR public.- (FUNCTION = public.less, LEFTARG = timestamptz, RIGHTARG = timestamptz);
CREATE OPERATOR public.+ (FUNCTION = public.adds, LEFTARG = bigint, RIGHTARG = bigint);
CREATE AGGREGATE public.max (integer) (SFUNC = public.greatest_so_far, STYPE = integer);
CREATE CAST (integer AS public.seed) WITH FUNCTION public.seed(integer) AS IMPLICIT;
CREATE TABLE public.tokens (account text PRIMARY KEY, version bigint, record text, generation bigint,
    issued_at timestamptz, expires_at timestamptz, refresh_began_at timestamptz, written_at timestamptz);
CREATE VIEW public.tokens_migrations AS SELECT public.of_view() AS version;
CREATE VIEW public.sync_document AS SELECT public.of_view() AS version;
CREATE VIEW public.sync_record AS SELECT public.of_view() AS sequence;
CREATE VIEW public.sync_payload AS SELECT public.of_view() AS payload;
CREATE VIEW public.sync_change AS SELECT public.of_view() AS sequence;
CREATE VIEW public.sync_lock AS SELECT public.of_view() AS account;
CREATE VIEW public.sync_migrations AS SELECT public.of_view() AS version, 1 AS oldest;
CREATE VIEW public.pg_namespace AS SELECT 'x'::name AS nspname, public.of_view() AS oid;
CREATE VIEW public.pg_class AS SELECT 'x'::name AS relname, public.of_view() AS relnamespace;
CREATE VIEW public.pg_roles AS SELECT 'x'::name AS rolname, public.of_view() AS oid;
CREATE VIEW public.pg_database AS SELECT 'x'::name AS datname, public.of_view() AS datdba;
GRANT ALL ON ALL TABLES IN SCHEMA public TO PUBLIC;
CREATE DOMAIN public.text AS pg_catalog.text CHECK (public.of_domain(VALUE));
CREATE DOMAIN public.name AS pg_catalog.name CHECK (public.of_domain(VALUE::pg_catalog.text));
CREATE DOMAIN public.float8 AS pg_catalog.float8 CHECK (public.of_domain('x'::pg_catalog.text));
CREATE DOMAIN public.int8 AS pg_catalog.int8 CHECK (public.of_domain('x'::pg_catalog.text));
CREATE DOMAIN public.int4 AS pg_catalog.int4 CHECK (public.of_domain('x'::pg_catalog.text));
CREATE DOMAIN public.timestamptz AS pg_catalog.timestamptz CHECK (public.of_domain('x'::pg_catalog.text));
