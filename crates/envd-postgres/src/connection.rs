//! Connections to the database, and the mapping of their failures to errors of stores.

use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use deadpool_postgres::tokio_postgres::config::Host;
use deadpool_postgres::tokio_postgres::{self, Client, Config, NoTls};
use deadpool_postgres::{Manager, Object, Pool, PoolError, Runtime, TimeoutType};
use tokio::time::error::Elapsed;
use tokio::time::timeout;

use super::schema::{
    ENCODING, ENCODING_STATE, FOREIGN_OWNER, FOREIGN_STATE, NEWER_STATE, NEWER_TABLES,
};
use envd_sdk::auth::{StoreError, StoreErrorKind as Kind};

/// The limit of `PostgreSQL` itself.
const MOST_CONNECTIONS: usize = 262_143;

const TIME_OUT: Duration = Duration::from_secs(5);

/// A connection that returns to the pool only through [`give_back`](Self::give_back), and is closed otherwise: after an error or a
/// cancelled call, a transaction may be open or replies may be outstanding.
pub(crate) struct PooledConnection(Option<Object>);

impl PooledConnection {
    pub(crate) async fn open(pool: &Pool, limit: Duration) -> Result<Self, DatabaseError> {
        Ok(Self(Some(timeout(limit, pool.get()).await??)))
    }

    pub(crate) fn client(&self) -> Result<&Client, StoreError> {
        let object = self.0.as_ref().map(|object| &***object);
        object.ok_or_else(|| StoreError::new(Kind::Other, "the connection was given back"))
    }

    pub(crate) fn give_back(mut self) {
        drop(self.0.take());
    }
}

impl Drop for PooledConnection {
    fn drop(&mut self) {
        if let Some(object) = self.0.take() {
            // Ends the connection, and with it its transaction and locks.
            drop(Object::take(object));
        }
    }
}

/// Connections to a database, for both stores. Cheap to clone; clones share the connections.
///
/// ```
/// use envd_postgres::PostgresPool;
///
/// let pool = PostgresPool::from_url("postgres://app:password@127.0.0.1/app", 16)?;
/// assert!(PostgresPool::from_url("postgres://app:password@db.example.com/app", 16).is_err());
/// # let _ = pool;
/// # Ok::<(), envd_sdk::auth::StoreError>(())
/// ```
#[derive(Clone)]
pub struct PostgresPool(pub(crate) Pool);

impl PostgresPool {
    /// At most `size` connections to a database on this machine, over the loopback address or a Unix socket.
    ///
    /// For tests, and for a database on the machine of the application. A connection to another machine needs TLS: build the pool
    /// with `deadpool_postgres` and a connector of your choice, such as that of `tokio-postgres-rustls`, and pass it to `from_pool`,
    /// with the feature `deadpool_postgres014`.
    ///
    /// # Errors
    ///
    /// [`Insecure`](envd_sdk::auth::StoreErrorKind::Insecure) when the database is on another machine.
    pub fn from_url(url: &str, size: usize) -> Result<Self, StoreError> {
        local_pool(url, size).map(Self)
    }
}

#[cfg(feature = "deadpool_postgres014")]
impl PostgresPool {
    /// A pool of your own, such as one whose connections use TLS.
    pub fn from_pool(pool: Pool) -> Self {
        Self(pool)
    }

    /// The pool, for queries of your own over the same connections.
    pub fn pool(&self) -> &Pool {
        &self.0
    }
}

// Without the settings of the pool, which hold the password.
impl fmt::Debug for PostgresPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresPool").finish_non_exhaustive()
    }
}

fn local_pool(url: &str, size: usize) -> Result<Pool, StoreError> {
    // Drop the reason: it may repeat a part of the text, which contains a password.
    let mut config: Config = url.parse().map_err(|_| {
        StoreError::new(
            Kind::Other,
            "the connection string of the database is not readable",
        )
    })?;
    let addresses = config.get_hostaddrs();
    let near = if addresses.is_empty() {
        config.get_hosts().iter().all(is_near)
    } else {
        addresses.iter().all(IpAddr::is_loopback)
    };
    if !near {
        let message = "the database is on another machine; pass a pool whose connections use TLS";
        return Err(StoreError::new(Kind::Insecure, message));
    }
    // No server allows more, and the pool allocates space for all of them at once.
    let size = size.min(MOST_CONNECTIONS);
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(TIME_OUT);
    }
    Pool::builder(Manager::new(config, NoTls))
        .max_size(size)
        .wait_timeout(Some(TIME_OUT))
        .runtime(Runtime::Tokio1)
        .build()
        .map_err(|_| StoreError::new(Kind::Other, "the pool of connections is not set up"))
}

