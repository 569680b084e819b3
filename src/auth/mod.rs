//! Login, and tokens that are renewed and stored.
//!
//! A [`Provider`] holds the settings of the identity provider; [`Provider::discover`] reads its addresses from what it
//! publishes. [`Provider::authorization`] starts a login, the user's
//! browser is redirected with a callback, and [`TokenManager::complete_login`] turns it into tokens. From then on
//! [`TokenManager`] serves access tokens, renews them before they expire, and stores them in a [`TokenStore`].
//!
//! | task | see |
//! | --- | --- |
//! | name the identity provider and the client | [`Provider::builder`], [`ProviderBuilder`] |
//! | begin a login, and end it with the callback | [`Provider::authorization`], [`PendingLogin`], [`TokenManager::complete_login`] |
//! | check id tokens in a way of your own, such as their signatures | [`ProviderBuilder::id_token_check`] |
//! | log in from a device without a browser | [`LoginRequest::start_device`], [`TokenManager::complete_device_login`] |
//! | get a token that is valid | [`TokenManager::access_token`]; a [`Client`](crate::Client) does it by itself |
//! | store tokens: in memory, in a file, or in a store of your own | [`MemoryStore`], [`FileStore`], [`TokenStore`]; [`guide::token_stores`](crate::guide::token_stores) says which |
//! | write such a store: its errors, and files that no other user can replace | [`StoreError`], [`StoreErrorKind`], [`PrivateFile`] |
//! | follow logins, renewals and logouts | [`TokenManager::events`], [`Event`] |
//! | show the state of a session to support | [`TokenManager::inspect`], [`Inspection`] |
//! | log out | [`TokenManager::logout`], [`LogoutReport`] |
//! | use a token that you have | [`StaticToken`], [`TokenSource`] |
//!
//! ```text
//! LOGIN        application             browser              identity provider           store
//! start             │────── address ─────►│──── login, consent ────►│                     │
//!                   │◄──── callback ──────│◄ redirect: code, state ─│                     │
//! complete_login    │───────────── code, PKCE verifier ────────────►│                     │
//!                   │◄──────── access token, refresh token ─────────│                     │
//!                   │────────────────── tokens, before they are served ──────────────────►│
//!
//! REFRESH                            access_token
//!                 ┌───────────────────────┼─────────────────────────┐
//!         far from its end          near its end            over, or refused
//!             serve it           serve it, and start            wait for
//!                                         └────────────┬────────────┘
//!                                                      ▼
//!               one task:  lock ─► read ─► mark ─► send ─► store ─► serve ─► unlock
//!                                   └─ newer: adopt ├─ refused for good ─► is_reauth_required
//!                                                   └─ no answer, twice ─► a pause, retry_after
//! ```
//!
//! Refresh tokens of the service rotate: each may be used once, and using one twice may end the session. So a refresh
//! runs in a task of its own that no caller can cancel, one at a time, also across processes that share a store; new
//! tokens are stored before they are served; and a failed refresh leaves a valid token in use. [`failure_modes`] lists
//! what can fail, and what happens then.
//!
//! Processes that share a store stay in line: tokens that one renews are adopted by the others, and a logout or a login in
//! one is noticed by the others within a minute of use ([`Timing::store_check`]). A process that ends in the
//! middle of a refresh leaves a mark in the store. With a lock of the operating system the next process continues at once;
//! with a lock that can be lost, as behind a network, it waits for two minutes first ([`Timing::mark_wait`]).
//!
//! An application with many users builds their managers from clones of one [`TokenManagerBuilder`], and keeps those that are in use
//! in a cache: the [cookbook](crate::guide::cookbook::logins#serve-many-users-from-one-host) does it in five lines. A manager that
//! leaves the cache loses nothing, and two of one account are as two processes.
//!
//! A client gets its tokens from any [`TokenSource`]: a manager, a [`StaticToken`], or a type of the application.
//!
//! # A program on the user's machine
//!
//! The login is redirected to a port of this machine (RFC 8252): the feature `loopback` has the listener, in the module
//! `loopback`. Where no port is available, the user pastes the address at which the browser ended. The tokens are stored in
//! a file, so that the next start finds them, and all processes of the user share them. There is no client secret: it
//! would not be secret in a program that users install.
//!
//! ```
//! use envd_sdk::auth::{FileStore, TokenManager};
//! # use envd_sdk::fake::Fake;
//! use std::time::Duration;
//!
//! # equipment::example(async {
//! # let fake = Fake::start().await;
//! # let provider = fake.provider().build()?;
//! # let folder = equipment::TestFolder::new();
//! # let file = folder.path().join("tokens.json");
//! let manager = TokenManager::builder(provider)
//!     .store(FileStore::new(&file))
//!     .build()?;
//!
//! // At each start: is a user logged in?
//! if manager.access_token().await.is_err_and(|error| error.is_reauth_required()) {
//!     let login = manager.provider().authorization().start()?;
//!     println!("Open {} in a browser.", login.url());
//!     // From the listener, or from the user.
//! #   let callback = fake.consent(login.url())?;
//!     manager.complete_login(login, callback.as_str()).await?;
//! }
//! let token = manager.access_token().await?;
//! # assert_eq!(token.generation(), 1);
//!
//! // At the end: wait for running tasks.
//! manager.shutdown(Duration::from_secs(10)).await;
//! # manager.logout(None).await;
//! # Ok(())
//! # });
//! ```
//!
//! # A machine without a browser
//!
//! A server, or a computer that is reached by a terminal: it shows a page and a code, and the user opens the page and types
//! the code on another device (RFC 8628). [`LoginRequest::start_device`] starts such a login, and
//! [`TokenManager::complete_device_login`] waits for the user's answer. The codes are valid for minutes: start the login
//! when the user is there. The provider must allow the client this kind of login; its settings need
//! [`device_authorization_url`](ProviderBuilder::device_authorization_url) and no address to redirect to.
//!
//! ```
//! use envd_sdk::auth::TokenManager;
//! # use envd_sdk::{Clock, fake::Fake};
//!
//! # equipment::example(async {
//! # let clock = Clock::manual(std::time::SystemTime::now());
//! # let fake = Fake::builder().clock(clock.clone()).start().await?;
//! # // Has `device_authorization_url`.
//! # let provider = fake.provider().build()?;
//! // With a `FileStore`, as above.
//! let manager = TokenManager::builder(provider).build()?;
//! let login = manager.provider().authorization().start_device().await?;
//! println!("Open {} and type {}", login.verification_url(), login.user_code());
//! # fake.approve_device(login.user_code())?;
//! # clock.advance(login.interval());
//! match manager.complete_device_login(login).await {
//!     Ok(tokens) => println!("the first token expires at {:?}", tokens.expires_at()),
//!     // Denied, or too late: ask the user before the next one is started.
//!     Err(error) if error.kind() == envd_sdk::ErrorKind::LoginRefused => eprintln!("{error}"),
//!     Err(error) => return Err(error.into()),
//! }
//! # assert!(manager.access_token().await.is_ok());
//! # Ok(()) });
//! ```
//!
//! # A web application
//!
//! It has many users, often many hosts, and a client secret. The callback may reach another host than the one that began
//! the login, so the [`PendingLogin`] is kept as a text under the browser's cookie, and deleted when the callback comes.
//! Each user has a record in a store that all hosts share, and a manager while there are requests.
//!
//! ```
//! use envd_sdk::auth::{MemoryStore, PendingLogin, TokenManager};
//! use std::sync::Arc;
//! # use envd_sdk::fake::Fake;
//!
//! # equipment::example(async {
//! # let fake = Fake::start().await;
//! # let provider = fake.provider().client_secret("s3cr3t").build()?;
//! // For all hosts: `PostgresStore` of the crate `envd-postgres`, or a store of your own.
//! let store = Arc::new(MemoryStore::new());
//!
//! // GET /login: store the login under the browser's cookie, and redirect the browser.
//! let login = provider.authorization().start()?;
//! let remembered = login.to_secret_json();
//! let location = login.url().clone();
//!
//! // GET /callback, perhaps on another host: take the login of the cookie, once.
//! # let back = fake.consent(&location)?;
//! # let query = back.query().unwrap_or_default();
//! let login = PendingLogin::from_secret_json(&provider, &remembered)?;
//! let session_id = "from a cryptographic random number generator";
//! // Keys of accounts are stored in clear: use a hash of the cookie.
//! use sha2::{Digest, Sha256};
//! let hash = Sha256::digest(session_id);
//! let account = hash.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"));
//! let manager = TokenManager::builder(provider.clone())
//!     .shared_store(store.clone())
//!     .account(account)
//!     .build()?;
//! let tokens = manager.complete_login(login, query).await?;
//! println!("the first token expires at {:?}", tokens.expires_at());
//!
//! // POST /logout: delete, revoke, and end the session at the identity provider.
//! let report = manager.logout(None).await;
//! let location = report.url;
//! # assert!(location.is_some() && report.problems.is_empty());
//! # Ok(()) });
//! ```
//!
//! # A service
//!
//! A job at night, or one of many hosts ([many hosts]), has no user before it: it renews what a user has logged in
//! elsewhere, in a store that both share. It needs neither a browser nor a redirect address. A client with a key of its own
//! authenticates with signed assertions ([`ProviderBuilder::private_key_jwt`]) or a certificate
//! ([`HttpOptions::client_certificate`](crate::HttpOptions::client_certificate)), which no dump of settings gives away.
//!
//! ```
//! use envd_sdk::auth::{MemoryStore, Provider, TokenManager};
//! use std::sync::Arc;
//! # use envd_sdk::fake::Fake;
//!
//! # equipment::example(async {
//! # let fake = Fake::start().await;
//! // `PostgresStore`: that of the web application in which the user has logged in.
//! let store = Arc::new(MemoryStore::new());
//! # let web = TokenManager::builder(fake.provider().build()?).shared_store(store.clone()).account("sam").build()?;
//! # let login = web.provider().authorization().start()?;
//! # let callback = fake.consent(login.url())?;
//! # web.complete_login(login, callback.as_str()).await?;
//! let provider = Provider::builder(fake.client_id()).token_url(fake.token_url()).build()?;
//! let manager = TokenManager::builder(provider)
//!     .shared_store(store)
//!     .account("sam")
//!     .build()?;
//! match manager.access_token().await {
//!     Ok(token) => println!("generation {}", token.generation()),
//!     // Only the user can mend it: say so where the user reads it, and go on with the next account.
//!     Err(error) if error.is_reauth_required() => println!("{error}"),
//!     Err(error) => return Err(error.into()),
//! }
//! # Ok(()) });
//! ```
//!
//! The examples `login` (with `--device` for a machine without a browser), `access_token` and `web_login` are complete
//! programs of these kinds.
//!
//! [many hosts]: crate#companions

