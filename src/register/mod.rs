//! The property register: search properties, and look them up by PIC (spec 4.2).
//!
//! [`Register`] is a separate client. It shares neither address nor token source with the declaration interface, because the
//! specification does not show how the register authenticates.
//!
//! A [`PropertySearch`] finds properties page by page, and a [`PagePosition`] is a position to resume from. A [`Lookup`] is the
//! result for one PIC, and [`LookupMany`] looks up a list of PICs. A request with a date results in an [`IfModified`].
//!
//! The register cannot look up several PICs in one request (spec 4.2), so a list takes one request for each distinct PIC. If you
//! need most of the properties of a state, search for them in pages instead.
//!
//! ```
//! # use envd_sdk::fake::Fake;
//! use envd_sdk::model::Pic;
//! use envd_sdk::register::{PropertySearch, Register};
//!
//! # test_support::example(async {
//! # let fake = Fake::start().await;
//! # let address = fake.register_url();
//! let register = Register::builder(address).build()?;
//!
//! let found = register.property(&Pic::parse("QAZZ7777")?).await?;
//! assert!(found.is_some_and(|property| property.is_active()));
//!
//! let feedlots = PropertySearch::new().state("QLD").pic_type("FL");
//! let mut properties = register.search(&feedlots).items();
//! while let Some(property) = properties.next().await {
//!     println!("{:?}", property?.pic);
//! }
//!
//! let mut look_ups = register.lookup_many(["QAZZ7777", "QBZZ2222"]);
//! while let Some(result) = look_ups.next().await {
//!     println!("{}: {:?}", result.input, result.property().map(|property| property.is_active()));
//! }
//! # Ok(())
//! # });
//! ```

mod address;
#[cfg(all(test, feature = "rustls"))]
mod connection_tests;
mod get_records;
mod if_modified;
mod lookup;
mod lookup_many;
mod page_request;
mod property_search;
mod register_builder;
mod replies;

pub use self::if_modified::IfModified;
pub use self::lookup::Lookup;
pub use self::lookup_many::{LookupMany, LookupProgress, LookupResult};
pub use self::page_request::PagePosition;
pub use self::property_search::PropertySearch;
pub use self::register_builder::RegisterBuilder;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{self, AtomicBool};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::Value;

use self::address::Address;
use self::get_records::{GetValue, get};
use self::lookup::LookupCache;
use crate::auth::TokenSource;
use crate::send::{Call, Sender, Settings};
use crate::transport::Reply;

/// The name of the operation in errors and traces.
const OPERATION: &str = "PICRegister";

/// A client of the property register (spec 4.2). It is cheap to clone; clones share their connections.
///
/// # Errors
///
/// All calls fail with
///
/// * [`Connect`](crate::ErrorKind::Connect), [`Timeout`](crate::ErrorKind::Timeout) or
///   [`Transport`](crate::ErrorKind::Transport) if there is no reply;
/// * [`Unauthorized`](crate::ErrorKind::Unauthorized) or [`is_reauth_required`](crate::Error::is_reauth_required) if the token
///   is refused;
/// * [`NoAnswer`](crate::ErrorKind::NoAnswer) if something other than the register replies;
/// * an error with its [`http_status`](crate::Error::http_status) for every other refusal, and with the
///   [`server_message`](crate::Error::server_message) if the body has one;
/// * [`Decode`](crate::ErrorKind::Decode) if a reply neither has records nor states that there are none;
///   [`raw_data`](crate::Error::raw_data) is that reply.
///
/// Records are read from the envelope of a search (spec 2.10). assumed, because the specification shows no reply to a look-up:
/// also from a list or one record with a PIC, bare, in `Value`, or in `SubSet` or `Items` of either.
///
/// See [`builder`](Self::builder) for an example, and the [module](self) for the kinds of calls.
#[doc(alias("PICRegister", "NLIS"))]
#[derive(Clone)]
#[doc(alias("property register", "REST"))]
pub struct Register(Arc<RegisterParts>);

struct RegisterParts {
    address: Address,
    sender: Sender,
    cache: Option<LookupCache>,
    first_page_index: AtomicU32,
    known: Arc<KnownRegister>,
    /// The codes of statuses, by status name.
    status_codes: BTreeMap<String, String>,
}

/// The index of the first page while it is neither set nor known from replies.
const UNKNOWN: u32 = u32::MAX;

impl Register {
    /// Settings of a client for the register at this address. The path `/api/v2/PICRegister` is added, unless the address already
    /// ends with it.
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

