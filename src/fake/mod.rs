//! Fakes of both interfaces and of the identity provider, to test applications without credentials.
//!
//! [`Fake`] serves on a loopback address, with no credentials and no network beyond it:
//!
//! | part | address | what it does |
//! |---|---|---|
//! | declarations | [`Fake::graphql_url`] | executes any GraphQL document against the schema, with real state |
//! | property register | [`Fake::register_url`] | searches 60 invented properties |
//! | identity provider | [`Fake::authorize_url`], [`Fake::token_url`], [`Fake::revoke_url`], [`Fake::logout_url`], [`Fake::device_authorization_url`] | code flow with PKCE, device flow, rotation of refresh tokens, metadata for discovery |
//!
//! | task | see |
//! | --- | --- |
//! | start it, for another user, with other lifetimes or latency | [`Fake::start`], [`Fake::builder`], [`FakeBuilder`] |
//! | get a client, a provider or a token for it | [`Fake::client`], [`Fake::provider`], [`Fake::token_manager`], [`Fake::access_token`] |
//! | answer as the user in the browser | [`Fake::consent`], [`Fake::refuse`] |
//! | take the reception away, and give it back | [`Fake::stop`], [`Fake::start_again`] |
//! | script replies and faults | [`Fake::on`], [`Fake::on_operation`], [`On`], [`Fault`] |
//! | start from users, consignments and properties of your own | [`World`], [`UserRecord`] |
//! | change records as if on the service's website | [`Fake::edit`], [`WebsiteEdit`] |
//! | see what was sent | [`Fake::requests`], [`Fake::request_count`], [`Received`] |
//! | move the time | [`Fake::clock`], [`Clock`] |
//! | run under other readings of the specification, or with trouble at the service | [`levers`] |
//! | answer requests by a function of the test, without a socket | [`InProcess`], [`HttpOptions::in_process`](crate::HttpOptions::in_process) |
//! | check a token store of your own | [`check_token_store`] |
//!
//! [`guide::testing`](crate::guide::testing) shows how to test an application with it.
//!
//! It implements the specification independently of [`validate`](mod@crate::validate), on the wire JSON, so that a test
//! against it can find errors of the validator. All users, properties and texts are invented; only the four test PICs are the
//! service's own.
//!
//! # The sample
//!
//! Sam Sample, who logs in unless [`FakeBuilder::user`] says otherwise, has the accounts `envd-100201` (PIC QAZZ7777) and
//! `envd-100202` (QBZZ2222) of the type LPA, with eight consignments each, and `envd-100203` of another type, with none.
//! The consignments of `envd-100201` have the numbers `C-900000101` to `C-900000108` and the ids
//! `00000000-0000-4000-8000-000000000101` to `...108`. By the fake's clock, the newest of an account was made an hour before
//! the start, each older one a day earlier. The days of movements do not depend on the clock. Around the first consignment there
//! are a template, a comment, and a user with the role AUTHVIEWER.
//!
//! # What is assumed
//!
//! Where the specification leaves a behaviour open, the fake does this; what is marked with * can be set
//! ([`levers::Assumptions`]), and what a profile of the service says counts for more ([`FakeBuilder::profile`]):
//!
//! * An account of another user: "Access denied" and HTTP 403, as for a missing accreditation. The same for
//!   creating, saving or copying without the role Producer and an account of the type LPA.
//! * A form of a program that the user is not accredited for: "Access denied" and HTTP 403, also for a copy. The forms of the
//!   LPA program need `lPA`, EUC1 also `eU`, LPAHRG0 also `hRG`, MSAC1 `mSA`, those of the NFAS program `nFAS`, others none.
//! * Question 185 of `LPAHRG0`: any answer but Yes is refused; without an answer a draft is saved with the warning
//!   "Required", and anything but a draft is refused. This holds whether or not the list has the question.
//! * `LPAHRG0` is visible with the accreditation hRG only (stated, 9.3): without it such consignments are not listed, and a
//!   read of one fails as for an unknown one.
//! * An unknown consignment or template: the body that the specification shows for an update of one (7.2), also for reads.
//!   `LOCKED` and `DELETED` records refuse changes with that body.
//! * An update names its record by `id` or `number`, replaces the fields that are given, and is validated as a whole.
//! * Deleted consignments stay readable and are listed only with the filter `status: DELETED`. *
//! * Lists are newest first by creation, * and show a change at once. * A page holds 20 records unless `first` says otherwise, and
//!   at most 200. A cursor names a record. * `totalCount` is the number of records on all pages. *
//! * `fromDate` and `toDate` compare `updatedAt` * and are inclusive. Instants are written in UTC, with seven digits of the
//!   fraction.
//! * Questions 23, 24 and 87 do not belong to LPAG3, even in a list that names them for it (stated, 2.6 and 9.4). A child
//!   that names no forms has those of its parent.
//! * `today` is the day at UTC+11:00, where Australia's days begin first. Answers inside a REPEATABLE question have the
//!   index of their row, or make a row of their own without one. The index of other answers is ignored.
//! * The register counts pages from 1, returns 25 records a page by default and at most 100, and matches a text anywhere in a field, without regard to case. A search by postcode finds the properties
//!   of the sample by one postcode a state, such as 4999 in Queensland, which their records do not show.
//! * Errors before execution have the status 400, also with the media type `application/json`, for which graphql-over-http
//!   recommends 200.
//! * The identity provider shows no login page: a login succeeds at once. Only the code of a device and a refused logout have a page. A
//!   request with `prompt=none` succeeds after a login without a logout. `login_hint` names the user by the email address of one of the
//!   world, and any other address is refused. ID tokens are signed with ES256.
//! * Messages of field rules follow the wording of the two that the specification shows.

