//! Settings of the register's client.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use super::Register;
use super::address::Address;
use super::handle::{Inner, UNKNOWN};
use super::send::Sender;
use crate::auth::TokenSource;
use crate::error::{Error, Result};
use crate::transport::{Budget, Clock, Http, HttpOptions, RetryPolicy};

/// Settings of a [`Register`]; all but the address have a default.
///
/// ```
/// use std::time::Duration;
///
/// use envd_sdk::auth::StaticToken;
/// use envd_sdk::register::Register;
/// use envd_sdk::{HttpOptions, RetryPolicy};
///
/// let register = Register::builder("https://register.example.com")
///     .token_source(StaticToken::new("eyJhbGciOi.eyJzdWIi.c2ln")?)
///     .http(HttpOptions::default().timeout(Duration::from_secs(20)))
///     .retry(RetryPolicy::default().max_retries(5))
///     .build()?;
/// # Ok::<(), envd_sdk::Error>(())
/// ```
#[must_use]
pub struct RegisterBuilder {
    base: String,
    tokens: Option<Arc<dyn TokenSource>>,
    http: HttpOptions,
    retry: RetryPolicy,
    clock: Clock,
    first_page_index: Option<u32>,
}

impl RegisterBuilder {
    pub(super) fn new(base: String) -> Self {
        Self {
            base,
            tokens: None,
            http: HttpOptions::default(),
            retry: RetryPolicy::default(),
            clock: Clock::system(),
            first_page_index: None,
        }
    }

    /// Where bearer tokens come from; none is sent unless set. How the register authenticates is not shown (spec 5.12).
    pub fn token_source(mut self, source: impl TokenSource) -> Self {
        self.tokens = Some(Arc::new(source));
        self
    }

    /// How HTTP requests are made.
    pub fn http(mut self, options: HttpOptions) -> Self {
        self.http = options;
        self
    }

    /// How often and for how long a request is tried.
    pub fn retry(mut self, policy: RetryPolicy) -> Self {
        self.retry = policy;
        self
    }

    /// The clock by which retries wait; the system's unless set.
    pub fn clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// The `pageindex` of the first page, 0 or 1. The specification does not show it: unless set, it is found out from
    /// the replies, at the cost of one request at most.
    pub fn first_page_index(mut self, index: u32) -> Self {
        self.first_page_index = Some(index);
        self
    }

    /// Makes the client. Nothing is sent.
    ///
    /// # Errors
    ///
    /// [`is_config`](crate::Error::is_config) when the address is not an `https` address (or `http` on loopback), or the HTTP
    /// client cannot be set up, or the number of the first page is not 0 or 1.
    pub fn build(self) -> Result<Register> {
        if self.first_page_index.is_some_and(|index| index > 1) {
            return Err(Error::config("the first page has the number 0 or 1"));
        }
        let address = Address::new(&self.base)?;
        let http = Http::new(&self.http, &[address.url()])?;
        Ok(Register(Arc::new(Inner {
            address,
            sender: Sender {
                http,
                tokens: self.tokens,
                retry: self.retry,
                budget: Budget::default(),
                clock: self.clock,
            },
            first_page_index: AtomicU32::new(self.first_page_index.unwrap_or(UNKNOWN)),
        })))
    }
}

impl fmt::Debug for RegisterBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Not the address before it was checked: it may carry credentials.
        f.debug_struct("RegisterBuilder")
            .field("has_token_source", &self.tokens.is_some())
            .field("retry", &self.retry)
            .field("first_page_index", &self.first_page_index)
            .finish_non_exhaustive()
    }
}
