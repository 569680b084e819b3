//! A hostile role on the same server, against the store of copies.

use envd_postgres::PostgresSync;
use envd_sdk::auth::{StoreError, StoreErrorKind};
use envd_sync::store::Order;
use envd_sync::store::SyncStore;
use envd_sync::store::rows::*;

use super::database::{self, chain};
use super::hostile::{SEARCH_PATHS, Shared};
use super::sync_faults::{ACCOUNT, batch};

const FUNCTIONS: &[[&str; 4]] = &[
    ["compares", "text, text", "boolean", "true"],
    ["compares", "bigint, bigint", "boolean", "true"],
    ["compares", "integer, integer", "boolean", "true"],
    ["compares", "name, name", "boolean", "true"],
    ["adds", "bigint, bigint", "bigint", "0"],
    ["unnest", "text[]", "text", "'x'::pg_catalog.text"],
    ["unnest", "bigint[]", "bigint", "0"],
    ["count", "", "bigint", "0"],
    ["greatest_so_far", "integer, integer", "integer", "0"],
    ["of_domain", "text", "boolean", "true"],
    ["of_view", "", "integer", "1"],
];

fn objects() -> String {
    let mut objects = String::new();
    for operator in ["=", "<>", "<", "<=", ">", ">="] {
        for kind in ["text", "bigint", "integer", "name"] {
            let operator = format!(
                "CREATE OPERATOR public.{operator} (FUNCTION = public.compares, LEFTARG = {kind}, RIGHTARG = {kind});"
            );
            objects += &operator;
        }
    }
    objects
        + "CREATE OPERATOR public.+ (FUNCTION = public.adds, LEFTARG = bigint, RIGHTARG = bigint);
        CREATE AGGREGATE public.max (integer) (SFUNC = public.greatest_so_far, STYPE = integer);
        CREATE VIEW public.sync_document AS SELECT public.of_view() AS version;
        CREATE VIEW public.sync_record AS SELECT public.of_view() AS sequence;
        CREATE VIEW public.sync_payload AS SELECT public.of_view() AS payload;
        CREATE VIEW public.sync_change AS SELECT public.of_view() AS sequence;
        CREATE VIEW public.sync_lock AS SELECT public.of_view() AS account;
        CREATE VIEW public.sync_migrations AS SELECT public.of_view() AS version, 1 AS oldest;
        GRANT ALL ON ALL TABLES IN SCHEMA public TO PUBLIC;
        CREATE DOMAIN public.text AS pg_catalog.text CHECK (public.of_domain(VALUE));
        CREATE DOMAIN public.int8 AS pg_catalog.int8 CHECK (public.of_domain('x'::pg_catalog.text));
        CREATE DOMAIN public.int4 AS pg_catalog.int4 CHECK (public.of_domain('x'::pg_catalog.text));"
}

