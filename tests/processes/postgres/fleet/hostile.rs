//! The statements of a fleet beside a hostile role on the same server.

use envd_sdk::sync::fleet::Fleet;
use envd_sdk::sync::store::MemorySync;

use super::super::database;
use super::super::hostile::{SEARCH_PATHS, Shared};
use super::farm::{Farm, HOUR};

/// What the statements use beside what the other tests plant. Each counts its calls.
const MORE: &str = "
    CREATE SEQUENCE public.of_the_fleet; GRANT ALL ON SEQUENCE public.of_the_fleet TO PUBLIC;
    CREATE FUNCTION public.called() RETURNS void LANGUAGE plpgsql AS $$ BEGIN
        PERFORM pg_catalog.nextval('public.of_the_fleet'::pg_catalog.regclass); END $$;
    CREATE FUNCTION public.make_interval(years integer DEFAULT 0, months integer DEFAULT 0, weeks integer DEFAULT 0,
        days integer DEFAULT 0, hours integer DEFAULT 0, mins integer DEFAULT 0, secs pg_catalog.float8 DEFAULT 0)
        RETURNS interval LANGUAGE plpgsql AS $$ BEGIN PERFORM public.called(); RETURN '0'; END $$;
    CREATE FUNCTION public.pg_notify(pg_catalog.text, pg_catalog.text) RETURNS void LANGUAGE plpgsql
        AS $$ BEGIN PERFORM public.called(); END $$;
    CREATE FUNCTION public.unnest(pg_catalog.text[]) RETURNS SETOF pg_catalog.text LANGUAGE plpgsql
        AS $$ BEGIN PERFORM public.called(); END $$;
    CREATE FUNCTION public.compared(timestamp with time zone, timestamp with time zone) RETURNS boolean
        LANGUAGE plpgsql AS $$ BEGIN PERFORM public.called(); RETURN true; END $$;
    CREATE FUNCTION public.moved(timestamp with time zone, interval) RETURNS timestamp with time zone
        LANGUAGE plpgsql AS $$ BEGIN PERFORM public.called(); RETURN $1; END $$;
    CREATE FUNCTION public.added(bigint, integer) RETURNS bigint
        LANGUAGE plpgsql AS $$ BEGIN PERFORM public.called(); RETURN $1; END $$;
    CREATE FUNCTION public.greater(integer, integer) RETURNS boolean
        LANGUAGE plpgsql AS $$ BEGIN PERFORM public.called(); RETURN true; END $$;
    CREATE OPERATOR public.<= (FUNCTION = public.compared, LEFTARG = timestamp with time zone, RIGHTARG = timestamp with time zone);
    CREATE OPERATOR public.< (FUNCTION = public.compared, LEFTARG = timestamp with time zone, RIGHTARG = timestamp with time zone);
    CREATE OPERATOR public.> (FUNCTION = public.compared, LEFTARG = timestamp with time zone, RIGHTARG = timestamp with time zone);
    CREATE OPERATOR public.+ (FUNCTION = public.moved, LEFTARG = timestamp with time zone, RIGHTARG = interval);
    CREATE OPERATOR public.+ (FUNCTION = public.added, LEFTARG = bigint, RIGHTARG = integer);
    CREATE OPERATOR public.> (FUNCTION = public.greater, LEFTARG = integer, RIGHTARG = integer);
";

#[tokio::test]
async fn functions_and_operators_of_another_role_are_not_used() {
    let (Some(farm), shared) = (Farm::start(2).await, Shared::new().await) else {
        return;
    };
    shared.plant().await;
    shared.evil().await.batch_execute(MORE).await.unwrap();
    for (number, path) in SEARCH_PATHS.iter().enumerate() {
        let set = format!("ALTER DATABASE {} SET search_path = {path}", shared.name);
        database::client().await.batch_execute(&set).await.unwrap();
        let mut config = database::config();
        config
            .dbname(&shared.name)
            .user(format!("{}_app", shared.name));
        let fleet = Fleet::builder(database::pool_of(config, 4), MemorySync::new());
        let fleet = fleet
            .schema(format!("fleet_{number}"))
            .requests_per_second(1_000.0);
        let fleet = fleet.poll(HOUR).build().unwrap();
        let migrated = fleet.migrate().await;
        assert_eq!(shared.called().await, "", "migrate with search_path {path}");
        migrated.unwrap();
        assert_eq!(fleet.add(farm.accounts.iter().cloned()).await.unwrap(), 2);
        let mut host = farm.run(&fleet);
        host.synced(2).await;
        fleet.wake(&farm.accounts[0]).await.unwrap();
        host.handle.claim_now();
        host.stop().await;
        let status = fleet.status().await.unwrap();
        assert_eq!((status.accounts, status.leased), (2, 0));
        assert_eq!(fleet.accounts(None, 9).await.unwrap().len(), 2);
        assert!(fleet.remove(&farm.accounts[0]).await.unwrap());
        assert_eq!(shared.called().await, "", "search_path {path}");
    }
}
