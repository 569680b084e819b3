//! The fake's clients, logins and tokens.

use std::future::ready;
use std::sync::{Arc, Weak};

use url::Url;

use super::routes::FakeState;
use super::{Fake, User};
use crate::auth::{AccessToken, BoxFuture, Provider, ProviderBuilder, TokenManager, TokenSource};
use crate::client::{Client, ClientBuilder};
use crate::error::{Error, Result};
use crate::secret::Secret;

pub(super) const NO_SUCH_USER: &str = "the world of the fake has no such user to log in";

impl Fake {
    /// Returns client settings for this fake, with the [access token](Self::access_token) of the user who logs in.
    ///
    /// The client stays logged in when the clock is advanced. It does not keep the fake running:
    ///
    /// ```
    /// # test_support::example(async {
    /// use envd_sdk::fake::Fake;
    ///
    /// let fake = Fake::start().await;
    /// let client = fake.client().build()?;
    /// assert!(client.user_details().await.is_ok());
    ///
    /// // This fake is dropped at the end of the statement, and the client's error says so.
    /// let client = Fake::start().await.client().build()?;
    /// assert!(client.user_details().await.unwrap_err().kind() == envd_sdk::ErrorKind::Config);
    /// # Ok(()) });
    /// ```
    pub fn client(&self) -> ClientBuilder {
        let token = TokenOfFake {
            user: self.state.parts().provider.user,
            state: Arc::clone(&self.state),
            fake: Arc::downgrade(&self.running),
        };
        Client::builder(self.graphql_url())
            .clock(self.clock().clone())
            .token_source(token)
    }

    /// Selects the user who logs in: in a browser, at a device and with [`consent`](Self::consent), unless `login_hint` has the
    /// email address of another user. [`client`](Self::client), [`token_manager`](Self::token_manager),
    /// [`access_token`](Self::access_token) and [`account_id`](Self::account_id) then refer to this user.
    ///
    /// ```
    /// # test_support::example(async {
    /// use envd_sdk::fake::{Fake, User, UserRecord, World};
    ///
    /// let world = World::empty()
    ///     .user(UserRecord::new("ann@example.com").role("Producer").account("envd-1", "LPA", "QAZZ7777"))
    ///     .user(UserRecord::new("ben@example.com").role("Producer").account("envd-2", "LPA", "QDZZ3333"));
    /// let fake = Fake::builder().world(world).start().await?;
    /// let ann = fake.client().build()?;
    /// fake.log_in_as(User::Nth(1))?;
    /// let ben = fake.client().build()?;
    ///
    /// let filter = envd_sdk::ops::ConsignmentFilter::default();
    /// assert!(ann.account("envd-1").consignments(&filter).next_page().await.is_ok());
    /// assert!(ben.account("envd-1").consignments(&filter).next_page().await.is_err());
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// [`Config`](crate::ErrorKind::Config) if the world has no such user.
    pub fn log_in_as(&self, user: User) -> Result<()> {
        if self.state.data.world.user_record(user).is_null() {
            return Err(Error::config(NO_SUCH_USER));
        }
        let now = self.state.clock.now();
        self.state.parts().provider.seat(user, now);
        Ok(())
    }

    /// Returns settings for the fake's identity provider.
    pub fn provider(&self) -> ProviderBuilder {
        Provider::builder(self.client_id())
            .authorize_url(self.authorize_url())
            .token_url(self.token_url())
            .device_authorization_url(self.device_authorization_url())
            .revoke_url(self.revoke_url())
            .logout_url(self.logout_url())
            .issuer(self.issuer())
            .audience(self.audience())
            .redirect_uri(self.redirect_uri())
            .clock(self.clock().clone())
    }

    /// Returns a token manager with an in-memory store, in which the user has just logged in.
    ///
    /// ```
    /// # test_support::example(async {
    /// use envd_sdk::fake::Fake;
    ///
    /// let fake = Fake::start().await;
    /// let manager = fake.token_manager().await?;
    /// let client = fake.client().token_source(manager.clone()).build()?;
    /// assert!(client.registered_user().await.is_ok());
    ///
    /// // The service now refuses the token, so the client refreshes it.
    /// fake.expire_access_tokens();
    /// assert!(client.registered_user().await.is_ok());
    /// assert_eq!(manager.access_token().await?.generation(), 2);
    /// # Ok(()) });
    /// ```
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the manager is lost. Its login may still complete in its own task.
    ///
    /// # Errors
    ///
    /// None while the fake runs; [`TokenUnavailable`](crate::ErrorKind::TokenUnavailable) if a script makes its identity
    /// provider fail.
    pub async fn token_manager(&self) -> Result<TokenManager> {
        let manager = TokenManager::builder(self.provider().build()?).build()?;
        let login = manager.provider().authorization().start()?;
        let callback = self.consent(login.url())?;
        manager.complete_login(login, callback.as_str()).await?;
        Ok(manager)
    }

