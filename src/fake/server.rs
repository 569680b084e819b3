//! The running fake.

use std::fmt;
use std::sync::Arc;

use url::Url;
use wiremock::MockServer;

use super::builder::FakeBuilder;
use super::front::Front;
use super::provider::{AUDIENCE, CLIENT_ID, Consent, authorize};
use super::routes::State;
use super::user::User;
use crate::error::Error;
use crate::mock::Mock;
use crate::secret::Secret;
use crate::transport::Clock;

pub(super) const RETURN_TO: &str = "http://127.0.0.1:8400/logged-out";
const REDIRECT_URI: &str = "http://127.0.0.1:8400/callback";

/// A running fake of both interfaces and of the identity provider. It stops when it is dropped; expectations that were
/// not met make the drop panic, unless the test panics already, and scripts that were never used are printed to standard
/// error.
///
/// ```
/// # tokio::runtime::Runtime::new().unwrap().block_on(async {
/// use envd_sdk::fake::Fake;
///
/// let fake = Fake::start().await;
/// assert_eq!(fake.graphql_url().path(), "/v2/graphql");
/// assert_eq!(fake.account_id(), "envd-100201");
/// # });
/// ```
pub struct Fake {
    // First, so that nobody can connect while the rest goes.
    front: Front,
    _server: Mock,
    state: Arc<State>,
    base: Url,
    user: User,
    access_token: Secret,
}

impl Fake {
    /// Starts a fake with all defaults, on a free port of 127.0.0.1.
    ///
    /// # Panics
    ///
    /// When no port is free; [`builder`](Self::builder) gives an error instead.
    pub async fn start() -> Self {
        match Self::builder().start().await {
            Ok(fake) => fake,
            Err(error) => panic!("{error}"),
        }
    }

    /// Settings before the start.
    pub fn builder() -> FakeBuilder {
        FakeBuilder::default()
    }

    pub(super) fn new(
        front: Front,
        server: MockServer,
        state: Arc<State>,
        base: Url,
        user: User,
        access_token: Secret,
    ) -> Self {
        Self {
            front,
            _server: server.into(),
            state,
            base,
            user,
            access_token,
        }
    }

    /// The endpoint of the declaration interface.
    #[must_use]
    pub fn graphql_url(&self) -> Url {
        self.at("/v2/graphql")
    }

    /// The base address of the property register: `/api/v2/PICRegister` comes below it (spec 4.2).
    #[must_use]
    pub fn register_url(&self) -> Url {
        self.base.clone()
    }

    /// The authorization endpoint. It asks nobody and sends the browser back at once.
    #[must_use]
    pub fn authorize_url(&self) -> Url {
        self.at("/authorize")
    }

    /// The token endpoint. It ignores a client secret.
    #[must_use]
    pub fn token_url(&self) -> Url {
        self.at("/oauth/token")
    }

    /// The revocation endpoint (RFC 7009).
    #[must_use]
    pub fn revoke_url(&self) -> Url {
        self.at("/oauth/revoke")
    }

    /// The logout page.
    #[must_use]
    pub fn logout_url(&self) -> Url {
        self.at("/v2/logout")
    }

    /// The issuer, with a slash at its end, as in `iss` of the callback and of ID tokens.
    #[must_use]
    pub fn issuer(&self) -> &str {
        self.base.as_str()
    }

    /// The one client that the identity provider knows.
    #[must_use]
    pub fn client_id(&self) -> &str {
        CLIENT_ID
    }

    /// The audience that a token must be for. It is not an address of the fake, as the real one need not be.
    #[must_use]
    pub fn audience(&self) -> &str {
        AUDIENCE
    }

    /// An address for the callback. Nothing listens there; any https address and any on loopback is accepted too.
    #[must_use]
    pub fn redirect_uri(&self) -> Url {
        self.fixed(REDIRECT_URI)
    }

    /// An address that logout may return to.
    #[must_use]
    pub fn return_to(&self) -> Url {
        self.fixed(RETURN_TO)
    }

    /// An access token of the user who logs in, valid from the start on.
    #[must_use]
    pub fn access_token(&self) -> Secret {
        self.access_token.clone()
    }

    /// A new access token of any user.
    #[must_use]
    pub fn access_token_for(&self, user: User) -> Secret {
        let now = self.state.clock.now();
        Secret::new(self.state.parts().provider.grant(user, now))
    }

    /// The default account of the user who logs in; empty for [`User::New`], who has none.
    #[must_use]
    pub fn account_id(&self) -> &str {
        let details = self.state.library.person(self.user);
        details["defaultAccount"].as_str().unwrap_or_default()
    }

    /// The clock of the fake.
    #[must_use]
    pub fn clock(&self) -> &Clock {
        &self.state.clock
    }

    pub(super) fn state(&self) -> &State {
        &self.state
    }

    /// Waits until a reply is held back for the clock of the fake to move: by a latency or by a slow body.
    pub async fn until_held(&self) {
        let mut held = self.front.held();
        // OK because the front, which holds the sender, lives as long as `self`.
        let _ = held.wait_for(|held| *held > 0).await;
    }

    /// Makes all access tokens invalid from now on. Refresh tokens stay valid.
    pub fn expire_access_tokens(&self) {
        self.state.parts().provider.expire_access_tokens();
    }

    /// How often the token endpoint was called.
    #[must_use]
    pub fn token_requests(&self) -> usize {
        self.state.parts().provider.token_requests
    }

    /// Plays the browser of a user who logs in and consents: from the authorization address to the callback address.
    ///
    /// # Errors
    ///
    /// [`is_config`](Error::is_config) when the provider would show an error page instead of going back: another client,
    /// or a redirect address that is missing or neither https nor on loopback.
    pub fn consent(&self, authorization: &Url) -> Result<Url, Error> {
        self.browse(authorization, Consent::Given)
    }

    /// Plays the browser of a user who cancels: the callback carries `access_denied`.
    ///
    /// # Errors
    ///
    /// As [`consent`](Self::consent).
    pub fn refuse(&self, authorization: &Url) -> Result<Url, Error> {
        self.browse(authorization, Consent::Refused)
    }

    fn browse(&self, authorization: &Url, consent: Consent) -> Result<Url, Error> {
        let query = authorization.query().unwrap_or_default();
        let now = self.state.clock.now();
        authorize(&mut self.state.parts().provider, query, consent, now).map_err(Error::config)
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

impl fmt::Debug for Fake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fake")
            .field("base", &self.base.as_str())
            .field("user", &self.user)
            .finish_non_exhaustive()
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        let unused = self.unused_scripts();
        if !unused.is_empty() {
            // The test harness shows it when the test fails.
            eprintln!(
                "no call used these scripts of the fake: {}",
                unused.join(", ")
            );
        }
        if !std::thread::panicking() {
            self.verify();
        }
    }
}