    /// The register for another user, with the same connections, settings and limits. It has its own
    /// [cache](RegisterBuilder::cache), since results may differ between users.
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
        Self(Arc::new(RegisterParts {
            address: self.0.address.clone(),
            sender: self.0.sender.with_token_source(source),
            cache: self.0.cache.as_ref().map(LookupCache::emptied),
            first_page_index: AtomicU32::new(self.0.first_page_index.load(Ordering::Relaxed)),
            known: Arc::clone(&self.0.known),
            status_codes: self.0.status_codes.clone(),
        }))
    }

    /// Reads any path below the address of the register, with query parameters; the reply may be any JSON. Use it for requests that
    /// this crate has no method for, or to inspect a reply with an unexpected shape.
    ///
    /// Path and parameters are plain text and are escaped as needed. Token, headers, retries, limits and pauses are the same as for
    /// all calls; the [cache](RegisterBuilder::cache) is not used. A reply of status 204 is null.
    ///
    /// ```
    /// # use envd_sdk::fake::Fake;
    /// use envd_sdk::register::Register;
    ///
    /// # test_support::example(async {
    /// # let fake = Fake::start().await;
    /// # let register = Register::builder(fake.register_url()).build()?;
    /// let parameters = [("Town", "Sampleton"), ("pagesize", "1")];
    /// let reply = register.get("api/v2/PICRegister", &parameters).await?;
    /// assert_eq!(reply["Value"]["SubSet"].as_array().map(Vec::len), Some(1));
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// [`Config`](crate::ErrorKind::Config) for a path with an empty segment, `.` or `..`;
    /// [`Decode`](crate::ErrorKind::Decode) for a reply that claims to be JSON but is not;
    /// [`Protocol`](crate::ErrorKind::Protocol) for a reply whose values take too much memory;
    /// [`NotFound`](crate::ErrorKind::NotFound) for HTTP 404 with a body in JSON or XML; otherwise as for all calls.
    #[doc(alias("raw request", "custom request"))]
    pub fn get(&self, path: &str, parameters: &[(&str, &str)]) -> Call<Value> {
        let sender = self.0.sender.clone();
        let work = self.0.address.any(path, parameters).map(|url| {
            let send = move |request, settings: Arc<Settings>| async move {
                sender.send(&GetValue, request, &settings).await
            };
            (Box::new(get(url)), send)
        });
        Call::new(&self.0.sender, Arc::default(), work)
    }

    /// Removes all cached results of look-ups ([`RegisterBuilder::cache`]).
    pub fn forget(&self) {
        if let Some(cache) = &self.0.cache {
            cache.clear();
        }
    }

    /// The remaining time for which requests are deferred after HTTP 429 or 503 with `Retry-After`.
    ///
    /// Meanwhile, calls wait. If the wait would exceed the deadline of the [`RetryPolicy`](crate::RetryPolicy), they fail with
    /// the original refusal and [`attempts`](crate::Error::attempts) 0. The pause is at most an hour, whatever `Retry-After`
    /// says. Clones share it. After 503 it applies to all users ([`with_token_source`](Self::with_token_source)), after 429 to
    /// all clients of one user, as in [`Client::paused_for`](crate::Client::paused_for).
    ///
    /// ```
    /// use envd_sdk::register::Register;
    ///
    /// let register = Register::builder("https://register.example.com").build()?;
    /// assert_eq!(register.paused_for(), None);
    /// # Ok::<(), envd_sdk::Error>(())
    /// ```
    pub fn paused_for(&self) -> Option<Duration> {
        self.0.sender.paused_for()
    }

    /// Ends the pause of [`paused_for`](Self::paused_for) if you know that it is wrong or over. Deferred calls are sent at once;
    /// only the call that received the refusal keeps waiting.
    pub fn end_pause(&self) {
        self.0.sender.end_pause();
    }

    /// The index of the first page, once it is known.
    // profile: register.firstPageIndex
    fn first_page_index(&self) -> Option<u32> {
        Some(self.0.first_page_index.load(Ordering::Relaxed)).filter(|index| *index != UNKNOWN)
    }

    fn set_first_page_index(&self, index: u32) {
        self.0.first_page_index.store(index, Ordering::Relaxed);
    }
}

debug_shows!(Register, |it| host: it.0.address.0.host_str());

/// Facts learned about the register, shared by the clients of all users.
pub(super) struct KnownRegister {
    /// [`RegisterProfile::empty_not_found`](crate::profile::RegisterProfile::empty_not_found)
    // profile: register.emptyNotFound
    pub(super) empty_not_found: Option<bool>,
    /// Whether any reply of the register could be read.
    pub(super) has_answered: AtomicBool,
}

impl KnownRegister {
    /// Whether a 404 without a body means that the register does not have the PIC, as a service on ASP.NET may reply. Proxies and
    /// other services reply to a wrong address in the same way.
    fn is_not_found(&self, reply: &Reply) -> bool {
        let is_empty = reply.status == 404 && reply.body.trim_ascii().is_empty();
        let has_answered = self.has_answered.load(atomic::Ordering::Relaxed);
        // profile: register.emptyNotFound
        is_empty && self.empty_not_found.unwrap_or(has_answered)
    }
}
