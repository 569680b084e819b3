//! The identity provider of the fake, from the address of its token endpoint.

use envd_sdk::Clock;
use envd_sdk::auth::Provider;

use super::cli::Failure;

pub(crate) fn of_the_fake(token_url: &str, clock: Clock) -> Result<Provider, Failure> {
    Ok(Provider::builder("fake-client")
        .authorize_url(token_url.replace("/oauth/token", "/authorize"))
        .token_url(token_url)
        .revoke_url(token_url.replace("/oauth/token", "/oauth/revoke"))
        .audience("https://fake.envd.example/")
        .redirect_uri("http://127.0.0.1:8400/callback")
        .scopes(["openid", "offline_access"])
        .clock(clock)
        .build()?)
}
