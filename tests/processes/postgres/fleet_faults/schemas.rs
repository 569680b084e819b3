//! Two versions of the tables during a rolling deploy.

use super::host_process::HostProcess;
use super::yard::{Yard, until};

/// A newer program adds a column to each table and says so, while hosts of this version send. They run on until they are
/// replaced; a host of this version that starts afterwards sends nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hosts_run_on_while_a_newer_version_changes_the_tables() {
    let Some(yard) = Yard::start().await else {
        return;
    };
    let hosts = ["host-0", "host-1"].map(|name| yard.host(name));
    yard.write_until_sends(&hosts[0]).await;
    let schema = &yard.database.schema;
    let tables = [
        ("fleet", vec!["fleet_account", "fleet_budget"]),
        ("sync", vec!["sync_document", "sync_record", "sync_change"]),
    ];
    for (prefix, tables) in tables {
        let add = |table| {
            format!("ALTER TABLE \"{schema}\".{table} ADD COLUMN added text NOT NULL DEFAULT 'new'")
        };
        let version =
            format!("INSERT INTO \"{schema}\".{prefix}_migrations (version, oldest) VALUES (2, 1)");
        let statements: Vec<String> = tables.into_iter().map(add).chain([version]).collect();
        // One transaction, as all that are sent in one text.
        yard.database.run(&statements.join(";")).await;
    }
    yard.write().await;
    yard.until_sent().await;

    let late = yard.host("late");
    until("the newer version is not noticed", || async {
        late.count("newer version") > 0
    })
    .await;
    hosts.into_iter().for_each(HostProcess::kill);
    let sent = yard.fake.requests().len();
    // The leases of the killed hosts end, and the host that is too old takes none.
    until("the leases do not end", || async {
        yard.count("lease_until > now()").await == 0
    })
    .await;
    assert_eq!(yard.creations_of("late"), 0);
    assert_eq!(yard.fake.requests().len(), sent);
    yard.check().await;
}
