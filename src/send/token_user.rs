//! The user of a sender: a token source, and the key that tells users of a pool apart.

use std::any::Any;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::{Arc, LazyLock, OnceLock, Weak};

use crate::auth::{AccessToken, TokenManager, TokenSource, TokenStore};

/// Keyed randomly, so that a number reveals nothing about a token.
static HASHER: LazyLock<RandomState> = LazyLock::new(RandomState::new);

/// Identifies one user of a pool.
///
/// Many servers create a client, and some also a token manager, for each request, so neither identifies a user. Token managers
/// with the same store and account key are one user, and so are other sources that return the same token.
#[derive(Clone)]
pub(super) struct UserKey {
    number: u64,
    /// Keeps the store's address, which is part of the number, from being reused by another store.
    _store: Option<Weak<dyn TokenStore>>,
}

/// Stands for all users of a pool together.
pub(super) static ALL_USERS: UserKey = UserKey::numbered(0);

/// The user of a source before its first token. Nothing is recorded under this key.
static UNKNOWN: UserKey = UserKey::numbered(1);

/// The user of a client that sends no token.
static NOBODY: UserKey = UserKey::numbered(2);

/// The user of a sender.
#[derive(Default)]
pub(crate) struct TokenUser {
    pub(super) tokens: Option<Arc<dyn TokenSource>>,
    key: OnceLock<UserKey>,
    /// Whether this is a host without users.
    pub(super) is_host: bool,
}

impl UserKey {
    const fn numbered(number: u64) -> Self {
        Self {
            number,
            _store: None,
        }
    }

    pub(super) fn number(&self) -> u64 {
        self.number
    }

    fn of_source(source: &impl TokenSource) -> Option<Self> {
        if let Some(manager) = (source as &dyn Any).downcast_ref::<TokenManager>() {
            let (store, account) = manager.record_key();
            let address = Weak::as_ptr(&store).cast::<()>() as usize;
            return Some(Self {
                number: HASHER.hash_one(("account", address, account)),
                _store: Some(store),
            });
        }
        source.current().as_ref().map(Self::of_token)
    }

    fn of_token(token: &AccessToken) -> Self {
        Self::of_text("token", token.expose())
    }

    fn of_text(kind: &str, text: &str) -> Self {
        Self::numbered(HASHER.hash_one((kind, text)))
    }
}

impl TokenUser {
    pub(crate) fn new(source: impl TokenSource) -> Self {
        let key = UserKey::of_source(&source);
        Self {
            tokens: Some(Arc::new(source)),
            key: key.map(OnceLock::from).unwrap_or_default(),
            is_host: false,
        }
    }

    pub(super) fn at_host(host: &str) -> Self {
        Self {
            tokens: None,
            key: UserKey::of_text("host", host).into(),
            is_host: true,
        }
    }

    pub(super) fn key(&self) -> &UserKey {
        let without = if self.tokens.is_some() {
            &UNKNOWN
        } else {
            &NOBODY
        };
        self.key.get().unwrap_or(without)
    }

    /// Identifies the user by the first token of the source. Returns true if this call did so.
    pub(super) fn identify(&self, token: &AccessToken) -> bool {
        self.key.get().is_none() && self.key.set(UserKey::of_token(token)).is_ok()
    }
}