mod builder;
mod graphql;
mod in_process;
mod instant;
pub mod levers;
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
/// Dropping it stops it, prints unused scripts to standard error, and panics when expectations were not met, unless the
/// test panics already.
///
/// ```
/// # equipment::example(async {
/// use envd_sdk::fake::Fake;
///
/// let fake = Fake::start().await;
/// assert_eq!(fake.graphql_url().path(), "/v2/graphql");
/// assert_eq!(fake.account_id(), "envd-100201");
/// # Ok(()) });
/// ```
#[doc(alias("mock", "stub", "sandbox", "test server"))]
pub struct Fake {
    // Dropped first, so that no client can connect any more.
    proxy: TcpProxy,
    _server: UnpooledServer,
    state: Arc<FakeState>,
    base: Url,
    /// Its clients see whether it is still there.
    running: Arc<()>,
}

impl Fake {
    /// Starts a fake with all defaults, on a free port of 127.0.0.1.
    ///
    /// # Panics
    ///
    /// When no port is free; [`builder`](Self::builder) gives an error instead.
    pub async fn start() -> Self {
        let started = Self::builder().start().await;
        started.unwrap_or_else(|error| panic!("{error}"))
    }

    /// Settings before the start.
    pub fn builder() -> FakeBuilder {
        FakeBuilder::default()
    }

    /// The endpoint of the declaration interface.
    pub fn graphql_url(&self) -> Url {
        self.at("/v2/graphql")
    }

    /// The base address of the property register: `/api/v2/PICRegister` comes below it (spec 4.2).
    pub fn register_url(&self) -> Url {
        self.base.clone()
    }

    /// The authorization endpoint. It shows no page and redirects at once.
    pub fn authorize_url(&self) -> Url {
        self.at("/authorize")
    }

    /// The token endpoint. It ignores a client secret unless [one is set](FakeBuilder::client_secret).
    pub fn token_url(&self) -> Url {
        self.at("/oauth/token")
    }

    /// The device authorization endpoint (RFC 8628). The page of its logins is `/activate`; a code that is typed there
    /// is approved at once.
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

    /// The keys that sign id tokens (RFC 7517): one, for ES256.
    pub fn jwks_uri(&self) -> Url {
        self.at("/.well-known/jwks.json")
    }

    /// The issuer, with a slash at its end, as in `iss` of the callback and of ID tokens. It publishes its metadata, for
    /// [`Provider::discover`](crate::auth::Provider::discover), at `/.well-known/openid-configuration` and at
    /// `/.well-known/oauth-authorization-server`; [`on_path`](Self::on_path) scripts its faults.
    pub fn issuer(&self) -> &str {
        self.base.as_str()
    }

    /// The id of the only client of the identity provider.
    pub fn client_id(&self) -> &str {
        CLIENT_ID
    }

    /// The audience of valid access tokens. It is not an address of the fake.
    pub fn audience(&self) -> &str {
        AUDIENCE
    }

    /// A redirect address for logins, where nothing listens. Any https address and any loopback address is accepted too.
    pub fn redirect_uri(&self) -> Url {
        self.fixed(REDIRECT_URI)
    }

    /// An address that is allowed as `returnTo` at logout.
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

    /// Waits until a reply is delayed on the clock of the fake, by a latency or a slow body.
    pub async fn until_delayed(&self) {
        let mut delayed = self.proxy.delayed();
        // OK because the proxy, which has the sender, lives as long as `self`.
        let _ = delayed.wait_for(|delayed| *delayed > 0).await;
    }

    /// Ends the service until [`start_again`](Self::start_again), as when a client has no reception: connections are refused, and
    /// those that are open have ended when this returns. A request that was received before is answered or lost, and none is
    /// processed later. Records, tokens, scripts and the port are kept.
    ///
    /// ```
    /// # equipment::example(async {
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
    /// # Panics
    ///
    /// When another program gets the port in the moment in which it is free.
    #[doc(alias("offline", "reception", "outage", "connection refused"))]
    pub async fn stop(&self) {
        self.switch(false).await;
    }

    /// Serves again after [`stop`](Self::stop), on the same port: the next request is answered.
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
/// Dropping a [`MockServer`] blocks the thread until it gets a lock of tokio. A task without cooperative budget gets no lock
/// before it yields, which a blocked task never does: the program would hang.
struct UnpooledServer(Option<MockServer>);

impl Drop for UnpooledServer {
    fn drop(&mut self) {
        let server = self.0.take();
        let drop = pin!(tokio::task::unconstrained(async move { drop(server) }));
        // OK to ignore: it is ready at once.
        let _ = drop.poll(&mut Context::from_waker(Waker::noop()));
    }
}
