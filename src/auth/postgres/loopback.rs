//! A pool for a database on this machine.

use std::net::IpAddr;
use std::time::Duration;

use deadpool_postgres::tokio_postgres::config::Host;
use deadpool_postgres::tokio_postgres::{Config, NoTls};
use deadpool_postgres::{Manager, Pool, Runtime};

use crate::auth::StoreError;
use crate::auth::store::StoreErrorKind;

const TIME_OUT: Duration = Duration::from_secs(5);

/// A pool of at most `size` connections to a database on this machine, over the loopback address or a Unix socket.
///
/// For tests, and for a database beside the application. Elsewhere the connection needs TLS: make the pool with
/// [`deadpool_postgres`] and the connector of your choice, such as that of `tokio-postgres-rustls`.
///
/// ```
/// use envd_sdk::auth::postgres::loopback_pool;
///
/// let pool = loopback_pool("postgres://app:password@127.0.0.1/app", 16)?;
/// assert!(loopback_pool("postgres://app:password@db.example.com/app", 16).is_err());
/// # let _ = pool;
/// # Ok::<(), envd_sdk::auth::StoreError>(())
/// ```
///
/// # Errors
///
/// [`is_insecure`](StoreError::is_insecure) when the database is on another machine.
pub fn loopback_pool(url: &str, size: usize) -> Result<Pool, StoreError> {
    // The reason is left out: it may repeat a part of the text, and there is a password in it.
    let mut config: Config = url
        .parse()
        .map_err(|_| StoreError::new("the connection string of the database is not readable"))?;
    let addresses = config.get_hostaddrs();
    let near = if addresses.is_empty() {
        config.get_hosts().iter().all(is_near)
    } else {
        addresses.iter().all(IpAddr::is_loopback)
    };
    if !near {
        return Err(StoreError::of(
            StoreErrorKind::Insecure,
            "the database is on another machine: hand in a pool whose connections use TLS",
        ));
    }
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(TIME_OUT);
    }
    Pool::builder(Manager::new(config, NoTls))
        .max_size(size)
        .wait_timeout(Some(TIME_OUT))
        .runtime(Runtime::Tokio1)
        .build()
        .map_err(|_| StoreError::new("the pool of connections is not set up"))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_tls_only_this_machine_is_spoken_to() {
        for near in [
            "postgres://u:p@127.0.0.1/d",
            "postgres://u:p@localhost:5433/d",
            "host=::1 user=u",
            "host=/var/run/postgresql user=u",
            "host=db.example.com hostaddr=127.0.0.1 user=u",
        ] {
            assert!(loopback_pool(near, 2).is_ok(), "{near}");
        }
        for far in [
            "postgres://u:p@db.example.com/d",
            "host=127.0.0.1,10.0.0.1 user=u",
            "host=localhost hostaddr=10.0.0.1 user=u",
        ] {
            assert!(loopback_pool(far, 2).unwrap_err().is_insecure(), "{far}");
        }
        let error = loopback_pool("postgres://u:hunter2@[/d", 2).unwrap_err();
        assert!(!format!("{error:?}").contains("hunter2"));
    }
}
