//! Clients, logins and tokens of the fake.

use std::future::ready;
use std::sync::{Arc, Weak};

use url::Url;

use super::{Fake, User};
use crate::auth::{
    AccessToken, BoxFuture, Provider, ProviderBuilder, StaticToken, TokenManager, TokenSource,
};
use crate::client::{Client, ClientBuilder};
use crate::error::{Error, Result};
use crate::secret::Secret;

impl Fake {
    /// Settings of a client of this fake, with an access token of the user who logs in.
    ///
    /// The client does not keep the fake running:
    ///
    /// ```
    /// # equipment::example(async {
    /// use envd_sdk::fake::Fake;
    ///
    /// let fake = Fake::start().await;
    /// let client = fake.client().build()?;
    /// assert!(client.user_details().await.is_ok());
    ///
    /// // The fake of this statement ends with it, and an error of the client says so.
    /// let client = Fake::start().await.client().build()?;
    /// assert!(client.user_details().await.unwrap_err().kind() == envd_sdk::ErrorKind::Config);
    /// # Ok(()) });
    /// ```
    pub fn client(&self) -> ClientBuilder {
        let builder = Client::builder(self.graphql_url()).clock(self.clock().clone());
        let fake = Arc::downgrade(&self.running);
        match StaticToken::new(self.access_token().expose()) {
            Ok(token) => builder.token_source(TokenOfFake { token, fake }),
            Err(_) => builder,
        }
    }

    /// Settings for the fake's identity provider.
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

    /// A token manager, in which the user has just logged in, with a store in memory.
    ///
    /// ```
    /// # equipment::example(async {
    /// use envd_sdk::fake::Fake;
    ///
    /// let fake = Fake::start().await;
    /// let manager = fake.token_manager().await?;
    /// let client = fake.client().token_source(manager.clone()).build()?;
    /// assert!(client.registered_user().await.is_ok());
    ///
    /// // The service refuses the token from now on, so the client refreshes it.
    /// fake.expire_access_tokens();
    /// assert!(client.registered_user().await.is_ok());
    /// assert_eq!(manager.access_token().await?.generation(), 2);
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// None while the fake runs.
    pub async fn token_manager(&self) -> Result<TokenManager> {
        let manager = TokenManager::builder(self.provider().build()?).build()?;
        let login = manager.provider().authorization().start()?;
        let callback = self.consent(login.url())?;
        manager.complete_login(login, callback.as_str()).await?;
        Ok(manager)
    }

    /// An access token of the user who logs in, issued at the start.
    pub fn access_token(&self) -> Secret {
        self.access_token.clone()
    }

    /// A new access token of a user.
    pub fn access_token_for(&self, user: User) -> Secret {
        let now = self.state.clock.now();
        Secret::new(self.state.parts().provider.grant(user, now))
    }

    /// Makes all access tokens invalid from now on. Refresh tokens stay valid.
    pub fn expire_access_tokens(&self) {
        self.state.parts().provider.access_tokens.clear();
    }

    /// The number of calls to the token endpoint.
    pub fn token_requests(&self) -> usize {
        self.state.parts().provider.token_requests
    }

    /// Logs the user in like a browser: from the authorization address to the callback address.
    ///
    /// # Errors
    ///
    /// [`Config`](crate::ErrorKind::Config) when the provider would show an error page instead of redirecting: for another client,
    /// or a redirect address that is missing or neither https nor on loopback.
    pub fn consent(&self, authorization: &Url) -> Result<Url> {
        self.authorize(authorization, false)
    }

    /// Cancels the login like a user in a browser: the callback has `access_denied`.
    ///
    /// # Errors
    ///
    /// As [`consent`](Self::consent).
    pub fn refuse(&self, authorization: &Url) -> Result<Url> {
        self.authorize(authorization, true)
    }

    fn authorize(&self, authorization: &Url, is_denied: bool) -> Result<Url> {
        let (query, now) = (authorization.query(), self.state.clock.now());
        let provider = &mut self.state.parts().provider;
        let callback = provider.authorize(query.unwrap_or_default(), is_denied, now);
        callback.map_err(Error::config)
    }

    /// Approves the login of a device like a user at the verification page (RFC 8628 section 3.3). The case and the dash of
    /// the code do not matter.
    ///
    /// # Errors
    ///
    /// [`Config`](crate::ErrorKind::Config) when no device has this code, it has expired, or it was answered already.
    pub fn approve_device(&self, user_code: &str) -> Result<()> {
        self.answer_device(user_code, true)
    }

    /// Denies the login of a device like a user at the verification page: its next poll gets `access_denied`.
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

    /// Denies all further logins over HTTP with `access_denied`, or allows them again. [`consent`](Self::consent) still
    /// consents.
    pub fn deny_logins(&self, deny: bool) {
        self.state.parts().provider.denies_logins = deny;
    }

    /// Leaves `iss` out of all further callbacks, although the metadata announces it (RFC 9207), or sends it again.
    pub fn omit_iss(&self, omit: bool) {
        self.state.parts().provider.omits_iss = omit;
    }

    /// Revokes an access token, or a refresh token with all tokens of the same login.
    pub fn revoke(&self, token: &Secret) {
        self.state.parts().provider.revoke(token.expose());
    }

    /// Ends every login, like an administrator: all issued tokens and codes become invalid.
    pub fn revoke_logins(&self) {
        self.state.parts().provider.revoke_all();
    }
}

/// The token of a client, for as long as the fake is there.
struct TokenOfFake {
    token: StaticToken,
    fake: Weak<()>,
}

impl TokenSource for TokenOfFake {
    fn token(&self) -> BoxFuture<'_, Result<AccessToken>> {
        let dropped = "the fake of this client was dropped: keep it in a variable as long as the client is used";
        let token = self.current().ok_or_else(|| Error::config(dropped));
        Box::pin(ready(token))
    }

    fn renew(&self, rejected: &AccessToken) -> BoxFuture<'_, Result<AccessToken>> {
        self.token.renew(rejected)
    }

    fn current(&self) -> Option<AccessToken> {
        let is_there = self.fake.strong_count() > 0;
        self.token.current().filter(|_| is_there)
    }
}