fn is_near(host: &Host) -> bool {
    match host {
        Host::Tcp(name) => {
            let address = name.parse::<IpAddr>();
            name == "localhost" || address.is_ok_and(|address| address.is_loopback())
        }
        #[cfg(unix)]
        Host::Unix(_) => true,
    }
}

/// A failure, and the connection over which a retry may succeed.
#[derive(Debug)]
pub(crate) struct DatabaseError {
    pub(crate) error: StoreError,
    pub(crate) retry: Retry,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Retry {
    Never,
    /// The connection is lost; use any other connection.
    OtherConnection,
    /// The session is read-only, as pooled sessions may be after a failover.
    NewConnection,
}

impl From<StoreError> for DatabaseError {
    fn from(error: StoreError) -> Self {
        Self {
            error,
            retry: Retry::Never,
        }
    }
}

impl From<Elapsed> for DatabaseError {
    fn from(_: Elapsed) -> Self {
        StoreError::new(Kind::Unreachable, "the database did not answer in time").into()
    }
}

impl From<PoolError> for DatabaseError {
    fn from(error: PoolError) -> Self {
        let (kind, message) = match error {
            PoolError::Backend(error) => return error.into(),
            PoolError::Timeout(TimeoutType::Wait) => {
                (Kind::Unreachable, "all connections of the pool are in use")
            }
            PoolError::Timeout(_) => (Kind::Unreachable, "the database did not answer in time"),
            PoolError::Closed => (Kind::Other, "the pool of connections is closed"),
            _ => (Kind::Other, "the pool of connections is not configured"),
        };
        StoreError::new(kind, message).into()
    }
}

impl From<tokio_postgres::Error> for DatabaseError {
    fn from(error: tokio_postgres::Error) -> Self {
        match error.as_db_error() {
            Some(reply) => of_reply(reply.code().code(), reply.message()),
            None => of_connection(&error),
        }
    }
}

const NO_TABLES: &str = "the tables of the store do not exist; call its method migrate";
const ENDED: &str = "the database ended the connection";

/// The meaning of error codes (Postgres, appendix A), or of their prefixes, for a store. The first match counts.
#[rustfmt::skip]
const MEANINGS: [(&str, Kind, &str); 24] = [
    (FOREIGN_STATE, Kind::Insecure, FOREIGN_OWNER),
    (NEWER_STATE, Kind::NewerVersion, NEWER_TABLES),
    (ENCODING_STATE, Kind::Unsupported, ENCODING),
    ("42P01", Kind::Missing, NO_TABLES),
    ("3F000", Kind::Missing, NO_TABLES),
    ("42703", Kind::Missing, "the tables of the store lack columns; call its method migrate"),
    ("3D000", Kind::Missing, "the database of the store does not exist"),
    ("25006", Kind::Denied, "the database of the store is read-only"),
    ("42501", Kind::Denied, "the role may not use the tables of the store"),
    ("53100", Kind::Full, "the disk of the database is full"),
    ("53300", Kind::Unreachable, "the database has no room for another connection"),
    ("55P03", Kind::LockTimeout, "another process writes to the same account for too long"),
    ("57014", Kind::Unreachable, "the database cancelled the statement"),
    ("22021", Kind::Other, "a text or the account's key has characters that the database cannot store"),
    ("08P01", Kind::Unreachable, "the pooler before the database ended the connection; it has to pool transactions or sessions, not statements"),
    ("57P01", Kind::Unreachable, ENDED),
    ("57P02", Kind::Unreachable, ENDED),
    ("57P05", Kind::Unreachable, ENDED),
    ("25P03", Kind::Unreachable, ENDED),
    ("08", Kind::Unreachable, ENDED),
    ("57", Kind::Unreachable, ENDED),
    ("28", Kind::Denied, "the database refused the login"),
    ("53", Kind::Full, "the database ran out of resources"),
    ("", Kind::Other, "the database refused the statement"),
];

/// Codes, or prefixes of codes, after which the connection cannot be used.
const LOST: [&str; 5] = ["57P01", "57P02", "57P05", "25P03", "08"];

/// The server's message is never shown: it may repeat values of the statement.
fn of_reply(code: &str, message: &str) -> DatabaseError {
    let cause = format!("SQLSTATE {code}");
    // PgBouncer uses this code for nearly all of its errors, most of them transient.
    if code == "08P01" && message.contains("statement pooling") {
        let message = "the pooler before the database pools statements; set its pool_mode to transaction or session";
        return StoreError::new(Kind::Unsupported, message)
            .with_source(cause)
            .into();
    }
    let meanings = MEANINGS
        .iter()
        .find(|(prefix, ..)| code.starts_with(prefix));
    let (kind, text) = meanings.map_or((Kind::Other, ""), |(_, kind, text)| (*kind, text));
    DatabaseError {
        error: StoreError::new(kind, text).with_source(cause),
        retry: match code {
            "25006" => Retry::NewConnection,
            code if LOST.iter().any(|prefix| code.starts_with(prefix)) => Retry::OtherConnection,
            _ => Retry::Never,
        },
    }
}

/// Maps a connection that failed or could not be opened.
fn of_connection(error: &tokio_postgres::Error) -> DatabaseError {
    let sources = std::iter::successors(std::error::Error::source(error), |error| error.source());
    let mut network = sources.filter_map(|source| source.downcast_ref::<std::io::Error>());
    let error = if let Some(io) = network.next() {
        let cause = format!("network: {}", io.kind());
        StoreError::new(Kind::Unreachable, "the database cannot be reached").with_source(cause)
    } else if error.is_closed() {
        StoreError::new(Kind::Unreachable, "the connection to the database was cut")
    } else {
        StoreError::new(
            Kind::Other,
            "the connection to the database failed; it may need TLS or another login",
        )
    };
    DatabaseError {
        error,
        retry: Retry::OtherConnection,
    }
}

#[cfg(test)]
mod tests {

