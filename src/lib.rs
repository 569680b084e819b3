//! A Rust SDK for two Australian livestock services: the consignment declaration API (GraphQL), where a vendor declares each
//! movement of cattle, sheep, goats or bobby calves, and the property register API (REST), which finds a property by its
//! identification code (PIC).
//!
//! # A first program
//!
//! In the `Cargo.toml` of a package next to a clone of the repository:
//!
//! ```toml
//! [dependencies]
//! envd-sdk = { path = "../envd-sdk", version = "0.1", features = ["fake"] }
//! tokio = { version = "1", features = ["macros", "rt-multi-thread"] }
//! ```
//!
//! The first line is this crate, from the clone. Its feature `fake` adds a test server with invented people, so that the
//! program below runs without an account. `tokio` runs the program: `macros` is for `#[tokio::main]`, and `rt-multi-thread`
//! for its runtime.
//!
//! ```
//! use envd_sdk::Client;
//! use envd_sdk::auth::{MemoryStore, TokenManager};
//! use envd_sdk::fake::Fake;
//! use envd_sdk::model::{ConsignmentInput, FormType, PartyInput};
//! use envd_sdk::ops::AccountChoice;
//!
//! #[tokio::main]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let fake = Fake::start().await;
//!     let provider = fake.provider().build()?;
//!     let manager = TokenManager::builder(provider).store(MemoryStore::new()).build()?;
//!     let login = manager.provider().authorization().start()?;
//!     let callback = fake.consent(login.url())?; // the user's browser
//!     manager.complete_login(login, callback.as_str()).await?;
//!
//!     let client = Client::builder(fake.graphql_url()).token_source(manager).build()?;
//!     let account = client.choose_account(&AccountChoice::Default).await?;
//!     let origin = PartyInput::new("QAZZ7777");
//!     let destination = PartyInput::new("QDZZ3333");
//!     let input = ConsignmentInput::new([FormType::Lpac1], origin, destination);
//!     let number = account.save_consignment(input.clone()).await?.number()?;
//!     let submitted = account.submit_consignment(input.number(&number)).await?;
//!     println!("Submitted as {number}, {} problems reported", submitted.problems.len());
//!     Ok(())
//! }
//! ```
//!
//! It prints `Submitted as C-..., 8 problems reported`. That is right: the program answers none of the eight required
//! questions of its form, and the service submits the declaration anyway and reports what is missing.
//!
//! * **LPA** (Livestock Production Assurance) is an industry program in which vendors are accredited; `LPAC1` is its form
//!   for cattle.
//! * A **producer** is a user with the role that may create declarations.
//! * An **account** is what a user has for one program, one property or one email address; every declaration belongs to an
//!   account.
//!
//! For the live service, ask its support team for the addresses and a client id; each address is configured in full.
//! [`guide::going_live`] has a program with a browser login, and `cargo run --example quickstart` shows every step
//! from login to logout.
//!
//! # Where to find things
//!
//! ## Start
//!
//! | task | see |
//! | --- | --- |
//! | start from a complete program for a task | [`guide::cookbook`](mod@guide::cookbook) |
//! | test your application without credentials | [`guide::testing`], [`fake`](fake/index.html) (feature `fake`) |
//! | move from the fake to the live service | [`guide::going_live`] |
//! | handle an error | [`guide::errors`], [`Error`] |
//!
//! ## Logins and accounts
//!
//! | task | see |
//! | --- | --- |
//! | log a user in, refresh and store tokens | [`auth`]: [`Provider`](auth::Provider), [`TokenManager`](auth::TokenManager), [`FileStore`](auth::FileStore) |
//! | choose a token store | [`guide::token_stores`] |
//! | log in many users, or use your own store | [`TokenManagerBuilder`](auth::TokenManagerBuilder), [`TokenStore`](auth::TokenStore), [failure modes](auth::failure_modes) |
//! | receive the login's redirect on the user's machine | [`loopback`](loopback/index.html) (feature `loopback`) |
//! | store tokens in the operating system's keyring | [`auth::keyring`](auth/keyring/index.html) (feature `keyring`) |
//! | encrypt stored tokens | [`auth::sealed`](auth/sealed/index.html) (feature `sealed`) |
//! | share tokens between many hosts | the crate [`envd-postgres`](crate#companions) |
//! | show support who is logged in and what failed | [`TokenManager::inspect`](auth::TokenManager::inspect) |
//! | choose the account to use | [`Client::choose_account`], [`AccountChoice`](ops::AccountChoice), [`AccountClient`] |
//!
//! ## Consignments
//!
//! | task | see |
//! | --- | --- |
//! | save, submit, copy, delete consignments | [`AccountClient::save_consignment`] and the other methods of [`AccountClient`] |
//! | store records elsewhere without losing a field, save a signed text byte for byte | [`guide::calls`](guide::calls#records-as-received), [`AsReceived`], [`ConsignmentText`](model::ConsignmentText) |
//! | list consignments and templates, resume a list | [`AccountClient::consignments`], [`Pager`], [`Position`](model::Position) |
//! | read comments, questions, user details, eDECs | [`ops`] |
//! | look up the types of records and inputs | [`model`]: [`Consignment`](model::Consignment), [`ConsignmentInput`](model::ConsignmentInput) |
//! | check a declaration offline, and show what is wrong | [`guide::findings`], [`validate`](mod@validate): [`Questionnaire`](validate::Questionnaire), [`Report`](validate::Report) |
//! | build a form for a declaration, in a browser | [`guide::forms`], [`Form`](validate::Form), [`guide::web_form`] |
//! | print a declaration | [`guide::printing`], [`Client::pdf`] |
//! | read a declaration received from another party | [`guide::received`] |
//! | work without reception: a local copy, an outbox, offline forms | the crate [`envd-sync`](crate#companions) |
//!
//! ## Properties
//!
//! | task | see |
//! | --- | --- |
//! | look up one property or thousands | [`register`]: [`search`](register::Register::search), [`lookup_many`](register::Register::lookup_many) |
//! | parse a PIC that a user typed, and warn about typing errors | [`Pic`](model::Pic) |
//!
//! ## Settings and limits
//!
//! | task | see |
//! | --- | --- |
//! | set proxy, certificates, time limits, retries | [`HttpOptions`], [`RetryPolicy`] |
//! | set a header or a deadline for one call, or inspect its request | [`guide::calls`], [`Call`], [`DryRun`] |
//! | serve many users over one connection pool | [`guide::calls`], [`Client::with_token_source`] |
//! | see what operations cost | [`guide::performance`] |
//!
//! ## The live schema
//!
//! | task | see |
//! | --- | --- |
//! | see how certain a field or an argument is | [`guide::coverage`], [`guide::sources`] |
//! | adapt to a live service that differs | [`guide::migrating`], [`profile::ServiceProfile`] |
//! | run your own GraphQL document, add a transporter or viewer | [`guide::own_documents`], [`Client::execute`], the crate [`envd-codegen`](crate#companions) |
//! | find the reasons for design decisions | [`guide::decisions`] |
//!
//! # How certain the interface is
//!
//! This crate has never run against the live service. The documentation of each operation, argument and field says whether the
//! specification states it, public material shows it, or we assume it. All assumptions are in the
//! [`ServiceProfile`](profile::ServiceProfile), which you can replace at run time.
//!
//! # Features
//!
//! | feature | default | what it adds |
//! | --- | --- | --- |
//! | `client` | yes | everything that sends requests |
//! | `gzip` | yes | compressed replies: a page of a list shrinks to about an eighth |
//! | `rustls` | yes | TLS with rustls and ring |
//! | `graphql_client016` | yes | support for operations from the derive of `graphql_client` 0.16, in addition to those from `envd-codegen` |
//! | `rustls-aws-lc`, `native-tls` | no | alternative TLS stacks; choose one |
//! | `loopback` | no | the module `loopback`: login on the user's machine |
//! | `loopback-https` | no | `loopback` for redirect addresses with `https` |
//! | `keyring` | no | the module `auth::keyring`: a token store in the operating system's keyring |
//! | `sealed` | no | the module `auth::sealed`: encryption of stored tokens, for any store |
//! | `fake` | no | the module `fake`, for tests |
//! | `chrono04`, `jiff02`, `time03` | no | conversions of [`Day`](model::Day) and [`Timestamp`](model::Timestamp) from and to the types of chrono 0.4, jiff 0.2 or time 0.3 |
//!
//! Without default features, only [`model`], [`profile`](mod@profile), [`validate`](mod@validate) and [`Secret`] remain, with
//! no HTTP client and no async runtime in the dependency tree.
//!
//! # Companions
//!
//! These crates are in the same repository and use only the public interface of this one. They are not published yet; each
//! README explains how to depend on the crate.
//!
//! | crate | what it adds | README |
//! | --- | --- | --- |
//! | `envd-sync` | work without reception: a local copy of an account, an outbox, offline forms | `crates/envd-sync/README.md` |
//! | `envd-postgres` | tokens and copies in Postgres, for many hosts | `crates/envd-postgres/README.md` |
//! | `envd-codegen` | typed operations from your own GraphQL documents | `crates/envd-codegen/README.md` |
//!
//! # Safety
//!
//! Tokens, codes, secrets, signatures and personal data never appear in `Debug`, in error messages or in traces. A table in
//! [`guide::decisions`](guide::decisions#calls) says which changes the client sends again.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
// `guide::testing` links to items of the fake.
#![cfg_attr(not(feature = "fake"), allow(rustdoc::broken_intra_doc_links))]
// Tests may unwrap. The library may only with `// OK because ...` on the line above.
#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::expect_used))]
// Text or lists from the server must not cause a panic: use `get`, `split_at_checked` and patterns.
#![cfg_attr(not(test), deny(clippy::string_slice, clippy::indexing_slicing))]

// First, because the modules below use its macros.
#[macro_use]
mod macros;

#[cfg(feature = "client")]
pub mod auth;
#[cfg(feature = "client")]
mod client;
#[cfg(feature = "client")]
mod error;
// For tests only, and indexes its own JSON records.
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
#[cfg(test)]
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
pub use crate::client::{AccountClient, Client};
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

// The trait of variables and replies, at a path that code generated by `envd-codegen` can use in any package.
pub use serde;

#[cfg(all(doctest, feature = "fake"))]
#[doc = include_str!("../README.md")]
struct Readme;
