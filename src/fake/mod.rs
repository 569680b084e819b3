//! Fakes of both interfaces and of the identity provider, to test applications without credentials.
//!
//! [`Fake`] serves on a loopback address, without credentials or any other network access:
//!
//! | part | address | behaviour |
//! |---|---|---|
//! | declarations | [`Fake::graphql_url`] | executes any GraphQL document against the schema, with real state |
//! | property register | [`Fake::register_url`] | searches 60 invented properties |
//! | identity provider | [`Fake::authorize_url`], [`Fake::token_url`], [`Fake::revoke_url`], [`Fake::logout_url`], [`Fake::device_authorization_url`] | code flow with PKCE, device flow, rotation of refresh tokens, metadata for discovery |
//!
//! | task | see |
//! | --- | --- |
//! | start it, with another user, other lifetimes or latency | [`Fake::start`], [`Fake::builder`], [`FakeBuilder`] |
//! | get a client, a provider or a token for it | [`Fake::client`], [`Fake::provider`], [`Fake::token_manager`], [`Fake::access_token`] |
//! | act as the user in the browser | [`Fake::consent`], [`Fake::refuse`] |
//! | take the service offline, and back online | [`Fake::stop`], [`Fake::start_again`] |
//! | script replies and faults | [`Fake::on`], [`Fake::on_operation`], [`On`], [`Fault`] |
//! | start with your own users, consignments and properties | [`World`], [`UserRecord`] |
//! | change records as if on the service's website | [`Fake::edit`], [`WebsiteEdit`] |
//! | inspect the requests | [`Fake::requests`], [`Fake::request_count`], [`Received`] |
//! | control the time | [`Fake::clock`], [`Clock`] |
//! | test other interpretations of the specification, or trouble at the service | [`controls`] |
//! | answer requests with a function of the test, without a socket | [`InProcess`], [`HttpOptions::in_process`](crate::HttpOptions::in_process) |
//! | check your own token store | [`check_token_store`] |
//!
//! [`guide::testing`](crate::guide::testing) shows how to test an application with it.
//!
//! It implements the specification independently of [`validate`](mod@crate::validate), on the wire JSON, so that tests against
//! it can find errors in the validator. All users, properties and texts are invented; only the four test PICs are the service's
//! own.
//!
//! # The sample
//!
//! Sam Sample, the default for [`FakeBuilder::user`], has the accounts `envd-100201` (PIC QAZZ7777) and `envd-100202`
//! (QBZZ2222) of the type LPA, with eight consignments each, and `envd-100203` of another type, with none. The consignments of
//! `envd-100201` have the numbers `C-900000101` to `C-900000108` and the ids `00000000-0000-4000-8000-000000000101` to
//! `...108`. On the fake's clock, the newest consignment of an account was created an hour before the start, and each older one
//! a day earlier. Movement days do not depend on the clock. The first consignment also has a template, a comment, and a user
//! with the role AUTHVIEWER.
//!
//! # Assumptions
//!
//! Where the specification leaves a behaviour open, the fake behaves as follows. Items marked with * can be configured
//! ([`controls::Assumptions`]), and a service profile takes precedence ([`FakeBuilder::profile`]):
//!
//! * An account of another user: "Access denied" and HTTP 403, as for a missing accreditation. The same for creating, saving or
//!   copying without the role Producer and an account of the type LPA.
//! * A form of a program for which the user is not accredited: "Access denied" and HTTP 403, also for a copy. The forms of the
//!   LPA program require `lPA`, EUC1 also `eU`, LPAHRG0 also `hRG`, MSAC1 `mSA`, those of the NFAS program `nFAS`, others none.
//! * Question 185 of `LPAHRG0`: any answer but Yes is refused. Without an answer, a draft is saved with the warning "Required",
//!   and any other status is refused. This applies whether or not the list has the question.
//! * `LPAHRG0` is visible only with the accreditation hRG (stated, 9.3): without it, such consignments are not listed, and
//!   reading one fails as for an unknown record.
//! * An unknown consignment or template: the body that the specification shows for an update of one (7.2), also for reads.
//!   `LOCKED` and `DELETED` records refuse changes with that body.
//! * An update names its record by `id` or `number`, replaces the given fields, and is validated as a whole.
//! * Deleted consignments stay readable, and are listed only with the filter `status: DELETED`. *
//! * Lists are sorted by creation, newest first, * and show a change immediately. * A page has 20 records unless `first` says
//!   otherwise, and at most 200. A cursor identifies a record. * `totalCount` is the number of records on all pages. *
//! * `fromDate` and `toDate` apply to `updatedAt` * and are inclusive. Instants are written in UTC, with seven fractional
//!   digits.
//! * Questions 23, 24 and 87 do not belong to LPAG3, even in a list that includes it (stated, 2.6 and 9.4). A child without
//!   forms has those of its parent.
//! * `today` is the day at UTC+11:00, where Australia's days begin first. Answers inside a REPEATABLE question have the index
//!   of their row; answers without an index form a separate row. The index of other answers is ignored.
//! * The register counts pages from 1, returns 25 records a page by default and at most 100, and matches a text anywhere in a
//!   field, ignoring case. A search by postcode finds the sample's properties by one postcode per state, such as 4999 in
//!   Queensland, which their records do not show.
//! * Errors before execution have the status 400, even with the media type `application/json`, for which graphql-over-http
//!   recommends 200.
//! * The identity provider shows no login page: a login succeeds immediately. Only device codes and refused logouts have a
//!   page. A request with `prompt=none` succeeds after a login that was not followed by a logout. `login_hint` selects the user
//!   of the world with this email address, and any other address is refused. ID tokens are signed with ES256.
//! * Messages of field rules follow the wording of the two that the specification shows.

