//! What the database said, as errors of stores.

use deadpool_postgres::tokio_postgres::error::SqlState;
use deadpool_postgres::tokio_postgres::{self};
use deadpool_postgres::{PoolError, TimeoutType};

use crate::auth::StoreError;
use crate::auth::store::StoreErrorKind;

/// A failure, and whether the connection is to blame: then another one may do.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) error: StoreError,
    pub(super) of_connection: bool,
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self {
            error,
            of_connection: false,
        }
    }
}

/// Without the driver's own words: they may repeat a part of what was sent.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Cause(String);

pub(super) fn failed(error: tokio_postgres::Error) -> Fault {
    match error.as_db_error() {
        Some(reply) => said(reply.code(), reply.message()),
        None => unsaid(&error),
    }
}

/// The server has told a reason (Postgres, appendix A). The message is never shown: it may repeat a part of what was sent.
fn said(state: &SqlState, message: &str) -> Fault {
    // PgBouncer has this one code for nearly all of its errors, and most of them pass by themselves.
    if state.code() == "08P01" && message.contains("statement pooling") {
        let error = StoreError::of(
            StoreErrorKind::Unsupported,
            "the pooler before the database pools statements; set its pool_mode to transaction or session",
        );
        return Fault {
            error: error.caused_by(Cause(format!("SQLSTATE {}", state.code()))),
            of_connection: false,
        };
    }
    let class = &state.code()[..2];
    let gone = ["57P01", "57P02", "57P05", "25P03"].contains(&state.code());
    let error = match state.code() {
        "42P01" | "3F000" => StoreError::of(
            StoreErrorKind::Missing,
            "the tables of the token store do not exist; call PostgresStore::migrate",
        ),
        "42703" => StoreError::of(
            StoreErrorKind::Missing,
            "the tables of the token store are not as this version makes them; call PostgresStore::migrate",
        ),
        "3D000" => StoreError::of(
            StoreErrorKind::Missing,
            "the database of the token store does not exist",
        ),
        "25006" => StoreError::of(
            StoreErrorKind::Denied,
            "the database of the token store is read-only",
        ),
        "42501" => StoreError::of(
            StoreErrorKind::Denied,
            "the role may not use the tables of the token store",
        ),
        "53100" => StoreError::of(StoreErrorKind::Full, "the disk of the database is full"),
        "53300" => StoreError::of(
            StoreErrorKind::Unreachable,
            "the database has no room for another connection",
        ),
        "57014" => StoreError::of(
            StoreErrorKind::Unreachable,
            "the database gave up on the statement",
        ),
        "22021" => StoreError::new("the account's key holds what the database cannot store"),
        "08P01" => StoreError::of(
            StoreErrorKind::Unreachable,
            "the pooler before the database ended the connection; it has to pool transactions or sessions, not statements",
        ),
        _ if gone || class == "08" || class == "57" => StoreError::of(
            StoreErrorKind::Unreachable,
            "the database ended the connection",
        ),
        _ if class == "28" => {
            StoreError::of(StoreErrorKind::Denied, "the database refused the login")
        }
        _ if class == "53" => {
            StoreError::of(StoreErrorKind::Full, "the database ran out of resources")
        }
        _ => StoreError::new("the database refused the statement"),
    };
    Fault {
        error: error.caused_by(Cause(format!("SQLSTATE {}", state.code()))),
        of_connection: gone || class == "08",
    }
}

/// The connection failed, or could not be made.
fn unsaid(error: &tokio_postgres::Error) -> Fault {
    let mut below = std::error::Error::source(error);
    while let Some(source) = below {
        if let Some(io) = source.downcast_ref::<std::io::Error>() {
            let cause = Cause(format!("network: {}", io.kind()));
            return lost(
                StoreError::of(
                    StoreErrorKind::Unreachable,
                    "the database cannot be reached",
                )
                .caused_by(cause),
            );
        }
        below = source.source();
    }
    if error.is_closed() {
        return lost(StoreError::of(
            StoreErrorKind::Unreachable,
            "the connection to the database was cut",
        ));
    }
    lost(StoreError::new(
        "the connection to the database failed; it may want TLS or another login",
    ))
}

fn lost(error: StoreError) -> Fault {
    Fault {
        error,
        of_connection: true,
    }
}

pub(super) fn no_connection(error: PoolError) -> Fault {
    match error {
        PoolError::Backend(error) => failed(error),
        PoolError::Timeout(TimeoutType::Wait) => StoreError::of(
            StoreErrorKind::Unreachable,
            "all connections of the pool are in use",
        )
        .into(),
        PoolError::Timeout(_) => too_slow(),
        PoolError::Closed => StoreError::new("the pool of connections is closed").into(),
        PoolError::NoRuntimeSpecified | PoolError::PostCreateHook(_) => {
            StoreError::new("the pool of connections is not set up").into()
        }
    }
}

pub(super) fn too_slow() -> Fault {
    StoreError::of(
        StoreErrorKind::Unreachable,
        "the database did not answer in time",
    )
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(state: &str) -> Fault {
        said(&SqlState::from_code(state), "")
    }

    #[test]
    fn the_servers_codes_say_what_to_do() {
        for (state, fits) in [
            ("42P01", StoreError::is_missing as fn(&StoreError) -> bool),
            ("3F000", StoreError::is_missing),
            ("25006", StoreError::is_denied),
            ("42501", StoreError::is_denied),
            ("28P01", StoreError::is_denied),
            ("53100", StoreError::is_full),
            ("53200", StoreError::is_full),
            ("53300", StoreError::is_unreachable),
            ("57P01", StoreError::is_unreachable),
            ("57P03", StoreError::is_unreachable),
            ("08006", StoreError::is_unreachable),
            ("08P01", StoreError::is_unreachable),
        ] {
            assert!(fits(&of(state).error), "{state}");
        }
        let other = of("23514").error;
        assert!(!other.is_missing() && !other.is_unreachable() && !other.is_denied());
    }

    #[test]
    fn pooling_of_statements_is_told_from_the_poolers_other_errors() {
        let state = SqlState::from_code("08P01");
        let message = "transaction blocks not allowed in statement pooling mode";
        let fault = said(&state, message);
        assert!(fault.error.is_unsupported() && !fault.of_connection);
        assert!(said(&state, "query_wait_timeout").of_connection);
    }

    #[test]
    fn another_connection_is_tried_only_when_one_is_gone() {
        for (state, gone) in [
            ("57P01", true),
            ("08006", true),
            ("57P03", false),
            ("42P01", false),
        ] {
            assert_eq!(of(state).of_connection, gone, "{state}");
        }
    }
}
