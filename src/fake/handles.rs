//! A client that talks to the fake.

use super::Fake;
use crate::auth::{Provider, ProviderBuilder, StaticToken};
use crate::client::{Client, ClientBuilder};

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
}