/// Uses each operation of the store, with conditions that few and many rows meet.
pub(super) async fn use_everything(store: &PostgresSync) -> Result<(), StoreError> {
    store.migrate().await?;
    store.migrate().await?;
    assert!(store.commit(ACCOUNT, &batch(0)).await?);
    assert!(store.commit(ACCOUNT, &batch(1)).await?);
    assert!(!store.commit(ACCOUNT, &batch(1)).await?);
    assert_eq!(store.documents(ACCOUNT, "wa").await?.len(), 1);
    assert_eq!(store.documents(ACCOUNT, "").await?.len(), 2);
    assert_eq!(
        store.rows(ACCOUNT, &["s3cr3t-2".to_owned()]).await?.len(),
        1
    );
    for range in [
        ChangeRange::After(0),
        ChangeRange::Replacing { after: 0, up_to: 1 },
    ] {
        assert_eq!(store.changes(ACCOUNT, range, 9).await?.len(), 1);
    }
    let text = |text: &str| Some(text.to_owned());
    let row = |number: u64| RecordRow {
        id: number.to_string(),
        sequence: number,
        keys: RowKeys {
            status: text(if number.is_multiple_of(100) {
                "RARE"
            } else {
                "DRAFT"
            }),
            origin_pic: text("3ABCD123"),
            movement_day: text("2027-01-01"),
            updated_at: text("2027-01-01T00:00:00"),
            ..RowKeys::default()
        },
        ..RecordRow::default()
    };
    let rows = Batch {
        rows: (10..5_200).map(row).collect(),
        ..Batch::default()
    };
    assert!(store.commit(ACCOUNT, &rows).await?);
    for status in ["RARE", "DRAFT"] {
        for order in [Order::Id, Order::LastUpdated, Order::Sequence] {
            let query = Query {
                status: text(status),
                pic: text("3ABCD123"),
                movement_from: text("2026-01-01"),
                movement_to: text("2027-01-01"),
                updated_from: text("2026-01-01T00:00:00"),
                before_generation: Some(1),
                up_to_sequence: Some(9_999),
                order,
                after: Some(LocalPosition::from(&row(10))),
                limit: 20,
                ..Query::default()
            };
            assert_eq!(store.query(ACCOUNT, &query).await?.len(), 20);
            assert!(store.count(ACCOUNT, &query).await? > 20);
        }
    }
    Ok(())
}

#[tokio::test]
async fn functions_operators_and_tables_of_another_role_are_not_used_for_copies() {
    let shared = Shared::new().await;
    shared.plant_all(FUNCTIONS, &objects()).await;
    for (number, path) in SEARCH_PATHS.iter().enumerate() {
        let set = format!("ALTER DATABASE {} SET search_path = {path}", shared.name);
        database::client().await.batch_execute(&set).await.unwrap();
        for role in ["app", ""] {
            let store = database::sync(&shared.pool_as(role), &format!("envd_{role}{number}"));
            let used = use_everything(&store).await;
            let called = shared.called().await;
            assert_eq!(called, "", "as {role:?} with search_path {path}");
            used.unwrap_or_else(|error| panic!("{role:?}, {path}: {}", chain(&error)));
        }
    }
}

#[tokio::test]
async fn tables_of_copies_that_another_role_owns_are_refused() {
    let shared = Shared::new().await;
    // The tables have the correct columns, and every role may write them.
    let theirs = database::sync(&shared.pool_as("evil"), "trap");
    theirs.migrate().await.unwrap();
    let open =
        "GRANT ALL ON SCHEMA trap TO PUBLIC; GRANT ALL ON ALL TABLES IN SCHEMA trap TO PUBLIC";
    shared.evil().await.batch_execute(open).await.unwrap();
    // The application owns the schema, and one of its tables belongs to another role.
    let mixed = database::sync(&shared.pool_as("app"), "mixed");
    mixed.migrate().await.unwrap();
    let change = format!(
        "ALTER TABLE mixed.sync_payload OWNER TO {}_evil",
        shared.name
    );
    shared.admin().await.batch_execute(&change).await.unwrap();
    for role in ["app", ""] {
        for schema in ["trap", "mixed"] {
            let store = database::sync(&shared.pool_as(role), schema);
            for error in [
                store.migrate().await.unwrap_err(),
                store.documents(ACCOUNT, "").await.unwrap_err(),
                store.commit(ACCOUNT, &batch(0)).await.unwrap_err(),
            ] {
                assert!(
                    error.kind() == StoreErrorKind::Insecure,
                    "{schema}: {}",
                    chain(&error)
                );
            }
        }
    }
    let named = database::sync_settings(&shared.pool_as("app"), "mixed");
    let named = named
        .owner(format!("{}_evil", shared.name))
        .build()
        .unwrap();
    let denied = named.commit(ACCOUNT, &batch(0)).await.unwrap_err();
    assert!(
        denied.kind() == StoreErrorKind::Denied,
        "{}",
        chain(&denied)
    );
}
