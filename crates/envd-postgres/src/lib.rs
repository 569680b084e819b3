//! Tokens in Postgres, for applications on many hosts (feature `postgres`).
//!
//! [`guide::token_stores`](envd_sdk::guide::token_stores) says which application needs it. Put a
//! [`SealedStore`](envd_sdk::auth::sealed::SealedStore) around it: then no dump, replica or backup of the table holds a token, and
//! with [`hash_accounts`](envd_sdk::auth::sealed::SealedStore::hash_accounts) no account either.
//!
//! # When the database fails during a refresh
//!
//! The lock ends with its connection, so a restart, a failover or a cut network frees it while its host may still get the
//! reply to a refresh. The mark in the record stays, and other hosts do not refresh a marked record before
//! [`mark_wait`](envd_sdk::auth::TokenManagerBuilder::mark_wait) has passed; its owner stores the new tokens as soon as it can.
//! A host that does not reply for five minutes loses its lock too, and finds its record unchanged if it comes back within
//! the same wait. Meanwhile callers without a valid token get a retryable error.
//!
//! # What it costs
//!
//! A fresh token is read from memory, without the database. A refresh takes three round trips: the lock together with the
//! record, the mark that a refresh begins, the new tokens. A fourth message frees the lock; the refresh does not wait for
//! its reply. A host that has just started reads the record once more before.
//!
//! A million users with tokens of 24 hours who all come every day, by the sizes that providers issue:
//!
//! | | |
//! | --- | --- |
//! | rows | 1,000,000; sealed 5 kB each, so 5 GB, and up to twice that until autovacuum has run |
//! | writes | two for each refresh: 2 million a day, 23 a second on average, 10 GB of write-ahead log |
//! | lock attempts | 12 a second on average; a host that waits for another host's refresh tries again every 100 ms |
//! | connections | one for each refresh, as long as the identity provider takes: at 12 refreshes a second of 300 ms each, four, over all hosts |
//!
//! One small server is enough. A pool of 16 connections on each of eight hosts carries 400 refreshes a second.
//!
//! # What it needs
//!
//! Postgres 11 or newer, or a compatible database with advisory locks. The lock is held by a transaction, so a pooler
//! between (`PgBouncer`) may pool sessions or transactions. Behind one that pools statements (`pool_mode = statement`) every
//! lock and migration fails with [`is_unsupported`](envd_sdk::auth::StoreError::is_unsupported) and SQLSTATE 08P01. A lock
//! takes one of the pooler's connections for the whole refresh, so count them in its `default_pool_size`. The role needs
//! `SELECT`, `INSERT`, `UPDATE` and `DELETE` on the tables, and the right to create them for [`PostgresStore::migrate`]. If
//! another role creates the tables, it runs [`PostgresStore::migration_sql`].
//!
//! # Other roles on the server
//!
//! The `search_path` of a connection, role or database does not decide what runs (CVE-2018-1058): every statement names the schema
//! of each table, and of each function, operator and type as well unless its transaction has set a `search_path` of its own with
//! `SET LOCAL`. The settings of the pool's connections stay as they are.
//!
//! The owner of a table, and of its schema, can change what is stored, so both must belong to the connection's role, the
//! owner of the database, a superuser, or the role of [`PostgresBuilder::owner`]. Any other owner is refused with
//! [`is_insecure`](envd_sdk::auth::StoreError::is_insecure), in `migrate` and before the tables are first used.
//!
//! The lock of an account is an advisory lock. Any role that may connect to the same database can take it by its number and
//! so stop refreshes, which then end in [`is_lock_timeout`](envd_sdk::auth::StoreError::is_lock_timeout). It cannot release
//! a lock that a host holds, so no refresh token is ever sent twice by it. Give the store a database of its own where
//! other roles are not trusted to leave it running.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::expect_used))]
#![cfg_attr(not(test), deny(clippy::string_slice, clippy::indexing_slicing))]

// First, since its macros serve all that follow.
#[macro_use]
mod macros;

mod connection;
mod database;
pub mod guide;
mod postgres_builder;
mod schema;
mod sync_store;
mod token_store;

pub use deadpool_postgres;

pub use self::connection::loopback_pool;
pub use self::postgres_builder::PostgresBuilder;
pub use self::sync_store::PostgresSync;
#[doc(alias("database", "many hosts"))]
pub use self::token_store::PostgresStore;