    use super::*;

    fn of(state: &str) -> DatabaseError {
        of_reply(state, "")
    }

    #[test]
    fn the_servers_codes_say_what_to_do() {
        for (state, kind) in [
            ("42P01", Kind::Missing),
            (FOREIGN_STATE, Kind::Insecure),
            (NEWER_STATE, Kind::NewerVersion),
            (ENCODING_STATE, Kind::Unsupported),
            ("3F000", Kind::Missing),
            ("25006", Kind::Denied),
            ("42501", Kind::Denied),
            ("28P01", Kind::Denied),
            ("53100", Kind::Full),
            ("53200", Kind::Full),
            ("53300", Kind::Unreachable),
            ("57P01", Kind::Unreachable),
            ("57P03", Kind::Unreachable),
            ("08006", Kind::Unreachable),
            ("08P01", Kind::Unreachable),
        ] {
            assert_eq!(of(state).error.kind(), kind, "{state}");
        }
        let other = of("23514").error;
        assert_eq!(other.kind(), Kind::Other);
    }

    #[test]
    fn statement_pooling_differs_from_other_errors_of_the_pooler() {
        let message = "transaction blocks not allowed in statement pooling mode";
        let fault = of_reply("08P01", message);
        assert!(fault.error.kind() == Kind::Unsupported && fault.retry == Retry::Never);
        let fault = of_reply("08P01", "query_wait_timeout");
        assert_eq!(fault.retry, Retry::OtherConnection);
    }

    #[test]
    fn only_lost_and_read_only_connections_are_replaced() {
        for (state, retry) in [
            ("57P01", Retry::OtherConnection),
            ("08006", Retry::OtherConnection),
            ("25006", Retry::NewConnection),
            ("57P03", Retry::Never),
            ("42P01", Retry::Never),
        ] {
            assert_eq!(of(state).retry, retry, "{state}");
        }
    }

    #[test]
    fn without_tls_only_this_machine_is_spoken_to() {
        for near in [
            "postgres://u:p@127.0.0.1/d",
            "postgres://u:p@localhost:5433/d",
            "host=::1 user=u",
            "host=db.example.com hostaddr=127.0.0.1 user=u",
        ] {
            assert!(PostgresPool::from_url(near, 2).is_ok(), "{near}");
        }
        // Elsewhere the driver has no sockets of Unix, and takes the path for the name of a host.
        let socket = PostgresPool::from_url("host=/var/run/postgresql user=u", 2);
        assert_eq!(socket.is_ok(), cfg!(unix));
        for far in [
            "postgres://u:p@db.example.com/d",
            "host=127.0.0.1,10.0.0.1 user=u",
            "host=localhost hostaddr=10.0.0.1 user=u",
        ] {
            assert!(
                PostgresPool::from_url(far, 2).unwrap_err().kind() == Kind::Insecure,
                "{far}"
            );
        }
        let error = PostgresPool::from_url("postgres://u:hunter2@[/d", 2).unwrap_err();
        assert!(!format!("{error:?}").contains("hunter2"));
    }
}
