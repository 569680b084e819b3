//! A Rust SDK for two Australian livestock services: the consignment declaration API (GraphQL), where a vendor declares each
//! movement of cattle, sheep, goats or bobby calves, and the property register API (REST), which finds a property by its
//! identification code (PIC).
//!
//! # A first call
//!
//! Ask the service's support team for the addresses and the client id. Each address is set in full. This example uses
//! those of the fake.
//!
//! ```
//! # equipment::example(async {
//! use envd_sdk::Client;
//! use envd_sdk::auth::StaticToken;
//!
//! let fake = envd_sdk::fake::Fake::start().await;
//! let token = StaticToken::new(fake.access_token().expose())?;
//! let client = Client::builder(fake.graphql_url()).token_source(token).build()?;
//!
//! let user = client.registered_user().await?.value;
//! let account = user.producer_accounts().next().ok_or("no producer's account")?;
//! let label = account.account_label.as_deref().unwrap_or("an account");
//! println!("{label} may create consignments");
//! # Ok(()) });
//! ```
//!
//! `cargo run --example quickstart` shows every step from login to logout. [`guide::going_live`] has a program for the live
//! service, with a login.
//!
//! # Where to find things
//!
//! ## Start
//!
//! | task | see |
//! | --- | --- |
//! | start from a whole program for a task | [`guide::cookbook`](mod@guide::cookbook) |
//! | test your application without credentials | [`guide::testing`], [`fake`](fake/index.html) (feature `fake`) |
//! | go from the fake to the live service | [`guide::going_live`] |
//! | handle an error | [`guide::errors`], [`Error`] |
//!
//! ## Logins and accounts
//!
//! | task | see |
//! | --- | --- |
//! | log a user in, refresh and store tokens | [`auth`]: [`Provider`](auth::Provider), [`TokenManager`](auth::TokenManager), [`FileStore`](auth::FileStore) |
//! | choose a token store | [`guide::token_stores`] |
//! | log in many users, or use a store of your own | [`TokenManagerBuilder`](auth::TokenManagerBuilder), [`TokenStore`](auth::TokenStore), [failure modes](auth::failure_modes) |
//! | receive the login's redirect on the user's own machine | [`loopback`](loopback/index.html) (feature `loopback`) |
//! | keep tokens in the keyring of the operating system | [`auth::keyring`](auth/keyring/index.html) (feature `keyring`) |
//! | keep stored tokens encrypted | [`auth::sealed`](auth/sealed/index.html) (feature `sealed`) |
//! | share tokens between many hosts | the crate [`envd-postgres`](crate#companions) |
//! | show support who is logged in, and what failed | [`TokenManager::inspect`](auth::TokenManager::inspect) |
//! | choose the account to act for | [`Client::choose_account`], [`AccountChoice`](ops::AccountChoice), [`Account`] |
//!
//! ## Consignments
//!
//! | task | see |
//! | --- | --- |
//! | save, submit, copy, delete consignments | [`Account::save_consignment`] and the other methods of [`Account`] |
//! | keep records elsewhere without losing a field, save a signed text byte for byte | [`guide::calls`](guide::calls#records-as-received), [`AsReceived`], [`ConsignmentText`](model::ConsignmentText) |
//! | list consignments and templates, resume a list | [`Account::consignments`], [`Pager`], [`Position`](model::Position) |
//! | read comments, questions, user details, eDECs | [`ops`] |
//! | know the types of records and inputs | [`model`]: [`Consignment`](model::Consignment), [`ConsignmentInput`](model::ConsignmentInput) |
//! | check a declaration offline, and show what is wrong | [`guide::findings`], [`validate`](mod@validate): [`Questionnaire`](validate::Questionnaire), [`Report`](validate::Report) |
//! | build a form for a declaration, in a browser | [`guide::forms`], [`Form`](validate::Form), [`guide::web_form`] |
//! | print a declaration | [`guide::printing`], [`Client::pdf`] |
//! | read a declaration that somebody else wrote | [`guide::received`] |
//! | work without reception: a local copy, an outbox, offline forms | the crate [`envd-sync`](crate#companions) |
//!
//! ## Properties
//!
//! | task | see |
//! | --- | --- |
//! | look up one property or thousands | [`register`]: [`search`](register::Register::search), [`lookup_many`](register::Register::lookup_many) |
//! | read a PIC that a user typed, and warn of typing errors | [`Pic`](model::Pic) |
//!
//! ## Settings and limits
//!
//! | task | see |
//! | --- | --- |
//! | set proxy, certificates, time limits, retries | [`HttpOptions`], [`RetryPolicy`] |
//! | set a header or a deadline for one call, or inspect its request | [`guide::calls`], [`Call`], [`DryRun`] |
//! | serve many users over one pool of connections | [`guide::calls`], [`Client::with_token_source`] |
//! | see what operations cost | [`guide::performance`] |
//!
//! ## The live schema
//!
//! | task | see |
//! | --- | --- |
//! | see how certain a field or an argument is | [`guide::coverage`], [`guide::sources`] |
//! | adapt to a live service that differs | [`guide::migrating`], [`profile::ServiceProfile`] |
//! | run a GraphQL document of your own, add a transporter or viewer | [`guide::own_documents`], [`Client::execute`], the crate [`envd-codegen`](crate#companions) |
//! | read the reasons of design decisions | [`guide::decisions`] |
//!
//! # How certain the interface is
//!
//! This crate has never run against the live service. The documentation of each operation, argument and field says whether
//! the specification states it, public material shows it, or we assume it. All assumptions are in the
//! [`ServiceProfile`](profile::ServiceProfile), which you can replace at run time.
//!
//! # Features
//!
//! | feature | default | what it adds |
//! | --- | --- | --- |
//! | `client` | yes | everything that sends requests |
//! | `gzip` | yes | compressed replies: a page of a list shrinks to about an eighth |
//! | `rustls` | yes | TLS by rustls with ring |
//! | `graphql_client016` | yes | operations that the derive of `graphql_client` 0.16 makes, beside those of `envd-codegen` |
//! | `rustls-aws-lc`, `native-tls` | no | other TLS stacks; choose one |
//! | `loopback` | no | the module `loopback`: login on the user's own machine |
//! | `loopback-https` | no | `loopback` for redirect addresses with `https` |
//! | `keyring` | no | the module `auth::keyring`: a token store in the keyring of the operating system |
//! | `sealed` | no | the module `auth::sealed`: encryption of stored tokens, for any store |
//! | `fake` | no | the module `fake`, for tests |
//! | `chrono04`, `jiff02`, `time03` | no | [`Day`](model::Day) and [`Timestamp`](model::Timestamp) from and to the types of chrono 0.4, jiff 0.2 or time 0.3 |
//!
//! Without default features only [`model`], [`profile`](mod@profile), [`validate`](mod@validate) and [`Secret`] remain, with no HTTP
//! client and no async runtime in the tree.
//!
//! # Companions
//!
//! Crates of the same repository, over the public interface of this one. They are not published yet; the README of each shows how to
//! depend on it.
//!
//! | crate | what it adds | README |
//! | --- | --- | --- |
//! | `envd-sync` | work without reception: a local copy of an account, an outbox, offline forms | `crates/envd-sync/README.md` |
//! | `envd-postgres` | tokens and copies in Postgres, for many hosts | `crates/envd-postgres/README.md` |
//! | `envd-codegen` | typed operations from GraphQL documents of your own | `crates/envd-codegen/README.md` |
//!
//! # Safety
//!
//! Tokens, codes, secrets, signatures and personal data never appear in `Debug`, in error messages or in traces. The client sends
//! a change again only if it surely did not arrive, or the server refused it for a reason that has passed.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
// `guide::testing` links to items of the fake.
#![cfg_attr(not(feature = "fake"), allow(rustdoc::broken_intra_doc_links))]
// Tests may unwrap; the library has `// OK because ...` on the line above where it must.
#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::expect_used))]
// A text or a list from the server must not cause a panic: use `get`, `split_at_checked` and patterns.
#![cfg_attr(not(test), deny(clippy::string_slice, clippy::indexing_slicing))]

