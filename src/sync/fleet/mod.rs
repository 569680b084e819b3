//! The replicas and outboxes of many accounts, served by many hosts that share a Postgres database (features `sync` and
//! `postgres`).
//!
//! | task | see |
//! | --- | --- |
//! | set a fleet up, and name its accounts | [`Fleet::builder`], [`Fleet::migrate`], [`Fleet::add`], [`Fleet::remove`] |
//! | serve accounts on a host until it is stopped | [`Fleet::run`], [`FleetLoop`], [`FleetLoopHandle::stop`] |
//! | write entries on a host that does not send, such as a web server | [`Fleet::store`] |
//! | see how it is doing | [`Fleet::status`], [`Fleet::accounts`], [`FleetEvent`] |
//!
//! [`guide::fleet`](crate::guide::fleet) says how to choose the settings, and what changes at a million accounts.
//!
//! ```
//! # equipment::example(async {
//! use std::time::Duration;
//!
//! use envd_sdk::auth::postgres::loopback_pool;
//! use envd_sdk::model::AccountId;
//! use envd_sdk::sync::fleet::Fleet;
//! use envd_sdk::sync::store::PostgresSync;
//!
//! # let fake = envd_sdk::fake::Fake::start().await;
//! # let client = fake.client().build()?;
//! # let token_of = |_: &AccountId| envd_sdk::auth::StaticToken::new("a-token");
//! let pool = loopback_pool("postgres://app:password@127.0.0.1/app", 16)?;
//! let store = PostgresSync::builder(pool.clone()).build()?;
//! let fleet = Fleet::builder(pool, store.clone())
//!     .interval(Duration::from_secs(5 * 60))
//!     .requests_per_second(200.0) // Of all hosts together.
//!     .build()?;
//! # if false {
//! store.migrate().await?; // When the application is deployed.
//! fleet.migrate().await?;
//! fleet.add(["envd-7", "envd-8"]).await?;
//! # }
//!
//! // On each host: the login of an account, over connections that all accounts share.
//! let serving = fleet.run(move |id| {
//!     let token = token_of(&id);
//!     let client = client.clone();
//!     async move { Ok(client.with_token_source(token?).account(id)) }
//! });
//! let handle = serving.handle(); // `handle.stop()` gives the leases back.
//! # handle.stop();
//! # if false {
//! serving.await;
//! # }
//! # Ok(()) });
//! ```
//!
//! # How it works
//!
//! Each account is a row with the time at which it is due. A host claims the oldest that are due with one statement
//! (`FOR UPDATE SKIP LOCKED`), which gives it a lease on them, works on some at a time, and gives those that are done back
//! with another one. There is no leader, queue or lock service: a host that is added claims its share, and the accounts of one
//! that ended are claimed when its leases are over.
//!
//! For an account it calls your function, sends what is due in the [outbox](crate::sync::outbox), and
//! [syncs](crate::sync::replica::Replica::sync) the replica if its interval is over. It does not wait for what is due later,
//! such as the second look for a lost reply: the account is due then, on any host. An account that fails is tried again
//! after 5 seconds, twice as long after each further failure, up to 5 minutes or the interval; others go on.
//!
//! **Clocks.** Only the clock of the database decides when something is due, how long a lease lasts, and what the entries and
//! replicas of the accounts hold as the time: each claim brings it along. The clocks of the hosts may differ by any amount.
//!
//! **Leases.** A host prolongs all of its leases in one statement, each third of their length. It begins no request when they
//! may be over by its own monotonic clock: not while it cannot reach the database, and not when it was suspended. When another
//! host has an account, it stops its work on that one and reports [`FleetEvent::LeaseLost`]. That nothing is sent twice does
//! not rest on leases: every mark of an outbox and every step of a replica is written over the version that it was made from,
//! and who takes over looks for what was in flight before it sends anything.
//!
//! **New entries.** What is written over [`Fleet::store`] makes its account due and notifies the hosts. With
//! [`listen`](FleetBuilder::listen) a host is woken at once; without it, or behind a pooler of transactions, where `LISTEN` is
//! accepted and nothing ever arrives, it finds the account at its next [`poll`](FleetBuilder::poll). An entry whose
//! announcement was lost, or that was written over the store itself, is found with every fourth claim of its account.
//!
//! **Limits.** Every request to the service passes the limit of the host and that of the fleet, also one that is sent again;
//! requests for tokens go to the identity provider and do not count. The fleet's limit is a row in which hosts reserve stretches
//! of time, on the database's clock and at most a second ahead: `n` requests take `n / limit` seconds. While the database does not
//! answer, nothing is reserved and nothing is sent. In a time of `t` seconds a host sends at most `(t + 0.1) * limit + 1`.
//!
//! **Retry-After.** HTTP 429 is for the account that got it: it is not due before. HTTP 503 is maintenance (spec 7.1, see
//! [`guide::sources`](crate::guide::sources)), and stops all requests of the host until then; so do three accounts in a row that
//! get 429 (assumed: the service states no limits). No work sleeps meanwhile.
//!
//! **A host without a way to the service.** When three accounts in a row get no reply, the host claims nothing for 10 seconds,
//! and gives back what it has as due: other hosts may get replies.
//!
//! **Stopping.** [`FleetLoopHandle::stop`] claims nothing more and begins no request. Requests in flight end within
//! [`shutdown_time`](FleetBuilder::shutdown_time), and the leases go back in one statement. Dropping a [`FleetLoop`] is like the
//! end of its process: the leases run out.
//!
//! # What it costs
//!
//! | | |
//! | --- | --- |
//! | an account in which nothing changes | 2.3 statements a round, counted with 64 accounts: two of the replica, a quarter of the outbox, and its part of claim and return; 1 request |
//! | an idle host | one statement each [`poll`](FleetBuilder::poll) |
//! | a host that works | a statement each third of the lease; with a limit of the fleet about four a second at most |
//! | memory | the accounts that a host has claimed, at most twice its [`concurrency`](FleetBuilder::concurrency) |
//! | a row | some 200 bytes, written twice a round |
//!
//! # What it needs
//!
//! Postgres 11 or newer; a pooler between (`PgBouncer`) may pool transactions, except for the connection that
//! [listens](FleetBuilder::listen). The rows of the fleet and the store of the accounts may be in different databases. All hosts
//! set the same interval, lease, limit and schema. Roles and owners are as for
//! [`auth::postgres`](crate::auth::postgres#other-roles-on-the-server). The ids of accounts are stored in the clear, since
//! your function gets them; traces have numbers of accounts and never ids.
//!
//! # What it does not claim
//!
//! * That two hosts never work on one account at the same moment: a host that hangs longer than its lease may still have a
//!   request in flight. The outbox settles that.
//! * That what was committed outlives a failover to a replica that lacks it. Marks that a request was sent are such commits: use
//!   synchronous replication, or expect that a declaration may be sent again after such a failover.
//! * That an account is on time when the hosts or the limit cannot serve all: then the oldest due is first, and
//!   [`FleetStatus::lag`] grows.

mod account_fleet;
mod claims;
mod fleet_event;
mod fleet_loop;
mod fleet_store;
mod gate;
mod host;
mod listener;
mod pace;
mod status;
mod tables;
#[cfg(test)]
mod tests;
mod work;

pub use self::account_fleet::{Fleet, FleetBuilder};
pub use self::fleet_event::FleetEvent;
pub use self::fleet_loop::{FleetLoop, FleetLoopHandle};
pub use self::fleet_store::FleetStore;
pub use self::status::{FleetAccount, FleetStatus};
