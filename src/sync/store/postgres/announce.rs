//! Tells senders on other hosts that an account has something to send.

use deadpool_postgres::tokio_postgres::types::Type;

use crate::auth::StoreError;
use crate::auth::postgres::database::{Database, Parameter};

const NOTIFY: &str = "SELECT pg_catalog.pg_notify($1, $2)";

/// Postgres refuses to send 8,000 bytes. A message without an account is for all.
const LONGEST: usize = 7_000;

/// Postgres lets commits that notify wait for each other, so this is for new entries alone.
///
/// What listeners get is the account. Others on the server may send to the channel as well, so a message is a hint and no
/// more.
pub(super) async fn announce(database: &Database, account: &str) -> Result<(), StoreError> {
    let account = if account.len() > LONGEST { "" } else { account };
    let channel = channel(database);
    let parameters: [Parameter<'_>; 2] = [(&channel, Type::TEXT), (&account, Type::TEXT)];
    let notified = database.query(NOTIFY, &parameters).await;
    notified.map(|_| ())
}

/// Shorter than the 63 bytes of a name, for the schema is.
fn channel(database: &Database) -> String {
    format!("{}_sync", database.schema.name)
}