mod builder;
pub mod controls;
mod graphql;
mod in_process;
mod instant;
mod logins;
mod problem;
mod provider;
mod record_page;
mod records;
mod reference_data;
mod register;
mod reply;
mod routes;
mod rules;
mod script;
mod store_conformance;
mod tcp_proxy;
#[cfg(test)]
mod tests;
mod website;
mod world;

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Waker};

use url::Url;
use wiremock::MockServer;

pub use self::builder::FakeBuilder;
pub use self::in_process::{InProcess, InProcessReply, NoReply};
use self::provider::{AUDIENCE, CLIENT_ID};
use self::routes::FakeState;
#[doc(alias("outage", "inject", "simulate"))]
pub use self::script::Fault;
pub use self::script::{On, Received};
pub use self::store_conformance::check_token_store;
use self::tcp_proxy::TcpProxy;
pub use self::website::WebsiteEdit;
#[doc(alias("fixture", "test data"))]
pub use self::world::World;
pub use self::world::{User, UserRecord};
use crate::transport::Clock;

const RETURN_TO: &str = "http://127.0.0.1:8400/logged-out";
const REDIRECT_URI: &str = "http://127.0.0.1:8400/callback";

/// A running fake of both interfaces and of the identity provider.
///
/// Dropping it stops it, prints unused scripts to standard error, and panics if expectations were not met, unless the test is
/// already panicking.
///
/// ```
/// # test_support::example(async {
/// use envd_sdk::fake::Fake;
///
/// let fake = Fake::start().await;
/// assert_eq!(fake.graphql_url().path(), "/v2/graphql");
/// assert_eq!(fake.account_id(), "envd-100201");
/// # Ok(()) });
/// ```
#[doc(alias("mock", "stub", "sandbox", "test server"))]
pub struct Fake {
    // Dropped first, so that no further client can connect.
    proxy: TcpProxy,
    _server: UnpooledServer,
    state: Arc<FakeState>,
    base: Url,
    /// Lets its clients check whether the fake still exists.
    running: Arc<()>,
}

impl Fake {
    /// Starts a fake with all defaults, on a free port of 127.0.0.1.
    ///
    /// # Cancel safety
    ///
    /// As [`FakeBuilder::start`].
    ///
    /// # Panics
    ///
    /// If no port is free; [`builder`](Self::builder) returns an error instead.
    pub async fn start() -> Self {
        let started = Self::builder().start().await;
        started.unwrap_or_else(|error| panic!("{error}"))
    }

    /// Returns the settings for a fake.
    pub fn builder() -> FakeBuilder {
        FakeBuilder::default()
    }

    /// The endpoint of the declaration interface.
    pub fn graphql_url(&self) -> Url {
        self.at("/v2/graphql")
    }

    /// The base address of the property register. Its path `/api/v2/PICRegister` (spec 4.2) is below this address.
    pub fn register_url(&self) -> Url {
        self.base.clone()
    }

    /// The authorization endpoint. It redirects immediately, without showing a page.
    pub fn authorize_url(&self) -> Url {
        self.at("/authorize")
    }

    /// The token endpoint. It ignores a client secret unless [one is set](FakeBuilder::client_secret).
    pub fn token_url(&self) -> Url {
        self.at("/oauth/token")
    }

    /// The device authorization endpoint (RFC 8628). The verification page is `/activate`; entering a code there approves the
    /// login immediately.
    pub fn device_authorization_url(&self) -> Url {
        self.at("/oauth/device/code")
    }

    /// The revocation endpoint (RFC 7009).
    pub fn revoke_url(&self) -> Url {
        self.at("/oauth/revoke")
    }

    /// The logout page.
    pub fn logout_url(&self) -> Url {
        self.at("/v2/logout")
    }

