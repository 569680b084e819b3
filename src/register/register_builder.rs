//! Settings of the register client.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::time::Duration;

use super::KnownRegister;
use super::address::Address;
use super::lookup::LookupCache;
use super::{Register, RegisterParts, UNKNOWN};
use crate::auth::TokenSource;
use crate::error::{Error, Result};
use crate::profile::{RegisterAuthentication, RegisterProfile, ServiceProfile};
use crate::secret::Secret;
use crate::send::{SenderOptions, TokenUser};
use crate::transport::{Clock, HttpOptions, RetryPolicy};

/// Settings of a [`Register`]; all except the address have a default.
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
    // profile: addresses.register
    base: String,
    options: SenderOptions,
    profile: RegisterProfile,
    cache: Option<(Duration, usize)>,
}

impl RegisterBuilder {
    pub(super) fn new(base: String) -> Self {
        Self {
            base,
            options: SenderOptions::default(),
            profile: RegisterProfile::default(),
            cache: None,
        }
    }

    /// The source of bearer tokens; none are sent unless set. The specification does not show how the register authenticates
    /// (spec 5.12).
    pub fn token_source(mut self, source: impl TokenSource) -> Self {
        self.options.user = Some(TokenUser::new(source));
        self
    }

    /// A header for every request, such as an API key instead of, or in addition to, a bearer token. Headers that the client
    /// sets itself cannot be replaced. The value appears neither in `Debug` nor in traces.
    ///
    /// ```
    /// use envd_sdk::register::Register;
    ///
    /// let register = Register::builder("https://register.example.com")
    ///     .header("x-api-key", "s3cr3t")
    ///     .build()?;
    /// # Ok::<(), envd_sdk::Error>(())
    /// ```
    pub fn header(mut self, name: &str, value: impl Into<Secret>) -> Self {
        self.options.headers.push((name.to_owned(), value.into()));
        self
    }

    /// The options of the HTTP client.
    pub fn http(mut self, options: HttpOptions) -> Self {
        self.options.http = options;
        self
    }

    /// How often, and for how long, a failed request is retried.
    pub fn retry(mut self, policy: RetryPolicy) -> Self {
        self.options.retry = policy;
        self
    }

    /// Caches look-up results by PIC, with a maximum age and number; no cache unless set. Failures are not cached.
    /// [`Register::forget`] clears it.
    pub fn cache(mut self, max_age: Duration, results: usize) -> Self {
        self.cache = Some((max_age, results));
        self
    }

    /// The clock for retry waits and the age of cached results; the system clock unless set.
    pub fn clock(mut self, clock: Clock) -> Self {
        self.options.clock = clock;
        self
    }

    /// The profile of the register: its first page, codes, authentication. Without a profile the client uses the assumptions,
    /// and finds out the index of the first page at the cost of at most one request.
    ///
    /// ```
    /// use envd_sdk::ErrorKind;
    /// use envd_sdk::auth::StaticToken;
    /// use envd_sdk::profile::{RegisterAuthentication, ServiceProfile, Sourced};
    /// use envd_sdk::register::Register;
    ///
    /// let mut profile = ServiceProfile::default();
    /// profile.register.first_page_index = Sourced::seen(Some(0));
    /// profile.register.authentication = Sourced::seen(RegisterAuthentication::Bearer);
    ///
    /// let register = Register::builder("https://register.example.com").profile(&profile);
    /// assert!(register.build().unwrap_err().kind() == ErrorKind::Config); // It has no token source.
    /// let register = Register::builder("https://register.example.com")
    ///     .profile(&profile)
    ///     .token_source(StaticToken::new("eyJhbGciOi.eyJzdWIi.c2ln")?)
    ///     .build()?;
    /// # Ok::<(), envd_sdk::Error>(())
    /// ```
    pub fn profile(mut self, profile: &ServiceProfile) -> Self {
        self.profile = profile.register.clone();
        self
    }

    /// Builds the client. Nothing is sent.
    ///
    /// # Errors
    ///
    /// [`Config`](crate::ErrorKind::Config) in these cases:
    ///
    /// * The address is not an `https` address (or `http` on loopback), or has a user name, a query, or part of the search path
    ///   (`api/v2/PICRegister` at its end is accepted).
    /// * The HTTP client cannot be set up.
    /// * A header cannot be sent, or is reserved for the client itself.
    /// * The profile's first page is neither 0 nor 1, or it requires a token source or a header that is not set.
    pub fn build(self) -> Result<Register> {
        // profile: register.firstPageIndex
        let first_page_index = self.profile.first_page_index.value;
        if first_page_index.is_some_and(|index| index > 1) {
            return Err(Error::config("the index of the first page must be 0 or 1"));
        }
        // profile: register.authentication
        match &self.profile.authentication.value {
            RegisterAuthentication::Bearer if self.options.user.is_none() => {
                let what =
                    "the profile requires an access token for the register: set a token source";
                return Err(Error::config(what));
            }
            RegisterAuthentication::Header(name) if !self.options.has_header(name) => {
                let what = format!("the profile requires the header {name}");
                return Err(Error::config(what));
            }
            _ => {}
        }
        let address = Address::new(&self.base)?;
        let cache = self.cache.map(|(max_age, results)| {
            LookupCache::new(max_age, results, self.options.clock.clone())
        });
        Ok(Register(Arc::new(RegisterParts {
            sender: self.options.build(&address.0)?,
            address,
            cache,
            first_page_index: AtomicU32::new(first_page_index.unwrap_or(UNKNOWN)),
            known: Arc::new(KnownRegister {
                empty_not_found: self.profile.empty_not_found.value,
                has_answered: AtomicBool::new(false),
            }),
            // profile: register.statusCodes
            status_codes: self.profile.status_codes.value,
        })))
    }
}

// Omits the address, which is unchecked and may contain credentials.
debug_shows!(RegisterBuilder, |it| profile: it.profile);