// First: the modules below use its macros.
#[macro_use]
mod macros;

#[cfg(feature = "client")]
pub mod auth;
#[cfg(feature = "client")]
mod client;
#[cfg(feature = "client")]
mod error;
// It serves tests, and indexes JSON of its own records.
#[cfg(feature = "fake")]
#[allow(clippy::indexing_slicing)]
pub mod fake;
#[cfg(feature = "client")]
pub mod graphql;
#[cfg(feature = "client")]
pub mod guide;
#[cfg(feature = "client")]
mod locked;
#[cfg(feature = "loopback")]
pub mod loopback;
pub mod model;
#[cfg(feature = "client")]
pub mod ops;
pub mod profile;
#[cfg(feature = "client")]
pub mod register;
mod secret;
#[cfg(feature = "client")]
mod send;
#[cfg(all(test, feature = "client"))]
mod tests;
#[cfg(feature = "client")]
mod transport;
pub mod validate;
#[cfg(feature = "chrono04")]
mod with_chrono;
#[cfg(feature = "jiff02")]
mod with_jiff;
#[cfg(feature = "time03")]
mod with_time;

#[cfg(feature = "client")]
#[doc(alias("base url", "endpoint"))]
pub use crate::client::ClientBuilder;
#[cfg(feature = "client")]
pub use crate::client::{Account, Client};
#[cfg(feature = "client")]
#[doc(alias = "exception")]
pub use crate::error::Error;
#[cfg(feature = "client")]
pub use crate::error::{ConnectCause, ErrorKind, Reaction, Result};
#[cfg(feature = "client")]
#[doc(inline)]
#[doc(alias("raw", "unknown fields"))]
pub use crate::graphql::as_received::AsReceived;
#[cfg(feature = "client")]
#[doc(inline)]
#[doc(alias = "warning")]
pub use crate::graphql::outcome::Outcome;
#[doc(alias("password", "redact", "zeroize"))]
pub use crate::secret::Secret;
#[cfg(feature = "client")]
#[doc(alias("iterate", "stream"))]
pub use crate::send::pages::Items;
#[cfg(feature = "client")]
pub use crate::send::pages::Page;
#[cfg(feature = "client")]
#[doc(alias("pagination", "paginate", "paging", "cursor"))]
pub use crate::send::pages::Pager;
#[cfg(feature = "client")]
pub use crate::send::{Call, DryRun};
#[cfg(feature = "client")]
#[doc(alias("mock time", "time travel"))]
pub use crate::transport::Clock;
#[cfg(feature = "client")]
pub use crate::transport::HttpOptions;
#[cfg(feature = "client")]
#[doc(alias("backoff", "resend"))]
pub use crate::transport::RetryPolicy;

// The trait of variables and replies, under a path that code written by `envd-codegen` can name in any package.
pub use serde;

#[cfg(all(doctest, feature = "fake"))]
#[doc = include_str!("../README.md")]
struct Readme;
