//! A record as a row.
//!
//! Statements that run outside a transaction rely on qualified names alone: every table, function, operator and type names
//! its schema, so no `search_path` decides what runs. `tests/postgres/hostile.rs` holds that.

use std::time::{SystemTime, UNIX_EPOCH};

use deadpool_postgres::tokio_postgres::Row;
use deadpool_postgres::tokio_postgres::types::{ToSql, Type};

use super::fault::{Fault, failed};
use crate::auth::{Record, Version, Versioned};
use crate::secret::Secret;

pub(super) const LOAD: &str =
    "SELECT version, record FROM {table} WHERE account OPERATOR(pg_catalog.=) $1";

/// A first write. Each write tells the version if it went through. That the new version is there already can only mean that this very write was sent before.
pub(super) const INSERT: &str = "INSERT INTO {table} AS stored
    (account, version, record, generation, issued_at, expires_at, refresh_began_at, written_at)
    VALUES ($1, $2, $3, $4, pg_catalog.to_timestamp($5), pg_catalog.to_timestamp($6),
        pg_catalog.to_timestamp($7), pg_catalog.now())
    ON CONFLICT (account) DO UPDATE SET written_at = pg_catalog.now()
    WHERE stored.version OPERATOR(pg_catalog.=) $2 RETURNING version";

/// A write in the place of the expected version, `$8`.
pub(super) const UPDATE: &str = "UPDATE {table} SET version = $2, record = $3, generation = $4,
    issued_at = pg_catalog.to_timestamp($5), expires_at = pg_catalog.to_timestamp($6),
    refresh_began_at = pg_catalog.to_timestamp($7), written_at = pg_catalog.now()
    WHERE account OPERATOR(pg_catalog.=) $1
    AND (version OPERATOR(pg_catalog.=) $8 OR version OPERATOR(pg_catalog.=) $2) RETURNING version";

pub(super) const DELETE: &str = "DELETE FROM {table} WHERE account OPERATOR(pg_catalog.=) $1
    AND version OPERATOR(pg_catalog.=) $2 RETURNING version";

pub(super) fn read(row: &Row) -> Result<Versioned, Fault> {
    let version: i64 = row.try_get(0).map_err(failed)?;
    let record = Secret::new(row.try_get::<_, String>(1).map_err(failed)?);
    let record = Record::from_secret_json(&record)?;
    let version = Version::new(version.cast_unsigned());
    Ok(Versioned::new(version, record))
}

/// The columns of a write.
pub(super) struct Columns {
    version: i64,
    record: Secret,
    generation: i64,
    issued_at: f64,
    expires_at: f64,
    refresh_began_at: Option<f64>,
    expected: Option<i64>,
}

impl Columns {
    pub(super) fn new(record: &Record, expected: Option<Version>) -> Self {
        let tokens = record.tokens();
        Self {
            // At random, and so never twice: neither after the row was deleted, nor by two hosts at once.
            version: fastrand::i64(1..),
            record: record.to_secret_json(),
            generation: i64::try_from(tokens.generation()).unwrap_or(i64::MAX),
            issued_at: epoch(tokens.issued_at()),
            expires_at: epoch(tokens.expires_at()),
            refresh_began_at: record.refresh_began_at().map(epoch),
            expected: expected.map(|version| version.number().cast_signed()),
        }
    }

    pub(super) fn version(&self) -> Version {
        Version::new(self.version.cast_unsigned())
    }

    pub(super) fn statement(&self) -> &'static str {
        match self.expected {
            Some(_) => UPDATE,
            None => INSERT,
        }
    }

    pub(super) fn text(&self) -> &str {
        self.record.expose()
    }

    /// As the statements number them; what is borrowed is the key and the text of the record.
    pub(super) fn parameters<'a>(&'a self, key: &'a &str, text: &'a &str) -> Vec<Parameter<'a>> {
        let mut all: Vec<Parameter<'a>> = vec![
            (key, Type::TEXT),
            (&self.version, Type::INT8),
            (text, Type::TEXT),
            (&self.generation, Type::INT8),
            (&self.issued_at, Type::FLOAT8),
            (&self.expires_at, Type::FLOAT8),
            (&self.refresh_began_at, Type::FLOAT8),
        ];
        if let Some(expected) = &self.expected {
            all.push((expected, Type::INT8));
        }
        all
    }
}

pub(super) type Parameter<'a> = (&'a (dyn ToSql + Sync), Type);

fn epoch(time: SystemTime) -> f64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    since.as_secs_f64()
}
