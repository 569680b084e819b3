//! Settings of the register's client.

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

    setters! {
        /// Where bearer tokens come from; none is sent unless set. How the register authenticates is not shown (spec 5.12).
        pub fn token_source(source: impl TokenSource)
            |it| it.options.user = Some(TokenUser::new(source));

        /// A header of every request, such as an API key in place of a bearer token or beside it. Those that the client itself
        /// sends cannot be replaced. The value shows neither in `Debug` nor in traces.
        ///
        /// ```
        /// use envd_sdk::register::Register;
        ///
        /// let register = Register::builder("https://register.example.com")
        ///     .header("x-api-key", "s3cr3t")
        ///     .build()?;
        /// # Ok::<(), envd_sdk::Error>(())
        /// ```
        pub fn header(name: &str, value: impl Into<Secret>)
            |it| it.options.headers.push((name.to_owned(), value.into()));

        /// How HTTP requests are made.
        pub fn http(options: HttpOptions) |it| it.options.http = options;

        /// How often and for how long a request is tried.
        pub fn retry(policy: RetryPolicy) |it| it.options.retry = policy;

        /// Caches the results of look-ups by PIC for this long, at most so many; no cache unless set. Failures are not cached.
        /// [`Register::forget`] clears it.
        pub fn cache(max_age: Duration, results: usize) |it| it.cache = Some((max_age, results));

        /// The clock for the waits of retries and the age of cached results; the system's unless set.
        pub fn clock(clock: Clock) |it| it.options.clock = clock;

        /// The profile of the register: its first page, codes, authentication. Without it the client uses the assumptions, and
        /// finds out the number of the first page, at the cost of one request at most.
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
        pub fn profile(profile: &ServiceProfile) |it| it.profile = profile.register.clone();
    }

    /// Makes the client. Nothing is sent.
    ///
    /// # Errors
    ///
    /// [`Config`](crate::ErrorKind::Config) when the address is not an `https` address (or `http` on loopback) or holds a
    /// user name, a query, or a part of the path of the search (`api/v2/PICRegister` at its end is accepted), or the HTTP client cannot be set up, or a header cannot be sent or is one that the client sets; or by
    /// the profile the first page is neither 0 nor 1, or the token source or the header is missing that authenticates.
    pub fn build(self) -> Result<Register> {
        let first_page_index = self.profile.first_page_index.value;
        if first_page_index.is_some_and(|index| index > 1) {
            return Err(Error::config("the index of the first page must be 0 or 1"));
        }
        match &self.profile.authentication.value {
            RegisterAuthentication::Bearer if self.options.user.is_none() => {
                let what = "by the profile the register needs an access token: set a token source";
                return Err(Error::config(what));
            }
            RegisterAuthentication::Header(name) if !self.options.has_header(name) => {
                let what = format!("by the profile the register needs the header {name}");
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
            status_codes: self.profile.status_codes.value,
        })))
    }
}

// Without the address, which is unchecked and may contain credentials.
debug_shows!(RegisterBuilder, |it| profile: it.profile);
