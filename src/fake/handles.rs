//! A client and a token manager that talk to the fake.

use super::Fake;
use crate::auth::{Provider, ProviderBuilder, StaticToken, TokenManager};
use crate::client::{Client, ClientBuilder};
use crate::error::Error;

impl Fake {
    /// Settings of a client that talks to this fake as its ready user.
    pub fn client(&self) -> ClientBuilder {
        let builder = Client::builder(self.graphql_url()).clock(self.clock().clone());
        match StaticToken::new(self.access_token().expose()) {
            Ok(token) => builder.token_source(token),
            Err(_) => builder,
        }
    }

    /// Settings of the fake's identity provider.
    pub fn provider(&self) -> ProviderBuilder {
        Provider::builder(self.client_id())
            .authorize_url(self.authorize_url())
            .token_url(self.token_url())
            .revoke_url(self.revoke_url())
            .logout_url(self.logout_url())
            .issuer(self.issuer())
            .audience(self.audience())
            .redirect_uri(self.redirect_uri())
            .clock(self.clock().clone())
    }

    /// A manager of the ready user, who has just logged in; its tokens are kept in memory.
    ///
    /// ```
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// use envd_sdk::fake::Fake;
    ///
    /// let fake = Fake::start().await;
    /// let manager = fake.token_manager().await?;
    /// let client = fake.client().token_source(manager.clone()).build()?;
    /// assert!(client.registered_user().await.is_ok());
    ///
    /// // The service refuses the token from here on, so the client renews it.
    /// fake.expire_access_tokens();
    /// assert!(client.registered_user().await.is_ok());
    /// assert_eq!(manager.access_token().await?.generation(), 2);
    /// # Ok::<(), envd_sdk::Error>(()) })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// None with a fake that runs.
    pub async fn token_manager(&self) -> Result<TokenManager, Error> {
        let manager = TokenManager::builder(self.provider().build()?).build()?;
        let login = manager.provider().authorization().start()?;
        let callback = self.consent(login.url())?;
        manager.complete_login(login, callback.as_str()).await?;
        Ok(manager)
    }
}
