//! Login, and tokens that are renewed and stored.
//!
//! A [`Provider`] holds the settings of the identity provider; [`Provider::discover`] reads its addresses from its published
//! metadata. [`Provider::authorization`] starts a login, the user's browser is redirected with a callback, and
//! [`TokenManager::complete_login`] exchanges the callback for tokens. Afterwards, the [`TokenManager`] serves access tokens,
//! renews them before they expire, and stores them in a [`TokenStore`].
//!
//! | task | see |
//! | --- | --- |
//! | configure the identity provider and the client | [`Provider::builder`], [`ProviderBuilder`] |
//! | begin a login, and complete it with the callback | [`Provider::authorization`], [`PendingLogin`], [`TokenManager::complete_login`] |
//! | add your own checks of id tokens, such as their signatures | [`ProviderBuilder::id_token_check`] |
//! | log in from a device without a browser | [`LoginRequest::start_device`], [`TokenManager::complete_device_login`] |
//! | get a valid token | [`TokenManager::access_token`]; a [`Client`](crate::Client) does this automatically |
//! | store tokens in memory, in a file, or in your own store | [`MemoryStore`], [`FileStore`], [`TokenStore`]; see [`guide::token_stores`](crate::guide::token_stores) for how to choose |
//! | implement a store: its errors, and files that other users cannot replace | [`StoreError`], [`StoreErrorKind`], [`PrivateFile`] |
//! | observe logins, renewals and logouts | [`TokenManager::events`], [`Event`] |
//! | show the state of a session to support | [`TokenManager::inspect`], [`Inspection`] |
//! | log out | [`TokenManager::logout`], [`LogoutReport`] |
//! | use a token that you already have | [`StaticToken`], [`TokenSource`] |
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
//! The service rotates refresh tokens: each may be used once, and using one twice may end the session. Therefore, a refresh
//! runs in its own task that no caller can cancel, and only one runs at a time, even across processes that share a store. New
//! tokens are stored before they are served, and a failed refresh leaves a valid token in use. [`failure_modes`] lists the
//! possible failures and their effects.
//!
//! Processes that share a store stay consistent: when one renews the tokens, the others adopt them, and when one logs in or
//! out, the others notice within a minute of use ([`Timing::store_check`]). A process that exits during a refresh leaves a mark
//! in the store. If the store's lock belongs to the operating system, the next process continues immediately. If the lock can
//! be lost, for example over a network, it first waits for two minutes ([`Timing::mark_wait`]).
//!
//! An application with many users builds their managers from clones of one [`TokenManagerBuilder`], and caches the managers in
//! use: the [cookbook](crate::guide::cookbook::logins#serve-many-users-from-one-host) does this in five lines. Evicting a
//! manager loses nothing, and two managers of one account behave like two processes.
//!
//! A client gets its tokens from any [`TokenSource`]: a manager, a [`StaticToken`], or a type of the application.
//!
//! # A program on the user's machine
//!
//! The login is redirected to a port of this machine (RFC 8252). The listener is in the module `loopback`, behind the feature
//! of the same name. If no port is available, the user pastes the final address from the browser. The tokens are stored in a
//! file, so that the next start finds them and all processes of the user share them. There is no client secret: a program that
//! users install cannot keep one secret.
//!
//! ```
//! use envd_sdk::auth::{FileStore, TokenManager};
//! # use envd_sdk::fake::Fake;
//! use std::time::Duration;
//!
//! # test_support::example(async {
//! # let fake = Fake::start().await;
//! # let provider = fake.provider().build()?;
//! # let folder = test_support::TestFolder::new();
//! # let file = folder.path().join("tokens.json");
//! let manager = TokenManager::builder(provider)
//!     .store(FileStore::new(&file))
//!     .build()?;
//!
//! // At each start: is a user logged in?
//! if manager.access_token().await.is_err_and(|error| error.is_reauth_required()) {
//!     let login = manager.provider().authorization().start()?;
//!     println!("Open {} in a browser.", login.url());
//!     // The callback comes from the listener, or the user pastes it.
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
//! For example a server, or a computer accessed through a terminal. The program shows a page address and a code; the user opens
//! the page and enters the code on another device (RFC 8628). [`LoginRequest::start_device`] starts such a login, and
//! [`TokenManager::complete_device_login`] waits for the user's decision. The codes expire within minutes, so start the login
//! when the user is present. The provider must allow the client this kind of login. Its settings need a
//! [`device_authorization_url`](ProviderBuilder::device_authorization_url), but no redirect address.
//!
//! ```
//! use envd_sdk::auth::TokenManager;
//! # use envd_sdk::{Clock, fake::Fake};
//!
//! # test_support::example(async {
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
//!     // Refused or expired: ask the user before you start another login.
//!     Err(error) if error.kind() == envd_sdk::ErrorKind::LoginRefused => eprintln!("{error}"),
//!     Err(error) => return Err(error.into()),
//! }
//! # assert!(manager.access_token().await.is_ok());
//! # Ok(()) });
//! ```
//!
//! # A web application
//!
//! A web application has many users, often many hosts, and a client secret. The callback may reach a different host than the
//! one that began the login, so the [`PendingLogin`] is stored as text under the browser's cookie, and deleted when the
//! callback arrives. Each user has a record in a store that all hosts share, and a manager while there are requests.
//!
//! ```
//! use envd_sdk::auth::{MemoryStore, PendingLogin, TokenManager};
//! use std::sync::Arc;
//! # use envd_sdk::fake::Fake;
//!
//! # test_support::example(async {
//! # let fake = Fake::start().await;
//! # let provider = fake.provider().client_secret("s3cr3t").build()?;
//! // For all hosts: `PostgresStore` of the crate `envd-postgres`, or your own store.
//! let store = Arc::new(MemoryStore::new());
//!
//! // GET /login: store the login under the browser's cookie, and redirect the browser.
//! let login = provider.authorization().start()?;
//! let remembered = login.to_secret_json();
//! let location = login.url().clone();
//!
//! // GET /callback, perhaps on another host: take the login of the cookie, at most once.
//! # let back = fake.consent(&location)?;
//! # let query = back.query().unwrap_or_default();
//! let login = PendingLogin::from_secret_json(&provider, &remembered)?;
//! let session_id = "from a cryptographic random number generator";
//! // Account keys are stored in clear, so use a hash of the cookie.
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
//! A nightly job, or one of many hosts ([many hosts]), has no user present: it renews the tokens of a user who logged in
//! elsewhere, through a store that both share. It needs neither a browser nor a redirect address. A client with its own key
//! authenticates with signed assertions ([`ProviderBuilder::private_key_jwt`]) or a certificate
//! ([`HttpOptions::client_certificate`](crate::HttpOptions::client_certificate)), so that leaked settings do not reveal the
//! key.
//!
//! ```
//! use envd_sdk::auth::{MemoryStore, Provider, TokenManager};
//! use std::sync::Arc;
//! # use envd_sdk::fake::Fake;
//!
//! # test_support::example(async {
//! # let fake = Fake::start().await;
//! // `PostgresStore`: shared with the web application in which the user logged in.
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
//!     // Only the user can fix this: report it to the user, and continue with the next account.
//!     Err(error) if error.is_reauth_required() => println!("{error}"),
//!     Err(error) => return Err(error.into()),
//! }
//! # Ok(()) });
//! ```
//!
//! The examples `login` (with `--device` for a machine without a browser), `access_token` and `web_login` are complete programs
//! for these cases.
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
    MemoryStore, PrivateFile, Record, StoreError, StoreErrorKind, StoreGuard, Version, Versioned,
};
pub use self::token_set::TokenSet;
#[doc(alias("access token", "bearer", "JWT"))]
pub use self::token_source::AccessToken;
#[doc(alias("bearer", "fixed token"))]
pub use self::token_source::StaticToken;
pub use self::token_source::{BoxFuture, TokenSource};