    /// An access token of the user who logs in. Stays the same until it expires, even if it is revoked.
    pub fn access_token(&self) -> Secret {
        let user = self.state.parts().provider.user;
        let now = self.state.clock.now();
        Secret::new(self.state.parts().provider.own_token(user, now))
    }

    /// A new access token for a user.
    pub fn access_token_for(&self, user: User) -> Secret {
        let now = self.state.clock.now();
        Secret::new(self.state.parts().provider.grant(user, now))
    }

    /// Invalidates all current access tokens. Refresh tokens stay valid.
    pub fn expire_access_tokens(&self) {
        self.state.parts().provider.access_tokens.clear();
    }

    /// The number of calls to the token endpoint.
    pub fn token_requests(&self) -> usize {
        self.state.parts().provider.token_requests
    }

    /// Logs the user in like a browser: takes the authorization address, and returns the callback address.
    ///
    /// # Errors
    ///
    /// [`Config`](crate::ErrorKind::Config) if the provider would show an error page instead of redirecting: for another
    /// client, or a redirect address that is missing or neither https nor loopback.
    pub fn consent(&self, authorization: &Url) -> Result<Url> {
        self.authorize(authorization, false)
    }

    /// Cancels the login, like a user in a browser: the callback has `access_denied`.
    ///
    /// # Errors
    ///
    /// As [`consent`](Self::consent).
    pub fn refuse(&self, authorization: &Url) -> Result<Url> {
        self.authorize(authorization, true)
    }

    fn authorize(&self, authorization: &Url, is_denied: bool) -> Result<Url> {
        let query = authorization.query();
        let now = self.state.clock.now();
        let provider = &mut self.state.parts().provider;
        let callback = provider.authorize(query.unwrap_or_default(), is_denied, now);
        callback.map_err(Error::config)
    }

    /// Approves a device login, like a user on the verification page (RFC 8628 section 3.3). Ignores the case and the dash of
    /// the code.
    ///
    /// # Errors
    ///
    /// [`Config`](crate::ErrorKind::Config) if no device has this code, it has expired, or it was already approved or denied.
    pub fn approve_device(&self, user_code: &str) -> Result<()> {
        self.answer_device(user_code, true)
    }

    /// Denies a device login, like a user on the verification page: its next poll gets `access_denied`.
    ///
    /// # Errors
    ///
    /// As [`approve_device`](Self::approve_device).
    pub fn deny_device(&self, user_code: &str) -> Result<()> {
        self.answer_device(user_code, false)
    }

    fn answer_device(&self, user_code: &str, is_approved: bool) -> Result<()> {
        let now = self.state.clock.now();
        let provider = &mut self.state.parts().provider;
        let answered = provider.answer_device(user_code, is_approved, now);
        answered.map_err(Error::config)
    }

    /// Denies all further logins over HTTP with `access_denied`, or allows them again. Does not affect
    /// [`consent`](Self::consent).
    pub fn deny_logins(&self, deny: bool) {
        self.state.parts().provider.denies_logins = deny;
    }

    /// Revokes an access token, or a refresh token with all tokens of the same login.
    pub fn revoke(&self, token: &Secret) {
        self.state.parts().provider.revoke(token.expose());
    }

    /// Ends every login, like an administrator: invalidates all issued tokens and codes.
    pub fn revoke_logins(&self) {
        self.state.parts().provider.revoke_all();
    }
}

/// The token of a client, valid while the fake exists.
struct TokenOfFake {
    user: User,
    state: Arc<FakeState>,
    fake: Weak<()>,
}

impl TokenOfFake {
    fn get(&self) -> Result<AccessToken> {
        if self.fake.strong_count() == 0 {
            return Err(Error::config(
                "the fake of this client was dropped: keep it in a variable as long as the client is used",
            ));
        }
        let now = self.state.clock.now();
        AccessToken::new(&self.state.parts().provider.own_token(self.user, now))
    }
}

impl TokenSource for TokenOfFake {
    fn token(&self) -> BoxFuture<'_, Result<AccessToken>> {
        Box::pin(ready(self.get()))
    }

    fn current(&self) -> Option<AccessToken> {
        self.get().ok()
    }
}
