//! The client of the register.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use super::address::Address;
use super::cache::Cache;
use super::{RegisterBuilder, Search, Terms};
use crate::auth::TokenSource;
use crate::send::Sender;

/// A client of the property register (spec 4.2). Cheap to clone; clones share their connections.
///
/// # Errors
///
/// All calls fail with [`is_transport`](crate::Error::is_transport) when no reply came,
/// [`is_unauthorized`](crate::Error::is_unauthorized) or [`is_reauth_required`](crate::Error::is_reauth_required) when the
/// token was refused, [`http_status`](crate::Error::http_status) for every refusal, with
/// [`media_type`](crate::Error::media_type), [`body_excerpt`](crate::Error::body_excerpt) and
/// [`server_message`](crate::Error::server_message), and [`is_decode`](crate::Error::is_decode) when a reply does not have the expected shape.
#[derive(Clone)]
pub struct Register(pub(super) Arc<Inner>);

pub(super) struct Inner {
    pub(super) address: Address,
    pub(super) sender: Sender,
    pub(super) cache: Option<Cache>,
    pub(super) first_page_index: AtomicU32,
}

/// Nobody has said or seen yet which number the first page has.
pub(super) const UNKNOWN: u32 = u32::MAX;

impl Register {
    /// Settings of a client for the register at this address: `/api/v2/PICRegister` comes below it.
    ///
    /// ```
    /// use envd_sdk::register::Register;
    ///
    /// let register = Register::builder("https://register.example.com").build()?;
    /// # Ok::<(), envd_sdk::Error>(())
    /// ```
    pub fn builder(base: impl Into<String>) -> RegisterBuilder {
        RegisterBuilder::new(base.into())
    }

    /// The register for another user, with the connections, settings and limits of this one. Answers that are kept
    /// ([`RegisterBuilder::cache`]) are kept for each user, since they may differ.
    ///
    /// ```
    /// use envd_sdk::auth::StaticToken;
    /// use envd_sdk::register::Register;
    ///
    /// let register = Register::builder("https://register.example.com").build()?;
    /// let of_user = register.with_token_source(StaticToken::new("eyJhbGciOi.eyJzdWIi.c2ln")?);
    /// # Ok::<(), envd_sdk::Error>(())
    /// ```
    #[must_use]
    pub fn with_token_source(&self, source: impl TokenSource) -> Self {
        Self(Arc::new(Inner {
            address: self.0.address.clone(),
            sender: self.0.sender.with_token_source(source),
            cache: self.0.cache.as_ref().map(Cache::emptied),
            first_page_index: AtomicU32::new(self.0.first_page_index.load(Ordering::Relaxed)),
        }))
    }

    /// A search for words or by fields. Nothing is sent before the first page is asked for; see [`Search`].
    ///
    /// ```
    /// # use envd_sdk::fake::Fake;
    /// use envd_sdk::register::{Register, TextSearch};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> envd_sdk::Result<()> {
    /// # let fake = Fake::start().await;
    /// # let register = Register::builder(fake.register_url()).build()?;
    /// let found = register.search(TextSearch::new("test yards")).next_page().await?;
    /// assert_eq!(found.map(|page| page.records.len()), Some(1));
    /// # Ok(())
    /// # }
    /// ```
    pub fn search(&self, terms: impl Into<Terms>) -> Search {
        Search::new(self.clone(), terms.into())
    }

    /// Forgets all answers that are kept ([`RegisterBuilder::cache`]).
    pub fn forget(&self) {
        if let Some(cache) = &self.0.cache {
            cache.clear();
        }
    }

    /// How long requests are still deferred because the register asked for it: HTTP 429 or 503 with `Retry-After`.
    ///
    /// Until then a call waits, or fails with that refusal and [`attempts`](crate::Error::attempts) 0 where the wait is
    /// longer than the deadline of the [`RetryPolicy`](crate::RetryPolicy). It is an hour at most, however long the
    /// register asks for. Clones share it, and so do those of other users ([`with_token_source`](Self::with_token_source)).
    ///
    /// ```
    /// use envd_sdk::register::Register;
    ///
    /// let register = Register::builder("https://register.example.com").build()?;
    /// assert_eq!(register.paused_for(), None);
    /// # Ok::<(), envd_sdk::Error>(())
    /// ```
    #[must_use]
    pub fn paused_for(&self) -> Option<Duration> {
        self.0.sender.paused_for()
    }

    /// Ends the pause of [`paused_for`](Self::paused_for), for a pause that is known to be wrong, or over. Calls that were
    /// deferred are sent at once; only the call that received the refusal keeps to its own wait.
    pub fn end_pause(&self) {
        self.0.sender.end_pause();
    }

    /// The number of the first page, once it is known.
    pub(super) fn first_page_index(&self) -> Option<u32> {
        Some(self.0.first_page_index.load(Ordering::Relaxed)).filter(|index| *index != UNKNOWN)
    }

    pub(super) fn found_first_page_index(&self, index: u32) {
        self.0.first_page_index.store(index, Ordering::Relaxed);
    }
}

impl fmt::Debug for Register {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Register")
            .field("host", &self.0.address.url().host_str())
            .finish_non_exhaustive()
    }
}