#[doc = include_str!("failure_modes.md")]
pub mod failure_modes {}

mod client_authentication;
mod device_login;
mod endpoint;
mod failure;
mod id_token;
#[cfg(feature = "keyring")]
pub mod keyring;
mod manager;
mod pending_login;
mod provider;
#[cfg(feature = "sealed")]
pub mod sealed;
mod secret_json;
pub(crate) mod store;
mod token_set;
mod token_source;

#[doc(alias("private key", "client assertion"))]
pub use self::client_authentication::AssertionSigner;
pub use self::device_login::DeviceLogin;
#[doc(alias("id token", "claims"))]
pub use self::id_token::IdToken;
#[doc(alias("refresh", "refresh token", "session"))]
pub use self::manager::TokenManager;
pub use self::manager::{
    Event, Events, Inspection, LastFailure, LogoutReport, SessionState, Timing, TokenManagerBuilder,
};
pub(crate) use self::pending_login::CheckedCallback;
pub use self::pending_login::LoginRequest;
pub use self::pending_login::PendingLogin;
#[doc(alias("OAuth", "OpenID Connect", "OIDC", "SSO", "Auth0", "identity provider"))]
pub use self::provider::Provider;
pub use self::provider::ProviderBuilder;
#[cfg(test)]
pub(crate) use self::provider::tests::settings as test_settings;
#[doc(alias = "token file")]
pub use self::store::FileStore;
#[doc(alias("persist", "token storage"))]
pub use self::store::TokenStore;
pub use self::store::{
    MemoryStore, PrivateFile, Record, StoreError, StoreErrorKind, StoreFuture, StoreGuard, Version,
    Versioned,
};
pub use self::token_set::TokenSet;
#[doc(alias("access token", "bearer", "JWT"))]
pub use self::token_source::AccessToken;
#[doc(alias("bearer", "fixed token"))]
pub use self::token_source::StaticToken;
pub use self::token_source::{BoxFuture, TokenSource};
