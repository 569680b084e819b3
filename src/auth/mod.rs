//! Login, tokens, and how they are kept fresh.
//!
//! A [`Provider`] holds the settings of the identity provider. [`Provider::authorization`] starts a login, the user's
//! browser comes back with a callback, and [`TokenManager::complete_login`] turns it into tokens. From then on
//! [`TokenManager`] hands out access tokens, renews them before they expire, and keeps them in a [`TokenStore`].
//!
//! Refresh tokens of the service rotate: each may be used once, and using one twice may end the session. So a refresh
//! runs in a task of its own that no caller can cancel, one at a time, also across processes that share a store; the
//! new tokens are stored before anybody sees them; and a refresh that fails leaves a token that still works in place.
//!
//! A client takes its tokens from any [`TokenSource`]: a manager, a [`StaticToken`], or a type of yours.

mod authorization;
mod callback;
mod endpoint;
mod failure;
mod jwt;
mod manager;
mod pending;
mod provider;
mod provider_builder;
mod source;
mod store;
mod token;
mod token_set;

pub use self::authorization::AuthorizationRequest;
pub use self::callback::CheckedCallback;
pub use self::manager::{Event, Events, LogoutReport, TokenManager, TokenManagerBuilder};
pub use self::pending::PendingLogin;
pub use self::provider::Provider;
pub use self::provider_builder::ProviderBuilder;
pub use self::source::{BoxFuture, StaticToken, TokenSource};
pub use self::store::{
    FileStore, MemoryStore, Record, Seal, StoreError, StoreGuard, TokenStore, Version, Versioned,
};
pub use self::token::AccessToken;
pub use self::token_set::TokenSet;
