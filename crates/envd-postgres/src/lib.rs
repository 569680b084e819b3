//! Tokens and local copies in Postgres, for applications on many hosts.
//!
//! | task | see |
//! | --- | --- |
//! | keep the tokens of many users, and refresh each once for all hosts | [`PostgresStore`] |
//! | keep copies of accounts and their outboxes | [`PostgresSync`] |
//! | create the tables, or let another role create them | [`PostgresStore::migrate`], [`PostgresStore::migration_sql`]; the same methods of [`PostgresSync`] |
//! | connect to a database on this machine, or elsewhere with TLS | [`PostgresPool`] |
//! | choose schema, owner and time-out | [`PostgresBuilder`] |
//! | run the accounts as jobs of a queue, and size it | [`guide::many_hosts`] |
//! | choose among all stores of tokens | [`envd_sdk::guide::token_stores`] |
//!
//! Both stores over one pool, in one schema:
//!
//! ```
//! use envd_postgres::{PostgresPool, PostgresStore, PostgresSync};
//! use envd_sdk::auth::TokenManager;
//! use envd_sync::Replica;
//!
//! # test_support::example(async {
//! let pool = PostgresPool::from_url("postgres://app:password@127.0.0.1/app", 16)?;
//! let tokens = PostgresStore::builder(pool.clone()).build()?;
//! let copies = PostgresSync::builder(pool).build()?;
//! # if false {
//! tokens.migrate().await?; // when the application is deployed
//! copies.migrate().await?;
//! # }
//!
//! # let fake = envd_sdk::fake::Fake::start().await;
//! # let provider = fake.provider().build()?;
//! # let account = fake.client().build()?.account(fake.account_id());
//! let manager = TokenManager::builder(provider).store(tokens).account("sam").build()?;
//! let replica = Replica::new(&account, copies);
//! # let _ = (manager, replica);
//! # Ok(()) });
//! ```
//!
//! Tokens are stored as plain text unless the store is [sealed](envd_sdk::guide::token_stores#sealed): then no dump, replica or
//! backup of the table reveals a token or an account. Copies are plain text: encrypt the volume of the database.
//!
//! # What it needs
//!
//! * **Server**: Postgres 11 or newer, or a compatible database with advisory locks and PL/pgSQL, which migrations use.
//! * **Pooler**: `PgBouncer` may pool sessions or transactions, since everything runs in transactions and depends on nothing
//!   outside them. With statement pooling (`pool_mode = statement`) every call except `migrate` fails with
//!   [`Unsupported`](envd_sdk::auth::StoreErrorKind::Unsupported) and SQLSTATE 08P01. A token refresh occupies a server connection
//!   until the identity provider has replied, so include refreshes in `default_pool_size`.
//! * **Rights**: `SELECT`, `INSERT`, `UPDATE` and `DELETE` on the tables, and the right to create them for `migrate`. If another
//!   role creates the tables, it runs `migration_sql`; name it with [`owner`](PostgresBuilder::owner).
//!
//! # Other roles on the server
//!
//! The `search_path` of a connection, role or database does not affect which code runs (CVE-2018-1058): each transaction sets its
//! own to `pg_catalog`, with `SET LOCAL`, and statements name the schema of their tables. So functions, operators and types of
//! other roles are never looked up, and the settings of the pool's connections do not change.
//!
//! The owner of a table, or of its schema, can change the stored data. So both must belong to the connection's role, the owner of
//! the database, a superuser, or the role of [`PostgresBuilder::owner`]. Any other owner is refused with
//! [`Insecure`](envd_sdk::auth::StoreErrorKind::Insecure), in `migrate` and before the tables are first used.
//!
//! The lock of a user's tokens is an advisory lock. Any role that may connect to the same database can take it by its number and so
//! block refreshes, which then end in [`LockTimeout`](envd_sdk::auth::StoreErrorKind::LockTimeout). It cannot release a lock that a
//! host holds, so it cannot cause a refresh token to be sent twice. If you do not trust other roles in this respect, give the store
//! its own database.
//!
//! # When the database fails
//!
//! If a connection is lost, the call is repeated once over another one, provided that it has written nothing yet or that a second
//! write is harmless. After a failover the pool may hold read-only sessions; the first write over one of them closes the idle ones
//! and is repeated over a new one. If that fails too, it is an error of the store, most often
//! [`Unreachable`](envd_sdk::auth::StoreErrorKind::Unreachable).
//!
//! During a refresh: the lock ends with its connection, so a restart, a failover or a network failure frees it, while its host may
//! still get the reply of the identity provider. The mark in the record stays, and other hosts do not refresh a marked record
//! before [`mark_wait`](envd_sdk::auth::Timing::mark_wait) has passed; its owner stores the new tokens as soon as it can. A host
//! that does not reply for five minutes loses its lock too, and finds its record unchanged if it comes back within the same wait.
//! Meanwhile callers without a valid token get a retryable error.
//!
//! # What it costs
//!
//! Each call is one round trip, which begins and ends its transaction; a commit of [`PostgresSync`] takes two. A fresh token is
//! read from memory, without the database. A refresh takes three round trips: the lock together with the record, the mark that a
//! refresh begins, the new tokens. A fourth message frees the lock; the refresh does not wait for its reply. A host that has just
//! started reads the record once more before that.
//!
//! For a million users with tokens of 24 hours who are all active every day, with typical token sizes of providers:
//!
//! | | |
//! | --- | --- |
//! | rows | 1,000,000; sealed 5 kB each, so 5 GB, and up to twice that until autovacuum has run |
//! | writes | two for each refresh: 2 million a day, 23 a second on average, 10 GB of write-ahead log |
//! | lock attempts | 12 a second on average; a host that waits for another host's refresh tries again every 100 ms |
//! | connections | one for each refresh, until the identity provider replies: at 12 refreshes a second of 300 ms each, four, over all hosts |
//!
//! One small server is enough. A pool of 16 connections on each of eight hosts carries 400 refreshes a second.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::expect_used))]
#![cfg_attr(not(test), deny(clippy::string_slice, clippy::indexing_slicing))]

mod connection;
mod database;
pub mod guide;
mod postgres_builder;
mod schema;
mod statement;
mod sync_store;
mod token_store;

#[cfg(feature = "deadpool_postgres014")]
pub use deadpool_postgres;

pub use self::connection::PostgresPool;
pub use self::postgres_builder::PostgresBuilder;
pub use self::sync_store::PostgresSync;
#[doc(alias("database", "many hosts"))]
pub use self::token_store::PostgresStore;