    /// The public key for id tokens (RFC 7517): a single one, for ES256.
    pub fn jwks_uri(&self) -> Url {
        self.at("/.well-known/jwks.json")
    }

    /// The issuer, ending in a slash, as in the `iss` of callbacks and ID tokens. Its metadata, for
    /// [`Provider::discover`](crate::auth::Provider::discover), is at `/.well-known/openid-configuration` and
    /// `/.well-known/oauth-authorization-server`; script faults with [`on_path`](Self::on_path).
    pub fn issuer(&self) -> &str {
        self.base.as_str()
    }

    /// The id of the identity provider's only client.
    pub fn client_id(&self) -> &str {
        CLIENT_ID
    }

    /// The audience of valid access tokens. Not an address of the fake.
    pub fn audience(&self) -> &str {
        AUDIENCE
    }

    /// A redirect address for logins, where nothing listens. Any https or loopback address is accepted too.
    pub fn redirect_uri(&self) -> Url {
        self.fixed(REDIRECT_URI)
    }

    /// An address that is accepted as `returnTo` at logout.
    pub fn return_to(&self) -> Url {
        self.fixed(RETURN_TO)
    }

    /// The default account of the user who logs in; empty for [`User::New`], who has none.
    pub fn account_id(&self) -> &str {
        let user = self.state.parts().provider.user;
        let details = self.state.data.world.user_record(user);
        details["defaultAccount"].as_str().unwrap_or_default()
    }

    /// The clock of the fake.
    pub fn clock(&self) -> &Clock {
        &self.state.clock
    }

    /// Waits until a reply is delayed on the fake's clock, by a latency or a slow body.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the wait and has no other effect.
    pub async fn until_delayed(&self) {
        let mut delayed = self.proxy.delayed();
        // OK because the proxy, which owns the sender, lives as long as `self`.
        let _ = delayed.wait_for(|delayed| *delayed > 0).await;
    }

    /// Stops the service until [`start_again`](Self::start_again), as if the client had no reception. Connections are refused,
    /// and open ones have ended when this returns. A request already received is answered or lost, and never processed later.
    /// Records, tokens, scripts and the port are kept.
    ///
    /// ```
    /// # test_support::example(async {
    /// use envd_sdk::RetryPolicy;
    /// use envd_sdk::fake::Fake;
    ///
    /// let fake = Fake::start().await;
    /// let client = fake.client().retry(RetryPolicy::none()).build()?;
    /// assert!(client.user_details().await.is_ok());
    ///
    /// fake.stop().await;
    /// let error = client.user_details().await.unwrap_err();
    /// assert!(error.kind() == envd_sdk::ErrorKind::Connect && !error.may_have_applied());
    ///
    /// fake.start_again().await;
    /// assert!(client.user_details().await.is_ok());
    /// # Ok(()) });
    /// ```
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped after its first poll, the service still stops.
    ///
    /// # Panics
    ///
    /// If another program takes the port while it is briefly free.
    #[doc(alias("offline", "reception", "outage", "connection refused"))]
    pub async fn stop(&self) {
        self.switch(false).await;
    }

    /// Serves again after [`stop`](Self::stop), on the same port. The next request gets a reply.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped after its first poll, the service still starts again.
    ///
    /// # Panics
    ///
    /// As [`stop`](Self::stop).
    pub async fn start_again(&self) {
        self.switch(true).await;
    }

    async fn switch(&self, listens: bool) {
        let is_done = self.proxy.switch(listens).await;
        assert!(is_done, "the fake has lost its port, {}", self.base);
    }

    fn at(&self, path: &str) -> Url {
        let mut url = self.base.clone();
        url.set_path(path);
        url
    }

    fn fixed(&self, address: &str) -> Url {
        Url::parse(address).unwrap_or_else(|_| self.base.clone())
    }
}

debug_shows!(Fake, |it| base: it.base.as_str());

impl Drop for Fake {
    fn drop(&mut self) {
        let unused = self.unused_scripts();
        if !unused.is_empty() {
            eprintln!("unused scripts of the fake: {}", unused.join(", "));
        }
        if !std::thread::panicking() {
            self.verify();
        }
    }
}

/// A mock server that can be dropped in any task.
///
/// Dropping a [`MockServer`] blocks the thread until it gets a tokio lock. A task without cooperative budget cannot get a lock
/// before it yields, which a blocked task never does, so the program would hang.
struct UnpooledServer(Option<MockServer>);

impl Drop for UnpooledServer {
    fn drop(&mut self) {
        let server = self.0.take();
        let drop = pin!(tokio::task::unconstrained(async move { drop(server) }));
        // OK to ignore: the future is ready immediately.
        let _ = drop.poll(&mut Context::from_waker(Waker::noop()));
    }
}
